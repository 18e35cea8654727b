"""The search tool of agents: a pattern over a report, in a child with a bound on time, as one may take for ever."""

from __future__ import annotations

import json
from pathlib import Path

from scoring.values.deliveries import MOST_HITS, Condition, Delivery, instructed, searched
from scoring.values.simulator import Bounds, run_child

PROGRAM = Path(__file__).with_name("search_worker.py")
BOUNDS = Bounds(seconds=5, report_characters=16_000_000)
MOST_PATTERN = 1_000


def search_tool(
    condition: Condition, report: str, pattern: str, most: int = MOST_HITS, bounds: Bounds = BOUNDS
) -> Delivery:
    """The hits, or one line that says why there are none to see."""
    if len(pattern) > MOST_PATTERN:
        return Delivery(instructed(condition, "error: the pattern is too long"), "other")
    asked = json.dumps({"report": report, "pattern": pattern, "most": most})
    reason, answer = run_child(PROGRAM, asked, "", bounds)
    said = {} if reason else json.loads(answer)
    if reason == "out_of_time":
        return Delivery(instructed(condition, "error: the pattern took too long"), "other")
    if reason or not said.get("ok"):
        detail = said.get("error") or said.get("reason") or reason
        return Delivery(instructed(condition, f"error: the pattern cannot be used: {detail}"), "other")
    found = json.loads(said["report"])
    return searched(condition, [(number, line) for number, line in found["hits"]], found["n_all"])
