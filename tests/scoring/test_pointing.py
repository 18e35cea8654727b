"""Reply points: chosen once, kept under a number, and what runs over them."""

import json
from dataclasses import replace
from io import StringIO
from types import SimpleNamespace

import pytest
from django.core.management import call_command

from annotate.errors import NotYours, Refused
from annotate.models import Event, Work
from annotate.traces.base import Message
from scoring import driving, running
from scoring.asking import Cap
from scoring.estimating import estimate_run
from scoring.models import Points, Run
from scoring.pointing import choose_points
from scoring.running import Asking, cancel_run, start_run
from tests.factories import make_cast, make_endpoint, make_item, make_trace
from tests.scoring.asking_here import ASKER
from tests.scoring.judges_here import FOUND, judge_that, known

HANDLERS_OF = [driving]
pytestmark = pytest.mark.django_db


def talk(*parts):
    messages = enumerate(parts)
    return tuple(Message(index, role, f"{role} {index}", session=session) for index, (role, session) in messages)


LONG = talk(
    *(("user", 1), ("assistant", 1), ("user", 1), ("summary", 1), ("assistant", 1), ("user", 2), ("assistant", 2)),
    *(("user", 2), ("assistant", 2)),
)
"""Replies 1 first of the first session, 4 behind a compaction, 6 first of a later session, 8 none of these."""
WRITES = replace(judge_that(lambda view: FOUND, name="writes"), works_on="points")


@pytest.fixture
def cast(db):
    cast = make_cast()
    items = {}
    for name in ("one", "two"):
        trace = make_trace(cast.project, LONG)
        items[name] = {at: make_item(cast.project, trace=trace, reply=at, cluster=name).pk for at in (1, 4, 6, 8)}
    return SimpleNamespace(project=cast.project, lea=cast.lea.person, ana=cast.ana.person, items=items)


def chosen(cast, **options):
    return choose_points(person=None, project=cast.project, **{"seed": 5, **options})


def test_replies_behind_compactions_and_first_in_later_sessions_come_first(cast):
    points = chosen(cast, quota=3)
    assert (points.number, points.seed, points.quota) == (1, 5, 3)
    for items in cast.items.values():
        mine = [one for one in points.items if one["item"] in items.values()]
        assert {one["item"] for one in mine if one["class"] == "priority"} == {items[4], items[6]}
        assert [one["class"] for one in mine] == ["priority", "priority", "random"]
    assert [one["order"] for one in points.items] == list(range(6))


def test_each_choice_is_the_next_number_and_told(cast):
    first, second = chosen(cast), choose_points(person=cast.lea, project=cast.project, seed=5, n=3)
    assert (first.number, second.number, len(second.items)) == (1, 2, 3)
    event = Event.objects.filter(action="points_chosen").order_by("pk").last()
    assert (event.person, event.detail) == (cast.lea, {"points": 2, "items": 3, "quota": 8, "seed": 5})


def test_any_replies_at_random_know_no_quota(cast):
    points = chosen(cast, quota=1, n=4, at_random=True)
    assert len(points.items) == 4
    assert {one["class"] for one in points.items} == {"random"}
    assert 1 <= points.quota <= 4


def test_who_does_not_lead_chooses_nothing(cast):
    with pytest.raises(NotYours):
        choose_points(person=cast.ana, project=cast.project, seed=1)
    assert not Points.objects.exists()


@pytest.mark.parametrize(
    ("options", "code", "field"),
    [
        ({"quota": 0}, "bad_number", "quota"),
        ({"n": 0}, "bad_number", "n"),
        ({"seed": -1}, "bad_number", "seed"),
        ({"phase": "practice"}, "nothing_to_choose", "phase"),
        ({"phase": "?"}, "nothing_to_choose", "phase"),
    ],
)
def test_what_does_not_go_is_refused_by_name(cast, options, code, field):
    with pytest.raises(Refused) as refused:
        chosen(cast, **options)
    assert (refused.value.problem.code, refused.value.problem.field) == (code, field)
    assert not Points.objects.exists()


def test_the_command_chooses_and_says_so(cast):
    out = StringIO()
    call_command("choose_points", cast.project.slug, "--quota", "3", "--seed", "5", "--json", stdout=out)
    said = json.loads(out.getvalue())
    assert said == {
        **{"project": cast.project.slug, "points": 1, "seed": 5, "quota": 3, "items": 6},
        **{"priority": 4, "random": 2},
    }
    assert Points.objects.get().items == chosen(cast, quota=3).items


# Runs


def run_over(cast, number, judge="writes", **options):
    with known(WRITES, ASKER):
        return start_run(person=None, project=cast.project, judge=judge, points=number, **options)


def code_of(*args, **options):
    with pytest.raises(Refused) as refused:
        run_over(*args, **options)
    return refused.value.problem.code


def test_a_run_over_points_judges_their_replies_and_no_phase(cast):
    points = chosen(cast, quota=1)
    run = run_over(cast, 1, phases=["practice"])
    assert (run.points, run.n_items, run.phases) == (points, 2, ["main"])
    judged = {job.payload["item"] for job in Work.objects.filter(group=run.group)}
    assert judged == {one["item"] for one in points.items}


def test_a_judge_of_points_is_refused_without_any_and_for_unknown_ones(cast):
    assert code_of(cast, None) == "no_points"
    assert code_of(cast, 1) == "unknown_points"
    assert code_of(cast, 2**40) == "unknown_points"
    assert not Run.objects.exists()


def test_a_condition_runs_once_over_the_same_points(cast):
    chosen(cast)
    chosen(cast)
    first = run_over(cast, 1)
    assert code_of(cast, 1) == "condition_run_already"
    run_over(cast, 2)
    cancel_run(person=None, run=first)
    assert run_over(cast, 1).points.number == 1


def test_a_judge_of_items_may_run_over_points_as_often_as_it_likes(cast):
    chosen(cast, quota=2)
    endpoint = make_endpoint(cast.project)
    asking = Asking(endpoint, Cap(calls=9))
    assert [run_over(cast, 1, judge="asker", asking=asking).n_items for _ in range(2)] == [4, 4]
    with known(ASKER):
        made = estimate_run(person=None, project=cast.project, judge="asker", endpoint=endpoint, points=1)
    assert made.n_judgments == 4


def test_the_command_takes_points_and_settings(cast):
    chosen(cast, quota=1)
    out = StringIO()
    words = ("run_judge", cast.project.slug, "lexical", "--points", "1", "--set", "unknown=[1]", "--json")
    with pytest.raises(SystemExit):
        call_command(*words, stdout=out, stderr=StringIO())
    assert json.loads(out.getvalue())["problems"][0]["code"] == "unknown_field"
    out = StringIO()
    call_command("run_judge", cast.project.slug, "lexical", "--points", "1", "--json", stdout=out, stderr=StringIO())
    assert json.loads(out.getvalue())["items"] == 2
    assert running.run_progress(Run.objects.get()).n_done == 2
