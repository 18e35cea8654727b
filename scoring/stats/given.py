"""Data and params as the case files have them: what raters said, as a matrix of codes; and params that are all read."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from scoring.stats.ratings import MISSING, Codes, DuplicateRating, Triple, UnknownLabel, ratings_from_triples
from scoring.stats.registry import BadParams
from scoring.stats.statistic import Counts

NEEDED: Final = object()
MAX_CELLS = 10_000_000
"""A matrix of codes of this many cells is 80 MB."""


class Params:
    """The params of one call. Each is asked for by its name; `done` refuses what nobody asked for."""

    def __init__(self, metric: str, params: Mapping[str, Any]) -> None:
        if not isinstance(params, Mapping):
            raise BadParams(f"params of {metric} is {params!r}; it is a mapping of names to values.")
        self.metric = metric
        self._given = params
        self._asked: list[str] = []

    def __contains__(self, name: str) -> bool:
        return self._given.get(name) is not None

    def take(self, name: str, default: Any = NEEDED) -> Any:
        self._asked.append(name)
        value = self._given.get(name)
        if value is not None:
            return value
        if default is NEEDED:
            raise BadParams(f"{self.metric} needs the param {name}.")
        return default

    def one_of(self, name: str, allowed: Collection[str], default: str) -> Any:
        value = self.take(name, default)
        if not isinstance(value, str) or value not in allowed:
            raise BadParams(f"{name} is {value!r}; {self.metric} takes one of: {', '.join(allowed)}.")
        return value

    def whole(self, name: str, default: int, *, least: int) -> int:
        value = self.take(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise BadParams(f"{name} is {value!r}; it is a whole number from {least}.")
        return value

    def truth(self, name: str, *, default: bool) -> bool:
        value = self.take(name, default)
        if not isinstance(value, bool):
            raise BadParams(f"{name} is {value!r}; it is true or false.")
        return value

    def matrix(self, name: str) -> Any:
        """A square of numbers, or None where it is not given."""
        value = self.take(name, None)
        if value is None:
            return None
        try:
            return np.array(value, dtype=float)
        except (TypeError, ValueError):
            raise BadParams(f"{name} is no matrix of numbers with rows of one length.") from None

    def done(self) -> None:
        unknown = [name for name in self._given if name not in self._asked]
        if unknown:
            takes = ", ".join(dict.fromkeys(self._asked))
            raise BadParams(f"{self.metric} takes no param {', '.join(map(str, unknown))}; it takes: {takes}.")


@dataclass(frozen=True, eq=False)
class Given:
    """What was said: row i of `codes` stands for `times[i]` items, each by its name in `items` where they have one."""

    items: tuple[Hashable, ...] | None
    raters: tuple[Hashable, ...] | None
    categories: tuple[Any, ...]
    codes: Codes
    times: Counts

    @property
    def n_categories(self) -> int:
        return len(self.categories)

    @property
    def known_raters(self) -> tuple[Hashable, ...]:
        if self.raters is None:
            raise BadParams("Counts tell no rater from another; give triples, a table, or the confusion of two raters.")
        return self.raters

    def column(self, rater: Hashable) -> int:
        if rater not in self.known_raters:
            raise BadParams(f"There is no rater {rater!r}; there are: {', '.join(map(str, self.known_raters))}.")
        return self.known_raters.index(rater)

    def having(self, *raters: Hashable) -> Given:
        """With an empty column for each of these who rated nothing, where the data hold fewer than two raters: that is
        a reason and no mistake. With more of them, a name that is not there is one."""
        missing = [rater for rater in raters if rater not in self.known_raters]
        if not missing or len(self.known_raters) >= 2:
            return self
        nothing = np.full((len(self.codes), len(missing)), MISSING, dtype=np.int64)
        return replace(self, raters=(*self.known_raters, *missing), codes=np.hstack([self.codes, nothing]))

    def code_of(self, category: Any) -> int:
        for place, one in enumerate(self.categories):
            if type(one) is type(category) and one == category:
                return place
        raise BadParams(f"{category!r} is no category; there are: {', '.join(map(repr, self.categories))}.")


def given(data: Any, params: Params, *, declared: bool, numbers: bool = False) -> Given:
    """The data of a statistic of categories.

    Parameters
    ----------
    data : triples (item, rater, label), None where there is no rating; or {"table": rows of labels, one row an item,
        one column a rater}, with "items" and "raters" if they have names; or {"confusion": rows the first rater}; or
        {"counts": how many raters chose each category, one row an item}.
    declared : whether the statistic hangs on which categories there are, so that params must declare them. Else they
        may be left out, and are those of the data in the order in which they come.
    numbers : labels are numbers.

    Raises
    ------
    DuplicateRating, UnknownLabel name the item and the rater. BadParams for anything else that is not as above.
    """
    categories = params.take("categories", None)
    if categories is not None:
        categories = _categories(categories)
    if isinstance(data, Mapping) and ("confusion" in data or "counts" in data):
        return _counted(data, params, categories)
    triples = _triples(data)
    if categories is None:
        if declared:
            raise BadParams(f"{params.metric} hangs on which categories there are and their order: give categories.")
        triples, categories = _of_data(triples, numbers=numbers)
    return _of_triples(triples, categories)


def given_sets(data: Any, params: Params) -> Given:
    """Labels that are sets, written as lists; each different set is a category. Declared are what a set may hold."""
    members = params.take("categories", None)
    allowed = None if members is None else frozenset(map(_exact, _categories(members)))
    triples: list[Triple] = []
    for item, rater, label in _triples(data):
        if label is None:
            triples.append((item, rater, None))
            continue
        if isinstance(label, (str, bytes, Mapping)) or not isinstance(label, Collection):
            raise UnknownLabel(
                f"{label!r} is no set (item {item}, rater {rater}); write it as a list, [] where nothing was found.",
                item=item,
                rater=rater,
            )
        try:
            one = frozenset(map(_exact, label))
        except TypeError:
            raise UnknownLabel(
                f"A set holds texts or numbers, not {label!r} (item {item}, rater {rater}).", item=item, rater=rater
            ) from None
        if allowed is not None and not one <= allowed:
            wrong = ", ".join(sorted(repr(value) for _, value in one - allowed))
            raise UnknownLabel(
                f"Not among the declared categories: {wrong} (item {item}, rater {rater}).", item=item, rater=rater
            )
        triples.append((item, rater, one))
    sets = tuple(dict.fromkeys(label for _, _, label in triples if label is not None))
    return _of_triples(triples, sets or (frozenset(),))


def clusters_of(found: Given, cluster_of: Any) -> list[Hashable] | None:
    """The cluster of every item; None where each item is its own."""
    if cluster_of is None:
        return None
    if not isinstance(cluster_of, Mapping):
        raise BadParams("cluster_of is a mapping of items to their cluster.")
    if found.items is None:
        raise BadParams("Items of a table of counts have no name, so they have no cluster; give triples.")
    clusters: list[Hashable] = []
    for item in found.items:
        key = item if item in cluster_of else str(item)  # the keys of a JSON object are texts
        if cluster_of.get(key) is None:
            raise BadParams(f"cluster_of has no cluster for item {item}.")
        clusters.append(cluster_of[key])
    return clusters


def _of_triples(triples: Sequence[Triple], categories: tuple[Any, ...]) -> Given:
    ratings = ratings_from_triples(triples, categories)
    return Given(
        ratings.items, ratings.raters, ratings.categories, ratings.codes, np.ones(len(ratings.items), dtype=np.int64)
    )


def _triples(data: Any) -> list[Triple]:
    if isinstance(data, Mapping):
        return _of_table(data)
    if isinstance(data, (str, bytes)) or not isinstance(data, Collection):
        raise BadParams("data is a list of [item, rater, label], or a mapping with table, confusion or counts.")
    triples: list[Triple] = []
    said: set[tuple[Hashable, Hashable]] = set()
    for number, row in enumerate(data, 1):
        if isinstance(row, (str, bytes)) or not isinstance(row, Sequence) or len(row) != 3:
            raise BadParams(f"Row {number} of the data is {row!r}; each is [item, rater, label].")
        item, rater, label = row
        for one, name in ((item, "item"), (rater, "rater")):
            if one is None or not isinstance(one, Hashable):
                raise BadParams(f"The {name} of row {number} is {one!r}; it is a name or a number.")
        if label is not None:
            cell = (_exact(item), _exact(rater))
            if cell in said:  # before anything is said of labels
                raise DuplicateRating(
                    f"{rater} rated item {item} twice. Keep one label for each rater and item.", item=item, rater=rater
                )
            said.add(cell)
        triples.append((item, rater, label))
    return triples


def _of_table(data: Mapping[str, Any]) -> list[Triple]:
    if "table" not in data:
        raise BadParams(f"The data has {', '.join(map(str, data))}; it has table, confusion or counts.")
    rows = data["table"]
    width = len(rows[0]) if len(rows) else 0
    raters = data.get("raters") or [f"r{number}" for number in range(1, width + 1)]
    items = data.get("items") or list(range(1, len(rows) + 1))
    for row, item in zip(rows, items, strict=False):
        if len(row) != len(raters):
            raise BadParams(f"Item {item} has {len(row)} cells for {len(raters)} raters; write null for no rating.")
    if len(items) != len(rows):
        raise BadParams(f"There are {len(items)} names for {len(rows)} items.")
    named = [(item, zip(raters, row, strict=True)) for item, row in zip(items, rows, strict=True)]
    return [(item, rater, cell) for item, cells in named for rater, cell in cells]


def _counted(data: Mapping[str, Any], params: Params, categories: tuple[Any, ...] | None) -> Given:
    name = "confusion" if "confusion" in data else "counts"
    table = _counts(data[name], name)
    n = len(categories) if categories is not None else table.shape[1]
    categories = categories if categories is not None else tuple(range(n))
    if table.shape[1] != n or (name == "confusion" and table.shape[0] != n):
        shape = " x ".join(map(str, table.shape))
        raise BadParams(f"The {name} is {shape}, but there are {n} categories: {', '.join(map(str, categories))}.")
    if name == "confusion":
        first, second = np.nonzero(table)
        raters = (params.take("rater_a", "A"), params.take("rater_b", "B"))
        return Given(None, raters, categories, np.column_stack([first, second]), table[first, second])
    width = int(table.sum(axis=1).max(initial=0))
    if width * len(table) > MAX_CELLS:
        raise BadParams(f"Counts of {width} ratings an item on {len(table)} items are too many to lay out.")
    codes = np.full((len(table), width), MISSING, dtype=np.int64)
    for row, chosen in zip(codes, table, strict=True):
        said = np.repeat(np.arange(n), chosen)
        row[: len(said)] = said
    return Given(None, None, categories, codes, np.ones(len(table), dtype=np.int64))


def _counts(rows: Any, name: str) -> Counts:
    for number, row in enumerate(rows, 1):
        if isinstance(row, (str, bytes)) or not isinstance(row, Sequence) or len(row) != len(rows[0]):
            raise BadParams(f"Row {number} of the {name} has another length than the first.")
        for count in row:
            if isinstance(count, bool) or not isinstance(count, int) or count < 0:
                raise BadParams(f"Row {number} of the {name} holds {count!r}; counts are whole numbers from 0.")
    return np.array(rows, dtype=np.int64).reshape(len(rows), -1)


def _categories(categories: Any) -> tuple[Any, ...]:
    if isinstance(categories, (str, bytes, Mapping)) or not isinstance(categories, Sequence) or not categories:
        raise BadParams(f"categories is {categories!r}; it is a list of the labels there are, in their order.")
    if not all(isinstance(one, Hashable) and one is not None for one in categories):
        raise BadParams("A category is a text, a number, or true or false.")
    return tuple(categories)


def _of_data(triples: list[Triple], *, numbers: bool) -> tuple[list[Triple], tuple[Any, ...]]:
    """The labels there are, in the order in which they come: all texts, or all numbers, or all truths."""
    kinds: dict[str, Any] = {}
    seen: dict[Any, Any] = {}
    found: list[Triple] = []
    for item, rater, label in triples:
        if label is not None:
            kind = _kind(label)
            if kind is None or (numbers and kind != "number"):
                expected = "a finite number" if numbers else "a text, a number, or true or false"
                raise UnknownLabel(
                    f"{label!r} is no label (item {item}, rater {rater}); it is {expected}.", item=item, rater=rater
                )
            kinds.setdefault(kind, label)
            if len(kinds) > 1:
                one, other = list(kinds.values())
                raise UnknownLabel(
                    f"Labels of two types: {one!r} and {other!r} (item {item}, rater {rater}). Give all the same.",
                    item=item,
                    rater=rater,
                )
            label = seen.setdefault(label, label)  # 1 and 1.0 are one number
        found.append((item, rater, label))
    return found, tuple(seen) or (0,)


def _kind(label: Any) -> str | None:
    if isinstance(label, bool):
        return "truth"
    if isinstance(label, (int, float)):
        return "number" if math.isfinite(label) else None
    return "text" if isinstance(label, str) else None


def _exact(value: Hashable) -> tuple[str, Hashable]:
    """Tells 1 from True and from 1.0."""
    hash(value)
    return (type(value).__name__, value)
