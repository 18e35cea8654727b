"""A run ends on every broker, and whatever becomes of the broker or of the workers at it: messages only wake."""

import os
import shutil
import signal
import time

import pytest
import redis
from celery import current_app
from django.conf import settings

from annotate import waking, work
from annotate.models import Assignment, Work
from config.celery import app
from scoring.models import Run, Verdict
from scoring.running import run_progress
from tests import programs
from tests.annotate.children import LONGEST_WAIT, child, wait_until
from tests.annotate.leases import end_lease
from tests.factories import make_cast
from tests.scoring.faults.workers import finish_here, make_items, once_each, started, workers
from tests.scoring.faults.zygote import POINTS, SITE_POINTS

pytestmark = pytest.mark.django_db(transaction=True)
N_KILLS = 30
QUEUE = app.conf.task_default_queue


def need(name):
    """At a desk a broker that is not there is left out with the line to run; in CI it has to be there."""
    program = programs.PROGRAMS[name]
    if not program.is_there():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(program.remedy)


@pytest.fixture
def point(monkeypatch):
    """Let this process send its messages to another broker."""

    def point(url):
        monkeypatch.setattr(settings, "BROKER_FOLDER", None)
        monkeypatch.setitem(app.conf.changes, "broker_url", url)
        monkeypatch.setattr(app, "connection_for_write", lambda **more: app._connection(url, **more))
        return {"SIGHTLINE_BROKER_URL": url}

    return point


@pytest.fixture
def folder():
    shutil.rmtree(settings.BROKER_FOLDER, ignore_errors=True)
    waking.make_broker_folders()


def through(run):
    return lambda: run_progress(run).state == "done"


def end_leases(run):
    for row in Work.objects.filter(group=run.group, state="running"):
        end_lease(row)


# Every broker


def goes_through(environment):
    with workers(settings.DATA_FOLDER, **environment) as those:
        pid = those.fork("celery", concurrency=2)
        first = started(1)
        wait_until(through(first), those.process)
        run, began = started(20), time.monotonic()
        wait_until(through(run), those.process)
        assert time.monotonic() - began < 10  # by its message: a sweep would take longer to come
        assert once_each(run)
        assert those.kill(pid, signal.SIGTERM) == 0


def test_a_run_goes_through_on_files(folder):
    goes_through({})


def test_a_run_goes_through_on_redis(point):
    need("redis")
    with programs.redis() as server:
        goes_through(point(server.url))


def test_a_run_goes_through_on_rabbitmq(point):
    need("rabbitmq")
    with programs.rabbitmq() as url:
        goes_through(point(url))


# The broker dies


@pytest.mark.fault(9, times=N_KILLS)
def test_a_redis_killed_with_messages_in_it_and_its_data_gone_loses_no_job(point):
    need("redis")
    with programs.redis() as server, workers(settings.DATA_FOLDER, **point(server.url)) as those:
        for _ in range(N_KILLS):
            run = started(2)
            assert redis.Redis(port=server.port).llen(QUEUE) > 0  # nobody has heard of it
            pid = those.fork(point=POINTS[0])
            at = those.hear("at", POINTS[0])["work"]
            assert Work.objects.get(pk=at).state == "running"
            server.kill()
            os.kill(pid, signal.SIGUSR1)
            assert those.ended(pid) == 0  # the job in work is recorded, and the next one, without any broker
            assert once_each(run)
            server.start()
            assert redis.Redis(port=server.port).llen(QUEUE) == 0
        left = started(3)
        redis.Redis(port=server.port).flushall()
        work.sweep()
        finish_here(left)  # what a worker does behind its sweep
        assert once_each(left)


@pytest.mark.fault(9)
def test_a_worker_at_a_redis_that_dies_and_comes_back_empty_goes_on(point):
    need("redis")
    with programs.redis() as server, workers(settings.DATA_FOLDER, **point(server.url)) as those:
        those.fork("celery", concurrency=2, sleep=0.05)
        run = started(20)
        wait_until(lambda: Verdict.objects.filter(run=run).exists(), those.process)
        server.kill()
        while_away = started(2)  # a lead starts one though no message can be sent
        server.start()
        wait_until(through(run), those.process)
        wait_until(through(while_away), those.process)
        assert once_each(run)
        assert once_each(while_away)


def test_a_worker_whose_folder_of_messages_is_removed_goes_on(folder):
    with workers(settings.DATA_FOLDER) as those:
        those.fork("celery", concurrency=2, sleep=0.05)
        run = started(20)
        wait_until(lambda: Verdict.objects.filter(run=run).exists(), those.process)
        shutil.rmtree(settings.BROKER_FOLDER)
        wait_until(through(run), those.process)
        assert once_each(run)


# The worker is stopped

