"""`manage.py report METHOD PROJECT`, or `--records FILE`: the tables of one of the methods over a project, or over
records made anywhere."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext

from annotate.errors import Refused
from annotate.importing import import_caps
from annotate.management.said import SaidCommand, project_called
from annotate.traces.base import Problem, first_problems, gettext_noop
from annotate.traces.documents import Documents
from scoring.comparing import PHASES
from scoring.management.commands.agreement import table_lines
from scoring.method_paragraph import paragraph, paragraphs, report_json
from scoring.method_reports import NO_METHOD, shown_method
from scoring.method_words import MethodWords, csv_rows, method_words
from scoring.methods.records import Records, RecordsRefused, read_records
from scoring.methods.tables import BadSetting, Method, methods


class Command(SaidCommand):
    help = "Tables of one method over a project, or over records made anywhere (docs/records.md), with intervals."

    def add_arguments(self, parser):
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="print one JSON object on one line, in English")
        form.add_argument("--html", action="store_true", help="print a page that stands by itself")
        form.add_argument("--csv", action="store_true", help="print one row a figure, safe for spreadsheets")
        parser.add_argument("method", choices=sorted(methods()))
        parser.add_argument("project", nargs="?", help="whose labels and verdicts the tables are of")
        parser.add_argument("--records", type=Path, metavar="FILE", help="one JSON object a line, instead of a project")
        parser.add_argument("--phase", choices=PHASES, default="main", help="of the project")
        parser.add_argument("--protocol", type=int, metavar="N", help="labels under this protocol, not the newest")
        parser.add_argument("--run", type=int, metavar="N", help="this run of the reader, not the newest of the phase")
        parser.add_argument("--checker-run", type=int, metavar="N", help="this run of the checker, likewise")
        parser.add_argument(
            "--set",
            dest="given",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="a parameter of the method; docs/records.md lists them",
        )
        parser.add_argument(
            "--language",
            choices=[code for code, _ in settings.LANGUAGES],
            help="of words, page and messages",
        )

    def handle(self, *args, **options):
        with translation.override(options["language"] or translation.get_language()):
            super().handle(*args, **options)

    def act(self, *, method, project, records, given, **options):
        """Everything is worked out before a word is printed."""
        self.form = next((name for name in ("html", "csv") if options[name]), "words")
        self.method = methods()[method]
        if (project is None) == (records is None):
            raise Refused(EITHER)
        if project is not None:
            return self.act_project(project_called(project), pairs_of(given), **options)
        self.source = records.name
        try:
            self.report = self.method.of(self.read(records, self.method, options["json"]), pairs_of(given))
        except BadSetting as error:
            raise Refused(error.problem) from error
        return {"file": self.source, **self.report.as_dict(), "paragraphs": paragraphs(self.report, self.method)}

    def act_project(self, project, given, **options):
        if project.kind != self.method.kind:
            raise Refused(NO_METHOD)
        asked = {name: options[name] for name in ("phase", "protocol", "run", "checker_run")}
        stored = shown_method(project, given=given, **asked)
        self.source, self.report = project.slug, stored.report
        return report_json(stored)

    def read(self, path: Path, method: Method, as_json: bool) -> Records:
        try:
            with path.open("rb") as file:
                return read_records(Documents(file, file_name=path.name, caps=import_caps()), method.schema)
        except OSError as error:
            raise Refused(
                Problem(
                    code="unreadable_file",
                    file=str(path),
                    field="records",
                    expected=gettext_noop("A file that can be read: %(reason)s."),
                    remedy=gettext_noop("Check the path."),
                    params={"reason": error.strerror or str(error)},
                )
            ) from error
        except RecordsRefused as error:
            self.refuse(first_problems(error.problems, len(error.problems)), as_json=as_json)
            raise  # not reached, `refuse` ends the program

    def words(self, result):
        if self.form == "csv":
            yield from csv_lines(self.report)
            return
        said = method_words(self.report, self.method, self.source)
        if self.form == "html":
            yield page(said, paragraphs(self.report, self.method))
            return
        yield from word_lines(said)
        if self.method.sentences:
            yield ""
            yield gettext("Methods paragraph")
            yield paragraph(self.report, self.method, translation.get_language())


def pairs_of(given: list[str]) -> dict[str, str]:
    """`name=value` by name; Refused where one is none, or is given twice."""
    found: dict[str, str] = {}
    for one in given:
        name, is_pair, value = one.partition("=")
        if not is_pair or name in found:
            raise Refused(
                Problem(
                    code="bad_parameter",
                    field=name,
                    expected=gettext_noop("NAME=VALUE, every name once."),
                    remedy=gettext_noop("Write --set seed=7, for example."),
                )
            )
        found[name] = value
    return found


def csv_lines(report) -> Iterator[str]:
    for row in csv_rows(report):
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(row)
        yield line.getvalue()


def page(said: MethodWords, paragraphs: dict[str, str]) -> str:
    context = {"said": said, "paragraphs": paragraphs, "language": translation.get_language()}
    return render_to_string("scoring/method_report.html", context)


def word_lines(said: MethodWords) -> Iterator[str]:
    yield said.title
    yield from said.opening
    for one in said.tables:
        yield ""
        yield one.title
        yield from table_lines(one.table)
        yield from one.notes
    yield ""
    yield gettext("Parameters in force")
    yield from table_lines(said.settings)
    yield ""
    yield from said.closing


EITHER = Problem(
    code="missing_field",
    field="PROJECT",
    expected=gettext_noop("Either a project or a file of records."),
    remedy=gettext_noop("Give PROJECT, or --records FILE."),
)
