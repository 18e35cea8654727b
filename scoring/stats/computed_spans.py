"""Agreement of spans and of groups by name, from records (item, rater, what was marked).

For an interval give any of `cluster_of` (a mapping of items to clusters; each item is its own without), `seed`,
`n_resamples`, `min_clusters`, `mode` (`exact`: only if all resamples can be counted).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scoring.stats.answers import Drawing
from scoring.stats.given import Params
from scoring.stats.groups import AGGREGATES, STATS, group_agreement, group_key
from scoring.stats.ratings import DuplicateRating, UnknownLabel
from scoring.stats.registry import BadParams, Outcome, metric, outcome
from scoring.stats.resampling import ENUMERATED
from scoring.stats.results import Figure
from scoring.stats.spans import UNITS, checked_spans, span_agreement
from scoring.stats.sums import Summed, with_intervals

DRAWN = ("cluster_of", "seed", "n_resamples", "min_clusters", "mode")
"""Params that ask for an interval. What a cluster is called is not among them: `unit` is the unit of a span here."""


@metric("span_f1")
def span_f1(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (item, rater, list of [start, end, label]); a rater who looked and found nothing has an empty list.

    Params: `rater_a` (the reference), `rater_b`; `unit` character, exact or overlap; `match_label`; `stat` f1,
    precision, recall, jaccard or exact; `aggregate` micro or macro; `both_empty` skip; `categories`, if declared.
    """
    asked = Params("span_f1", params)
    table = records(data)
    one, other = two_columns(table, asked, "rater_a", "rater_b")
    categories = asked.take("categories", None)
    asked.one_of("both_empty", ("skip",), "skip")
    for rater in (one, other):
        for item, spans in zip(table.items, table.column(rater), strict=True):
            if spans is not None:
                _check_spans(spans, item=item, rater=rater, categories=categories)
    summed = span_agreement(
        table.column(one),
        table.column(other),
        unit=asked.one_of("unit", UNITS, "character"),
        match_label=asked.truth("match_label", default=True),
        stat=asked.one_of("stat", STATS, "f1"),
        aggregate=asked.one_of("aggregate", AGGREGATES, "micro"),
    )
    return outcome(figure_of(summed, table, asked))


