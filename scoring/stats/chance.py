"""Raw agreement, Cohen's kappa, Fleiss' kappa and Scott's pi as sums over items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np

from scoring.stats.ratings import Codes
from scoring.stats.statistic import (
    Account,
    Counts,
    Estimate,
    Floats,
    Mask,
    Statistic,
    account_of,
    beyond_chance,
    category_counts,
    n_items,
    ratio,
    table_reason,
    unpaired,
)

Weights = Literal["unweighted", "linear", "quadratic", "matrix"]
Weighting = Literal["item", "pair"]
Marginals = Literal["item_mean", "pooled"]
Singletons = Literal["include", "drop"]


@dataclass(frozen=True)
class PercentAgreement(Statistic):
    n_categories: int
    weighting: Weighting = "item"

    is_share: ClassVar[bool] = True

    def features(self, codes: Codes) -> Floats:
        counts = category_counts(codes, self.n_categories)
        n = counts.sum(axis=1)
        pairs, agreeing = n * (n - 1.0), (counts * (counts - 1.0)).sum(axis=1)
        if self.weighting == "item":
            agreeing = np.nan_to_num(ratio(agreeing, pairs))
            pairs = (n >= 2).astype(float)
        return np.column_stack([n >= 2, pairs, agreeing])

    def formula(self, sums: Floats) -> Estimate:
        share = ratio(sums[:, 2], sums[:, 1])
        return Estimate(value=share, observed=share, expected=np.full_like(share, np.nan))

    def account(self, codes: Codes, times: Counts) -> Account:
        counts = category_counts(codes, self.n_categories)
        pairable = counts.sum(axis=1) >= 2
        one = n_used_categories(counts[pairable]) == 1
        flags = ("one_category",) if one else ()
        return account_of(
            codes, times, pairable, reason=table_reason(codes), left_out=unpaired(codes, times), flags=flags
        )


@dataclass(frozen=True, eq=False)
class CohenKappa(Statistic):
    """Of two columns of the matrix. `distances` is 0 on the diagonal and positive elsewhere, so that disagreement by
    chance is 0 exactly when both raters used one and the same category."""

    distances: Floats
    first: int = 0
    second: int = 1

    def features(self, codes: Codes) -> Floats:
        a, b = codes[:, self.first], codes[:, self.second]
        both = (a >= 0) & (b >= 0)
        apart = np.where(both, self.distances[a, b], 0.0)
        categories = np.arange(len(self.distances))
        of_a, of_b = (both[:, None] & (column[:, None] == categories) for column in (a, b))
        return np.column_stack([both, apart, of_a, of_b])

    def formula(self, sums: Floats) -> Estimate:
        q = len(self.distances)
        n, apart, of_a, of_b = sums[:, 0], sums[:, 1], sums[:, 2 : 2 + q], sums[:, 2 + q :]
        by_chance = ((of_a @ self.distances) * of_b).sum(axis=1)
        kappa = 1 - ratio(n * apart, by_chance)
        a_rater_is_constant = ((of_a > 0).sum(axis=1) == 1) | ((of_b > 0).sum(axis=1) == 1)
        kappa = np.where(a_rater_is_constant & (by_chance > 0), 0.0, kappa)  # exactly 0, whatever rounding says
        farthest = float(self.distances.max()) or 1.0  # 0 with a single category
        return Estimate(
            value=kappa, observed=1 - ratio(apart, n * farthest), expected=1 - ratio(by_chance, n * n * farthest)
        )

    def account(self, codes: Codes, times: Counts) -> Account:
        pair = codes[:, [self.first, self.second]]
        both = (pair[:, 0] >= 0) & (pair[:, 1] >= 0)
        used = [len(np.unique(column)) for column in pair[both].T]
        reason = table_reason(pair)
        if reason is None and len(np.unique(pair[both])) == 1:
            reason = "one_category"
        flags = ("rater_constant",) if reason is None and 1 in used else ()
        return account_of(pair, times, both, reason=reason, left_out=unpaired(pair, times), flags=flags)


@dataclass(frozen=True)
class FleissKappa(Statistic):
    n_categories: int
    marginals: Marginals = "item_mean"
    singletons: Singletons = "include"
    complete_only: bool = False

    def features(self, codes: Codes) -> Floats:
        counts = self._counts(codes)
        n = counts.sum(axis=1)
        agreeing = np.nan_to_num(ratio((counts * (counts - 1.0)).sum(axis=1), n * (n - 1.0)))
        shares = self._marginal_counts(counts).astype(float)
        if self.marginals == "item_mean":
            shares = np.nan_to_num(ratio(shares, n[:, None].astype(float)))
            weight = shares.any(axis=1).astype(float)
        else:
            weight = shares.sum(axis=1)
        return np.column_stack([n >= 2, agreeing, weight, shares])

    def formula(self, sums: Floats) -> Estimate:
        observed = ratio(sums[:, 1], sums[:, 0])
        expected = (ratio(sums[:, 3:], sums[:, 2:3]) ** 2).sum(axis=1)
        defined = (sums[:, 0] > 0) & ((sums[:, 3:] > 0).sum(axis=1) >= 2)
        return Estimate(value=beyond_chance(observed, expected, defined=defined), observed=observed, expected=expected)

    def account(self, codes: Codes, times: Counts) -> Account:
        counts = self._counts(codes)
        used = counts.sum(axis=1) >= 2
        reason = table_reason(codes)
        if reason is None and not used.any():
            reason = "no_overlap"
        if reason is None and n_used_categories(self._marginal_counts(counts)) == 1:
            reason = "one_category"
        left_out = unpaired(codes, times)
        if self.complete_only:
            left_out["incomplete"] = n_items(~used, times) - sum(left_out.values())
        return account_of(codes, times, used, reason=reason, left_out=left_out)

    def _counts(self, codes: Codes) -> Counts:
        counts = category_counts(codes, self.n_categories)
        if self.complete_only:
            counts[(codes < 0).any(axis=1)] = 0
        return counts

    def _marginal_counts(self, counts: Counts) -> Counts:
        enough = counts.sum(axis=1) >= (2 if self.singletons == "drop" else 1)
        kept: Counts = counts * enough[:, None]
        return kept


@dataclass(frozen=True)
class ScottPi(Statistic):
    """Of two columns of the matrix: Fleiss' kappa of the items both rated, whose category rates the two share."""

    n_categories: int
    first: int = 0
    second: int = 1

    def features(self, codes: Codes) -> Floats:
        return self._fleiss.features(self._pair(codes))

    def formula(self, sums: Floats) -> Estimate:
        return self._fleiss.formula(sums)

    def account(self, codes: Codes, times: Counts) -> Account:
        return self._fleiss.account(self._pair(codes), times)

    @property
    def _fleiss(self) -> FleissKappa:
        return FleissKappa(self.n_categories, singletons="drop")

    def _pair(self, codes: Codes) -> Codes:
        return codes[:, [self.first, self.second]]


