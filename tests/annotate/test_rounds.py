"""Rounds: what was said blind is fixed, informed votes stand beside it, and nothing of them is told elsewhere."""

import pytest

from annotate import blind, labeling, round_queries, rounds
from annotate.errors import NotYours, Refused
from annotate.models import Annotation, Assignment, Event, Post, Project, Round
from tests.factories import (
    NOW,
    make_assignment,
    make_cast,
    make_item,
    make_member,
    make_plan,
    make_protocol,
    make_round,
    make_submitted,
)

pytestmark = pytest.mark.django_db
State = Assignment.State
GOOD, POOR = "readable", "needs_information"


@pytest.fixture
def cast():
    """ana and ben agree on one item and differ on another; ana alone has a third."""
    cast = make_cast()
    project = cast.project
    agreed, disputed, lone = make_item(project), make_item(project), make_item(project)
    for item, theirs in ((agreed, (GOOD, GOOD)), (disputed, (GOOD, POOR)), (lone, (GOOD,))):
        for member, label in zip((cast.ana, cast.ben), theirs, strict=False):
            make_submitted(member, item, label)
    return CastOfThree(cast, agreed, disputed, lone)


class CastOfThree:
    def __init__(self, cast, agreed, disputed, lone):
        self.__dict__.update(vars(cast))
        self.agreed, self.disputed, self.lone = agreed, disputed, lone


def close(cast, number=1, **options):
    return rounds.close_round(lead=cast.lea.person, project=cast.project, number=number, now=NOW, **options)


def open_informed(cast, which="disagreeing", **options):
    return rounds.open_informed_round(lead=cast.lea.person, project=cast.project, which=which, now=NOW, **options)


def look_again(cast, which="disagreeing"):
    close(cast)
    return open_informed(cast, which)


def own_in(member, round_number, item) -> Assignment:
    return Assignment.objects.get(annotator=member, round__number=round_number, item=item)


def shown(member, assignment):
    return blind.show_item(member.person, assignment.public_id)


def answer(member, assignment, label, *, number=0, reason=""):
    opened = blind.open_assignment(member.person, assignment.public_id)
    value = {"label": label, "states_no_result": False, "spans": [], "comment": ""}
    protocol = labeling.protocols_of(opened)[0]
    new = labeling.NewAnnotation(value, protocol, number, 1, labeling.Timing(1, 1, 0), reason)
    return labeling.submit_annotation(assignment=opened, key=f"key-{assignment.pk}-{number}-000000", new=new, now=NOW)


# Closing


def test_a_closed_round_takes_no_undo_no_correction_and_no_label(cast):
    first = own_in(cast.ana, 1, cast.disputed)
    waiting = make_assignment(cast.ana)
    assert shown(cast.ana, first).may_correct
    assert close(cast)
    assert not shown(cast.ana, first).may_correct
    assert shown(cast.ana, first).undo_id is None
    with pytest.raises(NotYours):
        answer(cast.ana, first, POOR, number=1, reason="I was wrong")
    with pytest.raises(NotYours):
        answer(cast.ana, waiting, GOOD)
    waiting.refresh_from_db()
    assert waiting.state == State.WITHDRAWN


def test_what_is_not_submitted_may_go_on_in_another_blind_round_where_it_was(cast):
    project = cast.project
    plan = make_plan(cast.ben, 3)
    Assignment.objects.filter(pk=plan[0].pk).update(draft={"fields": {}}, draft_number=3)
    close(cast, rest="go_on")
    moved = list(Assignment.objects.filter(pk__in=[one.pk for one in plan]).order_by("order"))
    assert [(one.round.number, one.round.purpose, one.state) for one in moved] == [
        (2, "first", State.OPEN),
        (2, "first", State.LOCKED),
        (2, "first", State.LOCKED),
    ]
    assert moved[0].draft_number == 3
    assert own_in(cast.ben, 1, cast.disputed).round.closed_at is not None
    answer(cast.ben, moved[0], GOOD)
    assert blind.next_item(cast.ben.person, project.slug).public_id == moved[1].public_id


def test_an_answer_under_way_while_its_round_is_closed_opens_what_comes_next(cast):
    plan = make_plan(cast.ben, 2)
    under_way = blind.open_assignment(cast.ben.person, plan[0].public_id)
    close(cast, rest="go_on")
    protocol = labeling.protocols_of(under_way)[0]
    value = {"label": GOOD, "states_no_result": False, "spans": [], "comment": ""}
    new = labeling.NewAnnotation(value, protocol, 0, 1, labeling.Timing(1, 1, 0), "")
    labeling.submit_annotation(assignment=under_way, key="a-key-of-sixteen-letters", new=new, now=NOW)
    assert blind.next_item(cast.ben.person, cast.project.slug).public_id == plan[1].public_id


