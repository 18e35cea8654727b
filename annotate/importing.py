"""A trace file becomes traces and items, all of it or nothing; or the full list of what is wrong with it.

Rows are staged in short transactions, unseen, and become visible by one flip. What a killed import leaves behind stays
unseen and is removed by the next import of the project.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from annotate import assigning
from annotate.models import Event, ImportBatch, Person, Phase, Project, Trace
from annotate.staging import Overtaken, Staging, chunks
from annotate.traces import base
from annotate.traces.base import Problem, gettext_noop
from annotate.traces.reading import Reading
from annotate.traces.strict_json import Caps
from annotate.traces.tally import Tally

REMOVED_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of one file. `n_present` traces were there already, with equal content."""

    batch: int
    file: str
    format: str
    is_refused: bool
    n_new: int
    n_present: int
    n_items: int
    n_replaced_nul: int
    tally: Tally

    def counts(self) -> dict[str, Any]:
        return {
            "traces": self.tally.traces,
            "new": self.n_new,
            "present": self.n_present,
            "items": self.n_items,
            "messages": self.tally.messages,
            "calls": self.tally.calls,
            "paired": self.tally.paired,
            "unpaired": self.tally.unpaired,
            "skipped": dict(self.tally.skipped),
            "replaced_nul": self.n_replaced_nul,
            "n_problems": self.tally.n_problems,
            "n_unlisted": self.tally.n_unlisted,
        }


def import_caps() -> Caps:
    return Caps(
        line_bytes=settings.IMPORT_MAX_LINE_BYTES,
        string_characters=settings.IMPORT_MAX_STRING_CHARACTERS,
        nesting=settings.IMPORT_MAX_NESTING,
    )


def import_traces(
    *,
    project: Project,
    path: Path,
    file_name: str,
    phase: str = Phase.MAIN,
    format: str = "auto",
    skip_bad: bool = False,
    replace_nul: bool = False,
    by: Person | None = None,
    progress: Callable[[int], object] | None = None,
) -> ImportReport:
    """Bring the file at `path` into a project under the name people know it by. `progress` hears the bytes read so far.

    With `skip_bad` records that are refused are left out and listed in the batch; else one of them refuses the file."""
    end_leftovers(project)
    with path.open("rb") as file:
        batch = ImportBatch.objects.create(
            project=project,
            file_name=file_name[-255:],
            sha256=hashlib.file_digest(file, "sha256").hexdigest(),
            skip_bad=skip_bad,
            replace_nul=replace_nul,
            person=by,
        )
        file.seek(0)
        reading = Reading(file, file_name=file_name, format=format, caps=import_caps(), replace_nul=replace_nul)
        staging = Staging(batch, phase)
        try:
            for traces in chunks(staging.tally.traces_in(reading)):
                staging.stage(traces)
                if progress:
                    progress(file.tell())
            report = finish(staging, reading)
        except Overtaken:
            staging.tally.add_problem(interrupted(file_name))
            report = finish(staging, reading)
    if not report.is_refused:
        # Also when nothing is new: an import that was cut off behind its flip left items that nobody has in a plan.
        # A long import ends later than its caller looked at the clock.
        assigning.extend_panel(project=project, now=timezone.now())
    return report


def report_of(staging: Staging, reading: Reading) -> ImportReport:
    is_refused = staging.is_refused
    return ImportReport(
        batch=staging.batch.pk,
        file=reading.file_name,
        format=reading.format,
        is_refused=is_refused,
        n_new=0 if is_refused else staging.n_new,
        n_present=staging.n_present,
        n_items=0 if is_refused else staging.n_items,
        n_replaced_nul=reading.n_replaced_nul,
        tally=staging.tally,
    )


def finish(staging: Staging, reading: Reading) -> ImportReport:
    """Every row of the file becomes visible and the batch says so, or all rows go."""
    report, batch = report_of(staging, reading), staging.batch
    detail = {
        "format": report.format,
        "counts": report.counts(),
        "problems": [problem.as_dict() for problem in report.tally.problems],
        "finished_at": Now(),
    }
    if report.is_refused:
        ImportBatch.objects.filter(pk=batch.pk).update(state=ImportBatch.State.REFUSED, **detail)
        remove_staged(Trace.objects.filter(batch=batch))
        return report
    try:
        flip(batch, report, detail)
    except IntegrityError as error:  # another import showed a trace of the same id meanwhile
        raise Overtaken from error
    return report


def flip(batch: ImportBatch, report: ImportReport, detail: dict[str, Any]) -> None:
    with transaction.atomic():
        mine = ImportBatch.objects.filter(pk=batch.pk, state=ImportBatch.State.STAGED)
        if not mine.update(state=ImportBatch.State.VISIBLE, **detail):
            raise Overtaken
        Trace.objects.filter(batch=batch, is_staged=True).update(is_staged=False)
        Event.objects.create(
            project=batch.project,
            person=batch.person,
            action="traces_imported",
            detail={"batch": batch.pk, "file": batch.file_name, **report.counts()},
        )


def end_leftovers(project: Project) -> None:
    """Remove what killed imports of the project left behind."""
    unfinished = ImportBatch.objects.filter(project=project, state=ImportBatch.State.STAGED)
    unfinished.update(state=ImportBatch.State.REFUSED, problems=[interrupted("").as_dict()], finished_at=Now())
    remove_staged(Trace.objects.filter(project=project))


def remove_staged(traces) -> None:
    """In short transactions: nobody sees these rows, so nobody sees some of them gone before others."""
    staged = traces.filter(is_staged=True).order_by("pk").values_list("pk", flat=True)
    while some := list(staged[:REMOVED_AT_ONCE]):
        Trace.objects.filter(pk__in=some, is_staged=True).delete()


def interrupted(file_name: str) -> Problem:
    return base.Place(file_name).problem(
        "import_interrupted",
        expected=gettext_noop("One import of a project at a time; this one was ended, or another one began meanwhile."),
        remedy=gettext_noop("Import the file again."),
    )
