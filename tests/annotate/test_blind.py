"""What the one door lets through: the requester's view, one's own part, and nothing else."""

from dataclasses import fields, is_dataclass

import pytest
from django.db import models

from annotate import blind
from annotate.models import Assignment, Membership, Project
from annotate.traces import base
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

FILES = (base.File("early.csv", "a,b", 0), base.File("late.csv", "c,d", 4))
TOOLS_OF_BOTH = (
    base.Message(0, "system", "SYSTEM-PROMPT"),
    base.Message(1, "user", "How long is it?"),
    base.Message(2, "user", "", calls=(base.Call("toolu_ID", "measure", '{"of": "it"}'),), side="user"),
    base.Message(3, "tool", "It is 4 long.", side="user", answers=base.Answered(2, 0), answers_id="toolu_ID"),
    base.Message(4, "assistant", "TEXT-BESIDE-A-CALL", calls=(base.Call("call_ID", "AGENT-TOOL", "ARGUMENTS"),)),
    base.Message(5, "tool", "AGENT-RESULT", answers=base.Answered(4, 0), answers_id="call_ID", name="AGENT-TOOL"),
    base.Message(6, "assistant", "Four."),
    base.Message(7, "user", "LATER-QUESTION"),
    base.Message(8, "assistant", "LATER-REPLY"),
)


@pytest.fixture
def ana(db):
    return make_cast().ana


def show(assignment):
    return blind.show_item(assignment.annotator.person, assignment.public_id)


def said(item):
    return [(message.speaker, "".join(piece.text for piece in message.pieces)) for message in item.messages]


def everything_in(value):
    """Every leaf of a value of dataclasses, tuples and dictionaries."""
    if is_dataclass(value):
        return [leaf for one in fields(value) for leaf in everything_in(getattr(value, one.name))]
    if isinstance(value, (tuple, list)):
        return [leaf for one in value for leaf in everything_in(one)]
    if isinstance(value, dict):
        return [leaf for pair in value.items() for one in pair for leaf in everything_in(one)]
    return [value]


def test_an_item_shows_the_conversation_so_far_and_the_reply_alone(ana):
    trace = make_trace(ana.project, CONVERSATION, files=FILES)
    first, second = (make_assignment(ana, make_item(trace=trace, reply=index)) for index in (3, 5))
    item = show(first)
    assert said(item) == [("you", "Which of the two is cheaper?")]
    assert "".join(piece.text for piece in item.pieces) == "The first one is cheaper."
    assert [file.name for file in item.files] == ["early.csv"]
    item = show(second)
    assert said(item) == [
        ("you", "Which of the two is cheaper?"),
        ("agent", "The first one is cheaper."),
        ("you", "By how much?"),
    ]
    assert [file.name for file in item.files] == ["early.csv", "late.csv"]


def test_a_string_that_only_occurs_in_a_tool_output_is_nowhere_in_the_view(ana):
    item = show(make_assignment(ana, make_item(trace=make_trace(ana.project, TOOLS_OF_BOTH), reply=6)))
    told = " ".join(str(leaf) for leaf in everything_in(item))
    for hidden in ("SYSTEM-PROMPT", "TEXT-BESIDE-A-CALL", "AGENT-TOOL", "ARGUMENTS", "AGENT-RESULT", "LATER", "_ID"):
        assert hidden not in told
    assert said(item) == [
        ("you", "How long is it?"),
        ("you", "You used measure(of: it)."),
        ("you", "measure showed you:\nIt is 4 long."),
    ]


def test_calls_of_the_agent_are_dropped_before_any_kind_sees_them(ana):
    messages = make_trace(ana.project, TOOLS_OF_BOTH).messages
    assert blind.message_value(messages.get(index=4)).calls == ()
    assert blind.message_value(messages.get(index=2)).calls == (base.Call("", "measure", '{"of": "it"}'),)


def test_no_model_object_leaves_the_door(ana):
    make_submitted(ana)
    for leaf in everything_in(show(make_assignment(ana))):
        assert not isinstance(leaf, (models.Model, models.QuerySet)), leaf