def test_closing_twice_changes_nothing_and_only_leads_close(cast):
    assert close(cast)
    assert not close(cast)
    assert Event.objects.filter(action="round_closed").count() == 1
    for person in (cast.ana.person, cast.rita.person, cast.zoe.person):
        with pytest.raises(NotYours):
            rounds.close_round(lead=person, project=cast.project, number=1, now=NOW)
        with pytest.raises(NotYours):
            rounds.open_informed_round(lead=person, project=cast.project, which="all", now=NOW)
    with pytest.raises(NotYours):
        close(cast, number=9)


# Opening


@pytest.mark.parametrize(
    ("which", "items"),
    [("all", {"agreed", "disputed"}), ("common", {"agreed", "disputed"}), ("disagreeing", {"disputed"})],
)
def test_the_chosen_items_go_to_those_who_labelled_them(cast, which, items):
    opened = look_again(cast, which)
    given = Assignment.objects.filter(round__number=opened.number)
    assert {(one.annotator_id, one.item_id) for one in given} == {
        (member.pk, getattr(cast, item).pk) for member in (cast.ana, cast.ben) for item in items
    }
    assert (opened.n_items, opened.n_assignments) == (len(items), 2 * len(items))
    assert Round.objects.get(number=opened.number).informed


def test_common_is_what_everybody_labelled(cast):
    cara = make_member(cast.project, "cara")
    make_submitted(cara, cast.agreed)
    close(cast)
    assert rounds.preview_informed(cast.project, "main") == {"all": 2, "common": 1, "disagreeing": 1}
    assert open_informed(cast, "common").n_items == 1


def test_nothing_is_told_of_a_round_that_is_open(cast):
    with pytest.raises(Refused) as refusal:
        open_informed(cast)
    assert refusal.value.problem.code == "nothing_to_look_at"
    look_again(cast)
    with pytest.raises(Refused) as refusal:
        open_informed(cast)
    assert refusal.value.problem.code == "round_open"


def test_a_closed_project_opens_no_round(cast):
    close(cast)
    Project.objects.filter(pk=cast.project.pk).update(closed_at=NOW)
    with pytest.raises(Refused):
        open_informed(cast)


def test_who_has_an_item_before_them_blind_does_not_get_it_informed(cast):
    """Their next label under the new protocol is to be blind."""
    make_protocol(cast.project)
    close(cast)
    again = make_round(cast.project, "protocol")
    make_assignment(cast.ana, cast.disputed, round=again)
    opened = open_informed(cast)
    given = Assignment.objects.filter(round__number=opened.number)
    assert [(one.annotator, one.item) for one in given] == [(cast.ben, cast.disputed)]


def test_who_left_or_is_no_annotator_any_more_gets_nothing_and_their_answer_is_still_told(cast):
    type(cast.ben).objects.filter(pk=cast.ben.pk).update(left_at=NOW)
    opened = look_again(cast)
    own = Assignment.objects.get(round__number=opened.number)
    assert own.annotator == cast.ana
    assert len(shown(cast.ana, own).informed.answers) == 2


# What is told


def test_an_informed_item_tells_the_closed_answers_and_nothing_of_the_round_that_is_open(cast):
    opened = look_again(cast)
    own, theirs = (own_in(member, opened.number, cast.disputed) for member in (cast.ana, cast.ben))
    answer(cast.ben, theirs, "unrepairable_or_no_answer")
    told = shown(cast.ana, own).informed
    assert [(one.label["label"], one.is_own) for one in told.answers] == [(GOOD, True), (POOR, False)]
    assert shown(cast.ana, own_in(cast.ana, 1, cast.disputed)).informed is None


def test_a_second_informed_round_tells_what_the_first_came_to(cast):
    first = look_again(cast)
    for member in (cast.ana, cast.ben):
        answer(member, own_in(member, first.number, cast.disputed), POOR if member == cast.ana else GOOD)
    close(cast, first.number)
    second = open_informed(cast)
    told = shown(cast.ana, own_in(cast.ana, second.number, cast.disputed)).informed
    assert [(one.label["label"], one.is_own) for one in told.answers] == [(POOR, True), (GOOD, False)]


