"""The report of a method in words: the tables and sentences that the command prints and the page shows, and the rows of
its CSV. Figures in files keep their digits; here they have those of their unit."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext, gettext_noop

from annotate.rules.csv_cells import cell
from annotate.rules.figure_words import REASONS
from scoring.method_charts import MethodChart, drawn_rows, method_chart
from scoring.methods.tables import UNITS, Grid, Method, MethodReport, Row, Table, Words, by_words, words_of
from scoring.stats.results import plain
from scoring.words import Column, FigureTable, interval_title, notes, shown

NOTHING = gettext_noop("n/a: there is nothing to count")


@dataclass(frozen=True, slots=True)
class TableWords:
    """A titled table and what is said below it."""

    name: str
    title: str
    table: FigureTable
    notes: tuple[str, ...]
    chart: MethodChart | None = None

    def cells(self) -> list[tuple[tuple[str, Column], ...]]:
        return self.table.cells()


@dataclass(frozen=True, slots=True)
class MethodWords:
    """Everything said of a report."""

    title: str
    file: str
    opening: tuple[str, ...]
    tables: tuple[TableWords, ...]
    settings: FigureTable
    closing: tuple[str, ...]

    def setting_cells(self) -> list[tuple[tuple[str, Column], ...]]:
        return self.settings.cells()


def method_words(report: MethodReport, method: Method, file: str) -> MethodWords:
    counts = " · ".join(f"{name} {n}" for name, n in report.n_records.items() if n)
    drawn = {"n": report.settings["n_resamples"], "seed": report.settings["seed"]}
    return MethodWords(
        title=gettext(report.title),
        file=file,
        opening=(
            gettext("Records of %(file)s: %(counts)s.") % {"file": file, "counts": counts or "0"},
            *(words_of(one, gettext) for one in report.notes),
        ),
        tables=tuple(
            TableWords(
                one.name,
                words_of(one.title, gettext),
                grid_table(one) if isinstance(one, Grid) else figure_table(one),
                tuple(words_of(note, gettext) for note in one.notes),
                method_chart(one, [chart_words(row) for row in drawn_rows(one)]),
            )
            for one in report.tables
        ),
        settings=setting_table(report, method),
        closing=(
            gettext("Intervals: %(n)s resamples, seed %(seed)s; figures about the same clusters share their draw.")
            % drawn,
        ),
    )


def figure_table(table: Table) -> FigureTable:
    """Rows with their break-down, value, interval, counts, base and what is to be said of them."""
    whats = list(dict.fromkeys(what for row in table.rows for what, _ in row.by))
    return FigureTable(
        (
            Column(gettext("figure")),
            *(Column(gettext(what)) for what in whats),
            Column(gettext("value"), is_number=True),
            Column(interval_title()),
            Column(gettext("n"), is_number=True),
            Column(gettext("of what")),
            Column(gettext("notes")),
        ),
        tuple(_cells(row, whats) for row in table.rows),
    )


def _cells(row: Row, whats: list[str]) -> tuple[str, ...]:
    by = by_words(row.by, gettext)
    return (
        words_of(row.name, gettext),
        *(by.get(what, "") for what in whats),
        value_words(row),
        interval_words(row),
        n_words(row),
        words_of(row.denominator, gettext),
        notes(row.figure),
    )


def value_words(row: Row) -> str:
    """The value in its unit, or why there is none."""
    if row.figure.value is None:
        return reason_words(row.figure.reason)
    return in_unit(row.figure.value, row.unit)


def interval_words(row: Row) -> str:
    """`41.0 to 78.0`, or why there is no interval; nothing where there is no value, or none was asked for."""
    interval = row.figure.interval
    if interval:
        unit = UNITS.get(row.unit, UNITS["mean"])
        ends = [shown(end * unit.factor, unit.digits) for end in (interval.low, interval.high)]
        return gettext("%(low)s to %(high)s") % {"low": ends[0], "high": ends[1]}
    if row.figure.value is None or not row.figure.interval_reason:
        return ""
    return reason_words(row.figure.interval_reason)


def chart_words(row: Row) -> tuple[str, str, str]:
    """What stands beside a dot: its value, its interval, and why it has none."""
    has_interval = row.figure.interval is not None
    said = interval_words(row)
    return value_words(row), said if has_interval else "", "" if has_interval else said


def in_unit(value: float, name: str) -> str:
    unit = UNITS.get(name, UNITS["mean"])
    number = shown(value * unit.factor, unit.digits)
    return f"{number} {gettext(unit.word) if unit.word != '%' else '%'}" if unit.word else number


def n_words(row: Row) -> str:
    """`73/258` where there are two counts, else how many items it rests on; nothing for a mere count."""
    if row.k is not None and row.n is not None:
        return f"{count_words(row.k)}/{count_words(row.n)}"
    return "" if row.unit == "count" else str(row.figure.n_items)


def count_words(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else shown(value)


def reason_words(reason: str | None) -> str:
    return gettext(NOTHING if reason in (None, "empty") else REASONS[reason])


def grid_table(grid: Grid) -> FigureTable:
    head = f"{words_of(grid.row_title, gettext)} \\ {words_of(grid.column_title, gettext)}"
    return FigureTable(
        (Column(head), *(Column(words_of(one, gettext), is_number=True) for one in grid.column_names)),
        tuple(
            (words_of(name, gettext), *map(str, counts))
            for name, counts in zip(grid.row_names, grid.counts, strict=True)
        ),
    )


def setting_table(report: MethodReport, method: Method) -> FigureTable:
    """Every parameter in force, and which were given."""
    return FigureTable(
        tuple(
            Column(title)
            for title in (gettext("parameter"), gettext("value"), gettext("default"), gettext("decision"))
        ),
        tuple(
            (one.name, str(plain(report.settings[one.name])), str(plain(one.default)), one.decision)
            for one in method.all_parameters()
        ),
    )


# The same for programs and spreadsheets.

CSV_COLUMNS = (
    *("table", "metric", "name", "by", "unit", "value", "reason", "low", "high", "level", "interval_reason"),
    *("k", "n", "n_items", "n_clusters", "denominator", "left_out", "flags", "n_resamples", "seed", "method"),
)


def csv_rows(report: MethodReport) -> Iterator[list[str]]:
    """A heading and one row a figure, guarded for spreadsheets; cells of a grid are rows with the two names as their
    break-down, settings are rows of the table `settings`."""
    yield list(CSV_COLUMNS)
    for table in report.tables:
        for values in _grid_values(table) if isinstance(table, Grid) else map(_row_values, table.rows):
            yield _cells_of({"table": table.name, **values})
    for name, value in report.settings.items():
        yield _cells_of({"table": "settings", "metric": name, "value": plain(value)})


def _cells_of(values: dict[str, object]) -> list[str]:
    """Texts are guarded; a number stays one, also a negative one, which runs as nothing."""
    found = (values.get(name) for name in CSV_COLUMNS)
    return [str(one) if type(one) in (int, float) else cell(one) for one in found]


def _row_values(row: Row) -> dict[str, object]:
    said = row.as_dict()
    interval = said["interval"] or {}
    drawn = {name: interval.get(name) for name in ("low", "high", "level", "n_resamples", "seed", "method")}
    joined = {
        "by": "; ".join(f"{what}={value}" for what, value in said["by"].items()) or None,
        "left_out": "; ".join(f"{why}={n}" for why, n in said["left_out"].items()) or None,
        "flags": "; ".join(said["flags"]) or None,
    }
    return {**said, **drawn, **joined}


def _grid_values(grid: Grid) -> Iterator[dict[str, object]]:
    for row, counts in zip(grid.row_names, grid.counts, strict=True):
        for column, n in zip(grid.column_names, counts, strict=True):
            by = (_pair(grid.row_title, row), _pair(grid.column_title, column))
            yield {"metric": "n", "by": "; ".join(by), "unit": "count", "value": n}


def _pair(what: Words, value: Words) -> str:
    return f"{words_of(what)}={words_of(value)}"
