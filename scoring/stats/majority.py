"""One rater against the majority of the others, as sums over items. Ties are never broken by order or chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from scoring.stats.chance import CohenKappa, distances_of
from scoring.stats.ratings import MISSING, Codes
from scoring.stats.statistic import (
    Account,
    Counts,
    Estimate,
    Floats,
    Mask,
    Statistic,
    account_of,
    category_counts,
    n_items,
    ratio,
    table_reason,
)

Ties = Literal["exclude", "fractional"] | tuple[Literal["toward"], int]
"""What becomes of an item whose others tie: left out; 1/t if the rater chose one of the t modes; or the majority is
the given category, if it is one of the modes (else left out)."""


@dataclass(frozen=True)
class Votes:
    """The others' word on every item, for one rater."""

    rated: Mask
    enough: Mask
    tied: Mask
    modes: Mask
    majority: npt.NDArray[np.int64]


@dataclass(frozen=True)
class ShareWithMajority(Statistic):
    rater: int
    n_categories: int
    ties: Ties
    min_others: int

    is_share: ClassVar[bool] = True

    def features(self, codes: Codes) -> Floats:
        votes = votes_of_others(codes, self.rater, self.n_categories, self.ties, self.min_others)
        used = self._used(votes)
        own = codes[:, self.rater]
        if self.ties == "fractional":
            chose_a_mode = votes.modes[np.arange(len(codes)), own]
            credit = np.where(used & chose_a_mode, 1 / votes.modes.sum(axis=1), 0.0)
        else:
            credit = (used & (own == votes.majority)).astype(float)
        return np.column_stack([used, credit])

    def formula(self, sums: Floats) -> Estimate:
        share = ratio(sums[:, 1], sums[:, 0])
        return Estimate(value=share, observed=share, expected=np.full_like(share, np.nan))

    def account(self, codes: Codes, times: Counts) -> Account:
        votes = votes_of_others(codes, self.rater, self.n_categories, self.ties, self.min_others)
        used = self._used(votes)
        return _account(codes, times, votes, used, reason=table_reason(codes), flags=())

    def _used(self, votes: Votes) -> Mask:
        if self.ties == "fractional":
            return votes.rated & votes.enough
        return votes.rated & (votes.majority >= 0)


@dataclass(frozen=True)
class KappaWithMajority(Statistic):
    """Cohen's kappa of the table with the majority in its rows and the rater in its columns."""

    rater: int
    n_categories: int
    ties: Ties
    min_others: int

    def features(self, codes: Codes) -> Floats:
        return self._kappa().features(self._table(codes))

    def formula(self, sums: Floats) -> Estimate:
        return self._kappa().formula(sums)

    def account(self, codes: Codes, times: Counts) -> Account:
        votes = votes_of_others(codes, self.rater, self.n_categories, self.ties, self.min_others)
        of_table = self._kappa().account(self._table(codes), times)
        reason = table_reason(codes) or ("one_category" if of_table.reason == "one_category" else None)
        return _account(codes, times, votes, votes.rated & (votes.majority >= 0), reason=reason, flags=of_table.flags)

    def _kappa(self) -> CohenKappa:
        return CohenKappa(distances_of("unweighted", n_categories=self.n_categories, weight_matrix=None))

    def _table(self, codes: Codes) -> Codes:
        votes = votes_of_others(codes, self.rater, self.n_categories, self.ties, self.min_others)
        return np.column_stack([votes.majority, codes[:, self.rater]])


def votes_of_others(codes: Codes, rater: int, n_categories: int, ties: Ties, min_others: int) -> Votes:
    counts = category_counts(np.delete(codes, rater, axis=1), n_categories)
    modes = counts == counts.max(axis=1, keepdims=True, initial=0)
    enough = counts.sum(axis=1) >= min_others
    tied = enough & (modes.sum(axis=1) > 1)
    majority = np.where(enough & ~tied, counts.argmax(axis=1), MISSING)
    if isinstance(ties, tuple):
        category = ties[1]
        majority[tied & modes[:, category]] = category
    return Votes(rated=codes[:, rater] >= 0, enough=enough, tied=tied, modes=modes, majority=majority)


def confusion_with_majority(
    codes: Codes, times: Counts, votes: Votes, *, rater: int, n_categories: int
) -> tuple[tuple[int, ...], ...]:
    """Rows are the majority of the others, columns the rater; every declared category has both. Ties count where the
    rule gives them a majority."""
    used = votes.rated & (votes.majority >= 0)
    return cross_counts(votes.majority[used], codes[used, rater], times[used], n_categories=n_categories)


def cross_counts(rows: Codes, columns: Codes, times: Counts, *, n_categories: int) -> tuple[tuple[int, ...], ...]:
    """A square table of how many items have these two codes."""
    table = np.zeros((n_categories, n_categories), dtype=np.int64)
    np.add.at(table, (rows, columns), times)
    return tuple(tuple(row) for row in table.tolist())


def _account(
    codes: Codes, times: Counts, votes: Votes, used: Mask, *, reason: str | None, flags: tuple[str, ...]
) -> Account:
    if reason is None and not used.any():
        reason = "no_comparable_items"
    left_out = {
        "not_rated": n_items(~votes.rated, times),
        "few_others": n_items(votes.rated & ~votes.enough, times),
        "tie": n_items(votes.rated & votes.tied & ~used, times),
    }
    return account_of(codes, times, used, reason=reason, left_out=left_out, flags=flags)
