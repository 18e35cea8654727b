"""`manage.py import_known PROJECT [FILE]`: labels made elsewhere become known answers, all of them or none."""

from dataclasses import replace
from pathlib import Path

from django.utils.translation import gettext

from annotate import importing, known_files
from annotate.errors import Refused
from annotate.kinds.base import LabelError
from annotate.management.said import SaidCommand, project_called
from annotate.traces.base import Place, Problem, gettext_noop
from annotate.traces.strict_json import parse


class Command(SaidCommand):
    help = "Bring labels made elsewhere in as known answers: a file in the kind's form, or what came with the traces."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("project")
        parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="JSON, by the id of the trace")
        parser.add_argument(
            "--base", type=int, choices=known_files.BASES, default=0, help="the number of the first message in the file"
        )
        parser.add_argument(
            "--marks", action="store_true", help="without a file: what others marked in the traces, where it fits"
        )

    def act(self, *, project, file, base, marks, **options):
        project = project_called(project)
        if marks == bool(file):
            raise Refused(FILE_OR_MARKS)
        if marks:
            brought = known_files.bring_marked(lead=None, project=project)
        else:
            data = value_in(file)
            try:
                brought = known_files.bring_known(
                    lead=None, project=project, data=data, file_name=file.name, base=base
                )
            except LabelError as error:
                self.refuse([replace(one, file=str(file)) for one in error.problems], as_json=options["json"])
        counts = {"known": brought.n_known, "had_known": brought.n_had_known, "unfit": brought.n_unfit}
        return {"project": project.slug, **counts}

    def words(self, result):
        yield gettext("%(known)s known answers; %(had_known)s items had one already, which stays.") % result
        if result["unfit"]:
            yield gettext("Of %(unfit)s traces the marks mean no label, or only in part.") % result


def value_in(path):
    """The JSON of a file; Refused where there is none."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise Refused(
            Problem(
                code="unreadable_file",
                file=str(path),
                expected=gettext_noop("A file that can be read: %(why)s."),
                remedy=gettext_noop("Check the path."),
                params={"why": error.strerror or type(error).__name__},
            )
        ) from None
    found = parse(raw, Place(str(path)), caps=importing.import_caps())
    if found.problems:
        raise Refused(found.problems[0])
    return found.value


FILE_OR_MARKS = Problem(
    code="missing_field",
    field="FILE",
    expected=gettext_noop("A file of labels, or --marks, and not both."),
    remedy=gettext_noop("Name one of them."),
)
