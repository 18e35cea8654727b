"""Passwords cannot be tried at will, and the answer never tells whether there is an account."""

import re
from datetime import timedelta

import pytest
from axes.models import AccessAttempt, AccessAttemptExpiration, AccessFailureLog, AccessLog
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.hashers import MD5PasswordHasher
from django.db.models import F
from django.test import Client, RequestFactory
from django.urls import reverse

from annotate import throttle
from annotate.models import Person
from tests.factories import make_person

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough sentence"
SIGN_IN = reverse("annotate:sign_in")
TRIES = 4
TRIES_OF_AN_ADDRESS = 10
HERE, THERE = "192.0.2.7", "198.51.100.9"
NAMES = ["ana", "closed", "without", "nobody", "<b>x", "ana "]


@pytest.fixture(autouse=True)
def bounds(settings):
    settings.AXES_FAILURE_LIMIT = TRIES
    settings.SIGN_IN_TRIES_OF_AN_ADDRESS = TRIES_OF_AN_ADDRESS


@pytest.fixture(autouse=True)
def people(db):
    """ana can sign in, as can ben; one account is closed, one has no password."""
    make_person("ana", PASSWORD)
    make_person("ben", PASSWORD)
    make_person("closed", PASSWORD, is_active=False)
    make_person("without")


def sign_in(name="ana", password="wrong", *, address=HERE, client=None, **more):
    return (client or Client()).post(SIGN_IN, {"username": name, "password": password}, REMOTE_ADDR=address, **more)


def lock(name="ana", *, address=HERE):
    for _ in range(TRIES):
        response = sign_in(name, address=address)
    assert response.status_code == 429


def can_sign_in(name="ana", *, address=HERE):
    client = Client()
    response = sign_in(name, PASSWORD, address=address, client=client)
    assert response.status_code == (302 if SESSION_KEY in client.session else 429)
    return response.status_code == 302


def pass_time(**delta):
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(**delta))


def as_told(response):
    """What tells one answer from another: all but the clock, the token of the form and the name that was typed."""
    page = re.sub(r'(name="csrfmiddlewaretoken" value)="[^"]*"', r"\1", response.content.decode())
    page = re.sub(r'(name="username"[^>]* value)="[^"]*"', r"\1", page)
    own = ("Content-Length", "Retry-After", "Expires")
    headers = {name: value for name, value in response.headers.items() if name not in own}
    return response.status_code, headers, page, sorted(response.cookies)


# Nothing tells whether there is an account


@pytest.mark.parametrize("name", NAMES[1:5])
def test_a_wrong_name_a_wrong_password_and_a_closed_account_are_answered_alike(name):
    assert sign_in("ana").status_code == 200
    told = as_told(sign_in("ana"))
    for password in ("wrong", PASSWORD):
        assert as_told(sign_in(name, password)) == told


@pytest.mark.parametrize("name", NAMES)
def test_each_answer_takes_one_hash(name, monkeypatch):
    """A hash is nearly all of the time that a try takes, so equal counts are equal times."""
    hashed = []

    def encode(self, password, salt):
        hashed.append(password)
        return f"md5${salt}$never"

    monkeypatch.setattr(MD5PasswordHasher, "encode", encode)
    sign_in(name)
    assert len(hashed) == 1


@pytest.mark.parametrize("name", NAMES[1:5])
def test_the_lock_is_the_same_for_every_name(name):
    lock("ana")
    told = as_told(sign_in("ana", PASSWORD))
    lock(name)
    for password in ("wrong", PASSWORD):
        assert as_told(sign_in(name, password)) == told


# The lock


def test_after_some_tries_nobody_may_try_for_a_while_not_even_the_right_password():
    for _ in range(TRIES - 1):
        assert sign_in().status_code == 200
    assert can_sign_in()
    lock()
    client = Client()
    response = sign_in("ana", PASSWORD, client=client)
    assert response.status_code == 429
    assert 0 < int(response["Retry-After"]) <= 900
    assert "Nobody can try again from here for 15 min." in response.content.decode()
    assert SESSION_KEY not in client.session
    assert response["Cache-Control"] == "no-store"


def test_a_locked_try_hashes_nothing(monkeypatch):
    lock()
    monkeypatch.setattr(MD5PasswordHasher, "encode", None)
    assert sign_in().status_code == 429


def test_the_lock_ends_in_time_however_often_one_tries_meanwhile():
    lock()
    pass_time(minutes=10)
    for _ in range(3 * TRIES):
        response = sign_in()
        assert 290 <= int(response["Retry-After"]) <= 300
    assert "for 5 min." in response.content.decode()
    pass_time(minutes=4, seconds=30)
    assert "for 1 min." in sign_in().content.decode()
    pass_time(seconds=31)
    assert can_sign_in()


def test_signing_in_forgets_the_tries_before():
    for _ in range(2):
        for _ in range(TRIES - 1):
            sign_in()
        assert can_sign_in()
    assert not AccessAttempt.objects.exists()


def test_the_lock_is_for_a_name_from_an_address():
    lock()
    assert not can_sign_in("ana")
    assert can_sign_in("ana", address=THERE)
    assert can_sign_in("ben")


def test_another_browser_at_the_same_address_is_locked_too():
    lock()
    assert sign_in("ana", PASSWORD, HTTP_USER_AGENT="another").status_code == 429
    assert sign_in("ana", PASSWORD, HTTP_X_FORWARDED_FOR=THERE).status_code == 429
    assert sign_in("ana", PASSWORD, HTTP_X_REQUESTED_WITH="XMLHttpRequest")["Content-Type"].startswith("text/html")


