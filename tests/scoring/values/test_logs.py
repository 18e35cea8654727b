"""Logs of runs: what is read, and what refuses one of them."""

import json

import pytest

from scoring.values.logs import read_log
from tests.scoring.values.reference import RUNS, runs

RUN = {"type": "run", "id": "r", "item": "q1", "condition": "toc", "model": "m"}
STEP = {
    **{"type": "step", "seq": 1, "tool": "execute", "args": {"path": "./a"}},
    **{"result_text": "x", "result_kind": "index"},
}
SIMULATION = {
    **{"type": "simulation", "step": 1, "input_text": "END", "database": "d"},
    **{"success": True, "report_text": "7"},
}
END = {"type": "end", "answer": "B", "answer_parse": "ok"}


def read(*rows):
    return read_log("\n".join(json.dumps(one) for one in rows), "r.jsonl")


def test_a_log_is_read_whole():
    log = read(RUN, STEP, SIMULATION, END).log
    assert (log.id, log.model, log.answer) == ("r", "m", "B")
    assert (log.steps[0].path, log.simulations[0].report_text) == ("a", "7")


def test_recorded_runs_are_read_and_say_that_they_are_synthetic():
    assert len(runs()) == 16
    assert all(one.is_synthetic and one.is_complete for one in runs().values())


def test_a_log_may_lack_a_report():
    found = read(RUN, STEP, {**SIMULATION, "report_text": None}, END)
    assert found.log.simulations[0].report_text is None


@pytest.mark.parametrize(
    ("rows", "code", "field"),
    [
        ((RUN, STEP), "line", "type"),
        ((RUN, RUN, END), "line", "type"),
        ((RUN, {"type": "thought"}, END), "line", "type"),
        (({**RUN, "item": 3}, END), "missing", "item"),
        ((RUN, {**STEP, "seq": True}, END), "missing", "seq"),
        ((RUN, {**STEP, "result_text": None}, END), "missing", "result_text"),
        ((RUN, {**STEP, "result_kind": "page"}, END), "result_kind", "result_kind"),
        ((RUN, {**STEP, "args": [1]}, END), "args", "args"),
        ((RUN, STEP, STEP, END), "duplicate", "seq"),
        ((RUN, STEP, {**SIMULATION, "step": 2}, END), "step", "step"),
        ((RUN, STEP, {**SIMULATION, "success": "yes"}, END), "missing", "success"),
        ((RUN, STEP, {**SIMULATION, "report_text": 7}, END), "report_text", "report_text"),
        ((RUN, STEP, {**SIMULATION, "extra_files": {"a": 1}}, END), "extra_files", "extra_files"),
        ((RUN, {**END, "answer": 1}), "answer", "answer"),
        ((RUN, {**END, "answer_parse": "maybe"}), "answer_parse", "answer_parse"),
    ],
)
def test_what_is_wrong_with_a_log_is_named_and_nothing_of_it_taken(rows, code, field):
    found = read(*rows)
    assert found.log is None
    assert (code, field) in [(one.code, one.field) for one in found.problems]


def test_a_log_that_is_cut_off_is_refused():
    text = (RUNS / "r01.jsonl").read_text("utf-8")
    assert read_log(text[: len(text) // 2]).log is None
