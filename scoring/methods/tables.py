"""What the reports of all four methods are made of: tables of figures, each with the name of what it is a share of,
its break-down, and the settings in force.

Nothing here knows Django: words are message ids with their params, translated where they are shown.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal

import numpy as np

import scoring.methods
from annotate.traces.base import Problem, gettext_noop
from scoring.methods.records import KIND_WORDS, Records, Schema
from scoring.stats.answers import Drawing
from scoring.stats.ratings import Codes
from scoring.stats.results import Figure, plain
from scoring.stats.statistic import Counts, Floats, Statistic
from scoring.stats.sums import Summed, with_intervals

Translate = Callable[[str], str]


@dataclass(frozen=True)
class Said:
    """A message id and what fills its places."""

    text: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def words(self, translate: Translate = str) -> str:
        said = translate(self.text)
        return said % self.params if self.params else said


Words = str | Said
"""A message id, alone or with params."""


def words_of(said: Words, translate: Translate = str) -> str:
    return said.words(translate) if isinstance(said, Said) else (translate(said) if said else "")


@dataclass(frozen=True)
class Unit:
    """How a number is shown: times `factor`, with so many `digits`, `word` behind it. Stored it stays as it is."""

    factor: float = 1
    digits: int = 2
    word: str = ""


UNITS: dict[str, Unit] = {
    "share": Unit(100, 1, "%"),  # 0 to 1 in storage
    "difference": Unit(100, 1, gettext_noop("pp")),  # of two shares
    "kappa": Unit(),
    "mean": Unit(),
    "p": Unit(1, 3),
    "count": Unit(1, 0),
    "seconds": Unit(1, 1, gettext_noop("s")),
    "characters": Unit(1, 1, gettext_noop("characters")),
    "tokens": Unit(1, 1, gettext_noop("tokens")),
}

By = tuple[tuple[str, str | Said], ...]
"""A break-down: pairs of what it is by (a message id such as `model`) and the value: a text as the records have it, or
words of ours as Said."""


def by_words(by: By, translate: Translate = str) -> dict[str, str]:
    """The values of a break-down in words, by the message ids of what they are by."""
    return {what: value.words(translate) if isinstance(value, Said) else value for what, value in by}


@dataclass(frozen=True)
class Row:
    """One figure of a table. `metric` is its stable name in files, `name` its words. `denominator` says what it is a
    share or mean of. `k` of `n` are the counts behind it, where it is made of two."""

    metric: str
    name: Words
    figure: Figure
    denominator: Words
    by: By = ()
    unit: str = "share"
    k: float | None = None
    n: float | None = None

    def as_dict(self, translate: Translate = str) -> dict[str, Any]:
        return {
            "metric": self.metric,
            "name": words_of(self.name, translate),
            "by": by_words(self.by, translate),
            "unit": self.unit,
            "denominator": words_of(self.denominator, translate),
            "k": plain(self.k),
            "n": plain(self.n),
            **plain(self.figure),
        }


@dataclass(frozen=True)
class Table:
    """Figures that stand together. `name` is stable in files."""

    name: str
    title: Words
    rows: tuple[Row, ...]
    notes: tuple[Words, ...] = ()

    def as_dict(self, translate: Translate = str) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": words_of(self.title, translate),
            "rows": [row.as_dict(translate) for row in self.rows],
            "notes": [words_of(one, translate) for one in self.notes],
        }


@dataclass(frozen=True)
class Grid:
    """Counts by two things, such as a confusion table (gold in rows, predicted in columns)."""

    name: str
    title: Words
    row_title: Words
    column_title: Words
    row_names: tuple[Words, ...]
    column_names: tuple[Words, ...]
    counts: tuple[tuple[int, ...], ...]
    notes: tuple[Words, ...] = ()

    def as_dict(self, translate: Translate = str) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": words_of(self.title, translate),
            "rows_are": words_of(self.row_title, translate),
            "columns_are": words_of(self.column_title, translate),
            "row_names": [words_of(one, translate) for one in self.row_names],
            "column_names": [words_of(one, translate) for one in self.column_names],
            "counts": [list(row) for row in self.counts],
            "notes": [words_of(one, translate) for one in self.notes],
        }


@dataclass(frozen=True)
class Parameter:
    """A decision that changes a figure: its default, and the id of the register of decisions (docs/methods.md)."""

    name: str
    kind: Literal["whole", "number", "truth", "text"]
    default: Any
    about: str
    decision: str = ""
    allowed: tuple[Any, ...] = ()
    least: float | None = None
    most: float | None = None

    def read(self, text: str) -> Any:
        """The value that a text of the command line stands for; ValueError where it stands for none."""
        value: Any = text
        if self.kind == "truth":
            value = {"true": True, "false": False}[text.lower()] if text.lower() in ("true", "false") else None
        elif self.kind == "whole":
            value = int(text)
        elif self.kind == "number":
            value = float(text)
        return self.checked(value)

    def checked(self, value: Any) -> Any:
        types: dict[str, tuple[type, ...]] = {
            "whole": (int,),
            "number": (int, float),
            "truth": (bool,),
            "text": (str,),
        }
        if not isinstance(value, types[self.kind]) or (isinstance(value, bool) and self.kind != "truth"):
            raise ValueError(value)
        if self.allowed and value not in self.allowed:
            raise ValueError(value)
        if isinstance(value, int | float):
            low = -math.inf if self.least is None else self.least
            high = math.inf if self.most is None else self.most
            if not (low <= value <= high and math.isfinite(value)):
                raise ValueError(value)
        return value

    def expected(self) -> Said:
        """What the values are, for a message."""
        if self.allowed:
            return Said(gettext_noop("One of: %(allowed)s."), {"allowed": ", ".join(map(str, self.allowed))})
        if self.kind in ("whole", "number") and self.least is not None:
            both = gettext_noop("A number from %(least)s to %(most)s.")
            only = gettext_noop("A number of at least %(least)s.")
            return Said(only if self.most is None else both, {"least": self.least, "most": self.most})
        return Said(KIND_WORDS[self.kind])


MAX_SEED = 2**31 - 1
DRAWN = (
    Parameter("seed", "whole", 1, "seed of the resamples", least=0, most=MAX_SEED),
    Parameter("n_resamples", "whole", 10_000, "resamples behind each interval", "A-16, D-06", least=100, most=200_000),
    Parameter("min_clusters", "whole", 5, "no interval with fewer clusters", least=2, most=1000),
)
"""Parameters that every method has; a method may give its own defaults by declaring the same name."""


@dataclass(frozen=True)
class MethodReport:
    """The tables of one method over one file of records. `settings` are all parameters in force, by name."""

    method: str
    title: str
    settings: Mapping[str, Any]
    tables: tuple[Table | Grid, ...]
    notes: tuple[Words, ...] = ()
    n_records: Mapping[str, int] = field(default_factory=dict)

    def as_dict(self, translate: Translate = str) -> dict[str, Any]:
        """Plain JSON: numbers with 10 significant digits, never nan."""
        return {
            "method": self.method,
            "title": translate(self.title),
            "settings": plain(self.settings),
            "n_records": plain(self.n_records),
            "notes": [words_of(one, translate) for one in self.notes],
            "tables": [one.as_dict(translate) for one in self.tables],
        }

    def row(self, metric: str, table: str | None = None, **by: str) -> Row:
        """The one row of this metric and break-down; KeyError where there is none."""
        for one in self.tables:
            if isinstance(one, Table) and table in (None, one.name):
                for row in one.rows:
                    if row.metric == metric and by_words(row.by) == by:
                        return row
        raise KeyError((metric, by))

    def table(self, name: str) -> Table | Grid:
        for one in self.tables:
            if one.name == name:
                return one
        raise KeyError(name)


@dataclass(frozen=True)
class Method:
    """One of the four methods. `report(records, settings)` gets every parameter by name, DRAWN among them. `kind` is
    the task kind whose projects have its report, and `joins` the module of scoring/ that makes records of their rows
    (`method_joins.py`); empty while none has."""

    name: str
    title: str
    schema: Schema
    report: Callable[[Records, Mapping[str, Any]], MethodReport]
    parameters: tuple[Parameter, ...] = ()
    kind: str = ""
    joins: str = ""
    sentences: tuple[Any, ...] = ()
    """What a paper would say of it (`paragraphs.py`)."""

    def all_parameters(self) -> tuple[Parameter, ...]:
        own = {one.name for one in self.parameters}
        return (*self.parameters, *(one for one in DRAWN if one.name not in own))

    def settings(self, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Every parameter with its value; BadSetting where one is given that is none, or a value it does not take."""
        known = {one.name: one for one in self.all_parameters()}
        for name in given or {}:
            if name not in known:
                raise BadSetting(
                    "unknown_parameter", name, Said(gettext_noop("One of: %(allowed)s."), {"allowed": ", ".join(known)})
                )
        settings = {one.name: one.default for one in known.values()}
        for name, value in (given or {}).items():
            try:
                settings[name] = known[name].read(value) if isinstance(value, str) else known[name].checked(value)
            except ValueError as error:
                raise BadSetting("bad_parameter", name, known[name].expected()) from error
        return settings

    def of(self, records: Records, given: Mapping[str, Any] | None = None) -> MethodReport:
        """The report over these records, with the settings given and the defaults of the others; what the records say
        of themselves stands first among its notes."""
        report = self.report(records, self.settings(given))
        said: list[Words] = [Said("%(text)s", {"text": one["text"]}) for one in records["about"]]
        if any(one["synthetic"] for one in records["about"]):
            said.append(gettext_noop("Synthetic records: these figures show the form, and say nothing about anybody."))
        n_records = {one.name: len(records[one.name]) for one in self.schema.types}
        return replace(report, notes=(*said, *report.notes), n_records=n_records)


