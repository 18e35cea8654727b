"""What `celery -A tests.scoring.faults.judging` runs: the product's app, which knows a judge that takes its time."""

import os

from celery import signals

from config.celery import app  # noqa: F401
from tests.scoring.faults.zygote import Worker


@signals.import_modules.connect
def know_the_judge(**_):
    """Behind the product's own receiver, which has set Django up."""
    Worker({"sleep": float(os.environ["SLEEP"])}).prepare()
