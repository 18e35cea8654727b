"""PHREEQC as a simulator: its rules without the engine, and with the extra the engine itself."""

import hashlib
import json
import re
import runpy
import sys
import types
from dataclasses import replace

import pytest

from scoring.values.deliveries import CONDITIONS, executed, read_report
from scoring.values.items import verify
from scoring.values.phreeqc import DATABASES, PHREEQC, is_installed, tightened
from scoring.values.rerun import rerun
from scoring.values.searching import search_tool
from scoring.values.simulator import Bounds, simulate
from tests.conftest import ROOT
from tests.scoring.values import reference

needs_extra = pytest.mark.skipif(
    not is_installed(), reason="the extra phreeqc is not installed: ./run setup --extra phreeqc"
)
WATER = "SOLUTION 1\nEND\n"
RATES = "RATES\nx\n-start\n10 a=1\n20 GOTO 10\n-end\n"
ENDLESS = RATES + "SOLUTION 1\nKINETICS 1\nx\n-formula H2O 1\n-m 1\n-steps 10\nEND\n"


@pytest.fixture
def program(monkeypatch):
    """What `phreeqc_worker.py` defines, without the engine."""
    monkeypatch.setitem(sys.modules, "phreeqc", types.ModuleType("phreeqc"))
    return runpy.run_path(str(PHREEQC.program))


@pytest.mark.parametrize(
    "input_text",
    [
        "INCLUDE$ /etc/hosts",
        "SOLUTION 1; include$ x",
        "SELECTED_OUTPUT\n  -file /tmp/x",
        "SELECTED_OUTPUT; -fi ../x",
        "SELECTED_OUTPUT\n file a/b",
        "SELECTED_OUTPUT\n -file \\\n /tmp/x",
        "DUMP\n -file ../x",
        "TRANSPORT\n -dump /tmp/x",
        "INVERSE_MODELING\n -lon_netpath /tmp/x",
        "INVERSE_MODELING\n -multiple_precision true\n -pat_netpath_file a/x",
    ],
)
def test_without_a_lock_an_input_that_names_another_place_is_refused(program, input_text):
    assert program["refused"](input_text)


@pytest.mark.parametrize(
    "input_text",
    ["SELECTED_OUTPUT 2\n -file own.sel\n -ph true", "KINETICS 1\nx\n -formula CaSO4:2H2O 1", WATER, "DUMP\n -all"],
)
def test_without_a_lock_other_inputs_run(program, input_text):
    assert program["refused"](input_text) == ""


def test_no_input_of_the_reference_is_refused(program):
    assert not [one.key for one in reference.setups().values() if program["refused"](one.input_text)]


def test_tighter_settings_come_before_an_input_and_smaller_steps_into_its_kinetics():
    text = reference.setups()["coarse-gypsum"].input_text
    found = tightened(text)
    assert list(found) == ["tight_convergence", "small_step"]
    assert found["tight_convergence"].startswith("KNOBS\n")
    assert found["tight_convergence"].endswith(text)
    assert "-tol 1e-2" not in found["small_step"]
    block = found["small_step"].split("KINETICS 1\n")[1].split("INCREMENTAL")[0]
    assert re.findall(r"-(tol|runge_kutta|step_divide) (\S+)", block) == [
        ("tol", "1e-12"),
        ("runge_kutta", "6"),
        ("step_divide", "200"),
    ]
    assert "-steps 60000 120000" in block
    assert list(tightened(WATER)) == ["tight_convergence"]


def test_each_reactant_and_each_block_of_kinetics_gets_the_tolerance():
    text = "KINETICS 1\nA\n-m 1\nB\n-m 2\n-tol 1e-3\nEND\nKINETICS 2\r\nC\r\nEND\n"
    found = tightened(text)["small_step"]
    assert found.count("-tol 1e-12") == 3
    assert found.count("-step_divide 200") == 2
    assert "1e-3" not in found
    assert found.count("END\n") == 2


def test_the_pin_is_the_version_that_the_reference_was_made_with():
    text = (ROOT / "requirements-phreeqc.txt").read_text("utf-8")
    assert re.search(r"^phreeqc==1\.1\.1 ", text, re.MULTILINE)
    assert "--only-binary phreeqc" in text


def test_without_the_extra_nothing_runs_and_nothing_fails():
    missing = replace(PHREEQC, is_installed=lambda: False)
    assert simulate(missing, WATER, "phreeqc.dat").reason == "not_installed"


# With the engine


@needs_extra
@pytest.mark.parametrize("key", [path.stem for path in sorted((reference.ITEMS / "expected").iterdir())])
def test_a_setup_prints_what_it_printed(key):
    setup = reference.setups()[key]
    expected = json.loads((reference.ITEMS / "expected" / f"{key}.json").read_text("utf-8"))
    found = simulate(PHREEQC, setup.input_text, setup.database)
    assert (found.ok, found.version) == (True, "3.8.6-17100")
    assert hashlib.sha256(found.report.encode()).hexdigest() == expected["sha256"]