class BadSetting(ValueError):
    """A parameter that is none, or a value that it does not take."""

    def __init__(self, code: str, name: str, expected: Said) -> None:
        super().__init__(f"{name}: {expected.words()}")
        self.problem = Problem(
            code=code,
            field=name,
            expected=expected.text,
            remedy=gettext_noop("docs/records.md lists the parameters of each method."),
            params=expected.params,
        )


def methods() -> dict[str, Method]:
    """Every module of this folder that has a METHOD, by its name."""
    found = {}
    for module in sorted(one.name for one in pkgutil.iter_modules(scoring.methods.__path__)):
        method = getattr(importlib.import_module(f"scoring.methods.{module}"), "METHOD", None)
        if isinstance(method, Method):
            found[method.name] = method
    return found


@cache
def method_of_kind(kind: str) -> Method | None:
    """The method that projects of a task kind have a report of."""
    return next((one for one in methods().values() if kind and one.kind == kind), None)


# Figures with their intervals.


@dataclass(frozen=True, eq=False)
class Asked:
    """A row to be: its statistic over items (replies, points, annotations, gaps, runs), and the cluster of each item.

    `point`: the figure without its interval, where the sums do not tell all of it. `k`, `n`: counts to print; of a
    share they are known.
    """

    metric: str
    name: Words
    statistic: Summed
    clusters: Sequence[Hashable]
    denominator: Words
    by: By = ()
    unit: str = "share"
    point: Figure | None = None
    k: float | None = None
    n: float | None = None

    def row(self, figure: Figure) -> Row:
        k, n = self.k, self.n
        if k is None and self.statistic.is_share:
            k, n = float(self.statistic.features[:, 1].sum()), float(figure.n_items)
        return Row(self.metric, self.name, figure, self.denominator, self.by, self.unit, k, n)


