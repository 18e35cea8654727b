"""PostgreSQL is killed, restarted, cut off and slowed while people label."""

import os
import subprocess
import time

import pytest

from tests import programs
from tests.faults.after import all_is_well
from tests.faults.people import Crowd
from tests.faults.place import place as a_place
from tests.faults.proxy import proxy

N_PEOPLE = 6


@pytest.fixture
def server():
    """A cluster of its own, which may be killed."""
    with programs.cluster(print, programs.DURABLE) as made:
        if made is None:
            pytest.skip(programs.PROGRAMS["postgresql"].remedy)
        yield made


@pytest.fixture
def place(server, tmp_path, often):
    with a_place(tmp_path, server.url) as made:
        made.fill(often(60, 1500), N_PEOPLE)
        made.start_web()
        yield made


def n_acknowledged(place):
    return len(place.ledger.acknowledged)


def until_more(place, n=3, seconds=30):
    """How long until so many more answers were acknowledged."""
    before, began = n_acknowledged(place), time.monotonic()
    while n_acknowledged(place) < before + n:
        assert time.monotonic() - began < seconds, f"nothing was acknowledged for {seconds} seconds\n{place.log()}"
        time.sleep(0.02)
    return time.monotonic() - began


@pytest.mark.fault(4)
def test_a_database_killed_under_load_keeps_what_was_acknowledged_and_is_found_again(
    place, server, often, record_property
):
    people, took = place.people(), []
    with Crowd(people, think=0.1):
        for _ in range(often(2, 10, 30)):
            until_more(place)
            server.kill()
            server.start(programs.DURABLE)
            took.append(until_more(place, n=1))
    all_is_well(place, people, record_property)
    record_property("repetitions", len(took))
    record_property("seconds", max(took))


@pytest.mark.fault(5)
@pytest.mark.parametrize("how", ["restarted", "connections ended"])
def test_a_database_restarted_in_good_order_costs_each_at_most_a_try(place, server, often, record_property, how):
    people, took = place.people(), []
    with Crowd(people, think=0.1):
        for _ in range(often(2, 10, 30)):
            until_more(place)
            if how == "restarted":
                server.stop("fast")
                server.start(programs.DURABLE)
            else:
                end_connections(server)
            took.append(until_more(place, n=1))
    all_is_well(place, people, record_property)
    record_property("repetitions", len(took))
    record_property("seconds", max(took))


def end_connections(server):
    tell(server, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")


def tell(server, words):
    command = [server.binaries / "psql", "-h", server.folder, "-U", "app", "-d", "postgres", "-c", words]
    subprocess.run(command, check=True, **server.quiet)


@pytest.mark.fault(6)
def test_a_wait_for_a_lock_is_bounded_and_said_and_nothing_is_lost(server, tmp_path, often, record_property):
    held, bound = 4, 1
    with a_place(tmp_path, server.url) as place:
        place.fill(often(60, 300, 1500), N_PEOPLE)
        place.start_web(PGOPTIONS=f"-c lock_timeout={bound}s -c statement_timeout=10s")
        people = place.people()
        with Crowd(people, think=0.1):
            for _ in range(often(1, 5, 30)):
                until_more(place)
                before, began = place.ledger.n_failed, time.monotonic()
                tell(server, f"BEGIN; LOCK annotate_annotation; SELECT pg_sleep({held}); COMMIT")
                assert place.ledger.n_failed - before >= N_PEOPLE * (held // bound - 2)
                assert until_more(place, n=1) < held, time.monotonic() - began
        all_is_well(place, people, record_property)
        assert statuses_of_refusals(place) == {"503"}
    record_property("repetitions", often(1, 5, 30))


@pytest.mark.fault(6)
def test_a_database_out_of_reach_and_then_slow_holds_people_up_and_loses_nothing(
    server, tmp_path, often, record_property
):
    seconds = often(4, 15, 300)
    with proxy(server.socket) as line:
        url = f"postgresql://app@127.0.0.1:{line.port}/postgres"
        with a_place(tmp_path, url) as place:
            place.fill(often(60, 300), N_PEOPLE)
            place.start_web()
            people = place.people()
            for person in people:
                person.patience = seconds + 60
            n_before = n_workers(place)
            with Crowd(people, think=0.1):
                for _ in range(often(1, 5, 30)):
                    until_more(place)
                    line.is_holding = True
                    time.sleep(seconds)
                    line.is_holding = False
                    took = until_more(place, n=1)
                    line.delay = often(0.05, 0.05, 2.0)
                    until_more(place, seconds=90)
                    line.delay = 0.0
            all_is_well(place, people, record_property)
            assert n_workers(place) <= n_before + 1
    record_property("repetitions", often(1, 5, 30))
    record_property("seconds", took)


def statuses_of_refusals(place):
    lines = (place.folder / "ledger.jsonl").read_text("utf-8").splitlines()
    return {line.split('"status": ')[1].rstrip("}") for line in lines if '"failed"' in line}


def n_workers(place):
    return len(place.web_workers()) if os.path.exists(f"/proc/{place.web.pid}") else 0
