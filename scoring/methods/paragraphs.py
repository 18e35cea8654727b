"""What the methods section of a paper would say of a report: sentences with figures in their places.

A method gives its sentences (`Method.sentences`); one is said where the report has a row for every place in it. Figures
that are undefined are said to be, with the reason. Pure: how a figure is put into words is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Protocol

from annotate.traces.base import gettext_noop
from scoring.methods.tables import MethodReport, Row, Said, Table, Words, by_words

FigureWords = Callable[[Row], str]


LISTED = gettext_noop("%(one)s; %(other)s")


class Place(Protocol):
    """What stands in a sentence: the rows it is made of, and how these are said."""

    def rows(self, report: MethodReport) -> Sequence[Row]: ...

    def said(self, rows: Sequence[Row], figure: FigureWords, translate: Callable[[str], str]) -> str: ...


@dataclass(frozen=True)
class One:
    """One figure of a table; of a break-down the row that has these values. `by` is as the records have it, in
    English."""

    metric: str
    table: str
    by: Mapping[str, str] = field(default_factory=dict)

    def rows(self, report: MethodReport) -> Sequence[Row]:
        return [row for row in rows_of(report, self.table, self.metric) if by_words(row.by) == self.by][:1]

    def said(self, rows: Sequence[Row], figure: FigureWords, translate: Callable[[str], str]) -> str:
        return figure(rows[0])


@dataclass(frozen=True)
class Each:
    """All figures of a measure, each behind what it is of. `of` are what of a break-down tells them apart; `only` keeps
    those with one of these values."""

    metric: str
    table: str
    of: tuple[str, ...]
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def rows(self, report: MethodReport) -> Sequence[Row]:
        return [row for row in rows_of(report, self.table, self.metric) if self.is_meant(by_words(row.by))]

    def is_meant(self, by: Mapping[str, str]) -> bool:
        return all(by.get(what) in values for what, values in self.only.items())

    def said(self, rows: Sequence[Row], figure: FigureWords, translate: Callable[[str], str]) -> str:
        named = [f"{self.name_of(by_words(row.by, translate))}: {figure(row)}" for row in rows]
        return reduce(lambda one, other: translate(LISTED) % {"one": one, "other": other}, named)

    def name_of(self, by: Mapping[str, str]) -> str:
        return ", ".join(f"k = {by[what]}" if what == "k" else by[what] for what in self.of if what in by)


@dataclass(frozen=True)
class Range:
    """The lowest and the highest value of a measure, over those that have one."""

    metric: str
    table: str
    only: Mapping[str, str] = field(default_factory=dict)

    def rows(self, report: MethodReport) -> Sequence[Row]:
        found = [
            row
            for row in rows_of(report, self.table, self.metric)
            if row.figure.value is not None and self.only.items() <= by_words(row.by).items()
        ]
        found.sort(key=lambda row: row.figure.value or 0.0)
        return found[:: max(len(found) - 1, 1)][:2] if found else []

    def said(self, rows: Sequence[Row], figure: FigureWords, translate: Callable[[str], str]) -> str:
        ends = [figure(rows[0]), figure(rows[-1])]
        return translate("%(low)s to %(high)s") % {"low": ends[0], "high": ends[1]}


@dataclass(frozen=True)
class Sentence:
    """A message id, and what fills its places."""

    text: str
    places: Mapping[str, Place]


def rows_of(report: MethodReport, table: str, metric: str) -> list[Row]:
    found = next((one for one in report.tables if one.name == table), None)
    return [row for row in found.rows if row.metric == metric] if isinstance(found, Table) else []


def sentences_of(
    report: MethodReport, sentences: Sequence[Sentence], figure: FigureWords, translate: Callable[[str], str]
) -> Iterator[Words]:
    """Those for which there is a row in every place, filled."""
    for one in sentences:
        rows = {name: place.rows(report) for name, place in one.places.items()}
        if all(rows.values()):
            yield Said(
                one.text, {name: place.said(rows[name], figure, translate) for name, place in one.places.items()}
            )
