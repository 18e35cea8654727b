"""How single predictions stand to the gold; small cases worked by hand."""

import pytest

from scoring.prediction_matches import Match, matches, triplets_of
from tests.scoring.trajectories import triplet

DUP, INC = triplet(1, "DUP", [2, 3]), triplet(2, "INC")
GOLD = triplets_of([DUP, INC])


def states(values, gold=GOLD, *, label=None, is_unreadable=False, is_given=False):
    found = matches(values, label, is_unreadable, gold, is_given=is_given)
    return [(one.step and one.step[0], one.state) for one in found]


def given(values, gold=GOLD, **told):
    return states(values, gold, is_given=True, **told)


@pytest.mark.parametrize(
    ("named", "state", "same_type", "same_evidence"),
    [
        (DUP, "exact", True, True),
        ({**DUP, "step": DUP["step"][::-1], "evidence": [3, 2]}, "exact", True, True),
        ({**DUP, "evidence": [-1]}, "evidence_differs", True, False),
        ({**DUP, "type": "EXP"}, "type_differs", False, True),
        ({**DUP, "type": "EXP", "evidence": [-1]}, "type_differs", False, False),
        (triplet(3, "DUP"), "not_gold", None, None),
    ],
)
def test_a_named_step_has_a_state_and_says_of_each_field_whether_it_is_golds(
    named, state, same_type, same_evidence
):
    found = matches({"steps": [named]}, None, False, GOLD)[0]
    assert (found.state, found.same_type, found.same_evidence) == (state, same_type, same_evidence)


def test_gold_steps_that_nobody_named_are_missed():
    assert states({"steps": [DUP]}) == [(4, "exact"), (6, "missed")]
    missed = matches({"steps": []}, None, False, GOLD)[0]
    assert missed == Match("missed", (4, 5), gold_type="DUP", gold_evidence=(2, 3))


def test_nothing_named_and_nothing_in_gold_is_no_row():
    assert states({"steps": []}, ()) == []


def test_detected_steps_are_ranked_by_confidence_and_the_first_of_a_step_counts():
    said = [
        {**DUP, "type": "EXP", "confidence": 0.2},
        {**INC, "confidence": 0.9},
        {**triplet(3), "confidence": 0.2},
        {**DUP, "confidence": 0.2},
    ]
    found = matches({"steps": said}, None, False, GOLD)
    assert [(one.rank, one.state) for one in found] == [
        (1, "exact"), (2, "type_differs"), (3, "not_gold"), (4, "repeated"),
    ]  # fmt: skip


def test_a_trajectory_without_gold_makes_nothing_right_or_wrong():
    assert states({"steps": [DUP]}, None) == [(4, "no_gold")]
    assert given({"answers": [{"step": [4, 5], "type": "DUP"}]}, None) == [(4, "no_gold")]


def test_an_answer_that_could_not_be_read_names_nothing():
    assert states({}, is_unreadable=True) == [(None, "unreadable")]
    assert given({}, is_unreadable=True) == [(4, "unreadable"), (6, "unreadable")]
    assert given({}, None, is_unreadable=True) == [(None, "unreadable")]


@pytest.mark.parametrize("outcome", ["no_agreement", "too_few_covered"])
def test_a_jury_that_does_not_agree_misses_every_step(outcome):
    assert states({"outcome": outcome, "steps": []}) == [
        (None, "no_consensus"), (4, "missed"), (6, "missed"),
    ]  # fmt: skip


def test_a_jury_that_agrees_is_as_a_juror():
    assert states({"outcome": "retained", "steps": [DUP]}) == [(4, "exact"), (6, "missed")]
    assert states({"outcome": "empty", "steps": []}) == [(4, "missed"), (6, "missed")]


def test_types_of_given_steps_are_right_differ_or_are_unreadable():
    answers = [{"step": [5, 4], "type": "DUP"}, {"step": [6, 7], "type": "EXP"}]
    assert given({"answers": answers}) == [(4, "right"), (6, "type_differs")]
    assert given({"answers": [{"step": [4, 5], "type": None}]}) == [(4, "unreadable"), (6, "not_asked")]


@pytest.mark.parametrize(
    ("kind", "evidence", "state"),
    [
        ("DUP", [3, 2], "right"),
        ("DUP", [-1], "evidence_differs"),
        ("EXP", [2, 3], "type_differs"),
        ("DUP", None, "unreadable"),
    ],
)
def test_evidence_of_given_steps_is_compared_in_normal_form(kind, evidence, state):
    answers = [{"step": [4, 5], "type": kind, "evidence": evidence}]
    assert given({"answers": answers}, GOLD[:1]) == [(4, state)]


def test_an_answer_about_a_step_that_is_no_gold_any_more_is_said():
    answers = [{"step": [4, 5], "type": "DUP"}, {"step": [8, 9], "type": "DUP"}]
    assert given({"answers": answers}, GOLD[:1]) == [(4, "right"), (8, "not_gold")]


def test_a_judge_whose_finding_lists_no_steps_is_read_by_its_label():
    assert states({}, label={"outcome": "steps", "steps": [DUP]}) == [(4, "exact"), (6, "missed")]
