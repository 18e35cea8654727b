"""The clock of the web server jumps, stands still and goes through the end of winter time; the database has its own."""

from pathlib import Path

import pytest

from tests import programs
from tests.faults.after import all_is_well
from tests.faults.people import Crowd
from tests.faults.test_databases import until_more

CLOCKS = ("+1d", "-1d", "+10m", "2026-03-29 01:59:58", "@2026-03-29 01:59:58")
"""As libfaketime reads them: a date alone stands still, one behind @ goes on from there."""
ZONE = "Europe/Berlin"
SLEEPING = Path(__file__).parent / "clock"


@pytest.mark.fault(21)
def test_a_clock_that_jumps_or_stands_still_costs_no_answer_and_signs_nobody_out(make_place, often, record_property):
    library = programs.faketime()
    if library is None:
        pytest.fail(f"There is no libfaketime: {programs.PROGRAMS['faketime'].remedy}")
    place, n = make_place(), often(1, 1, 5)
    place.fill(80 + 60 * n, 4)
    place.start_web()
    people = place.people()
    with Crowd(people, think=0.1):
        for clock in CLOCKS * n:
            until_more(place)
            place.kill_web()
            place.start_web(**told(library, clock))
            until_more(place)
    all_is_well(place, people, record_property)
    assert {is_signed_in(person) for person in people} == {True}
    place.kill_web()
    place.start_web(**told(library, "+400d"))
    assert {is_signed_in(person) for person in people} == {False}
    record_property("repetitions", len(CLOCKS) * n)


def is_signed_in(person):
    status, _, _ = person.insist("GET", "/account/", until=(200, 302))
    return status == 200


def told(library, clock):
    """The environment of a process that is told another time: files keep theirs, and so does what waits."""
    return {
        "LD_PRELOAD": str(library),
        "FAKETIME": clock,
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "NO_FAKE_STAT": "1",
        "PYTHONPATH": str(SLEEPING),
        "TZ": ZONE,
    }
