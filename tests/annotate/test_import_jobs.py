"""The import of an upload as a job: all or nothing whatever happens to the worker, and then all."""

import errno
import threading
import time
from itertools import pairwise

import psycopg
import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection

from annotate import importing, lead_queries, uploading, work
from annotate.importing import import_traces
from annotate.models import Assignment, Event, ImportBatch, Item, Trace
from annotate.uploading import receive_upload
from annotate.work import State, drain, sweep
from tests.annotate.children import child, wait_until
from tests.annotate.leases import be_due, end_lease
from tests.annotate.meeting import in_threads
from tests.annotate.traces.files import lines, record
from tests.factories import make_cast, make_member

N_MANY = 1500


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "UPLOADS_FOLDER", tmp_path / "data" / "uploads")
    monkeypatch.setattr(work.waking, "wake", lambda: None)
    return tmp_path / "data"


@pytest.fixture
def cast(request):
    return make_cast()


def many(n, first=1, **members):
    return lines(*(record(f"t{number}", **members) for number in range(first, first + n)))


def upload(cast, content, name="runs.jsonl", **options):
    file = SimpleUploadedFile(name, content)
    return receive_upload(project=cast.project, by=cast.lea.person, file=file, file_name=name, **options)


def counts():
    """Visible traces, staged traces and items."""
    traces = Trace.objects
    return traces.filter(is_staged=False).count(), traces.filter(is_staged=True).count(), Item.objects.count()


def result_of(row):
    row.refresh_from_db()
    return (
        row.state,
        (row.result or {}).get("state"),
        ImportBatch.objects.filter(pk=(row.result or {}).get("batch")).first(),
    )


@pytest.mark.django_db
def test_an_upload_is_imported_with_the_choices_it_came_with(cast):
    content = (
        many(3) + b"{\n" + lines(record("nul", [{"role": "user", "text": "a\0"}, {"role": "assistant", "text": "b"}]))
    )
    row = upload(cast, content, phase="pilot", format="sightline", skip_bad=True, replace_nul=True)
    assert drain() == {State.DONE: 1}
    state, became, batch = result_of(row)
    assert (state, became, batch.state, batch.phase) == ("done", "imported", "visible", "pilot")
    assert (batch.skip_bad, batch.replace_nul, batch.person, batch.file_name) == (
        True,
        True,
        cast.lea.person,
        "runs.jsonl",
    )
    assert (batch.counts["new"], batch.counts["n_problems"], batch.counts["replaced_nul"]) == (4, 1, 1)
    assert set(Item.objects.values_list("phase", flat=True)) == {"pilot"}
    assert Assignment.objects.filter(annotator=cast.ana).count() == 4
    assert (row.n_done, row.n_total) == (len(content), len(content))


@pytest.mark.django_db
def test_a_refused_file_is_a_job_that_is_done_and_says_so(cast):
    row = upload(cast, many(3) + b"{\n")
    assert drain() == {State.DONE: 1}
    state, became, batch = result_of(row)
    assert (state, became, batch.state, batch.problems[0]["code"]) == ("done", "refused", "refused", "malformed_json")
    assert counts() == (0, 0, 0)
    assert (row.attempts, row.error) == (1, "")


@pytest.mark.django_db
def test_warnings_are_kept_with_the_batch(cast):
    call = {"role": "assistant", "text": "", "calls": [{"id": "c1", "name": "f", "arguments": "{}"}]}
    row = upload(cast, lines(record("t1", [call])))
    drain()
    _, _, batch = result_of(row)
    (warning,) = batch.warnings
    assert warning["line"] == 1
    assert "c1" in warning["expected"]


@pytest.mark.django_db
def test_two_uploads_into_one_project_are_imported_one_after_the_other(cast, monkeypatch):
    first, second = upload(cast, many(60)), upload(cast, many(60, first=100))
    beside = []
    stage = importing.Staging.stage

    def staged(self, traces):
        beside.append(work.claim())
        return stage(self, traces)

    monkeypatch.setattr(importing.Staging, "stage", staged)
    assert drain() == {State.DONE: 2}
    assert set(beside) == {None}
    assert [result_of(row)[1] for row in (first, second)] == ["imported", "imported"]
    assert counts() == (120, 0, 120)


@pytest.mark.django_db
def test_a_file_that_is_gone_is_given_up_at_once(cast):
    row = upload(cast, many(1))
    uploading.path_of(row).unlink()
    assert drain() == {State.DEAD: 1}
    row.refresh_from_db()
    assert row.error == importing.FILE_IS_GONE


