"""Receiving a file: straight to the disk, within its cap, kept only with a job, and gone when nobody needs it."""

import gc
import io
import os
import re
import stat
import time
import tracemalloc
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.db.models.functions import Now
from django.test import Client, RequestFactory
from django.urls import resolve, reverse

from annotate import uploading, waking, work
from annotate.errors import NotYours, Refused
from annotate.models import Event, Role, Work
from annotate.uploading import receive_upload, remove_leftovers, try_again
from tests.factories import make_cast, make_member, make_work

pytestmark = pytest.mark.django_db
MIB = 1024 * 1024


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "UPLOADS_FOLDER", tmp_path / "data" / "uploads")
    monkeypatch.setattr(waking, "wake", lambda: None)
    return settings.UPLOADS_FOLDER


@pytest.fixture
def cast():
    return make_cast()


def stored(folder):
    return sorted(folder.iterdir()) if folder.is_dir() else []


def upload(cast, content=b"{}\n", name="runs.jsonl", by=None, file=None, **options):
    file = file or SimpleUploadedFile("its-own-name", content)
    return receive_upload(project=cast.project, by=by or cast.lea.person, file=file, file_name=name, **options)


def code_of(act, *words, **options):
    with pytest.raises(Refused) as refused:
        act(*words, **options)
    return refused.value.problem.code


def post(client, cast, content=b"{}\n", name="runs.jsonl", who=None, **fields):
    """A browser's post of the form, as multipart."""
    client.force_login((who or cast.lea).person)
    file = SimpleUploadedFile(name, content)
    return client.post(reverse("annotate:upload_traces", args=[cast.project.slug]), {**FORM, **fields, "file": file})


FORM = {"phase": "main", "format": "auto"}


# What is kept


def test_a_file_is_kept_under_a_name_of_our_own_for_this_account_alone(cast, folder):
    row = upload(cast, b"a\r\nb", name="gpt-4o night.jsonl", phase="pilot", format="sightline", skip_bad=True)
    (path,) = stored(folder)
    assert path.read_bytes() == b"a\r\nb"
    assert stat.filemode(path.stat().st_mode) == "-rw-------"
    assert stat.filemode(folder.stat().st_mode) == "drwx------"
    assert path == uploading.path_of(row)
    assert len(path.name) == 32
    assert row.payload == {
        **{"path": path.name, "file_name": "gpt-4o night.jsonl", "phase": "pilot", "format": "sightline"},
        **{"skip_bad": True, "replace_nul": False},
    }
    assert (row.state, row.project, row.person, row.n_total) == ("waiting", cast.project, cast.lea.person, 4)
    (event,) = Event.objects.filter(action="upload_received")
    assert (event.person, event.detail) == (
        cast.lea.person,
        {"work": row.pk, "file": "gpt-4o night.jsonl", "bytes": 4},
    )


def test_a_file_is_on_the_disk_before_its_job_is_written(cast, folder, monkeypatch):
    synced, fsync = [], os.fsync

    def note(fd):
        synced.append((stat.S_ISDIR(os.fstat(fd).st_mode), Work.objects.count(), os.fstat(fd).st_size))
        fsync(fd)

    monkeypatch.setattr(os, "fsync", note)
    upload(cast, b"abc")
    assert [(is_folder, n_jobs) for is_folder, n_jobs, _ in synced] == [(False, 0), (True, 0)]
    assert synced[0][2] == 3


def test_a_file_whose_job_cannot_be_written_is_not_kept(cast, folder, monkeypatch):
    def broken(**values):
        raise ZeroDivisionError

    monkeypatch.setattr(Event.objects, "create", broken)
    with pytest.raises(ZeroDivisionError):
        upload(cast)
    assert (stored(folder), Work.objects.count()) == ([], 0)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("../../etc/passwd", "../../etc/passwd"),
        ("a\0b\n\u202e.jsonl", "ab.jsonl"),
        ("运行.jsonl", "运行.jsonl"),
        ("", "upload"),
        ("x" * 300 + ".jsonl", "x" * 249 + ".jsonl"),
        ("a." + "x" * 300, "x" * 255),
    ],
)
def test_a_name_is_only_shown_and_fit_for_that(cast, folder, name, kept):
    row = upload(cast, name=name)
    assert row.payload["file_name"] == kept
    assert uploading.path_of(row).parent == folder


@pytest.mark.parametrize("file", [io.BytesIO(b"{}\n"), SimpleUploadedFile("a", b"{}\n")], ids=["stream", "file"])
def test_a_file_that_came_in_another_way_is_kept_too(cast, folder, file):
    assert uploading.path_of(upload(cast, file=file)).read_bytes() == b"{}\n"


def test_a_posted_file_is_kept_where_it_was_received(client, cast, folder):
    assert post(client, cast, b"abc").status_code == 302
    (path,) = stored(folder)
    assert path.read_bytes() == b"abc"
    assert path == uploading.path_of(Work.objects.get())


