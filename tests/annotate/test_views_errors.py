"""What people are told where the database is away or full, which is no fault of what they sent."""

import sqlite3

import pytest
from django.db import IntegrityError, InterfaceError, OperationalError
from django.urls import reverse

from annotate import blind
from annotate.views.storage import trouble_of
from tests.factories import make_cast

AWAY, FULL, OTHER = "away", "full", None


class Cause(Exception):
    """As the driver raises it: a state where the server sent one."""

    def __init__(self, state=None):
        super().__init__()
        self.sqlstate = state


def sqlite_error(name):
    error = sqlite3.OperationalError("said in words")
    error.sqlite_errorname = name
    return error


def raised(kind, cause):
    error = kind("said in words")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        (raised(OperationalError, Cause("53100")), FULL),
        (raised(OperationalError, Cause("57P01")), AWAY),
        (raised(OperationalError, Cause("57P03")), AWAY),
        (raised(OperationalError, Cause("08006")), AWAY),
        (raised(OperationalError, Cause("55P03")), AWAY),
        (raised(OperationalError, Cause("57014")), AWAY),
        (raised(OperationalError, Cause("53300")), AWAY),
        (raised(OperationalError, Cause()), AWAY),
        (raised(InterfaceError, Cause()), AWAY),
        (raised(OperationalError, Cause("42P01")), OTHER),
        (raised(IntegrityError, Cause("23505")), OTHER),
        (raised(OperationalError, sqlite_error("SQLITE_FULL")), FULL),
        (raised(OperationalError, sqlite_error("SQLITE_BUSY")), AWAY),
        (raised(OperationalError, sqlite_error("SQLITE_ERROR")), OTHER),
        (ValueError("x"), OTHER),
        (None, OTHER),
    ],
)
def test_what_an_error_says_of_the_database(error, trouble):
    assert trouble_of(error) == trouble


@pytest.mark.django_db
@pytest.mark.parametrize(("cause", "status"), [("SQLITE_FULL", 507), ("SQLITE_BUSY", 503), ("SQLITE_ERROR", 500)])
@pytest.mark.parametrize("asked", ["page", "api"])
def test_it_is_said_with_when_to_try_again(client, monkeypatch, cause, status, asked):
    cast = make_cast()
    client.force_login(cast.ana.person)
    client.raise_request_exception = False

    def broken(*args, **options):
        raise raised(OperationalError, sqlite_error(cause))

    monkeypatch.setattr(blind, "own_projects", broken)
    monkeypatch.setattr("annotate.api.authentication.TokenAuthentication.authenticate", broken)
    answer = client.get(reverse("annotate:home") if asked == "page" else "/api/v1/projects/")
    assert answer.status_code == status
    assert ("Retry-After" in answer.headers) is (status != 500)
    if asked == "page":
        assert ("Nothing was changed" in answer.content.decode()) is (status != 500)
        assert "said in words" not in answer.content.decode()
    else:
        codes = {507: "no_space", 503: "unavailable", 500: "server_error"}
        assert [one["code"] for one in answer.json()["problems"]] == [codes[status]]