FULL = {
    "SQLite": OperationalError("database or disk is full"),
    "PostgreSQL": OperationalError("could not extend file"),
    "the system": OSError(errno.ENOSPC, "No space left on device"),
}
FULL["PostgreSQL"].__cause__ = psycopg.errors.DiskFull()


@pytest.mark.django_db
@pytest.mark.parametrize("error", FULL.values(), ids=FULL)
@pytest.mark.parametrize("where", ["read", "planned"])
def test_on_a_full_disk_the_upload_goes_first_and_the_import_is_given_up(cast, folder, monkeypatch, error, where):
    row = upload(cast, many(120))
    path, seen = uploading.path_of(row), []
    stage, remove = importing.Staging.stage, importing.remove_staged

    def full(*words, **options):
        if where == "read" and counts()[1] == 0:
            return stage(*words, **options)
        raise error

    def removing(*words, **options):
        seen.append((counts()[1], path.exists()))
        return remove(*words, **options)

    step = (importing.Staging, "stage") if where == "read" else (importing.assigning, "extend_panel")
    monkeypatch.setattr(*step, full)
    monkeypatch.setattr(importing, "remove_staged", removing)
    assert drain() == {State.DEAD: 1}
    row.refresh_from_db()
    assert (row.error, row.attempts) == (importing.DISK_IS_FULL, 1)
    assert not path.exists()
    assert seen == [(0, True), (20 if where == "read" else 0, False)]
    assert counts()[1] == 0
    monkeypatch.undo()
    monkeypatch.setattr(settings, "UPLOADS_FOLDER", folder / "uploads")
    again = upload(cast, many(120))
    assert drain() == {State.DONE: 1}
    assert result_of(again)[1] == "imported"
    assert Assignment.objects.filter(annotator=cast.ana).count() == 120


@pytest.mark.fault(8)
@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
def test_a_database_file_that_cannot_grow_gives_the_import_up_and_takes_what_people_write_again(cast):
    row = upload(cast, many(300, messages=[{"role": "user", "text": "x" * 2000}, {"role": "assistant", "text": "ok"}]))
    with connection.cursor() as cursor:
        (n_pages,) = cursor.execute("PRAGMA page_count").fetchone()
        cursor.execute(f"PRAGMA max_page_count = {n_pages + 40}")
    assert drain() == {State.DEAD: 1}
    row.refresh_from_db()
    assert row.error == importing.DISK_IS_FULL
    assert counts() == (0, 0, 0)
    assert not uploading.path_of(row).exists()
    Event.objects.create(project=cast.project, action="x", detail={"text": "x" * 20_000})
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA max_page_count = 1073741823")


@pytest.mark.django_db
def test_a_full_disk_that_stays_full_still_loses_the_upload_and_what_was_read_goes_later(cast, monkeypatch):
    row = upload(cast, many(60))
    stage, error = importing.Staging.stage, FULL["SQLite"]
    is_full = []

    def full(*words, **options):
        if counts()[1] == 0:
            return stage(*words, **options)
        is_full.append(True)
        raise error

    def refused(*words, **options):
        if is_full:
            raise error
        return refuse(*words, **options)

    refuse = importing.refuse_unfinished
    monkeypatch.setattr(importing.Staging, "stage", full)
    monkeypatch.setattr(importing, "refuse_unfinished", refused)
    assert drain() == {State.DEAD: 1}
    assert not uploading.path_of(row).exists()
    assert counts()[1] == 20
    is_full.clear()
    monkeypatch.setattr(importing.Staging, "stage", stage)
    upload(cast, many(1))
    drain()
    assert counts() == (1, 0, 1)


@pytest.mark.django_db
def test_another_error_of_the_database_takes_no_upload_away(cast, monkeypatch):
    row = upload(cast, many(3))

    def locked(*words, **options):
        raise OperationalError("database is locked")

    monkeypatch.setattr(importing.Staging, "stage", locked)
    assert drain() == {State.WAITING: 1}
    assert uploading.path_of(row).exists()


@pytest.mark.django_db
def test_an_import_that_breaks_down_shows_nothing_and_is_tried_again(cast, monkeypatch):
    row = upload(cast, many(120))
    stage, calls = importing.Staging.stage, []

    def broken(self, traces):
        calls.append(traces)
        if len(calls) == 2:
            raise OSError("the disk")
        return stage(self, traces)

    monkeypatch.setattr(importing.Staging, "stage", broken)
    assert drain() == {State.WAITING: 1}
    assert counts()[0] == 0
    be_due()
    assert drain() == {State.DONE: 1}
    assert counts() == (120, 0, 120)
    assert [batch.state for batch in ImportBatch.objects.all()] == ["visible"], "the try that broke down left no record"
    assert result_of(row)[1] == "imported"


