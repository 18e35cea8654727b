"""The method's own JSON, in and out."""

import json

import pytest

from annotate.kinds.base import LabelError
from annotate.kinds.redundancy.contract import Trajectory
from annotate.kinds.redundancy.examples import CANNOT, MESSAGES, NOTHING, label, step
from annotate.kinds.redundancy.exchange import read, written
from annotate.kinds.redundancy.label import load
from annotate.kinds.redundancy.schema import SCHEMA
from annotate.kinds.redundancy.steps import entries_of

THERE = {name: Trajectory.of(entries_of(MESSAGES)) for name in ("a", "b/1")}
LABELS = {
    "a": load(label(step(9, 10), step(4, 5, "INC", [-1])), SCHEMA),
    "b/1": load(NOTHING, SCHEMA),
}


def triplet(call, result, type="Duplicated Step", evidence=(2, 3), **more):
    return {
        "redundant_step_idx": [call, result],
        "redundant_step_type": type,
        "evidence_step_idx": list(evidence),
        **more,
    }


def refusals(data, base=0):
    with pytest.raises(LabelError) as refusal:
        read(data, THERE, base)
    return [(one.code, one.field, one.pointer) for one in refusal.value.problems]


@pytest.mark.parametrize("base", [0, 1])
def test_what_is_written_is_read_back_from_either_base(base):
    data = json.loads(json.dumps(written({**LABELS, "c": load(CANNOT, SCHEMA)}, base)))
    assert list(data) == ["a", "b/1"]
    assert data["a"][1]["redundant_step_idx"] == [9 + base, 10 + base]
    assert data["a"][0]["evidence_step_idx"] == [-1]
    assert read(data, THERE, base) == LABELS


def test_types_go_by_their_full_names_or_codes_and_order_plays_no_part():
    given = [triplet(10, 9, "duplicated step", [3, 2], reason="again", certainty="high")]
    (one,) = read({"a": given}, THERE)["a"].steps
    assert (one.triplet, one.reason, one.certainty, one.origin) == (((9, 10), "DUP", (2, 3)), "again", "high", "added")
    assert read({"a": [triplet(9, 10, "DUP")]}, THERE)["a"].steps[0].type == "DUP"


def test_the_trajectory_the_field_and_the_right_range_are_named():
    with pytest.raises(LabelError) as refusal:
        read({"a": [], "b/1": [triplet(9, 10), triplet(4, 40)]}, THERE)
    (problem,) = refusal.value.problems
    assert (problem.code, problem.field) == ("unknown_index", "redundant_step_idx")
    assert problem.pointer == "/b~11/1/redundant_step_idx"
    assert "from 0 to 11; not 40" in problem.as_dict()["expected"]


def test_indexes_from_1_are_told_and_ranges_are_those_of_the_file():
    ((code, _, pointer),) = refusals({"a": [triplet(10, 11, evidence=[3, 4])]})
    assert (code, pointer) == ("other_index_base", "/a")
    with pytest.raises(LabelError) as refusal:
        read({"a": [triplet(10, 11, evidence=[3, 4]), triplet(0, 6)]}, THERE, 1)
    assert "from 1 to 12; not 0" in str(refusal.value)


def test_what_is_no_triplet_is_refused_at_its_place():
    assert refusals([]) == [("wrong_type", "", "")]
    assert refusals({"x": [], "a": {}, "b/1": []}) == [
        ("unknown_trajectory", "x", "/x"),
        ("wrong_type", "", "/a"),
    ]
    assert refusals({"a": [triplet(9, 10, "Redundant")]}) == [
        ("unknown_label", "redundant_step_type", "/a/0/redundant_step_type")
    ]
    assert refusals({"a": [triplet(9, 10, confidence=1)]}) == [("unknown_field", "confidence", "/a/0/confidence")]
    assert refusals({"a": [triplet(9, 10, evidence=[2])]}) == [("half_pair", "evidence_step_idx",
                                                               "/a/0/evidence_step_idx")]  # fmt: skip
    assert refusals({"a": [triplet(9, 10), triplet(10, 9)]}) == [("step_twice", "redundant_step_idx",
                                                                 "/a/1/redundant_step_idx")]  # fmt: skip
    assert refusals({"a": [triplet(6, 7)]})[0][0] == "user_side_step"
    assert refusals({"a": [{}, "x"]})[0][:2] == ("missing_field", "redundant_step_idx")
    with pytest.raises(LabelError, match="Abnormal Step, Duplicated Step"):
        read({"a": [triplet(9, 10, 3)]}, THERE)