@metric("group_set_agreement")
def group_set_agreement(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (item, rater, list of groups), a group being a list of steps.

    Params: `reference`, `predicted` raters; `ordered_within`; `repeats` once or each; `stat`, `aggregate` and
    `both_empty` as with spans.
    """
    asked = Params("group_set_agreement", params)
    table = records(data)
    reference, predicted = two_columns(table, asked, "reference", "predicted")
    asked.one_of("both_empty", ("skip",), "skip")
    for rater in (reference, predicted):
        for item, groups in zip(table.items, table.column(rater), strict=True):
            _check_groups(groups, item=item, rater=rater)
    summed = group_agreement(
        table.column(reference),
        table.column(predicted),
        ordered_within=asked.truth("ordered_within", default=False),
        repeats=asked.one_of("repeats", ("once", "each"), "once"),
        stat=asked.one_of("stat", STATS, "f1"),
        aggregate=asked.one_of("aggregate", AGGREGATES, "micro"),
    )
    return outcome(figure_of(summed, table, asked))


@dataclass(frozen=True, eq=False)
class Records:
    """What each rater said of each item; both in the order of their first record. Null is nothing said."""

    items: tuple[Hashable, ...]
    raters: tuple[Hashable, ...]
    said: Mapping[tuple[Hashable, Hashable], Any]

    def column(self, rater: Hashable) -> list[Any]:
        """What the rater said of every item, None where nothing."""
        return [self.said.get((item, rater)) for item in self.items]


def records(data: Any) -> Records:
    """The triples [item, rater, label] of a case file, or {"table": rows of labels, "items", "raters"}.

    Raises
    ------
    BadParams if the data are neither; DuplicateRating if one rater has two labels of an item.
    """
    triples = _cells(data) if isinstance(data, Mapping) else data
    if isinstance(triples, str | bytes) or not isinstance(triples, Sequence):
        raise BadParams("data is a list of [item, rater, label], or a mapping with table.")
    items: dict[Hashable, None] = {}
    raters: dict[Hashable, None] = {}
    said: dict[tuple[Hashable, Hashable], Any] = {}
    for number, row in enumerate(triples, 1):
        if isinstance(row, str | bytes) or not isinstance(row, Sequence) or len(row) != 3:
            raise BadParams(f"Row {number} of the data is {row!r}; each is [item, rater, label].")
        item, rater, label = row
        for name in (item, rater):  # texts and whole numbers never equal one another, so the names stay apart
            if not isinstance(name, str | int) or isinstance(name, bool):
                raise BadParams(f"Row {number} names {name!r}; an item or a rater is a text or a whole number.")
        items.setdefault(item)
        raters.setdefault(rater)
        if label is None:
            continue
        if (item, rater) in said:
            raise DuplicateRating(
                f"{rater} rated item {item} twice. Keep one label for each rater and item.", item=item, rater=rater
            )
        said[item, rater] = label
    return Records(tuple(items), tuple(raters), said)


def two_columns(table: Records, asked: Params, first: str, second: str) -> tuple[Hashable, Hashable]:
    """The names of the two raters that the params name; those of the data, if it has just two and they name none.

    Where the data are of fewer than two, the one that is absent has said nothing, and a reason says so.
    """
    one, other = asked.take(first, None), asked.take(second, None)
    if one is None and other is None and len(table.raters) == 2:
        return table.raters[0], table.raters[1]
    if one is None or other is None or one == other:
        there = ", ".join(map(str, table.raters)) or "none"
        raise BadParams(f"Name two different columns as {first} and {second}; there are: {there}.")
    if len(table.raters) > 1:
        for name in (one, other):
            if name not in table.raters:
                raise BadParams(f"There is no {name!r} in the data; there are: {', '.join(map(str, table.raters))}.")
    return one, other


def clusters_of(table: Records, asked: Params, name: str = "cluster_of") -> list[Hashable] | None:
    """The cluster of every item; None where `cluster_of` is not given, so that each item is its own."""
    of_item = asked.take(name, None)
    if of_item is None:
        return None
    if not isinstance(of_item, Mapping):
        raise BadParams(f"{name} is a mapping of items to what they belong to.")
    found: list[Hashable] = []
    for item in table.items:
        cluster = of_item.get(item if item in of_item else str(item))  # the keys of a JSON object are texts
        if cluster is None or not isinstance(cluster, Hashable):
            raise BadParams(f"{name} says nothing of item {item}.")
        found.append(cluster)
    return found


def drawing_of(asked: Params, unit: str) -> Drawing | None:
    """How the interval is to be drawn; None where none is asked for."""
    drawing = Drawing(
        unit=unit,
        seed=asked.whole("seed", 1, least=0),
        min_clusters=asked.whole("min_clusters", 5, least=2),
        n_resamples=asked.whole("n_resamples", 10_000, least=1),
    )
    asked.one_of("mode", ("auto", "exact"), "auto")
    return drawing if any(name in asked for name in DRAWN) else None


def figure_of(summed: Summed, table: Records, asked: Params) -> Figure:
    """The figure, with an interval where the params ask for one; the last to ask, so that params nobody knows show."""
    clusters = clusters_of(table, asked)
    drawing = drawing_of(asked, "item" if clusters is None else "cluster")
    asked.done()
    if drawing is None:
        return summed.figure()
    return counted_in_full(with_intervals([summed], clusters, drawing)[0], asked)


def counted_in_full(figure: Figure, asked: Params) -> Figure:
    """The figure, unless all resamples were to be counted and there are too many clusters for that."""
    if asked.take("mode", "auto") == "exact" and (figure.n_clusters or 0) > ENUMERATED:
        raise BadParams(f"All resamples can be counted up to {ENUMERATED} clusters; here are {figure.n_clusters}.")
    return figure


def _cells(data: Mapping[str, Any]) -> list[tuple[Any, Any, Any]]:
    rows = data.get("table")
    if isinstance(rows, str | bytes) or not isinstance(rows, Sequence):
        raise BadParams(f"The data has {', '.join(map(str, data))}; it has table, or is a list of triples.")
    raters = data.get("raters") or [f"r{number}" for number in range(1, (len(rows[0]) if rows else 0) + 1)]
    items = data.get("items") or list(range(1, len(rows) + 1))
    if len(items) != len(rows):
        raise BadParams(f"There are {len(items)} names for {len(rows)} items.")
    for item, row in zip(items, rows, strict=True):
        if len(row) != len(raters):
            raise BadParams(f"Item {item} has {len(row)} cells for {len(raters)} raters; write null for no rating.")
    return [
        (item, rater, cell)
        for item, row in zip(items, rows, strict=True)
        for rater, cell in zip(raters, row, strict=True)
    ]


def _check_spans(spans: Any, *, item: Hashable, rater: Hashable, categories: Any) -> None:
    if isinstance(spans, str | bytes | Mapping) or not isinstance(spans, Sequence):
        raise UnknownLabel(f"{rater} on item {item}: {spans!r} is no list of spans.", item=item, rater=rater)
    for _, _, label in checked_spans(spans, item=item, rater=rater):
        if categories is not None and not any(type(one) is type(label) and one == label for one in categories):
            raise UnknownLabel(
                f"{rater} on item {item}: the label {label!r} is not declared. Declared are "
                f"{', '.join(map(repr, categories))}.",
                item=item,
                rater=rater,
            )


def _check_groups(groups: Any, *, item: Hashable, rater: Hashable) -> None:
    if groups is None:
        return
    try:
        if isinstance(groups, str | bytes | Mapping) or not isinstance(groups, Sequence):
            raise ValueError(f"{groups!r} is no list of groups.")
        for group in groups:
            hash(group_key(group, ordered_within=False))
    except (TypeError, ValueError) as wrong:
        raise UnknownLabel(f"{rater} on item {item}: {wrong}", item=item, rater=rater) from None