def test_a_text_written_for_the_item_stands_in_place_of_the_recorded_one(ana):
    trace = make_trace(ana.project, CONVERSATION)
    assignment = make_assignment(ana, make_item(trace=trace, reply=5, text="One unit less,\r\nthat is all."))
    item = show(assignment)
    assert "".join(piece.text for piece in item.pieces) == "One unit less,\nthat is all."
    assert [text for _, text in said(item)][1] == "The first one is cheaper."
    opened = blind.open_assignment(ana.person, assignment.public_id)
    assert opened.text == "One unit less,\nthat is all."


def test_offsets_count_in_the_text_with_line_ends_as_lf(ana):
    assignment = make_assignment(ana, make_item(ana.project, text="one\r\ntwo\rthree"))
    assert blind.open_assignment(ana.person, assignment.public_id).text == "one\ntwo\nthree"
    assert "".join(piece.text for piece in show(assignment).pieces) == "one\ntwo\nthree"


def test_texts_are_shown_light_and_plain_where_the_project_says_so(ana):
    assignment = make_assignment(ana, make_item(ana.project, text="# Title\nand **bold**"))
    assert {piece.style for piece in show(assignment).pieces} == {"", "marker", "strong"}
    Project.objects.filter(pk=ana.project_id).update(settings={"show": "plain"})
    assert [(piece.text, piece.style) for piece in show(assignment).pieces] == [("# Title\nand **bold**", "")]


def test_progress_counts_ones_own_plan_only(ana):
    ben = Membership.objects.get(person__username="ben")
    make_plan(ben, 7)
    make_plan(ana, 2)
    second = make_plan(ana, 3)
    progress = show_after_opening(second[1]).progress
    assert progress.sequence == 2
    assert (progress.place, progress.n_places) == (2, 3)
    assert (progress.order, progress.n_planned) == (4, 5)
    assert progress.minutes_left is None


def show_after_opening(assignment):
    Assignment.objects.filter(pk=assignment.pk).update(state=State.OPEN)
    return show(assignment)


def test_the_time_left_is_told_from_ones_own_pace(ana):
    for _ in range(2):
        make_annotation(make_assignment(ana, state=State.SUBMITTED), active_ms=90_000)
    assignment = make_assignment(ana)
    for _ in range(3):
        make_assignment(ana, state=State.LOCKED)
    assert show(assignment).progress.minutes_left == 6


def test_a_submitted_item_is_shown_with_ones_own_answer_and_corrected_under_the_newest_protocol(ana):
    assignment = make_submitted(ana, label="unrepairable_or_no_answer")
    make_protocol(ana.project)
    item = show(assignment)
    assert (item.is_submitted, item.number, item.protocol) == (True, 1, 2)
    assert (item.label["label"], item.submitted_at) == ("unrepairable_or_no_answer", NOW)
    assert item.undo_id == assignment.public_id
    open_item = show(make_assignment(ana))
    assert (open_item.is_submitted, open_item.label, open_item.protocol) == (False, None, 2)
    assert open_item.undo_id == assignment.public_id


def test_of_several_answers_the_current_one_is_shown(ana):
    assignment = make_submitted(ana)
    make_annotation(assignment, "unrepairable_or_no_answer")
    item = show(assignment)
    assert (item.number, item.label["label"]) == (2, "unrepairable_or_no_answer")


def test_nothing_of_what_others_said_of_the_item_is_in_it(ana):
    shared = make_item(ana.project)
    alone = show(make_assignment(ana, shared))
    ben = make_submitted(Membership.objects.get(person__username="ben"), shared, "unrepairable_or_no_answer")
    Assignment.objects.filter(pk=ben.pk).update(draft={"number": 1, "fields": {"comment": "BEN-SAYS"}})
    assert show(Assignment.objects.get(annotator=ana)) == alone


