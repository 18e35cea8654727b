"""A message that wakes a worker. What is to be done stands in rows (`work.py`): a message may be lost, late or doubled,
and sending one neither fails nor holds up whoever sends it."""

import logging

from celery import current_app
from django.conf import settings

log = logging.getLogger(__name__)
TASK = "annotate.wake"
WAIT_SECONDS = 1
OLD_SECONDS = 60
IMPATIENT = {"max_retries": 0, "socket_timeout": WAIT_SECONDS, "socket_connect_timeout": WAIT_SECONDS}


def make_broker_folders() -> None:
    """Where the broker is a folder, kombu makes none of it."""
    if settings.BROKER_FOLDER:
        for name in ("messages", "control"):
            (settings.BROKER_FOLDER / name).mkdir(mode=0o700, parents=True, exist_ok=True)


def wake() -> None:
    """Say that there is something to do. Where nobody hears it, the next sweep of any worker finds the row."""
    try:
        make_broker_folders()
        with current_app.connection_for_write(connect_timeout=WAIT_SECONDS, transport_options=IMPATIENT) as connection:
            current_app.send_task(TASK, connection=connection, retry=False, expires=OLD_SECONDS)
    except Exception as error:  # whatever brokers, their drivers and disks raise
        log.warning("No worker was woken (%s); the next sweep finds what is to be done.", error)
