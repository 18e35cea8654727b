"""No secret of a link reaches a log, whatever it was copied together with."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from config.logs import WithoutSecrets

ROOT = Path(__file__).resolve().parents[2]


def said_of(message, *words, **more):
    record = logging.LogRecord("x", logging.ERROR, "", 1, message, words, None)
    record.__dict__.update(more)
    assert WithoutSecrets().filter(record)
    return logging.Formatter().format(record)


SECRET = "Abc-_" * 8 + "xyz"
HALVES = (SECRET[:20], SECRET[20:])


@pytest.mark.parametrize("before", ["", " ", "(", "<", "x=", '"', "%20", "“", "s/", "\n"])
@pytest.mark.parametrize("behind", ["", "/", ")/", ">/", " /", "?next=/"])
@pytest.mark.parametrize("place", ["/join/", "/set-up/", "/new-password/", "/JOIN/", "//join//", "/elsewhere/"])
def test_whatever_stands_around_a_secret_it_reaches_no_log(place, before, behind):
    path = f"{place}{before}{SECRET}{behind}"
    assert SECRET not in said_of("Not Found: %s", path)
    assert SECRET not in said_of(f"Not Found: {path}")
    assert SECRET not in said_of("%(path)s", {"path": path})
    assert SECRET not in said_of("%r", HttpRequestLike(path))
    assert SECRET not in said_of("%s %s %s", path)  # a wrong call, which logging would write out as it is


@pytest.mark.parametrize("between", [" ", "/", "%20", "\n", ".", "\u200b"])
def test_a_secret_with_something_in_it_reaches_no_log(between):
    said = said_of("Not Found: %s", f"/join/{between.join(HALVES)}/")
    assert said == "Not Found: /join/.../"


class HttpRequestLike:
    def __init__(self, path):
        self.path = path

    def __repr__(self):
        return f"<WSGIRequest: GET {self.path!r}>"


def test_a_traceback_is_written_without_secrets():
    try:
        raise ValueError(f"no page /join/ {SECRET}/")
    except ValueError:
        said = said_of("It broke.", exc_info=sys.exc_info())
    assert "ValueError: no page /join/.../" in said
    assert SECRET not in said


SERVER = """if True:
    import logging
    server = logging.getLogger("gunicorn.error")  # as gunicorn sets it up, before it loads the site
    server.addHandler(logging.StreamHandler())
    server.propagate = False
    import config.wsgi
    server.warning("Invalid request: 'GET /join/%s x'", "SECRET")
"""


def test_what_the_server_logs_by_itself_is_without_secrets(tmp_path):
    environment = os.environ | {"SIGHTLINE_DATA": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    command = [sys.executable, "-c", SERVER.replace("SECRET", SECRET)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == "Invalid request: 'GET /join/.../"
    assert SECRET not in done.stderr
