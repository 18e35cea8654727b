"""Runs by the API: the same doors as the pages."""

import pytest
from django.core.cache import cache

from annotate import work
from scoring.models import Run, Verdict
from tests.annotate.api.asking import Script, codes
from tests.factories import CONVERSATION, make_cast, make_item, make_run, make_trace

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(db):
    cache.clear()
    cast = make_cast()
    trace = make_trace(cast.project, CONVERSATION)
    for anchor in (3, 5):
        make_item(cast.project, trace=trace, reply=anchor)
    return cast


@pytest.fixture
def lea(cast):
    return Script(cast.lea)


def runs(cast, number=""):
    return f"projects/{cast.project.slug}/runs/{f'{number}/' if number else ''}"


def test_a_run_is_started_followed_and_listed(cast, lea):
    response = lea.post(runs(cast), {"judge": "lexical"})
    assert response.status_code == 201
    assert response.headers["Location"].endswith(runs(cast, 1))
    progress = {"state": "running", "n_items": 2, "n_done": 0, "n_unreadable": 0, "n_dead": 0, "n_left": 2}
    assert response.json()["progress"] == progress
    work.drain()
    row = lea.get(runs(cast, 1)).json()
    assert row["progress"] == {**progress, "state": "done", "n_done": 2, "n_left": 0}
    assert (row["judge"], row["phases"], row["n_samples"]) == ("lexical", ["main"], 1)
    assert lea.get(runs(cast)).json() == {"rows": [row], "next": None}
    assert Verdict.objects.count() == 2


def test_a_run_is_held_resumed_and_called_off(cast, lea):
    lea.post(runs(cast), {"judge": "lexical"})
    for state in ("paused", "running", "running", "cancelled"):
        response = lea.patch(runs(cast, 1), {"state": state})
        assert response.status_code == 200
        assert response.json()["progress"]["state"] == state
    refused = lea.patch(runs(cast, 1), {"state": "running"})
    assert (refused.status_code, codes(refused)) == (422, {("state", "is_over")})


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"judge": "nobody"}, ("judge", "unknown_judge")),
        ({"judge": "lexical", "phases": ["pilot"]}, ("phases", "nothing_to_judge")),
        ({"judge": "lexical", "settings": {"speed": 1}}, ("speed", "unknown_field")),
    ],
)
def test_what_does_not_go_is_refused_by_name(cast, lea, body, problem):
    response = lea.post(runs(cast), body)
    assert (response.status_code, codes(response)) == (422, {problem})
    assert not Run.objects.exists()


LEXICAL = {"judge": "lexical"}


@pytest.mark.parametrize("body", [{}, {"judge": 7}, {**LEXICAL, "phases": []}, {**LEXICAL, "more": 1}])
def test_a_body_of_another_shape_starts_nothing(cast, lea, body):
    assert lea.post(runs(cast), body).status_code in (400, 422)
    assert not Run.objects.exists()


def test_runs_are_nobody_elses(cast, lea):
    make_run(cast.project)
    for member in (cast.ana, cast.rita):
        script = Script(member)
        assert script.get(runs(cast, 1)).status_code == 404
        assert script.post(runs(cast), {"judge": "lexical"}).status_code == 404
    assert lea.get(runs(cast, 2)).status_code == 404
    assert lea.get(runs(cast, 2**40)).status_code == 404


def test_the_list_goes_by_pages(cast, lea):
    for _ in range(3):
        make_run(cast.project)
    first = lea.get(f"{runs(cast)}?limit=2").json()
    assert [row["number"] for row in first["rows"]] == [3, 2]
    second = lea.get(f"{runs(cast)}?limit=2&cursor={first['next']}").json()
    assert [row["number"] for row in second["rows"]] == [1]
