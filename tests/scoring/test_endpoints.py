"""Endpoints: made, changed, archived and tried by who leads the project; a key that is stored comes out nowhere."""

from dataclasses import replace

import pytest
from django.utils import timezone

from annotate.errors import NotYours, Refused
from annotate.models import Event, Role
from scoring import endpoints
from scoring.endpoint_keys import unseal
from scoring.endpoints import EndpointValues
from scoring.models import Endpoint
from tests import factories
from tests import judge_server as judge
from tests.judge_server import JudgeServer

pytestmark = pytest.mark.django_db

VALUES = EndpointValues(name="small model", address="https://host.example/v1", model="small")
KEY = "sk-live-4f9b1c77d2a04e1b8c5d"
STORED = replace(VALUES, key_source="stored")


@pytest.fixture
def project():
    return factories.make_project()


@pytest.fixture
def lea(project):
    return factories.make_member(project, "lea", Role.LEAD).person


@pytest.fixture
def make(project, lea):
    return lambda values=VALUES, key="", person=lea: endpoints.make_endpoint(
        person=person, project=project, values=values, key=key
    )


def refused(make, values, key="") -> tuple[str, str]:
    with pytest.raises(Refused) as refusal:
        make(values, key)
    return refusal.value.problem.code, refusal.value.problem.field


def test_an_endpoint_is_made_with_an_event_that_holds_no_key(make):
    row = make(STORED, KEY)
    assert endpoints.values_of(row) == STORED
    assert KEY not in row.key_sealed
    assert unseal(row.key_sealed) == KEY
    event = Event.objects.get(action="endpoint_made")
    assert event.detail == {"endpoint": "small model"}


def test_only_leads_of_the_project_do_anything(make, project):
    ana = factories.make_member(project, "ana").person
    zack = factories.make_member(factories.make_project(), "zack", Role.LEAD).person
    row = make()
    for person in (ana, zack):
        with pytest.raises(NotYours):
            make(replace(VALUES, name="another"), person=person)
        with pytest.raises(NotYours):
            endpoints.change_endpoint(person=person, endpoint=row, values=VALUES)
        with pytest.raises(NotYours):
            endpoints.archive_endpoint(person=person, endpoint=row, now=timezone.now())
        with pytest.raises(NotYours):
            endpoints.try_endpoint(person=person, endpoint=row)
    assert Endpoint.objects.get() == row


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"name": "x" * 61}, "name"),
        ({"model": " "}, "model"),
        ({"address": ""}, "address"),
        ({"address": "http://host.example/v1"}, "address"),
        ({"address": "http://127.0.0.1:8080/v1"}, "address"),
        ({"address": "https://name:word@host.example"}, "address"),
        ({"provider": "openai2"}, "provider"),
        ({"provider": "recorded", "address": "../../db"}, "address"),
        ({"temperature": 3.0}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"max_output_tokens": 0}, "max_output_tokens"),
        ({"seed": -1}, "seed"),
        ({"price_in": -1}, "price_in"),
        ({"concurrency": 0}, "concurrency"),
        ({"concurrency": 65}, "concurrency"),
        ({"per_minute": 0}, "per_minute"),
        ({"deadline_seconds": 0}, "deadline_seconds"),
        ({"most_bytes": 10}, "most_bytes"),
        ({"thinking_form": "x"}, "thinking_form"),
        ({"key_source": "stored"}, "key"),
        ({"key_source": "environment", "key_variable": "SIGHTLINE_SECRET_KEY"}, "key_variable"),
        ({"key_source": "environment", "key_variable": "DATABASE_URL"}, "key_variable"),
        ({"key_source": "environment", "key_variable": "SIGHTLINE_LLM_KEY=x"}, "key_variable"),
        ({"key_source": "environment"}, "key_variable"),
    ],
)
def test_what_does_not_go_is_refused_at_its_field(make, change, field):
    assert refused(make, replace(VALUES, **change))[1] == field
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize("key", ["", "  ", "two words", "schlüssel", "a\nb", "x" * 3000])
def test_a_key_that_cannot_be_sent_is_refused(make, key):
    assert refused(make, STORED, key) == ("key_missing", "key")


