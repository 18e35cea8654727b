"""Plans are written down as assignments: each item once, in order, later ones behind."""

from functools import partial
from itertools import pairwise

import pytest
from django.db import IntegrityError, transaction

from annotate import blind, labeling, queries
from annotate.assigning import (
    extend_panel,
    extend_plan,
    fit_plan,
    give_back,
    in_order_of_plans,
    open_next,
    open_round,
    parts_of,
    places_of,
    reopen_for_protocol,
    write_places,
)
from annotate.errors import AlreadySubmitted, NotYours, Refused
from annotate.models import Assignment, Event, Item, Membership, Round, Settlement
from annotate.rules.plans import PHASES, Placed
from tests.annotate.meeting import at_once, under_way
from tests.factories import (
    CONVERSATION,
    NOW,
    make_annotation,
    make_assignment,
    make_cast,
    make_item,
    make_member,
    make_plan,
    make_project,
    make_protocol,
    make_submitted,
    make_trace,
)

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
    for item in Item.objects.filter(phase="practice"):
        Settlement.objects.create(item=item, how="known", label={"label": "readable"}, reason_en="so", reason_zh="so")
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


def test_later_items_of_the_last_phase_come_after_those_one_has(cast):
    extend_panel(project=cast.project, now=NOW)
    before = plan_of(cast.ana)
    later = make_material(cast.project, ("main", "en"))
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
    with django_assert_max_num_queries(16):
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


# One open item, whatever meets


def submit(assignment):
    opened = blind.open_assignment(assignment.annotator.person, assignment.public_id)
    answer = labeling.NewAnnotation(
        label={"label": "readable", "states_no_result": False, "spans": [], "comment": ""},
        protocol=assignment.annotator.project.protocols.get(),
        number=0,
        draft_number=0,
        timing=labeling.Timing(0, 0, 0),
        reason="",
    )
    labeling.submit_annotation(assignment=opened, key=f"key-of-{assignment.public_id}", new=answer, now=NOW)


def report(assignment):
    opened = blind.open_assignment(assignment.annotator.person, assignment.public_id)
    labeling.report_problem(assignment=opened, text="It is cut off.", now=NOW)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("end", [submit, report])
@pytest.mark.parametrize("is_planned_first", [True, False])
def test_a_plan_goes_on_when_its_last_item_ends_while_more_is_planned(end, is_planned_first):
    cast = make_cast()
    (last,) = make_plan(cast.ana, 1)
    make_material(cast.project, ("main", "en"))
    meeting = [lambda: extend_panel(project=cast.project, now=NOW), lambda: end(last)]
    results = under_way(*(meeting if is_planned_first else meeting[::-1]))
    assert not any(isinstance(one, Exception) for one in results), results
    assert [state for *_, state in plan_of(cast.ana)[1:]] == [State.OPEN, State.LOCKED]
    assert plan_of(cast.ana)[0][-1] != State.OPEN


@pytest.mark.django_db(transaction=True)
def test_a_plan_goes_on_however_submits_and_imports_fall_together():
    cast = make_cast()
    make_material(cast.project, ("main", "en"))
    extend_panel(project=cast.project, now=NOW)
    for _ in range(8):
        *_, last = cast.ana.assignments.order_by("order")
        cast.ana.assignments.exclude(pk=last.pk).update(state=State.SUBMITTED)
        Assignment.objects.filter(pk=last.pk).update(state=State.OPEN)
        make_material(cast.project, ("main", "en"))
        plan = partial(extend_panel, project=cast.project, now=NOW)
        results = at_once(plan, partial(submit, last), plan)
        assert not any(isinstance(one, Exception) for one in results), results
        assert cast.ana.assignments.get(state=State.OPEN).order == last.order + 1


# More than one first round


