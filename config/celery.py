"""The Celery app. It carries one message, `annotate.wake`, which says that there may be something to do.

What is to be done, by whom and how often it was tried stands in rows (`annotate/work.py`), so none of what makes a
broker trustworthy is set here: a message is acknowledged before it is acted on, never sent again, and dropped when it
is old. So Redis's visibility timeout and the broker of files, which loses what a killed worker held, cannot lose or
repeat a job.
"""

import os

import django
from celery import Celery, signals
from django.utils.module_loading import autodiscover_modules

from config import broker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

broker.use()

# Without Celery's own adaptation to Django, which puts the current folder first among those that modules come from,
# also in the web server and in every command.
app = Celery("sightline", fixups=())
app.config_from_object("django.conf:settings", namespace="CELERY")
app.set_default()


@signals.import_modules.connect
def set_up_django(**_):
    """A worker is starting: models first, then the tasks of every app."""
    django.setup()
    autodiscover_modules("tasks")
