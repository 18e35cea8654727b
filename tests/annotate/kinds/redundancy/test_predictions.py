"""Predictions of a system without prompts, read from the method's own JSON."""

import pytest

from annotate.kinds.base import LabelError
from annotate.kinds.redundancy.examples import MESSAGES
from annotate.kinds.redundancy.kind import KIND
from annotate.kinds.redundancy.predictions import CLASSIFICATION, DETECTION, RETRIEVAL, SETTINGS, likeliest, read
from annotate.kinds.redundancy.schema import SCHEMA
from annotate.traces.base import Trace

SHOWN = {name: KIND.view(Trace("", "", MESSAGES), 11, SCHEMA) for name in ("a", "b/1")}
"""Steps 2-3, 4-5, 4-8 and 9-10 of the agent, 6-7 of the user."""
FLAT = {"ABN": 0.25, "DUP": 0.25, "INC": 0.25, "EXP": 0.25}
DUP = {"ABN": 0.1, "DUP": 0.7, "INC": 0.1, "EXP": 0.1}


def row(call=9, result=10, **more):
    return {"redundant_step_idx": [call, result], **more}


def probable(probabilities=DUP, *step, **more):
    return row(*step, probabilities=probabilities, **more)


def found(call=9, result=10, type="Duplicated Step", evidence=(2, 3), confidence=0.5):
    said = {"redundant_step_type": type, "evidence_step_idx": list(evidence), "confidence": confidence}
    return row(call, result, **said)


def refusals(rows, setting=CLASSIFICATION, given=None):
    with pytest.raises(LabelError) as refusal:
        read({"b/1": rows}, SHOWN, setting, given)
    return [(one.code, one.field, one.pointer) for one in refusal.value.problems]


def test_the_most_probable_type_is_predicted_and_the_probabilities_stand_beside_it():
    said = read({"a": [probable(DUP, 10, 9), row(4, 5, redundant_step_type="Incorrect Step")]}, SHOWN, CLASSIFICATION)
    assert said == {
        "a": {
            "answers": [{"step": [9, 10], "type": "DUP"}, {"step": [4, 5], "type": "INC"}],
            "probabilities": [{"step": [9, 10], **DUP}],
        }
    }


def test_types_may_go_by_their_full_names_in_any_order():
    full = {"Exploratory Step": 0.0, "incorrect step": 0.9, "Abnormal Step": 0.1, "DUP": 0}
    said = read({"a": [probable(full)]}, SHOWN, CLASSIFICATION)["a"]
    assert said["answers"] == [{"step": [9, 10], "type": "INC"}]
    assert said["probabilities"] == [{"step": [9, 10], "ABN": 0.1, "DUP": 0.0, "INC": 0.9, "EXP": 0.0}]


@pytest.mark.parametrize(
    ("probabilities", "type"),
    [
        (FLAT, "ABN"),
        ({"EXP": 0.4, "INC": 0.4, "DUP": 0.1, "ABN": 0.1}, "INC"),
        ({"ABN": 0.0, "DUP": 0.5, "INC": 0.0, "EXP": 0.5}, "DUP"),
    ],
)
def test_of_equally_probable_types_the_one_that_is_checked_first_is_predicted(probabilities, type):
    assert likeliest(probabilities) == type


@pytest.mark.parametrize(
    ("probabilities", "code"),
    [
        ({**DUP, "DUP": 0.7009}, None),
        ({**DUP, "DUP": 0.702}, "bad_probabilities"),
        ({**DUP, "DUP": 0.698}, "bad_probabilities"),
        ({"ABN": -0.1, "DUP": 0.9, "INC": 0.1, "EXP": 0.1}, "bad_probabilities"),
        ({**DUP, "ABN": True}, "bad_probabilities"),
        ({**DUP, "ABN": "0.1"}, "bad_probabilities"),
        ({**DUP, "ABN": float("nan")}, "bad_probabilities"),
        ({**DUP, "OTHER": 0.0}, "wrong_type"),
        ({"DUP": 1.0}, "wrong_type"),
        ({"DUP": 0.5, "Duplicated Step": 0.5, "INC": 0.0, "EXP": 0.0}, "wrong_type"),
        ([0.1, 0.7, 0.1, 0.1], "wrong_type"),
        (None, "wrong_type"),
    ],
)
def test_probabilities_are_four_that_make_one(probabilities, code):
    if code is None:
        assert read({"a": [probable(probabilities)]}, SHOWN, CLASSIFICATION)["a"]["answers"][0]["type"] == "DUP"
    else:
        assert refusals([probable(probabilities)]) == [(code, "probabilities", "/b~11/0/probabilities")]


def test_a_type_beside_probabilities_is_the_most_probable_one():
    assert read({"a": [probable(redundant_step_type="dup")]}, SHOWN, CLASSIFICATION)
    said = refusals([probable(redundant_step_type="INC")])
    assert said == [("type_contradicted", "redundant_step_type", "/b~11/0/redundant_step_type")]


