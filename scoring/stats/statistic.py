"""What a statistic is here: a short row of features for every item, and a formula on the sums of those rows.

The value is the formula on the sums over all items; a resample is the formula on the sums over its clusters. One
formula serves both, so a new statistic brings these two and an account of what it used, and inherits the rest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from scoring.stats.ratings import Codes
from scoring.stats.results import Figure

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Estimate:
    """The formula's answers, one for each row of sums; nan where undefined (inside this package only)."""

    value: Floats
    observed: Floats
    expected: Floats


@dataclass(frozen=True)
class Account:
    """Why there is no value, if there is none, and what was used; read off integer counts."""

    reason: str | None
    n_items: int
    n_ratings: int
    n_raters: int
    left_out: Mapping[str, int]
    flags: tuple[str, ...] = ()


class Statistic(ABC):
    """A statistic with its options, to be applied to any matrix of codes (n_items, n_raters)."""

    is_share: ClassVar[bool] = False
    """A share of items, so that a value of 0 or 1 on independent items has a Wilson interval."""

    @abstractmethod
    def features(self, codes: Codes) -> Floats:
        """(n_items, n_features); an item's row does not depend on other items, and its first entry is 1 where the item
        is comparable, else 0."""

    @abstractmethod
    def formula(self, sums: Floats) -> Estimate:
        """One answer for each row of sums (n_rows, n_features)."""

    @abstractmethod
    def account(self, codes: Codes, times: Counts) -> Account:
        """What was used and what was left out, or why there is no value; row i stands for `times[i]` items."""

    def values_alone(self, sums: Floats) -> Floats:
        """The values of `formula` alone, for the many rows of resamples."""
        return self.formula(sums).value

    def sums_by_row(self, codes: Codes, row_of: Counts, n_rows: int) -> Floats | None:
        """(n_rows, n_features): the features of the items of each row added up, where that is had without making them,
        and exactly the same. `row_of` (n_items,) never falls."""
        return None

    def point(self, codes: Codes, times: Counts) -> Estimate:
        return self.formula((times.astype(float) @ self.features(codes))[None])

    def figure(self, codes: Codes, times: Counts | None = None) -> Figure:
        """`times` where each row of `codes` stands for so many items that were rated alike."""
        if times is None:
            times = np.ones(len(codes), dtype=np.int64)
        account = self.account(codes, times)
        estimate = self.point(codes, times)
        return Figure(
            value=None if account.reason else number(estimate.value[0]),
            reason=account.reason,
            n_items=account.n_items,
            n_ratings=account.n_ratings,
            n_raters=account.n_raters,
            left_out={why: count for why, count in account.left_out.items() if count},
            observed=number(estimate.observed[0]),
            expected=number(estimate.expected[0]),
            flags=account.flags,
        )


def number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def ratio(above: Floats, below: Floats) -> Floats:
    """above / below, and nan where below is 0, without numpy's warning."""
    quotient: Floats = np.full(np.broadcast(above, below).shape, np.nan)
    np.divide(above, below, out=quotient, where=below != 0)
    return quotient


def beyond_chance(observed: Floats, expected: Floats, *, defined: Mask) -> Floats:
    """(observed - expected) / (1 - expected). Whether chance is 1 is for the caller to say, from counts."""
    return np.where(defined, ratio(observed - expected, np.where(defined, 1 - expected, 1.0)), np.nan)


def category_counts(codes: Codes, n_categories: int) -> Counts:
    """(n_items, n_categories): how many raters chose each category of each item."""
    kind = np.int8 if n_categories <= 127 else codes.dtype
    by_rater = np.ascontiguousarray(codes.T.astype(kind, copy=False))  # whole columns add several times faster
    few = np.uint8 if len(by_rater) <= 255 else np.int64
    counts = np.empty((len(codes), n_categories), dtype=np.int64)
    for category in range(n_categories):
        counts[:, category] = np.add.reduce((by_rater == category).view(np.uint8), axis=0, dtype=few)
    return counts


def table_reason(codes: Codes) -> str | None:
    """Why this matrix can hold no agreement at all, checked in this order."""
    rated = codes >= 0
    if not rated.any():
        return "empty"
    if rated.any(axis=0).sum() == 1:
        return "one_rater"
    if not (rated.sum(axis=1) >= 2).any():
        return "no_overlap"
    return None


def account_of(
    codes: Codes,
    times: Counts,
    used: Mask,
    *,
    reason: str | None,
    left_out: Mapping[str, int],
    flags: tuple[str, ...] = (),
) -> Account:
    """The account of a statistic that compares all ratings of the used items."""
    rated = codes[used] >= 0
    return Account(
        reason=reason,
        n_items=n_items(used, times),
        n_ratings=int(times[used] @ rated.sum(axis=1)),
        n_raters=int(rated.any(axis=0).sum()),
        left_out={why: int(count) for why, count in left_out.items()},
        flags=flags,
    )


def unpaired(codes: Codes, times: Counts) -> dict[str, int]:
    """Items with too few ratings to compare, by how many they have."""
    n_ratings = (codes >= 0).sum(axis=1)
    return {"no_rating": n_items(n_ratings == 0, times), "one_rating": n_items(n_ratings == 1, times)}


def n_items(rows: Mask, times: Counts) -> int:
    """How many items these rows stand for."""
    return int(times[rows].sum())
