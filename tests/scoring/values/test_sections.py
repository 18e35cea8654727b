"""The index of a report: its sections, their lines, and how it reads."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.values.phreeqc import PHREEQC
from scoring.values.sections import (
    BEFORE,
    ENDS_HERE,
    LEFT_OUT,
    Section,
    heading_rule,
    index_text,
    lines_between,
    sections,
    spans,
    within,
)
from tests.scoring.values.reference import ITEMS, runs

RULE = heading_rule(r"Step[ \t]+\d+")
REPORT = "before\n-----\nTITLE\n-----\n 7.078\nStep 1.\n\n---Values---\nx 1\n-----\nEnd.\n-----\n"
LINES = st.sampled_from(
    ["-----", "---Values---", "TITLE", "Step 1.", "", " pH 7", "- - -", "---", "----- x", "a---", "³"]
)


def reports():
    """Each report of the recorded runs that the expected indexes are of."""
    lengths = {}
    for log in runs().values():
        for one in log.simulations:
            lengths[len(one.report_text)] = one.report_text
    return lengths


def test_recorded_reports_have_the_expected_index():
    checked = 0
    for path in (ITEMS / "expected").iterdir():
        expected = json.loads(path.read_text("utf-8"))
        report = reports().get(expected["report_chars"])
        if report is not None:
            found = sections(report, PHREEQC.headings(report))
            assert [
                {"level": one.level, "title": one.title, "first": one.first, "last": one.last, "chars": one.characters}
                for one in found
            ] == expected["index"]
            checked += 1
    assert checked >= 6


def test_boxes_states_and_ruled_titles_are_headings():
    found = sections(REPORT, RULE(REPORT))
    assert [(one.level, one.title, one.first, one.last) for one in found] == [
        (0, BEFORE, 1, 1),
        (1, "TITLE", 2, 5),
        (2, "Step 1.", 6, 7),
        (3, "Values", 8, 9),
        (1, "End.", 10, 13),
    ]


def test_rules_in_tables_and_indented_ones_are_none():
    assert not RULE("  -----\n  Title\n  -----\n-----\n-----\n a---b\n--- --- ---\n")
    assert not RULE("-----\n\n-----\n-----\n-----\n-----\n- -\n-----\n")


@pytest.mark.parametrize(
    "unit", ["---a", "-", "- ", "Step ", "---\n", "-----\na\n", "---a---b\n", "---" + "a" * 900_000]
)
def test_a_report_made_to_be_hard_is_read_in_linear_time(unit):
    report = "-----\n---" + unit * max(900_000 // len(unit), 1) + "x"
    began = time.perf_counter()
    sections(report, RULE(report))
    assert time.perf_counter() - began < 5


@given(st.lists(LINES, max_size=30), st.sampled_from(["\n", ""]))
def test_sections_part_a_report_and_their_lines_are_what_is_read(lines, end):
    report = "\n".join(lines) + end
    found = sections(report, RULE(report))
    assert sum(one.characters for one in found) == len(report)
    for one in found:
        assert lines_between(report, one.first, one.last) == report[one.start : one.end]


def test_lines_that_are_not_there_are_none():
    assert lines_between("a\nb", 3, 9) == lines_between("a\nb", 2, 1) == ""
    assert lines_between("a\nb", -5, 99) == "a\nb"


def test_a_line_of_the_index_tells_lines_characters_and_title():
    assert index_text(sections(REPORT, RULE(REPORT))).split("\n")[1:4] == [
        "2-5 (25) TITLE",
        "6-7 (9)   Step 1.",
        "8-9 (17)     Values",
    ]


def test_a_long_index_goes_without_the_third_level_and_says_so():
    many = [Section(1 + number % 3, f"title {number}", 1, 1, 0, 10) for number in range(90)]
    whole = index_text(many)
    assert LEFT_OUT not in whole
    short = index_text(many, most=len(whole) - 1)
    assert short.startswith(LEFT_OUT)
    assert "title 2\n" not in short
    assert "title 3\n" in short
    shortest = index_text(many, most=300)
    assert shortest.endswith(ENDS_HERE)
    assert len(shortest) <= 300


@pytest.mark.parametrize(("place", "inside"), [(6, False), (7, True), (31, True), (32, False)])
def test_the_sections_that_repeat_the_input_are_found_by_title(place, inside):
    found = spans(REPORT, RULE(REPORT), lambda title: title == "TITLE")
    assert within(place, found) is inside
