"""A kind that shows whole traces: what the one door lets through, and labels that are checked against it."""

import pytest

from annotate import blind, labeling
from annotate.forms import new_annotation
from annotate.kinds.base import LabelError
from annotate.kinds.redundancy.examples import MESSAGES, POLICY, label, step
from annotate.labeling import Timing
from scoring import comparing
from tests.annotate.test_blind import everything_in
from tests.factories import NOW, make_assignment, make_cast, make_item, make_submitted, make_trace

pytestmark = pytest.mark.django_db
SUGGESTION = {"step": [9, 10], "type": "DUP", "evidence": [2, 3], "rules": ["identical"], "keyword": ""}
KEPT = label(step(9, 10, origin="kept"), decisions=[((9, 10), "keep")])


@pytest.fixture
def cast(db):
    return make_cast(kind="redundancy")


def make_trajectory(cast, **fields):
    trace = make_trace(cast.project, MESSAGES, metadata={"model": "HIDDEN-MODEL"}, source_id="HIDDEN-RUN")
    return make_item(trace=trace, reply=11, **fields)


@pytest.fixture
def assignment(cast):
    return make_assignment(cast.ana, make_trajectory(cast, suggestions=[SUGGESTION], origin={"x": "HIDDEN-ORIGIN"}))


def answer(assignment, data):
    opened = blind.open_assignment(assignment.annotator.person, assignment.public_id)
    new = new_annotation(
        data=data, protocol=labeling.protocols_of(opened)[0], number=0, draft_number=0,
        timing=Timing(0, 0, 0), reason="", kind=opened.kind, text=opened.text, shown=opened.shown,
    )  # fmt: skip
    return labeling.submit_annotation(assignment=opened, key="a-key-of-16-signs", new=new, now=NOW)


def refusals(assignment, data):
    with pytest.raises(LabelError) as refusal:
        answer(assignment, data)
    return [problem.code for problem in refusal.value.problems]


def test_the_whole_trace_is_shown_at_its_indexes_with_its_policy_and_suggestions(cast, assignment):
    item = blind.show_item(cast.ana.person, assignment.public_id)
    assert [entry.index for entry in item.entries] == list(range(12))
    assert item.policies == (POLICY,)
    assert item.suggestions == (SUGGESTION,)
    assert (item.text, item.pieces) == ("", ())
    assert [(call.name, call.result) for call in item.entries[4].calls] == [("get_flight", 8), ("get_flight", 5)]
    assert (item.entries[8].called_at, item.entries[7].side) == (4, "user")


def test_no_id_of_a_call_and_nothing_private_of_the_trace_is_in_it(cast, assignment):
    item = blind.show_item(cast.ana.person, assignment.public_id)
    assert not [leaf for leaf in everything_in(item) if "HIDDEN" in str(leaf)]


def test_an_item_without_stored_suggestions_shows_none_and_asks_for_none(cast):
    assignment = make_assignment(cast.ana, make_trajectory(cast))
    assert blind.show_item(cast.ana.person, assignment.public_id).suggestions == ()
    assert answer(assignment, label(step(9, 10))).number == 1


def test_what_is_not_of_the_trajectory_cannot_be_submitted_and_what_is_can(assignment):
    assert refusals(assignment, label(step(6, 7, evidence=[2, 3]))) == ["user_side_step"]
    assert refusals(assignment, label(step(9, 99))) == ["unknown_index"]
    assert refusals(assignment, label(step(2, 8))) == ["half_pair"]
    assert refusals(assignment, label(step(10, 11, evidence=[3, 4]))) == ["other_index_base"]
    assert answer(assignment, KEPT).number == 1
    assert assignment.annotations.get().label == KEPT


def test_every_suggestion_of_the_item_has_to_be_decided_first(assignment):
    assert refusals(assignment, label(step(4, 5))) == ["suggestion_undecided"]
    assert refusals(assignment, label(outcome="none")) == ["suggestion_undecided"]
    assert answer(assignment, label(outcome="cannot_annotate", note="Too long.")).number == 1


def test_leads_and_reviewers_are_asked_about_no_suggestion(cast, assignment):
    item = blind.preview_item(cast.project.pk, assignment.item_id)
    assert len(item.entries) == 12
    shown = item.shown()
    for data in (label(step(4, 5)), KEPT):
        item.kind.check(item.kind.parse(data, item.label_schema, ""), item.label_schema, shown)
    with pytest.raises(LabelError):
        item.kind.check(item.kind.parse(label(step(6, 7)), item.label_schema, ""), item.label_schema, shown)


def test_the_report_compares_the_sets_of_two_people(cast):
    """Of three items: the same triplet; the same step on other evidence; nothing by both. Steps: F1 1, triplets: 1 of
    2, sets: equal on 2 of 3."""
    answers = [(KEPT, KEPT), (KEPT, label(step(9, 10, evidence=[1]))), (label(outcome="none"), label(outcome="none"))]
    for mine, theirs in answers:
        trace = make_trace(cast.project, MESSAGES)
        item = make_item(trace=trace, reply=11)
        make_submitted(cast.ana, item, mine)
        make_submitted(cast.ben, item, theirs)
    report = comparing.agreement_report(cast.project)
    assert {one.measure: one.agreement.mean.value for one in report.sets} == {
        "location": 1.0, "type": 1.0, "evidence": 0.5, "triplet": 0.5, "set": pytest.approx(2 / 3),
    }  # fmt: skip
    assert [one.measure.name for one in report.measures] == ["found"]
    payload = report.as_dict()
    assert comparing.report_from(payload, [one.measure for one in report.measures]).as_dict() == payload
