"""Statistics of anything: shares, means and ratios over items, whatever the items are, with the intervals of all.

A statistic is a row of numbers for every item and a formula on their sums, as in `statistic.py`, but the rows are made
by whoever asks, from spans, sets, outcomes or costs. The resamples are those of `resampling.py`: one draw of clusters
for all statistics of a report, so that a difference of two is paired by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from scoring.stats.answers import Drawing
from scoring.stats.intervals import Sampling
from scoring.stats.ratings import Codes
from scoring.stats.resampling import group_items, resample
from scoring.stats.results import Figure
from scoring.stats.statistic import Account, Counts, Estimate, Floats, Mask, Statistic, number, ratio

Formula = Callable[[Floats], Floats]
"""(n_rows, n_features) sums -> (n_rows,) values, nan where undefined."""


@dataclass(frozen=True, eq=False)
class Summed:
    """One statistic of the items of a report.

    `features` (n_items, n_features): an item's row does not depend on other items; the first entry is 1 where the item
    counts, else 0, and where it is 0 the whole row is. `reason` is said where `formula` has no value on the sums of all
    items. `left_out` counts items by why they do not count. `is_share`: a share of items, so that 0 and 1 on
    independent items have a Wilson interval. `n_ratings` is the base of the statistic where that is no number of items.
    """

    features: Floats
    formula: Formula
    reason: str = "empty"
    left_out: Mapping[str, int] = field(default_factory=dict)
    is_share: bool = False
    flags: tuple[str, ...] = ()
    n_ratings: int | None = None
    n_raters: int = 1

    def __post_init__(self) -> None:
        if self.features.ndim != 2 or not np.isfinite(self.features).all():
            raise ValueError(f"features are finite numbers (n_items, n_features); this has {self.features.shape}.")

    @property
    def counted(self) -> Mask:
        mask: Mask = self.features[:, 0] > 0
        return mask

    def figure(self) -> Figure:
        """The value of all items, without an interval."""
        value = number(self.formula(self.features.sum(axis=0)[None])[0])
        n = int(self.counted.sum())
        return Figure(
            value=value,
            reason=None if value is not None else self.reason,
            n_items=n,
            n_ratings=n if self.n_ratings is None else self.n_ratings,
            n_raters=self.n_raters,
            left_out={why: count for why, count in self.left_out.items() if count},
            flags=self.flags,
        )


def with_intervals(
    statistics: Sequence[Summed], clusters: Sequence[Hashable] | None, drawing: Drawing
) -> list[Figure]:
    """The figure of each statistic with its interval, all from one draw of the clusters of items that count anywhere.

    Parameters
    ----------
    statistics : of the same items in the same order.
    clusters : the cluster of every item; None where each item is its own.

    Raises
    ------
    ValueError if the statistics or the clusters are of other numbers of items.
    """
    if not statistics:
        return []
    if len({len(one.features) for one in statistics}) > 1:
        raise ValueError("The statistics are about different numbers of items; give each a row for every item.")
    codes, first = _patterns(statistics)
    groups = group_items(codes, clusters)
    sampling = Sampling(
        unit=drawing.unit, min_clusters=drawing.min_clusters, seed=drawing.seed, independent=groups.independent
    )
    asked = [_OfPatterns(one.features[first], one) for one in statistics]
    rng = np.random.Generator(np.random.PCG64(drawing.seed))
    resamples = resample(asked, codes, groups, rng=rng, n_resamples=drawing.n_resamples)
    return [
        resamples.with_interval(one.figure(), place, sampling, is_share=one.is_share)
        for place, one in enumerate(statistics)
    ]


def share(
    yes: npt.ArrayLike, counted: npt.ArrayLike | None = None, *, left_out: Mapping[str, int] | None = None
) -> Summed:
    """How many of the items that count are a yes. `yes`, `counted`: (n_items,) of truth values."""
    said = np.asarray(yes, dtype=bool)
    base = np.ones(len(said), dtype=bool) if counted is None else np.asarray(counted, dtype=bool)
    features = np.column_stack([base, said & base]).astype(float)
    return Summed(features, _second_to_first, left_out=left_out or {}, is_share=True)


def mean(
    values: npt.ArrayLike, counted: npt.ArrayLike | None = None, *, left_out: Mapping[str, int] | None = None
) -> Summed:
    """The mean of the items that count. `values`: (n_items,) numbers, those of items that do not count are not read."""
    numbers = np.asarray(values, dtype=float)
    base = np.ones(len(numbers), dtype=bool) if counted is None else np.asarray(counted, dtype=bool)
    features = np.column_stack([base.astype(float), np.where(base, numbers, 0.0)])
    return Summed(features, _second_to_first, left_out=left_out or {})


def ratio_of_sums(
    above: npt.ArrayLike,
    below: npt.ArrayLike,
    counted: npt.ArrayLike | None = None,
    *,
    reason: str = "empty",
    left_out: Mapping[str, int] | None = None,
) -> Summed:
    """The sum of one number over the items that count, to the sum of another; undefined where that is 0."""
    numerators, denominators = np.asarray(above, dtype=float), np.asarray(below, dtype=float)
    base = np.ones(len(numerators), dtype=bool) if counted is None else np.asarray(counted, dtype=bool)
    features = np.column_stack([base, np.where(base, numerators, 0), np.where(base, denominators, 0)]).astype(float)
    return Summed(features, lambda sums: ratio(sums[:, 1], sums[:, 2]), reason=reason, left_out=left_out or {})


def difference(first: Summed, second: Summed, *, paired: bool = True) -> Summed:
    """The second minus the first, both on the same draws; where `paired`, on the items that count in both."""
    one, other = first.features, second.features
    both = first.counted & second.counted
    if paired:
        one, other = one * both[:, None], other * both[:, None]
    width = one.shape[1]
    counted = both if paired else first.counted | second.counted
    return Summed(
        np.column_stack([counted.astype(float), one, other]),
        lambda sums: second.formula(sums[:, 1 + width :]) - first.formula(sums[:, 1 : 1 + width]),
        reason=first.figure().reason or second.figure().reason or "no_overlap",
        left_out={"not_in_both": int((first.counted ^ second.counted).sum())} if paired else {},
    )


def combined(
    parts: Sequence[Summed], formula: Callable[[Sequence[Floats]], Floats], *, reason: str = "empty"
) -> Summed:
    """A statistic that is a formula of others, on the same draws: `formula` gets the values of the parts, in order."""
    edges = np.cumsum([1, *(part.features.shape[1] for part in parts)])
    counted = np.any([part.counted for part in parts], axis=0)
    features = np.column_stack([counted.astype(float), *(part.features for part in parts)])

    def of_sums(sums: Floats) -> Floats:
        found = [part.formula(sums[:, begin:end]) for part, begin, end in zip(parts, edges, edges[1:], strict=False)]
        return formula(found)

    return Summed(features, of_sums, reason=next((r for part in parts if (r := part.figure().reason)), reason))


def flagged(figure: Figure, *flags: str) -> Figure:
    return replace(figure, flags=(*figure.flags, *(flag for flag in flags if flag not in figure.flags)))


@dataclass(frozen=True, eq=False)
class _OfPatterns(Statistic):
    """Reads the number of an item's row as if it were what one rater said."""

    table: Floats
    summed: Summed

    def features(self, codes: Codes) -> Floats:
        return self.table[codes[:, 0]]

    def formula(self, sums: Floats) -> Estimate:
        value = self.summed.formula(sums)
        return Estimate(value=value, observed=value, expected=np.full_like(value, np.nan))

    def account(self, codes: Codes, times: Counts) -> Account:
        raise NotImplementedError("The figure is made by the Summed itself.")


def _patterns(statistics: Sequence[Summed]) -> tuple[Codes, Counts]:
    """(n_items, 1) the number of each item's rows, -1 where it counts in none; and where each number stands first."""
    together = np.ascontiguousarray(np.hstack([one.features for one in statistics]) + 0.0)  # a zero has one sign
    present = np.any([one.counted for one in statistics], axis=0)
    if not len(together):
        return np.zeros((0, 1), dtype=np.int64), np.zeros(0, dtype=np.int64)
    keys = together.view(np.dtype((np.void, together.dtype.itemsize * together.shape[1]))).ravel()
    _, first, number_of = np.unique(keys, return_index=True, return_inverse=True)
    return np.where(present, number_of, -1)[:, None].astype(np.int64), first


def _second_to_first(sums: Floats) -> Floats:
    return ratio(sums[:, 1], sums[:, 0])
