"""`manage.py agreement PROJECT`, or `agreement --csv FILE` for people who have a spreadsheet."""

import json
import unicodedata
from argparse import ArgumentTypeError
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.utils.translation import gettext

from annotate.errors import Refused
from annotate.management.said import SaidCommand, project_called, seed_word
from annotate.models import Project
from annotate.traces.base import Problem, gettext_noop
from scoring import agreement_words, metric_words
from scoring.comparing import ITEM, PHASES, Table, table_agreement
from scoring.models import Report
from scoring.reports import recompute, shown_report
from scoring.spreadsheet import KINDS, read_records, read_table
from scoring.stats.compute import compute, metrics
from scoring.stats.ratings import RatingsError
from scoring.stats.registry import BadParams, Outcome
from scoring.stats.results import plain
from scoring.words import Column, FigureTable

CSV_SEED = 1
WIDE = 40
"""A cell longer than this, such as the reason why there is no value, does not widen its column."""
LISTS = {"span_f1", "group_set_agreement"}
NUMBERS = {
    "sign_flip_test", "paired_difference", "holm", "benjamini_yekutieli", "shapley_acc", "pass_at_k", "pearson",
    "spearman", "dose_table",
}  # fmt: skip
OF_LEVEL = {"interval": "number", "jaccard": "list", "masi": "list"}
"""What labels are: of these statistics, and of alpha by its level. All others are about texts."""

OTHER_UNIT = {"span_f1", "sign_flip_test"}
"""To these the param `unit` is not the name of what is a cluster."""

TEXTS = {"rater", "rater_a", "rater_b", "judge", "reference", "predicted", "a", "b", "comparison", "factor"}
"""Params that name what stands in a cell, so that 1 is the text of the cell and no number."""