def test_an_item_of_a_closed_first_round_is_not_planned_again(cast):
    extend_panel(project=cast.project, now=NOW)
    cast.ana.assignments.filter(order__lt=3).update(state=State.SUBMITTED)
    cast.project.rounds.update(closed_at=NOW)
    assert extend_panel(project=cast.project, now=NOW) == 0
    later = make_material(cast.project, ("main", "en"))
    newcomer = make_member(cast.project, "cem")
    assert extend_panel(project=cast.project, now=NOW) == 2 + 2 + 10
    second = cast.project.rounds.get(closed_at=None)
    for member in (cast.ana, cast.ben):
        rows = member.assignments.filter(round=second).order_by("order")
        assert list(rows.values_list("order", "sequence", "item", "state")) == [
            (0, 1, later[0].pk, State.OPEN),
            (1, 1, later[1].pk, State.LOCKED),
        ]
    assert newcomer.assignments.filter(round=second).count() == newcomer.assignments.count() == 10


def test_an_item_of_a_later_round_alone_is_planned_for_the_first(cast):
    informed = Round.objects.create(project=cast.project, number=2, purpose="informed", informed=True, opened_at=NOW)
    make_assignment(cast.ana, Item.objects.first(), round=informed)
    assert extend_panel(project=cast.project, now=NOW) == 16


# Giving back


@pytest.fixture
def reported(cast):
    first = make_plan(cast.ana, 3)[0]
    Assignment.objects.filter(pk=first.pk).update(draft={"fields": {"comment": "half"}})
    report(first)
    return first


def test_the_lead_gives_a_reported_item_back_with_its_draft(cast, reported):
    before = [state for *_, state in plan_of(cast.ana)]
    assert before == [State.PROBLEM, State.OPEN, State.LOCKED]
    assert give_back(lead=cast.lea.person, project=cast.project, assignment_id=reported.pk) is True
    assert [state for *_, state in plan_of(cast.ana)] == [State.OPEN, State.OPEN, State.LOCKED]
    reported.refresh_from_db()
    assert (reported.draft, reported.ended_at) == ({"fields": {"comment": "half"}}, None)
    event = Event.objects.get(action="problem_given_back")
    assert (event.person.username, event.project, event.detail) == ("lea", cast.project, {"assignment": reported.pk})
    assert give_back(lead=cast.lea.person, project=cast.project, assignment_id=reported.pk) is False
    assert Event.objects.count() == 1


@pytest.mark.parametrize("who", ["ana", "ben", "rita", "zoe", "a lead who left", "the lead of another project"])
def test_nobody_but_a_lead_of_the_project_gives_an_item_back(cast, reported, who):
    if who == "a lead who left":
        person = cast.lea.person
        Membership.objects.filter(pk=cast.lea.pk).update(left_at=NOW)
    elif who == "the lead of another project":
        person = make_member(cast.other_project, "lou", "lead").person
    else:
        person = getattr(cast, who).person
    with pytest.raises(NotYours):
        give_back(lead=person, project=cast.project, assignment_id=reported.pk)
    reported.refresh_from_db()
    assert reported.state == State.PROBLEM
    assert not Event.objects.exists()


def test_a_lead_cannot_give_back_an_item_of_another_project(cast, reported):
    lou = make_member(cast.other_project, "lou", "lead").person
    assert give_back(lead=lou, project=cast.other_project, assignment_id=reported.pk) is False
    reported.refresh_from_db()
    assert reported.state == State.PROBLEM


@pytest.mark.django_db(transaction=True)
def test_an_item_that_is_given_back_twice_at_once_is_given_back_once_and_stays_as_it_is():
    cast = make_cast()
    reported = make_plan(cast.ana, 2)[0]
    report(reported)

    def give():
        return give_back(lead=cast.lea.person, project=cast.project, assignment_id=reported.pk)

    def give_and_submit():
        given = give()
        submit(reported)
        return given

    assert under_way(give_and_submit, give) == [True, False]
    reported.refresh_from_db()
    assert (reported.state, reported.ended_at) == (State.SUBMITTED, NOW)
    assert Event.objects.filter(action="problem_given_back").count() == 1


