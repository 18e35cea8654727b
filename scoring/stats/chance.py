"""Raw agreement, Cohen's kappa, Fleiss' kappa and Scott's pi as sums over items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np

from scoring.stats.ratings import Codes
from scoring.stats.results import Figure
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

LARGE, FEW_RATERS, LOOKED_AT = 2**14, 8, 2**16
"""From so many items on, all rated by so few raters, Fleiss' kappa is counted by comparing whole columns, so many items
at a time: what is read twice is still in a processor's cache."""

MAX_CELLS = 2**22
"""Tables of rows are made of up to so many numbers: 32 MB."""


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
        n, apart = sums[:, 0], sums[:, 1]
        by_chance = self._by_chance(sums)
        farthest = float(self.distances.max()) or 1.0  # 0 with a single category
        return Estimate(
            value=self._kappa(sums, by_chance),
            observed=1 - ratio(apart, n * farthest),
            expected=1 - ratio(by_chance, n * n * farthest),
        )

    def values_alone(self, sums: Floats) -> Floats:
        return self._kappa(sums, self._by_chance(sums))

    def _by_chance(self, sums: Floats) -> Floats:
        """By category, which is by row of the transposed sums: of resamples those lie together."""
        q = len(self.distances)
        columns = sums.T
        if self._is_same_or_not:
            same: Floats = (columns[2 : 2 + q] * columns[2 + q :]).sum(axis=0)
            different: Floats = columns[0] * columns[0] - same
            return different
        distance: Floats = ((self.distances.T @ columns[2 : 2 + q]) * columns[2 + q :]).sum(axis=0)
        return distance

    def _kappa(self, sums: Floats, by_chance: Floats) -> Floats:
        q = len(self.distances)
        n, apart, of_a, of_b = sums.T[0], sums.T[1], sums.T[2 : 2 + q], sums.T[2 + q :]
        kappa = 1 - ratio(n * apart, by_chance)
        a_rater_is_constant = (of_a.max(axis=0) == n) | (of_b.max(axis=0) == n)
        kappa[a_rater_is_constant & (by_chance > 0)] = 0.0  # exactly, whatever rounding says
        return kappa

    def sums_by_row(self, codes: Codes, row_of: Counts, n_rows: int) -> Floats | None:
        """From a table of the two raters for each row; the order of sums plays no part where distances are whole."""
        if not self._is_whole or n_rows * len(self.distances) ** 2 > MAX_CELLS:
            return None
        return self._of_tables(self._tables(codes, row_of, n_rows, weights=None)[:, 1:, 1:])

    def point(self, codes: Codes, times: Counts) -> Estimate:
        if not self._is_whole:
            return super().point(codes, times)
        row_of = np.zeros(len(codes), dtype=np.int64)
        return self.formula(self._of_tables(self._tables(codes, row_of, 1, weights=times)[:, 1:, 1:]))

    def account(self, codes: Codes, times: Counts) -> Account:
        """From the table of the two raters, with no rating as a category before all others."""
        table = self._tables(codes, np.zeros(len(codes), dtype=np.int64), 1, weights=times)[0]
        both = table[1:, 1:]
        of_a, of_b = both.any(axis=1), both.any(axis=0)
        n_both, n_none, n_all = int(both.sum()), int(table[0, 0]), int(table.sum())
        reason = None
        if n_all == n_none:
            reason = "empty"
        elif not table[1:].any() or not table[:, 1:].any():
            reason = "one_rater"
        elif not n_both:
            reason = "no_overlap"
        elif (of_a | of_b).sum() == 1:
            reason = "one_category"
        is_constant = reason is None and (of_a.sum() == 1 or of_b.sum() == 1)
        return Account(
            reason=reason,
            n_items=n_both,
            n_ratings=2 * n_both,
            n_raters=2 if n_both else 0,
            left_out={"no_rating": n_none, "one_rating": n_all - n_none - n_both},
            flags=("rater_constant",) if is_constant else (),
        )

    @cached_property
    def _is_whole(self) -> bool:
        return bool((self.distances == np.round(self.distances)).all())

    @cached_property
    def _is_same_or_not(self) -> bool:
        return bool((self.distances == 1 - np.eye(len(self.distances))).all())

    def _tables(self, codes: Codes, row_of: Counts, n_rows: int, *, weights: Counts | None) -> Floats:
        """(n_rows, 1 + q, 1 + q): how many items of each row have these two codes; the first of each is no rating."""
        width = len(self.distances) + 1
        cells = (row_of * width + (codes[:, self.first] + 1)) * width + (codes[:, self.second] + 1)
        counts = np.bincount(cells, weights=weights, minlength=n_rows * width * width)
        return counts.astype(float).reshape(n_rows, width, width)

    def _of_tables(self, tables: Floats) -> Floats:
        """The sums of the features of the items that are counted in each table."""
        q = len(self.distances)
        sums = np.empty((len(tables), 2 + 2 * q))
        sums[:, 0] = tables.sum(axis=(1, 2))
        sums[:, 1] = (tables * self.distances).sum(axis=(1, 2))
        sums[:, 2 : 2 + q], sums[:, 2 + q :] = tables.sum(axis=2), tables.sum(axis=1)
        return sums


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
        n, agreeing, weight, shares = sums.T[0], sums.T[1], sums.T[2], sums.T[3:]
        observed = ratio(agreeing, n)
        expected = (ratio(shares, weight) ** 2).sum(axis=0)
        defined = (n > 0) & (shares.max(axis=0) < weight)  # all of one category have shares of exactly 1
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

    def figure(self, codes: Codes, times: Counts | None = None) -> Figure:
        if times is None and len(codes) >= LARGE and 2 <= codes.shape[1] <= FEW_RATERS:
            counted = self._counted_by_column(codes)
            if counted is not None:
                return self._of_complete(len(codes), codes.shape[1], *counted)
        return super().figure(codes, times)

    def _counted_by_column(self, codes: Codes) -> tuple[int, Counts] | None:
        """How many pairs of ratings agree, and how many ratings are of each category; None where one is missing. Every
        form of the marginals is the same where none is."""
        agreeing, counts = 0, np.zeros(self.n_categories, dtype=np.int64)
        kind = np.int8 if self.n_categories <= 127 else codes.dtype
        equal = np.empty((codes.shape[1], LOOKED_AT), dtype=bool)
        for start in range(0, len(codes), LOOKED_AT):
            columns = codes[start : start + LOOKED_AT].T.astype(kind, copy=False)
            if columns.strides[1] != columns.itemsize:
                columns = np.ascontiguousarray(columns)
            of_all, of_two = equal[:, : columns.shape[1]], equal[0, : columns.shape[1]]
            if columns.min() < 0:
                return None
            here = [int(np.count_nonzero(np.equal(columns, code, out=of_all))) for code in range(len(counts) - 1)]
            counts += [*here, columns.size - sum(here)]
            agreeing += sum(
                int(np.count_nonzero(np.equal(one, other, out=of_two))) for one, other in combinations(columns, 2)
            )
        return agreeing, counts

    def _of_complete(self, n: int, r: int, agreeing: int, counts: Counts) -> Figure:
        observed = agreeing / (n * r * (r - 1) // 2)
        rates = counts / (n * r)
        expected = float(rates @ rates)
        is_one = int((counts > 0).sum()) == 1
        return Figure(
            value=None if is_one else (observed - expected) / (1 - expected),
            reason="one_category" if is_one else None,
            n_items=n,
            n_ratings=n * r,
            n_raters=r,
            observed=observed,
            expected=1.0 if is_one else expected,
        )

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
