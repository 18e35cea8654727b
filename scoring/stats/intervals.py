"""From the values of resamples to an interval, or to the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal

import numpy as np
from scipy.special import ndtri

from scoring.stats.results import CONFIDENCE, Figure, Interval
from scoring.stats.statistic import Counts, Floats

FEW_CLUSTERS = 20
VERY_FEW_CLUSTERS = 5
MAX_SHARE_UNDEFINED = 0.05

SAME = 1e-12
"""Resamples closer than this differ by rounding only."""


@dataclass(frozen=True)
class Sampling:
    """What all intervals of a report have in common. `independent`: every item is its own cluster."""

    unit: str
    min_clusters: int
    seed: int | None
    independent: bool

    def __post_init__(self) -> None:
        if self.min_clusters < 2:
            raise ValueError(f"min_clusters is {self.min_clusters}; an interval needs at least 2 clusters.")


def with_interval(
    figure: Figure,
    values: Floats,
    repeats: Counts,
    *,
    sampling: Sampling,
    n_clusters: int,
    enumerated: bool,
    is_share: bool,
) -> Figure:
    """The figure with its interval. `values` are its resamples, nan where undefined, each counting `repeats` times."""
    figure = replace(figure, n_clusters=n_clusters)
    if figure.value is None:
        return replace(figure, interval_reason=figure.reason)
    if n_clusters < sampling.min_clusters:
        return replace(figure, interval_reason="too_few_clusters")
    defined = ~np.isnan(values)
    n_resamples = int(repeats.sum())
    share_undefined = 1 - int(repeats[defined].sum()) / n_resamples
    figure = replace(figure, share_undefined=share_undefined)
    if share_undefined > MAX_SHARE_UNDEFINED:
        return replace(figure, interval_reason="degenerate_resamples")
    spread = values[defined]
    if float(np.ptp(spread)) <= SAME:
        return _without_width(figure, sampling=sampling, is_share=is_share)
    low, high = np.quantile(np.repeat(spread, repeats[defined]), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    method: Literal["drawn", "enumerated"] = "enumerated" if enumerated else "drawn"
    interval = Interval(
        low=float(low),
        high=float(high),
        level=CONFIDENCE,
        unit=sampling.unit,
        n_clusters=n_clusters,
        n_resamples=n_resamples,
        seed=None if enumerated else sampling.seed,
        share_undefined=share_undefined,
        method=method,
    )
    return replace(figure, interval=interval, flags=figure.flags + _flags(n_clusters))


def wilson_interval(n_yes: int, n: int) -> tuple[float, float]:
    """The score interval of a share of n independent items: 0 of 50 gives 0 to 0.0713.

    Source: Wilson 1927, Journal of the American Statistical Association 22(158), 209-212.
    """
    z2 = float(ndtri((1 + CONFIDENCE) / 2)) ** 2
    share = n_yes / n
    middle = share + z2 / (2 * n)
    half = sqrt(z2 * share * (1 - share) / n + (z2 / (2 * n)) ** 2)
    low, high = (middle - half) / (1 + z2 / n), (middle + half) / (1 + z2 / n)
    return (0.0 if n_yes == 0 else low), (1.0 if n_yes == n else high)


def _without_width(figure: Figure, *, sampling: Sampling, is_share: bool) -> Figure:
    """All resamples are equal. Independent items that all came out 0, or all 1, still bound the share."""
    if not (is_share and sampling.independent and figure.value in (0.0, 1.0)):
        return replace(figure, interval_reason="all_resamples_equal")
    low, high = wilson_interval(round(figure.value * figure.n_items), figure.n_items)
    interval = Interval(
        low=low,
        high=high,
        level=CONFIDENCE,
        unit=sampling.unit,
        n_clusters=figure.n_items,
        n_resamples=0,
        seed=None,
        share_undefined=0.0,
        method="wilson",
    )
    return replace(figure, interval=interval, flags=figure.flags + _flags(figure.n_items))


def _flags(n_clusters: int) -> tuple[str, ...]:
    if n_clusters < VERY_FEW_CLUSTERS:
        return ("very_few_clusters",)
    return ("few_clusters",) if n_clusters < FEW_CLUSTERS else ()
