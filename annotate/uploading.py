"""A lead's trace file is received into the data folder, and a job to import it is written.

The file goes straight to its place while it is read, under a name of our own and never as a whole in memory. It belongs
to the job of that name, and is removed when that job is done, or nobody's.
"""

import contextlib
import errno
import os
import re
import secrets
import shutil
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.db import connection, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat

from annotate import lead_queries, work
from annotate.errors import NotYours, Refused
from annotate.models import Event, Person, Phase, Project, Work
from annotate.traces.base import Problem, gettext_noop
from annotate.traces.sniff import readers, unknown_format_name

KIND = lead_queries.IMPORTS
CHUNK_BYTES = 64 * 1024
OUR_NAME = re.compile(r"[0-9a-f]{32}")
KEPT_WHEN_DEAD = timedelta(days=7)
"""So long a job that was given up can be tried again without another upload."""
RESERVE_BYTES = 200 * 1024**2
"""So much room an upload leaves on the disk, whatever else it needs: people who submit write there too."""
LOOK_BYTES = 4 * 1024**2
"""So often at least the room is looked at while a file is received."""
NOBODYS_SECONDS = 24 * 3600
"""A file without a job is still being received, or was left behind; a day after its last byte it is the latter."""


# Receiving


class Incoming(UploadedFile):
    """A file on its way into the folder of uploads. It is gone when it is closed, unless it was kept."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(None, "upload", *args, **kwargs)
        settings.UPLOADS_FOLDER.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path = settings.UPLOADS_FOLDER / secrets.token_hex(16)
        self.file = os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b")
        self.size = self.looked_at = 0
        self.disk_error: OSError | None = None
        # Also where whoever sent it went away in the middle, and nobody closes it.
        self.removal = weakref.finalize(self, remove, self.file, self.path)

    @property
    def is_too_large(self) -> bool:
        return self.size > settings.UPLOAD_MAX_BYTES

    def add(self, data: bytes) -> None:
        """Past the cap, and where the disk has no room, only the bytes are counted, so that the sender can be told
        why."""
        self.size += len(data)
        if self.is_too_large or self.disk_error:
            self.file.truncate(0)
            return
        try:
            self.file.write(data)
        except OSError as error:
            self.disk_error = error
        if self.size - self.looked_at >= LOOK_BYTES:
            self.look_for_room()

    def look_for_room(self) -> None:
        """What is left has to hold what importing the file writes into the database, and a reserve."""
        self.looked_at = self.size
        try:
            self.file.flush()
            needed = RESERVE_BYTES + (self.size if is_beside_database(self.path) else 0)
            if shutil.disk_usage(self.path.parent).free < needed:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self.disk_error = error

    def keep(self) -> None:
        self.removal.detach()

    def sync(self) -> None:
        """The bytes and the name are on the disk before any row speaks of them."""
        try:
            self.file.flush()
            os.fsync(self.file.fileno())
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            self.disk_error = error

    def close(self) -> None:
        self.removal()
        super().close()


def is_beside_database(path: Path) -> bool:
    """Whether the database is a file on the same disk, and grows there by what is imported."""
    if connection.vendor != "sqlite":
        return False
    database = Path(connection.settings_dict["NAME"])
    return not database.exists() or database.stat().st_dev == path.stat().st_dev


def remove(file: IO[bytes], path: Path) -> None:
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # what could not be written before cannot be now either
        file.close()


class ToFolder(FileUploadHandler):
    """How files of a request are received: by nobody but views that say so, and as Incoming."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        if not may_bring_files(self.request):
            raise StopUpload(connection_reset=True)
        super().new_file(*args, **kwargs)
        self.file = Incoming(self.content_type)
        self.request.incoming = [*getattr(self.request, "incoming", []), self.file]

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.file.add(raw_data)

    def file_complete(self, file_size: int) -> Incoming:
        self.file.name = self.file_name
        return self.file

    def upload_interrupted(self) -> None:
        if hasattr(self, "file"):
            self.file.close()