def test_the_next_item_is_the_first_open_one_of_this_project(ana):
    other = make_member(make_project(), ana.person)
    make_assignment(other)
    make_submitted(ana)
    plan = make_plan(ana, 3)
    assert blind.next_item(ana.person, ana.project.slug).public_id == plan[0].public_id
    Assignment.objects.filter(annotator=ana).update(state=State.SUBMITTED)
    assert blind.next_item(ana.person, ana.project.slug) is None
    assert blind.next_item(ana.person, "there-is-no-such-project") is None


def test_an_open_assignment_tells_what_an_action_needs(ana):
    assignment = make_assignment(ana)
    opened = blind.open_assignment(ana.person, assignment.public_id)
    assert (opened.id, opened.annotator_id, opened.project_id) == (assignment.pk, ana.pk, ana.project_id)
    assert (opened.project_slug, opened.kind.name) == (ana.project.slug, "reply")
    assert (opened.is_round_open, opened.informed, opened.is_submitted) == (True, False, False)
    assert opened.text == "The first one is cheaper."


def test_ones_own_projects_are_those_one_belongs_to_now(ana):
    assert [(one.slug, one.role) for one in blind.own_projects(ana.person)] == [(ana.project.slug, "annotator")]
    Membership.objects.filter(pk=ana.pk).update(left_at=NOW)
    assert blind.own_projects(ana.person) == []


def test_a_project_is_ones_own_while_one_belongs_to_it(ana):
    own = blind.own_project(ana.person, ana.project.slug)
    assert (own.slug, own.role, own.is_synthetic) == (ana.project.slug, "annotator", False)
    other = Membership.objects.get(person__username="zoe").project
    for slug in (other.slug, "there-is-no-such-project"):
        with pytest.raises(blind.NotYours):
            blind.own_project(ana.person, slug)
    Membership.objects.filter(pk=ana.pk).update(left_at=NOW)
    with pytest.raises(blind.NotYours):
        blind.own_project(ana.person, ana.project.slug)


def test_ones_own_answers_are_listed_by_pages_newest_first(ana):
    rows = [make_submitted(ana) for _ in range(5)]
    make_submitted(Membership.objects.get(person__username="ben"))
    page = blind.own_annotations(ana.person, ana.project.slug, before=None, limit=3)
    assert [answer.public_id for answer in page] == [row.public_id for row in rows[:1:-1]]
    rest = blind.own_annotations(ana.person, ana.project.slug, before=(1, page[-1].order), limit=3)
    assert [answer.order for answer in rest] == [1, 0]


def test_the_guideline_is_the_newest_and_only_for_members(ana):
    make_protocol(ana.project, guideline_en="Read closely.", guideline_zh="细读。")
    assert blind.guideline(ana.person, ana.project.slug) == (2, "Read closely.", "细读。")
    with pytest.raises(blind.NotYours):
        blind.guideline(Membership.objects.get(person__username="zoe").person, ana.project.slug)


def test_public_ids_are_random_and_say_nothing_of_the_order(ana):
    ids = [assignment.public_id for assignment in make_plan(ana, 50)]
    assert len(set(ids)) == 50
    assert all(len(one) == 20 for one in ids)
    assert ids != sorted(ids)
    assert ids != sorted(ids, reverse=True)


def test_a_result_says_which_of_the_requesters_own_calls_it_answers(ana):
    calls = (base.Call("toolu_1", "measure", '{"of": "it"}'), base.Call("toolu_2", "weigh", "{}"))
    said_ = (
        base.Message(0, "user", "", calls=calls, side="user"),
        base.Message(1, "tool", "It is 4 kg.", side="user", answers=base.Answered(0, 1), answers_id="toolu_2"),
        base.Message(2, "tool", "It is 4 long.", side="user", answers=base.Answered(0, 0), answers_id="toolu_1"),
        base.Message(3, "user", "What is it?"),
        base.Message(4, "assistant", "A plank."),
    )
    item = show(make_assignment(ana, make_item(trace=make_trace(ana.project, said_), reply=4)))
    shown = " ".join(text for _, text in said(item))
    assert "weigh showed you:\nIt is 4 kg." in shown
    assert "measure showed you:\nIt is 4 long." in shown
    assert "toolu" not in shown