def test_two_in_use_have_two_names(make, lea):
    first = make()
    assert refused(make, VALUES) == ("name_taken", "name")
    assert endpoints.archive_endpoint(person=lea, endpoint=first, now=timezone.now())
    assert make().pk != first.pk


def test_what_a_provider_has_no_use_for_is_not_kept(make):
    row = make(replace(STORED, provider="pasted", key_variable="SIGHTLINE_LLM_KEY"), KEY)
    assert (row.address, row.key_source, row.key_variable, row.key_sealed) == ("", "none", "", "")
    row = make(replace(STORED, name="recording", provider="recorded", address="first-pilot"), KEY)
    assert (row.address, row.key_sealed) == ("first-pilot", "")


def change(lea, row, values, key=""):
    return endpoints.change_endpoint(person=lea, endpoint=row, values=values, key=key)


def test_a_stored_key_stays_with_its_server(make, lea):
    row = make(STORED, KEY)
    kept = change(lea, row, replace(STORED, model="larger", address="https://host.example/v2"))
    assert (kept.model, unseal(kept.key_sealed)) == ("larger", KEY)
    for address in ("https://elsewhere.example/v1", "https://host.example:444/v1"):
        with pytest.raises(Refused) as refusal:
            change(lea, row, replace(STORED, address=address))
        assert refusal.value.problem.field == "key"
    assert Endpoint.objects.get().address == "https://host.example/v2"
    moved = change(lea, row, replace(STORED, address="https://elsewhere.example/v1"), "sk-another")
    assert unseal(moved.key_sealed) == "sk-another"


def test_without_a_stored_key_none_is_left(make, lea):
    row = make(STORED, KEY)
    assert change(lea, row, VALUES).key_sealed == ""
    with pytest.raises(Refused):
        change(lea, row, STORED)


def test_the_log_says_what_was_changed_and_never_the_key(make, lea):
    row = make(STORED, KEY)
    change(lea, row, replace(STORED, model="larger"), "sk-another")
    change(lea, row, replace(STORED, model="larger"))
    (event,) = Event.objects.filter(action="endpoint_changed")
    assert event.detail == {"endpoint": "small model", "changed": ["model", "key"]}


def test_an_archived_one_is_gone_with_its_key(make, lea):
    row = make(STORED, KEY)
    assert endpoints.archive_endpoint(person=lea, endpoint=row, now=timezone.now())
    assert not endpoints.archive_endpoint(person=lea, endpoint=row, now=timezone.now())
    assert Endpoint.objects.get().key_sealed == ""
    with pytest.raises(NotYours):
        change(lea, row, VALUES)
    with pytest.raises(NotYours):
        endpoints.try_endpoint(person=lea, endpoint=row)


def test_trying_asks_once_as_a_run_would(make, lea, settings):
    with JudgeServer(key=KEY) as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        row = make(replace(STORED, address=server.url, thinking=False, seed=3, knows_schema=True), KEY)
        tried = endpoints.try_endpoint(person=lea, endpoint=row)
        assert tried.reply.text == '{"answer": "ready"}'
        (asked,) = server.asked
        assert asked.body["seed"] == 3
        assert asked.body["response_format"]["type"] == "json_schema"
    assert Endpoint.objects.get().deadline_seconds == 120


def test_trying_says_what_went_wrong(make, lea, settings):
    with JudgeServer(judge.no_key()) as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        row = make(replace(STORED, address=server.url), KEY)
        tried = endpoints.try_endpoint(person=lea, endpoint=row)
    assert tried.reply is None
    assert tried.problem.code == "key_refused"
    assert KEY[:8] not in tried.problem.sentence()


def test_nobody_is_tried_where_answers_are_pasted(make, lea):
    row = make(replace(VALUES, provider="pasted"))
    assert endpoints.try_endpoint(person=lea, endpoint=row).problem.code == "nobody_to_try"
