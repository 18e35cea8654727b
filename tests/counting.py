"""The pytest plugin of `tests/suite.py`: leaves out `shared` tests where there is no shared data, and writes what
became of each test to the file named by SIGHTLINE_COUNTS, so that nothing has to be read off the screen. Where tests
run in several processes the one that gathers their reports writes."""

import json
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NEVER = "could not import"  # what pytest.importorskip says; here every package is a requirement


def shared_data_is_there():
    return Path(os.environ.get("SIGHTLINE_SHARED") or ROOT.parent / "shared").is_dir()


def pytest_configure(config):
    config.pluginmanager.register(Counting(config), "sightline-counting")


class Counting:
    def __init__(self, config):
        self.config = config
        self.collect_only = config.option.collectonly
        self.outcomes = {}
        self.collected = 0
        self.without_shared = 0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        """After -m and -k, so that only what was asked for is counted."""
        if not shared_data_is_there():
            left_out = [item for item in items if item.get_closest_marker("shared")]
            items[:] = [item for item in items if item not in left_out]
            config.hook.pytest_deselected(items=left_out)
            self.without_shared = len(left_out)
        self.collected = len(items)

    def pytest_collectreport(self, report):
        self.note(report)

    def pytest_runtest_logreport(self, report):
        self.note(report)

    def note(self, report):
        if report.failed or (report.skipped and NEVER in str(report.longrepr)):
            self.outcomes[report.nodeid] = "failed"
        elif report.skipped:
            self.outcomes.setdefault(report.nodeid, "skipped")
        elif getattr(report, "when", None) == "call":
            self.outcomes.setdefault(report.nodeid, "passed")

    def pytest_terminal_summary(self, terminalreporter):
        if self.without_shared:
            terminalreporter.write_line(f"{self.without_shared} left out: they read shared data, which is not here.")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        """A process of its own has ended; each collects all tests."""
        self.without_shared = getattr(node, "workeroutput", {}).get("without_shared", self.without_shared)

    def pytest_sessionfinish(self):
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["without_shared"] = self.without_shared
            return
        path = os.environ.get("SIGHTLINE_COUNTS")
        if path:
            outcomes = list(self.outcomes.values())
            counts = {name: outcomes.count(name) for name in ("passed", "failed", "skipped")}
            counts["left_out"] = self.without_shared + (self.collected if self.collect_only else 0)
            Path(path).write_text(json.dumps(counts), encoding="utf-8")
