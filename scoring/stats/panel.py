"""All agreement figures of one measure and one panel of raters, from one draw of clusters."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from scoring.stats.agreement import check_ties, confusion
from scoring.stats.alpha import alpha_of
from scoring.stats.chance import CohenKappa, FleissKappa, PercentAgreement, distances_of
from scoring.stats.intervals import Sampling
from scoring.stats.majority import KappaWithMajority, ShareWithMajority, Ties, confusion_with_majority, votes_of_others
from scoring.stats.panel_results import OtherRule, PairAgreement, PanelAgreement, PanelLevel, Prevalence, RaterAgreement
from scoring.stats.ratings import Codes, Ratings
from scoring.stats.resampling import Resamples, group_items, resample
from scoring.stats.results import Figure
from scoring.stats.statistic import Counts, Mask, Statistic, account_of, category_counts, table_reason, unpaired

Tie = Literal["exclude"] | tuple[Literal["toward"], Hashable]
Key = tuple[str, int, int]
"""Which figure: its name, and the columns of its raters where it is about one or two of them."""

WHOLE = (
    ("percent_agreement", 0, 0),
    ("percent_agreement_pair", 0, 0),
    ("fleiss_kappa", 0, 0),
    ("krippendorff_alpha", 0, 0),
)

MAX_PAIRS_WITH_INTERVALS = 190
"""Of 20 raters. The sums of more pairs would fill the memory, and nobody reads thousands of whiskers."""


@dataclass(frozen=True, eq=False)
class _Question:
    """What is asked of the panel; check once, hand on."""

    ratings: Ratings
    level: PanelLevel
    ties: Ties
    min_others: int
    min_common: int

    @property
    def codes(self) -> Codes:
        return self.ratings.codes

    @property
    def n_categories(self) -> int:
        return len(self.ratings.categories)


def panel_agreement(
    ratings: Ratings,
    clusters: Sequence[Hashable] | None,
    *,
    level: PanelLevel,
    tie: Tie,
    min_others: int,
    unit: str,
    seed: int,
    min_clusters: int = 5,
    n_resamples: int = 10_000,
    min_common: int = 20,
) -> PanelAgreement:
    """Percent agreement, Fleiss' kappa (Gwet's form), alpha, every pair, and every rater against the others.

    Parameters
    ----------
    clusters : the cluster of every item, in the order of ratings.items; None where each item is its own.
    level : of alpha. `interval` takes the categories themselves as numbers.
    tie : `exclude`, or ("toward", category) where ties count as that category; the other rules are given beside it.
    min_others : how many ratings of others make a majority.
    unit : what a cluster is, in the words of the report.
    min_clusters : no interval with fewer; at least 2. Fewer than 5 are flagged.
    seed : of the one draw all intervals share; the same seed gives the same bytes.
    min_common : how many items two raters share for their kappa to enter the mean over pairs.

    Raises
    ------
    ValueError if the tie category is not declared, an interval category is no number, or clusters and items differ in
    number.
    """
    ties = ties_of(tie, ratings)
    check_ties(ties, n_categories=len(ratings.categories), min_others=min_others)
    question = _Question(ratings, level, ties, min_others, min_common)
    groups = group_items(ratings.codes, clusters)
    sampling = Sampling(unit=unit, min_clusters=min_clusters, seed=seed, independent=groups.independent)
    statistics = _statistics(question)
    drawn = {key: one for key, one in statistics.items() if _has_interval(key, n_raters=len(ratings.raters))}
    rng = np.random.Generator(np.random.PCG64(seed))
    resamples = resample(list(drawn.values()), ratings.codes, groups, rng=rng, n_resamples=n_resamples)
    places = {key: place for place, key in enumerate(drawn)}
    figures = {
        key: resamples.with_interval(
            statistic.figure(ratings.codes), places[key], sampling, is_share=statistic.is_share
        )
        if key in places
        else replace(statistic.figure(ratings.codes), interval_reason="too_many_pairs")
        for key, statistic in statistics.items()
    }
    counts = category_counts(ratings.codes, question.n_categories)
    percent_agreement, percent_agreement_pair, fleiss_kappa, krippendorff_alpha = (figures[key] for key in WHOLE)
    return PanelAgreement(
        level=level,
        tie_rule=rule_name(ties, ratings),
        min_others=min_others,
        min_common=min_common,
        unit=unit,
        n_clusters=groups.n_clusters,
        n_resamples=int(resamples.repeats.sum()),
        seed=seed,
        n_items=int((counts.sum(axis=1) > 0).sum()),
        n_raters=int((ratings.codes >= 0).any(axis=0).sum()),
        n_ratings=int(counts.sum()),
        n_tied_items=_n_tied_items(counts),
        left_out={why: count for why, count in unpaired(ratings.codes).items() if count},
        prevalence=_prevalence(ratings, counts),
        percent_agreement=percent_agreement,
        percent_agreement_pair=percent_agreement_pair,
        fleiss_kappa=fleiss_kappa,
        krippendorff_alpha=krippendorff_alpha,
        mean_cohen_kappa=_mean_cohen_kappa(question, figures, resamples, places, sampling),
        pairs=tuple(_pair(question, key, figure) for key, figure in figures.items() if key[0] == "pair"),
        raters=tuple(_rater(question, column, figures) for column in range(len(ratings.raters))),
    )


def _statistics(question: _Question) -> dict[Key, Statistic]:
    q, n_raters = question.n_categories, len(question.ratings.raters)
    whole: tuple[Statistic, ...] = (
        PercentAgreement(q, "item"),
        PercentAgreement(q, "pair"),
        FleissKappa(q),
        alpha_of(question.level, n_categories=q, values=_numbers(question)),
    )
    statistics: dict[Key, Statistic] = dict(zip(WHOLE, whole, strict=True))
    same_or_not = distances_of("unweighted", n_categories=q, weight_matrix=None)
    for first, second in combinations(range(n_raters), 2):
        statistics["pair", first, second] = CohenKappa(same_or_not, first, second)
    for rater in range(n_raters):
        options = (rater, q, question.ties, question.min_others)
        statistics["annotator_vs_majority", rater, rater] = ShareWithMajority(*options)
        statistics["annotator_vs_majority_kappa", rater, rater] = KappaWithMajority(*options)
    return statistics


def _has_interval(key: Key, *, n_raters: int) -> bool:
    return key[0] != "pair" or n_raters * (n_raters - 1) // 2 <= MAX_PAIRS_WITH_INTERVALS


def _numbers(question: _Question) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None:
    if question.level != "interval":
        return None
    categories = question.ratings.categories
    for category in categories:
        if isinstance(category, bool) or not isinstance(category, (int, float)):
            raise ValueError(f"Category {category!r} is no number; an interval level needs numbers as categories.")
    return np.array(categories, dtype=float)


def _pair(question: _Question, key: Key, kappa: Figure) -> PairAgreement:
    _, first, second = key
    codes, raters = question.codes, question.ratings.raters
    table = confusion(codes[:, first], codes[:, second], n_categories=question.n_categories)
    return PairAgreement(
        first=raters[first],
        second=raters[second],
        n_common=int(table.sum()),
        cohen_kappa=kappa,
        confusion=tuple(tuple(row) for row in table.tolist()),
    )


def _rater(question: _Question, rater: int, figures: dict[Key, Figure]) -> RaterAgreement:
    votes = votes_of_others(question.codes, rater, question.n_categories, question.ties, question.min_others)
    return RaterAgreement(
        rater=question.ratings.raters[rater],
        n_ratings=int(votes.rated.sum()),
        annotator_vs_majority=figures["annotator_vs_majority", rater, rater],
        annotator_vs_majority_kappa=figures["annotator_vs_majority_kappa", rater, rater],
        n_ties=int((votes.rated & votes.tied).sum()),
        n_few_others=int((votes.rated & ~votes.enough).sum()),
        confusion=confusion_with_majority(
            question.codes, rater, question.n_categories, question.ties, question.min_others
        ),
        other_rules=tuple(_under_rule(question, rater, rule) for rule in other_rules(question.ratings, question.ties)),
    )


def ties_of(tie: Tie, ratings: Ratings) -> Ties:
    """The rule with the category's code in place of the category."""
    return ("toward", ratings.code_of(tie[1])) if isinstance(tie, tuple) else tie