class Command(SaidCommand):
    help = "Agreement of the annotators of a project, or of the raters in a CSV, with intervals over clusters."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("project", nargs="?")
        parser.add_argument("--measure", help="only this measure of the project's kind")
        parser.add_argument("--phase", choices=PHASES, default="main")
        parser.add_argument("--protocol", type=int, metavar="N", help="labels under this protocol, not the newest")
        parser.add_argument("--round", type=int, metavar="N", help="this round by itself, not all blind ones")
        parser.add_argument("--run", type=int, metavar="N", help="this run of a judge, not the newest of the phase")
        parser.add_argument("--language", help="only items whose trace has this language")
        parser.add_argument("--area", help="only items whose trace has this area")
        parser.add_argument("--report", type=int, metavar="N", help="compute this stored report again and compare")
        parser.add_argument("--csv", type=Path, metavar="FILE", help="ratings in a CSV instead, one row a rating")
        parser.add_argument("--item", default="item", metavar="COL")
        parser.add_argument("--rater", default="rater", metavar="COL")
        parser.add_argument("--label", default="label", metavar="COL")
        parser.add_argument("--cluster", metavar="COL", help="only this cluster; of a CSV the column of clusters")
        parser.add_argument("--categories", nargs="+", metavar="LABEL", help="the labels there are, in their order")
        parser.add_argument("--seed", type=seed_word, default=CSV_SEED, help="of the resamples of a CSV")
        parser.add_argument("--metric", metavar="NAME", help="one statistic of a CSV by its name (docs/methods.md)")
        parser.add_argument(
            "--param", type=param, action="append", default=[], metavar="K=V", help="of the statistic; JSON or text"
        )
        parser.add_argument("--judge", metavar="NAME", help="the rater who is a judge, as the param of that name")
        parser.add_argument("--epsilon", type=float, metavar="E", help="what a person costs, as the param of that name")
        parser.add_argument("--labels-are", choices=KINDS, help="of the statistic; as it takes them unless given")

    def act(self, *, project, measure, phase, protocol, csv, metric, **options):
        if metric is not None or options["param"] or given_params(options):
            return self.act_metric(csv if project is None else None, metric, **options)
        if (project is None) == (csv is None):
            raise Refused(
                Problem(
                    code="missing_field",
                    field="PROJECT",
                    expected=gettext_noop("Either a project or a file."),
                    remedy=gettext_noop("Give PROJECT, or --csv FILE."),
                )
            )
        if csv is None:
            found = project_called(project)
            if options["report"] is not None:
                return proven(found, options["report"])
            filters = {name: options[name] for name in ("run", "round", "language", "area", "cluster")}
            stored = shown_report(found, phase=phase, measure=measure, protocol=protocol, **filters)
            self.report, self.stored = stored.report, stored.row
            return self.report.as_dict()
        columns = {name: options[name] for name in ("item", "rater", "label", "cluster", "categories")}
        self.panel = table_agreement(read_table(csv, **columns), seed=options["seed"])
        return {
            "file": csv.name,
            "clusters": options["cluster"] or "each item its own",
            "agreement": self.panel.as_dict(),
        }

    def act_metric(self, csv: Path | None, metric: str | None, **options):
        """One statistic of a spreadsheet by its name."""
        if csv is None or metric is None:
            raise Refused(
                Problem(
                    code="missing_field",
                    field="--metric",
                    expected=gettext_noop("A statistic by its name, of a file."),
                    remedy=gettext_noop("Give --csv FILE and --metric NAME, and params beside them."),
                )
            )
        if metric not in metrics():
            raise Refused(unknown_metric())
        params = {**dict(options["param"]), **given_params(options)}
        kind = options["labels_are"] or kind_of(metric, params)
        columns = {name: options[name] for name in ("item", "rater", "label", "cluster")}
        if options["categories"]:
            params.setdefault("categories", declared(options["categories"], kind))
        table = read_records(csv, **columns, kind=kind)
        self.outcome, self.metric = figure_of(metric, table, params, options["seed"], csv.name), metric
        return {
            "file": csv.name,
            "clusters": options["cluster"] or "each item its own",
            "metric": metric,
            "params": params,
            "figure": plain(self.outcome),
            "sentence": metric_words.sentences(self.outcome, metric),
        }

    def words(self, result):
        if "metric" in result:
            yield csv_line(result["file"], ITEM if result["clusters"] == "each item its own" else result["clusters"])
            yield metric_words.sentence(self.outcome, self.metric)
            tables = (metric_words.confusion_table(self.outcome), metric_words.annotators_table(self.outcome))
            for table in filter(None, tables):
                yield ""
                yield from table_lines(table)
            return
        if "report" in result:
            yield gettext("Report %(report)s, computed again from its rows: the same.") % result
            return
        if "agreement" in result:
            yield csv_line(result["file"], self.panel.unit)
            yield from panel_lines(agreement_words.panel_words(self.panel))
            return
        said = agreement_words.report_words(self.report)
        opening = (said.synthetic, said.pilot, said.round, said.protocol, said.run, said.filters, said.open_lead)
        yield from filter(None, (*opening, *said.partial))
        for title, panel in (*said.parts, *said.sets):
            yield ""
            yield title
            yield from panel_lines(panel)
        yield ""
        yield said.left_out
        yield gettext("Report %(number)s.") % {"number": self.stored.pk}


def proven(project: Project, number: int) -> dict[str, object]:
    """A stored report computed again; Refused where it is not there or comes out otherwise."""
    row = Report.objects.filter(project=project, pk=number, kind=Report.Kind.AGREEMENT).first()
    if row is None:
        raise Refused(
            Problem(
                code="unknown_report",
                field="report",
                expected=gettext_noop("The number of a stored report of this project."),
                remedy=gettext_noop("The command names it when it shows figures; old ones are let go."),
            )
        )
    if recompute(row) != row.payload:
        raise Refused(
            Problem(
                code="report_differs",
                field="report",
                expected=gettext_noop("The same figures from the same rows."),
                remedy=gettext_noop("The program has changed since, or rows were changed by hand."),
            )
        )
    return {"report": number, "same": True}