def drawing_of(settings: Mapping[str, Any], unit: str) -> Drawing:
    return Drawing(
        unit=unit,
        seed=settings["seed"],
        min_clusters=settings["min_clusters"],
        n_resamples=settings["n_resamples"],
    )


def rows_of(asked: Sequence[Asked], drawing: Drawing) -> list[Row]:
    """Every row with its interval, in order. Each is resampled over the clusters that hold an item of its own; those
    about the same clusters share their draw, whatever their items are."""
    numbers = _numbered_clusters(asked)
    places: dict[bytes, list[int]] = defaultdict(list)
    for place, one in enumerate(asked):
        places[np.unique(numbers[place][one.statistic.counted]).tobytes()].append(place)
    rows: dict[int, Row] = {}
    for key, together in places.items():
        order = np.frombuffer(key, dtype=np.int64)
        summed = [_by_cluster(asked[place], numbers[place], order) for place in together]
        drawn = with_intervals(summed, None, drawing) if len(order) else [one.figure() for one in summed]
        for place, figure in zip(together, drawn, strict=True):
            rows[place] = asked[place].row(_with_interval(asked[place], figure))
    return [rows[place] for place in range(len(asked))]


@dataclass(frozen=True, eq=False)
class Plan:
    """A table to be: rows that are there already among rows that are asked for."""

    name: str
    title: Words
    rows: Sequence[Asked | Row]
    notes: tuple[Words, ...] = ()