# People who leave, come back, and read other languages


def states_of(member):
    return [state for *_, state in plan_of(member)]


def changed(member, **fields):
    """The member after a change, with the plan that fits it."""
    Membership.objects.filter(pk=member.pk).update(**fields)
    member = Membership.objects.get(pk=member.pk)
    fit_plan(member=member, now=NOW)
    return member


def test_who_leaves_has_open_and_locked_items_withdrawn_and_keeps_the_labels(cast):
    extend_panel(project=cast.project, now=NOW)
    submit(cast.ana.assignments.get(order=0))
    changed(cast.ana, left_at=NOW)
    assert states_of(cast.ana) == [State.SUBMITTED] + [State.WITHDRAWN] * 7
    assert states_of(cast.ben) == [State.OPEN] + [State.LOCKED] * 7
    assert blind.next_item(cast.ana.person, cast.project.slug) is None


def test_who_comes_back_goes_on_where_they_stopped_and_gets_what_came_meanwhile(cast):
    extend_panel(project=cast.project, now=NOW)
    submit(cast.ana.assignments.get(order=0))
    order_before = [row[:3] for row in plan_of(cast.ana)]
    changed(cast.ana, left_at=NOW)
    make_material(cast.project, ("main", "en"))
    extend_panel(project=cast.project, now=NOW)
    changed(cast.ana, left_at=None)
    assert [row[:3] for row in plan_of(cast.ana)][:8] == order_before
    assert states_of(cast.ana) == [State.SUBMITTED, State.OPEN] + [State.LOCKED] * 8


def test_languages_decide_what_stays_in_the_plan(cast):
    extend_panel(project=cast.project, now=NOW)
    submit(cast.ana.assignments.get(order=0))
    languages = dict(cast.ana.assignments.values_list("order", "item__trace__language"))
    changed(cast.ana, languages=["en"])
    for order, state in cast.ana.assignments.values_list("order", "state"):
        is_kept = order == 0 or languages[order] == "en"
        assert (state != State.WITHDRAWN) == is_kept
    assert states_of(cast.ana).count(State.OPEN) == 1
    changed(cast.ana, languages=["en", "zh"])
    assert State.WITHDRAWN not in states_of(cast.ana)
    assert states_of(cast.ana).count(State.OPEN) == 1


def test_who_reads_one_language_more_gets_its_items_behind_the_others(cast):
    Membership.objects.filter(pk=cast.ana.pk).update(languages=["en"])
    extend_panel(project=cast.project, now=NOW)
    assert len(plan_of(cast.ana)) == 4
    changed(cast.ana, languages=["zh", "en"])
    assert len(plan_of(cast.ana)) == 8
    assert states_of(cast.ana).count(State.OPEN) == 1


def test_a_lead_labels_only_while_leads_label_in_the_project(cast):
    changed(cast.lea)
    assert plan_of(cast.lea) == []
    cast.project.open_lead = True
    cast.project.save()
    changed(cast.lea)
    assert states_of(cast.lea) == [State.OPEN] + [State.LOCKED] * 7
    cast.project.open_lead = False
    cast.project.save()
    changed(cast.lea)
    assert states_of(cast.lea) == [State.WITHDRAWN] * 8


@pytest.mark.django_db(transaction=True)
def test_a_retirement_and_submits_at_the_same_moment_leave_nothing_open():
    cast = make_cast()
    make_material(cast.project, ("main", "en"), ("main", "en"))
    extend_panel(project=cast.project, now=NOW)
    for _ in range(3):
        (open_,) = cast.ana.assignments.filter(state=State.OPEN)
        results = at_once(partial(submit, open_), partial(changed, cast.ana, left_at=NOW))
        refused = (NotYours, AlreadySubmitted)  # told in words; what was typed is kept
        assert all(not isinstance(one, Exception) or isinstance(one, refused) for one in results), results
        assert set(states_of(cast.ana)) <= {State.SUBMITTED, State.WITHDRAWN}
        changed(cast.ana, left_at=None)