def test_a_step_that_was_asked_about_and_is_not_named_got_no_answer():
    given = {"a": [(4, 5), (9, 10)]}
    classified = read({"a": [probable()]}, SHOWN, CLASSIFICATION, given)["a"]["answers"]
    assert classified == [{"step": [4, 5], "type": None}, {"step": [9, 10], "type": "DUP"}]
    retrieved = read({"a": [probable(evidence_step_idx=[3, 2])]}, SHOWN, RETRIEVAL, given)["a"]["answers"]
    assert retrieved == [
        {"step": [4, 5], "type": None, "evidence": None},
        {"step": [9, 10], "type": "DUP", "evidence": [2, 3]},
    ]


def test_a_step_that_was_not_asked_about_is_refused():
    given = {"b/1": [(4, 5)]}
    assert refusals([probable()], given=given) == [
        ("not_a_given_step", "redundant_step_idx", "/b~11/0/redundant_step_idx")
    ]


def test_what_is_detected_keeps_its_order_and_what_is_repeated():
    rows = [found(confidence=0.4), found(4, 5, "INC", [-1], 1), found(confidence=0)]
    said = read({"a": rows}, SHOWN, DETECTION)["a"]
    assert said == {
        "steps": [
            {"step": [9, 10], "type": "DUP", "evidence": [2, 3], "confidence": 0.4},
            {"step": [4, 5], "type": "INC", "evidence": [-1], "confidence": 1.0},
            {"step": [9, 10], "type": "DUP", "evidence": [2, 3], "confidence": 0.0},
        ],
        "n_steps": 2,
    }
    assert read({"a": []}, SHOWN, DETECTION)["a"] == {"steps": [], "n_steps": 0}


@pytest.mark.parametrize("confidence", [None, -0.1, 1.01, True, "0.5", float("inf")])
def test_a_confidence_is_a_number_from_0_to_1(confidence):
    said = refusals([found(), found(confidence=confidence)], DETECTION)
    assert said == [("bad_number", "confidence", "/b~11/1/confidence")]


IDX, EVIDENCE = "redundant_step_idx", "evidence_step_idx"


@pytest.mark.parametrize(
    ("rows", "setting", "problem"),
    [
        ([probable(DUP, 9, 99)], CLASSIFICATION, ("unknown_index", IDX, f"/b~11/0/{IDX}")),
        ([probable(), probable(DUP, 6, 7)], CLASSIFICATION, ("user_side_step", IDX, f"/b~11/1/{IDX}")),
        ([probable(DUP, 2, 5)], CLASSIFICATION, ("half_pair", IDX, f"/b~11/0/{IDX}")),
        ([probable(), probable(DUP, 10, 9)], CLASSIFICATION, ("step_twice", IDX, f"/b~11/1/{IDX}")),
        ([row()], CLASSIFICATION, ("missing_field", "redundant_step_type", "/b~11/0/redundant_step_type")),
        ([probable(), 3], CLASSIFICATION, ("wrong_type", "", "/b~11/1")),
        ([probable(evidence_step_idx=[2, 3])], CLASSIFICATION, ("unknown_field", EVIDENCE, f"/b~11/0/{EVIDENCE}")),
        ([probable()], RETRIEVAL, ("missing_field", EVIDENCE, f"/b~11/0/{EVIDENCE}")),
        ([probable(evidence_step_idx=[2, 4])], RETRIEVAL, ("half_pair", EVIDENCE, f"/b~11/0/{EVIDENCE}")),
        ([probable(evidence_step_idx=[9, 10])], RETRIEVAL, ("evidence_is_step", EVIDENCE, f"/b~11/0/{EVIDENCE}")),
        ([found(), found(9, 99)], DETECTION, ("unknown_index", IDX, f"/b~11/1/{IDX}")),
        ([found(), found(evidence=[2])], DETECTION, ("half_pair", EVIDENCE, f"/b~11/1/{EVIDENCE}")),
        ([found(), {**found(), IDX: [9]}], DETECTION, ("half_pair", IDX, f"/b~11/1/{IDX}")),
        ([found(type="Wrong Step")], DETECTION, ("unknown_label", "redundant_step_type", None)),
        ([found(10, 11, evidence=[3, 4])], DETECTION, ("other_index_base", IDX, "/b~11")),
    ],
)
def test_what_is_not_of_the_trajectory_or_its_setting_is_refused_at_its_place(rows, setting, problem):
    code, field, pointer = problem
    (said,) = refusals(rows, setting)
    assert said[:2] == (code, field)
    assert pointer in (None, said[2])


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize(
    ("data", "code"), [([], "wrong_type"), ({"c": []}, "unknown_trajectory"), ({"a": {}}, "wrong_type")]
)
def test_a_file_is_a_list_for_each_trajectory(setting, data, code):
    with pytest.raises(LabelError) as refusal:
        read(data, SHOWN, setting)
    assert [one.code for one in refusal.value.problems] == [code]


def test_everything_that_is_wrong_is_named_at_once():
    with pytest.raises(LabelError) as refusal:
        read({"a": [probable(DUP, 6, 7)], "x": [], "b/1": [row(probabilities={})]}, SHOWN, CLASSIFICATION)
    assert [one.pointer for one in refusal.value.problems] == [f"/a/0/{IDX}", "/x", "/b~11/0/probabilities"]
