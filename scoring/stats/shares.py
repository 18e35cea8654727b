"""Shares of items with the intervals of independent items, and the tables that set one answer against another."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.stats import beta

from scoring.stats.answers import Drawing
from scoring.stats.intervals import wilson_interval
from scoring.stats.results import CONFIDENCE, Figure, Interval
from scoring.stats.significance import sign_flip_test
from scoring.stats.sums import Summed, difference, mean, share, with_intervals

Method = Literal["wilson", "exact"]


def exact_interval(n_yes: int, n: int) -> tuple[float, float]:
    """The shares under which so many yes, or so few, are not rarer than 2.5 %: 0 of 50 gives 0 to 0.0711.

    Source: Clopper and Pearson 1934, Biometrika 26(4), 404-413.
    Checked against: statsmodels proportion_confint; sums of binomials in fractions.
    """
    tail = (1 - CONFIDENCE) / 2
    low = 0.0 if n_yes == 0 else float(beta.ppf(tail, n_yes, n - n_yes + 1))
    high = 1.0 if n_yes == n else float(beta.ppf(1 - tail, n_yes + 1, n - n_yes))
    return low, high


def share_of(n_yes: int, n: int, *, method: Method = "wilson", unit: str = "item") -> Figure:
    """A share from counts, with the interval of that many independent items.

    Parameters
    ----------
    method : `wilson`, the score interval, or `exact`, the one of Clopper and Pearson, which never covers too rarely.
        Items of one cluster are not independent; those need a draw of clusters (`sums.share`).

    Returns
    -------
    Figure; reason `empty` for 0 of 0.

    Raises
    ------
    ValueError for counts that are negative, no whole numbers, or more yes than items.

    Source: Wilson 1927, Journal of the American Statistical Association 22(158), 209-212; Clopper and Pearson 1934.
    Checked against: statsmodels proportion_confint.
    """
    if method not in ("wilson", "exact"):
        raise ValueError(f"method is {method!r}; it is wilson or exact.")
    for what, count in (("yes", n_yes), ("items", n)):
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
            raise ValueError(f"The number of {what} is {count!r}; give a whole number from 0.")
    if n_yes > n:
        raise ValueError(f"{n_yes} yes of {n} items; there cannot be more yes than items.")
    if n == 0:
        return Figure(None, "empty", n_items=0, n_ratings=0, n_raters=1, interval_reason="empty")
    figure = Figure(n_yes / n, None, n_items=int(n), n_ratings=int(n), n_raters=1, n_clusters=int(n))
    return with_count_interval(figure, int(n_yes), method=method, unit=unit)


def with_count_interval(figure: Figure, n_yes: int, *, method: Method, unit: str) -> Figure:
    """A share with the interval of so many yes of its items."""
    n = figure.n_items
    low, high = (wilson_interval if method == "wilson" else exact_interval)(n_yes, n)
    interval = Interval(
        low=low,
        high=high,
        level=CONFIDENCE,
        unit=unit,
        n_clusters=n,
        n_resamples=0,
        seed=None,
        share_undefined=0.0,
        method=method,
    )
    return replace(figure, interval=interval, interval_reason=None)


@dataclass(frozen=True)
class DoseRow:
    """Items that `least` to `most` people (or things) spoke for, None for no upper end: how many of them are a yes."""

    least: int
    most: int | None
    share: Figure


def dose_table(
    doses: npt.ArrayLike,
    yes: npt.ArrayLike,
    starts: Sequence[int],
    *,
    counted: npt.ArrayLike | None = None,
    clusters: Sequence[Hashable] | None = None,
    drawing: Drawing | None = None,
) -> list[DoseRow]:
    """A share by dose: of items with 0, 1, or 2 and more gaps, how many fail; of items that 0 to 5 people fail, how
    many a judge fails.

    Parameters
    ----------
    doses : (n_items,) whole numbers from 0.
    yes : (n_items,) of truth values.
    starts : where the classes begin, rising; the last has no upper end. `[0, 1, 2]` is 0, 1, and 2 and more.
    counted : (n_items,) of truth values; all items if None.
    clusters, drawing : intervals of all classes from one draw; none without a drawing.

    Returns
    -------
    A row for every class; one without items has the reason `empty`. Items below the first start are in none.

    Raises
    ------
    ValueError for doses that are negative or no whole numbers, naming the item, and starts that do not rise.
    """
    statistics = [share_ for _, _, share_ in dose_statistics(doses, yes, starts, counted=counted)]
    edges = [*starts, None]
    figures = (
        [one.figure() for one in statistics] if drawing is None else with_intervals(statistics, clusters, drawing)
    )
    return [
        DoseRow(least=starts[place], most=_before(edges[place + 1]), share=figure)
        for place, figure in enumerate(figures)
    ]


def dose_statistics(
    doses: npt.ArrayLike, yes: npt.ArrayLike, starts: Sequence[int], *, counted: npt.ArrayLike | None = None
) -> list[tuple[int, int | None, Summed]]:
    """The classes of `dose_table` (least, most, share), to be drawn together with other statistics of a report."""
    said = np.asarray(yes, dtype=bool)
    return [(least, most, share(said, inside)) for least, most, inside in _classes(doses, starts, counted, len(said))]


def mean_by_dose(
    doses: npt.ArrayLike, values: npt.ArrayLike, starts: Sequence[int], *, counted: npt.ArrayLike | None = None
) -> list[tuple[int, int | None, Summed]]:
    """As `dose_statistics`, for the mean of a number: how many people fail items of 0, 1, or 2 and more gaps."""
    numbers = np.asarray(values, dtype=float)
    return [
        (least, most, mean(numbers, inside)) for least, most, inside in _classes(doses, starts, counted, len(numbers))
    ]


@dataclass(frozen=True)
class ConfusionTable:
    """How many items have each pair of labels; every declared label has its row and its column."""

    rows: tuple[Hashable, ...]
    columns: tuple[Hashable, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def n(self) -> int:
        return sum(sum(row) for row in self.counts)

    def cell(self, row: Hashable, column: Hashable) -> int:
        return self.counts[_place(row, self.rows, "row")][_place(column, self.columns, "column")]

    def share_of_row(self, row: Hashable, column: Hashable, *, method: Method = "wilson") -> Figure:
        """Of the items with this row's label, how many have the column's."""
        return share_of(self.cell(row, column), sum(self.counts[_place(row, self.rows, "row")]), method=method)


def confusion_table(
    pairs: Sequence[tuple[Any, Any]], rows: Sequence[Hashable], columns: Sequence[Hashable] | None = None
) -> ConfusionTable:
    """Counts of (row label, column label) of items; the columns are declared like the rows unless told otherwise.

    Raises
    ------
    ValueError for a label that is not declared; names its place and lists the declared. 1, "1" and True are three.
    """
    names = tuple(rows), tuple(rows if columns is None else columns)
    counts = np.zeros((len(names[0]), len(names[1])), dtype=np.int64)
    for number, (row, column) in enumerate(pairs):
        try:
            counts[_place(row, names[0], "row"), _place(column, names[1], "column")] += 1
        except ValueError as wrong:
            raise ValueError(f"Item {number}: {wrong}") from None
    return ConfusionTable(*names, counts=tuple(tuple(row) for row in counts.tolist()))


@dataclass(frozen=True)
class Paired:
    """The mean of the first minus the second over items with both, and how often chance would give as much."""

    difference: Figure
    first: Figure
    second: Figure
    p: Figure


def paired_difference(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    clusters: Sequence[Hashable] | None,
    drawing: Drawing,
    *,
    n_flips: int = 10_000,
) -> Paired:
    """Two scores of the same items, compared on the items that have both.

    Parameters
    ----------
    first, second : (n_items,) numbers, nan where an item has none.
    clusters, drawing : as with `sums.with_intervals`; both scores and their difference are on the same draws, and
        the signs of whole clusters are flipped.

    Returns
    -------
    Paired; the difference has the reason `empty` (no item has either) or `no_overlap` (none has both).

    Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 8.
    Checked against: explicit copying of the drawn clusters.
    """
    one, other = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if one.ndim != 1 or one.shape != other.shape or np.isinf(one).any() or np.isinf(other).any():
        raise ValueError("first and second are finite numbers, one each for every item; nan where an item has none.")
    both = ~np.isnan(one) & ~np.isnan(other)
    reason = "no_overlap" if (~np.isnan(one) | ~np.isnan(other)).any() else "empty"
    n_lacking = {
        "not_in_both": int((np.isnan(one) ^ np.isnan(other)).sum()),
        "not_observed": int((np.isnan(one) & np.isnan(other)).sum()),
    }
    of_one, of_other = (
        replace(mean(np.where(both, scores, 0.0), both, left_out=n_lacking), reason=reason) for scores in (one, other)
    )
    of_both = replace(difference(of_other, of_one), reason=reason, left_out=n_lacking, n_raters=2)
    apart, of_first, of_second = with_intervals([of_both, of_one, of_other], clusters, drawing)
    p = sign_flip_test(one - other, clusters, n_draws=n_flips, seed=drawing.seed)
    return Paired(difference=apart, first=of_first, second=of_second, p=p)


def _classes(
    doses: npt.ArrayLike, starts: Sequence[int], counted: npt.ArrayLike | None, n_items: int
) -> list[tuple[int, int | None, npt.NDArray[np.bool_]]]:
    of_item = np.asarray(doses)
    if len(of_item) != n_items:
        raise ValueError(f"{len(of_item)} doses for {n_items} items; give the dose of every item.")
    base = np.ones(n_items, dtype=bool) if counted is None else np.asarray(counted, dtype=bool)
    if not starts or any(after <= before for before, after in pairwise(starts)) or starts[0] < 0:
        raise ValueError(f"starts are {list(starts)}; give whole numbers from 0 that rise.")
    if n_items:
        numbers = of_item.astype(float)
        wrong = np.flatnonzero(base & ~((numbers >= 0) & (numbers == np.floor(numbers))))
        if len(wrong):
            raise ValueError(f"The dose of item {wrong[0]} is {of_item[wrong[0]]}; give a whole number from 0.")
    ends: list[int | None] = [*starts[1:], None]
    return [
        (least, _before(end), base & (of_item >= least) & (np.True_ if end is None else of_item < end))
        for least, end in zip(starts, ends, strict=True)
    ]


def _before(end: int | None) -> int | None:
    return None if end is None else end - 1


def _place(label: Any, declared: Sequence[Hashable], what: str) -> int:
    for place, one in enumerate(declared):
        if type(one) is type(label) and one == label:
            return place
    raise ValueError(f"{label!r} is no declared {what}. Declared are {', '.join(map(repr, declared))}.")