# A new protocol


def relabel(cast):
    """ana has labelled two items of the main phase and one of practice under the first protocol, ben one."""
    items = make_material(cast.project, ("main", "en"))
    practice = make_item(cast.project, phase="practice")
    for member, mine in ((cast.ana, [*items, practice]), (cast.ben, items[:1])):
        for item in mine:
            make_submitted(member, item)
    make_protocol(cast.project)
    return items


def again(member):
    rows = member.assignments.filter(round__purpose="protocol", round__closed_at=None).order_by("order")
    return list(rows.values_list("item", "state"))


def test_older_labels_of_the_main_phase_are_asked_for_again_in_a_round_of_their_own():
    cast = make_cast()
    first, second = relabel(cast)
    assert reopen_for_protocol(lead=cast.lea.person, project=cast.project, now=NOW) == 3
    assert again(cast.ana) == [(first.pk, State.OPEN), (second.pk, State.LOCKED)]
    assert again(cast.ben) == [(first.pk, State.OPEN)]
    item = blind.next_item(cast.ana.person, cast.project.slug)
    assert (item.label, item.number, item.draft) == (None, 0, None)
    (event,) = Event.objects.filter(action="items_reopened")
    assert event.detail == {"protocol": 2, "round": 2, "assignments": 3}


def test_what_the_newest_protocol_was_used_on_is_not_asked_for_again():
    cast = make_cast()
    relabel(cast)
    reopen_for_protocol(lead=cast.lea.person, project=cast.project, now=NOW)
    make_annotation(cast.ben.assignments.get(round__purpose="protocol"))
    cast.ben.assignments.filter(round__purpose="protocol").update(state=State.SUBMITTED)
    before = again(cast.ana)
    for _ in range(2):
        assert reopen_for_protocol(lead=cast.lea.person, project=cast.project, now=NOW) == 0
    assert again(cast.ana) == before
    assert cast.ben.assignments.filter(round__purpose="protocol").count() == 1
    assert (cast.project.rounds.count(), Event.objects.filter(action="items_reopened").count()) == (2, 1)


def test_what_was_labelled_since_joins_the_open_round_of_the_protocol():
    cast = make_cast()
    first, second = relabel(cast)
    reopen_for_protocol(lead=cast.lea.person, project=cast.project, now=NOW)
    done = make_assignment(cast.ben, second, state=State.SUBMITTED)
    make_annotation(done, protocol=cast.project.protocols.get(number=1))
    assert reopen_for_protocol(lead=cast.lea.person, project=cast.project, now=NOW) == 1
    assert again(cast.ben) == [(first.pk, State.OPEN), (second.pk, State.LOCKED)]
    assert cast.project.rounds.count() == 2


def test_a_third_protocol_closes_the_round_of_the_second_and_drafts_move_along():
    cast = make_cast()
    first, _ = relabel(cast)
    reopen_for_protocol(lead=cast.lea.person, project=cast.project, now=NOW)
    make_annotation(cast.ben.assignments.get(round__purpose="protocol"))
    cast.ben.assignments.filter(round__purpose="protocol").update(state=State.SUBMITTED)
    cast.ana.assignments.filter(round__purpose="protocol", item=first).update(draft={"fields": {}}, draft_number=4)
    make_protocol(cast.project)
    assert reopen_for_protocol(lead=cast.lea.person, project=cast.project, now=NOW) == 3
    assert again(cast.ben) == [(first.pk, State.OPEN)]
    moved = cast.ana.assignments.get(round__closed_at=None, round__purpose="protocol", item=first)
    assert (moved.draft, moved.draft_number) == ({"fields": {}}, 4)
    closed = cast.project.rounds.get(purpose="protocol", closed_at__isnull=False)
    assert set(closed.assignments.values_list("state", flat=True)) == {State.SUBMITTED, State.WITHDRAWN}


