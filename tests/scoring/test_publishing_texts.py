"""Texts that runs wrote come into another project once; what wrote them is said by the private arm alone."""

import json
from collections import Counter

import pytest

from annotate import assigning, work
from annotate.errors import NotYours, Refused
from annotate.models import Assignment, Event, Item, Project, Role, Trace
from annotate.rules.requester_view import requester_view, work_record
from scoring import publishing_texts, queries
from scoring.publishing_texts import publish_texts
from scoring.running import start_run
from tests.annotate.test_commands import Said
from tests.factories import NOW, make_member, make_project, make_verdict
from tests.scoring.writing import make_points, make_run, make_written

pytestmark = pytest.mark.django_db


@pytest.fixture
def source(db):
    return make_project("replies")


@pytest.fixture
def target(db):
    project = make_project("reading", assigning="pairs")
    make_member(project, "ana")
    return project


def publish(source, target, *runs, person=None):
    return publish_texts(
        person=person, source=source, target=target, runs=[run.number for run in runs], now=NOW
    )


def refusal(*args, **options):
    before = (Item.objects.count(), Trace.objects.count())
    with pytest.raises(Refused) as refused:
        publish(*args, **options)
    assert (Item.objects.count(), Trace.objects.count()) == before
    assert refused.value.problem.sentence()
    return refused.value.problem


def test_each_text_is_an_item_at_its_point_with_its_condition_as_the_private_arm(source, target):
    points = make_points(source, 2)
    default, rewrite = make_written(source, points), make_written(source, points, "rewrite")
    made = publish(source, target, default, rewrite)
    assert (made.n_new, made.n_present, made.n_traces, made.n_points, made.n_none) == (8, 0, 2, 4, 0)
    items = Item.objects.filter(project=target)
    assert Counter(items.values_list("arm", flat=True)) == {"default": 4, "rewrite": 4}
    assert set(Counter(items.values_list("point", flat=True)).values()) == {2}
    assert not items.filter(is_planned=True).exists()
    first = items.get(arm="rewrite", origin__item=points[0].pk)
    assert first.text == f"rewrite of {points[0].pk}, 0."
    assert first.origin == {"run": rewrite.pk, "item": points[0].pk, "sample": 0}
    assert (first.anchor, first.phase, first.cluster) == (4, "main", points[0].cluster)
    assert not Assignment.objects.exists()


def test_nothing_of_a_points_id_tells_arm_item_or_trace(source, target):
    points = make_points(source)
    publish(source, target, make_written(source, points))
    ids = set(Item.objects.filter(project=target).values_list("point", flat=True))
    assert all(len(one) == 20 and set(one) <= set("0123456789abcdef") for one in ids)
    assert publishing_texts.point_id(target, points[0].pk) in ids
    other = make_project("elsewhere", assigning="pairs", seed=8)
    assert publishing_texts.point_id(other, points[0].pk) not in ids


def test_the_trace_ends_at_the_last_point_and_holds_what_requester_and_agent_had_until_then(source, target):
    points = make_points(source, metadata={"model": "m1", "reward": 1.0, "meta": {"family": "f"}})
    publish(source, target, make_written(source, points))
    copy, old = Trace.objects.get(project=target), points[0].trace
    assert (copy.format, copy.source_id, copy.area, copy.language) == ("published", old.source_id, "library", "en")
    assert copy.metadata == {"model": "m1", "family": "f"}
    assert copy.cluster == old.cluster
    assert list(copy.messages.values_list("index", flat=True)) == list(range(8))
    assert [file.name for file in copy.files.all()] == ["plan.md"]
    ours, theirs = queries.whole_trace(copy.pk), queries.whole_trace(old.pk)
    for point in points:
        assert requester_view(ours, point.anchor) == requester_view(theirs, point.anchor)
        assert work_record(ours, point.anchor) == work_record(theirs, point.anchor)


def test_again_brings_what_is_new_only(source, target):
    points = make_points(source)
    default = make_written(source, points)
    publish(source, target, default)
    before = list(Item.objects.order_by("pk").values())
    again = publish(source, target, default)
    assert (again.n_new, again.n_present, again.n_traces) == (0, 2, 0)
    assert list(Item.objects.order_by("pk").values()) == before
    more = publish(source, target, default, make_written(source, points, "notice"))
    assert (more.n_new, more.n_present, more.n_traces) == (2, 2, 0)
    assert Trace.objects.filter(project=target).count() == 1


def test_a_later_point_than_the_copy_reaches_is_refused(source, target):
    points = make_points(source)
    publish(source, target, make_written(source, points[:1]))
    assert refusal(source, target, make_written(source, points, "notice")).code == "ends_before"
    assert publish(source, target, make_written(source, points[:1], "separate")).n_new == 1


def test_samples_keep_their_number(source, target):
    points = make_points(source)
    publish(source, target, make_written(source, points, n_samples=16), make_written(source, points))
    arms = Item.objects.filter(project=target, point=publishing_texts.point_id(target, points[0].pk))
    assert set(arms.values_list("arm", flat=True)) == {"default", *(f"default#{n}" for n in range(1, 17))}
    third = arms.get(arm="default#3")
    assert (third.text, third.origin["sample"]) == (f"default of {points[0].pk}, 2.", 2)


