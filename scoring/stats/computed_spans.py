"""Agreement of spans and of groups by name, from records (item, rater, what was marked)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scoring.stats.answers import Drawing
from scoring.stats.groups import AGGREGATES, STATS, group_agreement, group_key
from scoring.stats.ratings import DuplicateRating, UnknownLabel
from scoring.stats.registry import BadParams, Outcome, metric, outcome
from scoring.stats.spans import UNITS, checked_spans, span_agreement
from scoring.stats.sums import with_intervals

OF_INTERVALS = ("cluster_of", "seed", "n_resamples", "min_clusters")


@metric("span_f1")
def span_f1(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (item, rater, list of [start, end, label]); a rater who looked and found nothing has an empty list.

    Params: `rater_a` (the reference), `rater_b`; `unit` character, exact or overlap; `match_label`; `stat` f1,
    precision, recall, jaccard or exact; `aggregate` micro or macro; `both_empty` skip; `categories` the declared labels.
    """
    known_params(
        params, "rater_a", "rater_b", "unit", "match_label", "stat", "aggregate", "both_empty", "categories", *OF_INTERVALS
    )
    table = records(data)
    one, other = two_columns(table, params, "rater_a", "rater_b")
    one_of(params, "both_empty", ("skip",), default="skip")
    match_label = truth(params, "match_label", default=True)
    for rater, column in ((one, table.column(one)), (other, table.column(other))):
        for item, spans in zip(table.items, column, strict=True):
            if spans is not None:
                _check_spans(spans, item=item, rater=rater, categories=params.get("categories"))
    summed = span_agreement(
        table.column(one),
        table.column(other),
        unit=one_of(params, "unit", UNITS, default="character"),
        match_label=match_label,
        stat=one_of(params, "stat", STATS, default="f1"),
        aggregate=one_of(params, "aggregate", AGGREGATES, default="micro"),
    )
    return outcome(with_intervals([summed], clusters_of(table.items, params), drawing_of(params))[0])


@metric("group_set_agreement")
def group_set_agreement(data: Any, params: Mapping[str, Any]) -> Outcome:
    """Records (item, rater, list of groups), a group being a list of steps.

    Params: `reference`, `predicted` raters; `ordered_within`; `repeats` once or each; `stat`, `aggregate` as with spans.
    """
    known_params(
        params, "reference", "predicted", "ordered_within", "repeats", "stat", "aggregate", "both_empty", *OF_INTERVALS
    )
    table = records(data)
    reference, predicted = two_columns(table, params, "reference", "predicted")
    one_of(params, "both_empty", ("skip",), default="skip")
    ordered_within = truth(params, "ordered_within", default=False)
    for rater in (reference, predicted):
        for item, groups in zip(table.items, table.column(rater), strict=True):
            _check_groups(groups, item=item, rater=rater)
    summed = group_agreement(
        table.column(reference),
        table.column(predicted),
        ordered_within=ordered_within,
        repeats=one_of(params, "repeats", ("once", "each"), default="once"),
        stat=one_of(params, "stat", STATS, default="f1"),
        aggregate=one_of(params, "aggregate", AGGREGATES, default="micro"),
    )
    return outcome(with_intervals([summed], clusters_of(table.items, params), drawing_of(params))[0])


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
    """The triples [item, rater, label] of a case file.

    Raises
    ------
    BadParams if the data are no triples; DuplicateRating if one rater has two labels of an item.
    """
    if isinstance(data, str | bytes | Mapping) or not isinstance(data, Sequence):
        raise BadParams(f"data is {type(data).__name__}; this statistic takes a list of [item, rater, label].")
    items: dict[Hashable, None] = {}
    raters: dict[Hashable, None] = {}
    said: dict[tuple[Hashable, Hashable], Any] = {}
    for number, row in enumerate(data):
        if isinstance(row, str | bytes) or not isinstance(row, Sequence) or len(row) != 3:
            raise BadParams(f"Record {number} is {row!r}; a record is [item, rater, label].")
        item, rater, label = row
        for name in (item, rater):
            if not isinstance(name, str | int) or isinstance(name, bool):
                raise BadParams(f"Record {number} is of {name!r}; items and raters are named by a text or a number.")
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


def two_columns(table: Records, params: Mapping[str, Any], first: str, second: str) -> tuple[Hashable, Hashable]:
    """The names of the two raters that the params name; those of the data, if it has just two and they name none."""
    if first not in params and second not in params:
        if len(table.raters) == 2:
            return table.raters[0], table.raters[1]
        raise BadParams(f"The data have {len(table.raters)} raters; say with {first} and {second} which two to compare.")
    for name in (first, second):
        if name not in params:
            raise BadParams(f"{name} is missing; give both {first} and {second}.")
    one, other = params[first], params[second]
    if one == other:
        raise BadParams(f"{first} and {second} are both {one!r}; name two.")
    return one, other


def known_params(params: Mapping[str, Any], *known: str) -> None:
    """A misspelt parameter would be a silent default."""
    unknown = [name for name in params if name not in known]
    if unknown:
        raise BadParams(f"No parameter is called {unknown[0]!r} here. There are {', '.join(known)}.")


def one_of(params: Mapping[str, Any], name: str, allowed: Collection[str], *, default: str) -> Any:
    value = params.get(name, default)
    if value not in allowed:
        raise BadParams(f"{name} is {value!r}; it is one of {', '.join(allowed)}.")
    return value


def truth(params: Mapping[str, Any], name: str, *, default: bool) -> bool:
    value = params.get(name, default)
    if not isinstance(value, bool):
        raise BadParams(f"{name} is {value!r}; it is true or false.")
    return value


def whole(params: Mapping[str, Any], name: str, *, default: int | None = None, least: int = 0) -> int:
    value = params.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise BadParams(f"{name} is {value!r}; it is a whole number from {least}.")
    return value


def clusters_of(items: Sequence[Hashable], params: Mapping[str, Any], name: str = "cluster_of") -> list[Any] | None:
    """The cluster of every item; None where `cluster_of` is not given, so that each item is its own."""
    of_item = params.get(name)
    if of_item is None:
        return None
    if not isinstance(of_item, Mapping):
        raise BadParams(f"{name} is {of_item!r}; it says of every item what it belongs to.")
    missing = [item for item in items if item not in of_item and str(item) not in of_item]
    if missing:
        raise BadParams(f"{name} lacks item {missing[0]}; give every item of the data.")
    return [of_item[item] if item in of_item else of_item[str(item)] for item in items]


def drawing_of(params: Mapping[str, Any]) -> Drawing:
    return Drawing(
        unit="item" if params.get("cluster_of") is None else "cluster",
        seed=whole(params, "seed", default=0),
        min_clusters=whole(params, "min_clusters", default=5, least=2),
        n_resamples=whole(params, "n_resamples", default=10_000, least=1),
    )


def _check_spans(spans: Any, *, item: Hashable, rater: Hashable, categories: Sequence[Any] | None) -> None:
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