@needs_extra
@pytest.mark.parametrize("name", ["items.jsonl", "excluded.jsonl"])
def test_questions_are_verified_by_running(name):
    ran = {}

    def run(input_text, database):
        if (input_text, database) not in ran:
            ran[input_text, database] = simulate(PHREEQC, input_text, database)
        return ran[input_text, database]

    for row in reference.rows(name):
        item = reference.items(name)[row["id"]]
        found = verify(item, reference.setups()[item.setup], PHREEQC, run)
        assert (found.exclusion or None) == row["exclusion_reason"]
        assert dict(found.printed) == (reference.printed()[item.id] or {})
        if item.is_numeric and not row["exclusion_reason"]:
            assert found.key_occurrences == row["key_occurrences"]
            assert found.report_chars == row["report_chars"]


@needs_extra
@pytest.mark.parametrize("name", sorted(path.stem for path in reference.RUNS.glob("r*.jsonl")))
def test_recorded_simulations_print_the_same_again(name):
    log = reference.runs()[name]
    again = list(rerun(log, lambda text, database: simulate(PHREEQC, text, database), PHREEQC.cleaned))
    assert [one.match for one in again] == ["identical"] * len(log.simulations)
    for one in log.simulations:
        found = simulate(PHREEQC, one.input_text, one.database)
        assert (found.ok, dict(found.extra_files)) == (one.success, dict(one.extra_files))


@needs_extra
@pytest.mark.parametrize(
    "input_text",
    [
        "INCLUDE$ {place}\nEND\n",
        "SOLUTION 1; include$ {place}\nEND\n",
        "SOLUTION 1\nSELECTED_OUTPUT\n -file {place}\n -ph true\nEND\n",
        "SOLUTION 1\nSELECTED_OUTPUT; -fi {place}\nUSER_PUNCH\n10 PUNCH 1\nEND\n",
        "SOLUTION 1\nSELECTED_OUTPUT\n -file \\\n {place}\n -ph true\nEND\n",
        "SOLUTION 1\nDUMP\n -file {place}\n -all\nEND\n",
    ],
)
def test_an_input_reaches_no_file_of_this_machine(input_text, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("TITLE secret42\n")
    found = simulate(PHREEQC, input_text.format(place=secret), "phreeqc.dat")
    assert "secret42" not in found.report
    assert secret.read_text() == "TITLE secret42\n"
    assert found.is_locked or found.reason == "not_locked"


@needs_extra
def test_selected_output_of_any_number_is_an_extra_file():
    text = "SOLUTION 1\nSELECTED_OUTPUT 7\n -file own.sel\n -reset false\n -ph true\nEND\n"
    assert list(simulate(PHREEQC, text, "phreeqc.dat").extra_files) == ["own.sel"]


@needs_extra
def test_an_input_that_never_ends_is_ended():
    assert simulate(PHREEQC, ENDLESS, "phreeqc.dat", Bounds(seconds=2)).reason == "out_of_time"


@needs_extra
def test_endless_printing_is_no_report():
    text = 'SOLUTION 1\nUSER_PRINT\n10 PRINT "7.078"\n20 GOTO 10\nEND\n'
    bounds = Bounds(seconds=20, memory_bytes=200 << 20)
    found = simulate(PHREEQC, text, "phreeqc.dat", bounds)
    assert not found.ok
    assert found.reason in {"out_of_memory", "too_much_output", "out_of_time", "input_error"}
    assert len(found.report) <= bounds.report_characters


@needs_extra
def test_an_error_is_named_and_a_warning_stands_beside_ok():
    failed = simulate(PHREEQC, "SOLUTION 1\nEND\nUSE solution 99\nREACTION 1\nNaCl 1\n1 mmol\nEND\n", "phreeqc.dat")
    assert (failed.ok, failed.reason) == (False, "input_error")
    assert "Solution 99 not found" in failed.error
    warned = simulate(PHREEQC, "SOLUTION 1\nXx 1\nEND\n", "phreeqc.dat")
    assert warned.warnings or not warned.ok


@needs_extra
def test_every_named_database_is_there():
    import phreeqc

    assert sorted(DATABASES) == phreeqc.Phreeqc.ListBuiltInDatabases()


@needs_extra
@pytest.mark.parametrize("condition", ["raw100k", "toc", "grep", "hybrid", "toc_report", "toc_round"])
def test_a_long_report_goes_through_every_delivery(condition):
    setup = reference.setups()["sulfate-sweep"]
    found = simulate(PHREEQC, setup.input_text, setup.database)
    one = CONDITIONS[condition]
    delivered = executed(one, found.ok, found.report, PHREEQC.headings(found.report), found.extra_files)
    assert delivered.kind == {"raw100k": "report", "grep": "other"}.get(condition, "index")
    assert "6.766" in read_report(one, found.report, 1823, 1842).text
    assert "pH  =   6.766" in search_tool(one, found.report, r"^\s+pH\s+=").text
