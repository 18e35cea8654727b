"""The statistics of ratings by their names: what raters said in, an outcome out, with an interval where one is asked for.

Params that all of them take: `categories`; and for an interval any of `cluster_of` (a mapping of items to clusters;
each item is its own without), `seed`, `n_resamples`, `min_clusters`, `unit`, `mode` (`exact` counts all resamples of at
most six clusters, `drawn` draws some, `auto` does as there are clusters).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
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
from scoring.stats.given import Given, Params, clusters_of, given, given_sets
from scoring.stats.gwet import gwet_of
from scoring.stats.intervals import MAX_SHARE_UNDEFINED, Sampling
from scoring.stats.majority import (
    KappaWithMajority,
    ShareWithMajority,
    Ties,
    confusion_with_majority,
    cross_counts,
    votes_of_others,
)
from scoring.stats.panel import other_rules
from scoring.stats.ratings import MISSING, Codes
from scoring.stats.registry import METRICS, BadParams, Outcome, metric, outcome
from scoring.stats.resampling import ENUMERATED, Asked, Clusters, ClusterSums, Resamples, draws, group_items, resample
from scoring.stats.results import CONFIDENCE, Figure
from scoring.stats.statistic import Statistic, category_counts

KAPPA_WEIGHTS = ("unweighted", "linear", "quadratic", "matrix")
GWET_WEIGHTS = ("identity", "linear", "quadratic", "matrix")
LEVELS = ("nominal", "ordinal", "interval", "matrix", "jaccard", "masi")
DRAWN = ("cluster_of", "seed", "n_resamples", "min_clusters", "unit", "mode")
"""Params that ask for an interval."""

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
                figure = draw.interval(one, figure)
            return outcome(figure, **circumstances(one, figure), **(one.details or {}))

        return make

    return known


# The statistics.


@of_ratings("percent_agreement")
def percent_agreement(data: Any, params: Params) -> Computing:
    found = given(data, params, declared=False)
    weighting = params.one_of("weighting", ("item", "pair"), "item")
    return Computing(found, PercentAgreement(found.n_categories, weighting))


@of_ratings("cohen_kappa")
def cohen_kappa(data: Any, params: Params) -> Computing:
    weights = params.one_of("weights", KAPPA_WEIGHTS, "unweighted")
    found = given(data, params, declared=weights != "unweighted")
    distances = distances_of(weights, n_categories=found.n_categories, weight_matrix=params.matrix("weight_matrix"))
    columns = two_raters(found, params)
    return Computing(found, CohenKappa(distances, *columns), columns)


@of_ratings("scott_pi")
def scott_pi(data: Any, params: Params) -> Computing:
    found = given(data, params, declared=False)
    columns = two_raters(found, params)
    return Computing(found, ScottPi(found.n_categories, *columns), columns)


@of_ratings("fleiss_kappa")
def fleiss_kappa(data: Any, params: Params) -> Computing:
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
    found = given(data, params, declared=True)
    weights = params.one_of("weights", GWET_WEIGHTS, "identity")
    return Computing(
        found, gwet_of(weights, n_categories=found.n_categories, weight_matrix=params.matrix("weight_matrix"))
    )


@of_ratings("krippendorff_alpha")
def krippendorff_alpha(data: Any, params: Params) -> Computing:
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
            raise BadParams(f"Category {wrong[0]!r} is no number; an interval level needs numbers, or the param values.")
    numbers = None if values is None else np.asarray(values, dtype=float)
    matrix = params.matrix("distance_matrix")
    return Computing(found, alpha_of(level, n_categories=found.n_categories, values=numbers, distance_matrix=matrix))


@of_ratings("mean_pairwise_kappa")
def mean_pairwise_kappa(data: Any, params: Params) -> Computing:
    weights = params.one_of("weights", KAPPA_WEIGHTS, "unweighted")
    found = given(data, params, declared=weights != "unweighted")
    found.column(next(iter(found.raters or ()), None))  # counts tell no pairs
    distances = distances_of(weights, n_categories=found.n_categories, weight_matrix=params.matrix("weight_matrix"))
    min_common = params.whole("min_common", 20, least=1)
    mean = MeanPairwiseKappa.of(found.codes, found.times, distances, min_common=min_common)
    pairs = {
        f"{found.raters[kappa.first]} · {found.raters[kappa.second]}": kappa.figure(found.codes, found.times).value
        for kappa in mean.kappas
    }
    return Computing(found, mean, details={"pairs": pairs, "min_common": min_common})


@of_ratings("annotator_vs_majority")
def annotator_vs_majority(data: Any, params: Params) -> Computing:
    found = given(data, params, declared=_is_toward(params.take("ties", "exclude")))
    rater = found.column(params.take("rater"))
    return against_majority(found, params, rater, least="min_others")


@of_ratings("judge_vs_majority")
def judge_vs_majority(data: Any, params: Params) -> Computing:
    found = given(data, params, declared=_is_toward(params.take("ties", "exclude")))
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
    """The value is the share on the diagonal, or the number in one `cell`: [what the first said, what the second]."""
    found = given(data, params, declared=False)
    columns = two_raters(found, params)
    pair = found.codes[:, columns]
    both = (pair >= 0).all(axis=1)
    table = cross_counts(pair[both, 0], pair[both, 1], found.times[both], n_categories=found.n_categories)
    of_pair = replace(found, codes=pair, raters=tuple((found.raters or ())[column] for column in columns))
    details = {"categories": list(found.categories), "confusion": [list(row) for row in table]}
    cell = params.take("cell", None)
    statistic: Statistic = PercentAgreement(found.n_categories)
    if cell is not None:
        statistic = InCell(statistic, _cell(cell, found), table)
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


# Intervals.


@dataclass(frozen=True)
class Draw:
    """How an interval is to be made."""

    clusters: tuple[Hashable, ...] | None
    unit: str
    seed: int
    n_resamples: int
    min_clusters: int
    mode: str

    @classmethod
    def of(cls, found: Given, params: Params) -> Draw | None:
        """None where no interval is asked for."""
        is_wanted = any(name in params for name in DRAWN)
        clusters = clusters_of(found, params.take("cluster_of", None))
        draw = cls(
            clusters=None if clusters is None else tuple(clusters),
            unit=str(params.take("unit", "item" if clusters is None else "cluster")),
            seed=params.whole("seed", 1, least=0),
            n_resamples=params.whole("n_resamples", 10_000, least=1),
            min_clusters=params.whole("min_clusters", 5, least=2),
            mode=params.one_of("mode", ("auto", "exact", "drawn"), "auto"),
        )
        return draw if is_wanted else None

    def interval(self, one: Computing, figure: Figure) -> Figure:
        if isinstance(one.statistic, InCell):
            raise BadParams("A number in one cell of a table has no interval; ask for the share or kappa.")
        groups = _groups(one.given, self.clusters)
        if self.mode == "exact" and groups.n_clusters > ENUMERATED:
            raise BadParams(f"All resamples can be counted up to {ENUMERATED} clusters; here are {groups.n_clusters}.")
        rng = np.random.Generator(np.random.PCG64(self.seed))
        if self.mode == "drawn" and groups.n_clusters:
            resamples = _drawn(Asked([one.statistic], one.given.codes), groups, rng, self.n_resamples)
        else:
            resamples = resample([one.statistic], one.given.codes, groups, rng=rng, n_resamples=self.n_resamples)
        sampling = Sampling(
            unit=self.unit, min_clusters=self.min_clusters, seed=self.seed, independent=groups.independent
        )
        return resamples.with_interval(figure, 0, sampling, is_share=one.statistic.is_share)


def _groups(found: Given, clusters: tuple[Hashable, ...] | None) -> Clusters:
    if found.items is not None:
        return group_items(found.codes, clusters)
    rows = np.flatnonzero((found.codes >= 0).any(axis=1) & (found.times > 0))
    return Clusters(order=rows, starts=np.arange(len(rows)), times=found.times[rows], independent=True)


def _drawn(asked: Asked, groups: Clusters, rng: np.random.Generator, n_resamples: int) -> Resamples:
    """Resamples by drawing, also of so few clusters that all could be counted."""
    sums = ClusterSums.of(asked, groups)
    blocks = draws(groups.times, rng=rng, n_resamples=n_resamples, n_features=sums.sums.shape[1])
    values = np.concatenate([np.stack(list(sums.values_of(counts @ sums.sums))) for counts in blocks], axis=1)
    repeats = np.ones(n_resamples, dtype=np.int64)
    return Resamples(values=values, repeats=repeats, n_clusters=sums.n_comparable(groups.times), enumerated=False)


def bootstrap(data: Any, params: Mapping[str, Any], name: str, allowed: str | None) -> Outcome:
    """The interval of a statistic: `bootstrap_of` is its name under `metric`, and its params."""
    asked = Params(name, params)
    inner = asked.take("bootstrap_of")
    if not isinstance(inner, Mapping) or not isinstance(inner.get("metric"), str):
        raise BadParams('bootstrap_of is {"metric": its name, ...} with the params of that statistic.')
    of = inner["metric"]
    if of not in METRICS or of in BOOTSTRAPS or (allowed is not None and of != allowed):
        names = [allowed] if allowed else [one for one in sorted(METRICS) if one not in BOOTSTRAPS]
        raise BadParams(f"bootstrap_of has metric {of!r}; {name} takes: {', '.join(names)}.")
    output = asked.one_of("output", ("value", "lower", "upper"), "value")
    if asked.take("level", CONFIDENCE) != CONFIDENCE:
        raise BadParams(f"Intervals have the level {CONFIDENCE} here.")
    if asked.take("percentile", "numpy linear") != "numpy linear":
        raise BadParams("Percentiles are interpolated as `numpy linear` does.")
    if asked.take("max_undefined_share", MAX_SHARE_UNDEFINED) != MAX_SHARE_UNDEFINED:
        raise BadParams(f"There is no interval where more than {MAX_SHARE_UNDEFINED} of the resamples have no value.")
    asked.take("monte_carlo_tolerance", None)  # of a test, not of the statistic
    drawn = {one: value for one in DRAWN if (value := asked.take(one, None)) is not None}
    asked.done()
    drawn.setdefault("seed", 1)
    found = METRICS[of](data, {key: value for key, value in inner.items() if key != "metric"} | drawn)
    return found if output == "value" else bound(found, output)


def bound(found: Outcome, output: str) -> Outcome:
    """One end of the interval as the value; the estimate itself is a detail."""
    details = {**found.details, "estimate": found.value, "output": output}
    if found.interval is None:
        reason = found.reason or found.interval_reason or "too_few_clusters"
        return replace(found, value=None, reason=reason, observed=None, expected=None, details=details)
    end = found.interval.low if output == "lower" else found.interval.high
    return replace(found, value=end, observed=None, expected=None, details=details)


BOOTSTRAPS = ("cluster_bootstrap", "cohen_kappa_cluster_bootstrap")


@metric("cohen_kappa_cluster_bootstrap")
def cohen_kappa_cluster_bootstrap(data: Any, params: Mapping[str, Any]) -> Outcome:
    return bootstrap(data, params, "cohen_kappa_cluster_bootstrap", "cohen_kappa")


@metric("cluster_bootstrap")
def cluster_bootstrap(data: Any, params: Mapping[str, Any]) -> Outcome:
    return bootstrap(data, params, "cluster_bootstrap", None)


# What the params say, and what a sentence needs to know.


def two_raters(found: Given, params: Params) -> tuple[int, int]:
    """The columns of `rater_a` and `rater_b`; of two raters in the data, in their order, where they are not named."""
    raters = found.raters
    if raters is None:
        found.column("")
    names = [params.take(name, None) for name in ("rater_a", "rater_b")]
    if names == [None, None]:
        if raters is not None and len(raters) == 2:
            return 0, 1
        if raters is not None and len(raters) < 2:
            raise BadParams("Needs two raters, and the data have one; name them as rater_a and rater_b.") if (
                raters
            ) else BadParams("The data have no rater; name two as rater_a and rater_b.")
        raise BadParams(f"Name two of the raters as rater_a and rater_b: {', '.join(map(str, raters or ()))}.")
    if None in names or names[0] == names[1]:
        raise BadParams("rater_a and rater_b are two different raters.")
    return found.column(names[0]), found.column(names[1])
