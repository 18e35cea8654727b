"""Whether two measures of the same items go together, within groups where items of a group share a level.

Pearson's r is a formula of sums like the rest of this package. Spearman's rank of an item hangs on all the others, so
its resamples are worked as what they are: how often every item comes, on the very draws that the sums would have had.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.stats.answers import Drawing
from scoring.stats.intervals import Sampling, with_interval
from scoring.stats.resampling import ENUMERATED, all_resamples, draws, group_items
from scoring.stats.results import Figure
from scoring.stats.statistic import Counts, Floats, Mask, ratio
from scoring.stats.sums import Summed, with_intervals

SAME = 1e-12
"""A spread below this part of the sum of squares is none."""

ROUNDING = 2.0**-48
"""Values closer than this part of the largest are equal once a mean was taken off: that leaves such a rest."""

BLOCK_CELLS = 2**20


def pearson(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    groups: Sequence[Hashable] | None = None,
    clusters: Sequence[Hashable] | None = None,
    drawing: Drawing | None = None,
) -> Figure:
    """How far two measures lie on one line, from -1 to 1, after the mean of every group is taken off.

    Parameters
    ----------
    x, y : (n_items,) numbers, nan where an item has none; such items are left out.
    groups : the group of every item; its means are taken off, and items alone in their group are left out. None to
        take off the mean of all.
    clusters, drawing : how the interval is drawn; without a drawing there is none. Groups are drawn whole, so they
        are the clusters unless larger ones are given.

    Returns
    -------
    Figure; reason `empty` (no item has either), `no_overlap` (no item has both), `too_few_items` (fewer than two, or
    each alone in its group), `no_variance` (all x, or all y, are equal within their groups).

    Raises
    ------
    ValueError for infinite numbers, other lengths, or a group that lies in several clusters; names the group.

    Source: Pearson 1895, Proceedings of the Royal Society of London 58, 240-242.
    Checked against: scipy.stats.pearsonr; explicit copying of the drawn clusters.
    """
    pairs = _Pairs.of(x, y, groups)
    statistic = pairs.pearson()
    if drawing is None:
        return statistic.figure()
    return with_intervals([statistic], _clusters(groups, clusters, pairs.used), drawing)[0]


def spearman(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    groups: Sequence[Hashable] | None = None,
    clusters: Sequence[Hashable] | None = None,
    drawing: Drawing | None = None,
) -> Figure:
    """Pearson's r of the ranks of two measures; equal values share the middle of their ranks.

    Parameters, reasons and errors as with `pearson`; ranks are taken over all items after centring in groups.

    Source: Spearman 1904, American Journal of Psychology 15(1), 72-101.
    Checked against: scipy.stats.spearmanr; explicit copying of the drawn clusters.
    """
    pairs = _Pairs.of(x, y, groups)
    figure = pairs.figure_of_ranks()
    if drawing is None:
        return figure
    clusters = _clusters(groups, clusters, pairs.used)
    codes = np.where(pairs.used, np.arange(len(pairs.used)), -1)[:, None]
    grouped = group_items(codes, clusters)
    sampling = Sampling(
        unit=drawing.unit, min_clusters=drawing.min_clusters, seed=drawing.seed, independent=grouped.independent
    )
    x_used, y_used = pairs.x[grouped.order], pairs.y[grouped.order]
    row_of = np.repeat(np.arange(len(grouped.starts)), np.diff([*grouped.starts.tolist(), len(grouped.order)]))
    is_enumerated = grouped.n_clusters <= ENUMERATED
    if is_enumerated:
        counts, repeats = all_resamples(grouped.times)
        blocks = iter([counts])
    else:
        repeats = np.ones(drawing.n_resamples, dtype=np.int64)
        rng = np.random.Generator(np.random.PCG64(drawing.seed))
        blocks = draws(grouped.times, rng=rng, n_resamples=drawing.n_resamples, n_features=max(len(row_of), 1))
    values = [rank_correlation(x_used, y_used, block[:, row_of], gaps=pairs.gaps) for block in blocks]
    return with_interval(
        figure,
        np.concatenate(values) if values else np.zeros(0),
        repeats,
        sampling=sampling,
        n_clusters=grouped.n_clusters,
        enumerated=is_enumerated,
        is_share=False,
    )


def pearson_statistic(x: npt.ArrayLike, y: npt.ArrayLike, *, groups: Sequence[Hashable] | None = None) -> Summed:
    """Pearson's r for a report that draws once for all; the clusters of the draw must hold whole groups."""
    return _Pairs.of(x, y, groups).pearson()