def test_what_a_person_reads_no_more_is_not_asked_for_again():
    cast = make_cast()
    relabel(cast)
    Membership.objects.filter(pk=cast.ana.pk).update(languages=["zh"])
    assert reopen_for_protocol(lead=cast.lea.person, project=cast.project, now=NOW) == 1
    assert again(cast.ana) == []


def test_nothing_older_opens_no_round_and_only_a_lead_can_ask():
    cast = make_cast()
    make_submitted(cast.ana)
    assert reopen_for_protocol(lead=cast.lea.person, project=cast.project, now=NOW) == 0
    with pytest.raises(NotYours):
        reopen_for_protocol(lead=cast.ana.person, project=cast.project, now=NOW)
    assert cast.project.rounds.count() == 1


# Large plans are written in parts


def test_a_plan_in_parts_is_the_plan_in_one(monkeypatch):
    plans = []
    for size in (1000, 3):
        monkeypatch.setattr("annotate.assigning.AT_ONCE", size)
        cast = make_cast(seed=11)
        make_material(cast.project, *[("main", "en")] * 4, ("practice", "en"))
        heard = []
        extend_panel(project=cast.project, now=NOW, stand_back=heard.append)
        places = {item: place for place, item in enumerate(sorted(i.pk for i in cast.project.items.all()))}
        plans.append([(order, sequence, places[item], state) for order, sequence, item, state in plan_of(cast.ana)])
        assert len(heard) == (2 if size == 1000 else 6)  # parts of two collaborations, four of two replies
    assert plans[0] == plans[1]


@pytest.mark.django_db(transaction=True)
def test_plans_in_parts_that_meet_give_each_item_once(monkeypatch):
    monkeypatch.setattr("annotate.assigning.AT_ONCE", 2)
    cast = make_cast()
    make_material(cast.project, *[("main", "en")] * 5)
    plan = partial(extend_panel, project=cast.project, now=NOW)
    results = at_once(plan, plan, plan)
    assert not any(isinstance(one, Exception) for one in results), results
    for member in (cast.ana, cast.ben):
        assert sorted(order for order, *_ in plan_of(member)) == list(range(10))
        assert states_of(member).count(State.OPEN) == 1
        traces = [assignment.item.trace_id for assignment in member.assignments.order_by("order")]
        assert len([one for one, two in pairwise(traces) if one != two]) == 4


class Ended(Exception):
    """What stands for a process that ends in the middle of a plan."""


def end_now(seconds):
    raise Ended


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n_parts", [1, 2, 3])
def test_a_part_of_another_plan_between_two_parts_gives_each_item_once(monkeypatch, seed, n_parts):
    """The other plan ends where a later part of this one begins, and holds items of it."""
    monkeypatch.setattr("annotate.assigning.AT_ONCE", 2)
    cast = make_cast(seed=seed)
    make_material(cast.project, *[("main", "en")] * 5)
    calls = []

    def meet(seconds):
        calls.append(seconds)
        if len(calls) <= n_parts:
            with pytest.raises(Ended):
                extend_panel(project=cast.project, now=NOW, stand_back=end_now)

    extend_panel(project=cast.project, now=NOW, stand_back=meet)
    assert len(calls) > n_parts
    for member in (cast.ana, cast.ben):
        assert sorted(order for order, *_ in plan_of(member)) == list(range(10))


def test_items_planned_meanwhile_are_not_planned_again_at_a_free_place(cast):
    make_material(cast.project, ("main", "en"), ("main", "en"))
    round_ = open_round(project=cast.project, now=NOW)
    extend_panel(project=cast.project, now=NOW)
    n_planned = len(plan_of(cast.ana))
    twice = [Placed(order=n_planned, sequence=99, item=cast.ana.assignments.earliest("order").item_id)]
    assert write_places(cast.ana, round_, twice) == 0
    assert len(plan_of(cast.ana)) == n_planned


