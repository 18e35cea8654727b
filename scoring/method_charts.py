"""Which figures of a method's report are drawn: for each table one axis with the figures that belong side by side.

Pure: rows in, a drawing out. Counts, times and lengths are not drawn; their tables say them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext, gettext_noop

from scoring.charts import Axis, AxisRow, Scaled, axis
from scoring.methods.tables import Grid, Row, Table, by_words, words_of

SCALES: dict[str, Scaled] = {"share": "share", "kappa": "chance", "difference": "difference"}
"""By the unit of a figure."""
TITLES = {
    "share": gettext_noop("Shares of a hundred, with their intervals"),
    "kappa": gettext_noop("0 is what chance would give, 1 is full agreement; with intervals"),
    "difference": gettext_noop("Differences in percentage points, with their intervals; 0 is none"),
}
FEWEST, MOST = 2, 24
"""One figure needs no axis, and more would be a page of their own."""
DOUBLED = ("k",)
"""Numbers that a table goes through one by one; drawn are 1, 2, 4, 8 and so on."""


@dataclass(frozen=True, slots=True)
class MethodChart:
    """A drawing of some rows of a table: `title` says what the axis is."""

    axis: Axis
    title: str


def drawn_rows(table: Table | Grid) -> tuple[Row, ...]:
    """The figures of a table that stand side by side: those of its first measure that can be drawn where it is broken
    down, else all of the same unit that are broken down by nothing."""
    if isinstance(table, Grid):
        return ()
    rows = [row for row in table.rows if row.unit in SCALES and is_doubled(row)]
    if not rows:
        return ()
    metrics = Counter(row.metric for row in rows if row.figure.value is not None)
    first = next((row.metric for row in rows if metrics[row.metric] >= FEWEST), None)
    if first is not None:
        chosen = [row for row in rows if row.metric == first]
    else:
        unit = next((row.unit for row in rows if not row.by), None)
        chosen = [row for row in rows if row.unit == unit and not row.by]
    n_drawn = sum(row.figure.value is not None for row in chosen)
    return tuple(chosen) if n_drawn >= FEWEST and len(chosen) <= MOST else ()


def is_doubled(row: Row) -> bool:
    numbers = [value for what, value in row.by if what in DOUBLED and isinstance(value, str) and value.isdigit()]
    return all(int(number).bit_count() == 1 for number in numbers)


def method_chart(table: Table | Grid, words: Sequence[tuple[str, str, str]] | None = None) -> MethodChart | None:
    """The drawing of a table, None where it has nothing to draw. `words` are value, interval and reason of each drawn
    row, as the table says them."""
    rows = drawn_rows(table)
    if not rows:
        return None
    is_one_metric = len({row.metric for row in rows}) == 1
    said = words or [("", "", "")] * len(rows)
    drawn = [axis_row(row, name_of(row, is_one_metric), *one) for row, one in zip(rows, said, strict=True)]
    unit = rows[0].unit
    title = gettext(TITLES[unit])
    if is_one_metric:
        title = gettext("%(figure)s. %(axis)s") % {"figure": words_of(rows[0].name, gettext), "axis": title}
    return MethodChart(axis(drawn, SCALES[unit]), title)


def name_of(row: Row, is_one_metric: bool) -> str:
    """What tells a row from the others of its drawing."""
    by = " · ".join(by_words(row.by, gettext).values())
    return by if is_one_metric and by else words_of(row.name, gettext)


def axis_row(row: Row, name: str, value: str, interval: str, reason: str) -> AxisRow:
    ends = row.figure.interval
    return AxisRow(
        name=name,
        shape="dot",
        value=row.figure.value,
        low=ends.low if ends else None,
        high=ends.high if ends else None,
        n=row.figure.n_items,
        words=f"{value} ({interval})" if ends else value,
        note=reason,
    )
