"""Tests, decompositions, shares and correlations by name, from records (item, what of it, number).

For an interval give the params that `computed_spans` names; here `unit` says what a cluster is called.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from scoring.stats import correlation, passk, shapley, shares, significance
from scoring.stats.answers import Drawing
from scoring.stats.computed_spans import Records, clusters_of, counted_in_full, drawing_of, records, two_columns
from scoring.stats.given import Params
from scoring.stats.ratings import UnknownLabel
from scoring.stats.registry import BadParams, Outcome, metric, outcome
from scoring.stats.results import Figure
from scoring.stats.significance import Family
from scoring.stats.sums import flagged, with_intervals
from scoring.stats.sums import share as share_of_items

Column = npt.NDArray[np.float64]


@metric("sign_flip_test")
def sign_flip_test(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (item, system, score). Params: systems `a`, `b`, of which b is taken from a; `alternative`; `mode` auto,
    exact or monte_carlo; `unit` item or cluster (then `cluster_of`); `n_draws`, `seed`."""
    asked = Params("sign_flip_test", params)
    table = records(data)
    a, b = two_columns(table, asked, "a", "b")
    clusters = clusters_of(table, asked)
    unit = asked.one_of("unit", ("item", "cluster"), "item" if clusters is None else "cluster")
    if unit == "cluster" and clusters is None:
        raise BadParams("unit is cluster, but cluster_of is missing; give the cluster of every item.")
    alternative = asked.one_of("alternative", ("two-sided", "greater", "less"), "two-sided")
    mode = asked.one_of("mode", ("auto", "exact", "monte_carlo"), "auto")
    n_draws, seed = asked.whole("n_draws", 10_000, least=1), asked.whole("seed", 1, least=0)
    asked.done()
    return significance.sign_flip_test(
        _numbers(table, a) - _numbers(table, b),
        clusters if unit == "cluster" else None,
        alternative=alternative,
        mode=mode,
        n_draws=n_draws,
        seed=seed,
    )