STOPS = [signal.SIGTERM, signal.SIGQUIT, signal.SIGKILL]
N_CALLS = 50
WORKER_THAT_JUDGES = [
    *("-m", "celery", "-A", "tests.scoring.faults.judging", "--quiet", "worker", "-P", "threads"),
    *("--concurrency", str(N_CALLS), "--without-gossip", "--without-mingle", "--without-heartbeat"),
]


@pytest.mark.fault(11)
@pytest.mark.parametrize("number", STOPS)
def test_a_worker_stopped_during_fifty_running_calls_loses_and_doubles_nothing(point, number):
    need("redis")
    with programs.redis() as server:
        environment = point(server.url)
        run = started(200)
        for _ in range(N_CALLS):
            waking.wake()
        jobs = Work.objects.filter(group=run.group)
        with child(*WORKER_THAT_JUDGES, data=settings.DATA_FOLDER, SLEEP="3", **environment) as process:
            wait_until(lambda: jobs.filter(state="running").count() >= N_CALLS, process)
            process.send_signal(number)
            process.communicate(timeout=LONGEST_WAIT)
    if number == signal.SIGKILL:
        assert jobs.filter(state="running").count() >= N_CALLS
    else:  # those that were running were let finish, no further one was begun
        assert jobs.filter(state="done").count() in (N_CALLS, N_CALLS + 1)
    end_leases(run)
    finish_here(run)
    assert once_each(run)


AT_ONCE = 6


@pytest.mark.fault(11, times=N_KILLS // AT_ONCE)
@pytest.mark.parametrize("number", STOPS)
def test_workers_stopped_while_they_judge_lose_and_double_nothing(point, number):
    need("redis")
    with programs.redis() as server, workers(settings.DATA_FOLDER, **point(server.url)) as those:
        for _ in range(N_KILLS // AT_ONCE):
            pids = [those.fork("celery", concurrency=2, sleep=0.7) for _ in range(AT_ONCE)]
            for _ in pids:
                those.hear("at", "up")
            run = started(10 * AT_ONCE)
            for _ in range(4 * AT_ONCE):
                waking.wake()
            met = wait_until(lambda run=run, pids=pids: in_work(those, run, pids), those.process)
            for pid in pids:
                os.kill(pid, number)
            for pid in pids:
                those.ended(pid)
            assert states_of(met) == ({"running"} if number == signal.SIGKILL else {"done"})
            end_leases(run)
            finish_here(run)
            assert once_each(run)


def in_work(those, run, pids):
    """Jobs that are running, if each of these workers has one of them."""
    running = set(Work.objects.filter(group=run.group, state="running").values_list("pk", flat=True))
    asleep = [said for said in those.said("asleep") if said["asleep"] in running]
    return {said["asleep"] for said in asleep} if {said["worker"] for said in asleep} == set(pids) else None


def states_of(jobs):
    return set(Work.objects.filter(pk__in=jobs).values_list("state", flat=True))


# Messages that come too often


@pytest.mark.fault(12, times=100)
def test_copies_of_a_message_out_of_order_and_a_week_late_do_nothing(folder):
    messages = settings.BROKER_FOLDER / "messages"
    run = started(30)
    (said,) = [path for path in messages.iterdir() if "msg" in path.name]
    content, name = said.read_bytes(), said.name
    for number in range(100):
        (messages / f"{99 - number}_{number}.{name.split('.', 1)[1]}").write_bytes(content)
    with workers(settings.DATA_FOLDER) as those:
        those.fork("celery", concurrency=4)
        wait_until(through(run), those.process)
        wait_until(lambda: not list(messages.iterdir()), those.process)
        assert once_each(run)
        current_app.send_task(waking.TASK, expires=-7 * 24 * 3600)  # long over
        (messages / f"0_again.{name.split('.', 1)[1]}").write_bytes(content)
        again = started(1)
        wait_until(through(again), those.process)
    assert once_each(run)
    assert Verdict.objects.count() == 31


# The site ends


@pytest.mark.parametrize("at", SITE_POINTS)
def test_a_site_killed_while_it_starts_a_run_leaves_it_whole_or_not_at_all(folder, at):
    runs = []
    with workers(settings.DATA_FOLDER) as those:
        for _ in range(N_KILLS):
            cast = make_cast()
            make_items(cast.project, 3)
            pid = those.fork("site", point=at, lead=cast.lea.person.pk, project=cast.project.slug)
            those.hear("at", at)
            assert bool(those.said("answered")) is (at == SITE_POINTS[2])
            assert those.kill(pid) == -signal.SIGKILL
            runs += Run.objects.filter(project=cast.project)
        if at == SITE_POINTS[0]:
            assert not Run.objects.exists()
            assert not Work.objects.exists()
            return
        assert len(runs) == N_KILLS
        those.fork("celery", concurrency=2)
        wait_until(lambda: not Work.objects.exclude(state="done").exists(), those.process)
        assert all(once_each(run) for run in runs)
    assert not Assignment.objects.exists()  # and nobody was given anything by it
