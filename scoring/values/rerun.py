"""Whether a simulation that was run again printed what its log holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from scoring.values.logs import RunLog, Simulation
from scoring.values.simulator import Ran

Match = Literal["identical", "line_order_only", "different"]
Run = Callable[[str, str], Ran]


@dataclass(frozen=True, slots=True)
class Rerun:
    """One simulation of a run, run again. `match` is None where the log lacks the report, and where nothing could be
    run (`reason`), which says nothing about the report."""

    run: str
    step: int
    is_comparable: bool
    match: Match | None = None
    reason: str = ""


NOT_RUN = {"not_installed", "unknown_database", "input_too_long", "not_locked"}
"""Reasons for which there is no second report to compare with."""


def compared(stored: str, again: str) -> Match:
    if stored == again:
        return "identical"
    return "line_order_only" if sorted(stored.split("\n")) == sorted(again.split("\n")) else "different"


def rerun(log: RunLog, run: Run, cleaned: Callable[[str], str]) -> Iterable[Rerun]:
    """Every simulation of a run once more, one after another; a wrong one stops none of the others."""
    for one in log.simulations:
        yield _again(log.id, one, run, cleaned)


def _again(run_id: str, stored: Simulation, run: Run, cleaned: Callable[[str], str]) -> Rerun:
    if stored.report_text is None:
        return Rerun(run_id, stored.step, False, reason="report_missing")
    ran = run(stored.input_text, stored.database)
    if ran.reason in NOT_RUN:
        return Rerun(run_id, stored.step, False, reason=ran.reason)
    return Rerun(run_id, stored.step, True, compared(cleaned(stored.report_text), ran.report), ran.reason)


def rerun_record(one: Rerun) -> dict[str, Any]:
    """A rerun as a record of the method's figures."""
    said = {"record": "rerun", "run": one.run, "comparable": one.is_comparable}
    return {**said, "match": one.match} if one.is_comparable else said