@pytest.mark.django_db
@pytest.mark.parametrize("n_staged", [1, 4])
def test_a_worker_that_slept_through_its_lease_changes_nothing_any_more(cast, monkeypatch, n_staged):
    """It is taken for dead while it reads; another worker imports the file; then it goes on where it was."""
    row, stage, late = upload(cast, many(120)), importing.Staging.stage, []

    def sleep(self, traces):
        stage(self, traces)
        if not late and self.n_new == 20 * n_staged:
            late.append(True)
            end_lease(row)
            assert drain() == {State.DONE: 1}

    monkeypatch.setattr(importing.Staging, "stage", sleep)
    assert drain() == {None: 1}
    assert late
    state, became, batch = result_of(row)
    assert (state, became, batch.state, row.attempts) == ("done", "imported", "visible", 2)
    assert counts() == (120, 0, 120)
    assert list(ImportBatch.objects.filter(state="visible")) == [batch]


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_wakes_at_its_flip_shows_nothing_beside_the_one_that_took_over(cast, monkeypatch):
    """The other one has looked at what there is already, and must not find later that everything is present."""
    row, flip, look = upload(cast, many(30)), importing.flip, lead_queries.batch_of_job
    at_flip, wakes, late = threading.Event(), threading.Event(), [work.claim()]

    def sleep(*words):
        if not at_flip.is_set():
            at_flip.set()
            wakes.wait(20)
        return flip(*words)

    def look_then_let_it_wake(job):
        found = look(job)
        if at_flip.is_set() and not wakes.is_set():
            wakes.set()
            sleeper.join()
        return found

    monkeypatch.setattr(importing, "flip", sleep)
    sleeper = threading.Thread(target=in_threads, args=[lambda: work.run(late.pop())])
    sleeper.start()
    at_flip.wait(20)
    end_lease(row)
    monkeypatch.setattr(lead_queries, "batch_of_job", look_then_let_it_wake)
    assert drain() == {State.DONE: 1}
    sleeper.join()
    _, became, batch = result_of(row)
    assert (became, batch.counts["new"], batch.counts["present"]) == ("imported", 30, 0)
    assert counts() == (30, 0, 30)
    assert list(ImportBatch.objects.all()) == [batch]


@pytest.mark.django_db
@pytest.mark.parametrize("line", [b"{}\n", b"\n", b'{"id":\n'], ids=["wrong", "blank", "broken"])
def test_a_file_of_which_nothing_comes_for_long_says_its_words_all_the_same(cast, monkeypatch, line):
    row, progress, heard = upload(cast, many(1) + line * 40_000), work.Job.progress, []

    def note(self, n_done, *words, **more):
        heard.append(n_done)
        return progress(self, n_done, *words, **more)

    monkeypatch.setattr(work.Job, "progress", note)
    assert drain() == {State.DONE: 1}
    assert len(heard) > row.n_total / 70_000
    assert max(heard) == row.n_total
    assert max(after - before for before, after in pairwise(heard)) <= 70_000


@pytest.mark.django_db(transaction=True)
def test_a_step_that_is_longer_than_a_lease_is_nobody_else_s(cast, monkeypatch):
    monkeypatch.setattr(work, "LEASE", work.timedelta(seconds=0.6))
    row, stage = upload(cast, many(20)), importing.Staging.stage

    def slow(self, traces):
        time.sleep(1.2)
        assert work.claim() is None
        stage(self, traces)

    monkeypatch.setattr(importing.Staging, "stage", slow)
    assert drain() == {State.DONE: 1}
    assert result_of(row)[1] == "imported"


@pytest.mark.django_db
def test_a_worker_that_slept_before_it_began_ends_nobody_s_import(cast, monkeypatch):
    row, stage, late = upload(cast, many(120)), importing.Staging.stage, [work.claim()]
    end_lease(row)

    def staged(self, traces):
        stage(self, traces)
        if late:
            assert work.run(late.pop()) is None

    monkeypatch.setattr(importing.Staging, "stage", staged)
    assert drain() == {State.DONE: 1}
    assert result_of(row)[1] == "imported"
    assert counts() == (120, 0, 120)
    assert ImportBatch.objects.count() == 1


@pytest.mark.django_db
def test_a_worker_that_is_to_end_gives_the_import_back_and_it_is_done_later(cast, monkeypatch):
    row = upload(
        cast,
        many(120),
    )
    monkeypatch.setattr(work, "STOPPING", stopping := work.threading.Event())
    stage = importing.Staging.stage
    monkeypatch.setattr(importing.Staging, "stage", lambda *words: stopping.set() or stage(*words))
    assert drain() == {State.WAITING: 1}
    monkeypatch.setattr(importing.Staging, "stage", stage)
    stopping.clear()
    assert drain() == {State.DONE: 1}
    assert counts() == (120, 0, 120)
    assert result_of(row)[1] == "imported"


