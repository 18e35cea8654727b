"""The pytest plugin of `./run prove`: repeats tests that are marked with a fault, and writes what became of each to the
file named by SIGHTLINE_PROOF, one JSON object a line."""

import json
import os
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

REPETITIONS = 5
OWN = "repetitions"
"""A test that repeats its fault by itself says so by this fixture, and runs once."""


def pytest_configure(config):
    if os.environ.get("SIGHTLINE_PROOF"):
        config.pluginmanager.register(Proving(Path(os.environ["SIGHTLINE_PROOF"])), "sightline-proving")


class Proving:
    def __init__(self, path):
        self.path = path

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        is_repeated = item.get_closest_marker("fault") and "often" not in item.fixturenames
        n = REPETITIONS if is_repeated else 1
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        outcomes = [self.run(item, item.parent if place < n - 1 else nextitem) for place in range(n)]
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        self.write(item, outcomes)
        return True

    def run(self, item, nextitem):
        """One run of a test, with everything of its own made anew."""
        item.user_properties = []
        item._initrequest()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        failed = any(report.failed for report in reports)
        skipped = [report for report in reports if report.skipped]
        return {
            "outcome": "failed" if failed else "skipped" if skipped else "passed",
            "why": str(skipped[0].longrepr[2]) if skipped and isinstance(skipped[0].longrepr, tuple) else "",
            "seconds": sum(report.duration for report in reports),
            "said": dict(item.user_properties),
        }

    def write(self, item, outcomes):
        marks = [mark.args for mark in item.iter_markers("fault")]
        row = {
            "test": item.nodeid,
            "faults": sorted({number for args in marks for number in args}),
            "doc": (item.function.__doc__ or "").split("\n")[0],
            "outcomes": outcomes,
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
