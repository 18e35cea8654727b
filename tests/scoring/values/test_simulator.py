"""Simulators in a bounded child: what an input may make one do, each by its name, and nothing left behind."""

import contextlib
import ctypes
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from scoring.values.registry import SIMULATORS
from scoring.values.simulator import REASONS, Bounds, Ran, simulate
from scoring.values.tiny import TINY

PROGRAMS = Path(__file__).with_name("programs")
HOSTILE = replace(TINY, program=PROGRAMS / "hostile.py")
BOUNDS = Bounds(seconds=20, memory_bytes=250 << 20, report_characters=100_000, file_bytes=8 << 20)
CUP = "TITLE a cup\nSTART 80\nSTEPS 3\nSAVE more.txt 12\nEND\nSTEPS 1\nEND\n"


def can_lock():
    """Whether the system has Landlock: the version of it that it says."""
    return sys.platform == "linux" and ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1) > 0


def ran(word, bounds=BOUNDS):
    return simulate(HOSTILE, word, "still.air", bounds)


def working_in(folder):
    """Processes of this machine that work in a folder below this one."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            found += [entry.name] * os.readlink(entry / "cwd").startswith(f"{folder}/")
    return found


@pytest.fixture(autouse=True)
def _nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield
    assert not list(tmp_path.glob("sightline-run-*"))


def test_a_run_gives_report_and_extra_files():
    found = ran("fine")
    assert (found.ok, found.reason, found.report, dict(found.extra_files)) == (
        True,
        "",
        "done\n",
        {"more.txt": "7.0779\n"},
    )


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("nothing", "printed_nothing"),
        ("sleeps", "out_of_time"),
        ("eats", "out_of_memory"),
        ("floods", "too_much_output"),
        ("one_file", "too_much_output"),
        ("many_files", "too_much_output"),
        ("raises", "crashed"),
        ("exits", "crashed"),
    ],
)
def test_what_goes_wrong_has_a_name(word, reason):
    found = ran(word, replace(BOUNDS, seconds=2) if reason == "out_of_time" else BOUNDS)
    assert (found.ok, found.reason) == (False, reason)
    assert reason in REASONS
    assert not found.extra_files
    assert len(found.report) <= BOUNDS.report_characters


def test_an_input_that_never_ends_is_ended_in_time():
    began = time.monotonic()
    assert ran("spins", replace(BOUNDS, seconds=1)).reason == "out_of_time"
    assert time.monotonic() - began < 10


def test_a_crash_of_the_engine_itself_is_named():
    crashing = replace(TINY, program=PROGRAMS / "crashing.py")
    assert simulate(crashing, "", "still.air", BOUNDS).reason == "crashed"


def test_what_a_simulator_prints_beside_its_report_goes_nowhere(capfd):
    assert ran("prints").report == "done\n"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("word", ["answers", "lies"])
def test_an_answer_past_the_contract_is_no_result(word):
    found = ran(word)
    assert not found.ok
    assert found.reason in {"too_much_output", "unreadable", "crashed", "out_of_time"}


@pytest.mark.skipif(sys.platform != "linux", reason="the system filters no calls")
@pytest.mark.parametrize("word", ["forks", "starts", "connects"])
def test_a_run_starts_no_process_and_opens_no_connection(word, tmp_path):
    assert ran(word).reason == "started_a_process"
    assert not working_in(tmp_path)


def test_threads_of_an_engine_run():
    assert ran("threads").ok


@pytest.mark.skipif(not can_lock(), reason="this system cannot lock files")
@pytest.mark.parametrize("word", ["reads", "writes"])
def test_files_outside_the_folder_are_out_of_reach(word, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("7.078")
    found = ran(f"{word} {secret}")
    assert (found.ok, found.reason) == (False, "crashed")
    assert "7.078" not in found.report
    assert secret.read_text() == "7.078"


def test_a_link_is_no_extra_file(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("7.078")
    assert not ran(f"links {secret}").extra_files


def test_where_files_cannot_be_locked_an_input_that_names_one_is_not_run():
    unlocked = replace(BOUNDS, locks=False)
    assert ran("fine FILE", unlocked).reason == "not_locked"
    assert ran("fine", unlocked).ok


@pytest.mark.parametrize(
    ("simulator", "input_text", "database", "reason"),
    [
        (replace(TINY, is_installed=lambda: False), "", "still.air", "not_installed"),
        (TINY, "", "../secret", "unknown_database"),
        (TINY, "x" * 2_000_001, "still.air", "input_too_long"),
    ],
)
def test_what_cannot_be_run_is_said_without_a_child(simulator, input_text, database, reason):
    assert simulate(simulator, input_text, database) == Ran(False, reason)


def test_the_child_gets_nothing_of_our_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("SIGHTLINE_SECRET", "7.078")
    program = tmp_path / "program.py"
    program.write_text(
        "import os\n"
        "def prepared(database): return None\n"
        "def refused(input_text): return ''\n"
        "def simulated(state, input_text): return {'ok': True, 'report': repr(dict(os.environ)) + os.getcwd()}\n"
    )
    found = simulate(replace(TINY, program=program), "", "still.air", BOUNDS)
    assert "SIGHTLINE" not in found.report
    assert os.getcwd() not in found.report


# The tiny one


def test_the_tiny_simulator_prints_the_same_every_time():
    first, second = (simulate(TINY, CUP, "still.air") for _ in range(2))
    assert first.ok
    assert (first.report, first.extra_files) == (second.report, second.extra_files)
    assert "\tVessel           73.8144\n" in first.report
    assert first.extra_files["more.txt"].split("\n")[0] == "1\t7.38144321724e+1"
    assert simulate(TINY, CUP, "moving.air").report != first.report


def test_the_tiny_simulator_repeats_its_input_in_sections_that_say_so():
    found = simulate(TINY, CUP, "still.air").report
    titles = [one.title for one in TINY.headings(found)]
    assert titles[:4] == ["Reading input data for simulation 1.", "TITLE", "Beginning of cooling.", "Step 1."]
    assert [TINY.is_echo(title) for title in titles[:4]] == [True, True, False, False]


def test_a_failed_run_keeps_what_it_had_printed():
    found = simulate(TINY, CUP + "BOIL 3\nEND\n", "still.air")
    assert (found.ok, found.reason, found.error) == (False, "input_error", "ERROR: unknown word BOIL")
    assert "73.8144" in found.report


@pytest.mark.parametrize("input_text", ["STEPS -1\nEND", "RATE nan\nEND", "START 1e9\nEND", "SAVE ../x 3\nEND"])
def test_an_input_that_is_wrong_is_an_error(input_text):
    assert simulate(TINY, input_text, "still.air").reason == "input_error"


def test_an_empty_input_prints_nothing():
    assert simulate(TINY, " \n", "still.air").reason == "printed_nothing"


def test_simulators_are_known_by_their_keys():
    assert {key: one.key for key, one in SIMULATORS.items()} == {"tiny": "tiny", "phreeqc": "phreeqc"}
    assert all(one.program.is_file() for one in SIMULATORS.values())
