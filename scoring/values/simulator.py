"""The contract of simulators, and how one is run: `simulate(input_text, database)` gives a report and extra files.

A simulator is a program of its own that runs in a child (`child.py`), with bounds on time, memory and output. Agents
write the inputs, so that nothing of what an input can do reaches this process: an input that never ends, a crash, a
flood of output and a run that prints nothing each have a name, and nothing of a run is left behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotate.traces.base import gettext_noop
from scoring.values.sections import Headings

CHILD = Path(__file__).with_name("child.py")
REASONS = {
    "not_installed": gettext_noop("The simulator is not installed here."),
    "unknown_database": gettext_noop("The simulator has no database of this name."),
    "input_too_long": gettext_noop("The input is longer than one may be."),
    "input_error": gettext_noop("The simulator found an error in the input."),
    "printed_nothing": gettext_noop("The run printed nothing."),
    "out_of_time": gettext_noop("The run took longer than one may, and was ended."),
    "out_of_memory": gettext_noop("The run needed more memory than one may have."),
    "too_much_output": gettext_noop("The run printed more than one may, and nothing of it was kept."),
    "started_a_process": gettext_noop(
        "The run tried to start a process or to open a connection, which none may, and was ended."
    ),
    "not_locked": gettext_noop(
        "Files cannot be locked on this system, so inputs that name other files are not run here."
    ),
    "crashed": gettext_noop("The simulator crashed."),
    "unreadable": gettext_noop("What the simulator gave cannot be read."),
}
"""Why a run is not ok, by code."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a run may take. `locks` is false only to see what happens on a system that cannot lock files."""

    seconds: float = 60
    memory_bytes: int = 2 << 30
    report_characters: int = 8_000_000
    file_bytes: int = 64 << 20
    n_files: int = 20
    input_characters: int = 2_000_000
    locks: bool = True


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a run. `report` and `extra_files` stand also where it failed after it had printed something."""

    ok: bool
    reason: str = ""
    report: str = ""
    error: str = ""
    warnings: str = ""
    extra_files: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    database_sha256: str = ""
    is_locked: bool = False
    wall_ms: int = 0


@dataclass(frozen=True)
class Simulator:
    """A plug-in. `program` is the file that `child.py` runs, `headings` its heading rule, `is_echo` says by the title
    of a section that it repeats the input, `cleaned` takes off a report what is another in every run, and `tightened`
    gives the input under tighter settings, by the name of each variant."""

    key: str
    name: str
    program: Path
    databases: tuple[str, ...]
    headings: Headings
    is_echo: Callable[[str], bool]
    is_installed: Callable[[], bool]
    tightened: Callable[[str], Mapping[str, str]]
    cleaned: Callable[[str], str]


def simulate(simulator: Simulator, input_text: str, database: str, bounds: Bounds | None = None) -> Ran:
    """One run in a child of its own. Nothing is raised for what an input or a simulator does."""
    bounds = bounds or Bounds()
    if not simulator.is_installed():
        return Ran(False, "not_installed")
    if database not in simulator.databases:
        return Ran(False, "unknown_database")
    if len(input_text) > bounds.input_characters:
        return Ran(False, "input_too_long")
    began = time.monotonic()
    ran = _read(*run_child(simulator.program, input_text, database, bounds), simulator.cleaned)
    return Ran(**{**_fields(ran), "wall_ms": round(1000 * (time.monotonic() - began))})


def run_child(program: Path, input_text: str, database: str, bounds: Bounds) -> tuple[str, bytes]:
    """Why the child was ended, or how it ended by itself, and what it answered."""
    request = {
        "program": str(program),
        "input_text": input_text,
        "database": database,
        "seconds": max(1, round(bounds.seconds)),
        "most_memory": bounds.memory_bytes,
        "most_file": bounds.file_bytes,
        "most_files": bounds.n_files,
        "most_characters": bounds.report_characters,
        "locks": bounds.locks,
    }
    with (
        tempfile.TemporaryDirectory(prefix="sightline-run-", ignore_cleanup_errors=True) as folder,
        tempfile.TemporaryFile() as given,
    ):
        given.write(json.dumps(request).encode())
        given.seek(0)
        child = subprocess.Popen(
            [sys.executable, "-I", str(CHILD)],
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
            start_new_session=True,
        )
        try:
            return _gathered(child, bounds)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            if child.stdout:
                child.stdout.close()


def _gathered(child: subprocess.Popen[bytes], bounds: Bounds) -> tuple[str, bytes]:
    assert child.stdout is not None
    most = 8 * (bounds.report_characters + 1_000_000)
    deadline = time.monotonic() + bounds.seconds
    parts, n_bytes, has_ended = [], 0, False
    with selectors.DefaultSelector() as waiting:
        waiting.register(child.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            if waiting.select(min(left, 0.1)):
                part = os.read(child.stdout.fileno(), 1 << 16)
                if not part:
                    break
                parts.append(part)
                n_bytes += len(part)
                if n_bytes > most:
                    return "too_much_output", b""
            elif has_ended:  # and somebody else holds its standard output
                return "started_a_process", b""
            has_ended = child.poll() is not None
        else:
            return "out_of_time", b""
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(max(0.0, deadline - time.monotonic()))
    if child.returncode is None:
        return "out_of_time", b""
    return _ENDS.get(child.returncode, "" if child.returncode == 0 else "crashed"), b"".join(parts)


_ENDS = {
    -signal.SIGXCPU: "out_of_time",
    -signal.SIGSYS: "started_a_process",
    -signal.SIGXFSZ: "too_much_output",
    -signal.SIGKILL: "out_of_memory",  # by the system, as we have not ended it
}


def _read(reason: str, answer: bytes, cleaned: Callable[[str], str]) -> Ran:
    if reason:
        return Ran(False, reason)
    try:
        said = json.loads(answer)
        ran = Ran(**said)
    except (ValueError, TypeError):
        return Ran(False, "unreadable")
    if ran.reason:
        return ran if ran.reason in REASONS else Ran(False, "unreadable")
    report = cleaned(ran.report)
    reason = "" if ran.ok else "input_error"
    if not report.strip() and not ran.extra_files and ran.ok:
        reason = "printed_nothing"
    return Ran(**{**_fields(ran), "ok": not reason, "reason": reason, "report": report})


def _fields(ran: Ran) -> dict[str, Any]:
    return {name: getattr(ran, name) for name in Ran.__dataclass_fields__}
