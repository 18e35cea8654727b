"""`manage.py import_traces PROJECT FILE...`: trace files become items, each file as a whole or not at all."""

import sys
from collections import Counter
from pathlib import Path

from django.utils.translation import gettext
from tqdm import tqdm

from annotate import importing
from annotate.errors import Refused
from annotate.management.said import SaidCommand, project_called
from annotate.models import Phase
from annotate.traces.base import Problem, gettext_noop
from annotate.traces.labels import left_over


class Command(SaidCommand):
    help = "Bring trace files into a project. A file with a bad record is refused whole, every problem named."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("project")
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--format", default="auto", help="auto (by content) or the name of a format")
        parser.add_argument("--phase", default=Phase.MAIN, choices=Phase.values)
        parser.add_argument("--labels", type=Path, metavar="FILE", help="labels of these runs that lie beside them")
        parser.add_argument("--skip-bad", action="store_true", help="import the rest; the batch keeps what was skipped")
        parser.add_argument("--replace-nul", action="store_true", help="show the character U+0000 as U+2400")

    def handle(self, *args, **options):
        self.is_refused = False
        super().handle(*args, **options)
        if self.is_refused:
            raise SystemExit(1)

    def act(self, *, project, files, **options):
        project = project_called(project)
        labels = options["labels"]
        for path in [*files, *([labels] if labels else [])]:
            if not path.is_file():
                raise Refused(no_file(path))
        options["labels"] = importing.labels_in(labels) if labels else None
        n_labelled = Counter()
        found = [self.import_file(project, path, options, n_labelled) for path in files]
        return {"project": project.slug, "files": found, **said_of_labels(self, options["labels"], n_labelled)}

    def import_file(self, project, path, options, n_labelled):
        report = self.read(project, path, options)
        n_labelled.update(report.n_labelled)
        self.is_refused |= report.is_refused
        for problem in [*report.tally.problems, *report.tally.warnings]:
            self.say(problem.sentence(gettext))
        return {
            "path": str(path),
            "format": report.format,
            "state": "refused" if report.is_refused else "imported",
            "batch": report.batch,
            **report.counts(),
            "problems": [problem.as_dict(gettext) for problem in report.tally.problems],
            "warnings": [problem.as_dict(gettext) for problem in report.tally.warnings],
        }

    def read(self, project, path, options):
        """With a bar of the bytes read, where somebody is watching."""
        with tqdm(
            total=path.stat().st_size, desc=path.name, unit="B", unit_scale=True, disable=None, file=sys.stderr
        ) as bar:
            return importing.import_traces(
                project=project,
                path=path,
                file_name=path.name,
                phase=options["phase"],
                format=options["format"],
                skip_bad=options["skip_bad"],
                replace_nul=options["replace_nul"],
                labels=options["labels"],
                progress=lambda n_bytes: bar.update(n_bytes - bar.n),
            )

    def words(self, result):
        for file in result["files"]:
            if file["state"] == "refused":
                yield gettext("%(path)s: refused, nothing imported; %(n_problems)s problems.") % file
                continue
            yield (
                gettext(
                    "%(path)s (%(format)s): %(new)s new traces with %(items)s items, %(present)s already there, "
                    "%(n_problems)s records skipped."
                )
                % file
            )


def said_of_labels(command, labels, n_labelled):
    """What is to be said of a label file once all runs are read."""
    if labels is None:
        return {}
    left = [*labels.problems, *left_over(labels, n_labelled)]
    for problem in left:
        command.say(problem.sentence(gettext))
    return {"labelled": sum(n_labelled.values()), "label_warnings": [problem.as_dict(gettext) for problem in left]}


def no_file(path) -> Problem:
    return Problem(
        code="no_file",
        file=str(path),
        field="FILE",
        expected=gettext_noop("A file; there is none of this name."),
        remedy=gettext_noop("Check the path."),
    )
