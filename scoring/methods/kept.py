"""A report as it is kept: message ids stay message ids, so that it can be read in either language later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scoring.methods.tables import By, Grid, MethodReport, Row, Said, Table, Words
from scoring.stats.results import Figure, plain, restored

Json = dict[str, Any]


def kept(report: MethodReport) -> Json:
    """Plain JSON; `report_from` makes the report of it again, numbers with 10 significant digits."""
    return {
        "method": report.method,
        "title": report.title,
        "settings": pairs(report.settings),
        "n_records": pairs(report.n_records),
        "notes": [words(one) for one in report.notes],
        "tables": [grid(one) if isinstance(one, Grid) else table(one) for one in report.tables],
    }


def report_from(value: Mapping[str, Any]) -> MethodReport:
    return MethodReport(
        method=value["method"],
        title=value["title"],
        settings=dict(value["settings"]),
        tables=tuple(grid_from(one) if "counts" in one else table_from(one) for one in value["tables"]),
        notes=all_words_from(value["notes"]),
        n_records=dict(value["n_records"]),
    )


def pairs(values: Mapping[str, Any]) -> list[list[Any]]:
    """In their order, which databases do not keep of an object."""
    return [[name, plain(value)] for name, value in values.items()]


def words(said: Words) -> str | list[Any]:
    return [said.text, plain(said.params)] if isinstance(said, Said) else said


def words_from(value: str | Sequence[Any]) -> Words:
    return value if isinstance(value, str) else Said(value[0], value[1])


def all_words_from(values: Sequence[Any]) -> tuple[Words, ...]:
    return tuple(map(words_from, values))


def by_from(value: Sequence[Any]) -> By:
    return tuple((what, words_from(one)) for what, one in value)


def table(one: Table) -> Json:
    rows = [
        {
            "metric": row.metric,
            "name": words(row.name),
            "figure": plain(row.figure),
            "denominator": words(row.denominator),
            "by": [[what, words(value)] for what, value in row.by],
            "unit": row.unit,
            "k": plain(row.k),
            "n": plain(row.n),
        }
        for row in one.rows
    ]
    return {"name": one.name, "title": words(one.title), "notes": list(map(words, one.notes)), "rows": rows}


def table_from(value: Mapping[str, Any]) -> Table:
    rows = tuple(
        Row(
            metric=row["metric"],
            name=words_from(row["name"]),
            figure=figure_from(row["figure"]),
            denominator=words_from(row["denominator"]),
            by=by_from(row["by"]),
            unit=row["unit"],
            k=row["k"],
            n=row["n"],
        )
        for row in value["rows"]
    )
    return Table(value["name"], words_from(value["title"]), rows, all_words_from(value["notes"]))


def figure_from(value: Mapping[str, Any]) -> Figure:
    figure: Figure = restored(Figure, value)
    return replace(figure, left_out=dict(sorted(figure.left_out.items())))


NAMES = ("title", "row_title", "column_title")
LISTS = ("row_names", "column_names", "notes")


def grid(one: Grid) -> Json:
    return {
        "name": one.name,
        **{name: words(getattr(one, name)) for name in NAMES},
        **{name: [words(said) for said in getattr(one, name)] for name in LISTS},
        "counts": [list(row) for row in one.counts],
    }


def grid_from(value: Mapping[str, Any]) -> Grid:
    return Grid(
        name=value["name"],
        **{name: words_from(value[name]) for name in NAMES},
        **{name: all_words_from(value[name]) for name in LISTS},
        counts=tuple(tuple(row) for row in value["counts"]),
    )
