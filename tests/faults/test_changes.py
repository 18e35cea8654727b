"""A lead changes the guideline, pauses and retires people, and imports more, while everybody labels."""

import pytest

from tests.faults.after import all_is_well
from tests.faults.inside import write
from tests.faults.people import Crowd
from tests.faults.test_databases import until_more


@pytest.mark.fault(27)
def test_what_a_lead_changes_meanwhile_costs_no_answer(make_place, often, record_property, tmp_path):
    place, n = make_place(), often(2, 5, 30)
    place.fill(60 + 10 * n, often(5, 5, 50))
    lead = place.inside("lead")
    place.start_web()
    people = place.people()
    with Crowd(people, think=0.1):
        for number in range(n):
            until_more(place)
            place.inside("change_guideline", lead, number)
            place.inside("pause", lead, place.names[0], "yes")
            until_more(place)
            path = tmp_path / f"more-{number}.jsonl"
            write(path, 5, prefix=f"more-{number}")
            place.inside("bring_in", path)
            place.inside("pause", lead, place.names[0], "no")
            until_more(place)
        place.inside("retire", lead, place.names[1])
        until_more(place)
    all_is_well(place, people, record_property)
    record_property("repetitions", n)
