"""How many items, clusters and raters give an interval as narrow as wanted: by simulated studies, from a pilot."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import ceil, exp, log

import numpy as np
import numpy.typing as npt

from scoring.stats.intervals import MAX_SHARE_UNDEFINED, SAME
from scoring.stats.ratings import MISSING, Codes
from scoring.stats.resampling import group_items
from scoring.stats.results import CONFIDENCE, Figure, Interval
from scoring.stats.statistic import Account, Counts, Estimate, Floats, Mask, Statistic, account_of, n_items, ratio

SIZES = (20, 40, 80, 160)
"""Clusters of a simulated study. Half-widths between and beyond follow a straight line of their logarithms."""

N_STUDIES = 24
N_REPLICATES = 100
"""So many other pilots that might have been, each simulated at the second and the last size."""

N_RESAMPLES = 300
N_RATER_DRAWS = 8
MIN_CLUSTERS = 5
MIN_ITEMS = 10
MAX_RATERS = 20


@dataclass(frozen=True)
class Simulated:
    """The mean half-width of studies of so many clusters, the spread between studies, and how many of them had an
    interval at all."""

    n_clusters: int
    half_width: float
    spread: float
    n_studies: int


@dataclass(frozen=True)
class Needed:
    """A study that gives the wanted half-width with so many raters an item. `clusters_low` to `clusters_high`: what
    other pilots of the same size would have said (95 of 100). `extrapolated`: more clusters than were simulated."""

    n_raters: int
    n_clusters: int
    n_items: int
    n_ratings: int
    clusters_low: int
    clusters_high: int
    extrapolated: bool
    simulated: tuple[Simulated, ...]


@dataclass(frozen=True)
class Plan:
    """`figure` is the number of items with the most raters of those asked about, or why there is no plan; `why` is what
    the pilot lacks."""

    figure: Figure
    wanted: float
    items_per_cluster: float
    pilot: Figure
    needed: tuple[Needed, ...] = ()
    why: str | None = None


@dataclass(frozen=True)
class RateOfCategory(Statistic):
    """The share of ratings that are of one category, an item at a time: with one rater a plain rate."""

    category: int

    def features(self, codes: Codes) -> Floats:
        n = (codes >= 0).sum(axis=1).astype(float)
        return np.column_stack([n > 0, np.nan_to_num(ratio((codes == self.category).sum(axis=1).astype(float), n))])

    def formula(self, sums: Floats) -> Estimate:
        share = ratio(sums[:, 1], sums[:, 0])
        return Estimate(value=share, observed=share, expected=np.full_like(share, np.nan))

    def account(self, codes: Codes, times: Counts) -> Account:
        rated: Mask = np.asarray((codes >= 0).any(axis=1), dtype=bool)
        reason = None if rated.any() else "empty"
        return account_of(codes, times, rated, reason=reason, left_out={"no_rating": n_items(~rated, times)})


def plan(
    statistic: Statistic,
    codes: Codes,
    clusters: Sequence[Hashable] | None,
    *,
    wanted: float,
    unit: str,
    seed: int,
    raters: Sequence[int] | None = None,
    items_per_cluster: int | None = None,
) -> Plan:
    """The clusters and items that make the 95 % interval reach `wanted` to either side, in the mean over studies.

    Studies are drawn from the pilot: clusters with replacement, and of the ratings of an item as many as the study has
    raters, at random. Each gets the interval that its report would have. The mean half-widths at several sizes are
    fitted and inverted. The pilot is taken for the population, so variances are raised by m / (m - 1) for its m
    clusters. Takes a second or two for each number of raters, however large the study that is planned; the same seed
    gives the same plan.

    Parameters
    ----------
    statistic : of a matrix of codes.
    codes : (n_items, n_raters) of the pilot.
    clusters : the cluster of every item; None where each is its own.
    wanted : half of the width of the interval, on the scale of the statistic.
    raters : the numbers of raters to plan for, none above what an item of the pilot has; None keeps the pilot's columns
        as they are, as a statistic of two named raters needs.
    items_per_cluster : of the study; None for those of the pilot. More than the pilot has do not narrow the interval
        here, as nothing is known of them; so that a plan with more is on the safe side.

    Returns
    -------
    Plan: reason `pilot_too_small` (fewer than 5 clusters or 10 items with a rating, or too many of its studies without
        an interval), or the reason why the statistic has no value on the pilot. Flag `extrapolated`.

    Raises
    ------
    ValueError if `wanted` is not positive, or a number of raters cannot be drawn from the pilot.

    Checked against: the half-width of a rate of independent items, 1.96 sqrt(p (1 - p) / n).
    """
    most = int((codes >= 0).sum(axis=1).max(initial=0))
    asked = [None] if raters is None else _checked_raters(raters, most)
    if not (wanted > 0 and np.isfinite(wanted)):
        raise ValueError(f"The wanted half-width is {wanted}; it is a number above 0.")
    if items_per_cluster is not None and items_per_cluster < 1:
        raise ValueError(f"items_per_cluster is {items_per_cluster}; a cluster has at least one item.")
    pilot = statistic.figure(codes)
    groups = _groups(codes, clusters)
    n_rated = sum(map(len, groups))
    each = float(items_per_cluster or (n_rated / len(groups) if groups else 0))
    why = _lacking(pilot, n_clusters=len(groups), n_rated=n_rated)
    if why is not None:
        return Plan(_refused(pilot, pilot.reason or "pilot_too_small"), wanted, each, pilot, why=why)
    rng = np.random.Generator(np.random.PCG64(seed))
    needed: list[Needed] = []
    for n_raters in asked:
        material = _Material.of(statistic, codes, groups, n_raters, items_per_cluster, rng)
        one = _needed(material, wanted=wanted, n_raters=n_raters or most, each=each, rng=rng)
        if one is None:
            return Plan(_refused(pilot, "pilot_too_small"), wanted, each, pilot, why="degenerate_resamples")
        needed.append(one)
    return Plan(_figure(needed, pilot, each, len(groups), unit, seed), wanted, each, pilot, tuple(needed))


@dataclass(frozen=True, eq=False)
class _Material:
    """What studies are drawn from: for each draw of raters the features of every item, and the items by cluster."""

    statistic: Statistic
    features: tuple[Floats, ...]
    sums: tuple[Floats, ...]
    groups: Sequence[Counts]
    items_per_cluster: int | None

    @classmethod
    def of(
        cls,
        statistic: Statistic,
        codes: Codes,
        groups: Sequence[Counts],
        n_raters: int | None,
        items_per_cluster: int | None,
        rng: np.random.Generator,
    ) -> _Material:
        draws = 1 if n_raters is None else N_RATER_DRAWS
        drawn = [codes if n_raters is None else _some_ratings(codes, n_raters, rng) for _ in range(draws)]
        features = tuple(statistic.features(one).astype(float) for one in drawn)
        sums = tuple(np.array([one[rows].sum(axis=0) for rows in groups]) for one in features)
        return cls(statistic, features, sums, groups, items_per_cluster)

    def half_width(self, n_clusters: int, rng: np.random.Generator, population: Counts) -> float:
        """Of one study of so many clusters, drawn from these of the pilot; nan where it has no interval."""
        draw = int(rng.integers(len(self.sums)))
        chosen = population[rng.integers(len(population), size=n_clusters)]
        rows = self.sums[draw][chosen] if self.items_per_cluster is None else self._sampled(draw, chosen, rng)
        places = rng.integers(n_clusters, size=(N_RESAMPLES, n_clusters))
        places += np.arange(0, N_RESAMPLES * n_clusters, n_clusters)[:, None]
        counts = np.bincount(places.ravel(), minlength=N_RESAMPLES * n_clusters).reshape(N_RESAMPLES, n_clusters)
        values = self.statistic.formula(counts.astype(float) @ rows).value
        defined = values[~np.isnan(values)]
        if len(defined) < (1 - MAX_SHARE_UNDEFINED) * N_RESAMPLES or np.ptp(defined) <= SAME:
            return float("nan")
        low, high = np.quantile(defined, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
        return float(high - low) / 2

    def _sampled(self, draw: int, chosen: Counts, rng: np.random.Generator) -> Floats:
        """Items without replacement: with it they would vary a second time, as a cluster of the pilot has only some of
        the items it could have. Where more are asked for than it has, each comes equally often, but for a rest."""
        rows = np.empty((len(chosen), self.sums[draw].shape[1]))
        for place, one in enumerate(chosen.tolist()):
            items = self.groups[one]
            whole, rest = divmod(self.items_per_cluster or len(items), len(items))
            rows[place] = whole * self.sums[draw][one]
            if rest:
                rows[place] += self.features[draw][rng.permutation(items)[:rest]].sum(axis=0)
        return rows


def _needed(
    material: _Material, *, wanted: float, n_raters: int, each: float, rng: np.random.Generator
) -> Needed | None:
    """None where too many studies have no interval to fit."""
    m = len(material.groups)
    whole = np.arange(m)
    raised = (m / (m - 1)) ** 0.5
    simulated = [_simulate(material, size, whole, raised, rng) for size in SIZES]
    fitted = [one for one in simulated if one.n_studies * 2 >= N_STUDIES]
    if len(fitted) < 2:
        return None
    sizes, widths = np.log([one.n_clusters for one in fitted]), np.log([one.half_width for one in fitted])
    slope = float(np.polyfit(sizes, widths, 1)[0])
    slope = slope if slope < -0.25 else -0.5  # by nature it is near -1/2; noise must not turn it
    level = float((widths - slope * sizes).mean())
    others = []
    for _ in range(N_REPLICATES):
        pilot = rng.integers(m, size=m)
        found = [(size, material.half_width(size, rng, pilot) * raised**2) for size in (SIZES[1], SIZES[-1])]
        levels = [log(width) - slope * log(size) for size, width in found if not np.isnan(width)]
        if levels:
            others.append(_inverted(sum(levels) / len(levels), slope, wanted))
    n_clusters = _inverted(level, slope, wanted)
    low, high = np.quantile([*others, n_clusters], [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    n_planned = ceil(n_clusters * each)
    return Needed(
        n_raters=n_raters,
        n_clusters=n_clusters,
        n_items=n_planned,
        n_ratings=n_planned * n_raters,
        clusters_low=min(int(low), n_clusters),
        clusters_high=max(ceil(high), n_clusters),
        extrapolated=n_clusters > SIZES[-1],
        simulated=tuple(simulated),
    )


def _simulate(
    material: _Material, size: int, population: Counts, raised: float, rng: np.random.Generator
) -> Simulated:
    widths = np.array([material.half_width(size, rng, population) for _ in range(N_STUDIES)]) * raised
    widths = widths[~np.isnan(widths)]
    if not len(widths):
        return Simulated(size, 0.0, 0.0, 0)
    return Simulated(size, float(widths.mean()), float(widths.std()), len(widths))


def _inverted(level: float, slope: float, wanted: float) -> int:
    """The least number of clusters, 5 at least, whose half-width is as wanted."""
    exponent = (log(wanted) - level) / slope
    return max(MIN_CLUSTERS, ceil(exp(min(exponent, 40.0)) - 1e-9))


def _some_ratings(codes: Codes, n_raters: int, rng: np.random.Generator) -> Codes:
    """(n_items, n_raters): so many ratings of each item at random, all where it has fewer."""
    keys = np.where(codes >= 0, rng.random(codes.shape), 2.0)
    order = np.argsort(keys, axis=1)[:, :n_raters]
    some: Codes = np.take_along_axis(codes, order, axis=1)
    return some


def _groups(codes: Codes, clusters: Sequence[Hashable] | None) -> list[npt.NDArray[np.int64]]:
    """The rated items of each cluster, in an order that does not hang on the order of the items."""
    rated = (codes != MISSING).any(axis=1)
    if clusters is None or len(set(clusters)) == len(clusters):
        rows = np.flatnonzero(rated)
        order = np.lexsort(codes[rows].T[::-1]) if codes.shape[1] else np.arange(len(rows))
        return [np.array([row]) for row in rows[order].tolist()]
    found = group_items(codes, clusters)
    return np.split(found.order, found.starts[1:].tolist()) if len(found.starts) else []


def _lacking(pilot: Figure, *, n_clusters: int, n_rated: int) -> str | None:
    if pilot.reason is not None:
        return pilot.reason
    if n_clusters < MIN_CLUSTERS:
        return "too_few_clusters"
    return "too_few_items" if n_rated < MIN_ITEMS else None


def _refused(pilot: Figure, reason: str) -> Figure:
    return Figure(
        value=None,
        reason=reason,
        n_items=pilot.n_items,
        n_ratings=pilot.n_ratings,
        n_raters=pilot.n_raters,
        left_out=pilot.left_out,
        interval_reason=reason,
    )


def _figure(needed: Sequence[Needed], pilot: Figure, each: float, m: int, unit: str, seed: int) -> Figure:
    most = max(needed, key=lambda one: one.n_raters)
    interval = Interval(
        low=float(ceil(most.clusters_low * each)),
        high=float(ceil(most.clusters_high * each)),
        level=CONFIDENCE,
        unit=unit,
        n_clusters=m,
        n_resamples=N_REPLICATES,
        seed=seed,
        share_undefined=0.0,
        method="drawn",
    )
    return Figure(
        value=float(most.n_items),
        reason=None,
        n_items=pilot.n_items,
        n_ratings=pilot.n_ratings,
        n_raters=pilot.n_raters,
        left_out=pilot.left_out,
        flags=("extrapolated",) if most.extrapolated else (),
        interval=interval,
        n_clusters=m,
    )


def _checked_raters(raters: Sequence[int], most: int) -> list[int | None]:
    if not raters or len(raters) > MAX_RATERS or len(set(raters)) < len(raters):
        raise ValueError(f"raters is {list(raters)}; name one to {MAX_RATERS} different numbers of raters.")
    for one in raters:
        if isinstance(one, bool) or not 1 <= one <= most:
            raise ValueError(f"{one} raters cannot be drawn: an item of the pilot has at most {most} ratings.")
    return list(raters)
