"""Plans are written down as assignments: each item once, in order, later ones behind."""

import pytest
from django.db import IntegrityError, transaction

from annotate.assigning import extend_panel, open_next, open_round
from annotate.models import Assignment, Item, Membership, Round
from tests.factories import CONVERSATION, NOW, make_cast, make_item, make_member, make_project, make_trace

pytestmark = pytest.mark.django_db
State = Assignment.State


def make_material(project, *phases_and_languages):
    """For each pair a trace of two replies."""
    items = []
    for phase, language in phases_and_languages:
        trace = make_trace(project, CONVERSATION, language=language)
        items += [make_item(trace=trace, reply=index, phase=phase) for index in (3, 5)]
    return items


def plan_of(member):
    return list(member.assignments.order_by("order").values_list("order", "sequence", "item", "state"))


@pytest.fixture
def cast(db):
    cast = make_cast()
    make_material(cast.project, ("main", "en"), ("practice", "zh"), ("main", "zh"), ("pilot", "en"))
    return cast


def test_every_annotator_gets_every_item_once_and_the_first_is_open(cast):
    assert extend_panel(project=cast.project, now=NOW) == 16
    for member in (cast.ana, cast.ben):
        plan = plan_of(member)
        assert [order for order, *_ in plan] == list(range(8))
        assert [sequence for _, sequence, *_ in plan] == [1, 1, 2, 2, 3, 3, 4, 4]
        assert {item for _, _, item, _ in plan} == set(Item.objects.values_list("pk", flat=True))
        assert [state for *_, state in plan] == [State.OPEN] + [State.LOCKED] * 7


def test_practice_comes_first_then_the_pilot_then_the_main_phase(cast):
    extend_panel(project=cast.project, now=NOW)
    phases = list(cast.ana.assignments.order_by("order").values_list("item__phase", flat=True))
    assert phases == ["practice"] * 2 + ["pilot"] * 2 + ["main"] * 4


def test_a_second_time_changes_nothing(cast):
    extend_panel(project=cast.project, now=NOW)
    before = list(Assignment.objects.order_by("pk").values())
    assert extend_panel(project=cast.project, now=NOW) == 0
    assert list(Assignment.objects.order_by("pk").values()) == before


def test_only_annotators_get_a_plan(cast):
    extend_panel(project=cast.project, now=NOW)
    assert {row.annotator for row in Assignment.objects.select_related("annotator")} == {cast.ana, cast.ben}


def test_a_lead_gets_a_plan_only_where_the_project_says_so(cast):
    cast.project.open_lead = True
    cast.project.save()
    assert extend_panel(project=cast.project, now=NOW) == 24
    assert len(plan_of(cast.lea)) == 8


def test_who_has_left_gets_no_more(cast):
    Membership.objects.filter(pk=cast.ben.pk).update(left_at=NOW)
    assert extend_panel(project=cast.project, now=NOW) == 8
    assert plan_of(cast.ben) == []


def test_an_annotator_gets_the_items_of_the_languages_they_read(cast):
    Membership.objects.filter(pk=cast.ben.pk).update(languages=["zh"])
    assert extend_panel(project=cast.project, now=NOW) == 8 + 4
    assert set(cast.ben.assignments.values_list("item__trace__language", flat=True)) == {"zh"}


def test_items_whose_language_nobody_said_go_to_everybody(cast):
    Membership.objects.filter(pk=cast.ben.pk).update(languages=["zh"])
    make_material(cast.project, ("main", ""))
    assert extend_panel(project=cast.project, now=NOW) == 10 + 6


def test_later_items_come_after_those_one_has_whatever_their_phase(cast):
    extend_panel(project=cast.project, now=NOW)
    before = plan_of(cast.ana)
    later = make_material(cast.project, ("practice", "en"))
    assert extend_panel(project=cast.project, now=NOW) == 4
    assert plan_of(cast.ana)[:8] == before
    assert plan_of(cast.ana)[8:] == [(8, 5, later[0].pk, State.LOCKED), (9, 5, later[1].pk, State.LOCKED)]


def test_later_items_open_for_who_is_through_with_the_others(cast):
    extend_panel(project=cast.project, now=NOW)
    cast.ana.assignments.update(state=State.SUBMITTED)
    later = make_material(cast.project, ("main", "en"))
    extend_panel(project=cast.project, now=NOW)
    assert cast.ana.assignments.get(state=State.OPEN).item == later[0]
    assert cast.ben.assignments.get(state=State.OPEN).order == 0


def test_items_that_are_still_being_imported_are_not_planned(cast):
    make_item(trace=make_trace(cast.project, CONVERSATION, is_staged=True))
    assert extend_panel(project=cast.project, now=NOW) == 16


def test_another_projects_items_stay_there(cast):
    make_material(cast.other_project, ("main", "en"))
    assert extend_panel(project=cast.project, now=NOW) == 16
    assert plan_of(cast.zoe) == []


def test_two_annotators_read_in_different_orders_and_each_trace_in_reading_order():
    project = make_project()
    members = [make_member(project, name) for name in ("ana", "ben")]
    make_material(project, *[("main", "en")] * 8)
    extend_panel(project=project, now=NOW)
    traces = [list(member.assignments.order_by("order").values_list("item__trace", flat=True)) for member in members]
    assert traces[0] != traces[1]
    assert sorted(traces[0]) == sorted(traces[1])
    for member in members:
        assert list(member.assignments.order_by("order").values_list("item__anchor", flat=True)) == [3, 5] * 8


def test_the_number_of_statements_of_a_plan_does_not_grow_with_its_items(django_assert_max_num_queries):
    project = make_project()
    make_member(project)
    make_material(project, *[("main", "en")] * 40)
    with django_assert_max_num_queries(14):
        assert extend_panel(project=project, now=NOW) == 80


def test_the_first_round_is_made_once():
    project = make_project()
    assert open_round(project=project, now=NOW) == project.rounds.get()
    Round.objects.filter(project=project).update(closed_at=NOW)
    second = open_round(project=project, now=NOW)
    assert (second.number, second.purpose, second.closed_at) == (2, "first", None)
    assert open_round(project=project, now=NOW) == second


def test_opening_the_next_of_a_plan_that_is_done_changes_nothing(cast):
    extend_panel(project=cast.project, now=NOW)
    cast.ana.assignments.update(state=State.SUBMITTED)
    before = list(Assignment.objects.order_by("pk").values())
    last = cast.ana.assignments.order_by("order").last()
    open_next(annotator_id=cast.ana.pk, round_id=last.round_id, ended_id=last.pk, now=NOW)
    assert list(Assignment.objects.order_by("pk").values()) == before


def test_an_item_is_assigned_once_to_an_annotator_in_a_round(cast):
    extend_panel(project=cast.project, now=NOW)
    first = cast.ana.assignments.order_by("order").first()
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(
            annotator=cast.ana, item=first.item, round=first.round, order=99, sequence=99, state=State.LOCKED
        )