# Beside other imports


@pytest.mark.django_db
def test_an_import_by_a_command_ends_the_upload_s_as_it_ends_any_other(cast, monkeypatch, tmp_path):
    row, stage = upload(cast, many(120)), importing.Staging.stage
    path = tmp_path / "beside.jsonl"
    path.write_bytes(many(1, first=1000))

    def overtaken(self, traces):
        if self.batch.file_name == "runs.jsonl" and not Trace.objects.filter(source_id="t1000").exists():
            import_traces(project=cast.project, path=path, file_name=path.name)
        return stage(self, traces)

    monkeypatch.setattr(importing.Staging, "stage", overtaken)
    assert drain() == {State.DONE: 1}
    _, became, batch = result_of(row)
    assert (became, batch.problems[-1]["code"]) == ("refused", "import_interrupted")
    assert counts() == (1, 0, 1)


@pytest.mark.django_db
def test_an_import_of_another_project_is_left_alone(cast, monkeypatch):
    row, stage = upload(cast, many(120)), importing.Staging.stage
    zack = make_member(cast.other_project, "zack", "lead").person
    other = []

    def beside(self, traces):
        if not other:
            file = SimpleUploadedFile("other.jsonl", many(5))
            other.append(receive_upload(project=cast.other_project, by=zack, file=file, file_name="other.jsonl"))
            assert drain() == {State.DONE: 1}
        return stage(self, traces)

    monkeypatch.setattr(importing.Staging, "stage", beside)
    assert drain() == {State.DONE: 1}
    assert [result_of(one)[1] for one in (row, *other)] == ["imported", "imported"]
    assert counts() == (125, 0, 125)


# A worker that is killed


@pytest.fixture
def n_many(often):
    return often(N_MANY, N_MANY, 1_000_000)


@pytest.mark.fault(29)
@pytest.mark.django_db(transaction=True)
def test_a_worker_killed_in_the_middle_shows_nothing_and_the_next_one_imports_all(cast, folder, n_many):
    row = upload(cast, many(n_many))
    with child("manage.py", "sweep", data=folder) as worker:
        wait_until(lambda: Trace.objects.filter(is_staged=True).count() > 200, worker)
        worker.kill()
        worker.wait()
    visible, staged, _ = counts()
    assert (visible, Assignment.objects.count()) == (0, 0)
    assert staged
    row.refresh_from_db()
    assert (row.state, row.attempts) == ("running", 1)
    assert drain() == {}, "its lease has not ended yet"
    end_lease(row)
    assert drain() == {State.DONE: 1}
    state, became, batch = result_of(row)
    assert (state, became, row.attempts, batch.counts["new"]) == ("done", "imported", 2, n_many)
    assert counts() == (n_many, 0, n_many)
    assert list(ImportBatch.objects.all()) == [batch]
    assert Assignment.objects.filter(annotator=cast.ana).count() == n_many


@pytest.mark.fault(29)
@pytest.mark.django_db(transaction=True)
def test_a_worker_killed_behind_the_flip_leaves_the_rest_to_the_next_one(cast, folder, n_many):
    row = upload(cast, many(n_many))
    with child("manage.py", "sweep", data=folder) as worker:
        wait_until(lambda: ImportBatch.objects.filter(state=ImportBatch.State.VISIBLE).exists(), worker)
        worker.kill()
        worker.wait()
    assert counts() == (n_many, 0, n_many)
    row.refresh_from_db()
    if row.state == State.RUNNING:  # else it was quicker than the signal
        end_lease(row)
        assert drain() == {State.DONE: 1}
    _, became, batch = result_of(row)
    assert (became, batch.counts["new"]) == ("imported", n_many)
    assert list(ImportBatch.objects.all()) == [batch]
    assert Event.objects.filter(action="traces_imported").count() == 1
    for member in (cast.ana, cast.ben):
        assert member.assignments.count() == n_many


@pytest.mark.django_db(transaction=True)
def test_a_file_that_kills_its_worker_each_time_is_given_up_and_the_next_upload_goes_on(cast):
    poison = upload(cast, many(2))
    healthy = upload(cast, many(2, first=10))
    for _ in range(3):
        assert work.claim().row == poison  # and nothing more is heard of the worker
        assert drain() == {}
        end_lease(poison)
    assert drain() == {}
    assert sweep().n_dead == 1
    assert drain() == {State.DONE: 1}
    assert [result_of(row)[0] for row in (poison, healthy)] == ["dead", "done"]
    assert counts() == (2, 0, 2)
    assert uploading.path_of(poison).is_file()
