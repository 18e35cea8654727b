"""How far raters agree: the statistics of ratings, each one function from codes to a Figure.

All take a matrix of category codes, rows items and columns raters (`cohen_kappa`, `scott_pi` and `confusion` two
columns of it), and check it once. Undefined cases come back as a reason, in the order `empty`, `one_rater`,
`no_overlap`, then those named below. For an interval give the statistic behind the function to `resampling.bootstrap`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from typing import Literal

import numpy as np
import numpy.typing as npt

from scoring.stats.alpha import Level, alpha_of
from scoring.stats.chance import (
    CohenKappa,
    FleissKappa,
    Marginals,
    MeanPairwiseKappa,
    PercentAgreement,
    ScottPi,
    Singletons,
    Weighting,
    Weights,
    distances_of,
)
from scoring.stats.gwet import GwetWeights, gwet_of
from scoring.stats.majority import KappaWithMajority, ShareWithMajority, Ties
from scoring.stats.ratings import Codes, check_codes
from scoring.stats.results import Figure
from scoring.stats.statistic import Floats


def percent_agreement(codes: Codes, *, n_categories: int, weighting: Weighting = "item") -> Figure:
    """Share of agreeing pairs of ratings, with no regard to chance.

    Parameters
    ----------
    codes : int array (n_items, n_raters)
        Category codes below n_categories, or MISSING.
    weighting : `item` (the mean of the items' shares) or `pair` (every pair of ratings counts once).

    Returns
    -------
    Figure: value from 0 to 1 over items with two ratings or more. Flag `one_category` where these hold one category.

    Raises
    ------
    ValueError if a code is out of range or the weighting is unknown.

    Source: Fleiss 1971, Psychological Bulletin 76(5), 378-382 (mean of P_i); Artstein and Poesio 2008, Computational
    Linguistics 34(4), 555-596 (pairs).
    Checked against: fixtures/reference/agreement-cases.json O19, O20.
    """
    check_codes(codes, n_categories=n_categories)
    _one_of("weighting", weighting, ("item", "pair"))
    return PercentAgreement(n_categories, weighting).figure(codes)


def cohen_kappa(
    a: Codes,
    b: Codes,
    *,
    n_categories: int,
    weights: Weights = "unweighted",
    weight_matrix: Floats | None = None,
) -> Figure:
    """Agreement of two raters beyond what their own category rates would give.

    Parameters
    ----------
    a, b : int array (n_items,)
        Category codes below n_categories; an item with MISSING in either is left out, of the category rates too.
    weights : how far apart two categories are: `unweighted` (same or not), `linear` or `quadratic` in their place in
        the declared list, or `matrix` with weight_matrix, a float array (n_categories, n_categories) of disagreement:
        0 on the diagonal, positive elsewhere.

    Returns
    -------
    Figure: value at most 1 (perfect); 0 is chance, negative is worse than chance. Undefined also with `one_category`
        (both used one and the same). Exactly 0 with flag `rater_constant` where one of them used one category only.
        Observed and expected agreement are weighted and scaled to at most 1.

    Raises
    ------
    ValueError if the shapes differ, a code is out of range (names the first) or the weights are no distances.

    Source: Cohen 1960, Educational and Psychological Measurement 20(1), 37-46; weights: Cohen 1968, Psychological
    Bulletin 70(4), 213-220.
    Checked against: fixtures/reference/agreement-cases.json O01 to O08.
    """
    pair = _paired(a, b, n_categories=n_categories)
    distances = distances_of(weights, n_categories=n_categories, weight_matrix=weight_matrix)
    return CohenKappa(distances).figure(pair)


def fleiss_kappa(
    codes: Codes,
    *,
    n_categories: int,
    marginals: Marginals = "item_mean",
    singletons: Singletons = "include",
    complete_only: bool = False,
) -> Figure:
    """Agreement of any number of raters beyond what the category rates of the whole table would give.

    Raters may differ in number from item to item; agreement is the mean over items with two ratings or more. With
    equal numbers every form below is Fleiss' own.

    Parameters
    ----------
    codes : int array (n_items, n_raters)
        Category codes below n_categories, or MISSING.
    marginals : category rates as the mean of the items' shares (`item_mean`, Gwet's form) or over all ratings
        (`pooled`).
    singletons : whether items with one rating count in the category rates (`include`, Gwet's form) or not (`drop`).
    complete_only : only items that every rater rated count at all; the others are left out as `incomplete`.

    Returns
    -------
    Figure: value at most 1; at least -1/(r - 1) with r ratings on every item. Undefined also with `one_category` in
        the category rates, and `no_overlap` where complete_only leaves no item.

    Raises
    ------
    ValueError if a code is out of range or an option is unknown.

    Source: Fleiss 1971, Psychological Bulletin 76(5), 378-382; unequal numbers: Gwet 2014, Handbook of Inter-Rater
    Reliability, 4th edition.
    Checked against: fixtures/reference/agreement-cases.json O09, O17, O18.
    """
    check_codes(codes, n_categories=n_categories)
    _one_of("marginals", marginals, ("item_mean", "pooled"))
    _one_of("singletons", singletons, ("include", "drop"))
    return FleissKappa(n_categories, marginals, singletons, complete_only).figure(codes)


def scott_pi(a: Codes, b: Codes, *, n_categories: int) -> Figure:
    """Agreement of two raters beyond what category rates that they share would give.

    Parameters
    ----------
    a, b : int array (n_items,)
        Category codes below n_categories; an item with MISSING in either is left out, of the category rates too.

    Returns
    -------
    Figure: value from -1 to 1. Undefined also with `one_category` (both used one and the same).

    Raises
    ------
    ValueError if the shapes differ or a code is out of range (names the first).

    Source: Scott 1955, Public Opinion Quarterly 19(3), 321-325.
    Checked against: the tables of Cohen 1960 and of Artstein and Poesio 2008, Computational Linguistics 34(4).
    """
    return ScottPi(n_categories).figure(_paired(a, b, n_categories=n_categories))


def gwet_ac(
    codes: Codes,
    *,
    n_categories: int,
    weights: GwetWeights = "identity",
    weight_matrix: Floats | None = None,
) -> Figure:
    """Agreement of any number of raters beyond chance, where chance hangs on how varied the ratings are: AC1, and with
    weights AC2. Skewed categories bend it less than kappa.

    Parameters
    ----------
    codes : int array (n_items, n_raters)
        Category codes below n_categories, or MISSING. Items with one rating count in the category rates only.
    n_categories : how many are declared, used or not: one more raises the value.
    weights : `identity` (AC1); `linear` or `quadratic` in the place in the declared list; or `matrix` with
        weight_matrix, symmetric (n_categories, n_categories): agreement with 1 on the diagonal, taken as it is, or
        disagreement with 0 on it, taken over its largest.

    Returns
    -------
    Figure: value at most 1. Ratings of one category alone give 1.0 with flag `one_category`, unless a single one is
        declared: then undefined, `one_category`.

    Raises
    ------
    ValueError if a code is out of range or the weights are none.

    Source: Gwet 2008, British Journal of Mathematical and Statistical Psychology 61(1), 29-48; unequal raters and
    weights: Gwet 2014, Handbook of Inter-Rater Reliability, 4th edition.
    Checked against: fixtures/reference/agreement-cases.json O14 to O16.
    """
    check_codes(codes, n_categories=n_categories)
    return gwet_of(weights, n_categories=n_categories, weight_matrix=weight_matrix).figure(codes)


def mean_pairwise_kappa(
    codes: Codes,
    *,
    n_categories: int,
    min_common: int = 20,
    weights: Weights = "unweighted",
    weight_matrix: Floats | None = None,
) -> Figure:
    """The mean of Cohen's kappa over all pairs of raters.

    Parameters
    ----------
    codes : int array (n_items, n_raters)
        Category codes below n_categories, or MISSING.
    min_common : pairs with fewer items in common are left out as `few_common_items`, those without a kappa as
        `undefined`; `left_out` counts pairs here.
    weights, weight_matrix : as with `cohen_kappa`.

    Returns
    -------
    Figure: value at most 1 over the items that a pair compares. Undefined also with `few_common_items`, or what the
        pairs say if none has a kappa.

    Raises
    ------
    ValueError if a code is out of range or the weights are no distances.

    Source: Light 1971, Psychological Bulletin 76(5), 365-377.
    Checked against: the means of `cohen_kappa`.
    """
    check_codes(codes, n_categories=n_categories)
    distances = distances_of(weights, n_categories=n_categories, weight_matrix=weight_matrix)
    times = np.ones(len(codes), dtype=np.int64)
    return MeanPairwiseKappa.of(codes, times, distances, min_common=min_common).figure(codes)


def krippendorff_alpha(
    codes: Codes,
    *,
    n_categories: int,
    level: Level,
    values: Sequence[float] | Floats | None = None,
    distance_matrix: Floats | None = None,
    sets: Sequence[Set[Hashable]] | None = None,
) -> Figure:
    """Agreement as one minus the ratio of observed to expected disagreement, over ratings that can be paired.

    Parameters
    ----------
    codes : int array (n_items, n_raters)
        Category codes below n_categories, or MISSING. An item with one rating is left out altogether.
    level : `nominal`; `ordinal` in the declared order; `interval` with values, the number of each category (in
        whatever unit); `matrix` with distance_matrix, symmetric, 0 on the diagonal, positive elsewhere, taken as it
        is and not squared; or `jaccard` or `masi` with sets, the set that each category is (at most 1,000, see
        `set_distances`). There is no default: a forgotten level is another statistic.

    Returns
    -------
    Figure: value at most 1; 0 is chance. Undefined also with `one_category` in the ratings that can be paired.
        Observed and expected agreement are one minus disagreement over the farthest distance.

    Raises
    ------
    ValueError if a code is out of range, or values, distances or sets are missing or of another number than the
        categories.

    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, University of Pennsylvania.
    Checked against: fixtures/reference/agreement-cases.json O10 to O13 and O28; the point value of nominal, ordinal and
    interval is that of the `krippendorff` package.
    """
    check_codes(codes, n_categories=n_categories)
    numbers = None if values is None else np.asarray(values, dtype=float)
    alpha = alpha_of(level, n_categories=n_categories, values=numbers, distance_matrix=distance_matrix, sets=sets)
    return alpha.figure(codes)


def annotator_vs_majority(
    codes: Codes,
    *,
    n_categories: int,
    rater: int,
    ties: Ties = "exclude",
    stat: Literal["share", "kappa"] = "share",
    min_others: int = 2,
) -> Figure:
    """One rater against the majority of the others on each item: how often they agree, or Cohen's kappa of the two.

    Parameters
    ----------
    codes : int array (n_items, n_raters)
        Category codes below n_categories, or MISSING.
    rater : the column in question.
    ties : what becomes of an item whose others tie: `exclude` leaves it out and counts it; `fractional` gives 1/t if
        the rater chose one of the t modes (share only); ("toward", code) makes that category the majority where it is
        one of the modes, as where a tie counts as failed.
    min_others : items with fewer other ratings are left out as `few_others`.

    Returns
    -------
    Figure: a share from 0 to 1, or a kappa. Undefined also with `no_comparable_items` (the others tie or are too few
        on every item, so always with two raters and min_others 2) and, for kappa, `one_category`.

    Raises
    ------
    ValueError if a code, the rater or the tie category is out of range, or kappa is asked with fractional ties.

    Source: the leave-one-out comparison of common practice; kappa as in `cohen_kappa`.
    Checked against: fixtures/reference/agreement-cases.json O21, O22.
    """
    check_codes(codes, n_categories=n_categories)
    _one_of("stat", stat, ("share", "kappa"))
    if not 0 <= rater < codes.shape[1]:
        raise ValueError(f"rater is {rater}, but the ratings have {codes.shape[1]} columns.")
    check_ties(ties, n_categories=n_categories, min_others=min_others)
    if stat == "kappa":
        if ties == "fractional":
            raise ValueError("Fractional ties give a share, not a kappa: a kappa needs one majority for each item.")
        return KappaWithMajority(rater, n_categories, ties, min_others).figure(codes)
    return ShareWithMajority(rater, n_categories, ties, min_others).figure(codes)


def confusion(a: Codes, b: Codes, *, n_categories: int) -> npt.NDArray[np.int64]:
    """(n_categories, n_categories) counts of items both rated: rows what `a` said (gold), columns what `b` said.

    Every declared category has its row and column. The diagonal over the total is `percent_agreement` of the two.
    """
    pair = _paired(a, b, n_categories=n_categories)
    both = pair[(pair >= 0).all(axis=1)].astype(np.int64)
    cells = np.bincount(both[:, 0] * n_categories + both[:, 1], minlength=n_categories**2)
    return cells.astype(np.int64).reshape(n_categories, n_categories)


def check_ties(ties: Ties, *, n_categories: int, min_others: int) -> None:
    if isinstance(ties, tuple):
        if len(ties) != 2 or ties[0] != "toward" or not 0 <= ties[1] < n_categories:
            raise ValueError(f'ties is {ties!r}; use ("toward", code) with a code from 0 to {n_categories - 1}.')
    else:
        _one_of("ties", ties, ("exclude", "fractional"))
    if min_others < 1:
        raise ValueError(f"min_others is {min_others}; a majority needs at least one other rating.")


def _paired(a: Codes, b: Codes, *, n_categories: int) -> Codes:
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"a has shape {a.shape} and b has {b.shape}; both are (n_items,), of the same items in order.")
    pair: Codes = np.column_stack([a, b])
    check_codes(pair, n_categories=n_categories)
    return pair


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; use {' or '.join(allowed)}.")
