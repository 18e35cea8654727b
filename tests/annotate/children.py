"""Processes of the product beside a test, on its database; for tests marked `django_db(transaction=True)`."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

from django.db import connection

ROOT = Path(__file__).resolve().parents[2]
LONGEST_WAIT = 60
WORKER = [
    *("-m", "celery", "-A", "config", "--quiet", "worker", "-P", "threads", "--concurrency", "2"),
    *("--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "WARNING"),
]


def database_url():
    at = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite://{at['NAME']}"
    return f"postgresql://{at['USER']}:{at['PASSWORD']}@/{at['NAME']}?host={at['HOST']}&port={at['PORT'] or 5432}"


@contextlib.contextmanager
def child(*words, data, stdin=False, **environment):
    """A Python with these words; killed in the end, if it still runs then. With `stdin` it can be written to."""
    ours = {"DATABASE_URL": database_url(), "SIGHTLINE_DATA": str(data), "DJANGO_SETTINGS_MODULE": "config.settings"}
    with subprocess.Popen(
        [sys.executable, *map(str, words)],
        cwd=ROOT,
        env=os.environ | ours | environment,
        stdin=subprocess.PIPE if stdin else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_until(is_so, process=None):
    """Ask often; the process that is to bring it about must not end before."""
    limit = time.monotonic() + LONGEST_WAIT
    while not (found := is_so()):
        assert process is None or process.poll() is None, process.communicate()[0]
        assert time.monotonic() < limit, "it did not come about"
        time.sleep(0.01)
    return found