def test_who_is_signed_in_stays_so():
    client = Client()
    sign_in("ana", PASSWORD, client=client)
    lock()
    assert client.get(reverse("annotate:home")).status_code == 200


def test_many_names_from_one_address_lock_the_address():
    for n in range(TRIES_OF_AN_ADDRESS - 1):
        assert sign_in(f"name{n}").status_code == 200
    assert can_sign_in("ben")
    assert sign_in("one more").status_code == 429
    assert not can_sign_in("ben")
    assert can_sign_in("ben", address=THERE)
    pass_time(minutes=15)
    assert can_sign_in("ben")


def test_an_account_of_ones_own_does_not_lift_the_bound_of_an_address():
    for n in range(TRIES_OF_AN_ADDRESS - 1):
        sign_in(f"name{n}")
        assert can_sign_in("ben")
    assert sign_in("one more").status_code == 429


def test_a_lock_is_written_down_once_without_the_name(caplog):
    lock("ana")
    sign_in("ana")
    assert [record.getMessage() for record in caplog.records if record.name == "annotate.throttle"] == [
        f"Too many wrong passwords from {HERE}: sign-in is locked for a while."
    ]
    assert not [record for record in caplog.records if record.name.startswith("axes") and record.levelname != "INFO"]


# What is kept


def test_of_a_try_only_address_number_and_time_are_kept():
    secrets = ["my real password", "token-of-a-link", "a-rare-browser", "text/rare", "ana"]
    client = Client()
    for name in ("my real password", "ana"):
        client.post(
            f"{SIGN_IN}?next=/join/token-of-a-link/",
            {"username": name, "password": "my real password", "next": "/join/token-of-a-link/"},
            headers={"user-agent": "a-rare-browser", "accept": "text/rare"},
        )
    rows = list(AccessAttempt.objects.values())
    assert len(rows) == 2
    for row in rows:
        assert {name for name, value in row.items() if value not in ("", None)} == {
            *("id", "ip_address", "username", "failures_since_start", "attempt_time")
        }
        assert not [secret for secret in secrets if secret in str(row.values())]
        assert re.fullmatch("[0-9a-f]{64}", row["username"])
    can_sign_in()
    for other in (AccessLog, AccessFailureLog, AccessAttemptExpiration):
        assert not other.objects.exists()


def test_what_counts_no_more_goes_with_the_next_try_sign_in_or_sign_out():
    for step in (lambda: sign_in("ben"), lambda: can_sign_in("ben"), sign_out):
        sign_in("nobody")
        pass_time(minutes=16)
        step()
        assert not AccessAttempt.objects.filter(username=throttle.keyed_hash("nobody")).exists()


def sign_out():
    client = Client()
    client.force_login(Person.objects.get(username="ben"))
    assert client.post(reverse("annotate:sign_out")).status_code == 302


# Where it comes from


@pytest.mark.parametrize(
    ("proxy", "peer", "forwarded", "address"),
    [
        (False, HERE, None, HERE),
        (False, HERE, THERE, HERE),
        (True, "127.0.0.1", THERE, THERE),
        (True, "127.0.0.1", f"203.0.113.1, {THERE}", THERE),
        (True, "127.0.0.1", f"203.0.113.1,{THERE} ", THERE),
        (True, HERE, None, HERE),
        (True, HERE, "unknown", HERE),
        (True, "", f"{THERE}, nonsense", "0.0.0.0"),
        (False, "", None, "0.0.0.0"),
        (False, "2001:db8:1:2:3:4:5:6", None, "2001:db8:1:2::"),
        (False, "2001:DB8:1:2:ffff::1", None, "2001:db8:1:2::"),
        (False, f"::ffff:{HERE}", None, HERE),
        (True, "127.0.0.1", "2001:db8:1:2:3::7", "2001:db8:1:2::"),
    ],
)
def test_the_address_is_the_peer_or_what_our_own_proxy_wrote_last(settings, proxy, peer, forwarded, address):
    settings.BEHIND_PROXY = proxy
    more = {} if forwarded is None else {"HTTP_X_FORWARDED_FOR": forwarded}
    assert throttle.address_of(RequestFactory().get("/", REMOTE_ADDR=peer, **more)) == address


def test_behind_a_proxy_nobody_gets_around_the_lock_by_saying_where_they_are(settings):
    settings.BEHIND_PROXY = True
    for n in range(TRIES):
        response = sign_in(address="127.0.0.1", HTTP_X_FORWARDED_FOR=f"203.0.113.{n}, {HERE}")
    assert response.status_code == 429
    proxied = {"address": "127.0.0.1"}
    assert sign_in("ana", PASSWORD, **proxied, HTTP_X_FORWARDED_FOR=f"203.0.113.99, {HERE}").status_code == 429
    assert sign_in("ana", PASSWORD, **proxied, HTTP_X_FORWARDED_FOR=THERE).status_code == 302


# A password asked elsewhere


@pytest.mark.parametrize(
    ("name", "more"),
    [("change_password", dict.fromkeys(["new_password", "again"], "seven yellow kettles")), ("close_account", {})],
)
def test_ones_own_password_is_asked_under_the_same_bound(name, more):
    client, address = Client(), reverse(f"annotate:{name}")
    sign_in("ana", PASSWORD, client=client)
    for _ in range(TRIES - 1):
        assert client.post(address, {"password": "wrong", **more}, REMOTE_ADDR=HERE).status_code == 422
    assert client.post(address, {"password": "wrong", **more}, REMOTE_ADDR=HERE).status_code == 429
    assert client.post(address, {"password": PASSWORD, **more}, REMOTE_ADDR=HERE).status_code == 429
    ana = Person.objects.get(username="ana")
    assert ana.is_active
    assert ana.check_password(PASSWORD)
    assert not can_sign_in()
