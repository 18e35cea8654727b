"""The statistics of ratings by their names: what raters said in, an outcome out, with an interval where asked for.

Params that all of them take: `categories`; and for an interval any of `cluster_of` (a mapping of items to clusters;
each item is its own without), `seed`, `n_resamples`, `min_clusters`, `unit`, `mode` (`exact` counts all resamples of at
most six clusters, `drawn` draws some, `auto` does as there are clusters).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scoring.stats.agreement import check_ties
from scoring.stats.alpha import alpha_of
from scoring.stats.chance import (
    CohenKappa,
    FleissKappa,
    MeanPairwiseKappa,
    PercentAgreement,
    ScottPi,
    distances_of,
)
from scoring.stats.draw import Draw
from scoring.stats.given import Given, Params, given, given_sets
from scoring.stats.gwet import gwet_of
from scoring.stats.majority import (
    KappaWithMajority,
    ShareWithMajority,
    Ties,
    confusion_with_majority,
    cross_counts,
    votes_of_others,
)
from scoring.stats.ratings import MISSING, Codes
from scoring.stats.registry import BadParams, Outcome, metric, outcome
from scoring.stats.results import Figure
from scoring.stats.statistic import Statistic, category_counts

KAPPA_WEIGHTS = ("unweighted", "linear", "quadratic", "matrix")
GWET_WEIGHTS = ("identity", "linear", "quadratic", "matrix")
LEVELS = ("nominal", "ordinal", "interval", "matrix", "jaccard", "masi")
SKEWED = 0.9
"""From this share of one category on, no single coefficient tells the story."""


@dataclass(frozen=True, eq=False)
class Computing:
    """What is to be computed of what; `columns` where it is about two raters, `details` beside the figure."""

    given: Given
    statistic: Statistic
    columns: tuple[int, int] | None = None
    details: Mapping[str, Any] | None = None


Make = Callable[[Any, Params], Computing]


def of_ratings(name: str) -> Callable[[Make], Make]:
    """Register a statistic of ratings under this name."""

    def known(make: Make) -> Make:
        @metric(name)
        def computed(data: Any, params: Mapping[str, Any]) -> Outcome:
            asked = Params(name, params)
            one = make(data, asked)
            draw = Draw.of(one.given, asked)
            asked.done()
            figure = one.statistic.figure(one.given.codes, one.given.times)
            if draw is not None:
                if isinstance(one.statistic, InCell):
                    raise BadParams("A number in one cell of a table has no interval; ask for the share or kappa.")
                figure = draw.interval(one.statistic, one.given, figure)
            return outcome(figure, **circumstances(one, figure), **(one.details or {}))

        return make

    return known


# The statistics.


@of_ratings("percent_agreement")
def percent_agreement(data: Any, params: Params) -> Computing:
    """Params: `weighting` item (the mean of the items' shares) or pair (every pair of ratings counts once)."""
    found = given(data, params, declared=False)
    weighting = params.one_of("weighting", ("item", "pair"), "item")
    return Computing(found, PercentAgreement(found.n_categories, weighting))


@of_ratings("cohen_kappa")
def cohen_kappa(data: Any, params: Params) -> Computing:
    """Params: `rater_a`, `rater_b`; `weights` unweighted, linear, quadratic, or matrix with `weight_matrix`."""
    weights = params.one_of("weights", KAPPA_WEIGHTS, "unweighted")
    found = given(data, params, declared=weights != "unweighted")
    distances = distances_of(weights, n_categories=found.n_categories, weight_matrix=params.matrix("weight_matrix"))
    found, columns = two_raters(found, params)
    return Computing(found, CohenKappa(distances, *columns), columns)


@of_ratings("scott_pi")
def scott_pi(data: Any, params: Params) -> Computing:
    """Params: `rater_a`, `rater_b`."""
    found = given(data, params, declared=False)
    found, columns = two_raters(found, params)
    return Computing(found, ScottPi(found.n_categories, *columns), columns)


@of_ratings("fleiss_kappa")
def fleiss_kappa(data: Any, params: Params) -> Computing:
    """Params: `marginals` item_mean or pooled; `singletons` include or drop; `complete_only`."""
    found = given(data, params, declared=False)
    return Computing(
        found,
        FleissKappa(
            found.n_categories,
            params.one_of("marginals", ("item_mean", "pooled"), "item_mean"),
            params.one_of("singletons", ("include", "drop"), "include"),
            params.truth("complete_only", default=False),
        ),
    )


@of_ratings("gwet_ac")
def gwet_ac(data: Any, params: Params) -> Computing:
    """Params: `weights` identity (AC1), linear, quadratic, or matrix with `weight_matrix`."""
    found = given(data, params, declared=True)
    weights = params.one_of("weights", GWET_WEIGHTS, "identity")
    return Computing(
        found, gwet_of(weights, n_categories=found.n_categories, weight_matrix=params.matrix("weight_matrix"))
    )


@of_ratings("krippendorff_alpha")
def krippendorff_alpha(data: Any, params: Params) -> Computing:
    """Params: `level` nominal, ordinal, interval (of the categories, or of `values`), matrix with `distance_matrix`, or
    jaccard or masi, whose labels are lists."""
    params.take("level")
    level = params.one_of("level", LEVELS, "")
    if level in ("jaccard", "masi"):
        found = given_sets(data, params)
        return Computing(found, alpha_of(level, n_categories=found.n_categories, sets=found.categories))
    found = given(data, params, declared=level in ("ordinal", "matrix"), numbers=level == "interval")
    values = params.take("values", None)
    if level == "interval" and values is None:
        values = found.categories
        wrong = [one for one in values if isinstance(one, bool) or not isinstance(one, (int, float))]
        if wrong:
            raise BadParams(f"Category {wrong[0]!r} is no number; an interval level needs numbers, or `values`.")
    numbers = None if values is None else np.asarray(values, dtype=float)
    matrix = params.matrix("distance_matrix")
    return Computing(found, alpha_of(level, n_categories=found.n_categories, values=numbers, distance_matrix=matrix))


@of_ratings("mean_pairwise_kappa")
def mean_pairwise_kappa(data: Any, params: Params) -> Computing:
    """Params: `min_common` items of a pair (20); `weights` as of Cohen's kappa. Details: the kappa of each pair."""
    weights = params.one_of("weights", KAPPA_WEIGHTS, "unweighted")
    found = given(data, params, declared=weights != "unweighted")
    raters = found.known_raters
    distances = distances_of(weights, n_categories=found.n_categories, weight_matrix=params.matrix("weight_matrix"))
    min_common = params.whole("min_common", 20, least=1)
    mean = MeanPairwiseKappa.of(found.codes, found.times, distances, min_common=min_common)
    pairs = {
        f"{raters[kappa.first]} · {raters[kappa.second]}": kappa.figure(found.codes, found.times).value
        for kappa in mean.kappas
    }
    return Computing(found, mean, details={"pairs": pairs, "min_common": min_common})


@of_ratings("annotator_vs_majority")
def annotator_vs_majority(data: Any, params: Params) -> Computing:
    """Params: `rater`; `ties` exclude, fractional or {"toward": category}; `min_others` (2); `stat` share, kappa or
    {"cell": [majority, rater]}. Details: the table, the ties, and the share with ties counted in parts."""
    found = given(data, params, declared=_is_toward(params.take("ties", "exclude")))
    found = found.having(params.take("rater"))
    return against_majority(found, params, found.column(params.take("rater")), least="min_others")


@of_ratings("judge_vs_majority")
def judge_vs_majority(data: Any, params: Params) -> Computing:
    """Params: `judge`, and as `annotator_vs_majority` with `min_raters` (2). All other raters are people."""
    found = given(data, params, declared=_is_toward(params.take("ties", "exclude")))
    found = found.having(params.take("judge"))
    judge = found.column(params.take("judge"))
    people = np.delete(found.codes, judge, axis=1)
    labelled = (people >= 0).any(axis=1)
    codes = found.codes.copy()
    codes[~labelled, judge] = MISSING  # an item that no person labelled is no part
    n_unlabelled = int(((found.codes[:, judge] >= 0) & ~labelled).sum())
    one = against_majority(replace(found, codes=codes), params, judge, least="min_raters")
    return replace(one, details={**(one.details or {}), "n_unlabelled": n_unlabelled})


@of_ratings("confusion")
def confusion(data: Any, params: Params) -> Computing:
    """Params: `rater_a`, `rater_b`; without `cell`, [what the first said, what the second], the value is the share on
    the diagonal, with it the number of items there. Details: the table."""
    found = given(data, params, declared=False)
    found, columns = two_raters(found, params)
    pair = found.codes[:, columns]
    both = (pair >= 0).all(axis=1)
    table = cross_counts(pair[both, 0], pair[both, 1], found.times[both], n_categories=found.n_categories)
    of_pair = replace(found, codes=pair, raters=tuple(found.known_raters[column] for column in columns))
    details = {"categories": list(found.categories), "confusion": [list(row) for row in table]}
    cell = params.take("cell", None)
    statistic: Statistic = PercentAgreement(found.n_categories)
    if cell is not None:
        statistic = InCell(statistic, _cell(cell, found), table)
        details["cell"] = list(cell)
    return Computing(of_pair, statistic, (0, 1), details)


def against_majority(found: Given, params: Params, column: int, *, least: str) -> Computing:
    """One column against the majority of the others: the share of equal labels, kappa, or a number of the table."""
    q = found.n_categories
    ties = ties_of(params.take("ties", "exclude"), found)
    enough = params.whole(least, 2, least=1)
    check_ties(ties, n_categories=q, min_others=enough)
    stat = params.take("stat", "share")
    options = (column, q, ties, enough)
    votes = votes_of_others(found.codes, *options)
    table = confusion_with_majority(found.codes, found.times, votes, rater=column, n_categories=q)
    fractional = ShareWithMajority(column, q, "fractional", enough).figure(found.codes, found.times)
    details = {
        "rater": str(found.known_raters[column]),
        "categories": list(found.categories),
        "confusion": [list(row) for row in table],
        "n_ties": int(found.times[votes.rated & votes.tied].sum()),
        "least": enough,
        "fractional": fractional.value,
        "n_raters": found.codes.shape[1],
    }
    statistic: Statistic = ShareWithMajority(*options)
    if isinstance(stat, Mapping) and set(stat) == {"cell"}:
        statistic = InCell(statistic, _cell(stat["cell"], found), table)
        details["cell"] = list(stat["cell"])
    elif stat == "kappa":
        if ties == "fractional":
            raise BadParams("Fractional ties give a share, not a kappa: a kappa needs one majority for each item.")
        statistic = KappaWithMajority(*options)
    elif stat not in ("share", "accuracy"):
        raise BadParams(f'stat is {stat!r}; it is share, kappa or {{"cell": [majority, rater]}}.')
    return Computing(found, statistic, None, details)


@dataclass(frozen=True, eq=False)
class InCell(Statistic):
    """How many items are in one cell of a table: of the same items as the share beside it, but a number of them."""

    share: Statistic
    cell: tuple[int, int]
    table: tuple[tuple[int, ...], ...]

    def features(self, codes: Codes) -> Any:
        return self.share.features(codes)

    def formula(self, sums: Any) -> Any:
        return self.share.formula(sums)

    def account(self, codes: Codes, times: Any) -> Any:
        return replace(self.share.account(codes, times), flags=())

    def figure(self, codes: Codes, times: Any = None) -> Figure:
        figure = self.share.figure(codes, times)
        if figure.value is None:
            return figure
        row, column = self.cell
        return replace(figure, value=float(self.table[row][column]), observed=None, flags=())


# What the params say, and what a sentence needs to know.


def two_raters(found: Given, params: Params) -> tuple[Given, tuple[int, int]]:
    """The columns of `rater_a` and `rater_b`; of two raters in the data, in their order, where they are not named."""
    named = [params.take(name, None) for name in ("rater_a", "rater_b")]
    raters = found.known_raters
    if named == [None, None]:
        if len(raters) > 2:
            raise BadParams(f"Name two of the raters as rater_a and rater_b: {', '.join(map(str, raters))}.")
        named = [*raters, "rater_a", "rater_b"][:2]
    if None in named or named[0] == named[1]:
        raise BadParams("rater_a and rater_b are two different raters.")
    found = found.having(*named)
    return found, (found.column(named[0]), found.column(named[1]))


def ties_of(ties: Any, found: Given) -> Ties:
    """`exclude`, `fractional`, or toward one: {"toward": category}, ["toward", category] or `toward:category`."""
    if not _is_toward(ties):
        if ties not in ("exclude", "fractional"):
            raise BadParams(f'ties is {ties!r}; it is exclude, fractional or {{"toward": category}}.')
        return "fractional" if ties == "fractional" else "exclude"
    if isinstance(ties, str):
        category: Any = ties.removeprefix("toward:")
    else:
        category = ties["toward"] if isinstance(ties, Mapping) else ties[1]
    return ("toward", found.code_of(category))


def _is_toward(ties: Any) -> bool:
    if isinstance(ties, str):
        return ties.startswith("toward:")
    if isinstance(ties, Mapping):
        return set(ties) == {"toward"}
    return isinstance(ties, Sequence) and len(ties) == 2 and ties[0] == "toward"


def _cell(cell: Any, found: Given) -> tuple[int, int]:
    if isinstance(cell, str) or not isinstance(cell, Sequence) or len(cell) != 2:
        raise BadParams(f"cell is {cell!r}; it is two categories, that of the row and that of the column.")
    return found.code_of(cell[0]), found.code_of(cell[1])


def circumstances(one: Computing, figure: Figure) -> dict[str, Any]:
    """What a sentence about the figure needs beside it."""
    found = one.given
    codes = found.codes if one.columns is None else found.codes[:, one.columns]
    raters = found.raters or ()
    if one.columns is not None:
        raters = tuple(raters[place] for place in one.columns)
    said: dict[str, Any] = {"n_all_items": int(found.times[(found.codes >= 0).any(axis=1)].sum())}
    if one.columns is not None:
        said["raters"] = list(raters)
    if figure.reason == "no_overlap" and raters:
        said["n_rated"] = dict(zip(map(str, raters), (found.times @ (codes >= 0)).tolist(), strict=True))
    comparable = codes[(codes >= 0).sum(axis=1) >= 2]
    times = found.times[(codes >= 0).sum(axis=1) >= 2]
    counts = times @ category_counts(comparable, found.n_categories)
    total = int(counts.sum())
    if "one_category" in (figure.reason, *figure.flags) and total:
        said["only"] = _shown(found.categories[int(counts.argmax())])
    if "rater_constant" in figure.flags and one.columns is not None:
        said["constant"] = {
            str(rater): _shown(found.categories[int(column[0])])
            for rater, column in zip(raters, comparable.T, strict=True)
            if len(np.unique(column)) == 1
        }
        said["raw_agreement"] = PercentAgreement(found.n_categories).figure(codes, found.times).value
    if total and counts.max() >= SKEWED * total and figure.expected is not None:
        said["prevalence"] = {
            "category": _shown(found.categories[int(counts.argmax())]),
            "share": float(counts.max() / total),
        }
        said["beside"] = _beside(found, codes)
    return said


def _beside(found: Given, codes: Codes) -> dict[str, float | None]:
    """Of skewed labels: raw agreement, a kappa and AC1, so that no one of them is read alone."""
    q = found.n_categories
    unweighted = distances_of("unweighted", n_categories=q, weight_matrix=None)
    kappa = CohenKappa(unweighted) if codes.shape[1] == 2 else FleissKappa(q)
    three = {"percent_agreement": PercentAgreement(q), "kappa": kappa, "gwet_ac": gwet_of("identity", n_categories=q)}
    return {name: one.figure(codes, found.times).value for name, one in three.items()}


def _shown(category: Any) -> Any:
    """A set as the list of what it holds."""
    return sorted(str(value) for _, value in category) if isinstance(category, frozenset) else category
