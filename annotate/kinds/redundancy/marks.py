"""What others marked as a failure of a run, as redundant steps where it is one: a failure at a call of the agent that
its source calls a wrong call or a failure from outside. Others, such as an answer to the user that misreads a result,
have no step, so a run with one of them has no label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotate.kinds.base import Blocks
from annotate.kinds.redundancy.label import NONE_SERVES, STEPS, RedundancyLabel, load
from annotate.kinds.redundancy.schema import ABNORMAL, INCORRECT, SCHEMA
from annotate.kinds.redundancy.steps import Pair, steps_of

TYPES = {
    "invalid invocation": INCORRECT,
    "instruction adherence failure": INCORRECT,
    "intent plan misalignment": INCORRECT,
    "system failure": ABNORMAL,
}
"""Of AgentRx's categories those that speak of a call."""
FAILURES = ("failure", "decisive_mistake")
LONGEST_REASON = 2000


def from_marks(marks: Sequence[Mapping[str, Any]], shown: Blocks) -> RedundancyLabel | None:
    failures = [mark for mark in marks if mark.get("kind") in FAILURES]
    called = {step.pair for step in steps_of(shown.entries) if step.side == "agent"}
    found: dict[Pair, dict[str, Any]] = {}
    for mark in failures:
        step = step_at(mark.get("index"), called)
        type = TYPES.get(str(mark.get("category", "")).strip().lower())
        if step is None or type is None:
            return None
        found.setdefault(step, as_step(step, type, mark))
    if not found:
        return None
    return load({"outcome": STEPS, "steps": list(found.values())}, SCHEMA)


def step_at(index: Any, called: Iterable[Pair]) -> Pair | None:
    """The one step that is called there; which of several is meant nobody can say."""
    there = [pair for pair in called if pair[0] == index]
    return there[0] if len(there) == 1 else None


def as_step(step: Pair, type: str, mark: Mapping[str, Any]) -> dict[str, Any]:
    reason = str(mark.get("reason") or "")[:LONGEST_REASON]
    return {"step": list(step), "type": type, "evidence": [NONE_SERVES], "reason": reason}
