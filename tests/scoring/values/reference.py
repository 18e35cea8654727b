"""The questions, setups and runs of `fixtures/reference/`, read once."""

import json
from functools import cache

from scoring.values.items import read_items, read_setups
from scoring.values.logs import read_log
from tests.conftest import ROOT

ITEMS = ROOT / "fixtures" / "reference" / "value-items"
RUNS = ROOT / "fixtures" / "reference" / "value-runs"


@cache
def setups():
    inputs = {f"setups/{path.name}": path.read_text("utf-8") for path in (ITEMS / "setups").iterdir()}
    found, problems = read_setups((ITEMS / "setups.jsonl").read_text("utf-8"), inputs)
    assert not problems
    return found


@cache
def items(name="items.jsonl"):
    read = read_items((ITEMS / name).read_text("utf-8"), setups(), name)
    assert not [one for one in read.problems if not one.warning]
    return {one.id: one for one in read.items}


def rows(name):
    return [json.loads(line) for line in (ITEMS / name).read_text("utf-8").splitlines()]


@cache
def printed():
    """What each variant printed, by question, as it was recorded."""
    found = {}
    for path in (ITEMS / "expected").iterdir():
        for name, one in json.loads(path.read_text("utf-8"))["items"].items():
            found[name] = one.get("printed")
    return found | {one["id"]: one["printed"] for one in rows("excluded.jsonl")}


@cache
def runs():
    read = {path.stem: read_log(path.read_text("utf-8"), path.name) for path in sorted(RUNS.glob("r*.jsonl"))}
    assert not [problem for one in read.values() for problem in one.problems]
    return {name: one.log for name, one in read.items()}


@cache
def verdicts():
    return json.loads((RUNS / "expected.json").read_text("utf-8"))