@dataclass(frozen=True, eq=False)
class MeanPairwiseKappa(Statistic):
    """The mean of Cohen's kappa over pairs of columns; undefined where any of them is. `apart` counts the pairs that
    were left out, and why; `reason` is why none is left."""

    kappas: tuple[CohenKappa, ...]
    apart: Mapping[str, int]
    reason: str

    @classmethod
    def of(cls, codes: Codes, times: Counts, distances: Floats, *, min_common: int) -> MeanPairwiseKappa:
        """Over the pairs with at least `min_common` items in common that have a kappa at all."""
        every = [CohenKappa(distances, *pair) for pair in combinations(range(codes.shape[1]), 2)]
        figures = [kappa.figure(codes, times) for kappa in every]
        enough = [place for place, figure in enumerate(figures) if figure.n_items >= min_common]
        defined = [place for place in enough if figures[place].value is not None]
        undefined = next((figures[place].reason for place in enough), None) or "few_common_items"
        apart = {"few_common_items": len(every) - len(enough), "undefined": len(enough) - len(defined)}
        return cls(tuple(every[place] for place in defined), apart, undefined)

    def features(self, codes: Codes) -> Floats:
        parts = [kappa.features(codes) for kappa in self.kappas]
        return np.column_stack([self._compared(codes), *parts]).astype(float)

    def formula(self, sums: Floats) -> Estimate:
        width = (sums.shape[1] - 1) // max(len(self.kappas), 1)
        values = [
            kappa.formula(sums[:, 1 + place * width : 1 + (place + 1) * width]).value
            for place, kappa in enumerate(self.kappas)
        ]
        nothing = np.full(len(sums), np.nan)
        return Estimate(value=np.mean(values, axis=0) if values else nothing, observed=nothing, expected=nothing)

    def account(self, codes: Codes, times: Counts) -> Account:
        reason = None if self.kappas else table_reason(codes) or self.reason
        return account_of(codes, times, self._compared(codes), reason=reason, left_out=self.apart)

    def _compared(self, codes: Codes) -> Mask:
        compared: Mask = np.zeros(len(codes), dtype=bool)
        for kappa in self.kappas:
            compared |= (codes[:, kappa.first] >= 0) & (codes[:, kappa.second] >= 0)
        return compared


def distances_of(weights: Weights, *, n_categories: int, weight_matrix: Floats | None) -> Floats:
    """Disagreement between categories by their place in the declared list; whole numbers, so that sums are exact."""
    if weights == "matrix":
        if weight_matrix is None:
            raise ValueError("weights='matrix' needs weight_matrix, the disagreement of every two categories.")
        return checked_distances(weight_matrix, n_categories=n_categories)
    place = np.arange(n_categories, dtype=float)
    apart = np.abs(place[:, None] - place)
    if weights == "unweighted":
        return (apart > 0).astype(float)
    if weights == "linear":
        return apart
    if weights == "quadratic":
        return apart * apart
    raise ValueError(f"weights is {weights!r}; use unweighted, linear, quadratic or matrix.")


def checked_distances(distances: Floats, *, n_categories: int) -> Floats:
    matrix = np.asarray(distances, dtype=float)
    if matrix.shape != (n_categories, n_categories):
        raise ValueError(f"The distance matrix has shape {matrix.shape}; {n_categories} categories need a square one.")
    diagonal: Mask = np.eye(n_categories, dtype=bool)
    if matrix[diagonal].any() or not (np.isfinite(matrix).all() and (matrix[~diagonal] > 0).all()):
        raise ValueError("Distances are 0 on the diagonal and positive elsewhere. Merge categories that do not differ.")
    return matrix


def n_used_categories(counts: Counts) -> int:
    return int((counts.sum(axis=0) > 0).sum())
