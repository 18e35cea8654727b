"""A release is sealed and exported while labels arrive, and the export is killed."""

import hashlib
import json
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.faults.after import all_is_well
from tests.faults.people import PROJECT, Crowd
from tests.faults.place import end_group
from tests.faults.test_databases import until_more
from tests.suite import ROOT

N_PEOPLE = 4


def is_whole(folder):
    """Whether every file is there as the list says, which is written last."""
    listed = json.loads((folder / "files.json").read_text("utf-8"))["files"]
    return all(hashlib.sha256((folder / one["name"]).read_bytes()).hexdigest() == one["sha256"] for one in listed)


@pytest.mark.prove
@pytest.mark.fault(28)
def test_an_export_while_labels_arrive_is_whole_or_not_there(make_place, often, record_property, tmp_path):
    place, n, n_gathered = make_place(), often(3, 5, 30), often(0, 1_000, 250_000)
    place.fill(80 + 20 * n + n_gathered // 2, N_PEOPLE)
    place.inside("answer_many", n_gathered)
    place.start_web()
    people, n_whole = place.people(), 0
    with Crowd(people, think=0.3):
        until_more(place, n=20)
        place.manage("seal_release", PROJECT)
        usual = export_seconds(place, tmp_path / "usual")
        for number in range(n):
            folder = tmp_path / f"out-{number}"
            command = [sys.executable, "manage.py", "export_release", PROJECT, "--out", folder]
            child = subprocess.Popen(
                command, cwd=ROOT, env=place.environment, start_new_session=True, stdout=subprocess.DEVNULL
            )
            time.sleep(1.2 * usual * (number + 1) / n)
            end_group(child, signal.SIGKILL)
            assert not folder.exists() or is_whole(folder)
            n_whole += folder.exists()
            shutil.rmtree(folder, ignore_errors=True)
            until_more(place, n=1)
        place.manage("seal_release", PROJECT)
    assert is_whole(tmp_path / "usual")
    all_is_well(place, people, record_property)
    record_property("repetitions", n)
    assert n_whole < n


def export_seconds(place, folder):
    began = time.monotonic()
    place.manage("export_release", PROJECT, "--out", folder)
    return time.monotonic() - began
