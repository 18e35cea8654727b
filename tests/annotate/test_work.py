"""Jobs: each is claimed by one worker at a time, by the database's clock, and ends done or given up."""

import logging
import random
import threading
import time
from datetime import timedelta

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models.functions import Now
from django.utils import timezone

from annotate import waking, work
from annotate.errors import JobFailed, LeaseLost
from annotate.models import Work
from annotate.work import State, add_work, claim, drain, revive, sweep
from tests.annotate.leases import be_due, end_lease, seconds_until
from tests.annotate.meeting import at_once, in_threads

SECOND = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def woken(monkeypatch):
    """How often a worker was woken; none is there to hear it."""
    calls = []
    monkeypatch.setattr(waking, "wake", lambda: calls.append(True))
    monkeypatch.setattr(work, "HANDLERS", {})
    monkeypatch.setattr(work, "TIDIERS", [])
    return calls


@pytest.fixture
def done():
    """The keys of the jobs that a handler saw, in their order, by a handler of the kind `note`."""
    keys = []
    work.handles("note")(lambda job: keys.append(job.row.key) or {"key": job.row.key})
    return keys


def job(key="a", kind="note", **fields):
    return add_work(kind=kind, key=key, payload={}, **fields)


# Writing jobs


@pytest.mark.django_db
def test_a_job_is_written_with_its_cause_and_wakes_a_worker_when_that_is_committed(
    woken, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        job()
        assert woken == []
    assert woken == [True]


@pytest.mark.django_db(transaction=True)
def test_a_cause_that_is_undone_leaves_no_job_and_wakes_nobody(woken):
    with transaction.atomic():
        job()
        transaction.set_rollback(True)
    assert (woken, Work.objects.count()) == ([], 0)


@pytest.mark.django_db
def test_a_key_stands_for_one_job():
    assert job("a", n_total=7) == job("a", n_total=8)
    assert list(Work.objects.values_list("n_total", flat=True)) == [7]


@pytest.mark.django_db(transaction=True)
def test_a_key_written_twice_at_once_stands_for_one_job():
    first, second = at_once(job, job)
    assert first == second


# Doing them


@pytest.mark.django_db
def test_jobs_are_done_oldest_first_until_there_is_none(done):
    for key in "abc":
        job(key)
    assert drain() == {State.DONE: 3}
    assert done == ["a", "b", "c"]
    row = Work.objects.get(key="a")
    assert (row.state, row.result, row.attempts, row.lease_until, row.error) == ("done", {"key": "a"}, 1, None, "")
    assert row.ended_at
    assert drain() == {}


@pytest.mark.django_db
def test_a_job_of_an_unknown_kind_waits_and_is_said(done):
    job("a", kind="of another app")
    job("b")
    assert drain() == {State.DONE: 1}
    assert Work.objects.get(key="a").state == State.WAITING
    assert sweep().unknown_kinds == ("of another app",)


@pytest.mark.django_db
def test_a_handler_runs_outside_any_transaction_of_ours():
    depths = []
    work.handles("note")(lambda job: depths.append(len(connection.savepoint_ids)) or {})
    job()
    before = len(connection.savepoint_ids)
    drain()
    assert depths == [before]


# Claims


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_claim_a_job_once(done):
    for number in range(5):
        row = job(f"{number}")
        claims = at_once(claim, claim, claim)
        assert sorted(one is None for one in claims) == [False, True, True], claims
        assert Work.objects.get(pk=row.pk).attempts == 1


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_run_one_job_of_a_lane(done):
    for number in range(5):
        lane = f"lane {number}"
        job(f"{number} a", lane=lane)
        job(f"{number} b", lane=lane)
        first, second = sorted(at_once(claim, claim), key=lambda one: one is None)
        assert second is None, [first, second]
        first.finish({})
        claim().finish({})
        assert claim() is None


@pytest.mark.django_db
def test_the_database_itself_refuses_a_second_running_job_of_a_lane(done):
    first, second = (Work.objects.create(kind="note", key=key, lane="one") for key in "ab")
    Work.objects.filter(pk=first.pk).update(state=State.RUNNING)
    with pytest.raises(IntegrityError), transaction.atomic():
        Work.objects.filter(pk=second.pk).update(state=State.RUNNING)


@pytest.mark.django_db
def test_a_busy_lane_holds_up_no_other_job(done):
    job("a", lane="one")
    claim()
    job("b", lane="one")
    job("c", lane="two")
    job("d")
    drain()
    assert done == ["c", "d"]


@pytest.mark.fault(12)
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_whatever_workers_do_every_job_is_done_once_and_lanes_run_one_at_a_time(seed):
    """Jobs that fail at first, in lanes and outside, and workers that come and go."""
    rng, lock, running, began, problems = random.Random(seed), threading.Lock(), set(), [], []
    fails_first = set()

    @work.handles("note")
    def handle(job):
        lane, key = job.row.lane, job.row.key
        with lock:
            if lane and lane in running:
                problems.append(f"{key} ran beside another of {lane}")
            running.add(lane)
            began.append(key)
        time.sleep(0.002)
        with lock:
            running.discard(lane)
        if key in fails_first and job.number == 1:
            raise ValueError(key)
        return {}

    for number in range(24):
        row = job(f"{number}", lane=rng.choice(["", "", "one", "two"]))
        if rng.random() < 0.3:
            fails_first.add(row.key)
    in_threads(*[drain] * 4)
    be_due()
    in_threads(*[drain] * 4)
    assert problems == []
    assert sorted(began) == sorted([*map(str, range(24)), *fails_first])
    assert set(Work.objects.values_list("state", flat=True)) == {State.DONE}


# Leases


@pytest.mark.django_db
def test_a_job_under_way_is_nobody_else_s_until_its_lease_ends(done):
    row = job()
    first = claim()
    assert 55 < seconds_until(row, "lease_until") <= 60
    assert claim() is None
    end_lease(row)
    second = claim()
    assert (first.number, second.number) == (1, 2)


@pytest.mark.django_db
@pytest.mark.parametrize("ended", ["finished", "claimed again", "given up"])
def test_who_lost_the_lease_writes_nothing_any_more(done, ended):
    row = job(max_attempts=1 if ended == "given up" else 3)
    late = claim()
    end_lease(row)
    if ended == "given up":
        sweep()
    else:
        newer = claim()
        if ended == "finished":
            newer.finish({"by": "the newer"})
    before = Work.objects.values().get(pk=row.pk)
    for write in (
        lambda: late.progress(50, at_once=True),
        lambda: late.note({}),
        lambda: late.finish({"by": "the late one"}),
        lambda: late.fail("x", again=True),
        lambda: late.fail("x", again=False),
        late.give_back,
    ):
        with pytest.raises(LeaseLost):
            write()
    assert Work.objects.values().get(pk=row.pk) == before


@pytest.mark.django_db
def test_a_worker_that_lost_its_lease_goes_on_with_the_next_job(done, caplog):
    @work.handles("slow")
    def handle(job):
        end_lease(job.row)
        claim()
        return {}

    row = job("a", kind="slow")
    job("b")
    assert drain() == {None: 1, State.DONE: 1}
    assert Work.objects.get(pk=row.pk).state == State.RUNNING
    assert "taken over" in caplog.text


@pytest.mark.fault(21)
@pytest.mark.django_db
def test_the_clock_of_a_worker_does_not_matter(done, monkeypatch):
    row = job()
    claim()
    for days in (-1, 1):
        monkeypatch.setattr(timezone, "now", lambda days=days: time_now() + timedelta(days=days))
        assert claim() is None
        assert sweep().n_dead == 0
    end_lease(row)
    assert claim().number == 2
    assert 55 < seconds_until(row, "lease_until") <= 60


time_now = timezone.now


@pytest.mark.django_db
def test_a_word_extends_the_lease_and_is_written_once_a_second_at_most(done, django_assert_num_queries):
    row = job(n_total=100)
    mine = claim()
    Work.objects.filter(pk=row.pk).update(lease_until=Now() + SECOND)
    with django_assert_num_queries(1):
        for n_done in range(20):
            mine.progress(n_done)
    row.refresh_from_db()
    assert (row.n_done, row.n_total) == (0, 100)
    assert 55 < seconds_until(row, "lease_until") <= 60
    mine.progress(100, 200, at_once=True)
    row.refresh_from_db()
    assert (row.n_done, row.n_total) == (100, 200)


@pytest.mark.django_db(transaction=True)
def test_a_silent_step_keeps_the_lease_as_long_as_its_worker_lives(done, monkeypatch):
    monkeypatch.setattr(work, "LEASE", timedelta(seconds=0.6))
    row = job()
    mine = claim()
    with mine.kept():
        time.sleep(1.2)
        assert seconds_until(row, "lease_until") > 0
        assert claim() is None
    mine.finish({})
    assert [thread for thread in threading.enumerate() if thread.name.startswith("lease of")] == []


@pytest.mark.django_db(transaction=True)
def test_a_lease_is_kept_on_when_the_database_was_away_for_a_moment(done, monkeypatch, caplog):
    monkeypatch.setattr(work, "LEASE", timedelta(seconds=0.6))
    row, extend, failures = job(), work.Job.extend, []

    def away_at_first(self, **fields):
        if threading.current_thread().name.startswith("lease of") and len(failures) < 2:
            failures.append(True)
            raise OperationalError("the database is away")
        extend(self, **fields)

    monkeypatch.setattr(work.Job, "extend", away_at_first)
    mine = claim()
    with mine.kept():
        time.sleep(1.8)
        assert seconds_until(row, "lease_until") > 0
    assert len(failures) == 2
    assert "could not be extended" in caplog.text
    mine.finish({})


@pytest.mark.django_db(transaction=True)
def test_a_lease_that_was_lost_is_kept_no_more(done, monkeypatch):
    monkeypatch.setattr(work, "LEASE", timedelta(seconds=0.3))
    row, mine = job(), claim()
    with mine.kept():
        Work.objects.filter(pk=row.pk).update(attempts=7)
        time.sleep(0.5)
        assert [thread for thread in threading.enumerate() if thread.name.startswith("lease of")] == []


# Failures


@pytest.mark.django_db
def test_a_job_that_fails_is_tried_again_after_longer_and_longer_pauses_and_then_given_up(caplog):
    @work.handles("bad")
    def handle(job):
        raise ValueError("postgresql://app:secret@host/name")

    row, pauses = job(kind="bad"), []
    for attempts in (1, 2):
        assert drain() == {State.WAITING: 1}
        assert drain() == {}
        row.refresh_from_db()
        assert (row.attempts, row.error, row.ended_at) == (attempts, work.BROKE_DOWN, None)
        pauses.append(round(seconds_until(row, "not_before")))
        be_due()
    assert pauses == [10, 20]
    assert drain() == {State.DEAD: 1}
    row.refresh_from_db()
    assert (row.state, row.attempts, row.error) == ("dead", 3, work.BROKE_DOWN)
    assert row.ended_at
    assert "Traceback" in caplog.text


def test_a_pause_has_a_bound():
    pauses = [work.pause_after(number) for number in range(1, 50)]
    assert pauses == sorted(pauses)
    assert pauses[-1] == timedelta(minutes=5)


@pytest.mark.django_db
def test_a_job_that_says_it_cannot_be_done_is_given_up_at_once_with_its_sentence():
    @work.handles("bad")
    def handle(job):
        raise JobFailed("There is nothing to read.")

    row = job(kind="bad")
    assert drain() == {State.DEAD: 1}
    row.refresh_from_db()
    assert (row.attempts, row.error) == (1, "There is nothing to read.")


@pytest.mark.django_db
def test_a_job_that_ends_its_worker_each_time_is_given_up_while_others_go_on(done):
    poison = job("poison", lane="one")
    job("behind it", lane="one")
    job("beside it")
    for number in (1, 2, 3):
        mine = claim()
        assert (mine.row.key, mine.number) == ("poison", number)  # the worker dies here, and says nothing
        drain()
        end_lease(poison)
    assert done == ["beside it"]
    assert claim() is None
    assert sweep().n_dead == 1
    poison.refresh_from_db()
    assert (poison.state, poison.error, poison.lease_until) == ("dead", work.WORKER_DIED, None)
    drain()
    assert done == ["beside it", "behind it"]


@pytest.mark.django_db(transaction=True)
def test_two_sweeps_at_once_do_no_harm(done):
    row = job(max_attempts=1)
    claim()
    end_lease(row)
    swept = at_once(sweep, sweep)
    assert sorted(one.n_dead for one in swept) == [0, 1]


@pytest.mark.django_db
def test_a_job_that_was_given_up_can_be_tried_again(done):
    row = job(max_attempts=1)
    claim().fail("x", again=True)
    assert revive(row)
    assert not revive(row)
    assert drain() == {State.DONE: 1}
    row.refresh_from_db()
    assert (row.attempts, row.error) == (2, "")


# Ending


@pytest.mark.django_db
@pytest.mark.parametrize("stop", ["the worker is to end", "Ctrl+C"])
def test_a_worker_that_ends_gives_its_job_back_and_the_attempt_does_not_count(done, monkeypatch, stop):
    stopping = threading.Event()
    monkeypatch.setattr(work, "STOPPING", stopping)

    @work.handles("long")
    def handle(job):
        if stop == "Ctrl+C":
            raise KeyboardInterrupt
        stopping.set()
        job.progress(1)

    row = job(kind="long", max_attempts=1)
    job("b")
    if stop == "Ctrl+C":
        with pytest.raises(KeyboardInterrupt):
            drain()
    else:
        assert drain() == {State.WAITING: 1}
    row.refresh_from_db()
    assert (row.state, row.attempts, row.max_attempts, row.not_before) == ("waiting", 1, 2, None)
    stopping.clear()
    assert claim().number == 2


@pytest.mark.django_db
def test_what_tidies_runs_with_every_sweep(caplog):
    caplog.set_level(logging.WARNING)
    work.tidies(lambda: 3)
    work.tidies(lambda: 1)
    assert sweep().n_tidied == 4
