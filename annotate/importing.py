"""A trace file becomes traces and items, all of it or nothing; or the full list of what is wrong with it.

Rows are staged in short transactions, unseen, and become visible by one flip. What a killed import leaves behind stays
unseen and is removed by the next import of the project. An uploaded file is imported by a job (`work.py`).
"""

import contextlib
import errno
import hashlib
import io
import logging
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from annotate import assigning, lead_queries, uploading, work
from annotate.errors import JobFailed, Refused
from annotate.models import Event, File, ImportBatch, Item, Message, Person, Phase, Project, Trace
from annotate.staging import NewItem, Overtaken, Staging, chunks, file_rows, other_content, published_row
from annotate.traces import base, kept
from annotate.traces.base import Problem, gettext_noop
from annotate.traces.identity import content_hash
from annotate.traces.labels import LabelFile
from annotate.traces.packed import UnpackCaps
from annotate.traces.reading import Reading, read_label_file
from annotate.traces.strict_json import Caps
from annotate.traces.tally import Tally

log = logging.getLogger(__name__)

FORMAT = "published"
"""Of traces that were copied from another project."""
REMOVED_AT_ONCE = 200
LEFT_TO_OTHERS, LONGEST_STAND_BACK = 3, 1.0


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
    n_labelled: Mapping[str | int, int]
    """How many traces got labels, by the id under which these lie in a file of their own."""
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


def labels_in(path: Path) -> LabelFile:
    """The labels of a file that holds some beside the runs; Refused where it holds none, or something is wrong with
    it."""
    with path.open("rb") as file:
        found = read_label_file(file, str(path), import_caps())
    if found is None:
        raise Refused(no_labels(str(path)))
    for problem in found.problems:
        if not problem.warning:
            raise Refused(problem)
    return found


def no_labels(file_name: str) -> Problem:
    return base.Place(file_name).problem(
        "no_labels",
        expected=gettext_noop("Labels of runs: objects with trajectory_id, and failures that name a step_number."),
        remedy=gettext_noop("Name the file that holds the labels; the runs are the other files."),
    )


def nothing(value: object) -> None:
    """Where nobody wants to hear."""


def import_caps() -> Caps:
    return Caps(
        line_bytes=settings.IMPORT_MAX_LINE_BYTES,
        string_characters=settings.IMPORT_MAX_STRING_CHARACTERS,
        nesting=settings.IMPORT_MAX_NESTING,
    )


def unpack_caps() -> UnpackCaps:
    return UnpackCaps(
        bytes=settings.IMPORT_MAX_UNPACKED_BYTES,
        files=settings.IMPORT_MAX_PACKED_FILES,
        ratio=settings.IMPORT_MAX_RATIO,
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
    labels: LabelFile | None = None,
    by: Person | None = None,
    progress: Callable[[int], object] | None = None,
) -> ImportReport:
    """Bring the file at `path` into a project under the name people know it by. `progress` hears the bytes read so far.

    With `skip_bad` records that are refused are left out and listed in the batch; else one of them refuses the file.
    `labels` are of a file beside it."""
    end_leftovers(project)
    batch = ImportBatch.objects.create(
        project=project,
        file_name=file_name[-255:],
        phase=phase,
        skip_bad=skip_bad,
        replace_nul=replace_nul,
        person=by,
    )
    report = read_in(batch, path, format=format, labels=labels, progress=progress or nothing)
    if not report.is_refused:
        plan(project)
    return report


def read_in(
    batch: ImportBatch,
    path: Path,
    *,
    format: str,
    labels: LabelFile | None = None,
    progress: Callable[[int], object] = nothing,
    heard: Callable[[int], object] = nothing,
    stand_back: Callable[[float], object] = nothing,
) -> ImportReport:
    """Read the file of a batch, and show all of it or nothing. `progress` hears the bytes read so far behind each
    write, `heard` at each look into the file, and `stand_back` how long a write took."""
    with path.open("rb") as file:
        ImportBatch.objects.filter(pk=batch.pk).update(sha256=hashlib.file_digest(file, "sha256").hexdigest())
    raw = HeardFile(path, heard)
    with io.BufferedReader(raw) as file:
        name = batch.file_name
        batch.project = project_now(batch.project)
        reading = Reading(
            file,
            file_name=name,
            format=format,
            caps=import_caps(),
            unpack_caps=unpack_caps(),
            replace_nul=batch.replace_nul,
            labels=labels,
        )
        if reading.is_packed:  # an archive is read from its end, and its files from temporary ones
            raw.place = lambda: reading.n_read
        staging = Staging(batch, batch.phase)
        if staging.kind.ask is not None:
            staging.tally.add_problem(published_only(name))
            return finish(staging, reading)
        try:
            for traces in chunks(staging.tally.traces_in(reading)):
                began = time.monotonic()
                staging.stage(traces)
                stand_back(time.monotonic() - began)
                progress(reading.n_read)
            return finish(staging, reading)
        except Overtaken:
            staging.tally.add_problem(interrupted(name))
            return finish(staging, reading)