@pytest.mark.django_db(transaction=True)
def test_a_file_whose_job_is_written_stays_whatever_ends_the_process_then(cast, folder, monkeypatch):
    def ended():
        raise SystemExit(1)

    monkeypatch.setattr(waking, "wake", ended)
    with pytest.raises(SystemExit):
        upload(cast)
    assert uploading.path_of(Work.objects.get()).is_file()


# What is refused


def test_a_missing_or_empty_file_and_wrong_choices_are_refused(cast, folder):
    nothing = {"project": cast.project, "by": cast.lea.person, "file": None, "file_name": ""}
    assert code_of(receive_upload, **nothing) == "missing_field"
    assert code_of(upload, cast, b"") == "empty_file"
    assert code_of(upload, cast, phase="later") == "unknown_phase"
    assert code_of(upload, cast, format="csv") == "unknown_format"
    assert (stored(folder), Work.objects.count(), Event.objects.count()) == ([], 0, 0)


def test_a_file_beyond_the_cap_is_refused_and_never_stored_whole(client, cast, folder, monkeypatch):
    monkeypatch.setattr(settings, "UPLOAD_MAX_BYTES", 100_000)
    sizes, add = [], uploading.Incoming.add

    def note(self, data):
        add(self, data)
        self.file.flush()
        sizes.append(self.path.stat().st_size)

    monkeypatch.setattr(uploading.Incoming, "add", note)
    response = post(client, cast, b"x" * 1_000_000)
    assert response.status_code == 422
    assert "SIGHTLINE_UPLOAD_MAX_BYTES" in response.content.decode()
    assert "97.7" in response.content.decode()
    assert max(sizes) <= 100_000
    assert (stored(folder), Work.objects.count()) == ([], 0)
    assert code_of(upload, cast, b"x" * 100_001) == "too_large"
    upload(cast, b"x" * 100_000)


def test_a_full_disk_is_said_and_leaves_no_half_file(cast, folder, monkeypatch):
    def full(self, data):
        self.size += len(data)
        self.disk_error = OSError(28, "No space left on device")

    monkeypatch.setattr(uploading.Incoming, "add", full)
    assert code_of(upload, cast) == "no_space"
    assert (stored(folder), Work.objects.count()) == ([], 0)


class Disk:
    """A disk with so much room, of which received bytes take theirs."""

    def __init__(self, monkeypatch, folder, free):
        self.folder, self.free, self.looks = folder, free, []
        monkeypatch.setattr(uploading.shutil, "disk_usage", self.usage)

    def usage(self, path):
        assert path == self.folder
        self.looks.append(sum(file.stat().st_size for file in stored(self.folder)))
        return SimpleNamespace(free=self.free - self.looks[-1])


@pytest.mark.parametrize(("is_beside", "times"), [(True, 2), (False, 1)], ids=["SQLite beside", "elsewhere"])
def test_an_upload_leaves_room_for_what_it_becomes_and_for_those_who_submit(
    cast, folder, monkeypatch, is_beside, times
):
    monkeypatch.setattr(uploading, "is_beside_database", lambda path: is_beside)
    disk = Disk(monkeypatch, folder, uploading.RESERVE_BYTES + times * 1000 - 1)
    assert code_of(upload, cast, b"x" * 1000) == "no_space"
    assert (stored(folder), Work.objects.count()) == ([], 0)
    disk.free += 1
    upload(cast, b"x" * 1000)


def test_room_is_looked_at_while_a_file_is_received_and_the_rest_is_only_counted(cast, folder, monkeypatch):
    monkeypatch.setattr(uploading, "is_beside_database", lambda path: True)
    disk = Disk(monkeypatch, folder, uploading.RESERVE_BYTES + 20 * MIB)
    assert code_of(upload, cast, file=io.BytesIO(b"x" * (64 * MIB))) == "no_space"
    assert max(disk.looks) <= 16 * MIB
    assert stored(folder) == []


def test_a_page_without_room_keeps_the_form(client, cast, folder, monkeypatch):
    Disk(monkeypatch, folder, uploading.RESERVE_BYTES)
    response = post(client, cast, phase="pilot")
    assert response.status_code == 422
    assert "Room for the file on the server" in response.content.decode()
    assert re.search(r'value="pilot"[^>]* (selected|checked)', response.content.decode())
    assert (stored(folder), Work.objects.count()) == ([], 0)


def test_a_database_needs_room_where_it_is_a_file_on_the_same_disk(folder):
    incoming = uploading.Incoming()
    assert uploading.is_beside_database(incoming.path) is (connection.vendor == "sqlite")
    incoming.close()


