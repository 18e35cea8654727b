"""`manage.py import_outcomes PROJECT FILE`: outcomes of agents with and without a workflow, all of a file or none."""

from pathlib import Path

from django.utils.translation import gettext

from annotate.errors import Refused
from annotate.importing import import_caps
from annotate.management.said import SaidCommand, project_called
from annotate.traces.base import Problem, gettext_noop
from annotate.traces.documents import Documents
from scoring.experience import import_outcomes
from scoring.methods.records import RecordsRefused


class Command(SaidCommand):
    help = "Bring in what agents did with a workflow in their context and without: JSON lines or a CSV, whole or not."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("project")
        parser.add_argument("file", type=Path, metavar="FILE", help="domain, task, repeat, condition, success, tokens")

    def act(self, *, project, file, **options):
        project = project_called(project)
        try:
            with file.open("rb") as opened:
                documents = Documents(opened, file_name=file.name, caps=import_caps())
                brought = import_outcomes(person=None, project=project, documents=documents, file_name=file.name)
        except OSError as error:
            raise Refused(cannot_read(file, error)) from None
        except RecordsRefused as error:
            self.refuse(error.problems, as_json=options["json"])
        return {"project": project.slug, "file": file.name, "new": brought.n_new, "present": brought.n_present}

    def words(self, result):
        yield gettext("Outcomes brought into %(project)s: %(new)s; there already: %(present)s.") % result


def cannot_read(file: Path, error: OSError) -> Problem:
    return Problem(
        code="unreadable_file",
        file=str(file),
        field="file",
        expected=gettext_noop("A file that can be read: %(why)s."),
        remedy=gettext_noop("Check the path."),
        params={"why": error.strerror or type(error).__name__},
    )
