"""`manage.py agreement PROJECT`, or `agreement --csv FILE` for people who have a spreadsheet."""

import unicodedata
from collections.abc import Iterator
from pathlib import Path

from django.utils.translation import gettext

from annotate.errors import Refused
from annotate.management.said import SaidCommand, project_called, seed_word
from annotate.traces.base import Problem, gettext_noop
from scoring import words
from scoring.comparing import ITEM, PHASES, agreement_report, table_agreement
from scoring.spreadsheet import read_table

CSV_SEED = 1
WIDE = 40
"""A cell longer than this, such as the reason why there is no value, does not widen its column."""


class Command(SaidCommand):
    help = "Agreement of the annotators of a project, or of the raters in a CSV, with intervals over clusters."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("project", nargs="?")
        parser.add_argument("--measure", help="only this measure of the project's kind")
        parser.add_argument("--phase", choices=PHASES, default="main")
        parser.add_argument("--protocol", type=int, metavar="N", help="labels under this protocol, not the newest")
        parser.add_argument("--csv", type=Path, metavar="FILE", help="ratings in a CSV instead, one row a rating")
        parser.add_argument("--item", default="item", metavar="COL")
        parser.add_argument("--rater", default="rater", metavar="COL")
        parser.add_argument("--label", default="label", metavar="COL")
        parser.add_argument("--cluster", metavar="COL", help="without it each item is its own cluster")
        parser.add_argument("--categories", nargs="+", metavar="LABEL", help="the labels there are, in their order")
        parser.add_argument("--seed", type=seed_word, default=CSV_SEED, help="of the resamples of a CSV")

    def act(self, *, project, measure, phase, protocol, csv, **options):
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
            self.report = agreement_report(found, phase=phase, measure=measure, protocol=protocol)
            return self.report.as_dict()
        columns = {name: options[name] for name in ("item", "rater", "label", "cluster", "categories")}
        self.panel = table_agreement(read_table(csv, **columns), seed=options["seed"])
        return {
            "file": csv.name,
            "clusters": options["cluster"] or "each item its own",
            "agreement": self.panel.as_dict(),
        }

    def words(self, result):
        if "agreement" in result:
            yield csv_line(result["file"], self.panel.unit)
            yield from panel_lines(words.panel_words(self.panel))
            return
        said = words.report_words(self.report)
        yield from filter(None, (said.synthetic, said.pilot, said.protocol, said.open_lead, *said.partial))
        for title, panel in said.parts:
            yield ""
            yield title
            yield from panel_lines(panel)
        yield ""
        yield said.left_out


def csv_line(name: str, unit: str) -> str:
    if unit == ITEM:
        return gettext("%(file)s: each item is its own cluster; --cluster names a column of clusters.") % {"file": name}
    return gettext("%(file)s: clusters by the column %(column)s.") % {"file": name, "column": unit}


def panel_lines(panel: words.PanelWords) -> Iterator[str]:
    """What the page shows of a panel, as lines."""
    yield from panel.opening
    for table in panel.tables:
        yield ""
        yield from table_lines(table)
    yield ""
    yield from panel.closing


def table_lines(table: words.FigureTable) -> Iterator[str]:
    """A table whose columns stand below each other."""
    rows = [tuple(column.title for column in table.columns), *table.rows]
    widths = [max(n for n in map(width, texts) if n <= WIDE) for texts in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, table.columns, widths, strict=True)
        yield "  ".join(["", *(set_in(text, column, n) for text, column, n in cells)]).rstrip()


def set_in(text: str, column: words.Column, n: int) -> str:
    blanks = " " * (n - width(text))
    return blanks + text if column.is_number else text + blanks


def width(text: str) -> int:
    """Places on a terminal, where a Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