@metric("paired_difference")
def paired_difference(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (item, system, score); the mean of `a` minus the mean of `b`, over items with both, and its interval.
    Details: both means on the same draws, and p of the sign-flip test by the same unit."""
    asked = Params("paired_difference", params)
    table = records(data)
    a, b = two_columns(table, asked, "a", "b")
    clusters = clusters_of(table, asked)
    drawing = _drawing(asked, clusters) or _default_drawing(asked, clusters)
    asked.done()
    found = shares.paired_difference(_numbers(table, a), _numbers(table, b), clusters, drawing)
    return outcome(counted_in_full(found.difference, asked), a=found.first, b=found.second, p=found.p)


@metric("holm")
def holm(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (comparison, "p", p), null where nothing could be tested. Params: the `comparison` whose p is asked for.
    Details: the adjusted p of all, and those that were `not_tested`."""
    return _adjusted(data, Params("holm", params), significance.holm)


@metric("benjamini_yekutieli")
def benjamini_yekutieli(data: Any, params: Mapping[str, Any]) -> Outcome:
    """As `holm`."""
    return _adjusted(data, Params("benjamini_yekutieli", params), significance.benjamini_yekutieli)


@metric("shapley_acc")
def shapley_acc(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (factor, "before" or "after", value) of p, s, c and u. Params: the `factor` asked for, p, s, c, u or
    `change`; `missing` undefined or borrow. Details: all four shares, the change, and what was borrowed."""
    asked = Params("shapley_acc", params)
    factor, missing = asked.take("factor"), asked.one_of("missing", ("undefined", "borrow"), "undefined")
    asked.done()
    if factor not in (*shapley.FACTORS, "change"):
        raise BadParams(f"factor is {factor!r}; it is one of {', '.join(shapley.FACTORS)}, or change.")
    table = records(data)
    _only(table, ("before", "after"))
    before, after = ({str(name): _number(table, name, arm) for name in table.items} for arm in ("before", "after"))
    found = shapley.shapley_acc(before, after, missing=missing)
    figure = found.change if factor == "change" else found.shares[factor]
    return outcome(figure, shares=found.shares, change=found.change, borrowed=found.borrowed)


@metric("pass_at_k")
def pass_at_k(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (task, "n" or "c", count). Params: `k`."""
    asked = Params("pass_at_k", params)
    asked.take("k")
    k = asked.whole("k", 1, least=1)
    table = records(data)
    _only(table, ("n", "c"))
    clusters = clusters_of(table, asked)
    drawing = _drawing(asked, clusters)
    asked.done()
    n, c = ([_count(table, task, name) for task in table.items] for name in ("n", "c"))
    found = passk.pass_at_k(n, c, k, names=table.items, clusters=clusters, drawing=drawing)
    counted_in_full(found, asked)
    return found


@metric("pearson")
def pearson(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (item, measure, number). Params: measures `a` and `b`; `group_of` every item, whose mean is taken off."""
    return _correlation(data, Params("pearson", params), correlation.pearson)


@metric("spearman")
def spearman(data: Any, params: Mapping[str, Any]) -> Outcome:
    """As `pearson`, of ranks."""
    return _correlation(data, Params("spearman", params), correlation.spearman)


@metric("share")
def share(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (item, rater, label), or {"yes": count, "n": count}.

    Params: the `category` that is a yes, the `rater` if there are several, the declared `categories`; `interval` wilson
    or exact (of independent items), or bootstrap, which it is where any param of a draw is given.
    """
    asked = Params("share", params)
    if isinstance(data, Mapping) and "table" not in data:
        interval = asked.one_of("interval", ("wilson", "exact"), "wilson")
        asked.done()
        if set(data) != {"yes", "n"}:
            raise BadParams('data are counts; give {"yes": count, "n": count}.')
        return outcome(shares.share_of(data["yes"], data["n"], method=interval))
    table = records(data)
    rater = asked.take("rater", table.raters[0] if len(table.raters) == 1 else None)
    if table.raters and rater not in table.raters:
        raise BadParams(f"rater is {rater!r}; say whose labels to count: {', '.join(map(str, table.raters))}.")
    category, categories = asked.take("category"), asked.take("categories", None)
    clusters = clusters_of(table, asked)
    drawing = _drawing(asked, clusters)
    default = "wilson" if drawing is None else "bootstrap"
    interval = asked.one_of("interval", ("wilson", "exact", "bootstrap"), default)
    if interval != "bootstrap" and clusters is not None:
        raise BadParams(f"interval is {interval}, which is of independent items; with cluster_of take bootstrap.")
    drawing = drawing or _default_drawing(asked, clusters)
    asked.done()
    labels = table.column(rater)
    _check_labels(table, rater, labels, categories)
    counted = np.array([label is not None for label in labels], dtype=bool)
    yes = np.array([_same(label, category) for label in labels], dtype=bool)
    summed = share_of_items(yes, counted, left_out={"not_rated": int((~counted).sum())})
    if interval == "bootstrap":
        return outcome(counted_in_full(with_intervals([summed], clusters, drawing)[0], asked))
    figure = summed.figure()
    if figure.value is None:
        return outcome(replace(figure, interval_reason=figure.reason))
    return outcome(shares.with_count_interval(figure, int(yes.sum()), method=interval, unit="item"))


@metric("dose_table")
def dose_table(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (item, "dose", whole number) and (item, "yes", 0 or 1). Params: `starts`, where the classes of doses
    begin; the `dose` whose class is asked for. Details: the rows of all classes."""
    asked = Params("dose_table", params)
    table = records(data)
    _only(table, ("dose", "yes"))
    starts, _ = asked.take("starts"), asked.take("dose")
    dose = asked.whole("dose", 0, least=0)
    if not isinstance(starts, Sequence) or not all(isinstance(one, int) for one in starts):
        raise BadParams(f"starts is {starts!r}; it is a list of whole numbers that rise.")
    clusters = clusters_of(table, asked)
    drawing = _drawing(asked, clusters)
    asked.done()
    doses, yes = _numbers(table, "dose"), _numbers(table, "yes")
    counted = ~np.isnan(doses) & ~np.isnan(yes)
    for item, answer, is_counted in zip(table.items, yes.tolist(), counted.tolist(), strict=True):
        if is_counted and answer not in (0, 1):
            raise UnknownLabel(f"yes of item {item} is {answer}; it is 0 or 1.", item=item, rater="yes")
    rows = shares.dose_table(
        doses, np.nan_to_num(yes), starts, counted=counted, clusters=clusters, drawing=drawing
    )
    of_dose = [row for row in rows if row.least <= dose and (row.most is None or dose <= row.most)]
    if not of_dose:
        raise BadParams(f"dose is {dose}, which is in no class; the first starts at {rows[0].least}.")
    return outcome(counted_in_full(of_dose[0].share, asked), rows=tuple(rows))


def _adjusted(data: Any, asked: Params, adjust: Callable[[Sequence[float | None]], Family]) -> Outcome:
    table = records(data)
    _only(table, ("p",))
    names = list(table.items)
    comparison = asked.take("comparison")
    asked.done()
    if names and comparison not in names:
        raise BadParams(f"comparison is {comparison!r}; there are {', '.join(map(str, names))}.")
    family = adjust([_number(table, name, "p") for name in names])
    value = family.adjusted[names.index(comparison)] if names else None
    reason = None if value is not None else ("no_overlap" if names else "empty")
    figure = Figure(value, reason, n_items=family.n_tested, n_ratings=family.n_tested, n_raters=1)
    return outcome(
        flagged(figure, "not_tested") if reason == "no_overlap" else figure,
        adjusted=tuple((str(name), p) for name, p in zip(names, family.adjusted, strict=True)),
        not_tested=tuple(names[place] for place in family.not_tested),
    )


def _correlation(data: Any, asked: Params, correlate: Callable[..., Figure]) -> Outcome:
    table = records(data)
    a, b = two_columns(table, asked, "a", "b")
    groups, clusters = clusters_of(table, asked, "group_of"), clusters_of(table, asked)
    drawing = _drawing(asked, clusters if groups is None else clusters or groups)
    asked.done()
    figure = correlate(_numbers(table, a), _numbers(table, b), groups=groups, clusters=clusters, drawing=drawing)
    return outcome(counted_in_full(figure, asked))


def _drawing(asked: Params, clusters: Sequence[Hashable] | None) -> Drawing | None:
    unit = str(asked.take("unit", "item" if clusters is None else "cluster"))
    drawing = drawing_of(asked, unit)
    return drawing or (_default_drawing(asked, clusters) if "unit" in asked else None)


def _default_drawing(asked: Params, clusters: Sequence[Hashable] | None) -> Drawing:
    return Drawing(unit=str(asked.take("unit", "item" if clusters is None else "cluster")), seed=1)


def _numbers(table: Records, rater: Hashable) -> Column:
    """(n_items,), nan where this rater, system or measure has no number."""
    found = [_number(table, item, rater) for item in table.items]
    return np.array([math.nan if value is None else value for value in found], dtype=float)


def _number(table: Records, item: Hashable, rater: Hashable) -> float | None:
    value = table.said.get((item, rater))
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UnknownLabel(f"{rater} of item {item} is {value!r}; it is a number.", item=item, rater=rater)
    return value


def _count(table: Records, task: Hashable, name: str) -> int:
    value = table.said.get((task, name))
    if value is None:
        raise BadParams(f"Task {task} has no {name}; give both n and c of every task.")
    if isinstance(value, bool) or not isinstance(value, int):
        raise UnknownLabel(f"{name} of task {task} is {value!r}; it is a whole number.", item=task, rater=name)
    return value


def _only(table: Records, allowed: tuple[str, ...]) -> None:
    unknown = [rater for rater in table.raters if rater not in allowed]
    if unknown:
        raise BadParams(f"A record is of {unknown[0]!r}; here it is {' or '.join(allowed)}.")


def _check_labels(table: Records, rater: Hashable, labels: Sequence[Any], categories: Sequence[Any] | None) -> None:
    for item, label in zip(table.items, labels, strict=True):
        if label is None or categories is None or any(_same(label, one) for one in categories):
            continue
        raise UnknownLabel(
            f"{rater} on item {item}: {label!r} is not declared. Declared are {', '.join(map(repr, categories))}.",
            item=item,
            rater=rater,
        )


def _same(label: Any, category: Any) -> bool:
    """1, "1" and True are three labels."""
    return type(label) is type(category) and bool(label == category)