@dataclass(frozen=True, slots=True)
class Added:
    """What publishing added to a project; `n_present` items were there already."""

    n_traces: int
    n_items: int
    n_present: int


def add_items(
    *,
    project: Project,
    source: str,
    traces: Sequence[tuple[base.Trace, Sequence[NewItem]]],
    by: Person | None,
    now: datetime,
) -> Added:
    """Bring copies of traces with their items into a project, all of them or none, and plan what is for people; what is
    there already stays as it is. `source` says where they come from, as the list of imports shows it.

    Refused where a trace is there with another content. The caller has seen to it that `by` may do so."""
    with transaction.atomic():
        project = project_now(project)
        batch = ImportBatch.objects.create(
            project=project, file_name=source[-255:], person=by, state=ImportBatch.State.VISIBLE, finished_at=Now()
        )
        staging = Staging(batch, Phase.MAIN)
        rows = trace_rows(staging, [trace for trace, _ in traces])
        n_traces = sum(row.batch_id == batch.pk for row in rows.values())
        there = items_there(rows.values())
        new = {
            (rows[trace.source_id].pk, item.same_as()): published_row(project, rows[trace.source_id], item)
            for trace, items in traces
            for item in items
            if (rows[trace.source_id].pk, item.same_as()) not in there
        }
        Item.objects.bulk_create(new.values())
        added = Added(n_traces, len(new), sum(len(items) for _, items in traces) - len(new))
        if not (new or n_traces):
            batch.delete()
            return added
        counts = {"traces": len(traces), "new": n_traces, "items": added.n_items, "present": added.n_present}
        ImportBatch.objects.filter(pk=batch.pk).update(format=FORMAT, counts=counts)
        Event.objects.create(
            project=project, person=by, action="items_published", detail={"batch": batch.pk, "source": source, **counts}
        )
        assigning.extend_panel(project=project, now=now)
    return added


def trace_rows(staging: Staging, traces: Sequence[base.Trace]) -> dict[str, Trace]:
    """The rows of these traces by their source ids, those that were not there made; Refused where one is another."""
    ids = [trace.source_id for trace in traces]
    found = Trace.objects.filter(project=staging.project, format=FORMAT, source_id__in=ids, is_staged=False)
    rows = {row.source_id: row for row in found}
    for trace in traces:
        hashed = content_hash(trace)
        if trace.source_id in rows:
            if rows[trace.source_id].content_hash != hashed:
                raise Refused(other_content(trace, rows[trace.source_id].content_hash, hashed))
            continue
        row = staging.trace_row(trace, hashed)
        row.is_staged = False
        row.save(force_insert=True)
        Message.objects.bulk_create([staging.message_row(row, message) for message in trace.messages])
        File.objects.bulk_create(file_rows(row, trace))
        rows[trace.source_id] = row
    return rows


def items_there(rows: Collection[Trace]) -> set[tuple[int, tuple[object, ...]]]:
    """The items of these traces, as what they are."""
    found = Item.objects.filter(trace__in=[row.pk for row in rows])
    return {
        (item.trace_id, NewItem(item.anchor or 0, item.text, item.asked, item.point, item.arm).same_as())
        for item in found.only("trace_id", "anchor", "text", "asked", "point", "arm")
        if item.trace_id is not None
    }


def project_now(project: Project) -> Project:
    """The project as it is by now; whoever is changing it is waited for. Read behind the row that speaks of traces to
    come, as how they are read is not changed from then on, and again behind their flip, as who labels may be."""
    with transaction.atomic():
        return Project.objects.select_for_update(no_key=True).get(pk=project.pk)


class HeardFile(io.FileIO):
    """Says at each look into a file how far it is read: also while nothing comes of it, in blank lines and wrong
    records by the million."""

    def __init__(self, path: Path, heard: Callable[[int], object]) -> None:
        super().__init__(path)
        self.heard, self.place = heard, self.tell

    def readinto(self, buffer: Any) -> int:
        n_bytes = super().readinto(buffer)
        self.heard(self.place())
        return n_bytes


def plan(project: Project, stand_back: Callable[[float], object] = nothing) -> None:
    """Give annotators what came in. Also where nothing is new: an import that was cut off behind its flip left items
    that nobody has in a plan. A long import ends later than its caller looked at the clock."""
    assigning.extend_panel(project=project_now(project), now=timezone.now(), stand_back=stand_back)


@work.handles(uploading.KIND)
def import_upload(job: work.Job) -> dict[str, Any]:
    """Import an uploaded file. A try that was cut off before its flip leaves no record; one that was cut off behind it
    is only planned. It ends some time, whatever stands in the file, so the lease is kept all the way."""
    with job.kept(), given_up_when_full(job):
        with transaction.atomic():  # who slept through a lease must not end the import of who took over
            job.extend()
            refuse_unfinished(job.row.project)
        batch = lead_queries.batch_of_job(job.row)  # looked at when no earlier try can show anything any more
        if batch is None or batch.state != ImportBatch.State.VISIBLE:
            batch = begin_again(job, batch)
            path, format = uploading.path_of(job.row), job.row.payload["format"]
            report = read_in(batch, path, format=format, heard=job.progress, stand_back=stand_back)
            if report.is_refused:
                return {"batch": batch.pk, "state": "refused"}
        job.progress(job.row.n_total or 0, at_once=True)
        plan(job.row.project, stand_back)
    return {"batch": batch.pk, "state": "imported"}