def rank_correlation(x: Floats, y: Floats, times: Floats, *, gaps: tuple[float, float] = (0.0, 0.0)) -> Floats:
    """(n_rows,) Spearman's r of items that come `times` (n_rows, n_items) each; nan where x or y does not vary. Values
    of x, and of y, no farther apart than these gaps are ties."""
    found = np.full(len(times), np.nan)
    block = max(1, BLOCK_CELLS // max(len(x), 1))
    x_levels, y_levels = _Levels.of(x, gaps[0]), _Levels.of(y, gaps[1])
    for start in range(0, len(times), block):
        weights = times[start : start + block]
        one, x_spread = x_levels.ranks(weights)
        other, y_spread = y_levels.ranks(weights)
        together = np.einsum("ri,ri,ri->r", weights, one, other)
        found[start : start + block] = _bounded(together, x_spread, y_spread)
    return found


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Both measures of all items, centred, which items are used, and how far apart values still count as ties."""

    x: Floats
    y: Floats
    used: Mask
    reason: str
    left_out: dict[str, int]
    is_grouped: bool
    gaps: tuple[float, float]

    @classmethod
    def of(cls, x: npt.ArrayLike, y: npt.ArrayLike, groups: Sequence[Hashable] | None) -> _Pairs:
        one, other = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        if one.ndim != 1 or one.shape != other.shape or np.isinf(one).any() or np.isinf(other).any():
            raise ValueError("x and y are finite numbers, one each for every item; nan where an item has none.")
        if groups is not None and len(groups) != len(one):
            raise ValueError(f"{len(groups)} groups for {len(one)} items; give the group of every item.")
        has_one, has_other = ~np.isnan(one), ~np.isnan(other)
        both = has_one & has_other
        left_out = {
            "not_in_both": int((has_one ^ has_other).sum()),
            "not_observed": int((~has_one & ~has_other).sum()),
        }
        of_group = _numbered([None] * len(one) if groups is None else groups)
        used = both
        if groups is not None:
            sizes = np.bincount(of_group[both], minlength=int(of_group.max(initial=-1)) + 1)
            used = both & (sizes[of_group] > 1)
            left_out["alone_in_group"] = int((both & ~used).sum())
        reason = "no_variance" if used.sum() > 1 else "too_few_items"
        if not both.any():
            reason = "no_overlap" if (has_one | has_other).any() else "empty"
        return cls(
            x=_centred(one, of_group, used),
            y=_centred(other, of_group, used),
            used=used,
            reason=reason,
            left_out=left_out,
            is_grouped=groups is not None,
            gaps=(0.0, 0.0) if groups is None else (ROUNDING * _largest(one, used), ROUNDING * _largest(other, used)),
        )

    def pearson(self) -> Summed:
        x, y = self.x, self.y
        rows = np.column_stack([self.used, x, y, x * x, y * y, x * y]).astype(float)
        return Summed(
            np.where(self.used[:, None], rows, 0.0),
            _r_within if self.is_grouped else _r_overall,
            reason=self.reason,
            left_out=self.left_out,
            n_ratings=2 * int(self.used.sum()),
            n_raters=2,
        )

    def figure_of_ranks(self) -> Figure:
        n = int(self.used.sum())
        value = float(rank_correlation(self.x[self.used], self.y[self.used], np.ones((1, n)), gaps=self.gaps)[0])
        return Figure(
            value=None if np.isnan(value) else value,
            reason=self.reason if np.isnan(value) else None,
            n_items=n,
            n_ratings=2 * n,
            n_raters=2,
            left_out={why: count for why, count in self.left_out.items() if count},
        )


def _centred(values: Floats, of_group: Counts, used: Mask) -> Floats:
    """Each minus the mean of the used of its group; exactly 0 where nothing but rounding is left, and where unused."""
    kept = np.where(used, values, 0.0)
    scale = _largest(values, used)
    if scale == 0:
        return kept
    n = np.bincount(of_group[used], minlength=int(of_group.max(initial=-1)) + 1)
    for _ in range(2):  # the second time takes off what rounding left of a large mean
        total = np.bincount(of_group, weights=kept, minlength=len(n))
        kept = np.where(used, kept - (total / np.maximum(n, 1))[of_group], 0.0)
    return np.where(np.abs(kept) <= ROUNDING * scale, 0.0, kept)


def _largest(values: Floats, used: Mask) -> float:
    return float(np.abs(values[used]).max(initial=0.0))


def _r_within(sums: Floats) -> Floats:
    """Groups are drawn whole, so their means are still off in a resample."""
    _, _, _, xx, yy, xy = sums.T
    return _bounded(xy, xx, yy)


def _r_overall(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = sums.T
    some = np.where(n > 0, n, 1.0)
    x_spread, y_spread = xx - x * x / some, yy - y * y / some
    return _bounded(
        xy - x * y / some,
        np.where(x_spread > SAME * xx, x_spread, 0.0),  # all equal, but for rounding
        np.where(y_spread > SAME * yy, y_spread, 0.0),
    )


def _bounded(together: Floats, x_spread: Floats, y_spread: Floats) -> Floats:
    """r from sums of squares; square roots one by one, as the product of two small sums may be 0."""
    r: Floats = np.clip(ratio(together, np.sqrt(x_spread) * np.sqrt(y_spread)), -1.0, 1.0)
    return r


@dataclass(frozen=True, eq=False)
class _Levels:
    """Items in the order of their values: `order`, where each different value starts in it, and the place among these
    values of every item."""

    order: Counts
    starts: Counts
    level_of: Counts

    @classmethod
    def of(cls, values: Floats, gap: float) -> _Levels:
        order = np.argsort(values, kind="stable").astype(np.int64)
        is_new = np.concatenate([[True], np.diff(values[order]) > gap]) if len(values) else np.zeros(0, bool)
        level_of = np.empty(len(values), dtype=np.int64)
        level_of[order] = np.cumsum(is_new) - 1
        return cls(order, np.flatnonzero(is_new).astype(np.int64), level_of)

    def ranks(self, weights: Floats) -> tuple[Floats, Floats]:
        """Where items come so often (n_rows, n_items): the middle of the ranks of every item's value, minus the mean of
        all ranks; and the sum of squares of that, exactly 0 where only one value comes."""
        if not len(self.starts):
            return np.zeros_like(weights), np.zeros(len(weights))
        times = weights[:, self.order]
        if len(self.starts) < len(self.order):
            times = np.add.reduceat(times, self.starts, axis=1)
        middle = np.cumsum(times, axis=1) - (times - 1) / 2
        middle -= (times.sum(axis=1, keepdims=True) + 1) / 2
        spread = np.einsum("rl,rl,rl->r", times, middle, middle)
        varies = (times > 0).sum(axis=1) > 1
        return np.take(middle, self.level_of, axis=1), np.where(varies, spread, 0.0)


def _clusters(
    groups: Sequence[Hashable] | None, clusters: Sequence[Hashable] | None, used: Mask
) -> Sequence[Hashable] | None:
    """The clusters to draw: the groups, or larger ones that hold them whole."""
    if groups is None or clusters is None:
        return groups if clusters is None else clusters
    if len(clusters) != len(groups):
        raise ValueError(f"{len(clusters)} clusters for {len(groups)} items; give the cluster of every item.")
    cluster_of: dict[Hashable, Hashable] = {}
    for item in np.flatnonzero(used).tolist():
        if cluster_of.setdefault(groups[item], clusters[item]) != clusters[item]:
            raise ValueError(
                f"Group {groups[item]} lies in clusters {cluster_of[groups[item]]} and {clusters[item]}. Its mean is "
                f"taken off all its items, so they are drawn together: give clusters that hold whole groups."
            )
    return clusters


def _numbered(names: Sequence[Hashable]) -> Counts:
    place: dict[Hashable, int] = {}
    return np.array([place.setdefault(name, len(place)) for name in names], dtype=np.int64)