def test_others_come_in_an_order_that_differs_from_item_to_item_and_says_nothing_of_who_they_are(cast):
    """Of 60 items with two others each, who comes first is the one or the other about as often."""
    cara = make_member(cast.project, "cara")
    labels = {cast.ana: GOOD, cast.ben: POOR, cara: "unrepairable_or_no_answer"}
    for _ in range(60):
        item = make_item(cast.project)
        for member, label in labels.items():
            make_submitted(member, item, label)
    opened = look_again(cast)
    mine = Assignment.objects.filter(annotator=cast.ana, round__number=opened.number).exclude(item=cast.disputed)
    Assignment.objects.filter(pk__in=mine).update(state=State.OPEN)
    told = [shown(cast.ana, one).informed for one in mine]
    first = [one.answers[1].label["label"] for one in told]
    assert 12 <= first.count(POOR) <= 48
    numbers = [one.thread.number for one in told]
    assert set(numbers) == {1, 2, 3}
    assert max(numbers.count(number) for number in (1, 2, 3)) <= 40
    assert [shown(cast.ana, one).informed for one in mine] == told


def test_a_thread_has_the_same_numbers_for_all_and_belongs_to_its_item_and_round(cast):
    opened = look_again(cast, "all")
    Assignment.objects.filter(round__number=opened.number).update(state=State.OPEN)
    own, theirs = (own_in(member, opened.number, cast.disputed) for member in (cast.ana, cast.ben))
    say(cast.ana, own, "It lacks the unit.")
    say(cast.ben, theirs, "Then I agree.")
    mine, other = shown(cast.ana, own).informed.thread, shown(cast.ben, theirs).informed.thread
    assert {mine.number, other.number} == {1, 2}
    assert [(one.number, one.text) for one in mine.posts] == [(one.number, one.text) for one in other.posts]
    assert [(one.number, one.is_own) for one in mine.posts] == [(mine.number, True), (other.number, False)]
    assert shown(cast.ana, own_in(cast.ana, opened.number, cast.agreed)).informed.thread.posts == ()


def say(member, assignment, text, key=None):
    opened = blind.open_assignment(member.person, assignment.public_id)
    rounds.post_in_thread(assignment=opened, key=key or f"key of {member.code} {text}"[:64], text=text)


def test_a_post_is_stored_once_and_only_in_an_open_informed_round(cast):
    first = own_in(cast.ana, 1, cast.disputed)
    with pytest.raises(NotYours):
        say(cast.ana, first, "hello")
    opened = look_again(cast)
    own = own_in(cast.ana, opened.number, cast.disputed)
    for _ in range(2):
        say(cast.ana, own, "hello", key="one-key-of-sixteen-letters")
    assert Post.objects.count() == 1
    assert rounds.has_posted(
        annotator=cast.ana.person, assignment_id=own.public_id, key="one-key-of-sixteen-letters"
    )
    assert not rounds.has_posted(
        annotator=cast.ben.person, assignment_id=own.public_id, key="one-key-of-sixteen-letters"
    )
    answer(cast.ana, own, POOR)
    close(cast, opened.number)
    with pytest.raises(NotYours):
        say(cast.ana, own, "too late")
    assert not shown(cast.ana, own).informed.thread.is_open


# What counts as a vote of round 1


def test_an_informed_vote_is_marked_and_stands_beside_the_first(cast):
    opened = look_again(cast)
    own = own_in(cast.ben, opened.number, cast.disputed)
    answer(cast.ben, own, GOOD)
    by_round = Annotation.objects.filter(assignment__annotator=cast.ben, assignment__item=cast.disputed)
    assert list(by_round.order_by("pk").values_list("assignment__round__number", "informed", "label__label")) == [
        (1, False, POOR),
        (opened.number, True, GOOD),
    ]


def test_a_label_given_after_one_was_informed_is_informed_in_whatever_round(cast):
    opened = look_again(cast)
    own = own_in(cast.ana, opened.number, cast.disputed)
    labeling.mark_shown(annotator=cast.ana.person, assignment_id=own.public_id, now=NOW)
    make_protocol(cast.project)
    again = make_round(cast.project, "protocol")
    for member in (cast.ana, cast.ben):
        answer(member, make_assignment(member, cast.disputed, round=again), GOOD)
    said = Annotation.objects.filter(assignment__round=again)
    assert dict(said.values_list("assignment__annotator", "informed")) == {cast.ana.pk: True, cast.ben.pk: False}


def test_closing_and_opening_takes_as_many_statements_whatever_there_is(cast, django_assert_max_num_queries):
    for _ in range(40):
        item = make_item(cast.project)
        for member, label in ((cast.ana, GOOD), (cast.ben, POOR)):
            make_submitted(member, item, label)
    with django_assert_max_num_queries(60):
        look_again(cast, "all")
    with django_assert_max_num_queries(2):
        assert [row.n_items for row in round_queries.round_rows(cast.project)] == [43, 42]
