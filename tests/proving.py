"""The pytest plugin of `./run prove`: repeats tests that are marked with a fault until it has happened often
enough, and writes what became of each to the file named by SIGHTLINE_PROOF, one JSON object a line."""

import json
import os
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

REPETITIONS, FULL_REPETITIONS = 5, 30
"""How often a fault has to happen in an hour's proof; in a full one, where `full` of its mark says no other number."""
OWN = "repetitions"
"""How often a test made its fault happen: recorded by it, or `times` of its mark; else once."""


def pytest_configure(config):
    if os.environ.get("SIGHTLINE_PROOF"):
        config.pluginmanager.register(Proving(Path(os.environ["SIGHTLINE_PROOF"])), "sightline-proving")


def may_go_on(item, outcomes):
    """Whether a fault is to happen again: it went well, and not often enough."""
    if item.get_closest_marker("fault") is None or outcomes[-1]["outcome"] != "passed":
        return False
    return sum(one["said"][OWN] for one in outcomes) < needed(item)


def needed(item):
    if os.environ.get("SIGHTLINE_PROVE") != "full":
        return REPETITIONS
    return said_by_mark(item, "full", FULL_REPETITIONS)


def said_by_mark(item, name, otherwise):
    mark = item.get_closest_marker("fault")
    return mark.kwargs.get(name, otherwise) if mark else otherwise


class Proving:
    def __init__(self, path):
        self.path = path

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        outcomes = [self.run(item)]
        while may_go_on(item, outcomes):
            outcomes.append(self.run(item))
        item.session._setupstate.teardown_exact(nextitem)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        self.write(item, outcomes)
        return True

    def run(self, item):
        """One run of a test, with everything of its own made anew and what it shares with its module kept."""
        item.user_properties = []
        item._initrequest()
        reports = runtestprotocol(item, nextitem=item.parent, log=False)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        failed = any(report.failed for report in reports)
        skipped = [report for report in reports if report.skipped]
        return {
            "outcome": "failed" if failed else "skipped" if skipped else "passed",
            "why": str(skipped[0].longrepr[2]) if skipped and isinstance(skipped[0].longrepr, tuple) else "",
            "seconds": sum(report.duration for report in reports),
            "said": {OWN: said_by_mark(item, "times", 1), **dict(item.user_properties)},
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
