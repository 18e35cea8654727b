"""Questions: their import, their verification by running, and which are left out."""

import json
from functools import cache

import pytest

from scoring.methods.delivery_schema import SCHEMA
from scoring.methods.records import records_of
from scoring.values.items import (
    EXCLUSIONS,
    item_record,
    printed_value,
    read_items,
    read_setups,
    strict,
    verified,
    verify,
)
from scoring.values.simulator import Ran, simulate
from scoring.values.tiny import TINY
from tests.scoring.values import reference

CUP = "START 80\nSTEPS 2\nRATE 0.4\nEVERY 5\nEND\n"
COARSE = "START 80\nSTEPS 2\nRATE 0.4\nEVERY 5\nPARTS 1\nEND\n"
SETUPS = "\n".join(
    json.dumps(
        {"key": name, "reference_input": name, "database_name": "still.air"}
        | {"under_specified": name == "coarse"}
    )
    for name in ("cup", "coarse", "wrong")
)
LOCATOR = {"after": [r"^Step 1\."], "row": r"^\tVessel\s+(\S+)"}
INPUTS = {"cup": CUP, "coarse": COARSE, "wrong": "BOIL\nEND\n"}


def cooled(**said):
    """A question about the cup after one step, whose key is B; options by their label."""
    options = said.pop("options", {"A": "23.7969", "B": "23.7968", "C": "23.7967"})
    return {
        **{"id": "q1", "setup": "cup", "kind": "numeric", "question_en": "How warm is it?", "key": "B"},
        **{"options": [{"label": label, "text": text} for label, text in options.items()], "locator": LOCATOR},
        **said,
    }


def setups():
    found, problems = read_setups(SETUPS, INPUTS)
    assert not problems
    return found


def read(*said):
    return read_items("\n".join(json.dumps(one) for one in said), setups(), "items.jsonl")


@cache
def run(input_text, database):
    return simulate(TINY, input_text, database)


def verified_by_running(**said):
    (item,) = read(cooled(**said)).items
    return verify(item, setups()[item.setup], TINY, run)


def test_a_question_is_kept_whose_printed_value_is_the_key_alone():
    found = verified_by_running()
    assert (found.exclusion, found.is_unique_match, found.is_stable, found.is_verified) == ("", True, True, True)
    assert dict(found.printed) == {"base": "23.7968", "small_step": "23.7968"}
    assert (found.report_chars, found.key_occurrences) == (len(run(CUP, "still.air").report), 1)


def coarse_value(parts):
    return printed_value(run(COARSE.replace("PARTS 1", f"PARTS {parts}"), "still.air").report, reference_locator())


def reference_locator():
    return read(cooled()).items[0].locator


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"options": {"A": "23.8", "B": "23.7968", "C": "99"}}, "several_options_match"),
        ({"options": {"A": "23.7968", "B": "23.7966", "C": "99"}}, "other_option_matches"),
        ({"options": {"A": "1.0000", "B": "2.0000"}}, "no_option_matches"),
        ({"options": {"A": "1.0000", "B": "23.79680"}}, "no_option_matches"),
        ({"options": {"A": "0", "B": "0.0"}, "locator": {**LOCATOR, "row": r"Beginning of (c)ooling"}}, "not_printed"),
        ({"locator": {**LOCATOR, "after": ["^Step 9"]}}, "not_printed"),
        ({"locator": {**LOCATOR, "row": r"^\tKettle\s+(\S+)"}}, "not_printed"),
        ({"setup": "wrong"}, "run_failed"),
    ],
)
def test_a_question_is_left_out_with_the_reason(said, reason):
    found = verified_by_running(**said)
    assert (found.exclusion, found.is_verified) == (reason, False)
    assert reason in EXCLUSIONS


def test_a_value_that_tighter_settings_change_is_unstable():
    coarse, fine = coarse_value(1), coarse_value(10)
    assert coarse != fine
    found = verified_by_running(setup="coarse", options={"A": fine, "B": coarse})
    assert (found.exclusion, found.is_unique_match, found.is_stable) == ("unstable", True, False)


def test_a_value_that_prints_as_zero_stands_everywhere():
    (item,) = read(cooled(options={"A": "1.00", "B": "0.00"})).items
    assert verified(item, {"base": "0.00"}).exclusion == "prints_as_zero"
    assert verified(item, {"base": "-0.00"}).exclusion == "prints_as_zero"


def test_a_tighter_run_that_fails_leaves_the_question_unstable():
    (item,) = read(cooled()).items

    def failing(input_text, database):
        return run(input_text, database) if input_text == CUP else Ran(False, "out_of_time")

    assert verify(item, setups()["cup"], TINY, failing).exclusion == "unstable"


def test_running_says_nothing_about_an_answer_that_is_no_number():
    found = verified_by_running(kind="other", locator=None, options={"A": "warm", "B": "cold"})
    assert found.is_verified
    assert found.is_unique_match is found.is_stable is found.key_occurrences is None
    assert found.report_chars == len(run(CUP, "still.air").report)


