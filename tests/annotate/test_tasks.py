"""Workers: woken by a message, and doing what no message told of; and what sending a message may cost."""

import contextlib
import json
import logging
import shutil
import signal
import socket
import time
import uuid

import pytest
from celery import current_app
from django.conf import settings
from django.core.management import call_command
from django.db import transaction

from annotate import importing, tasks, waking, work
from annotate.models import Work
from config.celery import app
from tests.annotate.children import WORKER, child, wait_until
from tests.annotate.leases import end_lease

SOON = 5
"""Seconds within which a woken worker has done a small job, on a busy machine; less than between two sweeps."""


def add(key, kind="import_traces", **fields):
    """A job whose file is not there, so that it ends at once, given up with a sentence of its own."""
    payload = {"path": "none", "file_name": "a", "phase": "main", "format": "auto"}
    return work.add_work(kind=kind, key=key, payload=payload, **fields)


def ended(row):
    row.refresh_from_db()
    return row.state == work.State.DEAD and row.error == importing.FILE_IS_GONE


# Sending


@pytest.fixture
def broker(monkeypatch):
    """Another broker for the app of this process."""

    def broker(url):
        monkeypatch.setattr(settings, "BROKER_FOLDER", None)
        monkeypatch.setitem(app.conf.changes, "broker_url", url)
        monkeypatch.setattr(app, "connection_for_write", lambda **more: app._connection(url, **more))

    return broker


def test_the_app_is_the_one_of_every_process():
    assert current_app._get_current_object() is app
    assert app.conf.broker_url == settings.CELERY_BROKER_URL


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
@pytest.mark.parametrize("how", ["refuses", "never answers"])
def test_a_broker_that_is_away_neither_fails_nor_holds_up_who_sends(broker, caplog, scheme, how):
    with contextlib.ExitStack() as stack:
        port = free_port()
        if how == "never answers":
            port = stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1]
        broker(f"{scheme}://:hidden@127.0.0.1:{port}//")
        began = time.monotonic()
        waking.wake()
    assert time.monotonic() - began < 4
    assert "No worker was woken" in caplog.text
    assert "hidden" not in caplog.text


def test_a_folder_that_cannot_be_written_neither_fails_nor_holds_up_who_sends(caplog, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(settings, "BROKER_FOLDER", tmp_path / "file" / "broker")
    waking.wake()
    assert "No worker was woken" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_job_is_written_though_no_worker_can_be_woken(broker):
    broker(f"redis://127.0.0.1:{free_port()}/0")
    with transaction.atomic():
        row = add("a")
    assert Work.objects.get() == row


# Workers


@pytest.fixture
def messages():
    """The folder of the broker of this run of tests, empty and with nobody else at it."""
    shutil.rmtree(settings.BROKER_FOLDER, ignore_errors=True)
    waking.make_broker_folders()
    return settings.BROKER_FOLDER / "messages"


def worker(**environment):
    return child(*WORKER, data=settings.DATA_FOLDER, **environment)


@pytest.mark.django_db(transaction=True)
def test_a_worker_is_woken_by_a_message_is_killed_and_followed_by_another(messages):
    with worker() as first:
        wait_until(lambda: ended(add("before it came")), first)
        row = add("a")
        began = time.monotonic()
        wait_until(lambda: ended(row), first)
        assert time.monotonic() - began < SOON
        first.kill()
        first.wait()
    for path in messages.iterdir():
        path.unlink()
    lost = add("its message is lost")
    for path in messages.iterdir():
        path.unlink()
    claimed = add("claimed by the one that was killed", lane="one")
    assert Work.objects.filter(pk=claimed.pk).update(state="running", attempts=1)
    end_lease(claimed)
    with worker() as second:
        wait_until(lambda: ended(lost), second)
        wait_until(lambda: ended(claimed), second)
        second.send_signal(signal.SIGTERM)
        said, _ = second.communicate(timeout=20)
    assert second.returncode == 0, said
    assert "Traceback" not in said


@pytest.mark.django_db(transaction=True)
def test_no_message_that_cannot_be_read_ends_a_worker_and_no_folder_that_is_gone(messages):
    with worker() as process:
        wait_until(lambda: ended(add("it is there")), process)
        for content in (b"", b"{", b"{}", b"1"):
            (messages / f"0_{uuid.uuid4()}.sightline.msg").write_bytes(content)
        wait_until(lambda: not list(messages.glob("0_*")), process)
        shutil.rmtree(settings.BROKER_FOLDER)
        time.sleep(1)
        assert process.poll() is None
        row = add("a")
        began = time.monotonic()
        wait_until(lambda: ended(row), process)
        assert time.monotonic() - began < SOON
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=20)
    assert process.returncode == 0, said
    assert "Traceback" not in said


