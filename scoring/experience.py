"""Experience replays: outcomes that agents elsewhere had are brought in, and the workflows that runs have written go
out to them (docs/experience.md)."""

import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db import transaction

from annotate import importing, lead_queries, people
from annotate.errors import NotYours, Refused
from annotate.models import Event, Person, Project
from annotate.traces.base import Problem, first_problems, gettext_noop
from annotate.traces.documents import Document, Documents
from scoring import experience_queries
from scoring.methods.outcomes import OutcomeFile, against, read_outcomes
from scoring.methods.records import RecordsRefused
from scoring.models import Outcome, OutcomeBatch, Run

KIND = "redundancy"
LONGEST_NAME = 255


@dataclass(frozen=True, slots=True)
class BroughtIn:
    """How many outcomes are new, and how many were there already just so."""

    n_new: int
    n_present: int


def in_text(text: str, file_name: str) -> Iterable[Document | Problem]:
    """The records of a pasted text."""
    return Documents(
        io.BytesIO(text.encode("utf-8", "surrogatepass")), file_name=file_name, caps=importing.import_caps()
    )


def import_outcomes(
    *, person: Person | None, project: Project, documents: Iterable[Document | Problem], file_name: str
) -> BroughtIn:
    """All outcomes of a file, or none of it. `person` is None on the command line. NotYours for who does not lead the
    project, Refused for one of another kind, RecordsRefused with everything that is wrong, among it what contradicts
    an outcome that is there."""
    if person is not None and not lead_queries.led_projects(person).filter(pk=project.pk).exists():
        raise NotYours
    if project.kind != KIND:
        raise Refused(OTHER_KIND)
    try:
        read = read_outcomes(documents)
    except RecordsRefused as error:
        raise RecordsRefused(first_problems(error.problems, len(error.problems))) from None
    return store(person, project, read, file_name[-LONGEST_NAME:])


def store(person: Person | None, project: Project, read: OutcomeFile, file_name: str) -> BroughtIn:
    with transaction.atomic():
        project = people.lock_people(project) if person is None else people.lock_led(project, person)
        new, problems = against(experience_queries.known_outcomes(project), read.outcomes)
        if problems:
            raise RecordsRefused(first_problems(problems, len(problems)))
        brought = BroughtIn(len(new), len(read.outcomes) - len(new))
        if not new:
            return brought
        batch = OutcomeBatch.objects.create(
            project=project,
            file_name=file_name,
            about=read.about,
            is_synthetic=read.is_synthetic,
            n_outcomes=len(new),
            person=person,
        )
        Outcome.objects.bulk_create(
            [
                Outcome(
                    project=project,
                    batch=batch,
                    domain=one.domain,
                    task=one.task,
                    repeat=one.repeat,
                    condition=one.condition,
                    success=one.success,
                    tokens=one.tokens,
                )
                for one in new
            ],
            batch_size=500,
        )
        detail = {"file": file_name, "n_new": brought.n_new, "n_present": brought.n_present}
        Event.objects.create(project=project, person=person, action="outcomes_imported", detail=detail)
    return brought


def workflow_run(project: Project, number: int) -> Run:
    """Refused where the project has no run of this number that writes workflows."""
    run = experience_queries.workflow_run(project, number)
    if run is None:
        raise Refused(NO_SUCH_RUN)
    return run


def workflow_lines(run: Run) -> Iterator[str]:
    """The workflows of a run, one JSON object a line, with their ends."""
    for one in experience_queries.workflows_of(run):
        said = {name: value for name, value in one.items() if name != "id"}
        yield json.dumps(said, ensure_ascii=False) + "\n"


OTHER_KIND = Problem(
    code="other_kind",
    field="project",
    expected=gettext_noop("A project of redundant steps: outcomes belong to its report."),
    remedy=gettext_noop("Choose one of that kind."),
)
NO_SUCH_RUN = Problem(
    code="unknown_run",
    field="run",
    expected=gettext_noop("The number of a run of the judge workflow."),
    remedy=gettext_noop("Start one first, or look at the list of runs."),
)