def test_a_write_that_fails_is_remembered_and_the_rest_only_counted(folder, monkeypatch):
    class Full(io.RawIOBase):
        def write(self, data):
            raise OSError(28, "No space left on device")

        def truncate(self, size):
            return 0

    incoming = uploading.Incoming()
    incoming.file.close()
    incoming.file = Full()
    incoming.add(b"abc")
    incoming.add(b"def")
    assert (incoming.size, incoming.disk_error.errno) == (6, 28)
    incoming.close()
    assert stored(folder) == []


def test_a_file_that_breaks_off_is_not_kept(cast, folder):
    class Broken(io.RawIOBase):
        def __init__(self):
            self.left = 3

        def read(self, size=-1):
            self.left -= 1
            if not self.left:
                raise OSError("the line is down")
            return b"x" * size

    with pytest.raises(OSError, match="the line is down") as caught:
        upload(cast, file=Broken())
    assert caught.traceback  # which holds on to what was being received
    assert stored(folder) == []


def test_a_file_with_fewer_bytes_than_its_sender_said_is_refused(cast, folder):
    assert code_of(upload, cast, b"{}\n", n_bytes=4) == "cut_off"
    assert (stored(folder), Work.objects.count()) == ([], 0)
    upload(cast, b"{}\n", n_bytes=3)


# Who may


def test_only_a_lead_of_the_project_uploads(cast, folder):
    zack = make_member(cast.other_project, "zack", Role.LEAD)
    for member in (cast.ana, cast.rita, cast.zoe, zack):
        with pytest.raises(NotYours):
            upload(cast, by=member.person)
    assert (stored(folder), Work.objects.count()) == ([], 0)


@pytest.mark.parametrize("who", ["ana", "rita", "zoe", "nobody"])
def test_no_byte_of_a_file_is_stored_for_anybody_else(client, cast, folder, monkeypatch, who):
    monkeypatch.setattr(uploading.Incoming, "__init__", lambda *words, **more: pytest.fail("a file was made"))
    if who != "nobody":
        client.force_login(getattr(cast, who).person)
    address = reverse("annotate:upload_traces", args=[cast.project.slug])
    response = client.post(address, {**FORM, "file": SimpleUploadedFile("a.jsonl", b"{}\n")})
    assert response.status_code == (302 if who == "nobody" else 404)
    assert not folder.exists()


def test_no_other_page_takes_a_file(client, cast, folder, monkeypatch):
    monkeypatch.setattr(uploading.Incoming, "__init__", lambda *words, **more: pytest.fail("a file was made"))
    client.force_login(cast.lea.person)
    file = SimpleUploadedFile("a.jsonl", b"{}\n")
    assert client.post(reverse("annotate:set_language"), {"language": "en", "file": file}).status_code == 302
    assert client.post("/never-was/", {"file": SimpleUploadedFile("a.jsonl", b"{}\n")}).status_code == 404
    assert not folder.exists()


def test_a_post_without_its_secret_word_keeps_nothing(cast, folder, client):
    client.handler.enforce_csrf_checks = True
    assert post(client, cast).status_code == 403
    assert (stored(folder), Work.objects.count()) == ([], 0)


# While it is read


class Body(io.RawIOBase):
    """A multipart body with one file of so many bytes, made as it is read; it may end early, or break."""

    BOUNDARY = "a-boundary"
    HEAD = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    ).encode()
    TAIL = f"\r\n--{BOUNDARY}--\r\n".encode()

    def __init__(self, n_bytes, *, ends_at=None, breaks_at=None):
        self.length = len(self.HEAD) + n_bytes + len(self.TAIL)
        self.n_bytes, self.ends_at, self.breaks_at, self.at = n_bytes, ends_at, breaks_at, 0

    def read(self, size=-1):
        if self.breaks_at is not None and self.at >= self.breaks_at:
            raise OSError("the line is down")
        size = min(size, (self.ends_at or self.length) - self.at)
        made = b""
        while len(made) < size:
            made += self.piece(self.at + len(made), size - len(made))
        self.at += len(made)
        return made

    def piece(self, at, size):
        if at < len(self.HEAD):
            return self.HEAD[at : at + size]
        at -= len(self.HEAD)
        return b"x" * min(size, self.n_bytes - at) if at < self.n_bytes else self.TAIL[at - self.n_bytes :][:size]


def request_with(cast, body):
    address = reverse("annotate:upload_traces", args=[cast.project.slug])
    head = {"REQUEST_METHOD": "POST", "PATH_INFO": address, "CONTENT_LENGTH": body.length, "wsgi.input": body}
    request = RequestFactory().request(**head, CONTENT_TYPE=f"multipart/form-data; boundary={Body.BOUNDARY}")
    request.resolver_match, request.user = resolve(address), cast.lea.person
    return request


