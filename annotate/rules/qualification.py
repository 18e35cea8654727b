"""When somebody has missed too many known answers to go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LEAST_LAST, MOST_LAST = 1, 1000
"""How many items a rule may look at."""


@dataclass(frozen=True, slots=True)
class PassRule:
    """Of the last `last` items with a known answer at least `percent` in a hundred have to be right; before so many
    were answered nothing is said."""

    last: int
    percent: int

    def is_failed(self, newest_first: Sequence[bool]) -> bool:
        counted = newest_first[: self.last]
        return len(counted) == self.last and 100 * sum(counted) < self.percent * self.last


def pass_rule(settings: Mapping[str, Any]) -> PassRule | None:
    """The rule of a project, None where it has none."""
    last, percent = settings.get("known_last") or 0, settings.get("known_percent") or 0
    return PassRule(last, percent) if last and percent else None