def test_who_left_while_a_plan_is_under_way_is_given_nothing(cast, monkeypatch):
    """The import looked at the members before ana left."""
    leaving = Membership.objects.get(pk=cast.ana.pk)
    round_ = open_round(project=cast.project, now=NOW)
    changed(cast.ana, left_at=NOW)
    assert extend_plan(member=leaving, project=cast.project, round_=round_, now=NOW) == 0
    assert plan_of(cast.ana) == []


def test_parts_end_between_collaborations(monkeypatch):
    monkeypatch.setattr("annotate.assigning.AT_ONCE", 3)
    cast = make_cast()
    make_material(cast.project, *[("main", "en")] * 3)
    sizes = [len(part) for part in parts_of(places_of(cast.ana, (0, 1), plannable(cast.ana), code="a1"))]
    assert sizes == [4, 2]


def plannable(member):
    return queries.plannable_items(member.project_id, member.pk)


# Files come in any order


def phases_of(member):
    return list(member.assignments.order_by("order").values_list("item__phase", flat=True))


@pytest.mark.parametrize(
    "order", [("practice", "main", "pilot"), ("main", "pilot", "practice"), ("pilot", "main", "practice", "pilot")]
)
def test_a_plan_goes_by_phases_whatever_order_the_files_came_in(order):
    cast = make_cast()
    for phase in order:
        make_material(cast.project, (phase, "en"))
        extend_panel(project=cast.project, now=NOW)
    for member in (cast.ana, cast.ben):
        assert phases_of(member) == sorted(phases_of(member), key=PHASES.index)
        assert len(phases_of(member)) == 2 * len(order)
        assert states_of(member)[0] == State.OPEN
        assert states_of(member).count(State.OPEN) == 1


def test_what_was_begun_stays_where_it_is_when_an_earlier_phase_comes_in():
    cast = make_cast()
    make_material(cast.project, ("main", "en"), ("main", "en"))
    extend_panel(project=cast.project, now=NOW)
    begun, typed = cast.ana.assignments.order_by("order")[:2]
    Assignment.objects.filter(pk=begun.pk).update(first_shown_at=NOW)
    Assignment.objects.filter(pk=typed.pk).update(draft={"fields": {}}, draft_number=1)
    make_material(cast.project, ("pilot", "en"))
    extend_panel(project=cast.project, now=NOW)
    assert phases_of(cast.ana) == ["main", "main", "pilot", "pilot", "main", "main"]
    kept = list(cast.ana.assignments.order_by("order").values_list("pk", flat=True))[:2]
    assert kept == [begun.pk, typed.pk]
    assert cast.ana.assignments.get(state=State.OPEN).pk == begun.pk


# Giving back


def test_what_nobody_could_be_shown_is_not_given_back():
    cast = make_cast()
    reported = [make_assignment(cast.ana, state=State.PROBLEM) for _ in range(2)]
    give = partial(give_back, lead=cast.lea.person, project=cast.project)
    Membership.objects.filter(pk=cast.ana.pk).update(languages=["zh"])
    with pytest.raises(Refused):
        give(assignment_id=reported[0].pk)
    Membership.objects.filter(pk=cast.ana.pk).update(languages=["en"], left_at=NOW)
    with pytest.raises(Refused):
        give(assignment_id=reported[0].pk)
    Membership.objects.filter(pk=cast.ana.pk).update(left_at=None)
    assert give(assignment_id=reported[0].pk)
    cast.project.rounds.update(closed_at=NOW)
    with pytest.raises(Refused):
        give(assignment_id=reported[1].pk)
    assert states_of(cast.ana) == [State.OPEN, State.PROBLEM]


@pytest.mark.sqlite
def test_open_items_of_a_plan_are_found_without_reading_the_plan():
    cast = make_cast()
    open_ = Assignment.objects.filter(annotator=cast.ana, round=Round.objects.first(), state=Assignment.State.OPEN)
    assert "assignment_next (annotator_id=? AND state=? AND round_id=?)" in in_order_of_plans(open_).explain()
