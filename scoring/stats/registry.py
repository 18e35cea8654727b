"""Every statistic by its name, computed from data and params in the form of the case files (docs/methods.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from scoring.stats.results import Figure


@dataclass(frozen=True)
class Outcome(Figure):
    """A figure, and what else a statistic has to say: the mode of a test, a cell of a table, a family of tests."""

    details: Mapping[str, Any] = field(default_factory=dict)


Computed = Callable[[Any, Mapping[str, Any]], Outcome]
METRICS: dict[str, Computed] = {}


class BadParams(ValueError):
    """The data or params of a statistic are not what it takes; says which and what it expects."""


def metric(name: str) -> Callable[[Computed], Computed]:
    """Make a function known under this name. Two of one name are a mistake of ours."""

    def known(function: Computed) -> Computed:
        if name in METRICS:
            raise ValueError(f"Two statistics are called {name}.")
        METRICS[name] = function
        return function

    return known


def outcome(figure: Figure, **details: Any) -> Outcome:
    """A figure as an outcome."""
    return Outcome(**{one.name: getattr(figure, one.name) for one in fields(figure)}, details=details)
