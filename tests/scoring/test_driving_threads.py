"""Many calls at once: never more than the endpoint allows, nor faster, whichever worker drives."""

import threading
import time
from collections import Counter

import pytest
from django.db import connection

from annotate import work
from annotate.models import Work
from scoring import call_queries, driving, running
from scoring.llm import ProviderError
from scoring.models import Call, Verdict
from scoring.running import cancel_run, pause_run, resume_run, run_progress
from tests.annotate.leases import end_lease
from tests.factories import CONVERSATION, make_cast, make_endpoint, make_item, make_trace
from tests.scoring.asking_here import Model, answered_by, started
from tests.scoring.test_driving import PROBLEM

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cast(db):
    return make_cast()


def run_of(cast, n_items, **endpoint):
    trace = make_trace(cast.project, CONVERSATION)
    for number in range(n_items):
        make_item(cast.project, trace=trace, text=f"Reply number {number}.", reply=5)
    return started(cast.project, make_endpoint(cast.project, **{"per_minute": 100_000, **endpoint}))


def once_each(run):
    items = Verdict.objects.filter(run=run).values_list("item", "sample")
    return len(items) == len(set(items)) == run.n_items


def is_only_answered_or_not_sent(n_asked):
    """Every call that was sent has its answer; one that stood at the gate was taken back as if never tried."""
    calls = Counter(Call.objects.values_list("state", "n_tries"))
    return calls.pop(("answered", 1)) == n_asked and set(calls) <= {("stored", 0)}


def test_as_many_calls_as_allowed_go_at_once_and_never_more(cast, monkeypatch):
    run = run_of(cast, 24, concurrency=6)
    with answered_by(monkeypatch, Model(seconds=0.3)) as model:
        began = time.monotonic()
        work.drain()
        took = time.monotonic() - began
    assert once_each(run)
    assert model.most_at_once == 6
    assert len(model.asked) == 48
    assert took < 48 * 0.3


def test_requests_are_no_faster_than_allowed(cast, monkeypatch):
    run = run_of(cast, 6, concurrency=6, per_minute=610)
    with answered_by(monkeypatch, Model(seconds=0.02)) as model:
        work.drain()
    assert once_each(run)
    assert max(model.times) - min(model.times) >= 11 * 0.1 - driving.Pace.SLACK - 0.05


def test_what_is_turned_away_comes_again_while_others_go_on(cast, monkeypatch):
    monkeypatch.setattr(driving, "wait_behind", lambda n_tries, retry_after, draw: retry_after or 0.2)
    run = run_of(cast, 20, concurrency=5)

    def plays(request):
        if request.n % 7 == 0:
            return ProviderError("busy", PROBLEM, retry_after=0.5)
        return ProviderError("down", PROBLEM) if request.n % 11 == 0 else '{"n": 0}'

    with answered_by(monkeypatch, Model(plays, seconds=0.02)) as model:
        work.drain()
    assert once_each(run)
    assert Call.objects.filter(state="answered").count() == 40
    assert call_queries.asked_by([run.pk])[run.pk].n_requests == len(model.asked)


def test_a_run_that_is_held_ends_its_calls_under_way_and_sends_no_more(cast, monkeypatch):
    monkeypatch.setattr(driving, "BEAT_SECONDS", 0.05)
    run = run_of(cast, 30, concurrency=3)

    def plays(request):
        if request.n == 4:
            assert pause_run(person=None, run=run)
        return '{"n": 0}'

    with answered_by(monkeypatch, Model(plays, seconds=0.2)) as model:
        work.drain()
        n_before = len(model.asked)
        assert n_before < 30
        assert is_only_answered_or_not_sent(n_before)
        assert not Work.objects.filter(state="running").exists()
        assert resume_run(person=None, run=run)
        work.drain()
    assert once_each(run)
    assert len(model.asked) == 60


def test_what_stands_at_the_gate_when_a_run_is_held_is_taken_back(cast, monkeypatch):
    monkeypatch.setattr(driving, "BEAT_SECONDS", 0.05)
    run = run_of(cast, 6, concurrency=3, per_minute=30)

    def plays(request):
        if request.n == 1:
            assert pause_run(person=None, run=run)
        return '{"n": 0}'

    with answered_by(monkeypatch, Model(plays, seconds=0.4)) as model:
        work.drain()
        assert len(model.asked) == 1
        assert Call.objects.filter(state="stored", n_tries=0).count() >= 2
        assert is_only_answered_or_not_sent(1)
        run.endpoint.per_minute = 100_000
        run.endpoint.save()
        assert resume_run(person=None, run=run)
        work.drain()
    assert once_each(run)


