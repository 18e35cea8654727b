"""Figures as shapes: values in, places out. Templates draw them; nothing here knows a page or a language.

A place along an axis is a percentage of its width, so that one drawing is as sharp and as readable at any width; what
lies across it is in pixels. All of it is text already, as an attribute takes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Shape = Literal["dot", "diamond", "square"]
"""People, the judge, the panel: told apart without a colour."""

ROW, TOP, BOTTOM = 48, 8, 28
"""Pixels of a row, above the first and below the last, where the axis is numbered."""
CLOSE, WIDE = Decimal("0.2"), Decimal("0.5")
"""Between ticks; wide once the axis reaches far below chance."""
STEPS = (Decimal("0.02"), Decimal("0.05"), Decimal("0.1"), CLOSE, WIDE)
"""Between ticks of differences."""
MAX_CLOSE = 8
"""More of them would touch each other on a phone."""
HEATS = 8
"""Steps of the heat of a confusion table; 0 is no heat at all."""


@dataclass(frozen=True, slots=True)
class AxisRow:
    """One rater or the panel: its value with its interval, or None and, in `words`, the sentence that says why. `note`
    says why there is no interval."""

    name: str
    shape: Shape
    value: float | None
    low: float | None
    high: float | None
    n: int
    words: str
    url: str = ""
    note: str = ""


Scaled = Literal["chance", "share", "difference"]
"""What an axis runs over: from chance to 1, all of 0 to 100 %, or percentage points on both sides of no difference."""


@dataclass(frozen=True, slots=True)
class Tick:
    place: str
    words: str
    is_chance: bool


@dataclass(frozen=True, slots=True)
class Dot:
    """A row of the axis. `low` and `high` are empty where there is no interval; `top` is where the row begins, `middle`
    where its line runs, `above` and `beside` where words stand over that line or level with it."""

    row: AxisRow
    place: str
    low: str
    high: str
    top: int
    middle: int
    above: int
    beside: int


@dataclass(frozen=True, slots=True)
class Axis:
    """The drawing, and the rows that have no value and so no dot."""

    height: int
    floor: int
    ticks: tuple[Tick, ...]
    dots: tuple[Dot, ...]
    sentences: tuple[AxisRow, ...]

    @property
    def notes(self) -> list[tuple[str, str]]:
        """What is said of dots, each thing once: the names of its rows, and the note."""
        names: dict[str, list[str]] = {}
        for dot in self.dots:
            if dot.row.note:
                names.setdefault(dot.row.note, []).append(dot.row.name)
        return [(", ".join(those), note) for note, those in names.items()]


def axis(rows: Sequence[AxisRow], scaled: Scaled = "chance") -> Axis:
    """One axis for everybody, from 0 (chance) or the tick below the lowest value or interval, up to 1; of differences
    only as far as they go."""
    drawn = [row for row in rows if row.value is not None]
    ends = [end for row in drawn for end in (row.value, row.low, row.high) if end is not None]
    if scaled == "difference":
        ticks = ticks_about_zero(min(ends, default=0.0), max(ends, default=0.0))
    else:
        ticks = ticks_over(min(ends, default=0.0), max(ends, default=1.0))
    scale = Scale(float(ticks[0]), float(ticks[-1]))
    floor = TOP + ROW * len(drawn)
    return Axis(
        height=floor + BOTTOM,
        floor=floor,
        ticks=tuple(
            Tick(
                scale.place(float(tick)),
                number_words(tick) if scaled == "chance" else number_words(100 * tick),
                is_chance=tick == 0,
            )
            for tick in ticks
        ),
        dots=tuple(dot(row, scale, TOP + ROW * position) for position, row in enumerate(drawn)),
        sentences=tuple(row for row in rows if row.value is None),
    )


@dataclass(frozen=True, slots=True)
class Scale:
    low: float
    high: float

    def place(self, value: float | None) -> str:
        if value is None:
            return ""
        return f"{100 * (value - self.low) / (self.high - self.low):.2f}%"


def ticks_over(low: float, high: float) -> list[Decimal]:
    """Even ticks that take in 0, 1 and both ends. The least excess of floating point is no reason for one more."""
    for step in (CLOSE, WIDE):
        first = min(0, math.floor(low / float(step) + 1e-9))
        last = max(int(1 / step), math.ceil(high / float(step) - 1e-9))
        if last - first <= MAX_CLOSE or step == WIDE:
            break
    return [step * place for place in range(first, last + 1)]


def ticks_about_zero(low: float, high: float) -> list[Decimal]:
    """Even ticks that take in 0 and both ends, as close as fits."""
    for step in STEPS:
        first = min(0, math.floor(low / float(step) + 1e-9))
        last = max(0, math.ceil(high / float(step) - 1e-9))
        if last - first <= MAX_CLOSE:
            break
    if last == first:
        last += 1
    return [step * place for place in range(first, last + 1)]


def number_words(tick: Decimal) -> str:
    """`0.4`, `−0.2`, `1`."""
    return f"{tick.normalize() + 0:f}".replace("-", "\u2212")


def dot(row: AxisRow, scale: Scale, top: int) -> Dot:
    ends = (row.low, row.high) if row.low is not None and row.high is not None else (None, None)
    low, high = map(scale.place, ends)
    return Dot(row, scale.place(row.value), low, high, top, middle=top + 30, above=top + 15, beside=top + 34)


@dataclass(frozen=True, slots=True)
class Cell:
    """How often this was said where that was; `heat` is its step within its row."""

    n: int
    heat: int
    is_same: bool
    url: str


@dataclass(frozen=True, slots=True)
class ConfusionRow:
    title: str
    cells: tuple[Cell, ...]
    n: int


@dataclass(frozen=True, slots=True)
class Confusion:
    columns: tuple[str, ...]
    rows: tuple[ConfusionRow, ...]
    sums: tuple[int, ...]
    n: int


def confusion(
    counts: Sequence[Sequence[int]], titles: Sequence[str], url_of: Callable[[int, int], str]
) -> Confusion:
    """A square table with the heat of each cell among those of its row. `url_of(row, column)` is where the items of a
    cell are listed; an empty cell has none."""
    rows = tuple(
        ConfusionRow(
            title=title,
            cells=tuple(
                Cell(n, heat(n, sum(line)), place == column, url_of(place, column) if n else "")
                for column, n in enumerate(line)
            ),
            n=sum(line),
        )
        for place, (title, line) in enumerate(zip(titles, counts, strict=True))
    )
    sums = tuple(sum(column) for column in zip(*counts, strict=True))
    return Confusion(tuple(titles), rows, sums, sum(sums))


def heat(n: int, of: int) -> int:
    """The step of a share: 0 for none, at least 1 for any."""
    return math.ceil(HEATS * n / of) if n else 0