@pytest.mark.django_db(transaction=True)
def test_a_worker_whose_broker_is_away_does_what_there_is_to_do():
    row = add("a")
    with worker(SIGHTLINE_BROKER_URL=f"redis://127.0.0.1:{free_port()}/0") as process:
        wait_until(lambda: ended(row), process)


@pytest.mark.django_db(transaction=True)
def test_the_task_drains(messages):
    row = add("a")
    tasks.wake.run()
    assert ended(row)


# Sweeping


@pytest.fixture
def sweeper(monkeypatch):
    """A sweeper that sweeps often, in this process."""
    monkeypatch.setattr(tasks, "SWEEP_SECONDS", 0.02)
    sweeper = tasks.Sweeper()
    yield sweeper
    sweeper.end()
    assert not sweeper.is_alive()


@pytest.mark.django_db(transaction=True)
def test_a_sweeper_does_what_waits_and_goes_on_sweeping_meanwhile(sweeper, monkeypatch):
    swept, may_end, sweep = [], [], work.sweep
    monkeypatch.setattr(work, "sweep", lambda: swept.append(True) or sweep())
    monkeypatch.setitem(work.HANDLERS, "long", lambda job: wait_until(lambda: may_end) and {})
    row = add("a", kind="long")
    sweeper.start()
    wait_until(lambda: Work.objects.filter(pk=row.pk, state="running").exists())
    so_far = len(swept)
    wait_until(lambda: len(swept) > so_far + 2)
    may_end.append(True)
    wait_until(lambda: Work.objects.filter(pk=row.pk, state="done").exists())


@pytest.mark.django_db(transaction=True)
def test_a_sweep_that_fails_is_followed_by_the_next(sweeper, monkeypatch, caplog):
    sweep, failures = work.sweep, [OSError("the database is away")]

    def fail_first():
        if failures:
            raise failures.pop()
        return sweep()

    monkeypatch.setattr(work, "sweep", fail_first)
    row = add("a")
    sweeper.start()
    wait_until(lambda: ended(row))
    assert "A sweep failed" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_kind_that_nobody_does_is_said_once(sweeper, caplog):
    caplog.set_level(logging.WARNING)
    add("a", kind="of another app")
    for _ in range(3):
        sweeper.sweep()
    assert [record.message for record in caplog.records if "of another app" in record.message] == [
        "Jobs of the kind of another app wait, and nothing here does them."
    ]


# The command


@pytest.mark.django_db
def test_the_command_does_what_there_is_to_do(capsys):
    add("a")
    add("b", kind="of another app")
    row = add("c", max_attempts=1)
    Work.objects.filter(pk=row.pk).update(state="running", attempts=1)
    end_lease(row)
    call_command("sweep", "--json")
    assert json.loads(capsys.readouterr().out) == {
        **{"done": 0, "again_later": 0, "given_up": 2, "removed_files": 0, "places_taken_back": 0},
        "unknown_kinds": ["of another app"],
    }
    call_command("sweep")
    assert "0 jobs done" in capsys.readouterr().out
