"""May a judge stand in for a person? The alternative-annotator test: each annotator in turn is set against the judge,
both measured by what the other annotators said of the same items."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from scoring.stats.answers import Drawing
from scoring.stats.results import Figure
from scoring.stats.significance import benjamini_yekutieli, sign_flip_test
from scoring.stats.statistic import Floats, Mask, ratio
from scoring.stats.sums import Summed, with_intervals

Scoring = Literal["nominal", "numeric"]
Test = Literal["t", "sign_flip", "exact", "no_variance"]

MIN_ITEMS = 30
Q = 0.05
PASSES = 0.5
FEW_ANNOTATORS = 3
SAME = 1e-12
"""Distances closer than this differ by rounding only, so the two did equally well."""


@dataclass(frozen=True)
class AnnotatorTest:
    """The judge against one annotator, on the items that it, this annotator and someone else labelled.

    `judge_wins` and `own_wins` are the shares of items on which the one does at least as well as the other; the
    `difference` is own_wins - judge_wins. `p_t` is of the t-test over items, `p_clusters` of the signs of clusters,
    `p_exact` of all signs of few items; `test` says which of them counts. Where all differences are equal there
    is no t-test, and many items decide by that difference (`no_variance`). `adjusted` is that
    p among all annotators. `beaten`: this annotator's advantage over the judge is less than epsilon.
    """

    annotator: Hashable
    n_items: int
    n_clusters: int | None
    judge_score: float
    own_score: float
    judge_wins: float
    own_wins: float
    difference: float
    test: Test
    p_t: float | None
    p_clusters: float | None
    p_exact: float | None
    adjusted: float
    beaten: bool
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Place:
    """The judge among people: everyone's mean score against the others. `low` to `high` are the annotators'."""

    judge: float
    low: float
    high: float
    n_below: int
    n_equal: int
    n_above: int


@dataclass(frozen=True)
class AlternativeAnnotator:
    """`winning_rate` is the share of annotators who are beaten; `passes` at one half. `advantage` ranks judges: the
    mean over annotators of how often the judge does at least as well. `too_few` are the annotators who were not tested,
    with their numbers of items."""

    scoring: Scoring
    epsilon: float
    q: float
    min_items: int
    winning_rate: Figure
    advantage: Figure
    passes: bool | None
    annotators: tuple[AnnotatorTest, ...] = ()
    too_few: Mapping[Hashable, int] = field(default_factory=dict)
    place: Place | None = None


def alternative_annotator_test(
    people: npt.ArrayLike,
    judge: npt.ArrayLike,
    clusters: Sequence[Hashable] | None,
    *,
    annotators: Sequence[Hashable],
    scoring: Scoring,
    epsilon: float,
    drawing: Drawing,
    min_items: int = MIN_ITEMS,
    q: float = Q,
) -> AlternativeAnnotator:
    """Whether the judge may stand in for these annotators.

    Parameters
    ----------
    people : (n_items, n_annotators) codes with -1 for no rating, or, where scoring is `numeric`, numbers with nan.
    judge : (n_items,) of the same.
    clusters : the cluster of every item; None where each is its own. With clusters the signs of their sums are flipped
        in place of the t-test, which is printed beside it.
    scoring : `nominal`, the share of the others who said the same; `numeric`, minus the root mean squared distance.
    epsilon : what a person costs: 0.2 for experts, 0.15 for the skilled, 0.1 for a crowd. From 0 to 1.
    min_items : annotators with fewer are not tested. Where none has as many, all are, on all signs of their few items
        (flag `small_sample`), as are annotators with fewer than 30 items where min_items is less.
    q : the share of false findings among those beaten.

    Returns
    -------
    AlternativeAnnotator: reason `empty` (nobody rated anything), `one_rater` (one annotator), `no_overlap` (no item has
        two annotators and the judge). Flags: `few_annotators`, `small_sample`, `no_variance`.

    Raises
    ------
    ValueError for shapes, epsilon or q out of range.

    Source: Calderon, Reichart and Dror 2025, The Alternative Annotator Test for LLM-as-a-Judge.
    Checked against: the 36 published rows; fixtures/reference/alternative-annotator.json.
    """
    said, verdicts = np.asarray(people, dtype=float), np.asarray(judge, dtype=float)
    _check(said, verdicts, annotators, scoring=scoring, epsilon=epsilon, q=q, min_items=min_items)
    rated, judged = (_present(one, scoring) for one in (said, verdicts))
    usable = judged & (rated.sum(axis=1) >= 2)
    counted = rated & usable[:, None]
    counts = counted.sum(axis=0)
    chosen = np.flatnonzero(counts >= max(min_items, 1))
    if not len(chosen):
        chosen = np.flatnonzero(counts >= 1)
    figures = _Figures(rated, judged, usable, chosen)
    reason = figures.reason()
    if reason is not None:
        none = figures.figure(None, reason)
        return AlternativeAnnotator(scoring, epsilon, q, min_items, none, none, None)
    sides = [_Sides.of(said, verdicts, counted, place, scoring) for place in chosen.tolist()]
    names = [annotators[place] for place in chosen.tolist()]
    tests = _tests(sides, clusters, names, epsilon=epsilon, q=q, drawing=drawing)
    flags = tuple(flag for flag in ("small_sample", "no_variance") if any(flag in one.flags for one in tests))
    if len(tests) < FEW_ANNOTATORS:
        flags += ("few_annotators",)
    rate = sum(one.beaten for one in tests) / len(tests)
    (advantage,) = with_intervals([_advantage(sides, figures, flags)], clusters, drawing)
    return AlternativeAnnotator(
        scoring=scoring,
        epsilon=epsilon,
        q=q,
        min_items=min_items,
        winning_rate=figures.figure(rate, None, flags),
        advantage=advantage,
        passes=rate >= PASSES,
        annotators=tests,
        too_few={annotators[place]: int(n) for place, n in enumerate(counts) if place not in set(chosen.tolist())},
        place=_place(tests),
    )


@dataclass(frozen=True, eq=False)
class _Sides:
    """The judge and one annotator on the items that are `counted`: `wins` and `own_wins` say who did at least as well
    as the other, the scores how well in the mean."""

    counted: Mask
    judge_score: float
    own_score: float
    wins: Mask
    own_wins: Mask

    @classmethod
    def of(cls, said: Floats, verdicts: Floats, counted: Mask, place: int, scoring: Scoring) -> _Sides:
        mine = counted[:, place]
        others = counted[mine].copy()
        others[:, place] = False
        values = said[mine]
        losses = [_loss(one, values, others, scoring) for one in (verdicts[mine], values[:, place])]
        margin = SAME * np.maximum(1.0, np.maximum(*losses))
        wins, own_wins = np.zeros(len(said), dtype=bool), np.zeros(len(said), dtype=bool)
        wins[mine], own_wins[mine] = losses[0] <= losses[1] + margin, losses[1] <= losses[0] + margin
        scores = [float((1 - one if scoring == "nominal" else -np.sqrt(one)).mean()) for one in losses]
        return cls(mine, scores[0], scores[1], wins, own_wins)

    @property
    def differences(self) -> Floats:
        """(n counted,) of -1, 0 and 1."""
        found: Floats = self.own_wins[self.counted].astype(float) - self.wins[self.counted]
        return found


@dataclass(frozen=True, eq=False)
class _Figures:
    """What all figures of one test rest on."""

    rated: Mask
    judged: Mask
    usable: Mask
    chosen: npt.NDArray[np.int64]

    def reason(self) -> str | None:
        if not self.rated.any():
            return "empty"
        if self.rated.any(axis=0).sum() == 1:
            return "one_rater"
        return None if len(self.chosen) else "no_overlap"

    @property
    def used(self) -> Mask:
        used: Mask = self.usable & self.rated[:, self.chosen].any(axis=1)
        return used

    @property
    def left_out(self) -> dict[str, int]:
        few = self.judged & ~self.usable
        every = {"not_rated": int((~self.judged).sum()), "few_others": int(few.sum())}
        every["not_tested"] = int((self.usable & ~self.used).sum())
        return {why: n for why, n in every.items() if n}

    @property
    def n_ratings(self) -> int:
        """Those of people."""
        return int(self.rated[self.used].sum())

    def figure(self, value: float | None, reason: str | None, flags: tuple[str, ...] = ()) -> Figure:
        return Figure(
            value=value,
            reason=reason,
            n_items=int(self.used.sum()),
            n_ratings=self.n_ratings,
            n_raters=len(self.chosen),
            left_out=self.left_out,
            flags=flags,
        )


def _check(
    said: Floats,
    verdicts: Floats,
    annotators: Sequence[Hashable],
    *,
    scoring: str,
    epsilon: float,
    q: float,
    min_items: int,
) -> None:
    if said.ndim != 2 or verdicts.shape != said.shape[:1] or said.shape[1] != len(annotators):
        raise ValueError(
            f"people is {said.shape}, judge {verdicts.shape}, and there are {len(annotators)} annotators: rows are "
            "items, columns annotators, and the judge has one verdict for each item."
        )
    if np.isinf(said).any() or np.isinf(verdicts).any():
        raise ValueError("Ratings are finite numbers; use nan for none.")
    if scoring not in ("nominal", "numeric"):
        raise ValueError(f"scoring is {scoring!r}; it is nominal or numeric.")
    for name, number in (("epsilon", epsilon), ("q", q)):
        if not 0 <= number <= 1:
            raise ValueError(f"{name} is {number}; it is a share from 0 to 1.")
    if min_items < 1:
        raise ValueError(f"min_items is {min_items}; an annotator needs at least one item.")


def _present(values: Floats, scoring: Scoring) -> Mask:
    present: Mask = ~np.isnan(values) if scoring == "numeric" else values >= 0
    return present


def _loss(one: Floats, values: Floats, others: Mask, scoring: Scoring) -> Floats:
    """By item the mean distance to the others: 0 or 1 for names, squared for numbers."""
    apart = one[:, None] != values if scoring == "nominal" else (one[:, None] - values) ** 2
    mean: Floats = np.where(others, apart, 0.0).sum(axis=1) / others.sum(axis=1)
    return mean


def _tests(
    sides: Sequence[_Sides],
    clusters: Sequence[Hashable] | None,
    names: Sequence[Hashable],
    *,
    epsilon: float,
    q: float,
    drawing: Drawing,
) -> tuple[AnnotatorTest, ...]:
    raw = [_tested(one, clusters, epsilon=epsilon, drawing=drawing) for one in sides]
    p_values = [_decides(one, side, epsilon) for one, side in zip(raw, sides, strict=True)]
    adjusted = benjamini_yekutieli(p_values).adjusted
    return tuple(
        AnnotatorTest(
            annotator=name,
            n_items=int(side.counted.sum()),
            n_clusters=one.n_clusters,
            judge_score=side.judge_score,
            own_score=side.own_score,
            judge_wins=float(side.wins[side.counted].mean()),
            own_wins=float(side.own_wins[side.counted].mean()),
            difference=float(side.differences.mean()),
            test=one.test,
            p_t=one.p_t,
            p_clusters=one.p_clusters,
            p_exact=one.p_exact,
            adjusted=float(p or 0.0),
            beaten=p is not None and p <= q,
            flags=one.flags,
        )
        for name, side, one, p in zip(names, sides, raw, adjusted, strict=True)
    )


@dataclass(frozen=True)
class _Tested:
    test: Test
    n_clusters: int | None
    p_t: float | None = None
    p_clusters: float | None = None
    p_exact: float | None = None
    flags: tuple[str, ...] = ()


def _tested(side: _Sides, clusters: Sequence[Hashable] | None, *, epsilon: float, drawing: Drawing) -> _Tested:
    differences = side.differences
    mine = None if clusters is None else [clusters[row] for row in np.flatnonzero(side.counted).tolist()]
    n_clusters = None if mine is None else len(set(mine))
    is_small, varies = len(differences) < MIN_ITEMS, bool(np.ptp(differences) > 0)
    flags = (("small_sample",) if is_small else ()) + (() if varies else ("no_variance",))
    p_t = float(stats.ttest_1samp(differences, epsilon, alternative="less").pvalue) if varies else None
    p_exact = all_signs_below(differences - epsilon) if is_small else None
    if mine is not None and n_clusters != len(mine):
        p_clusters = sign_flip_test(differences - epsilon, mine, alternative="less", seed=drawing.seed).value
        return _Tested("sign_flip", n_clusters, p_t=p_t, p_clusters=p_clusters, p_exact=p_exact, flags=flags)
    test: Test = "exact" if is_small else "t" if varies else "no_variance"
    return _Tested(test, n_clusters, p_t=p_t, p_exact=p_exact, flags=flags)


def _decides(one: _Tested, side: _Sides, epsilon: float) -> float | None:
    """The p that counts. Without variance there is none: a difference below epsilon is as sure as can be."""
    if one.test == "no_variance":
        return 0.0 if side.differences[0] < epsilon else 1.0
    return {"t": one.p_t, "sign_flip": one.p_clusters, "exact": one.p_exact}[one.test]


def all_signs_below(values: Floats) -> float:
    """In what share of all sign flips the sum is at most what it is. Differences of few sizes make this cheap: only how
    many of each size are flipped counts."""
    sizes, counts = np.unique(np.round(np.abs(values), 12), return_counts=True)
    sums, chance = np.zeros(1), np.ones(1)
    for size, n in zip(sizes.tolist(), counts.tolist(), strict=True):
        steps = size * (2.0 * np.arange(n + 1) - n)
        ways = np.array([comb(n, k) for k in range(n + 1)], dtype=float) / 2.0**n
        sums, chance = np.add.outer(sums, steps).ravel(), np.multiply.outer(chance, ways).ravel()
    tolerance = 1e-9 * float(np.abs(values).sum())
    return float(chance[sums <= values.sum() + tolerance].sum())


def _advantage(sides: Sequence[_Sides], figures: _Figures, flags: tuple[str, ...]) -> Summed:
    used = figures.used
    columns = [column.astype(float) for side in sides for column in (side.counted, side.wins)]

    def mean_of_shares(sums: Floats) -> Floats:
        mean: Floats = ratio(sums[:, 2::2], sums[:, 1::2]).mean(axis=1)
        return mean

    return Summed(
        np.column_stack([used.astype(float), *columns]),
        mean_of_shares,
        left_out=figures.left_out,
        flags=flags,
        n_ratings=figures.n_ratings,
        n_raters=len(sides),
    )


def _place(tests: Sequence[AnnotatorTest]) -> Place:
    """The judge's score is its mean over the same items and others as each annotator's, in turn."""
    judge = float(np.mean([one.judge_score for one in tests]))
    own = [one.own_score for one in tests]
    n_below, n_above = sum(score < judge - SAME for score in own), sum(score > judge + SAME for score in own)
    return Place(judge, min(own), max(own), n_below, n_equal=len(own) - n_below - n_above, n_above=n_above)
