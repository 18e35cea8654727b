"""The bootstrap over clusters, by sums per cluster.

A statistic here is a formula on sums over items, so a resample needs no items: add the items' features up within
clusters, draw how often each cluster comes, multiply, apply the formula. That equals drawing clusters and copying
their items, and every statistic of a report shares one draw.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise
from math import factorial, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from scoring.stats.intervals import Sampling, with_interval
from scoring.stats.ratings import Codes
from scoring.stats.results import Figure
from scoring.stats.statistic import Counts, Floats, Statistic

ENUMERATED = 6
"""Up to this many clusters all m^m resamples are counted instead of drawing some."""

BLOCK_CELLS = 2**20
"""Resamples are worked in blocks of this many numbers of 8 bytes: 8 MB of counts, about as much of sums."""

DRAW_CELLS = 2**15
"""Within a block, as many indices are drawn and counted at once as stay in a processor's cache (measured)."""

ONE_THREAD, FEW_RESAMPLES = 2**18, 64
"""Products of so many multiplications are done by one thread; small ones are cut down to that, as waiting for a second
thread costs more than it saves, but not to fewer resamples than these."""

EXACT_IN_FLOAT32 = 2**24
"""Whole numbers up to this are exact in 4 bytes, and twice as fast to multiply."""

WORTH_MERGING = 0.75
"""Rows of equal sums are counted together where the rows that differ are fewer than this share."""

COUNTED_KEYS = 2**20

