"""Workers are killed at named points, delivered the same job twice, sleep through their lease, and meet jobs that end
them. Every item ends with one verdict, or is given up and says so."""

import os
import signal
import time

import pytest
from django.conf import settings
from django.db.models.functions import Now

from annotate import tasks, work
from annotate.models import Work
from scoring.models import Verdict
from scoring.running import run_progress
from tests.annotate.children import wait_until
from tests.annotate.leases import end_lease
from tests.scoring.faults.workers import finish_here, once_each, started, workers
from tests.scoring.faults.zygote import POINTS

pytestmark = pytest.mark.django_db(transaction=True)
N_KILLS = 30


@pytest.fixture(autouse=True)
def nobody_is_woken(monkeypatch):
    monkeypatch.setattr(work.waking, "wake", lambda: None)


def end_leases(run):
    for row in Work.objects.filter(group=run.group, state="running"):
        end_lease(row)


@pytest.mark.fault(10, times=N_KILLS)
@pytest.mark.parametrize("point", POINTS)
def test_a_worker_killed_at_any_point_loses_and_doubles_nothing(point):
    run, met = started(N_KILLS + 2), set()
    with workers(settings.DATA_FOLDER) as those:
        for _ in range(N_KILLS):
            pid = those.fork(point=point)
            at = those.hear("at", point)["work"]
            row = Work.objects.get(pk=at)
            has_verdict = Verdict.objects.filter(run=run, item=row.payload["item"]).exists()
            is_recorded = point == POINTS[2]
            assert (row.state, row.attempts) == ("done" if is_recorded else "running", 1)
            assert has_verdict is is_recorded
            assert those.kill(pid) == -signal.SIGKILL
            met.add(at)
    assert len(met) == N_KILLS  # each kill met another job in work
    end_leases(run)
    finish_here(run)
    assert once_each(run)
    attempts = {row.pk: row.attempts for row in Work.objects.filter(group=run.group)}
    assert {attempts[pk] for pk in met} == {1 if point == POINTS[2] else 2}


@pytest.mark.fault(10, times=5)
def test_what_killed_workers_held_is_taken_over_by_a_sweep_once_the_lease_is_over():
    lease, n_killed = 5, 5
    run = started(n_killed)
    jobs = Work.objects.filter(group=run.group)
    with workers(settings.DATA_FOLDER) as those:
        pids = [those.fork(point=POINTS[0], lease=lease) for _ in range(n_killed)]
        met = {those.hear("at", POINTS[0])["work"] for _ in pids}
        for pid in pids:
            those.kill(pid)
        assert {row.pk for row in jobs.filter(state="running", attempts=1, lease_until__gt=Now())} == met
        assert len(met) == n_killed
        began = time.monotonic()
        those.fork("celery", concurrency=2, sweep=1)
        wait_until(lambda: run_progress(run).state == "done", those.process)
        assert time.monotonic() - began < lease + 30
    assert once_each(run)
    assert set(jobs.values_list("attempts", flat=True)) == {2}
    assert tasks.SWEEP_SECONDS < 30


@pytest.mark.fault(12, times=N_KILLS)
def test_a_job_that_is_delivered_many_times_at_once_gets_one_verdict():
    with workers(settings.DATA_FOLDER) as those:
        for _ in range(N_KILLS):
            run = started(1)
            pid = those.fork(point=POINTS[0])
            row = Work.objects.get(pk=those.hear("at", POINTS[0])["work"])
            assert (row.group_id, row.state) == (run.group_id, "running")
            those.kill(pid)
            end_lease(row)
            two = [those.fork(), those.fork()]
            assert [those.ended(pid) for pid in two] == [0, 0]
            assert once_each(run)
            row.refresh_from_db()
            assert row.attempts == 2
        assert [those.ended(those.fork()) for _ in range(5)] == [0] * 5  # a week late there is nothing to do
    assert Verdict.objects.count() == N_KILLS


@pytest.mark.fault(13, times=N_KILLS)
def test_a_sleeper_that_wakes_behind_its_lease_records_nothing():
    with workers(settings.DATA_FOLDER) as those:
        for _ in range(N_KILLS):
            run = started(1)
            pid = those.fork(point=POINTS[0])
            row = Work.objects.get(pk=those.hear("at", POINTS[0])["work"])
            end_lease(row)
            job = work.claim(run.group)  # another worker
            assert (job.row.pk, job.number) == (row.pk, 2)
            os.kill(pid, signal.SIGUSR1)  # the sleeper wakes
            those.hear("at", "the end")
            assert those.ended(pid) == 0
            row.refresh_from_db()
            assert (row.state, row.attempts) == ("running", 2)
            assert not Verdict.objects.filter(run=run).exists()
            job.give_back()
            finish_here(run)
            assert once_each(run)


@pytest.mark.fault(14, times=N_KILLS // 3)
def test_a_job_that_kills_its_worker_each_time_is_given_up_and_the_others_go_on():
    n_poison = N_KILLS // 3
    run = started(N_KILLS, text="Reply ({number})")
    poison = [f"({number})" for number in range(0, N_KILLS, 3)]
    n_kills = 0
    with workers(settings.DATA_FOLDER) as those:
        while True:
            pid = those.fork(poison=poison)
            how = those.ended(pid)
            if how == 0:
                break
            assert how == 9
            row = Work.objects.get(pk=those.hear("at", "poison")["work"])
            assert row.state == "running"
            n_kills += 1
            end_leases(run)
    assert n_kills == 3 * n_poison == N_KILLS
    work.sweep()
    progress = run_progress(run)
    assert (progress.state, progress.n_done, progress.n_dead) == ("done", N_KILLS - n_poison, n_poison)
    dead = Work.objects.filter(group=run.group, state="dead")
    assert {(row.attempts, row.error) for row in dead} == {(3, work.WORKER_DIED)}
    assert Verdict.objects.filter(run=run).count() == N_KILLS - n_poison
    run.refresh_from_db()
    assert run.ended_at is not None