def closed_in_the_end(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """A middleware: what a request brought and nobody kept is gone with its answer, also where it broke off in the
    middle and something still holds on to it."""

    def middleware(request: HttpRequest) -> Any:
        try:
            return get_response(request)
        finally:
            for file in getattr(request, "incoming", ()):
                file.close()

    return middleware


def brings_files(allowed: Callable[..., bool]) -> Callable[[Callable], Callable]:
    """Mark a view that takes files, from requests that `allowed(request, **arguments of the address)` lets through. It
    is asked before the first byte of a file is stored, which is before the view and before any middleware of views."""

    def mark(view: Callable) -> Callable:
        view.may_bring_files = allowed
        return view

    return mark


def may_bring_files(request: HttpRequest | None) -> bool:
    """REST framework reads a request only when it knows who sends it, so its views may take files."""
    match = getattr(request, "resolver_match", None)
    if match is None:
        return False
    allowed = getattr(match.func, "may_bring_files", None)
    return allowed(request, **match.kwargs) if allowed else hasattr(match.func, "cls")


def leads_project(request: HttpRequest, project: str) -> bool:
    """For `brings_files`: whether the signed-in person leads the project of this name."""
    return request.user.is_authenticated and lead_queries.led_projects(request.user).filter(slug=project).exists()


def received(file: Any) -> Incoming:
    """The file in the folder of uploads; one that came in another way is copied there."""
    if isinstance(file, Incoming):
        return file
    incoming = Incoming()
    try:
        for chunk in chunks_of(file):
            incoming.add(chunk)
    except BaseException:
        incoming.close()
        raise
    return incoming


def chunks_of(file: Any) -> Iterable[bytes]:
    return file.chunks(CHUNK_BYTES) if hasattr(file, "chunks") else iter(lambda: file.read(CHUNK_BYTES), b"")


def receive_upload(
    *,
    project: Project,
    by: Person,
    file: Any,
    file_name: str,
    phase: str = Phase.MAIN,
    format: str = "auto",
    skip_bad: bool = False,
    replace_nul: bool = False,
    n_bytes: int | None = None,
) -> Work:
    """Keep the file and write the job that imports it, as `importing.import_traces` does with the same choices. Refused
    where it cannot be kept, has not the number of bytes its sender said it has, or a choice is none."""
    if not lead_queries.led_projects(by).filter(pk=project.pk).exists():
        raise NotYours
    refuse_choices(phase, format)
    if file is None:
        raise Refused(NO_FILE)
    incoming = received(file)
    try:
        refuse_file(incoming, n_bytes)
        name = printable(file_name)
        payload = {
            **{"path": incoming.path.name, "file_name": name, "phase": phase, "format": format},
            **{"skip_bad": skip_bad, "replace_nul": replace_nul},
        }
        with transaction.atomic():
            job = work.add_work(
                kind=KIND,
                key=key_of(incoming.path.name),
                payload=payload,
                lane=lane_of(project),
                project=project,
                person=by,
                n_total=incoming.size,
            )
            detail = {"work": job.pk, "file": name, "bytes": incoming.size}
            Event.objects.create(project=project, person=by, action="upload_received", detail=detail)
            incoming.keep()  # from here on it is the job's, or nobody's for a day
    finally:
        incoming.close()
    return job


def lane_of(project: Project) -> str:
    """Imports of one project run one after the other."""
    return f"import of project {project.pk}"


def printable(name: str) -> str:
    """The name people know the file by, fit to be stored and shown."""
    return "".join(letter for letter in name if letter.isprintable())[-255:] or "upload"


def try_again(*, lead: Person, project: Project, work_id: int) -> Work:
    """Let an import that was given up be tried again, from the file it was given up with."""
    if not lead_queries.led_projects(lead).filter(pk=project.pk).exists():
        raise NotYours
    row = Work.objects.filter(pk=work_id, project=project, kind=KIND).first()
    if row is None:
        raise NotYours
    if row.state == Work.State.DEAD and not path_of(row).is_file():
        raise Refused(FILE_IS_GONE)
    with transaction.atomic():
        if work.revive(row):
            Event.objects.create(project=project, person=lead, action="import_tried_again", detail={"work": row.pk})
    return row


# What is refused


NO_FILE = Problem(
    code="missing_field",
    field="file",
    expected=gettext_noop("A file."),
    remedy=gettext_noop("Choose one."),
)
FILE_IS_GONE = Problem(
    code="no_file",
    field="file",
    expected=gettext_noop("The uploaded file, which is kept for a week; it is not there any more."),
    remedy=gettext_noop("Upload it again."),
)


def refuse_choices(phase: str, format: str) -> None:
    if phase not in Phase.values:
        raise Refused(
            Problem(
                code="unknown_phase",
                field="phase",
                expected=gettext_noop("One of: %(allowed)s."),
                remedy=gettext_noop("Choose one of these; case counts."),
                params={"allowed": ", ".join(Phase.values)},
            )
        )
    if format != "auto" and format not in readers():
        raise Refused(unknown_format_name(format, ""))


def refuse_file(file: Incoming, n_bytes: int | None) -> None:
    if file.is_too_large:
        raise Refused(
            Problem(
                code="too_large",
                field="file",
                expected=gettext_noop(
                    "A file of at most %(size)s (SIGHTLINE_UPLOAD_MAX_BYTES is %(limit)s); this one has more."
                ),
                remedy=gettext_noop("Split it, or have whoever runs the server raise that setting."),
                params={"limit": settings.UPLOAD_MAX_BYTES, "size": filesizeformat(settings.UPLOAD_MAX_BYTES)},
            )
        )
    if n_bytes is not None and file.size != n_bytes:
        raise Refused(
            Problem(
                code="cut_off",
                field="file",
                expected=gettext_noop("A file of %(said)s bytes, as was said; %(received)s came."),
                remedy=gettext_noop("Send it again."),
                params={"said": n_bytes, "received": file.size},
            )
        )
    if not file.size:
        raise Refused(
            Problem(
                code="empty_file",
                field="file",
                expected=gettext_noop("A file with at least one trace; this one is empty."),
                remedy=gettext_noop("Check that it was written whole, then upload it again."),
            )
        )
    file.sync()
    file.look_for_room()
    if file.disk_error:
        raise Refused(
            Problem(
                code="no_space",
                field="file",
                expected=gettext_noop("Room for the file on the server; it could not be stored."),
                remedy=gettext_noop("Have whoever runs the server make room, then upload it again."),
            )
        )


# The folder


def key_of(name: str) -> str:
    """The key of the job that a stored file belongs to."""
    return f"upload {name}"


def path_of(row: Work) -> Path:
    """Where the file of a job lies."""
    return settings.UPLOADS_FOLDER / Path(row.payload["path"]).name


@work.tidies
def remove_leftovers() -> int:
    """Remove files of jobs that are done or were given up long ago, and files that became nobody's; how many."""
    files = {key_of(path.name): path for path in stored_files()}
    rows = Work.objects.filter(key__in=files)
    has_owner = set(rows.values_list("key", flat=True))
    is_needed = Q(state__in=[Work.State.WAITING, Work.State.RUNNING])
    is_needed |= Q(state=Work.State.DEAD, ended_at__gt=Now() - KEPT_WHEN_DEAD)
    needed = set(rows.filter(is_needed).values_list("key", flat=True))
    gone = [path for key, path in files.items() if (key not in needed if key in has_owner else is_nobodys(path))]
    for path in gone:
        path.unlink(missing_ok=True)
    return len(gone)


def stored_files() -> Iterator[Path]:
    """Files of ours; whatever else somebody put there is theirs."""
    if settings.UPLOADS_FOLDER.is_dir():
        found = settings.UPLOADS_FOLDER.iterdir()
        yield from (path for path in found if OUR_NAME.fullmatch(path.name) and path.is_file())


def is_nobodys(path: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return time.time() - path.stat().st_mtime > NOBODYS_SECONDS
    return False
