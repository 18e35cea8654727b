"""The agreement report as its page shows it: charts, tables whose figures lead to their items, rows of a file. What is
said of a figure in words stands in `words.py` and `agreement_words.py`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext

from annotate.models import Project
from scoring import agreement_words, words
from scoring.charts import AxisRow, Confusion, Shape, confusion
from scoring.compared_items import JUDGE, MAJORITY
from scoring.comparing import AgreementReport, MeasureReport, SetReport
from scoring.stats.results import Figure
from scoring.words import Column, FigureTable

NUMBERS = ("protocol", "run", "round")
CHARTS = ("axis", "confusion")
LEAST_FOR_PANEL = 2


@dataclass(frozen=True, slots=True)
class Filters:
    """What is asked of a report, as it stands in an address. `phase` is always there, the rest where it was chosen."""

    phase: str = "main"
    measure: str | None = None
    protocol: int | None = None
    run: int | None = None
    round: int | None = None
    language: str | None = None
    area: str | None = None
    cluster: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def query(self, **more: object) -> str:
        """`?phase=main&measure=fail`, with what is not None."""
        chosen = {name: value for name, value in {**self.as_dict(), **more}.items() if value is not None}
        return f"?{urlencode(chosen)}"


def filters_of(report: AgreementReport) -> Filters:
    """What the report came to rest on, so that a link still means the same once there is a newer protocol or run."""
    run = report.run.number if report.run else None
    return Filters(
        phase=report.phase, protocol=report.protocol, run=run, round=report.round, **report.filters
    )


@dataclass(frozen=True, slots=True)
class Links:
    """Where the items behind the figures of one measure are listed."""

    project: Project
    filters: Filters
    measure: str

    def items(self, **figure: object) -> str:
        listed = reverse("scoring:list_compared_items", args=[self.project.slug])
        return listed + self.filters.query(measure=self.measure, **figure)

    def file(self, chart: str) -> str:
        return reverse("scoring:agreement_csv", args=[self.project.slug]) + self.filters.query(
            measure=self.measure, chart=chart
        )


@dataclass(frozen=True, slots=True)
class LinkedTable:
    """A table of words with where each of its cells leads, by its row and column."""

    table: FigureTable
    urls: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def cells(self) -> Iterator[list[tuple[str, Column, str]]]:
        for row, cells in enumerate(self.table.cells()):
            yield [(text, column, self.urls.get((row, place), "")) for place, (text, column) in enumerate(cells)]


@dataclass(frozen=True, slots=True)
class Share:
    """How often a category was chosen."""

    title: str
    n: int
    words: str
    url: str


@dataclass(frozen=True, slots=True)
class MeasurePart:
    """All that the page shows of one measure."""

    name: str
    title: str
    opening: str
    shares: tuple[Share, ...]
    axis: tuple[AxisRow, ...]
    tables: tuple[LinkedTable, ...]
    confusion: Confusion | None
    closing: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    n_ratings: int
    n_raters: int
    axis_file: str
    confusion_file: str


@dataclass(frozen=True, slots=True)
class SetPart:
    """All that the page shows of one measure of sets. `queue` lists the items on which people differ there."""

    name: str
    title: str
    opening: str
    tables: tuple[LinkedTable, ...]
    closing: tuple[str, ...]
    file: str
    queue: str


def set_part(project: Project, report: AgreementReport, one: SetReport) -> SetPart:
    said = agreement_words.set_words(one)
    queue = reverse("annotate:settling_queue", args=[project.slug])
    return SetPart(
        name=one.measure,
        title=gettext(one.title),
        opening=said.opening[0],
        tables=tuple(LinkedTable(table) for table in said.tables),
        closing=said.closing,
        file=Links(project, filters_of(report), one.measure).file("axis"),
        queue=f"{queue}?{urlencode({'state': 'all', 'measure': one.measure})}",
    )


MOST_SHARES = 12
"""Of a measure with more categories, as a long scale has them, those that nobody chose are left out."""


def measure_part(project: Project, report: AgreementReport, one: MeasureReport) -> MeasurePart:
    links = Links(project, filters_of(report), one.measure.name)
    said = agreement_words.measure_words(one)
    return MeasurePart(
        name=one.measure.name,
        title=gettext(one.measure.title),
        opening=said.opening[0],
        shares=tuple(
            Share(
                words.category_words(each.category, one.measure),
                each.n_ratings,
                words.shown(each.share),
                links.items(column=each.category) if each.n_ratings else "",
            )
            for each in one.panel.prevalence
            if each.n_ratings or len(one.panel.prevalence) <= MOST_SHARES
        ),
        axis=axis_rows(one, links),
        tables=linked_tables(one, links),
        confusion=judge_confusion(one, links),
        closing=said.closing,
        left_out=ways_to_left_out(one, links),
        n_ratings=one.panel.n_ratings,
        n_raters=one.panel.n_raters,
        axis_file=links.file("axis"),
        confusion_file=links.file("confusion"),
    )


def axis_rows(one: MeasureReport, links: Links) -> tuple[AxisRow, ...]:
    """Each annotator against the majority of the others, the judge against the majority, the panel as a whole."""
    rows = [
        axis_row(str(each.rater), "dot", each.annotator_vs_majority_kappa, links.items(of=each.rater, against=MAJORITY))
        for each in one.panel.raters
    ]
    if one.judge:
        url, said = links.items(of=JUDGE, against=MAJORITY), agreement_words.judge_value_words(one.judge.kappa)
        rows.append(axis_row(gettext("judge"), "diamond", one.judge.kappa, url, said))
    if one.panel.n_raters >= LEAST_FOR_PANEL:
        rows.append(axis_row(gettext("panel"), "square", one.panel.fleiss_kappa, links.items()))
    return tuple(rows)


def axis_row(name: str, shape: Shape, figure: Figure, url: str, said: str = "") -> AxisRow:
    said = said or words.value_words(figure)
    around = words.interval_words(figure)
    if figure.interval is None:
        return AxisRow(name, shape, figure.value, None, None, figure.n_items, said, url, note=around)
    low, high = figure.interval.low, figure.interval.high
    return AxisRow(name, shape, figure.value, low, high, figure.n_items, f"{said} ({around})", url)


def linked_tables(one: MeasureReport, links: Links) -> tuple[LinkedTable, ...]:
    """The figures as tables: each value and number of items leads to its items, a number of ties to the ties."""
    panel = one.panel
    whole = agreement_words.whole_table(panel)
    tables = [LinkedTable(whole, {(row, place): links.items() for row in range(len(whole.rows)) for place in (1, 3)})]
    of_raters = {}
    for row, each in enumerate(panel.raters):
        every = links.items(of=each.rater, against=MAJORITY)
        of_raters |= {(row, 1): every, (row, 3): every, (row, 5): every}
        if each.n_ties:
            of_raters[row, 6] = links.items(of=each.rater, against=MAJORITY, why="tie")
    of_pairs = {
        (row, place): links.items(of=each.first, against=each.second)
        for row, each in enumerate(panel.pairs)
        for place in (1, 3)
    }
    tables += [
        LinkedTable(agreement_words.rater_table(panel, one.measure), of_raters),
        LinkedTable(agreement_words.pair_table(panel), of_pairs),
    ]
    if one.judge:
        url = links.items(of=JUDGE, against=MAJORITY)
        urls = {(row, place): url for row in (0, 1) for place in (1, 3)}
        tables.append(LinkedTable(agreement_words.judge_table(one.judge, one.measure), urls))
    return tuple(table for table in tables if table.table.rows)


def judge_confusion(one: MeasureReport, links: Links) -> Confusion | None:
    """The majority in its rows, the judge in its columns."""
    if one.judge is None or one.judge.kappa.n_items == 0:
        return None
    categories = one.judge.categories

    def items(row: int, column: int) -> str:
        return links.items(of=JUDGE, against=MAJORITY, row=categories[row], column=categories[column])

    titles = [words.category_words(each, one.measure) for each in categories]
    return confusion(one.judge.confusion, titles, items)


def ways_to_left_out(one: MeasureReport, links: Links) -> tuple[tuple[str, str], ...]:
    """What no comparison with the judge has, each with the items that it counts."""
    if one.judge is None:
        return ()
    counted = {
        "tie": (one.judge.n_ties, gettext("people tie")),
        "few": (one.judge.n_few, gettext("too few people")),
        "missing": (one.judge.n_missing, gettext("no label of the judge")),
        "unreadable": (one.judge.n_unreadable, gettext("answer of the judge unreadable")),
    }
    return tuple(
        (f"{said}: {n}", links.items(of=JUDGE, against=MAJORITY, why=why)) for why, (n, said) in counted.items() if n
    )


# Files: numbers as they are, texts in the interface language nowhere, so that a file reads the same for everybody.


AXIS_COLUMNS = (
    *("measure", "who", "against", "statistic", "value", "low", "high", "level", "n_items", "n_clusters", "reason"),
    *("interval_reason", "flags", "left_out", "tie_rule"),
)
CONFUSION_COLUMNS = ("measure", "run", "majority", "judge", "n_items")


def axis_lines(one: MeasureReport) -> Iterator[list[object]]:
    """What the axis and the tables beside it show."""
    panel, name = one.panel, one.measure.name
    for each in panel.raters:
        who = (name, str(each.rater), "majority of the others")
        yield figure_line(*who, "kappa", each.annotator_vs_majority_kappa, panel.tie_rule)
        yield figure_line(*who, "share_equal", each.annotator_vs_majority, panel.tie_rule)
        for other in each.other_rules:
            yield figure_line(*who, "share_equal", other.annotator_vs_majority, other.rule)
            if other.annotator_vs_majority_kappa:
                yield figure_line(*who, "kappa", other.annotator_vs_majority_kappa, other.rule)
    if one.judge:
        who = (name, f"judge: {one.judge.judge}, run {one.judge.run}", "majority of people")
        yield figure_line(*who, "kappa", one.judge.kappa, one.judge.tie_rule)
        yield figure_line(*who, "share_equal", one.judge.accuracy, one.judge.tie_rule)
    for statistic in (
        *("fleiss_kappa", "krippendorff_alpha", "mean_cohen_kappa"),
        *("percent_agreement", "percent_agreement_pair"),
    ):
        yield figure_line(name, "panel", "", statistic, getattr(panel, statistic), "")
    for pair in panel.pairs:
        yield figure_line(name, str(pair.first), str(pair.second), "cohen_kappa", pair.cohen_kappa, "")


def set_lines(one: SetReport) -> Iterator[list[object]]:
    """The same columns for a measure of sets: the mean of all pairs, then each pair; those of a judge behind them."""
    statistic = "set_f1" if one.agreement.stat == "f1" else "equal_sets"
    yield figure_line(one.measure, "panel", "", f"mean_{statistic}", one.agreement.mean, "")
    for pair in one.agreement.pairs:
        yield figure_line(one.measure, str(pair.first), str(pair.second), statistic, pair.agreement, "")
    if one.judge is not None:
        yield figure_line(one.measure, "judge", "each annotator", f"mean_{statistic}", one.judge.mean, "")
        for pair in one.judge.pairs:
            yield figure_line(one.measure, f"judge: {pair.first}", str(pair.second), statistic, pair.agreement, "")


def figure_line(measure: str, who: str, against: str, statistic: str, figure: Figure, tie_rule: str) -> list[object]:
    interval = figure.interval
    return [
        *(measure, who, against, statistic, figure.value),
        *((interval.low, interval.high, interval.level) if interval else (None, None, None)),
        *(figure.n_items, figure.n_clusters, figure.reason, figure.interval_reason, " ".join(figure.flags)),
        *(" ".join(f"{why}={n}" for why, n in figure.left_out.items() if n), tie_rule),
    ]


def confusion_lines(one: MeasureReport) -> Iterator[list[object]]:
    """One line a cell."""
    if one.judge is None:
        return
    for row, line in zip(one.judge.categories, one.judge.confusion, strict=True):
        for column, n in zip(one.judge.categories, line, strict=True):
            yield [one.measure.name, one.judge.run, str(row), str(column), n]
