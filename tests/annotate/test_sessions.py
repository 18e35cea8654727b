"""Sessions know whose they are, end when their person says so, and leave nothing behind."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session as DjangosSession
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate import sessions
from annotate.models import Session
from tests.factories import make_person

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough sentence"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
EDGE = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36 Edg/156.0.0.0"
HOME = reverse("annotate:home")
SIGN_IN = reverse("annotate:sign_in")


@pytest.fixture
def ana(db):
    return make_person("ana", PASSWORD)


def signed_in(person, agent=FIREFOX):
    client = Client(headers={"user-agent": agent})
    assert client.post(SIGN_IN, {"username": person.username, "password": PASSWORD}).status_code == 302
    return client


def key_of(client):
    return client.cookies["sessionid"].value


def end(row):
    Session.objects.filter(pk=row.pk).update(expire_date=timezone.now() - timedelta(seconds=1))


def test_a_session_knows_its_person_its_browser_and_its_beginning(ana):
    before = timezone.now()
    client = signed_in(ana)
    (row,) = Session.objects.all()
    assert (row.pk, row.person, row.agent) == (key_of(client), ana, "Firefox, Linux")
    assert before <= row.created_at <= timezone.now()
    assert row.expire_date - before >= timedelta(days=13)
    assert not DjangosSession.objects.exists()


def test_a_session_that_is_saved_again_keeps_its_browser_and_its_beginning(ana):
    client = signed_in(ana)
    (before,) = Session.objects.values("person", "agent", "created_at")
    session = client.session
    session["anything"] = 1
    session.save()
    assert Session.objects.values("person", "agent", "created_at").get() == before
    assert client.session["anything"] == 1


def test_a_cookie_holds_the_key_and_nothing_else(ana):
    client = signed_in(ana)
    client.get(HOME)
    assert set(client.cookies) == {"sessionid", "csrftoken"}
    assert re.fullmatch("[a-z0-9]{32}", key_of(client))
    assert re.fullmatch("[A-Za-z0-9]{32}", client.cookies["csrftoken"].value)
    assert client.cookies["sessionid"]["httponly"]


def test_an_edited_and_an_old_cookie_open_nothing(ana):
    client = signed_in(ana)
    edited = Client()
    edited.cookies["sessionid"] = key_of(client)[:-1] + ("a" if key_of(client)[-1] != "a" else "b")
    assert edited.get(HOME).status_code == 302
    end(Session.objects.get())
    assert client.get(HOME).status_code == 302


def test_nobody_has_a_session_before_signing_in(client):
    client.get(SIGN_IN)
    client.post(SIGN_IN, {"username": "nobody", "password": "x"})
    assert not Session.objects.exists()
    assert "sessionid" not in client.cookies


def test_signing_out_removes_the_row(ana):
    client, other = signed_in(ana), signed_in(ana)
    client.post(reverse("annotate:sign_out"))
    assert [row.pk for row in Session.objects.all()] == [key_of(other)]
    assert other.get(HOME).status_code == 200


def test_ones_own_sessions_are_listed_this_one_first_in_one_statement(ana):
    ben = make_person("ben", PASSWORD)
    first, second, third = signed_in(ana), signed_in(ana, EDGE), signed_in(ana, "")
    signed_in(ben)
    end(Session.objects.get(pk=key_of(signed_in(ana))))
    with CaptureQueriesContext(connection) as captured:
        found = sessions.own_sessions(ana, this=key_of(first), now=timezone.now())
    assert len(captured) == 1
    assert [(one.agent, one.is_this) for one in found] == [
        ("Firefox, Linux", True),
        ("", False),
        ("Edge, Windows", False),
    ]
    rows = {row.pk: row.created_at for row in Session.objects.all()}
    assert [one.signed_in_at for one in found] == [rows[key_of(one)] for one in (first, third, second)]


@pytest.mark.parametrize("this_stays", [True, False])
def test_a_person_is_signed_out_everywhere_or_everywhere_else(ana, this_stays):
    ben = make_person("ben", PASSWORD)
    here, there, theirs = signed_in(ana), signed_in(ana), signed_in(ben)
    assert sessions.end_sessions(ana, but=key_of(here) if this_stays else None) == (1 if this_stays else 2)
    assert here.get(HOME).status_code == (200 if this_stays else 302)
    assert there.get(HOME)["Location"] == f"{SIGN_IN}?next=/"
    assert there.post(reverse("annotate:keep_alive"), headers={"HX-Request": "true"}).status_code == 401
    assert theirs.get(HOME).status_code == 200


def test_a_session_that_begins_takes_a_few_dead_ones_with_it(ana, monkeypatch):
    monkeypatch.setattr(sessions, "N_CLEARED", 2)
    living = signed_in(ana)
    dead = [signed_in(ana) for _ in range(3)]
    for client in dead:
        end(Session.objects.get(pk=key_of(client)))
    newest = signed_in(ana)
    assert Session.objects.count() == 3
    assert living.get(HOME).status_code == newest.get(HOME).status_code == 200
    signed_in(ana)
    assert {row.pk for row in Session.objects.all()} >= {key_of(living), key_of(newest)}
    assert not Session.objects.filter(expire_date__lt=timezone.now()).exists()


def test_clearsessions_removes_dead_sessions_at_once(ana):
    living, dead = signed_in(ana), signed_in(ana)
    end(Session.objects.get(pk=key_of(dead)))
    call_command("clearsessions")
    assert [row.pk for row in Session.objects.all()] == [key_of(living)]
    assert living.session[SESSION_KEY] == str(ana.pk)


@pytest.mark.parametrize("key", [r"aaaaaaaaaa\000", r"\000bbbbbbbbb", r"aaaa\351aaaa", "a-key-that-is-none", "short"])
def test_a_cookie_that_can_be_no_key_of_ours_is_nobodys_and_no_database_is_asked_for_it(db, key):
    client = Client(raise_request_exception=False)
    with CaptureQueriesContext(connection) as captured:
        response = client.get(HOME, headers={"Cookie": f'sessionid="{key}"'})
    assert (response.status_code, len(captured)) == (302, 0)
