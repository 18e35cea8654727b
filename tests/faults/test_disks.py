"""The disk is full: under the database, and under what people upload."""

import contextlib
import subprocess
import time

import pytest

from tests import programs
from tests.faults.after import all_is_well
from tests.faults.people import Crowd
from tests.faults.place import place as a_place
from tests.faults.test_databases import n_acknowledged, statuses_of_refusals, until_more

N_PEOPLE = 4
MEGABYTES = {"sqlite": 40, "postgresql": 250}


@pytest.fixture
def small_disk(tmp_path):
    """A folder that holds only so much; left out where this account may mount none."""
    made = []

    def make(folder, megabytes):
        folder.mkdir(exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder]
        if subprocess.run(command, capture_output=True).returncode:
            pytest.skip("No small disk can be mounted by this account; as root it can.")
        made.append(folder)

    yield make
    for folder in reversed(made):
        subprocess.run(["umount", "-l", folder], check=True)


def fill(folder):
    """Take all the room that is left there."""
    filler = folder / "filler"
    for size in (1 << 16, 1):
        with filler.open("ab", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"x" * size)
    return filler


@pytest.mark.fault(7)
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_full_disk_refuses_in_words_keeps_what_was_told_and_goes_on_when_there_is_room(
    database, tmp_path, small_disk, often, record_property
):
    disk = tmp_path / "disk"
    if database == "sqlite":
        small_disk(disk, MEGABYTES[database])
        run(tmp_path, disk, f"sqlite://{disk / 'db.sqlite3'}", often, record_property)
    else:
        with programs.cluster(print, programs.DURABLE, lambda folder: small_disk(folder, MEGABYTES[database])) as made:
            if made is None:
                pytest.skip(programs.PROGRAMS["postgresql"].remedy)
            run(tmp_path, made.folder, made.url, often, record_property)


def run(home, disk, url, often, record_property):
    with a_place(home, url) as place:
        place.fill(often(60, 300, 1500), N_PEOPLE)
        place.start_web()
        people = place.people()
        with Crowd(people, think=0.05):
            for _ in range(often(1, 5, 30)):
                until_more(place)
                filler = fill(disk)
                wait_for_refusals(place)
                filler.unlink()
                took = until_more(place, n=1)
        all_is_well(place, people, record_property)
        assert statuses_of_refusals(place) <= {"503", "507"}
    record_property("repetitions", often(1, 5, 30))
    record_property("seconds", took)


def wait_for_refusals(place, n=5, seconds=30):
    before, began = place.ledger.n_failed, time.monotonic()
    while place.ledger.n_failed < before + n:
        assert time.monotonic() - began < seconds, (n_acknowledged(place), place.log())
        time.sleep(0.02)
