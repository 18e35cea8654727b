"""What is asked about every step of the gold, one call each, and what comes of the answers together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from annotate.kinds.base import Finding
from scoring.judges.base import Answer, Ask
from scoring.judges.raw_answers import Again, GivenUp, usable
from scoring.judges.trajectory_view import TrajectoryView

Gold = Mapping[str, Any]


def has_steps(label: Mapping[str, Any]) -> bool:
    """Whether a sealed label names any step."""
    return bool(label.get("steps"))


def name_of(gold: Gold) -> str:
    """Of the question about a step."""
    first, second = gold["step"]
    return f"step-{first}-{second}"


def answered(
    view: TrajectoryView,
    answers: tuple[Answer, ...],
    asked: Callable[[Gold, int], Ask],
    read: Callable[[Gold, Answer], dict[str, Any]],
    fields: Sequence[str],
    told: Mapping[str, Any],
) -> Ask | Finding:
    """The next question, or what all answers say; fields of a step are None where none of its answers could be read."""
    found, raw = [], []
    for gold in view.gold or ():
        said = usable(answers, name_of(gold), partial(read, gold))
        if isinstance(said, Again):
            return asked(gold, said.attempt)
        if isinstance(said, GivenUp):
            raw.append(said.raw)
            said = dict.fromkeys(fields)
        found.append({"step": list(gold["step"]), **said})
    nothing_read = bool(raw) and len(raw) == len(found)
    return Finding({**told, "answers": found}, unreadable=raw[-1] if nothing_read else None)
