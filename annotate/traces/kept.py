"""Problems as they are kept in rows: said in English, with what it takes to say them in another language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.traces.base import Problem


def to_row(problem: Problem) -> dict[str, Any]:
    """As every surface gives it, and beside it the sentences before their places are filled."""
    params = {name: value if isinstance(value, int | float) else str(value) for name, value in problem.params.items()}
    return {
        **problem.as_dict(),
        "unfilled": {"expected": problem.expected, "remedy": problem.remedy, "params": params},
    }


def from_row(row: Mapping[str, Any]) -> Problem:
    """The problem again, to be said in any language; one that was kept without its sentences stays in English."""
    unfilled = row.get("unfilled") or {}
    return Problem(
        code=row.get("code", ""),
        file=row.get("file", ""),
        line=row.get("line"),
        pointer=row.get("pointer"),
        field=row.get("field", ""),
        expected=unfilled.get("expected", row.get("expected", "")),
        remedy=unfilled.get("remedy", row.get("remedy", "")),
        params=unfilled.get("params", {}),
    )
