"""The clock of the web server jumps and stands still."""

import pytest

from tests import programs
from tests.faults.after import all_is_well
from tests.faults.people import Crowd
from tests.faults.test_databases import until_more

CLOCKS = ("+1d", "-1d", "+10m", "2026-03-29 01:59:58", "+0")
"""As libfaketime reads them; a date alone stands still."""


@pytest.mark.fault(21)
def test_a_clock_that_jumps_or_stands_still_costs_no_answer_and_signs_nobody_out(make_place, often, record_property):
    library = programs.faketime()
    if library is None:
        pytest.fail(f"There is no libfaketime: {programs.PROGRAMS['faketime'].remedy}")
    place, n = make_place(), often(1, 5)
    place.fill(80 + 60 * n, 4)
    place.start_web()
    people = place.people()
    with Crowd(people, think=0.1):
        for clock in CLOCKS * n:
            until_more(place)
            place.kill_web()
            place.start_web(LD_PRELOAD=str(library), FAKETIME=clock, FAKETIME_DONT_FAKE_MONOTONIC="1")
            until_more(place)
    all_is_well(place, people, record_property)
    record_property("repetitions", len(CLOCKS) * n)