def test_a_verdict_without_a_text_is_counted_and_brings_nothing(source, target):
    points = make_points(source)
    run = make_written(source, points[:1])
    make_verdict(run, points[1], None, is_unreadable=True, finding={"values": {}, "spans": [], "unreadable": "x"})
    made = publish(source, target, run)
    assert (made.n_new, made.n_none) == (1, 1)
    assert made.n_points == 1


def test_judges_read_what_nobody_is_to_read(source, target):
    points = make_points(source)
    publish(source, target, make_written(source, points, text="Run r7 is done."))
    run = start_run(person=None, project=target, judge="lexical")
    work.drain(run.group)
    assert run.verdicts.count() == 2
    assert not assigning.extend_panel(project=target, now=NOW)


# What is refused


def test_a_rewrite_of_a_point_without_a_default_names_the_point(source, target):
    points = make_points(source)
    rewrite, default = make_written(source, points, "rewrite"), make_written(source, points[:1])
    problem = refusal(source, target, rewrite, default)
    assert (problem.code, problem.params["points"]) == ("no_default", f"{points[1].trace.source_id} 7")
    publish(source, target, make_written(source, points))
    assert publish(source, target, rewrite).n_new == 2


def test_a_rewrite_comes_with_the_default_that_it_was_made_of(source, target):
    points = make_points(source)
    first, second = make_written(source, points), make_written(source, points)
    rewrite = make_written(source, points, "rewrite", default_run=first.number)
    problem = refusal(source, target, second, rewrite)
    assert (problem.code, problem.params["default"]) == ("other_default", first.number)
    publish(source, target, second)
    assert refusal(source, target, rewrite).code == "other_default"
    assert publish(source, make_project("other", assigning="pairs"), first, rewrite).n_new == 4


def test_a_condition_twice_for_a_point_is_refused_at_once_and_later(source, target):
    points = make_points(source)
    first, second = make_written(source, points), make_written(source, points[:1])
    problem = refusal(source, target, first, second)
    assert (problem.code, problem.params["number"], problem.params["other"]) == (
        "condition_twice", second.number, first.number,
    )  # fmt: skip
    publish(source, target, first)
    assert refusal(source, target, second).code == "condition_twice"


def test_a_run_of_another_judge_or_none_is_refused(source, target):
    points = make_points(source)
    reader = make_run(source, "reader", items=points)
    assert refusal(source, target, reader).code == "other_judge"
    reader.number = 99
    assert refusal(source, target, reader).code == "unknown_run"


def test_a_target_that_is_none_is_refused(source, target):
    run = make_written(source, make_points(source))
    assert refusal(source, make_project(kind="choice"), run).code == "other_target"
    assert refusal(source, source, run).code == "other_target"
    other = make_project(settings={"text_beside_calls": "visible"})
    assert refusal(source, other, run).code == "seen_otherwise"
    Project.objects.filter(pk=target.pk).update(closed_at=NOW)
    target.refresh_from_db()
    assert refusal(source, target, run).code == "project_closed"


def test_only_who_leads_both_may(source, target):
    run = make_written(source, make_points(source))
    lea = make_member(source, "lea", Role.LEAD)
    with pytest.raises(NotYours):
        publish(source, target, run, person=lea.person)
    make_member(target, lea.person, Role.LEAD)
    assert publish(source, target, run, person=lea.person).n_new == 2


def test_a_text_that_names_a_model_is_warned_of_and_brought_in(source, target):
    points = make_points(source)
    made = publish(source, target, make_written(source, points, text="ChatGPT says it is done."))
    assert made.n_new == 2
    (warning,) = made.warnings
    assert warning.warning
    assert (warning.code, warning.params) == ("names_a_model", {"arm": "default", "n": 2, "names": "ChatGPT"})


# The command


def test_the_command_says_what_came_in(source, target):
    points = make_points(source)
    runs = [make_written(source, points), make_written(source, points, "rewrite", text="OpenAI says so.")]
    said = Said("publish_texts", "replies", "reading", "--runs", ",".join(str(run.number) for run in runs), "--json")
    assert said.code == 0
    assert [one["code"] for one in said.object["warnings"]] == ["names_a_model"]
    assert {name: said.object[name] for name in ("texts", "present", "traces", "points", "without_text")} == {
        **{"texts": 4, "present": 0, "traces": 1, "points": 2, "without_text": 0}
    }
    assert Event.objects.filter(project=target, action="items_published").count() == 1
    assert "there already: 4" in Said("publish_texts", "replies", "reading", "--runs", "1,2").out


def test_the_command_refuses_by_name(source, target):
    make_written(source, make_points(source), "rewrite")
    said = Said("publish_texts", "replies", "reading", "--runs", "1", "--json")
    assert said.code == 1
    assert [one["code"] for one in json.loads(said.out)["problems"]] == ["no_default"]
