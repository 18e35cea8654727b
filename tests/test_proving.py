"""How `./run prove` repeats faults and what it says of them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import prove, proving
from tests.suite import ROOT

TESTS = """
import pytest

made = []

@pytest.fixture(scope="module")
def shared():
    made.append("module")
    yield
    made.append("module ended")

@pytest.fixture
def own():
    made.append("own")
    yield
    made.append("own ended")

@pytest.mark.fault(3)
def test_once_each(shared, own):
    pass

@pytest.mark.fault(4, times=2)
def test_twice_each(own):
    pass

@pytest.mark.fault(5)
def test_says_how_often(record_property):
    record_property("repetitions", 40)
    record_property("counts", "{}")

@pytest.mark.fault(6)
def test_fails_the_second_time(shared):
    made.append("tried")
    assert made.count("tried") < 2

@pytest.mark.fault(7)
def test_is_left_out():
    pytest.skip("There is no disk.")

def test_is_no_fault(shared):
    assert made.count("own") == made.count("own ended") == 8
    assert made.count("module") == 1
"""


@pytest.fixture
def rows(tmp_path):
    """What the plugin wrote of these tests, by their names."""

    def run(**environment):
        (tmp_path / "test_made.py").write_text(TESTS, "utf-8")
        proof = tmp_path / "proof.jsonl"
        words = ["-p", "tests.proving", "-p", "no:cacheprovider", "-p", "no:django", "-c", os.devnull, "-q"]
        env = {**os.environ, "SIGHTLINE_PROOF": str(proof), "PYTHONPATH": str(ROOT), **environment}
        subprocess.run([sys.executable, "-m", "pytest", *words, tmp_path], env=env, capture_output=True)
        found = map(json.loads, proof.read_text("utf-8").splitlines())
        return {row["test"].split("::")[1]: row for row in found}

    return run


def outcomes(row):
    return [one["outcome"] for one in row["outcomes"]]


def test_a_fault_happens_until_it_was_often_enough_and_each_time_with_its_own_things_made_anew(rows):
    found = rows()
    assert outcomes(found["test_once_each"]) == ["passed"] * proving.REPETITIONS
    assert outcomes(found["test_twice_each"]) == ["passed"] * 3
    assert outcomes(found["test_says_how_often"]) == ["passed"]
    assert outcomes(found["test_fails_the_second_time"]) == ["passed", "failed"]
    assert outcomes(found["test_is_left_out"]) == ["skipped"]
    assert outcomes(found["test_is_no_fault"]) == ["passed"]
    assert found["test_once_each"]["faults"] == [3]


def test_a_full_proof_repeats_more(rows):
    assert len(rows(SIGHTLINE_PROVE="full")["test_once_each"]["outcomes"]) == proving.FULL_REPETITIONS


def row(number, *outcomes, **said):
    made = [{"outcome": one, "why": "", "seconds": 1, "said": {"repetitions": 2, **said}} for one in outcomes]
    return {"test": f"tests/x.py::test_{number}", "faults": [number], "doc": "", "outcomes": made}


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_line_counts_how_often_and_sums_what_came_of_it():
    counts = json.dumps(dict.fromkeys(prove.COUNTED, 3))
    rows = [row(1, "passed", "passed", counts=counts), row(1, "passed", counts=counts), row(2, "passed")]
    number, _, tests, times, sent, *_, passed, _ = cells(prove.fault_line(rows, 1, *prove.FAULTS[1], False))
    assert (number, tests, times, sent, passed) == ("1", "2", "6", "9", "2 of 2")


@pytest.mark.parametrize("outcome", ["failed", "skipped"])
def test_what_failed_or_was_left_out_is_not_shown(outcome):
    leaks = [row(1, "passed", named=name) for name in prove.NAMED]
    rows = [*(row(number, "passed") for number in prove.FAULTS), *leaks]
    assert prove.all_is_shown(rows)
    assert not prove.all_is_shown(rows[:-1])
    assert not prove.all_is_shown([*rows, row(1, "passed", outcome)])
    assert "not shown" in prove.fault_line([], 1, *prove.FAULTS[1], False)
    assert "0 of 1" in prove.fault_line([row(1, outcome)], 1, *prove.FAULTS[1], False)


def test_every_fault_that_is_promised_has_a_test_and_no_other():
    own = Path(__file__)
    sources = [path.read_text("utf-8") for path in own.parent.rglob("test_*.py") if path != own]
    marks = [mark for source in sources for mark in re.findall(r"mark\.fault\(([\d, ]+)", source)]
    assert {int(number) for mark in marks for number in mark.split(",") if number.strip()} == set(prove.FAULTS)
