"""A label as rows of a table: one for each step, and one without a step where there is none."""

from __future__ import annotations

from annotate.kinds.redundancy.label import REJECT, RedundancyLabel

COLUMNS = (
    *("outcome", "n_steps", "step", "type", "evidence", "reason", "certainty", "origin"),
    *("rejected", "note"),
)


def rows(label: RedundancyLabel) -> list[dict[str, object]]:
    """`rejected` are the suggested steps that are none, on every row."""
    whole = {
        "outcome": label.outcome,
        "n_steps": len(label.steps),
        "rejected": [list(one.step) for one in label.decisions if one.decision == REJECT],
        "note": label.note,
    }
    of_step: list[dict[str, object]] = [
        {
            "step": list(one.step),
            "type": one.type,
            "evidence": list(one.evidence),
            "reason": one.reason,
            "certainty": one.certainty,
            "origin": one.origin,
        }
        for one in label.steps
    ]
    return [{name: {**whole, **one}.get(name) for name in COLUMNS} for one in of_step or [{}]]