def test_a_large_file_is_never_in_memory(cast, folder):
    request = request_with(cast, Body(64 * MIB))
    tracemalloc.start()
    try:
        file = request.FILES["file"]
        upload(cast, file=file)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * MIB
    (path,) = stored(folder)
    assert path.stat().st_size == 64 * MIB


@pytest.mark.parametrize("body", [{"ends_at": 300_000}, {"breaks_at": 300_000}], ids=["went away", "broke"])
def test_a_sender_that_goes_away_in_the_middle_leaves_nothing(cast, folder, body):
    request = request_with(cast, Body(MIB, **body))
    assert request.POST.get("csrfmiddlewaretoken") is None if "ends_at" in body else unreadable(request)
    request.close()
    del request
    gc.collect()
    assert stored(folder) == []


@pytest.mark.parametrize("body", [{"ends_at": 300_000}, {"breaks_at": 300_000}], ids=["went away", "broke"])
def test_what_was_cut_off_is_gone_with_its_answer_though_it_is_still_held(cast, folder, body, monkeypatch):
    """Through all middleware; whatever logs an exception may hold on to its frames for long."""
    made, held = [], uploading.Incoming.__init__
    monkeypatch.setattr(uploading.Incoming, "__init__", lambda self, *words: made.append(self) or held(self, *words))
    client = Client(raise_request_exception=False)
    client.force_login(cast.lea.person)
    body = Body(MIB, **body)
    address = reverse("annotate:upload_traces", args=[cast.project.slug])
    head = {"REQUEST_METHOD": "POST", "PATH_INFO": address, "CONTENT_LENGTH": body.length, "wsgi.input": body}
    client.request(**head, CONTENT_TYPE=f"multipart/form-data; boundary={Body.BOUNDARY}")
    assert len(made) == 1
    assert stored(folder) == []
    assert Work.objects.count() == 0


def unreadable(request):
    with pytest.raises(OSError, match="the line is down"):
        _ = request.POST
    return True


# What is left over


def age(path, seconds):
    then = time.time() - seconds
    os.utime(path, (then, then))


@pytest.mark.parametrize(
    ("fields", "stays"),
    [
        ({"state": "waiting"}, True),
        ({"state": "running"}, True),
        ({"state": "done"}, False),
        ({"state": "dead", "ended_at": 6}, True),
        ({"state": "dead", "ended_at": 8}, False),
    ],
    ids=["waiting", "running", "done", "given up", "given up long ago"],
)
def test_a_file_stays_as_long_as_its_job_may_need_it(cast, folder, fields, stays):
    folder.mkdir(parents=True)
    days = fields.pop("ended_at", None)
    row = make_work(cast.project, **fields)
    if days:
        Work.objects.filter(pk=row.pk).update(ended_at=Now() - uploading.timedelta(days=days))
    path = uploading.path_of(row)
    path.write_bytes(b"{}\n")
    age(path, 30 * 24 * 3600)
    assert remove_leftovers() == (not stays)
    assert path.exists() is stays


def test_a_file_without_a_job_is_removed_a_day_after_its_last_byte(folder):
    folder.mkdir(parents=True)
    fresh, old = (folder / (letter * 32) for letter in "ab")
    for path in (fresh, old):
        path.write_bytes(b"x")
    age(fresh, 23 * 3600)
    age(old, 25 * 3600)
    assert remove_leftovers() == 1
    assert stored(folder) == [fresh]


def test_what_somebody_else_put_there_is_theirs_and_stops_no_sweep(folder):
    for path in (folder / "lost+found", folder / ("a" * 32)):
        path.mkdir(parents=True)
        age(path, 25 * 3600)
    (folder / "notes.txt").write_text("x")
    age(folder / "notes.txt", 25 * 3600)
    assert work.sweep().n_tidied == 0
    assert len(stored(folder)) == 3


def test_without_a_folder_there_is_nothing_to_remove(folder):
    assert remove_leftovers() == 0


# Again


def test_an_import_that_was_given_up_is_tried_again_by_a_lead_while_its_file_is_there(cast, folder):
    row = upload(cast)
    Work.objects.filter(pk=row.pk).update(state="dead", attempts=3, error="x")
    with pytest.raises(NotYours):
        try_again(lead=cast.ana.person, project=cast.project, work_id=row.pk)
    with pytest.raises(NotYours):
        try_again(lead=cast.lea.person, project=cast.project, work_id=row.pk + 1)
    for _ in range(2):  # the second time it waits already
        try_again(lead=cast.lea.person, project=cast.project, work_id=row.pk)
    row.refresh_from_db()
    assert (row.state, row.attempts, row.max_attempts, row.error) == ("waiting", 3, 6, "")
    assert Event.objects.filter(action="import_tried_again").count() == 1
    Work.objects.filter(pk=row.pk).update(state="dead")
    uploading.path_of(row).unlink()
    assert code_of(try_again, lead=cast.lea.person, project=cast.project, work_id=row.pk) == "no_file"