def param(word: str) -> tuple[str, Any]:
    """`k=v`, where v is JSON if it reads as that, else the text itself."""
    name, equals, value = word.partition("=")
    if not equals or not name:
        raise ArgumentTypeError(f"{word}: a param is NAME=VALUE.")
    if name in TEXTS:
        return name, value
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def given_params(options: dict[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in ("judge", "epsilon") if options[name] is not None}


def kind_of(metric: str, params: dict[str, Any]) -> str:
    """What the labels of this statistic are."""
    name, level = statistic_of(metric, params)
    if name in LISTS:
        return "list"
    if name in NUMBERS:
        return "number"
    return OF_LEVEL.get(str(level), "text")


def declared(categories: list[str], kind: str) -> list[Any]:
    """The categories as labels are read; what lists hold are texts."""
    if kind != "number":
        return categories
    try:
        return [KINDS[kind](one) for one in categories]
    except ValueError:
        raise Refused(
            Problem(
                code="bad_params",
                field="--categories",
                expected=gettext_noop("Numbers, as the labels are."),
                remedy=gettext_noop("Correct the list, or say with --labels-are what the labels are."),
            )
        ) from None


def statistic_of(metric: str, params: dict[str, Any]) -> tuple[str, Any]:
    """Its name and level; of a bootstrap those of what it is of."""
    inner = params["bootstrap_of"] if isinstance(params.get("bootstrap_of"), dict) else {}
    return str(inner.get("metric", metric)), inner.get("level", params.get("level"))


def figure_of(metric: str, table: Table, params: dict[str, Any], seed: int, name: str) -> Outcome:
    """The figure, with its interval where the statistic has one; Refused where it cannot be asked of this file."""
    drawn: dict[str, Any] = {"seed": seed}
    if table.cluster_of is not None:
        drawn["cluster_of"] = table.cluster_of
    named = {} if statistic_of(metric, params)[0] in OTHER_UNIT else {"unit": table.unit}
    for more in (drawn | named, drawn, {}):  # what not every statistic takes
        try:
            return compute(metric, table.triples, more | params)
        except (BadParams, RatingsError) as refusal:
            refused = refusal
    raise Refused(not_taken(name, refused))


def unknown_metric() -> Problem:
    return Problem(
        code="unknown_metric",
        field="--metric",
        expected=gettext_noop("One of: %(allowed)s."),
        remedy=gettext_noop("Choose one of these; case counts."),
        params={"allowed": ", ".join(metrics())},
    )


def not_taken(name: str, refusal: ValueError) -> Problem:
    return Problem(
        code=getattr(refusal, "code", "") or "bad_params",
        file=name,
        expected=gettext_noop("This cannot be computed: %(why)s"),
        remedy=gettext_noop("Correct the file, or --param, --categories and --judge."),
        params={"why": str(refusal)},
    )


def csv_line(name: str, unit: str) -> str:
    if unit == ITEM:
        return gettext("%(file)s: each item is its own cluster; --cluster names a column of clusters.") % {"file": name}
    return gettext("%(file)s: clusters by the column %(column)s.") % {"file": name, "column": unit}


def panel_lines(panel: agreement_words.PanelWords) -> Iterator[str]:
    """What the page shows of a panel, as lines."""
    yield from panel.opening
    for table in panel.tables:
        yield ""
        yield from table_lines(table)
    yield ""
    yield from panel.closing


def table_lines(table: FigureTable) -> Iterator[str]:
    """A table whose columns stand below each other."""
    rows = [tuple(column.title for column in table.columns), *table.rows]
    widths = [max(n for n in map(width, texts) if n <= WIDE) for texts in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, table.columns, widths, strict=True)
        yield "  ".join(["", *(set_in(text, column, n) for text, column, n in cells)]).rstrip()


def set_in(text: str, column: Column, n: int) -> str:
    blanks = " " * (n - width(text))
    return blanks + text if column.is_number else text + blanks


def width(text: str) -> int:
    """Places on a terminal, where a Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
