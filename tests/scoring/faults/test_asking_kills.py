"""Workers that ask a model are killed around their calls. Every item ends with one verdict, nothing recorded is asked
again, and no bound of the endpoint is exceeded by who takes over."""

import os
import signal
import time

import pytest
from django.conf import settings

from annotate import work
from annotate.models import Work
from scoring import call_queries, running
from scoring.models import Call
from scoring.running import run_progress
from tests.annotate.children import wait_until
from tests.annotate.leases import end_lease
from tests.factories import make_cast, make_endpoint
from tests.judge_server import Act, JudgeServer, mix
from tests.scoring.asking_here import started
from tests.scoring.faults.workers import make_items, once_each, workers
from tests.scoring.faults.zygote import ASKING_POINTS

pytestmark = pytest.mark.django_db(transaction=True)
N_KILLS, AT_ONCE, N_ITEMS = 8, 3, 50


@pytest.fixture(autouse=True)
def nobody_is_woken(monkeypatch):
    monkeypatch.setattr(work.waking, "wake", lambda: None)


def number(asked):
    return '{"n": 0}'


def run_at(server, n_items, **endpoint):
    cast = make_cast()
    make_items(cast.project, n_items)
    values = {"concurrency": AT_ONCE, "per_minute": 100_000, **endpoint}
    return started(cast.project, make_endpoint(cast.project, server, **values), calls=10_000)


def driver_under_way():
    return Work.objects.get(kind=running.DRIVER, state="running")


@pytest.mark.fault(10, times=N_KILLS)
@pytest.mark.parametrize("point", ASKING_POINTS)
def test_a_worker_killed_around_a_call_loses_and_doubles_nothing(point):
    with JudgeServer(Act("number", number)) as server:
        run = run_at(server, N_ITEMS)
        with workers(settings.DATA_FOLDER, LLM_ALLOW_LOOPBACK="1") as those:
            for number_of_kill in range(N_KILLS):
                pid = those.fork(point=point, after=8 + number_of_kill % 3)
                those.hear("at", point)
                assert those.kill(pid) == -signal.SIGKILL
                end_lease(driver_under_way())
            recorded = dict(Call.objects.filter(state="answered").values_list("pk", "answered_at"))
            assert those.ended(those.fork()) == 0
        assert run_progress(run).state == "done"
        assert once_each(run)
        assert dict(Call.objects.filter(pk__in=recorded).values_list("pk", "answered_at")) == recorded
        asked = call_queries.asked_by([run.pk])[run.pk]
        assert (asked.n_calls, Call.objects.count()) == (2 * N_ITEMS, 2 * N_ITEMS)
        assert 2 * N_ITEMS <= server.n_answered <= asked.n_requests <= 2 * N_ITEMS + N_KILLS * AT_ONCE
        assert asked.n_requests == 2 * N_ITEMS + asked.n_lost
        assert server.most_at_once <= AT_ONCE


@pytest.mark.fault(13)
def test_a_sleeper_that_wakes_behind_its_lease_sends_nothing_and_its_answer_counts_once():
    with JudgeServer(Act("number", number)) as server:
        run = run_at(server, 6, concurrency=1)
        with workers(settings.DATA_FOLDER, LLM_ALLOW_LOOPBACK="1") as those:
            pid = those.fork(point=ASKING_POINTS[1])
            those.hear("at", ASKING_POINTS[1])
            os.kill(pid, signal.SIGSTOP)
            end_lease(driver_under_way())
            assert those.ended(those.fork()) == 0
            assert once_each(run)
            n_asked = len(server.times)
            os.kill(pid, signal.SIGCONT)
            os.kill(pid, signal.SIGUSR1)
            those.hear("at", "the end")
            assert those.ended(pid) == 0
        assert len(server.times) == n_asked == 13
        assert once_each(run)


@pytest.mark.fault(10)
def test_a_worker_that_is_killed_is_taken_over_within_seconds_at_the_pace_of_the_endpoint():
    per_minute = 610
    with JudgeServer(mix(number=(1.0, Act("number", number)), latency=0.1)) as server:
        run = run_at(server, 40, per_minute=per_minute)
        with workers(settings.DATA_FOLDER, LLM_ALLOW_LOOPBACK="1") as those:
            pids = [those.fork("celery", concurrency=2) for _ in range(2)]
            wait_until(lambda: len(server.times) > 20, those.process)
            for pid in pids[:1]:
                those.kill(pid)
            began = time.monotonic()
            wait_until(lambda: run_progress(run).state == "done", those.process)
            assert time.monotonic() - began < 45
        assert once_each(run)
        assert server.most_at_once <= AT_ONCE
        assert server.most_within(1) <= per_minute / 61 + 5
