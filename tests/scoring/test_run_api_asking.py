"""Runs that ask a model by the API: what one would take, its cap, and what it has asked."""

import pytest
from django.core.cache import cache

from annotate import work
from scoring import calling
from scoring.models import Call, Prompt, Run, Verdict
from tests.annotate.api.asking import Script, codes
from tests.factories import CONVERSATION, make_cast, make_endpoint, make_item, make_trace
from tests.scoring.asking_here import ASKER, Model, answered_by
from tests.scoring.judges_here import known

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(db):
    cache.clear()
    cast = make_cast()
    trace = make_trace(cast.project, CONVERSATION)
    for anchor in (3, 5):
        make_item(cast.project, trace=trace, reply=anchor)
    make_endpoint(cast.project, name="here", concurrency=1, per_minute=100_000, price_in=1, price_out=2)
    with known(ASKER):
        yield cast


@pytest.fixture
def lea(cast):
    return Script(cast.lea)


def runs(cast, number=""):
    return f"projects/{cast.project.slug}/runs/{f'{number}/' if number else ''}"


START = {"judge": "asker", "endpoint": "here", "cap_calls": 3, "cap_cost": 0.5}


def driven(monkeypatch):
    with answered_by(monkeypatch, Model()) as model:
        work.drain()
    return model


def test_what_a_run_would_take_is_told_without_one(cast, lea):
    said = lea.get(f"{runs(cast)}estimate/?judge=asker&endpoint=here").json()
    assert {name: said[name] for name in ("n_judgments", "n_looked_at", "n_calls", "n_stored", "is_measured")} == {
        **{"n_judgments": 2, "n_looked_at": 2, "n_calls": 2, "n_stored": 0, "is_measured": False},
    }
    assert said["cost"] > 0
    assert not any(table.objects.exists() for table in (Run, Call))
    for query, problem in {
        "judge=asker&endpoint=there": ("endpoint", "no_endpoint"),
        "judge=lexical&endpoint=here": ("endpoint", "asks_nobody"),
        "judge=asker&endpoint=here&phase=pilot": ("phases", "nothing_to_judge"),
    }.items():
        refused = lea.get(f"{runs(cast)}estimate/?{query}")
        assert (refused.status_code, codes(refused)) == (422, {problem})


def test_a_run_is_held_at_its_cap_and_goes_on_under_another(cast, lea, monkeypatch):
    said = lea.post(runs(cast), START).json()
    assert (said["endpoint"], said["cap_calls"], said["cap_tokens"], said["cap_cost"]) == ("here", 3, None, 0.5)
    assert (said["held_for"], said["asked"]["n_requests"]) == (None, 0)
    driven(monkeypatch)
    held = lea.get(runs(cast, 1)).json()
    assert held["progress"]["state"] == "paused"
    assert (held["held_for"]["code"], held["asked"]["n_calls"], held["asked"]["n_requests"]) == ("cap_reached", 3, 3)
    assert held["asked"]["cost"] == pytest.approx(3 * 120 / 1e6)
    again = lea.patch(runs(cast, 1), {"state": "running", "cap_calls": 9})
    assert (again.status_code, again.json()["cap_calls"], again.json()["held_for"]) == (200, 9, None)
    driven(monkeypatch)
    assert lea.get(runs(cast, 1)).json()["progress"]["n_done"] == Verdict.objects.count() == 2


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"cap_calls": 0}, ("cap_calls", "out_of_range")),
        ({"cap_calls": "3"}, ("cap_calls", "wrong_type")),
        ({"cap_calls": None, "cap_cost": None}, None),
        ({"cap_cost": "3"}, ("cap_cost", "wrong_type")),
        ({"endpoint": "there"}, ("endpoint", "no_endpoint")),
        ({"judge": "lexical"}, ("endpoint", "asks_nobody")),
    ],
)
def test_what_does_not_go_is_refused_by_name(cast, lea, body, problem):
    response = lea.post(runs(cast), {**START, **body})
    assert response.status_code == 422
    assert problem is None or codes(response) == {problem}
    assert not Run.objects.exists()


def test_versions_of_prompts_are_chosen_by_number(cast, lea):
    first = calling.first_version(cast.project, "checker", "en")
    second = Prompt.objects.create(
        project=cast.project, key="checker", language="en", number=2, text=first.text, sha256=first.sha256
    )
    for prompts, expected in (({}, second), ({"checker": {"en": 1}}, first), ({"checker": {"en": 2}}, second)):
        assert lea.post(runs(cast), {**START, "prompts": prompts}).status_code == 201
        assert Run.objects.latest("number").prompts["checker"]["en"] == expected.pk
    for prompts, problem in (
        ({"checker": {"en": 3}}, ("version", "unknown_version")),
        ({"checker": {"fr": 1}}, ("prompt", "unknown_prompt")),
        ({"reader.answers": {"en": 1}}, ("prompt", "unknown_prompt")),
    ):
        refused = lea.post(runs(cast), {**START, "prompts": prompts})
        assert (refused.status_code, codes(refused)) == (422, {problem})
    assert Run.objects.count() == 3


def test_a_run_without_a_cap_is_refused(cast, lea):
    response = lea.post(runs(cast), {"judge": "asker", "endpoint": "here"})
    assert (response.status_code, codes(response)) == (422, {("cap_calls", "no_cap")})


def test_estimates_are_nobody_elses(cast):
    for member in (cast.ana, cast.rita):
        assert Script(member).get(f"{runs(cast)}estimate/?judge=asker&endpoint=here").status_code == 404