def other_rules(ratings: Ratings, ties: Ties) -> list[Ties]:
    """Toward either category of two; with more categories nobody would call a tie for one that was not declared."""
    q = len(ratings.categories)
    rules: list[Ties] = ["exclude", "fractional"]
    if q == 2:
        rules += [("toward", code) for code in range(q)]
    return [rule for rule in rules if rule != ties]


def _under_rule(question: _Question, rater: int, rule: Ties) -> OtherRule:
    options = (rater, question.n_categories, rule, question.min_others)
    return OtherRule(
        rule=rule_name(rule, question.ratings),
        annotator_vs_majority=ShareWithMajority(*options).figure(question.codes),
        annotator_vs_majority_kappa=(
            None if rule == "fractional" else KappaWithMajority(*options).figure(question.codes)
        ),
    )


def rule_name(ties: Ties, ratings: Ratings) -> str:
    return ties if isinstance(ties, str) else f"toward:{ratings.categories[ties[1]]}"


def _mean_cohen_kappa(
    question: _Question, figures: dict[Key, Figure], resamples: Resamples, places: dict[Key, int], sampling: Sampling
) -> Figure:
    """Cohen's kappa averaged over the pairs that have enough items in common and a kappa at all."""
    pairs = {key: figure for key, figure in figures.items() if key[0] == "pair"}
    enough = {key: figure for key, figure in pairs.items() if figure.n_items >= question.min_common}
    defined = {key: figure.value for key, figure in enough.items() if figure.value is not None}
    reason = None
    if not defined:
        undefined = next((figure.reason for figure in enough.values()), "few_common_items")
        reason = table_reason(question.codes) or undefined
    left_out = {"few_common_items": len(pairs) - len(enough), "undefined": len(enough) - len(defined)}
    used: Mask = np.zeros(len(question.codes), dtype=bool)
    for _, first, second in defined:
        used |= (question.codes[:, first] >= 0) & (question.codes[:, second] >= 0)
    account = account_of(question.codes, used, reason=reason, left_out=left_out)
    figure = Figure(
        value=float(np.mean(list(defined.values()))) if defined else None,
        reason=reason,
        n_items=account.n_items,
        n_ratings=account.n_ratings,
        n_raters=account.n_raters,
        left_out={why: count for why, count in left_out.items() if count},
    )
    if any(key not in places for key in defined):
        return replace(figure, interval_reason="too_many_pairs")
    return resamples.mean_of([places[key] for key in defined]).with_interval(figure, 0, sampling, is_share=False)


def _n_tied_items(counts: Counts) -> int:
    most = counts.max(axis=1, keepdims=True)
    return int((((counts == most).sum(axis=1) > 1) & (most[:, 0] > 0)).sum())


def _prevalence(ratings: Ratings, counts: Counts) -> tuple[Prevalence, ...]:
    total = int(counts.sum())
    chosen = counts.sum(axis=0).tolist()
    return tuple(
        Prevalence(category=category, n_ratings=n, share=n / total if total else None)
        for category, n in zip(ratings.categories, chosen, strict=True)
    )
