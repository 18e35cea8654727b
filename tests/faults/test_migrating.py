"""Bringing a database with labels to newer tables is killed on the way, and done again."""

import signal
import subprocess
import sys
import time

import pytest

from tests.faults.after import all_is_well
from tests.faults.people import Crowd
from tests.faults.place import end_group
from tests.faults.test_databases import until_more
from tests.suite import ROOT

OLDER = ("scoring", "0001", "annotate", "0010")


@pytest.mark.prove
@pytest.mark.fault(30)
def test_a_migration_killed_on_the_way_is_done_again_and_no_row_is_another(make_place, often, record_property):
    place, n, n_gathered = make_place(), often(1, 5, 30), often(0, 1_000, 100_000)
    place.fill(40 + n_gathered // 2, 3)
    place.inside("answer_many", n_gathered)
    place.start_web()
    people = place.people()
    with Crowd(people):
        until_more(place, n=30)
    place.kill_web()
    before = place.inside("rows")
    place.inside("migrate_to", *OLDER)
    began = time.monotonic()
    place.manage("migrate")
    usual = time.monotonic() - began
    for number in range(n):
        place.inside("migrate_to", *OLDER)
        child = subprocess.Popen(
            [sys.executable, "manage.py", "migrate"],
            cwd=ROOT,
            env=place.environment,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
        )
        time.sleep(usual * (0.3 + 0.7 * number / n))
        end_group(child, signal.SIGKILL)
        place.manage("migrate")
        assert place.inside("rows") == before
    place.start_web()
    with Crowd(people):
        until_more(place)
    all_is_well(place, people, record_property)
    record_property("repetitions", n)
