"""The log of one run of an agent, one JSON object a line: the run, its steps, what was simulated in them, its end."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotate.traces.base import Problem, gettext_noop

RESULT_KINDS = ("report", "report_part", "index", "search_hits", "own_file", "other")
PARSES = ("ok", "none", "refusal")
AS_DOCS = gettext_noop("Correct it as docs/value-stages.md says, then import the run again.")


@dataclass(frozen=True, slots=True)
class Simulation:
    """What the simulator was given in a step and what it gave. A log may lack the report (None)."""

    step: int
    input_text: str
    database: str
    success: bool
    report_text: str | None
    extra_files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """A call of a tool and its result, letter for letter as the agent got it."""

    seq: int
    tool: str
    args: Mapping[str, Any]
    result_text: str
    result_kind: str

    @property
    def path(self) -> str:
        """The file that is meant, in one spelling; empty where none is."""
        said = self.args.get("path")
        return posixpath.normpath(said) if isinstance(said, str) and said else ""


@dataclass(frozen=True, slots=True)
class RunLog:
    id: str
    item: str
    condition: str
    steps: tuple[Step, ...]
    simulations: tuple[Simulation, ...]
    answer: str | None
    answer_parse: str
    model: str = ""
    is_complete: bool = True
    is_synthetic: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadLog:
    """A whole log, or what is wrong with it."""

    log: RunLog | None
    problems: tuple[Problem, ...] = ()


def read_log(text: str, file: str = "") -> ReadLog:
    """One run from its lines. A wrong line refuses this run and no other."""
    said: dict[str, list[Mapping[str, Any]]] = {"run": [], "step": [], "simulation": [], "end": []}
    problems: list[Problem] = []
    for line, one in enumerate(text.split("\n"), 1):
        if one.strip():
            try:
                row = json.loads(one)
            except (ValueError, RecursionError):
                row = None
            kind = row.get("type") if isinstance(row, dict) else None
            if not isinstance(row, dict) or not isinstance(kind, str) or kind not in said:
                problems.append(
                    _wrong("line", file, line, "type", gettext_noop("A JSON object: run, step, simulation or end."))
                )
            else:
                problems += [
                    _wrong(code, file, line, name, expected) for code, name, expected in _CHECKS[kind](row)
                ]
                said[kind].append(row)
    for kind in ("run", "end"):
        if len(said[kind]) != 1:
            problems.append(_wrong("line", file, None, "type", gettext_noop("One line run and one line end.")))
    steps = [row.get("seq") for row in said["step"]]
    if len({repr(one) for one in steps}) < len(steps):
        problems.append(_wrong("duplicate", file, None, "seq", gettext_noop("Steps with numbers of their own.")))
    if any(row.get("step") not in steps for row in said["simulation"]):
        problems.append(_wrong("step", file, None, "step", gettext_noop("The number of a step of this run.")))
    return ReadLog(None, tuple(problems)) if problems else ReadLog(_log(said))


def _log(said: Mapping[str, list[Mapping[str, Any]]]) -> RunLog:
    run, end = said["run"][0], said["end"][0]
    known = {"type", "id", "item", "condition", "log_complete", "synthetic", "agent", "model"}
    return RunLog(
        id=run["id"],
        item=run["item"],
        condition=run["condition"],
        steps=tuple(
            Step(one["seq"], one["tool"], one.get("args") or {}, one["result_text"], one["result_kind"])
            for one in sorted(said["step"], key=lambda row: row["seq"])
        ),
        simulations=tuple(
            Simulation(
                one["step"],
                one["input_text"],
                str(one.get("database") or ""),
                one["success"],
                one.get("report_text"),
                one.get("extra_files") or {},
            )
            for one in sorted(said["simulation"], key=lambda row: row["step"])
        ),
        answer=end.get("answer"),
        answer_parse=end.get("answer_parse") or ("ok" if end.get("answer") else "none"),
        model=str(run.get("model") or run.get("agent") or ""),
        is_complete=run.get("log_complete") is not False,
        is_synthetic=run.get("synthetic") is True,
        details={name: value for name, value in run.items() if name not in known},
    )


Found = Iterator[tuple[str, str, str]]


def _run(row: Mapping[str, Any]) -> Found:
    for name in ("id", "item", "condition"):
        if not isinstance(row.get(name), str) or not row[name]:
            yield "missing", name, gettext_noop("A text.")


def _step(row: Mapping[str, Any]) -> Found:
    if type(row.get("seq")) is not int:
        yield "missing", "seq", gettext_noop("A whole number.")
    for name in ("tool", "result_text"):
        if not isinstance(row.get(name), str):
            yield "missing", name, gettext_noop("A text.")
    if row.get("result_kind") not in RESULT_KINDS:
        yield (
            "result_kind",
            "result_kind",
            gettext_noop("One of report, report_part, index, search_hits, own_file and other."),
        )
    if not isinstance(row.get("args") or {}, dict):
        yield "args", "args", gettext_noop("An object.")


def _simulation(row: Mapping[str, Any]) -> Found:
    if type(row.get("step")) is not int:
        yield "missing", "step", gettext_noop("A whole number.")
    if not isinstance(row.get("input_text"), str):
        yield "missing", "input_text", gettext_noop("A text.")
    if not isinstance(row.get("success"), bool):
        yield "missing", "success", gettext_noop("true or false.")
    if not isinstance(row.get("report_text"), str | None):
        yield "report_text", "report_text", gettext_noop("A text, or null where the log has none.")
    files = row.get("extra_files") or {}
    if not isinstance(files, dict) or not all(isinstance(one, str) for one in files.values()):
        yield "extra_files", "extra_files", gettext_noop("Texts by the names of their files.")


def _end(row: Mapping[str, Any]) -> Found:
    if not isinstance(row.get("answer"), str | None):
        yield "answer", "answer", gettext_noop("The label of an option, or null.")
    if row.get("answer_parse") not in (None, *PARSES):
        yield "answer_parse", "answer_parse", gettext_noop("One of ok, none and refusal.")


_CHECKS = {"run": _run, "step": _step, "simulation": _simulation, "end": _end}


def _wrong(code: str, file: str, line: int | None, name: str, expected: str) -> Problem:
    return Problem(code, expected, AS_DOCS, file=file, line=line, field=name)