COST_OF_BINOMIAL = 13
"""A multinomial takes about this many times longer for each kind than a plain draw for each cluster (measured)."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """The clusters that hold a rating, as rows of sums.

    Row i is a run of items, beginning at `starts[i]` of `order`, and stands for `times[i]` clusters that are alike:
    where every item is its own cluster, items with the same ratings share a row.
    """

    order: Counts
    starts: Counts
    times: Counts
    independent: bool

    @property
    def n_clusters(self) -> int:
        return int(self.times.sum())

    @property
    def row_of(self) -> Counts:
        """The row of each item in `order`."""
        lengths = np.diff(np.append(self.starts, len(self.order)))
        return np.repeat(np.arange(len(self.starts)), lengths)

    def sums(self, features: Floats) -> Floats:
        """(n_rows, n_features) from the features of the items in `order`."""
        if not len(self.starts):
            return np.zeros((0, features.shape[1]))
        total: Floats = np.add.reduceat(features, self.starts, axis=0)
        return total


@dataclass(frozen=True, eq=False)
class Resamples:
    """`values[i]` holds statistic i on every resample, nan where undefined; resample j counts `repeats[j]` times.

    `n_clusters[i]` counts the clusters with an item that statistic i can compare.
    """

    values: Floats
    repeats: Counts
    n_clusters: tuple[int, ...]
    enumerated: bool

    def with_interval(self, figure: Figure, place: int, sampling: Sampling, *, is_share: bool) -> Figure:
        """The figure of statistic number `place`, with its interval or the reason why it has none."""
        return with_interval(
            figure,
            self.values[place],
            self.repeats,
            sampling=sampling,
            n_clusters=self.n_clusters[place],
            enumerated=self.enumerated,
            is_share=is_share,
        )

    def mean_of(self, places: Sequence[int]) -> Resamples:
        """One statistic more: the mean of some of these, undefined where any of them is."""
        n_clusters = min((self.n_clusters[place] for place in places), default=0)
        mean = sum(self.values[place] for place in places) / max(len(places), 1)
        values = np.broadcast_to(mean, (1, len(self.repeats)))
        return Resamples(values=values, repeats=self.repeats, n_clusters=(n_clusters,), enumerated=self.enumerated)


def bootstrap(
    statistics: Sequence[Statistic],
    codes: Codes,
    clusters: Sequence[Hashable] | None,
    *,
    unit: str,
    rng: np.random.Generator,
    n_resamples: int = 10_000,
    min_clusters: int = 5,
    seed: int | None = None,
) -> list[Figure]:
    """Figures with 95 % percentile intervals, all from one draw of clusters.

    Parameters
    ----------
    codes : int array (n_items, n_raters)
    clusters : the cluster of every item; None where each item is its own. Their names and order play no part but for
        fixing which cluster a random number stands for.
    unit : what a cluster is, in the words of the report.
    min_clusters : no interval with fewer; at least 2.
    seed : kept with the intervals, if rng was made from one.

    Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapters 8 and 13.
    Checked against: fixtures/reference/agreement-cases.json O29; explicit copying of the drawn clusters.
    """
    codes = np.asfortranarray(codes)  # statistics read the column of a rater at a time
    groups = group_items(codes, clusters)
    sampling = Sampling(unit=unit, min_clusters=min_clusters, seed=seed, independent=groups.independent)
    resamples = resample(statistics, codes, groups, rng=rng, n_resamples=n_resamples)
    return [
        resamples.with_interval(statistic.figure(codes), place, sampling, is_share=statistic.is_share)
        for place, statistic in enumerate(statistics)
    ]


def group_items(codes: Codes, clusters: Sequence[Hashable] | None) -> Clusters:
    """The clusters in an order that does not hang on the order of the items; those without any rating are no part."""
    rated = np.flatnonzero((codes >= 0).any(axis=1))
    if clusters is None:
        return _alike(codes, rated)
    if len(clusters) != len(codes):
        raise ValueError(f"{len(clusters)} clusters for {len(codes)} items; give the cluster of every item.")
    of_rated = [clusters[item] for item in rated.tolist()]
    names = sorted(set(of_rated), key=lambda name: (type(name).__name__, str(name)))
    if len(names) == len(rated):
        return _alike(codes, rated)
    place = {name: number for number, name in enumerate(names)}
    of_item = np.array([place[name] for name in of_rated], dtype=np.int64)
    order = rated[np.argsort(of_item, kind="stable")]
    starts = np.searchsorted(np.sort(of_item), np.arange(len(names)))
    return Clusters(order=order, starts=starts, times=np.ones(len(names), dtype=np.int64), independent=False)


@dataclass(frozen=True, eq=False)
class Asked:
    """Statistics of one matrix of codes (n_items, n_raters)."""

    statistics: Sequence[Statistic]
    codes: Codes


def resample(
    statistics: Sequence[Statistic], codes: Codes, groups: Clusters, *, rng: np.random.Generator, n_resamples: int
) -> Resamples:
    """Every statistic on every resample."""
    (found,) = resample_all([Asked(statistics, codes)], groups, rng=rng, n_resamples=n_resamples)
    return found


def resample_all(
    asked: Sequence[Asked], groups: Clusters, *, rng: np.random.Generator, n_resamples: int
) -> list[Resamples]:
    """Statistics of several matrices about the same items, on one draw of their clusters; each has the values that it
    would have alone. Holds the sums of every cluster beside a block, and the values."""
    sums = [ClusterSums.of(one, groups) for one in asked]
    enumerated = groups.n_clusters <= ENUMERATED
    if enumerated:
        together = np.hstack([one.sums for one in sums])
        counts, repeats = all_resamples(groups.times)
        blocks, n_blocks = iter([counts]), 1
    else:
        together, times, alike = _merged(np.hstack([one.sums for one in sums]), groups)
        repeats = np.ones(n_resamples, dtype=np.int64)
        n_features = together.shape[1]
        blocks = draws(times, rng=rng, n_resamples=n_resamples, n_features=n_features, alike=alike)
        n_blocks = -(-n_resamples // _block(len(times), n_features))
    values = [np.full((len(one.statistics), len(repeats)), np.nan) for one in asked]
    done = 0
    for totals in _totals(_ahead(blocks) if n_blocks > 1 else blocks, together, groups.n_clusters):
        first = 0
        for one, mine in zip(sums, values, strict=True):
            part = totals[:, first : first + one.sums.shape[1]]
            first += one.sums.shape[1]
            for place, value in enumerate(one.values_of(part)):
                mine[place, done : done + len(totals)] = value
        done += len(totals)
    return [
        Resamples(values=mine, repeats=repeats, n_clusters=one.n_comparable(groups.times), enumerated=enumerated)
        for one, mine in zip(sums, values, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class ClusterSums:
    """The features of statistics added up within clusters; those that are equal in every cluster stand there once.
    Those of statistic i are the columns `places[i]`."""

    statistics: Sequence[Statistic]
    sums: Floats
    places: tuple[Counts, ...]

    @classmethod
    def of(cls, asked: Asked, groups: Clusters) -> ClusterSums:
        """Features depend on what raters said of an item alone, so items that were rated alike are worked once."""
        grouped = np.asfortranarray(asked.codes[groups.order])  # a column, which is a rater, is read at a time
        row_of = groups.row_of
        first, of_item, _ = _numbered(_row_keys(grouped))
        sums = []
        for statistic in asked.statistics:
            added = statistic.sums_by_row(grouped, row_of, len(groups.starts))
            if added is None:
                added = groups.sums(statistic.features(grouped[first]).astype(float)[of_item])
            sums.append(added)
        edges = np.cumsum([0, *(one.shape[1] for one in sums)])
        every = np.hstack(sums) if sums else np.zeros((len(groups.starts), 0))
        columns, place_of = _different(every.T)
        places = tuple(place_of[start:end] for start, end in pairwise(edges.tolist()))
        return cls(asked.statistics, np.ascontiguousarray(columns.T), places)

    def values_of(self, totals: Floats) -> Iterator[Floats]:
        """What each statistic makes of these rows of sums."""
        for statistic, places in zip(self.statistics, self.places, strict=True):
            yield statistic.values_alone(totals.T[places].T)

    def n_comparable(self, times: Counts) -> tuple[int, ...]:
        """By statistic, the clusters with an item that it can compare."""
        return tuple(int(times[self.sums[:, places[0]] > 0].sum()) for places in self.places)


def _merged(together: Floats, groups: Clusters) -> tuple[Floats, Counts, Counts | None]:
    """The rows of sums to multiply with, and how `draws` is to count them. Where each item is its own cluster, rows of
    equal sums become one. Else the draw stays that of the clusters, whatever is asked; they are counted together."""
    rows, row_of = _different(together)
    if len(rows) > (1 if groups.independent else WORTH_MERGING) * (len(together) - 1):
        return together, groups.times, None
    if groups.independent:
        return rows, np.bincount(row_of, weights=groups.times).astype(np.int64), None
    return rows, groups.times, row_of


def _different(rows: Floats) -> tuple[Floats, Counts]:
    """The rows that differ, and the place of each row among them."""
    if 0 in rows.shape:
        return rows, np.arange(len(rows))
    whole = np.ascontiguousarray(rows + 0.0)  # a zero has one sign
    keys = whole.view(np.dtype((np.void, whole.dtype.itemsize * whole.shape[1]))).ravel()
    _, first, place_of = np.unique(keys, return_index=True, return_inverse=True)
    return whole[first], place_of


def _totals(blocks: Iterable[Floats], together: Floats, n_clusters: int) -> Iterator[Floats]:
    """Sums of many resamples at a time, as a formula takes hardly longer for them than for a few. A feature, which is a
    column, lies together in memory."""
    waiting: list[Floats] = []
    n_cells = 0
    is_small = np.abs(together).max(initial=0) * n_clusters < EXACT_IN_FLOAT32 and (together == np.rint(together)).all()
    kind = np.float32 if is_small else np.float64
    columns: npt.NDArray[Any] = np.ascontiguousarray(together.T, dtype=kind)
    step = ONE_THREAD // max(columns.size, 1)
    for counts in blocks:
        few = len(counts) if step < FEW_RESAMPLES else step
        for start in range(0, len(counts), few):
            some: Floats = columns @ counts[start : start + few].T.astype(kind, copy=False)
            waiting.append(some.astype(float, copy=False))
            n_cells += waiting[-1].size
        if n_cells >= BLOCK_CELLS // 2:
            yield np.concatenate(waiting, axis=1).T
            waiting, n_cells = [], 0
    if waiting:
        yield np.concatenate(waiting, axis=1).T


def _ahead(blocks: Iterable[Floats]) -> Iterator[Floats]:
    """The next block is drawn while this one is worked: each takes about half of the time. For a single block a thread
    would only cost."""
    coming = iter(blocks)
    with ThreadPoolExecutor(1) as drawing:
        following = drawing.submit(next, coming, None)
        while (block := following.result()) is not None:
            following = drawing.submit(next, coming, None)
            yield block


def draws(
    times: Counts, *, rng: np.random.Generator, n_resamples: int, n_features: int = 0, alike: Counts | None = None
) -> Iterator[Floats]:
    """Blocks (n, n_rows) of how often each row comes when as many clusters are drawn as there are. Where `alike` says
    for each row which others count with it, they are counted together, and the draws stay what they were."""
    n_rows, n_clusters = len(times), int(times.sum())
    block = _block(n_rows, n_features)
    for start in range(0, n_resamples, block):
        size = min(block, n_resamples - start)
        if alike is None and n_rows * COST_OF_BINOMIAL < n_clusters:
            yield rng.multinomial(n_clusters, times / n_clusters, size=size).astype(float)
        else:
            yield _counted(times, rng=rng, size=size, alike=alike)


def _block(n_rows: int, n_features: int) -> int:
    """How many resamples are worked at once."""
    return max(1, BLOCK_CELLS // max(n_rows, n_features))


def all_resamples(times: Counts) -> tuple[Floats, Counts]:
    """Every way m clusters can come out of m draws, and in how many orders: together m^m."""
    n_rows, m = len(times), int(times.sum())
    ways = [Counter(way) for way in combinations_with_replacement(range(n_rows), m)]
    counts = np.array([[way[row] for row in range(n_rows)] for way in ways], dtype=float).reshape(len(ways), n_rows)
    orders = [factorial(m) // prod(factorial(n) for n in way.values()) for way in ways]
    of_kind = [prod(int(times[row]) ** n for row, n in way.items()) for way in ways]
    return counts, np.array([a * b for a, b in zip(orders, of_kind, strict=True)], dtype=np.int64)


def _counted(times: Counts, *, rng: np.random.Generator, size: int, alike: Counts | None) -> Floats:
    """Draw clusters one by one and count them: for many rows faster than a multinomial, and the same distribution.

    Plain 64-bit indices: narrow ones are drawn no faster and have to be widened for counting.
    """
    n_rows, n_clusters = len(times), int(times.sum())
    row_of = None if n_rows == n_clusters else np.repeat(np.arange(n_rows), times)
    if alike is not None:
        row_of, n_rows = (alike if row_of is None else alike[row_of]), int(alike.max(initial=-1)) + 1
    counts = np.empty((size, n_rows))
    step = max(1, DRAW_CELLS // n_clusters)
    for start in range(0, size, step):
        n = min(step, size - start)
        drawn = rng.integers(0, n_clusters, size=(n, n_clusters))
        if row_of is not None:
            drawn = np.take(row_of, drawn)
        drawn += np.arange(0, n * n_rows, n_rows)[:, None]
        counts[start : start + n] = np.bincount(drawn.ravel(), minlength=n * n_rows).reshape(n, n_rows)
    return counts


def _alike(codes: Codes, rated: Counts) -> Clusters:
    """Every item its own cluster: items with the same ratings add the same to any sum, so one row serves them all."""
    first, _, times = _numbered(_row_keys(codes[rated]))
    order = rated[first]
    return Clusters(order=order, starts=np.arange(len(order)), times=times, independent=True)


def rated_alike(codes: Codes) -> tuple[Codes, Counts]:
    """The different rows, and how many items have each: no figure depends on more."""
    first, _, times = _numbered(_row_keys(codes))
    return codes[first], times


def _numbered(keys: Counts) -> tuple[Counts, Counts, Counts]:
    """Of the different keys in their order: where each stands first, the number of every key, and how often each
    comes. A few raters have so few keys that counting them is faster than sorting."""
    if keys.max(initial=0) >= COUNTED_KEYS:
        _, first, number, times = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        return first, number, times.astype(np.int64)
    counts = np.bincount(keys)
    place = np.zeros(len(counts), dtype=np.int64)
    place[keys[::-1]] = np.arange(len(keys))[::-1]
    known = np.flatnonzero(counts)
    number = np.cumsum(counts > 0) - 1
    return place[known], number[keys], counts[known]


def _row_keys(codes: Codes) -> Counts:
    """A number for each different row; where it would overflow, rows are numbered column by column."""
    base = int(codes.max(initial=0)) + 2
    keys = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        if keys.max(initial=0) > 2**62 // base - 1:
            keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
        keys = keys * base + (column + 1)
    return keys
