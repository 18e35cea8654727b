"""A judge against the majority of people. The judge's column is looked at here only: no figure about people has it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scoring.stats.agreement import check_ties
from scoring.stats.answers import Drawing, answers
from scoring.stats.intervals import Sampling
from scoring.stats.majority import KappaWithMajority, ShareWithMajority, Ties, confusion_with_majority, votes_of_others
from scoring.stats.panel import Tie, rule_name, ties_of, under_other_rules
from scoring.stats.panel_results import OtherRule
from scoring.stats.ratings import MISSING, Codes, Ratings, UnknownLabel
from scoring.stats.resampling import Asked, Resamples, rated_alike
from scoring.stats.results import Figure, plain
from scoring.stats.statistic import Counts, Mask, n_items


@dataclass(frozen=True)
class JudgeAgreement:
    """A judge's run against the majority of people.

    `n_items` counts the items with a label of a person. Each of them is compared, or counts in one of `n_missing` (no
    label of the judge; `n_unreadable` of these had an answer that nobody could read), `n_few` (fewer than `min_raters`
    people) and the ties. `n_ties` counts items whose people tie, whatever the rule; which of them are left out
    is in `accuracy.left_out`. `n_unlabelled` verdicts are on items that no person labelled. Rows of `confusion` are
    the majority, columns the judge, in the order of `categories`.
    """

    run: int
    judge: str
    tie_rule: str
    min_raters: int
    categories: tuple[Hashable, ...]
    n_items: int
    accuracy: Figure
    kappa: Figure
    confusion: tuple[tuple[int, ...], ...]
    n_ties: int
    n_few: int
    n_missing: int
    n_unreadable: int
    n_unlabelled: int
    other_rules: tuple[OtherRule, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON values; floats with 10 significant digits."""
        value: dict[str, Any] = plain(self)
        return value


@dataclass(frozen=True)
class Verdicts:
    """What a run said, by item: a category, or None where it said nothing that is one. `unreadable` are the items whose
    answer nobody could read."""

    run: int
    judge: str
    said: Mapping[Hashable, Hashable | None]
    unreadable: frozenset[Hashable] = frozenset()


@dataclass(frozen=True, eq=False)
class JudgeQuestion:
    """What is asked of a judge, checked. Row i of `alike` stands for `times[i]` items that everybody rated alike; the
    judge is the last column."""

    people: Ratings
    verdicts: Verdicts
    ties: Ties
    min_raters: int
    codes: Codes
    alike: Codes
    times: Counts

    @classmethod
    def of(cls, people: Ratings, verdicts: Verdicts, *, tie: Tie, min_raters: int) -> JudgeQuestion:
        """As `judge_agreement` takes them."""
        ties = ties_of(tie, people)
        check_ties(ties, n_categories=len(people.categories), min_others=min_raters)
        codes = with_judge(people, verdicts)
        return cls(people, verdicts, ties, min_raters, codes, *rated_alike(codes))

    @property
    def options(self) -> tuple[int, int, Ties, int]:
        return len(self.people.raters), len(self.people.categories), self.ties, self.min_raters

    @property
    def asked(self) -> Asked:
        return Asked((ShareWithMajority(*self.options), KappaWithMajority(*self.options)), self.codes)

    def answer(self, resamples: Resamples, sampling: Sampling, *, n_clusters: int, seed: int) -> JudgeAgreement:
        judge, n_categories, ties, _ = self.options
        accuracy, kappa = (
            resamples.with_interval(one.figure(self.alike, self.times), place, sampling, is_share=one.is_share)
            for place, one in enumerate(self.asked.statistics)
        )
        votes = votes_of_others(self.alike, *self.options)
        labelled, known = has_rating(self.alike[:, :-1]), has_rating(self.people.codes)
        unlabelled = set(self.verdicts.said).difference(
            item for item, is_known in zip(self.people.items, known.tolist(), strict=True) if is_known
        )
        unreadable = [item in self.verdicts.unreadable for item in self.people.items]
        return JudgeAgreement(
            run=self.verdicts.run,
            judge=self.verdicts.judge,
            tie_rule=rule_name(ties, self.people),
            min_raters=self.min_raters,
            categories=self.people.categories,
            n_items=n_items(labelled, self.times),
            accuracy=accuracy,
            kappa=kappa,
            confusion=confusion_with_majority(
                self.alike, self.times, votes, rater=judge, n_categories=n_categories
            ),
            n_ties=n_items(labelled & votes.rated & votes.tied, self.times),
            n_few=n_items(labelled & votes.rated & ~votes.enough, self.times),
            n_missing=n_items(labelled & ~votes.rated, self.times),
            n_unreadable=int((known & (self.codes[:, -1] < 0) & np.array(unreadable, dtype=bool)).sum()),
            n_unlabelled=sum(self.verdicts.said[item] is not None for item in unlabelled),
            other_rules=under_other_rules(self.people, self.alike, self.times, judge, ties, self.min_raters),
        )


def judge_agreement(
    people: Ratings,
    verdicts: Verdicts,
    clusters: Sequence[Hashable] | None,
    *,
    tie: Tie,
    min_raters: int,
    unit: str,
    seed: int,
    min_clusters: int = 5,
    n_resamples: int = 10_000,
) -> JudgeAgreement:
    """Accuracy and Cohen's kappa of a judge against the unique mode of at least `min_raters` people.

    Parameters
    ----------
    people : the ratings of people alone.
    verdicts : of one run; those on items outside `people` are counted and play no other part.
    clusters, tie, unit, seed, min_clusters : as with `panel_agreement`.

    Raises
    ------
    UnknownLabel where the judge said what is no declared category.
    """
    question = JudgeQuestion.of(people, verdicts, tie=tie, min_raters=min_raters)
    drawing = Drawing(unit=unit, seed=seed, min_clusters=min_clusters, n_resamples=n_resamples)
    (judge,) = answers([question], clusters, drawing)
    return judge


def with_judge(people: Ratings, verdicts: Verdicts) -> Codes:
    """The people's columns and, last, the judge's. An item that no person labelled is no part: its judge is missing."""
    column = np.full(len(people.items), MISSING, dtype=np.int64)
    codes: dict[tuple[type, Hashable], int] = {}
    for row in np.flatnonzero(has_rating(people.codes)).tolist():
        label = verdicts.said.get(people.items[row])
        if label is None:
            continue
        key = (type(label), label)
        if key not in codes:
            codes[key] = _code(people, label, verdicts, people.items[row])
        column[row] = codes[key]
    return np.column_stack([people.codes, column])


def _code(people: Ratings, label: Hashable, verdicts: Verdicts, item: Hashable) -> int:
    try:
        return people.code_of(label)
    except ValueError as error:
        raise UnknownLabel(str(error), item=item, rater=f"{verdicts.judge} {verdicts.run}") from error


def has_rating(codes: Codes) -> Mask:
    """By row."""
    return np.asarray((codes >= 0).any(axis=1), dtype=bool)