def drawn(plans: Iterable[Plan | Grid], drawing: Drawing) -> tuple[Table | Grid, ...]:
    """The tables of a report, in order, all of it drawn together; those without a row are left away."""
    plans = list(plans)
    asked = [row for one in plans if isinstance(one, Plan) for row in one.rows if isinstance(row, Asked)]
    ready = iter(rows_of(asked, drawing))
    tables: list[Table | Grid] = []
    for one in plans:
        if isinstance(one, Grid):
            tables.append(one)
            continue
        rows = tuple(next(ready) if isinstance(row, Asked) else row for row in one.rows)
        if rows:
            tables.append(Table(one.name, one.title, rows, one.notes))
    return tuple(tables)


def coded(statistic: Statistic, codes: Codes) -> tuple[Summed, Figure]:
    """A statistic of a matrix of codes (n_items, n_raters) as sums, and its figure without an interval."""
    features = statistic.features(codes).astype(float)
    has_any = (features != 0).any(axis=1)
    summed = Summed(
        np.column_stack([has_any.astype(float), features]),
        lambda sums: statistic.formula(sums[:, 1:]).value,
        is_share=False,
    )
    return summed, statistic.figure(codes)


def counted(n: float, *, of: int | None = None) -> Figure:
    """A number that is counted, or worked out, without uncertainty of its own. `of`: the items it rests on."""
    n_items = int(n) if of is None else of
    return Figure(value=float(n), reason=None, n_items=n_items, n_ratings=n_items, n_raters=1)


def without(reason: str, *, n_items: int = 0, left_out: Mapping[str, int] | None = None) -> Figure:
    return Figure(None, reason, n_items=n_items, n_ratings=n_items, n_raters=1, left_out=left_out or {})


def count_row(metric: str, name: Words, n: float, denominator: Words = "", by: By = (), *, unit: str = "count") -> Row:
    return Row(metric, name, counted(n), denominator, by, unit)


def median_row(
    metric: str, name: Words, values: Iterable[float], denominator: Words, by: By = (), *, unit: str = "count"
) -> Row:
    """The median of values, without an interval; undefined without any."""
    numbers = list(values)
    figure = counted(float(np.median(numbers)), of=len(numbers)) if numbers else without("empty")
    return Row(metric, name, figure, denominator, by, unit)


def _numbered_clusters(asked: Sequence[Asked]) -> list[Counts]:
    """Of each row the numbers of its items' clusters, by the order of their names among all. Rows that share a list of
    clusters share its numbers."""
    lists = {id(one.clusters): one.clusters for one in asked}
    names = set().union(*lists.values())
    order = {name: number for number, name in enumerate(sorted(names, key=lambda one: (str(type(one)), str(one))))}
    numbers = {
        key: np.fromiter((order[name] for name in clusters), dtype=np.int64, count=len(clusters))
        for key, clusters in lists.items()
    }
    for one in asked:
        if len(one.clusters) != len(one.statistic.features):
            raise ValueError(f"{one.metric}: {len(one.clusters)} clusters for {len(one.statistic.features)} items.")
    return [numbers[id(one.clusters)] for one in asked]


def _by_cluster(one: Asked, numbers: Counts, order: Counts) -> Summed:
    """The same statistic with one row a cluster: sums of sums, so its value stays. A share of items that are clusters
    themselves keeps its score interval."""
    statistic = one.statistic
    is_in = statistic.counted
    at = np.searchsorted(order, numbers[is_in])
    columns = [np.bincount(at, weights=column, minlength=len(order)) for column in statistic.features[is_in].T]
    sums: Floats = np.column_stack(columns).astype(float)
    each_its_own = statistic.is_share and sums[:, 0].max(initial=0) <= 1
    return replace(statistic, features=sums, is_share=each_its_own)


def _with_interval(one: Asked, drawn: Figure) -> Figure:
    """The figure of the items, with the interval of their clusters."""
    figure = one.point or one.statistic.figure()
    return replace(
        figure,
        interval=drawn.interval if figure.value is not None else None,
        interval_reason=drawn.interval_reason if figure.value is not None else figure.reason,
        n_clusters=drawn.n_clusters,
        share_undefined=drawn.share_undefined,
        flags=(*figure.flags, *(flag for flag in drawn.flags if flag not in figure.flags)),
    )
