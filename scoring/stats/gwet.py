"""Gwet's AC1 and AC2 as sums over items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from scoring.stats.chance import Weights, checked_distances, distances_of, n_used_categories
from scoring.stats.ratings import Codes
from scoring.stats.statistic import (
    Account,
    Counts,
    Estimate,
    Floats,
    Statistic,
    account_of,
    beyond_chance,
    category_counts,
    ratio,
    table_reason,
    unpaired,
)

GwetWeights = Literal["identity", "linear", "quadratic", "matrix"]


@dataclass(frozen=True, eq=False)
class GwetAC(Statistic):
    """`distances` is 0 on the diagonal, positive elsewhere and symmetric; a pair of ratings agrees by one minus its
    distance over `farthest`. Chance agreement stays below 1 with two declared categories or more, so that everyone
    choosing the same is a value."""

    distances: Floats
    farthest: float

    def features(self, codes: Codes) -> Floats:
        counts = category_counts(codes, len(self.distances)).astype(float)
        n = counts.sum(axis=1)
        apart = np.nan_to_num(ratio(((counts @ self.distances) * counts).sum(axis=1), n * (n - 1)))
        shares = np.nan_to_num(ratio(counts, n[:, None]))
        return np.column_stack([n >= 2, apart, n >= 1, shares])

    def formula(self, sums: Floats) -> Estimate:
        q = len(self.distances)
        observed = 1 - ratio(sums[:, 1], sums[:, 0] * self.farthest)
        rates = ratio(sums[:, 3:], sums[:, 2:3])
        total_weight = q * q - self.distances.sum() / self.farthest
        varied = (rates * (1 - rates)).sum(axis=1)
        expected = total_weight * varied / (q * (q - 1)) if q > 1 else np.full(len(sums), np.nan)
        return Estimate(
            value=beyond_chance(observed, expected, defined=(sums[:, 0] > 0) & (q > 1)),
            observed=observed,
            expected=expected,
        )

    def account(self, codes: Codes, times: Counts) -> Account:
        counts = category_counts(codes, len(self.distances))
        used = counts.sum(axis=1) >= 2
        reason = table_reason(codes)
        if reason is None and len(self.distances) == 1:
            reason = "one_category"
        one = reason is None and n_used_categories(counts[used]) == 1
        return account_of(
            codes,
            times,
            used,
            reason=reason,
            left_out=unpaired(codes, times),
            flags=("one_category",) if one else (),
        )


def gwet_of(weights: GwetWeights, *, n_categories: int, weight_matrix: Floats | None = None) -> GwetAC:
    """The statistic for a choice of weights, checked.

    Gwet writes agreement, 1 on the diagonal, where kappa and alpha have disagreement, 0 on it: the diagonal says which
    of the two a matrix is.
    """
    if weights != "matrix":
        if weights not in ("identity", "linear", "quadratic"):
            raise ValueError(f"weights is {weights!r}; use identity, linear, quadratic or matrix.")
        by_place: Weights = "unweighted" if weights == "identity" else weights
        return _of_disagreement(distances_of(by_place, n_categories=n_categories, weight_matrix=None))
    if weight_matrix is None:
        raise ValueError("weights='matrix' needs weight_matrix, the agreement or disagreement of every two categories.")
    matrix = np.asarray(weight_matrix, dtype=float)
    if not np.array_equal(matrix, matrix.T):
        raise ValueError("The weights of Gwet's AC are symmetric: raters are interchangeable.")
    if matrix.ndim == 2 and len(matrix) and (np.diag(matrix) == 1).all():
        if matrix.min() < 0:
            raise ValueError("Weights of agreement are 1 on the diagonal and from 0 to below 1 elsewhere.")
        return GwetAC(checked_distances(1 - matrix, n_categories=n_categories), farthest=1.0)
    return _of_disagreement(checked_distances(matrix, n_categories=n_categories))


def _of_disagreement(distances: Floats) -> GwetAC:
    return GwetAC(distances, farthest=float(distances.max()) or 1.0)  # 0 with a single category
