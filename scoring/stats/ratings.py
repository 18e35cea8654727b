"""From records of who said what to the matrix every statistic of this package reads."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

MISSING = -1
"""The code of no rating."""

Codes = npt.NDArray[np.integer[Any]]
Triple = tuple[Hashable, Hashable, Any]


class RatingsError(ValueError):
    """The records are no ratings table. `code` says which rule they break; `item` and `rater` say where first."""

    code = ""

    def __init__(self, message: str, *, item: Hashable, rater: Hashable) -> None:
        super().__init__(message)
        self.item = item
        self.rater = rater


class DuplicateRating(RatingsError):
    """One rater gave two labels to one item. Which of them counts is for whoever keeps them to say, not for us."""

    code = "duplicate_rating"


class UnknownLabel(RatingsError):
    """A label is not among the declared categories, or is of another type than the declared one."""

    code = "unknown_label"


@dataclass(frozen=True, eq=False)
class Ratings:
    """What every rater said of every item: `codes[i, j]` is a place in `categories`, or MISSING.

    Categories are declared by whoever asked the question, in their order; they are never derived from the data.
    """

    items: tuple[Hashable, ...]
    raters: tuple[Hashable, ...]
    categories: tuple[Hashable, ...]
    codes: Codes

    def __post_init__(self) -> None:
        check_codes(self.codes, n_categories=len(self.categories))
        if self.codes.shape != (len(self.items), len(self.raters)):
            raise ValueError(
                f"codes has shape {self.codes.shape}, but there are {len(self.items)} items and "
                f"{len(self.raters)} raters. Rows are items, columns are raters."
            )
        _places(self.categories)

    def code_of(self, category: Hashable) -> int:
        """The code of a declared category; the type counts, so 1 is not "1" and not True."""
        place = _places(self.categories).get(_exact(category))
        if place is None:
            raise ValueError(f"{category!r} is no declared category. Declared are {_listed(self.categories)}.")
        return place


def ratings_from_triples(triples: Iterable[Triple], categories: Sequence[Hashable]) -> Ratings:
    """Records (item, rater, label) as a matrix; items and raters keep the order of their first record.

    Only None is no rating: the texts "nan", "None" and "" are labels like any other.

    Raises
    ------
    DuplicateRating before anything else is looked at; then UnknownLabel, which lists every label that is not declared.
    """
    places = _places(categories)
    items: dict[Hashable, tuple[int, Hashable]] = {}
    raters: dict[Hashable, tuple[int, Hashable]] = {}
    said: dict[tuple[int, int], tuple[Hashable, Hashable, Any]] = {}
    for item, rater, label in triples:
        row = items.setdefault(_exact(item), (len(items), item))[0]
        column = raters.setdefault(_exact(rater), (len(raters), rater))[0]
        if label is None:
            continue
        if (row, column) in said:
            raise DuplicateRating(
                f"{rater} rated item {item} twice. Keep one label for each rater and item.", item=item, rater=rater
            )
        said[row, column] = (item, rater, label)
    _refuse_unknown(said.values(), places, categories)
    codes = np.full((len(items), len(raters)), MISSING, dtype=np.int64)
    for (row, column), (_, _, label) in said.items():
        codes[row, column] = places[_exact(label)]
    return Ratings(
        items=tuple(item for _, item in items.values()),
        raters=tuple(rater for _, rater in raters.values()),
        categories=tuple(categories),
        codes=codes,
    )


@dataclass(frozen=True, eq=False)
class Records:
    """Who rated what, once for every projection of the same labels: record i is about `items[rows[i]]`, by
    `raters[columns[i]]`, and its label is number `which[i]` of those that differ."""

    items: tuple[Hashable, ...]
    raters: tuple[Hashable, ...]
    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    which: npt.NDArray[np.int64]

    def ratings(self, labels: Sequence[Any], categories: Sequence[Hashable]) -> Ratings:
        """The matrix on one scale, where `labels` says what each different label is on it. The same as
        `ratings_from_triples`, errors and all."""
        places = _places(categories)
        is_sound = all(label is None or _is_known(label, places) for label in labels)
        codes_of = np.array(
            [MISSING if label is None or not is_sound else places[_exact(label)] for label in labels], dtype=np.int64
        )
        codes = codes_of[self.which] if len(labels) else np.zeros(0, dtype=np.int64)
        said = codes >= 0
        cells = self.rows[said] * max(len(self.raters), 1) + self.columns[said]
        if not is_sound or len(np.unique(cells)) != len(cells):
            return ratings_from_triples(self._triples(labels), categories)  # it says what is wrong
        matrix = np.full((len(self.items), len(self.raters)), MISSING, dtype=np.int64)
        matrix[self.rows[said], self.columns[said]] = codes[said]
        return Ratings(items=self.items, raters=self.raters, categories=tuple(categories), codes=matrix)

    def _triples(self, labels: Sequence[Any]) -> Iterable[Triple]:
        for row, column, label in zip(self.rows.tolist(), self.columns.tolist(), self.which.tolist(), strict=True):
            yield self.items[row], self.raters[column], labels[label]


def check_codes(codes: Codes, *, n_categories: int) -> None:
    """Raise ValueError unless this is a matrix of codes from 0 to n_categories - 1 and MISSING."""
    if codes.ndim != 2 or codes.dtype.kind not in "iu":
        raise ValueError(
            f"Ratings are an integer matrix (n_items, n_raters); this is {codes.dtype} of shape {codes.shape}."
        )
    if n_categories < 1:
        raise ValueError(f"n_categories is {n_categories}. Declare at least one category.")
    if codes.size and (codes.min() < MISSING or codes.max() >= n_categories):
        row, column = np.argwhere((codes < MISSING) | (codes >= n_categories))[0]
        raise ValueError(
            f"ratings[{row}, {column}] is {codes[row, column]}, but n_categories is {n_categories}. "
            f"Codes run from 0 to {n_categories - 1}; use MISSING for no rating."
        )


def _refuse_unknown(
    said: Iterable[tuple[Hashable, Hashable, Any]], places: dict[Hashable, int], categories: Sequence[Hashable]
) -> None:
    unknown = [(item, rater, label) for item, rater, label in said if not _is_known(label, places)]
    if unknown:
        item, rater, _ = unknown[0]
        labels = tuple(dict.fromkeys(repr(label) for _, _, label in unknown))
        raise UnknownLabel(
            f"Not among the declared categories: {', '.join(labels)} (first: item {item}, rater {rater}). "
            f"Declared are {_listed(categories)}.",
            item=item,
            rater=rater,
        )


def _is_known(label: Any, places: dict[Hashable, int]) -> bool:
    try:
        return _exact(label) in places
    except TypeError:  # a list is no label of a declared category, whatever it holds
        return False


def _exact(value: Hashable) -> Hashable:
    """A key that tells 1 from True and from 1.0, which a plain dictionary does not."""
    return (type(value), value)


def _places(categories: Sequence[Hashable]) -> dict[Hashable, int]:
    places: dict[Hashable, int] = {}
    for category in categories:
        if _exact(category) in places:
            raise ValueError(f"Category {category!r} is declared twice. Declare each once.")
        places[_exact(category)] = len(places)
    return places


def _listed(categories: Sequence[Hashable]) -> str:
    return ", ".join(repr(category) for category in categories)