def begin_again(job: work.Job, cut_off: ImportBatch | None) -> ImportBatch:
    """The batch of this try, noted with the job, when all of earlier ones is removed."""
    row, given = job.row, job.row.payload
    remove_staged(leftovers(row.project), heard=lambda: job.progress(0))
    if not uploading.path_of(row).is_file():
        raise JobFailed(FILE_IS_GONE)
    if cut_off is not None:  # nobody asked for what became of it
        ImportBatch.objects.filter(pk=cut_off.pk, state=ImportBatch.State.REFUSED, traces=None).delete()
    with transaction.atomic():
        batch = ImportBatch.objects.create(
            project=row.project,
            file_name=given["file_name"],
            phase=given["phase"],
            skip_bad=given["skip_bad"],
            replace_nul=given["replace_nul"],
            person=row.person,
        )
        job.note({"batch": batch.pk})
    return batch


def stand_back(seconds: float) -> None:
    """SQLite has one writer, and no queue for the next: a job that writes all the time would keep people who submit
    waiting for long. So it leaves the others three times as long as it took."""
    if connection.vendor == "sqlite":
        time.sleep(min(LEFT_TO_OTHERS * seconds, LONGEST_STAND_BACK))


@contextlib.contextmanager
def given_up_when_full(job: work.Job) -> Iterator[None]:
    """On a full disk nobody can submit either, and another try would fill it again: so the file goes first, which makes
    room to remove what was read of it, and the job is given up."""
    try:
        yield
    except (DatabaseError, OSError) as error:
        if not is_full(error):
            raise
        log.error("Work %s met a full disk; its file is removed.", job.row.pk)
        uploading.path_of(job.row).unlink(missing_ok=True)
        with contextlib.suppress(DatabaseError):  # full all the same; the next import of the project removes the rest
            with transaction.atomic():
                job.extend()
                refuse_unfinished(job.row.project)
            remove_staged(leftovers(job.row.project), heard=lambda: job.progress(0))
        raise JobFailed(DISK_IS_FULL) from error


def is_full(error: Exception) -> bool:
    """As SQLite, PostgreSQL and the system say it."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return "database or disk is full" in str(error) or getattr(error.__cause__, "sqlstate", "") == "53100"


DISK_IS_FULL = gettext_noop(
    "The server's disk is full. The uploaded file was removed to make room; have whoever runs the server make more, "
    "then upload it again."
)
FILE_IS_GONE = gettext_noop("The uploaded file is not there any more. Upload it again.")


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
        n_labelled=reading.n_labelled,
        tally=staging.tally,
    )


def finish(staging: Staging, reading: Reading) -> ImportReport:
    """Every row of the file becomes visible and the batch says so, or all rows go."""
    report, batch = report_of(staging, reading), staging.batch
    detail = {
        "format": report.format,
        "counts": report.counts(),
        "problems": [kept.to_row(problem) for problem in report.tally.problems],
        "warnings": [kept.to_row(warning) for warning in report.tally.warnings],
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
    refuse_unfinished(project)
    remove_staged(leftovers(project))


def refuse_unfinished(project: Project) -> None:
    """Take every import of the project that is under way for a killed one: it writes nothing any more."""
    unfinished = ImportBatch.objects.filter(project=project, state=ImportBatch.State.STAGED)
    problems = [kept.to_row(interrupted(""))]
    unfinished.update(state=ImportBatch.State.REFUSED, problems=problems, finished_at=Now())


def leftovers(project: Project) -> QuerySet[Trace]:
    """Unseen rows of imports that ended; those of one that began meanwhile are its own."""
    return Trace.objects.filter(project=project, batch__state=ImportBatch.State.REFUSED)


def remove_staged(traces: QuerySet[Trace], heard: Callable[[], object] = lambda: None) -> None:
    """In short transactions: nobody sees these rows, so nobody sees some of them gone before others."""
    staged = traces.filter(is_staged=True).order_by("pk").values_list("pk", flat=True)
    while some := list(staged[:REMOVED_AT_ONCE]):
        Trace.objects.filter(pk__in=some, is_staged=True).delete()
        heard()


def published_only(file_name: str) -> Problem:
    return base.Place(file_name).problem(
        "published_only",
        expected=gettext_noop(
            "Items that are published from another project; no file of traces makes any of this kind."
        ),
        remedy=gettext_noop("Import the traces into a project of replies, and publish what its judges find there."),
    )


def interrupted(file_name: str) -> Problem:
    return base.Place(file_name).problem(
        "import_interrupted",
        expected=gettext_noop("One import of a project at a time; this one was ended, or another one began meanwhile."),
        remedy=gettext_noop("Import the file again."),
    )