def test_a_run_that_is_called_off_stops(cast, monkeypatch):
    monkeypatch.setattr(driving, "BEAT_SECONDS", 0.05)
    run = run_of(cast, 30, concurrency=3)

    def plays(request):
        if request.n == 4:
            cancel_run(person=None, run=run)
        return '{"n": 0}'

    with answered_by(monkeypatch, Model(plays, seconds=0.2)) as model:
        work.drain()
    assert len(model.asked) < 30
    assert run_progress(run).state == "cancelled"


def test_many_at_once_stay_within_the_cap(cast, monkeypatch):
    run = run_of(cast, 20, concurrency=8)
    run.cap_calls = 11
    run.save()
    with answered_by(monkeypatch, Model(seconds=0.05)) as model:
        work.drain()
    assert len(model.asked) == 11
    run.refresh_from_db()
    assert run.held_for["code"] == "cap_reached"


def test_who_was_taken_over_sends_nothing_more(cast, monkeypatch):
    """A driver sleeps through its lease with calls under way; the one behind it has the endpoint for itself."""
    monkeypatch.setattr(driving, "BEAT_SECONDS", 0.1)
    run = run_of(cast, 8, concurrency=2)
    asleep, awake = threading.Event(), threading.Event()
    sleepers = set()

    def plays(request):
        if threading.current_thread() in first_threads or not asleep.is_set():
            sleepers.add(threading.current_thread())
            if len(sleepers) == 2:
                asleep.set()
            awake.wait(20)
        return '{"n": 0}'

    first_threads = sleepers
    beat = work.Job.extend

    def extend(job, **fields):
        if asleep.is_set() and job.row.kind == running.DRIVER and job.number == 1:
            awake.wait(20)
        return beat(job, **fields)

    monkeypatch.setattr(work.Job, "extend", extend)

    def drive_first():
        try:
            job = work.claim(kinds=(running.DRIVER,))
            work.run(job)
        finally:
            connection.close()

    with answered_by(monkeypatch, Model(plays)) as model:
        first = threading.Thread(target=drive_first)
        first.start()
        assert asleep.wait(20)
        time.sleep(0.3)
        end_lease(Work.objects.get(kind=running.DRIVER))
        work.run(work.claim(kinds=(running.DRIVER,)))
        n_by_second = len(model.asked)
        awake.set()
        first.join(30)
    assert once_each(run)
    assert n_by_second == 2 + 16
    assert len(model.asked) == n_by_second
    assert call_queries.asked_by([run.pk])[run.pk].n_lost == 2


def test_a_driver_gives_way_to_what_people_wait_for(cast, monkeypatch):
    monkeypatch.setattr(driving, "WAY_SECONDS", 0.05)
    run = run_of(cast, 20, concurrency=2)
    order = []
    monkeypatch.setitem(work.HANDLERS, "urgent", lambda job: order.append(Verdict.objects.count()) or {})

    def plays(request):
        if request.n == 3:
            work.add_work(kind="urgent", key="urgent", payload={})
        return '{"n": 0}'

    with answered_by(monkeypatch, Model(plays, seconds=0.05)):
        work.drain()
    assert len(order) == 1
    assert order[0] < 20
    assert once_each(run)


def test_runs_of_one_endpoint_take_turns(cast, monkeypatch):
    monkeypatch.setattr(driving, "WAY_SECONDS", 0.05)
    monkeypatch.setattr(driving, "TURN_SECONDS", 0.2)
    run = run_of(cast, 20, concurrency=2)
    other = started(cast.project, run.endpoint, reuse=False)
    with answered_by(monkeypatch, Model(seconds=0.05)):
        work.drain()
    assert once_each(run)
    assert once_each(other)
    assert Work.objects.filter(kind=running.DRIVER).count() > 3
    assert Call.objects.filter(run=other).earliest("pk").pk < Call.objects.filter(run=run).latest("pk").pk


def test_what_has_cost_two_workers_their_lives_is_done_alone(cast, monkeypatch):
    run = run_of(cast, 12, concurrency=4)
    poison = Work.objects.filter(kind=running.ASKED).order_by("pk")[5]
    Work.objects.filter(pk=poison.pk).update(attempts=2)
    seen = {}

    def plays(request):
        time.sleep(0.1)
        if "Reply number 5." in request.text:
            seen["at once"] = model.at_once
        return '{"n": 0}'

    with answered_by(monkeypatch, Model(plays)) as model:
        work.drain()
    assert seen == {"at once": 1}
    assert once_each(run)
