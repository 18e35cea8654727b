"""The web server is killed in the middle of a submit, or its answer is lost on the way."""

import contextlib
import os
import signal
import statistics
import threading
import time

import pytest

from tests.faults.after import all_is_well
from tests.faults.people import Crowd, NotAnswered
from tests.faults.proxy import proxy

N_BESIDE = 4
STEPS = 1.5


@pytest.fixture
def place(make_place, often):
    made = make_place()
    n_moments = often(6, 100, 200)
    made.fill(n_moments + 40, N_BESIDE + 1)
    made.start_web()
    return made


def usual_seconds(person, n=5):
    """The median time of a submit, undisturbed."""
    for _ in range(n):
        person.submit()
    return statistics.median(person.seconds[-n:])


def at_moments(n, seconds):
    """Spread over a request, to half as long again as it usually takes."""
    return [STEPS * seconds * place / max(n - 1, 1) for place in range(n)]


def try_in_background(person):
    """One try to submit, which may end in any way."""

    def act():
        with contextlib.suppress(NotAnswered):
            person.send()

    thread = threading.Thread(target=act)
    thread.start()
    return thread


@pytest.mark.fault(1)
def test_a_web_worker_killed_in_a_submit_loses_nothing_and_harms_nobody_else(place, often, record_property):
    victim, *others = place.people()
    met = 0
    with Crowd(others, think=0.2):
        usual = usual_seconds(victim)
        for moment in at_moments(often(6, 100, 200), usual):
            item = victim.form.item
            thread = try_in_background(victim)
            until = time.monotonic() + moment
            pid = None
            while time.monotonic() < until or (pid is None and thread.is_alive()):
                pid = pid or serving(place, victim)
            if pid is not None and thread.is_alive():
                met += 1
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid or place.web_workers()[0], signal.SIGKILL)
            thread.join()
            if victim.form.item == item:
                victim.submit()
    all_is_well(place, [victim, *others], record_property)
    record_property("repetitions", often(6, 100, 200))
    assert met  # some of them at least in the middle of the request


def serving(place, person):
    line = person.line and person.line.sock
    try:
        return place.serving(line.getsockname()[1]) if line else None
    except OSError:
        return None


@pytest.mark.fault(2)
def test_a_web_server_killed_whole_comes_back_with_every_answer(place, often, record_property):
    victim, *others = place.people()
    usual, took = usual_seconds(victim), []
    with Crowd(others, think=0.2):
        for moment in at_moments(often(2, 100, 200), usual):
            item = victim.form.item
            thread = try_in_background(victim)
            time.sleep(moment)
            place.kill_web()
            began = time.monotonic()
            place.start_web()
            took.append(time.monotonic() - began)
            thread.join()
            if victim.form.item == item:
                victim.submit()
    all_is_well(place, [victim, *others], record_property)
    record_property("repetitions", often(2, 100, 200))
    assert max(took) < 30


@pytest.mark.fault(3)
def test_an_answer_lost_behind_its_commit_is_told_again_and_stored_once(place, often, record_property):
    [*others] = place.people(place.names[1:])
    with proxy(place.port) as line, Crowd(others, think=0.2):
        (victim,) = place.people(place.names[:1], port=line.port)
        n_cut, n = 0, often(6, 100, 200)
        for number in range(n):
            item = victim.form.item
            victim.hang_up()
            line.cut_after = number * 40
            try:
                victim.send()
            except NotAnswered:
                n_cut += 1
            line.cut_after = None
            if victim.form.item == item:
                victim.hang_up()
                victim.submit()
    came = all_is_well(place, [victim, *others], record_property)
    record_property("repetitions", n)
    assert 0 < n_cut <= came.unknown
