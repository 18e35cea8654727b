"""Tests, decompositions, shares and correlations by name, from records (item, what of it, number)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from scoring.stats import correlation, passk, shapley, shares, significance
from scoring.stats.computed_spans import (
    OF_INTERVALS,
    Records,
    clusters_of,
    drawing_of,
    known_params,
    one_of,
    records,
    two_columns,
    whole,
)
from scoring.stats.ratings import UnknownLabel
from scoring.stats.registry import BadParams, Outcome, metric, outcome
from scoring.stats.results import Figure
from scoring.stats.significance import Family
from scoring.stats.sums import flagged, share as share_of_items, with_intervals

Column = npt.NDArray[np.float64]


@metric("sign_flip_test")
def sign_flip_test(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (item, system, score). Params: systems `a`, `b`, of which b is taken from a; `alternative`; `mode` auto,
    exact or monte_carlo; `unit` item or cluster (then `cluster_of`); `n_draws`, `seed`."""
    known_params(params, "a", "b", "alternative", "mode", "unit", "cluster_of", "n_draws", "seed")
    table = records(data)
    a, b = two_columns(table, params, "a", "b")
    clusters = clusters_of(table.items, params)
    unit = one_of(params, "unit", ("item", "cluster"), default="item" if clusters is None else "cluster")
    if unit == "cluster" and clusters is None:
        raise BadParams("unit is cluster, but cluster_of is missing; give the cluster of every item.")
    try:
        return significance.sign_flip_test(
            _numbers(table, a) - _numbers(table, b),
            clusters if unit == "cluster" else None,
            alternative=one_of(params, "alternative", ("two-sided", "greater", "less"), default="two-sided"),
            mode=one_of(params, "mode", ("auto", "exact", "monte_carlo"), default="auto"),
            n_draws=whole(params, "n_draws", default=10_000, least=1),
            seed=whole(params, "seed", default=0),
        )
    except ValueError as wrong:
        raise BadParams(str(wrong)) from None


