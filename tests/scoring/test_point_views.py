"""A lead's page of reply points, the API's, and the page that asks for points where a judge works on nothing else."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from django.urls import reverse

from scoring.models import Points, Run
from scoring.pointing import choose_points
from tests.annotate.api.asking import Script
from tests.factories import CONVERSATION, make_cast, make_endpoint, make_item, make_trace
from tests.scoring.asking_here import ASKER
from tests.scoring.judges_here import known

pytestmark = pytest.mark.django_db
WRITER = replace(ASKER, name="scribe", title="scribe", works_on="points")


@pytest.fixture
def cast(db, client):
    cast = make_cast()
    trace = make_trace(cast.project, CONVERSATION)
    for anchor in (3, 5):
        make_item(cast.project, trace=trace, reply=anchor)
    make_endpoint(cast.project, name="here")
    client.force_login(cast.lea.person)
    with known(WRITER):
        yield SimpleNamespace(
            project=cast.project, client=client, member=cast.lea, lea=cast.lea.person, ana=cast.ana.person
        )


def address(name, cast):
    return reverse(f"scoring:{name}", args=[cast.project.slug])


def test_points_are_chosen_and_listed(cast):
    assert b"No points have been chosen yet" in cast.client.get(address("list_points", cast)).content
    response = cast.client.post(address("choose_points", cast), {"quota": "1", "seed": "77"})
    assert response.headers["Location"] == address("list_points", cast)
    points = Points.objects.get()
    assert (points.quota, points.seed, points.person, len(points.items)) == (1, 77, cast.lea, 1)
    assert ">77<" in cast.client.get(address("list_points", cast)).content.decode()


def api(name, cast):
    return address(name, cast).removeprefix("/api/v1/")


@pytest.mark.parametrize("posted", [{}, {"quota": "0"}, {"quota": "x"}, {"quota": "2", "n": "x"}])
def test_what_does_not_go_is_said_with_what_was_written(cast, posted):
    response = cast.client.post(address("choose_points", cast), posted)
    assert response.status_code == 422
    assert b"whole number" in response.content
    assert not Points.objects.exists()


def test_who_does_not_lead_finds_nothing(cast):
    cast.client.force_login(cast.ana)
    assert cast.client.get(address("list_points", cast)).status_code == 404
    assert cast.client.post(address("choose_points", cast), {"quota": "1"}).status_code == 404


def test_the_api_chooses_and_lists(cast):
    response = Script(cast.member).post(api("api_points", cast), {"quota": 1, "seed": 7})
    assert response.status_code == 201
    made = response.json()
    assert (made["number"], made["seed"], len(made["items"])) == (1, 7, 1)
    assert made["items"][0].keys() == {"item", "order", "point_class"}
    listed = Script(cast.member).get(api("api_points", cast)).json()
    assert [made] == next(value for value in listed.values() if isinstance(value, list))


# A run over them


CHOSEN = {"judge": "scribe", "endpoint": "here", "phases": ["main"]}


def test_the_page_of_the_estimate_asks_for_points_and_starts_over_them(cast):
    choose_points(person=None, project=cast.project, seed=1, quota=1)
    asked = cast.client.get(address("plan_run", cast), CHOSEN)
    assert asked.status_code == 422
    assert '<option value="1">Points 1: 1 replies' in asked.content.decode()
    page = cast.client.get(address("plan_run", cast), {**CHOSEN, "points": "1"}).content.decode()
    assert '<input type="hidden" name="points" value="1">' in page
    assert "<dt>verdicts</dt><dd>1</dd>" in page
    started = cast.client.post(address("start_run", cast), {**CHOSEN, "points": "1", "cap_calls": "9"})
    assert started.status_code == 302
    assert (Run.objects.get().points.number, Run.objects.get().n_items) == (1, 1)
    assert b"points 1" in cast.client.get(address("list_runs", cast)).content
    again = cast.client.post(address("start_run", cast), {**CHOSEN, "points": "1", "cap_calls": "9"})
    assert again.status_code == 422
    assert b"has not run over these points yet" in again.content


def test_points_there_are_not_start_nothing(cast):
    for points in ("", "9", "x"):
        posted = {**CHOSEN, "points": points, "cap_calls": "9"}
        assert cast.client.post(address("start_run", cast), posted).status_code == 422
    assert not Run.objects.exists()


def test_the_api_starts_over_points_and_says_so(cast):
    choose_points(person=None, project=cast.project, seed=1, quota=1)
    body = {"judge": "scribe", "endpoint": "here", "cap_calls": 9, "points": 1}
    response = Script(cast.member).post(api("api_runs", cast), body)
    assert (response.status_code, response.json()["points"]) == (201, 1)
