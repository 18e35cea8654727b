"""A table of every statistic: the tests of properties, degenerate tables and resampling run over all of it.

A new statistic adds one line and inherits them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from scoring.stats.alpha import alpha_of
from scoring.stats.chance import CohenKappa, FleissKappa, PercentAgreement, ScottPi, distances_of
from scoring.stats.gwet import gwet_of
from scoring.stats.majority import KappaWithMajority, ShareWithMajority
from scoring.stats.statistic import Statistic


@dataclass(frozen=True)
class Metric:
    """`make(n_categories)` applies to the first raters of a table, so renaming raters swaps the first two only where
    `raters_alike` is False. `ordered`: reversing the categories keeps the value, another order need not.
    `one_category`: the value where everyone chose the same of several categories. `nameless`: categories are names
    only, not sets."""

    make: Callable[[int], Statistic]
    corrects_chance: bool = True
    ordered: bool = False
    raters_alike: bool = True
    one_category: float | None = None
    nameless: bool = True


def cohen(q: int, *, weights: str) -> Statistic:
    matrix = 1 + np.abs(np.subtract.outer(np.arange(q), np.arange(q))) / 7
    np.fill_diagonal(matrix, 0)
    return CohenKappa(distances_of(weights, n_categories=q, weight_matrix=matrix))


def alpha(q: int, *, level: str) -> Statistic:
    distances = np.sqrt(np.abs(np.subtract.outer(np.arange(q), np.arange(q))))
    return alpha_of(level, n_categories=q, values=np.arange(q) * 2.5, distance_matrix=distances)


def alpha_of_sets(q: int, *, level: str) -> Statistic:
    """The empty set, one, a larger one, and one that overlaps."""
    sets = [frozenset(one) for one in ("", "a", "ab", "bc")][:q]
    return alpha_of(level, n_categories=q, sets=sets)


def gwet(q: int, *, weights: str) -> Statistic:
    agreement = 1 / (1 + np.abs(np.subtract.outer(np.arange(q), np.arange(q))))
    return gwet_of(weights, n_categories=q, weight_matrix=agreement)


def fleiss(q: int, *options: object) -> Statistic:
    return FleissKappa(q, *options)


def share(q: int, *, ties: object = "exclude", min_others: int = 2) -> Statistic:
    return ShareWithMajority(0, q, ties, min_others)


METRICS = {
    "percent_agreement": Metric(partial(PercentAgreement, weighting="item"), corrects_chance=False, one_category=1.0),
    "percent_agreement_pair": Metric(
        partial(PercentAgreement, weighting="pair"), corrects_chance=False, one_category=1.0
    ),
    "cohen": Metric(partial(cohen, weights="unweighted"), raters_alike=False),
    "cohen_linear": Metric(partial(cohen, weights="linear"), ordered=True, raters_alike=False),
    "cohen_quadratic": Metric(partial(cohen, weights="quadratic"), ordered=True, raters_alike=False),
    "cohen_matrix": Metric(partial(cohen, weights="matrix"), ordered=True, raters_alike=False),
    "fleiss": Metric(FleissKappa),
    "fleiss_drop": Metric(lambda q: fleiss(q, "item_mean", "drop")),
    "fleiss_pooled": Metric(lambda q: fleiss(q, "pooled", "include")),
    "fleiss_pooled_drop": Metric(lambda q: fleiss(q, "pooled", "drop")),
    "fleiss_complete": Metric(lambda q: fleiss(q, "item_mean", "include", True)),
    "alpha_nominal": Metric(partial(alpha, level="nominal")),
    "alpha_ordinal": Metric(partial(alpha, level="ordinal"), ordered=True),
    "alpha_interval": Metric(partial(alpha, level="interval"), ordered=True),
    "alpha_matrix": Metric(partial(alpha, level="matrix"), ordered=True),
    "alpha_jaccard": Metric(partial(alpha_of_sets, level="jaccard"), nameless=False),
    "alpha_masi": Metric(partial(alpha_of_sets, level="masi"), nameless=False),
    "scott_pi": Metric(ScottPi, raters_alike=False),
    "gwet_ac1": Metric(partial(gwet, weights="identity"), one_category=1.0),
    "gwet_ac2_linear": Metric(partial(gwet, weights="linear"), ordered=True, one_category=1.0),
    "gwet_ac2_quadratic": Metric(partial(gwet, weights="quadratic"), ordered=True, one_category=1.0),
    "gwet_ac2_matrix": Metric(partial(gwet, weights="matrix"), ordered=True, one_category=1.0),
}
AGAINST_MAJORITY = {
    "share": Metric(share, corrects_chance=False, raters_alike=False, one_category=1.0),
    "share_fractional": Metric(
        partial(share, ties="fractional"), corrects_chance=False, raters_alike=False, one_category=1.0
    ),
    "share_toward": Metric(
        partial(share, ties=("toward", 0), min_others=1),
        corrects_chance=False,
        ordered=True,
        raters_alike=False,
        one_category=1.0,
    ),
    "kappa_with_majority": Metric(lambda q: KappaWithMajority(0, q, "exclude", 1), raters_alike=False),
}
