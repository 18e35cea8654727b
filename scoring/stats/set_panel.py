"""How far the members of a panel name the same things, where what can be named is on no list: pair by pair, by F1 or by
equal sets, all from one draw of clusters."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from scoring.stats.answers import Drawing
from scoring.stats.groups import Named, agreement_of
from scoring.stats.results import Figure
from scoring.stats.statistic import Floats, Mask, ratio
from scoring.stats.sums import Summed, combined, with_intervals

SetStat = Literal["f1", "exact"]
Row = tuple[float, float, float, float, bool]
MAX_PAIRS_WITH_INTERVALS = 190
"""Of 20 raters, as with ratings."""


@dataclass(frozen=True)
class SetPair:
    """Two raters on the items that both looked at."""

    first: Hashable
    second: Hashable
    agreement: Figure


@dataclass(frozen=True)
class SetAgreement:
    """`mean` is over the pairs that have a value. `n_both_empty` counts pairs of a rater and another on an item where
    neither named anything: no part of an F1, and equal sets."""

    stat: SetStat
    n_items: int
    n_raters: int
    n_both_empty: int
    mean: Figure
    pairs: tuple[SetPair, ...]


@dataclass(frozen=True, eq=False)
class SetQuestion:
    """What is asked of the panel.

    `named`: by rater, for every item the set that they named; empty where they looked and found nothing, None where
    they did not look. The same items in the same order for all. `stat`: `f1` (micro: of sums over items) or `exact`,
    the share of items with equal sets. `against`: only pairs of this one of them and another, such as of a judge and
    each person.
    """

    named: Mapping[Hashable, Sequence[Set[Hashable] | None]]
    stat: SetStat
    against: Hashable | None = None

    @property
    def couples(self) -> list[tuple[Hashable, Hashable]]:
        """Who is compared with whom."""
        if self.against is None:
            return list(combinations(self.named, 2))
        return [(self.against, other) for other in self.named if other != self.against]


def set_agreements(
    questions: Sequence[SetQuestion], clusters: Sequence[Hashable] | None, drawing: Drawing
) -> list[SetAgreement]:
    """Agreement of a panel whose members name sets, all from one draw of clusters.

    Parameters
    ----------
    questions : about the same items in the same order.
    clusters : the cluster of every item; None where each item is its own.

    Returns
    -------
    One SetAgreement for each; a figure has no value for the reasons of `groups.agreement_of`, the mean with
    `one_rater` where there is no pair.
    """
    asked = [_Asked.of(question) for question in questions]
    figures = iter(with_intervals([one for part in asked for one in part.drawn], clusters, drawing))
    return [part.answer([next(figures) for _ in part.drawn]) for part in asked]


@dataclass(frozen=True, eq=False)
class _Asked:
    question: SetQuestion
    named: Sequence[Named]
    pairs: Sequence[Summed]
    n_items: int

    @classmethod
    def of(cls, question: SetQuestion) -> _Asked:
        columns = {who: list(sets) for who, sets in question.named.items()}
        named = [Named.of(columns[one], columns[other], common) for one, other in question.couples]
        pairs = [slim(agreement_of(one, stat=question.stat), one, question.stat) for one in named]
        return cls(question, named, pairs, max(map(len, columns.values()), default=0))

    @property
    def drawn(self) -> list[Summed]:
        """The mean, and the pairs where they are few enough."""
        nobody = Summed(np.zeros((self.n_items, 1)), undefined, reason="one_rater")
        mean = mean_of(self.pairs) if self.pairs else nobody
        return [mean, *(self.pairs if len(self.pairs) <= MAX_PAIRS_WITH_INTERVALS else ())]

    def answer(self, figures: Sequence[Figure]) -> SetAgreement:
        mean, *of_pairs = figures
        of_pairs = of_pairs or [one.figure() for one in self.pairs]
        couples = self.question.couples
        empty = [both_looked(one) & (one.n_predicted + one.n_reference == 0) for one in self.named]
        return SetAgreement(
            stat=self.question.stat,
            n_items=self.n_items,
            n_raters=len(self.question.named),
            n_both_empty=sum(int(one.sum()) for one in empty),
            mean=mean,
            pairs=tuple(SetPair(*couple, figure) for couple, figure in zip(couples, of_pairs, strict=True)),
        )


def common(reference: Set[Hashable], predicted: Set[Hashable]) -> Row:
    n_both = len(reference & predicted)
    return len(reference), len(predicted), n_both, n_both, reference == predicted


def slim(summed: Summed, named: Named, stat: SetStat) -> Summed:
    """The same figure from two sums in place of four, as every thing that both named is one thing: draws cost by the
    number of sums."""
    if stat == "exact":
        return summed
    n_named = np.where(summed.counted, named.n_reference + named.n_predicted, 0.0)
    n_both = np.where(summed.counted, 2 * named.right, 0.0)
    features = np.column_stack([summed.counted.astype(float), n_both, n_named])
    return replace(summed, features=features, formula=lambda sums: ratio(sums[:, 1], sums[:, 2]))


def both_looked(named: Named) -> Mask:
    both: Mask = named.by_predicted & named.by_reference
    return both


def mean_of(pairs: Sequence[Summed]) -> Summed:
    """Over the pairs that have a value in the draw."""

    def formula(values: Sequence[Floats]) -> Floats:
        table = np.stack(values)
        there = ~np.isnan(table)
        return ratio(np.where(there, table, 0.0).sum(axis=0), there.sum(axis=0).astype(float))

    return combined(pairs, formula)


def undefined(sums: Floats) -> Floats:
    return np.full(len(sums), np.nan)
