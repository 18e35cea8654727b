"""Krippendorff's alpha as sums over items; its point value comes from the `krippendorff` package."""

from __future__ import annotations

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

Level = Literal["nominal", "ordinal", "interval", "matrix"]

PACKAGE_CELLS = 2**24
"""The package holds several arrays of n_items x n_categories squared; above this many cells (128 MB each) the point
value is ours, which a test holds equal to 1e-12."""


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
        if self.level == "matrix" or np.isnan(ours.value[0]) or cells > PACKAGE_CELLS:
            return ours
        domain = np.arange(self.n_categories, dtype=float) if self.values is None else self.values
        value = krippendorff.alpha(value_counts=counts, value_domain=domain, level_of_measurement=self.level)
        return replace(ours, value=np.array([float(value)]))

    def _pairable_counts(self, codes: Codes) -> Counts:
        counts = category_counts(codes, self.n_categories)
        pairable: Counts = counts * (counts.sum(axis=1, keepdims=True) >= 2)
        return pairable


def alpha_of(
    level: Level, *, n_categories: int, values: Floats | None = None, distance_matrix: Floats | None = None
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
    raise ValueError(f"level is {level!r}; use nominal, ordinal, interval or matrix.")


def _checked_values(values: Floats | None, *, n_categories: int) -> Floats:
    if values is None:
        raise ValueError("level='interval' needs values, the number each category stands for.")
    numbers = np.asarray(values, dtype=float)
    if numbers.shape != (n_categories,) or not np.isfinite(numbers).all():
        raise ValueError(f"values are {n_categories} finite numbers, one for each category in its order.")
    return numbers
