"""Rows of a project of redundant steps as records, without a database."""

from scoring.methods.records import records_of
from scoring.methods.redundancy_schema import SCHEMA
from scoring.redundancy_records import (
    Ended,
    ItemRow,
    LabelRow,
    RoundRow,
    Rows,
    comparable,
    last_of_each,
    numbered,
    records,
)

STEP = {"step": [2, 3], "type": "DUP", "evidence": [-1], "reason": "again", "certainty": "high", "origin": "kept"}
LABEL = {"outcome": "steps", "steps": [STEP], "decisions": [{"step": [2, 3], "decision": "keep"}], "note": "x"}
CANNOT = {"outcome": "cannot_annotate", "steps": [], "decisions": [], "note": "x"}


def item(number, **told):
    values = {"cluster": "task-1", "domain": "airline", "model": "", "n_messages": 9, "suggestions": None}
    return ItemRow(number, **{**values, "is_shown": True, "is_waiting": False, **told})


def row(annotation, number=1, rater="e1", round=1, protocol=1, label=LABEL, informed=False):
    return LabelRow(annotation, number, rater, round, informed, protocol, label)


def test_first_rounds_are_one_and_the_others_follow():
    rounds = [RoundRow(1, True, False), RoundRow(2, False, True), RoundRow(3, True, False), RoundRow(5, False, False)]
    assert numbered(rounds) == {1: 1, 2: 2, 3: 1, 5: 3}


def test_labels_of_a_trajectory_and_round_are_compared_under_its_newest_protocol():
    labels = [row(1), row(2, rater="e2", protocol=2), row(3, number=2), row(4, round=2)]
    assert [one.annotation for one in comparable(labels, {1: 1, 2: 2})] == [4, 2, 3]
    assert [one.annotation for one in comparable(labels, {1: 1, 2: 2}, protocol=1)] == [1, 4, 3]


def test_of_two_first_rounds_the_last_label_counts():
    assert [one.annotation for one in comparable([row(1), row(2, round=3)], {1: 1, 3: 1})] == [2]


def test_the_last_of_each_is_of_the_last_round():
    found = last_of_each([row(9), row(2, round=2), row(3, rater="e2")])
    assert {number: [one.annotation for one in rows] for number, rows in found.items()} == {1: [2, 3]}


def test_records_have_what_the_method_asks_for_and_nothing_else():
    suggestion = {"step": [2, 3], "type": "DUP", "evidence": [-1], "rules": ["identical"], "keyword": ""}
    rows = Rows(
        items=[item(2, domain="", model="sol"), item(1, suggestions=[suggestion], is_shown=False), item(3)],
        labels=[row(1), row(2, rater="e2", label=CANNOT), row(3, number=9)],
        rounds={1: 1},
        ends={1: Ended([STEP]), 2: Ended(None)},
    )
    found = list(records(rows))
    triplet = {"step": [2, 3], "type": "DUP", "evidence": [-1]}
    assert found == [
        {"record": "trajectory", "id": "1", "domain": "airline", "n_steps": 9, "task": "task-1",
         "suggestions": "left_off"},
        {"record": "trajectory", "id": "2", "domain": "-", "n_steps": 9, "task": "task-1", "model": "sol",
         "state": "unresolved"},
        {"record": "trajectory", "id": "3", "domain": "airline", "n_steps": 9, "task": "task-1"},
        {"record": "suggested", "trajectory": "1", "steps": [{**triplet, "rules": ["identical"]}]},
        {"record": "expert", "trajectory": "1", "expert": "e1", "round": 1, "informed": False, "steps": [triplet],
         "decisions": [{"step": [2, 3], "decision": "keep"}]},
        {"record": "gold", "trajectory": "1", "provenance": "experts", "steps": [triplet]},
    ]  # fmt: skip
    assert len(records_of(found, SCHEMA)["expert"]) == 1
