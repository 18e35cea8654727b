"""Reruns: what counts as the same report, and what cannot be compared."""

import json
import random
from dataclasses import replace

import pytest

from scoring.methods.delivery_schema import SCHEMA
from scoring.methods.records import records_of
from scoring.values.logs import read_log
from scoring.values.phreeqc import PHREEQC
from scoring.values.rerun import compared, rerun, rerun_record
from scoring.values.simulator import Ran, simulate
from scoring.values.tiny import TINY
from tests.scoring.values.reference import runs

INPUT = "START 80\nSTEPS 4\nEND\n"


def run(input_text, database):
    return simulate(TINY, input_text, database)


def a_log(report, input_text=INPUT, database="still.air"):
    rows = (
        {"type": "run", "id": "r", "item": "q1", "condition": "toc"},
        {"type": "step", "seq": 1, "tool": "execute", "result_text": "", "result_kind": "other"},
        {
            **{"type": "simulation", "step": 1, "input_text": input_text, "database": database},
            **{"success": True, "report_text": report},
        },
        {"type": "end", "answer": None},
    )
    return read_log("\n".join(map(json.dumps, rows))).log


def rerun_of(log, with_run=run):
    (found,) = rerun(log, with_run, TINY.cleaned)
    return found


def test_a_report_that_prints_again_is_identical():
    found = rerun_of(a_log(run(INPUT, "still.air").report))
    assert (found.is_comparable, found.match) == (True, "identical")


def test_shuffled_lines_are_a_class_of_their_own():
    lines = run(INPUT, "still.air").report.split("\n")
    random.Random(1).shuffle(lines)
    assert rerun_of(a_log("\n".join(lines))).match == "line_order_only"


def test_one_digit_or_another_database_is_different():
    report = run(INPUT, "still.air").report
    assert rerun_of(a_log(report.replace("73.8144", "73.8145"))).match == "different"
    assert rerun_of(a_log(report, database="moving.air")).match == "different"
    assert compared("a\na\nb", "a\nb\nb") == "different"


def test_a_run_that_fails_now_is_different():
    assert rerun_of(a_log("7\n"), lambda *_: Ran(False, "out_of_time")).match == "different"


@pytest.mark.parametrize(
    ("log", "with_run", "reason"),
    [
        (a_log(None), run, "report_missing"),
        (a_log("7\n", database="other.air"), run, "unknown_database"),
        (a_log("7\n"), lambda *_: Ran(False, "not_installed"), "not_installed"),
    ],
)
def test_without_two_reports_nothing_is_compared(log, with_run, reason):
    found = rerun_of(log, with_run)
    assert (found.is_comparable, found.match, found.reason) == (False, None, reason)
    assert rerun_record(found) == {"record": "rerun", "run": "r", "comparable": False}


def test_a_wrong_simulation_stops_none_of_the_others():
    log = runs()["r14"]
    broken = replace(log, simulations=(replace(log.simulations[0], report_text=None), *log.simulations[1:]))
    stored = {one.input_text: one.report_text for one in log.simulations}
    found = list(rerun(broken, lambda text, _: Ran(True, report=stored[text]), PHREEQC.cleaned))
    assert [one.match for one in found] == [None, *["identical"] * (len(log.simulations) - 1)]


def test_the_seconds_of_a_run_are_no_difference():
    box = "-----\nEnd of Run after {} Seconds.\n-----\n\n"
    assert PHREEQC.cleaned("pH 7\n" + box.format("0.1")) == PHREEQC.cleaned("pH 7\n" + box.format("0.25")) == "pH 7\n"


def test_reruns_are_records_that_the_method_takes():
    rows = [rerun_record(rerun_of(a_log(report))) for report in ("7\n", run(INPUT, "still.air").report)]
    assert [one["match"] for one in records_of(rows, SCHEMA)["rerun"]] == ["different", "identical"]