def test_the_strict_subset_has_no_setup_that_leaves_something_open():
    items = read(cooled(), cooled(id="q2", setup="coarse")).items
    assert [one.id for one in strict(items, setups())] == ["q1"]


@pytest.mark.parametrize(
    ("said", "code", "field"),
    [
        ({"options": {"A": "1,838", "B": "7.078"}}, "notation", "options/0/value"),
        ({"options": {"A": "7.1", "B": "7.0 to 7.2"}}, "notation", "options/1/value"),
        ({"options": {"A": "−4.44", "B": "7.078"}}, "notation", "options/0/value"),
        ({"options": {"A": "7.1"}}, "options", "options"),
        ({"options": "7.1", "key": "A"}, "options", "options"),
        ({"key": "Z"}, "key", "key"),
        ({"setup": "nowhere"}, "unknown_setup", "setup"),
        ({"kind": "word"}, "kind", "kind"),
        ({"id": ""}, "missing", "id"),
        ({"question_en": ""}, "missing", "question_en"),
        ({"keyed_value": "1.0"}, "keyed_value", "keyed_value"),
        ({"locator": None}, "locator", "locator"),
        ({"locator": {"after": [], "row": "no group"}}, "locator", "locator"),
        ({"locator": {"after": ["("], "row": "(x)"}}, "locator", "locator"),
    ],
)
def test_a_wrong_question_refuses_the_file_by_line_and_field(said, code, field):
    wrong = cooled(id="q2", **said) if isinstance(said.get("options"), dict) else cooled(id="q2") | said
    found = read(cooled(), wrong)
    assert found.items == ()
    assert (code, 2, field, "items.jsonl") in [(one.code, one.line, one.field, one.file) for one in found.problems]
    assert all(one.as_dict()["expected"] for one in found.problems)


def test_options_of_mixed_precision_are_said_and_refuse_nothing():
    found = read(cooled(options={"A": "23.8", "B": "23.7967"}))
    assert [(one.code, one.warning) for one in found.problems] == [("mixed_precision", True)]
    assert len(found.items) == 1


def test_the_same_name_twice_and_a_line_that_is_no_object_are_named():
    assert [one.code for one in read(cooled(), cooled()).problems] == ["duplicate"]
    assert [one.code for one in read_items("[1]\n{", {}).problems] == ["json", "json"]


def test_the_value_of_an_option_is_read_out_of_its_text_with_a_unit():
    (item,) = read(cooled(options={"A": "1.543e-02 mol/kgw", "B": "7.1"})).items
    assert [one.value.text for one in item.options] == ["1.543e-02", "7.1"]


@pytest.mark.parametrize(
    ("line", "code", "field"),
    [
        ({"key": "", "reference_input": "cup", "database_name": "x"}, "missing", "key"),
        ({"key": "cup", "reference_input": "none", "database_name": "x"}, "missing_file", "reference_input"),
        ({"key": "cup", "reference_input": "cup"}, "missing", "database_name"),
    ],
)
def test_a_wrong_setup_refuses_the_file(line, code, field):
    found, problems = read_setups(json.dumps(line), INPUTS)
    assert found == {}
    assert [(one.code, one.field) for one in problems] == [(code, field)]


# The questions of the reference


def test_every_question_of_the_reference_stays_by_what_was_printed():
    assert len(reference.items()) == 24
    for name, item in reference.items().items():
        found = verified(item, reference.printed()[name] or {})
        assert found.is_verified, name
        assert found.is_unique_match is (True if item.is_numeric else None)


@pytest.mark.parametrize("row", reference.rows("excluded.jsonl"), ids=lambda row: row["exclusion_reason"])
def test_every_defective_question_of_the_reference_is_left_out(row):
    item = reference.items("excluded.jsonl")[row["id"]]
    assert verified(item, row["printed"]).exclusion == row["exclusion_reason"]


def test_questions_are_records_that_the_method_takes():
    rows = [
        item_record(item, verified(item, reference.printed()[name] or {}), False)
        for names in ("items.jsonl", "excluded.jsonl")
        for name, item in reference.items(names).items()
    ]
    records = records_of(rows, SCHEMA)
    assert len(records["item"]) == 28
    assert sum(one["excluded"] is None for one in records["item"]) == 24


@pytest.mark.shared
@pytest.mark.parametrize("name", ["value-items", "value-runs"])
def test_the_copies_are_those_of_the_shared_data(name, shared_data):
    ours = reference.ITEMS.parent / name
    paths = {path.relative_to(ours) for path in ours.rglob("*") if path.is_file()}
    theirs = shared_data / name
    assert paths == {path.relative_to(theirs) for path in theirs.rglob("*") if path.is_file()}
    assert all((ours / path).read_bytes() == (theirs / path).read_bytes() for path in paths)
