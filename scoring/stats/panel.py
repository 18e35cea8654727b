"""All agreement figures of one measure and one panel of raters, from one draw of clusters."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from scoring.stats.agreement import check_ties
from scoring.stats.alpha import alpha_of
from scoring.stats.answers import Drawing, answers
from scoring.stats.chance import CohenKappa, FleissKappa, PercentAgreement, distances_of
from scoring.stats.intervals import Sampling
from scoring.stats.majority import (
    KappaWithMajority,
    ShareWithMajority,
    Ties,
    confusion_with_majority,
    cross_counts,
    votes_of_others,
)
from scoring.stats.panel_results import OtherRule, PairAgreement, PanelAgreement, PanelLevel, Prevalence, RaterAgreement
from scoring.stats.ratings import Codes, Ratings
from scoring.stats.resampling import Asked, Resamples, rated_alike
from scoring.stats.results import Figure
from scoring.stats.statistic import (
    Counts,
    Mask,
    Statistic,
    account_of,
    category_counts,
    n_items,
    table_reason,
    unpaired,
)

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
class PanelQuestion:
    """What is asked of the panel, checked. Row i of `codes` stands for `times[i]` items that were rated alike."""

    ratings: Ratings
    level: PanelLevel
    ties: Ties
    min_others: int
    min_common: int
    codes: Codes
    times: Counts
    statistics: Mapping[Key, Statistic]

    @classmethod
    def of(
        cls, ratings: Ratings, *, level: PanelLevel, tie: Tie, min_others: int, min_common: int = 20
    ) -> PanelQuestion:
        """As `panel_agreement` takes them."""
        ties = ties_of(tie, ratings)
        check_ties(ties, n_categories=len(ratings.categories), min_others=min_others)
        statistics = _statistics(ratings, level, ties, min_others)
        return cls(ratings, level, ties, min_others, min_common, *rated_alike(ratings.codes), statistics)

    @property
    def n_categories(self) -> int:
        return len(self.ratings.categories)

    @property
    def drawn(self) -> tuple[Key, ...]:
        """The figures that have an interval."""
        return tuple(key for key in self.statistics if _has_interval(key, n_raters=len(self.ratings.raters)))

    @property
    def asked(self) -> Asked:
        return Asked([self.statistics[key] for key in self.drawn], self.ratings.codes)

    def answer(self, resamples: Resamples, sampling: Sampling, *, n_clusters: int, seed: int) -> PanelAgreement:
        places = {key: place for place, key in enumerate(self.drawn)}
        figures = {
            key: resamples.with_interval(figure, places[key], sampling, is_share=self.statistics[key].is_share)
            if key in places
            else replace(figure, interval_reason="too_many_pairs")
            for key, figure in self._points().items()
        }
        counts = category_counts(self.codes, self.n_categories)
        percent_agreement, percent_agreement_pair, fleiss_kappa, krippendorff_alpha = (figures[key] for key in WHOLE)
        return PanelAgreement(
            level=self.level,
            tie_rule=rule_name(self.ties, self.ratings),
            min_others=self.min_others,
            min_common=self.min_common,
            unit=sampling.unit,
            n_clusters=n_clusters,
            n_resamples=int(resamples.repeats.sum()),
            seed=seed,
            n_items=n_items(counts.sum(axis=1) > 0, self.times),
            n_raters=int((self.codes >= 0).any(axis=0).sum()),
            n_ratings=int(self.times @ counts.sum(axis=1)),
            n_tied_items=_n_tied_items(counts, self.times),
            left_out={why: count for why, count in unpaired(self.codes, self.times).items() if count},
            prevalence=_prevalence(self.ratings, self.times @ counts),
            percent_agreement=percent_agreement,
            percent_agreement_pair=percent_agreement_pair,
            fleiss_kappa=fleiss_kappa,
            krippendorff_alpha=krippendorff_alpha,
            mean_cohen_kappa=_mean_cohen_kappa(self, figures, resamples, places, sampling),
            pairs=tuple(_pair(self, key, figure) for key, figure in figures.items() if key[0] == "pair"),
            raters=tuple(_rater(self, column, figures) for column in range(len(self.ratings.raters))),
        )

    def _points(self) -> dict[Key, Figure]:
        return {key: statistic.figure(self.codes, self.times) for key, statistic in self.statistics.items()}


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
    question = PanelQuestion.of(ratings, level=level, tie=tie, min_others=min_others, min_common=min_common)
    drawing = Drawing(unit=unit, seed=seed, min_clusters=min_clusters, n_resamples=n_resamples)
    (panel,) = answers([question], clusters, drawing)
    return panel


def _statistics(ratings: Ratings, level: PanelLevel, ties: Ties, min_others: int) -> dict[Key, Statistic]:
    q, n_raters = len(ratings.categories), len(ratings.raters)
    whole: tuple[Statistic, ...] = (
        PercentAgreement(q, "item"),
        PercentAgreement(q, "pair"),
        FleissKappa(q),
        alpha_of(level, n_categories=q, values=_numbers(ratings, level)),
    )
    statistics: dict[Key, Statistic] = dict(zip(WHOLE, whole, strict=True))
    same_or_not = distances_of("unweighted", n_categories=q, weight_matrix=None)
    for first, second in combinations(range(n_raters), 2):
        statistics["pair", first, second] = CohenKappa(same_or_not, first, second)
    for rater in range(n_raters):
        options = (rater, q, ties, min_others)
        statistics["annotator_vs_majority", rater, rater] = ShareWithMajority(*options)
        statistics["annotator_vs_majority_kappa", rater, rater] = KappaWithMajority(*options)
    return statistics


def _has_interval(key: Key, *, n_raters: int) -> bool:
    return key[0] != "pair" or n_raters * (n_raters - 1) // 2 <= MAX_PAIRS_WITH_INTERVALS


def _numbers(ratings: Ratings, level: PanelLevel) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None:
    if level != "interval":
        return None
    categories = ratings.categories
    for category in categories:
        if isinstance(category, bool) or not isinstance(category, (int, float)):
            raise ValueError(f"Category {category!r} is no number; an interval level needs numbers as categories.")
    return np.array(categories, dtype=float)


def _pair(question: PanelQuestion, key: Key, kappa: Figure) -> PairAgreement:
    _, first, second = key
    a, b, raters = question.codes[:, first], question.codes[:, second], question.ratings.raters
    both = (a >= 0) & (b >= 0)
    return PairAgreement(
        first=raters[first],
        second=raters[second],
        n_common=n_items(both, question.times),
        cohen_kappa=kappa,
        confusion=cross_counts(a[both], b[both], question.times[both], n_categories=question.n_categories),
    )


def _rater(question: PanelQuestion, rater: int, figures: dict[Key, Figure]) -> RaterAgreement:
    codes, times, q = question.codes, question.times, question.n_categories
    votes = votes_of_others(codes, rater, q, question.ties, question.min_others)
    return RaterAgreement(
        rater=question.ratings.raters[rater],
        n_ratings=n_items(votes.rated, times),
        annotator_vs_majority=figures["annotator_vs_majority", rater, rater],
        annotator_vs_majority_kappa=figures["annotator_vs_majority_kappa", rater, rater],
        n_ties=n_items(votes.rated & votes.tied, times),
        n_few_others=n_items(votes.rated & ~votes.enough, times),
        confusion=confusion_with_majority(codes, times, votes, rater=rater, n_categories=q),
        other_rules=under_other_rules(question.ratings, codes, times, rater, question.ties, question.min_others),
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


def under_other_rules(
    ratings: Ratings, codes: Codes, times: Counts, rater: int, ties: Ties, min_others: int
) -> tuple[OtherRule, ...]:
    """What one column's figures would be."""

    def under(rule: Ties) -> OtherRule:
        options = (rater, len(ratings.categories), rule, min_others)
        share, kappa = ShareWithMajority(*options), KappaWithMajority(*options)
        return OtherRule(
            rule=rule_name(rule, ratings),
            annotator_vs_majority=share.figure(codes, times),
            annotator_vs_majority_kappa=None if rule == "fractional" else kappa.figure(codes, times),
        )

    return tuple(map(under, other_rules(ratings, ties)))


def rule_name(ties: Ties, ratings: Ratings) -> str:
    return ties if isinstance(ties, str) else f"toward:{ratings.categories[ties[1]]}"


def _mean_cohen_kappa(
    question: PanelQuestion,
    figures: dict[Key, Figure],
    resamples: Resamples,
    places: dict[Key, int],
    sampling: Sampling,
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
    account = account_of(question.codes, question.times, used, reason=reason, left_out=left_out)
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


def _n_tied_items(counts: Counts, times: Counts) -> int:
    most = counts.max(axis=1, keepdims=True)
    return n_items(((counts == most).sum(axis=1) > 1) & (most[:, 0] > 0), times)


def _prevalence(ratings: Ratings, counts: Counts) -> tuple[Prevalence, ...]:
    total, chosen = int(counts.sum()), counts.tolist()
    return tuple(
        Prevalence(category=category, n_ratings=n, share=n / total if total else None)
        for category, n in zip(ratings.categories, chosen, strict=True)
    )
