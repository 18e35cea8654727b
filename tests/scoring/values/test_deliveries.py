"""Deliveries: what an agent gets of a report, to the character."""

import time

import pytest

from scoring.values.deliveries import (
    CONDITIONS,
    MARKED,
    MOST_INLINE,
    REPORT_INSTRUCTION,
    ROUND_INSTRUCTION,
    executed,
    inline,
    read_report,
    search,
    searched,
    without_instruction,
)
from scoring.values.phreeqc import PHREEQC
from scoring.values.searching import BOUNDS, search_tool
from scoring.values.simulator import Bounds
from tests.scoring.values.reference import runs

LONG = "".join(f"{number:9}\n" for number in range(20_000))


def delivered(condition, report, ok=True, files=None, error=""):
    return executed(CONDITIONS[condition], ok, report, PHREEQC.headings(report), files or {}, error)


def test_recorded_runs_were_delivered_as_here():
    checked = 0
    for log in runs().values():
        by_step = {one.step: one for one in log.simulations}
        for step in log.steps:
            one = by_step.get(step.seq)
            if one and one.success and not CONDITIONS[log.condition].instruction:
                found = delivered(log.condition, one.report_text, files=one.extra_files)
                assert (found.text, found.kind) == (step.result_text, step.result_kind)
                checked += 1
    assert checked >= 13


def test_recorded_parts_are_the_lines_that_were_asked_for():
    log = runs()["r10"]
    step = log.steps[2]
    report = log.simulations[0].report_text
    found = read_report(CONDITIONS["toc"], report, step.args["first"], step.args["last"])
    assert found.text == step.result_text + "\n"  # recorded without the end of its last line
    assert f"1823-1841 ({len(found.text)})     Description of solution" in log.steps[1].result_text


def test_a_report_of_100_000_characters_is_delivered_unchanged_and_one_more_is_cut():
    assert inline(LONG[:100_000]) == LONG[:100_000]
    text = inline(LONG[:100_001])
    assert len(text) == 100_000
    (marked,) = MARKED.finditer(text)
    assert text[: marked.start() - 1] == LONG[:50_000]
    tail = text[marked.end() + 1 :]
    assert LONG[:100_001].endswith(tail)
    assert 50_000 + len(marked.group()) + 2 + len(tail) == 100_000


@pytest.mark.parametrize("most", [0, 10, 60, 200])
def test_what_is_cut_is_never_longer_than_allowed(most):
    assert len(inline(LONG, most)) == most


@pytest.mark.parametrize(
    ("condition", "n", "kind"),
    [
        ("raw100k", 100_000, "report"),
        ("raw100k", 100_001, "report"),
        ("hybrid", 100_000, "report"),
        ("hybrid", 100_001, "index"),
        ("toc", 10, "index"),
        ("toc_report", 10, "index"),
        ("toc_round", 10, "index"),
        ("grep", 10, "other"),
    ],
)
def test_a_condition_delivers_by_the_length_of_the_report(condition, n, kind):
    found = delivered(condition, LONG[:n])
    assert found.kind == kind
    assert (LONG[:50_000] in found.text) is (kind == "report")
    assert found.text.startswith(f"ok: true\nresult.out: {n} characters")


def test_a_failed_execution_brings_its_error_and_no_report():
    found = delivered("raw100k", "pH 7.078\n", ok=False, error="ERROR: no water\n")
    assert found.kind == "other"
    assert found.text == "ok: false\nresult.out: 9 characters, 2 lines\nfiles: result.out\nERROR: no water\n"


@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_instruction_stands_in_every_result_of_its_condition_and_in_no_other(condition):
    expected = {"toc_report": REPORT_INSTRUCTION, "toc_round": ROUND_INSTRUCTION}.get(condition, "")
    one = CONDITIONS[condition]
    results = [
        delivered(condition, "pH 7.078\n"),
        delivered(condition, "", ok=False),
        read_report(one, "a\nb\n", 1, 1),
        searched(one, [(1, "a")], 1),
        search_tool(one, "a\nb\n", "("),
    ]
    for found in results:
        assert found.text.count(expected) == 1 or not expected
        for other in {REPORT_INSTRUCTION, ROUND_INSTRUCTION} - {expected}:
            assert other not in found.text
        assert expected not in without_instruction(condition, found.text) or not expected
    assert expected.count(". ") == (2 if expected else 0)


def test_only_the_two_without_tools_have_none():
    assert {key for key, one in CONDITIONS.items() if not one.has_tools} == {"direct", "cot"}


def test_a_search_says_how_many_hits_there_are_and_shows_the_first():
    report = "pH 7\nx\n" * 60
    hits, n_all = search(report, r"^pH", most=20)
    found = searched(CONDITIONS["grep"], hits, n_all)
    assert (found.kind, found.text.split("\n")[:3]) == ("search_hits", ["60 hits, 20 shown", "1: pH 7", "3: pH 7"])
    assert search_tool(CONDITIONS["grep"], report, r"^pH", most=20) == found
    assert searched(CONDITIONS["grep"], *search(report, "no such")).text == "0 hits, 0 shown"


@pytest.mark.parametrize("pattern", ["(", "[", "x" * 2_000, "(?P<a>x)(?P<a>y)", "(" * 900])
def test_a_pattern_that_cannot_be_used_is_an_error_of_the_tool(pattern):
    found = search_tool(CONDITIONS["grep"], "x\n", pattern)
    assert found.kind == "other"
    assert found.text.startswith("error: the pattern ")


def test_a_pattern_that_takes_for_ever_is_ended():
    began = time.monotonic()
    found = search_tool(CONDITIONS["grep"], "a" * 60 + "b\n", r"(a+)+$", bounds=Bounds(seconds=1))
    assert found.text == "error: the pattern took too long"
    assert time.monotonic() - began < 10


def test_a_search_over_the_longest_report_is_no_longer_than_a_result_may_be():
    found = search_tool(CONDITIONS["grep"], "pH 7.078\n" * 94_000, "pH", most=50_000)
    assert found.text.startswith("94000 hits, 50000 shown")
    assert len(found.text) <= MOST_INLINE
    assert BOUNDS.seconds <= 5
