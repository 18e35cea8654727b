"""How far apart the labels of one item are, as a number that queues are sorted by.

Half of it is what the kind says two labels differ by, over all pairs; half is on how many pairs each measure differs,
by the weights of the measures. So marked passages alone can put an item in the queue, behind those whose verdict is in
doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Any, Protocol

ELSEWHERE = "elsewhere"
"""Stands for a measure where labels differ and no measure does: in their passages, say."""


class Projection(Protocol):
    """What is read of a measure (`kinds/base.py`)."""

    @property
    def name(self) -> str: ...

    @property
    def level(self) -> str: ...

    @property
    def categories(self) -> tuple[Any, ...]: ...

    @property
    def rate(self) -> Callable[[Any], Any]: ...

    @property
    def weight(self) -> float: ...


class Named(Protocol):
    """What is read of a measure of sets."""

    @property
    def name(self) -> str: ...

    @property
    def rate(self) -> Callable[[Any], Any]: ...


@dataclass(frozen=True, slots=True)
class Apart:
    """From 0 (all the same) to 1. `by_measure` has those that differ, each from 0 to 1 too."""

    weight: float
    by_measure: dict[str, float]


def how_far_apart(
    labels: Sequence[Any],
    measures: Sequence[Projection],
    distance: Callable[[Any, Any], float],
    sets: Sequence[Named] = (),
) -> Apart:
    """Of fewer than two labels nothing is apart. Sets weigh by what the kind says two labels differ by; here they only
    tell in what."""
    pairs = list(combinations(labels, 2))
    if not pairs:
        return Apart(0.0, {})
    whole = fmean(min(1.0, max(0.0, distance(*pair))) for pair in pairs)
    found = {one.name: apart_on(one, pairs) for one in measures}
    weights = sum(one.weight for one in measures)
    on_measures = sum(one.weight * found[one.name] for one in measures) / weights if weights else whole
    found |= {one.name: sets_apart(one, pairs) for one in sets}
    differing = {name: round(value, 6) for name, value in found.items() if value}
    if whole and not differing:
        differing = {ELSEWHERE: round(whole, 6)}
    return Apart(round((whole + on_measures) / 2, 6), differing)


def sets_apart(measure: Named, pairs: Sequence[tuple[Any, Any]]) -> float:
    """The mean over the pairs that both named something or looked and found nothing, of the share of all that either
    names which one of them does not."""
    named = [(measure.rate(first), measure.rate(second)) for first, second in pairs]
    both = [(first, second) for first, second in named if first is not None and second is not None]
    return fmean(len(first ^ second) / (len(first | second) or 1) for first, second in both) if both else 0.0


def apart_on(measure: Projection, pairs: Sequence[tuple[Any, Any]]) -> float:
    """The mean over the pairs that both have a rating; on an ordered scale by how many steps lie between them."""
    rated = [(measure.rate(first), measure.rate(second)) for first, second in pairs]
    both = [(first, second) for first, second in rated if first is not None and second is not None]
    if not both:
        return 0.0
    if measure.level == "nominal":
        return fmean(first != second for first, second in both)
    scale = list(measure.categories) if measure.level == "interval" else list(range(len(measure.categories)))
    places = dict(zip(measure.categories, scale, strict=True))
    most = (max(scale) - min(scale)) or 1
    return fmean(min(1.0, abs(places[first] - places[second]) / most) for first, second in both)