@metric("paired_difference")
def paired_difference(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (item, system, score); the mean of `a` minus the mean of `b`, over items with both. Details: both means
    on the same draws, and p of the sign-flip test by the same unit."""
    known_params(params, "a", "b", *OF_INTERVALS)
    table = records(data)
    a, b = two_columns(table, params, "a", "b")
    found = shares.paired_difference(
        _numbers(table, a), _numbers(table, b), clusters_of(table.items, params), drawing_of(params)
    )
    return outcome(found.difference, a=found.first, b=found.second, p=found.p)


@metric("holm")
def holm(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (comparison, "p", p), null where nothing could be tested. Params: the `comparison` whose p is asked for.
    Details: the adjusted p of all, and those that were `not_tested`."""
    return _adjusted(data, params, significance.holm)


@metric("benjamini_yekutieli")
def benjamini_yekutieli(data: Any, params: Mapping[str, Any]) -> Outcome:
    """As `holm`."""
    return _adjusted(data, params, significance.benjamini_yekutieli)


@metric("shapley_acc")
def shapley_acc(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (factor, "before" or "after", value) of p, s, c and u. Params: the `factor` asked for, p, s, c, u or
    `change`; `missing` undefined or borrow. Details: all four shares, the change, and what was borrowed."""
    known_params(params, "factor", "missing")
    factor = one_of(params, "factor", (*shapley.FACTORS, "change"), default="")
    table = records(data)
    _only_raters(table, ("before", "after"))
    before, after = (
        {str(name): _number(table, name, arm) for name in table.items} for arm in ("before", "after")
    )
    try:
        found = shapley.shapley_acc(
            before, after, missing=one_of(params, "missing", ("undefined", "borrow"), default="undefined")
        )
    except ValueError as wrong:
        raise BadParams(str(wrong)) from None
    figure = found.change if factor == "change" else found.shares[factor]
    return outcome(figure, shares=found.shares, change=found.change, borrowed=found.borrowed)


@metric("pass_at_k")
def pass_at_k(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (task, "n" or "c", count). Params: `k`."""
    known_params(params, "k", *OF_INTERVALS)
    k = whole(params, "k", least=1)
    table = records(data)
    _only_raters(table, ("n", "c"))
    counts = {name: [_count(table, task, name) for task in table.items] for name in ("n", "c")}
    try:
        return passk.pass_at_k(
            counts["n"],
            counts["c"],
            k,
            names=table.items,
            clusters=clusters_of(table.items, params),
            drawing=drawing_of(params),
        )
    except ValueError as wrong:
        raise BadParams(str(wrong)) from None


@metric("pearson")
def pearson(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (item, measure, number). Params: measures `a` and `b`; `group_of` every item, whose mean is taken off."""
    return _correlation(data, params, correlation.pearson)


@metric("spearman")
def spearman(data: Any, params: Mapping[str, Any]) -> Outcome:
    """As `pearson`, of ranks."""
    return _correlation(data, params, correlation.spearman)


@metric("share")
def share(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (item, rater, label), or {"yes": count, "n": count}.

    Params: the `category` that is a yes, the `rater` if there are several, the declared `categories`; `interval`
    bootstrap (of clusters, for records), wilson or exact (of independent items, so not with `cluster_of`).
    """
    known_params(params, "category", "categories", "rater", "interval", *OF_INTERVALS)
    is_counts = isinstance(data, Mapping)
    kinds = ("wilson", "exact") if is_counts else ("bootstrap", "wilson", "exact")
    interval = one_of(params, "interval", kinds, default=kinds[0])
    if interval != "bootstrap" and params.get("cluster_of") is not None:
        raise BadParams(f"interval is {interval}, which is of independent items; with cluster_of take bootstrap.")
    if is_counts:
        if set(data) != {"yes", "n"}:
            raise BadParams('data are counts; give {"yes": count, "n": count}.')
        try:
            return outcome(shares.share_of(data["yes"], data["n"], method=interval))
        except ValueError as wrong:
            raise BadParams(str(wrong)) from None
    table = records(data)
    rater = params.get("rater", table.raters[0] if len(table.raters) == 1 else None)
    if rater is None and table.raters:
        raise BadParams(f"The data have {len(table.raters)} raters; say with rater whose labels to count.")
    if "category" not in params:
        raise BadParams("category is missing; say which label is a yes.")
    labels = table.column(rater)
    _check_labels(table, rater, labels, params.get("categories"))
    counted = np.array([label is not None for label in labels], dtype=bool)
    yes = np.array([_same(label, params["category"]) for label in labels], dtype=bool)
    left_out = {"not_rated": int((~counted).sum())}
    summed = share_of_items(yes, counted, left_out=left_out)
    if interval == "bootstrap":
        return outcome(with_intervals([summed], clusters_of(table.items, params), drawing_of(params))[0])
    figure = summed.figure()
    if figure.value is None:
        return outcome(replace(figure, interval_reason=figure.reason))
    return outcome(shares.with_count_interval(figure, int(yes.sum()), method=interval, unit="item"))


@metric("dose_table")
def dose_table(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (item, "dose", whole number) and (item, "yes", 0 or 1). Params: `starts`, where the classes of doses
    begin; the `dose` whose class is asked for. Details: the rows of all classes."""
    known_params(params, "starts", "dose", *OF_INTERVALS)
    table = records(data)
    _only_raters(table, ("dose", "yes"))
    starts, dose = params.get("starts"), whole(params, "dose")
    if not isinstance(starts, Sequence) or not all(isinstance(one, int) for one in starts):
        raise BadParams(f"starts is {starts!r}; it is a list of whole numbers that rise.")
    doses, yes = _numbers(table, "dose"), _numbers(table, "yes")
    counted = ~np.isnan(doses) & ~np.isnan(yes)
    for item, answer, is_counted in zip(table.items, yes.tolist(), counted.tolist(), strict=True):
        if is_counted and answer not in (0, 1):
            raise UnknownLabel(f"yes of item {item} is {answer}; it is 0 or 1.", item=item, rater="yes")
    try:
        rows = shares.dose_table(
            doses,
            np.nan_to_num(yes),
            starts,
            counted=counted,
            clusters=clusters_of(table.items, params),
            drawing=drawing_of(params),
        )
    except ValueError as wrong:
        raise BadParams(str(wrong)) from None
    of_dose = [row for row in rows if row.least <= dose and (row.most is None or dose <= row.most)]
    if not of_dose:
        raise BadParams(f"dose is {dose}, which is in no class; the first starts at {rows[0].least}.")
    return outcome(of_dose[0].share, rows=tuple(rows))


def _adjusted(data: Any, params: Mapping[str, Any], adjust: Any) -> Outcome:
    known_params(params, "comparison")
    table = records(data)
    _only_raters(table, ("p",))
    names = list(table.items)
    asked = params.get("comparison")
    if names and asked not in names:
        raise BadParams(f"comparison is {asked!r}; there are {', '.join(map(str, names))}.")
    p_values = [_number(table, name, "p") for name in names]
    try:
        family: Family = adjust(p_values)
    except ValueError as wrong:
        raise BadParams(str(wrong)) from None
    value = family.adjusted[names.index(asked)] if names else None
    reason = None if value is not None else ("no_overlap" if family.n_tested else "empty")
    figure = Figure(value, reason, n_items=family.n_tested, n_ratings=family.n_tested, n_raters=1)
    not_tested = tuple(names[place] for place in family.not_tested)
    return outcome(
        flagged(figure, "not_tested") if asked in not_tested else figure,
        adjusted=tuple((str(name), p) for name, p in zip(names, family.adjusted, strict=True)),
        not_tested=not_tested,
    )


def _correlation(data: Any, params: Mapping[str, Any], correlate: Any) -> Outcome:
    known_params(params, "a", "b", "group_of", *OF_INTERVALS)
    table = records(data)
    a, b = two_columns(table, params, "a", "b")
    groups = clusters_of(table.items, params, "group_of")
    drawing = drawing_of(params)
    if groups is not None and params.get("cluster_of") is None:
        drawing = replace(drawing, unit="group")
    try:
        figure = correlate(
            _numbers(table, a),
            _numbers(table, b),
            groups=groups,
            clusters=clusters_of(table.items, params),
            drawing=drawing,
        )
    except ValueError as wrong:
        raise BadParams(str(wrong)) from None
    return outcome(figure)


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


def _only_raters(table: Records, allowed: tuple[str, ...]) -> None:
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
