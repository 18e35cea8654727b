"""A judge against the majority of people. The judge's column is looked at here only: no figure about people has it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scoring.stats.agreement import check_ties
from scoring.stats.intervals import Sampling
from scoring.stats.majority import KappaWithMajority, ShareWithMajority, Ties, confusion_with_majority, votes_of_others
from scoring.stats.panel import Tie, other_rules, rule_name, ties_of
from scoring.stats.panel_results import OtherRule
from scoring.stats.ratings import MISSING, Codes, Ratings, UnknownLabel
from scoring.stats.resampling import group_items, resample
from scoring.stats.results import Figure, plain


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
    n_categories = len(people.categories)
    ties = ties_of(tie, people)
    check_ties(ties, n_categories=n_categories, min_others=min_raters)
    codes = with_judge(people, verdicts)
    judge = len(people.raters)
    options = (judge, n_categories, ties, min_raters)
    statistics = (ShareWithMajority(*options), KappaWithMajority(*options))
    groups = group_items(codes, clusters)
    sampling = Sampling(unit=unit, min_clusters=min_clusters, seed=seed, independent=groups.independent)
    rng = np.random.Generator(np.random.PCG64(seed))
    resamples = resample(statistics, codes, groups, rng=rng, n_resamples=n_resamples)
    accuracy, kappa = (
        resamples.with_interval(one.figure(codes), place, sampling, is_share=one.is_share)
        for place, one in enumerate(statistics)
    )
    labelled = (people.codes >= 0).any(axis=1)
    votes = votes_of_others(codes, *options)
    missing = labelled & ~votes.rated
    unreadable = np.array([item in verdicts.unreadable for item in people.items], dtype=bool)
    known = {people.items[row] for row in np.flatnonzero(labelled).tolist()}
    return JudgeAgreement(
        run=verdicts.run,
        judge=verdicts.judge,
        tie_rule=rule_name(ties, people),
        min_raters=min_raters,
        categories=people.categories,
        n_items=int(labelled.sum()),
        accuracy=accuracy,
        kappa=kappa,
        confusion=confusion_with_majority(codes, *options),
        n_ties=int((labelled & votes.rated & votes.tied).sum()),
        n_few=int((labelled & votes.rated & ~votes.enough).sum()),
        n_missing=int(missing.sum()),
        n_unreadable=int((missing & unreadable).sum()),
        n_unlabelled=sum(1 for item, label in verdicts.said.items() if label is not None and item not in known),
        other_rules=tuple(_under_rule(codes, people, judge, rule, min_raters) for rule in other_rules(people, ties)),
    )


def with_judge(people: Ratings, verdicts: Verdicts) -> Codes:
    """The people's columns and, last, the judge's. An item that no person labelled is no part: its judge is missing."""
    column = np.full(len(people.items), MISSING, dtype=np.int64)
    labelled = (people.codes >= 0).any(axis=1)
    for row in np.flatnonzero(labelled).tolist():
        label = verdicts.said.get(people.items[row])
        if label is not None:
            column[row] = _code(people, label, verdicts, people.items[row])
    return np.column_stack([people.codes, column])


def _code(people: Ratings, label: Hashable, verdicts: Verdicts, item: Hashable) -> int:
    try:
        return people.code_of(label)
    except ValueError as error:
        raise UnknownLabel(str(error), item=item, rater=f"{verdicts.judge} {verdicts.run}") from error


def _under_rule(codes: Codes, people: Ratings, judge: int, rule: Ties, min_raters: int) -> OtherRule:
    options = (judge, len(people.categories), rule, min_raters)
    return OtherRule(
        rule=rule_name(rule, people),
        annotator_vs_majority=ShareWithMajority(*options).figure(codes),
        annotator_vs_majority_kappa=None if rule == "fractional" else KappaWithMajority(*options).figure(codes),
    )
