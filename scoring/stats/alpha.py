"""Krippendorff's alpha as sums over items; its point value comes from the `krippendorff` package."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

import krippendorff
import numpy as np

from scoring.stats.chance import checked_distances, n_used_categories
from scoring.stats.ratings import Codes
from scoring.stats.statistic import (
    Account,
    Counts,
    Estimate,
    Floats,
    Statistic,
    account_of,
    category_counts,
    ratio,
    table_reason,
    unpaired,
)

Level = Literal["nominal", "ordinal", "interval", "matrix", "jaccard", "masi"]

PACKAGE_CELLS = 2**24
"""The package holds several arrays of n_items x n_categories squared; above this many cells (128 MB each) the point
value is ours, which a test holds equal to 1e-12."""

MAX_SETS = 1_000
"""Each different set is a category of its own: the counts of 10,000 items are then 80 MB, their distances 8 MB."""


@dataclass(frozen=True, eq=False)
class KrippendorffAlpha(Statistic):
    """`values` are the numbers of the categories (interval only), `distances` their distance but for ordinal, where it
    follows from the counts: the difference of mid-ranks, squared."""

    level: Level
    n_categories: int
    values: Floats | None = None
    distances: Floats | None = None

    def features(self, codes: Codes) -> Floats:
        counts = self._pairable_counts(codes).astype(float)
        n = counts.sum(axis=1)
        others = np.maximum(n - 1, 1)[:, None]
        if self.distances is None:
            c, k = np.triu_indices(self.n_categories, 1)
            apart = 2 * counts[:, c] * counts[:, k] / others
        else:
            apart = ((counts @ self.distances) * counts).sum(axis=1, keepdims=True) / others
        return np.column_stack([n > 0, counts, apart])

    def formula(self, sums: Floats) -> Estimate:
        counts, apart = sums[:, 1 : 1 + self.n_categories], sums[:, 1 + self.n_categories :]
        n = counts.sum(axis=1)
        if self.distances is None:
            c, k = np.triu_indices(self.n_categories, 1)
            mid_ranks = np.cumsum(counts, axis=1) - counts / 2
            squared = (mid_ranks[:, c] - mid_ranks[:, k]) ** 2
            seen = (apart * squared).sum(axis=1)
            by_chance = 2 * (counts[:, c] * counts[:, k] * squared).sum(axis=1)
            farthest = (mid_ranks[:, -1] - mid_ranks[:, 0]) ** 2
        else:
            seen = apart[:, 0]
            by_chance = ((counts @ self.distances) * counts).sum(axis=1)
            farthest = np.full(len(sums), self.distances.max() or 1.0)
        expected = ratio(by_chance, n * (n - 1) * farthest)
        observed = ratio(seen, n * farthest)
        return Estimate(value=1 - ratio(seen * (n - 1), by_chance), observed=1 - observed, expected=1 - expected)

    def account(self, codes: Codes, times: Counts) -> Account:
        counts = self._pairable_counts(codes)
        reason = table_reason(codes)
        if reason is None and n_used_categories(counts) == 1:
            reason = "one_category"
        return account_of(codes, times, counts.sum(axis=1) > 0, reason=reason, left_out=unpaired(codes, times))

    def point(self, codes: Codes, times: Counts) -> Estimate:
        ours = super().point(codes, times)
        counts = self._pairable_counts(codes)
        counts = np.repeat(counts, times * counts.any(axis=1), axis=0)
        cells = counts.shape[0] * self.n_categories**2
        if self.level == "matrix" or self.level == "jaccard" or self.level == "masi":
            return ours
        if np.isnan(ours.value[0]) or cells > PACKAGE_CELLS:
            return ours
        domain = np.arange(self.n_categories, dtype=float) if self.values is None else self.values
        value = krippendorff.alpha(value_counts=counts, value_domain=domain, level_of_measurement=self.level)
        return replace(ours, value=np.array([float(value)]))

    def _pairable_counts(self, codes: Codes) -> Counts:
        counts = category_counts(codes, self.n_categories)
        pairable: Counts = counts * (counts.sum(axis=1, keepdims=True) >= 2)
        return pairable


def alpha_of(
    level: Level,
    *,
    n_categories: int,
    values: Floats | None = None,
    distance_matrix: Floats | None = None,
    sets: Sequence[Set[Hashable]] | None = None,
) -> KrippendorffAlpha:
    """The statistic for a level of measurement, its distances checked."""
    if level == "nominal":
        return KrippendorffAlpha(level, n_categories, distances=1 - np.eye(n_categories))
    if level == "ordinal":
        return KrippendorffAlpha(level, n_categories)
    if level == "interval":
        numbers = _checked_values(values, n_categories=n_categories)
        distances = checked_distances((numbers[:, None] - numbers) ** 2, n_categories=n_categories)
        return KrippendorffAlpha(level, n_categories, values=numbers, distances=distances)
    if level == "matrix":
        if distance_matrix is None:
            raise ValueError("level='matrix' needs distance_matrix, the distance of every two categories.")
        distances = checked_distances(distance_matrix, n_categories=n_categories)
        if not np.array_equal(distances, distances.T):
            raise ValueError("The distance matrix of alpha is symmetric: raters are interchangeable.")
        return KrippendorffAlpha(level, n_categories, distances=distances)
    if level in ("jaccard", "masi"):
        if sets is None or len(sets) != n_categories:
            raise ValueError(f"level={level!r} needs sets, the set that each of the {n_categories} categories is.")
        distances = checked_distances(set_distances(sets, level=level), n_categories=n_categories)
        return KrippendorffAlpha(level, n_categories, distances=distances)
    raise ValueError(f"level is {level!r}; use nominal, ordinal, interval, matrix, jaccard or masi.")


def set_distances(sets: Sequence[Set[Hashable]], *, level: Literal["jaccard", "masi"]) -> Floats:
    """(n_sets, n_sets): 1 - J, and for MASI 1 - J * M, where J is the part that two sets share of their union, and M is
    1 for equal sets, 2/3 where one holds the other, 1/3 where they overlap and 0 where they share nothing. Two empty
    sets are at distance 0; not squared.

    Source: Passonneau 2006, Measuring Agreement on Set-valued Items, LREC.
    Checked against: fixtures/reference/agreement-cases.json O28.
    """
    if len(sets) > MAX_SETS:
        raise ValueError(f"There are {len(sets)} different sets, of which at most {MAX_SETS} can be compared.")
    members = {one: place for place, one in enumerate(dict.fromkeys(one for each in sets for one in each))}
    holds = np.zeros((len(sets), max(len(members), 1)))
    for row, each in enumerate(sets):
        holds[row, [members[one] for one in each]] = 1
    size, shared = holds.sum(axis=1), holds @ holds.T
    union = size[:, None] + size - shared
    alike = np.where(union == 0, 1.0, np.divide(shared, union, out=np.zeros_like(shared), where=union > 0))
    if level == "masi":
        smaller = np.minimum(size[:, None], size)
        thirds = np.where(shared == union, 3, np.where(shared == smaller, 2, np.where(shared > 0, 1, 0)))
        alike = alike * thirds / 3
    distances: Floats = 1 - alike
    return distances


def _checked_values(values: Floats | None, *, n_categories: int) -> Floats:
    if values is None:
        raise ValueError("level='interval' needs values, the number each category stands for.")
    numbers = np.asarray(values, dtype=float)
    if numbers.shape != (n_categories,) or not np.isfinite(numbers).all():
        raise ValueError(f"values are {n_categories} finite numbers, one for each category in its order.")
    return numbers
