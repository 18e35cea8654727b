"""Runs of LangSmith: exported runs as lines, an array or one object (with `child_runs` inside, or {runs: [...]}), and
the payloads {post, patch} in which clients send them; the records of one run are put together, the later over the
earlier.

One trace per `trace_id`, which is its id. The requester's messages are those of the outermost run where it was given a
text or messages, else those of the model runs; snapshots that repeat each other count once, the others as
`repeated_record`. System messages, calls and results are those of the model runs; runs of tools and retrievers are
twins of such results (counted), or the results of calls that have none, or become a call and its result, private like
all calls. Sub-agents and lines the requester takes no part in are `other`, with the name of the agent. Model: of the
model runs, in order. Usage: added up over them. Success: the outermost run's `status`. Session: the thread of its
metadata. Labels: its feedback. Cluster: the example of a dataset that was run. Runs of other types and the events of
streams are counted as `bookkeeping`; what a run says besides is kept as `runs`.
The runs of a trace may lie anywhere in a file: they wait in a temporary SQLite file, and memory holds one trace.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import PurePath
from typing import Any

from annotate.traces.base import Likeness, Place, Problem, Trace, gettext_noop
from annotate.traces.documents import Document
from annotate.traces.identity import FirstPlaces, digest
from annotate.traces.langsmith_runs import READ, Run, id_in, model_of, parent_of, root_of, usage_of
from annotate.traces.langsmith_traces import told
from annotate.traces.values import as_id, as_list, as_object
from annotate.traces.warned import empty_run, likeness, passed_over, unknown_record

FORMAT = "langsmith"
TITLE = "LangSmith runs"
KINDS = frozenset({"llm", "chain", "tool", "retriever", "embedding", "prompt", "parser"})
TREE = ("dotted_order", "trace_id", "session_id", "session_name", "parent_run_id", "child_runs", "child_run_ids")
THREADS = ("session_id", "thread_id", "conversation_id")


def sniff(value: Any) -> Likeness:
    """A run: its type with inputs and a place in a tree, or the order in its tree; or a list of runs by its name."""
    runs = runs_in(value)
    marks = {
        "run_type": bool(runs) and is_run(runs[0][1]),
        "dotted_order": bool(runs) and any(name in runs[0][1] for name in TREE),
    }
    return likeness(marks)


def is_run(value: Any) -> bool:
    there = as_object(value)
    is_typed = as_id(there.get("run_type")) in KINDS and ("inputs" in there or "outputs" in there)
    return is_typed or (isinstance(there.get("dotted_order"), str) and "trace_id" in there)


def runs_in(value: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """The runs of a record and where they stand, those inside of others after these."""
    there = as_object(value)
    lists = [("post", there.get("post")), ("patch", there.get("patch")), ("runs", there.get("runs"))]
    found: list[tuple[str, Mapping[str, Any]]] = [
        (f"/{name}/{number}", run)
        for name, runs in lists
        for number, run in enumerate(as_list(runs))
        if isinstance(run, dict) and (is_run(run) or "trace_id" in run)
    ]
    if not found and is_run(value):
        found = [("", value)]
    return found


def unfolded(pointer: str, run: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """A run and all runs inside it, which say of themselves only what their parent does not say."""
    waiting = [(pointer, run)]
    while waiting:
        at, one = waiting.pop(0)
        yield at, one
        inherited = {"trace_id": trace_of(one), "parent_run_id": id_of(one)}
        for number, child in enumerate(as_list(one.get("child_runs"))):
            if isinstance(child, dict):
                given = {name: member for name, member in child.items() if member is not None}
                waiting.append((f"{at}/child_runs/{number}", {**inherited, **given}))


def id_of(run: Mapping[str, Any]) -> str:
    return as_id(run.get("id")) or id_in(as_id(run.get("dotted_order")).rpartition(".")[2])


def trace_of(run: Mapping[str, Any]) -> str:
    given = as_id(run.get("trace_id")) or id_in(as_id(run.get("dotted_order")).partition(".")[0])
    return given or as_id(run.get("parent_run_id")) or id_of(run)


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    with closing(Waiting()) as waiting:
        for document in documents:
            if isinstance(document, Problem):
                yield document
                continue
            runs = runs_in(document.value)
            if not runs:
                yield unknown_record(document.place, gettext_noop("A run, or an object with a list of runs."))
            for pointer, run in runs:
                for at, one in unfolded(pointer, run):
                    waiting.add(one, document.place, at)
        with closing(FirstPlaces()) as ids:
            for records in waiting.traces():
                yield from read_trace(records, ids)


class Waiting:
    """Runs in a temporary SQLite file until the file they came from is read."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect("", isolation_level=None)
        self.connection.execute("PRAGMA journal_mode=OFF")
        self.connection.execute("CREATE TABLE run (n INTEGER PRIMARY KEY, id TEXT, trace TEXT, kept TEXT)")
        self.connection.execute("CREATE INDEX by_trace ON run (trace)")
        self.connection.execute("CREATE INDEX by_id ON run (id)")
        self.connection.execute("BEGIN")

    def add(self, run: Mapping[str, Any], place: Place, pointer: str) -> None:
        """A run that does not name its trace is in that of its parent, where that stood before."""
        trace, parent = trace_of(run), parent_of(run)
        if parent and trace == parent:
            known = self.connection.execute("SELECT trace FROM run WHERE id = ? LIMIT 1", (hex_of(parent),)).fetchone()
            trace = known[0] if known else hex_of(trace)
        else:
            trace = hex_of(trace)
        kept = json.dumps([{**run, "child_runs": None}, place.file, place.line, place.prefix, pointer])
        self.connection.execute("INSERT INTO run (id, trace, kept) VALUES (?, ?, ?)", (hex_of(id_of(run)), trace, kept))

    def traces(self) -> Iterator[list[tuple[Mapping[str, Any], Place, str]]]:
        """The records of each trace, in the order in which traces began in the file."""
        order = self.connection.execute("SELECT trace FROM run GROUP BY trace ORDER BY MIN(n)")
        for (trace,) in order:
            rows = self.connection.execute("SELECT kept FROM run WHERE trace = ? ORDER BY n", (trace,))
            yield [self.restored(kept) for (kept,) in rows]

    @staticmethod
    def restored(kept: str) -> tuple[Mapping[str, Any], Place, str]:
        run, file, line, prefix, pointer = json.loads(kept)
        return run, Place(file, line, prefix), pointer

    def close(self) -> None:
        self.connection.close()


def hex_of(id_: str) -> str:
    """An id as a key, whatever characters it has."""
    return digest(id_)


def put_together(
    records: Sequence[tuple[Mapping[str, Any], Place, str]], noticed: list[Problem]
) -> list[Run]:
    """Runs by their ids: what a later record says stands over what an earlier one said."""
    runs: dict[str, Run] = {}
    for number, (value, place, pointer) in enumerate(records):
        id_ = id_of(value) or f"#{number}"
        if id_ not in runs:
            runs[id_] = Run(id_, value, place, pointer, number)
            continue
        said = {name: member for name, member in value.items() if member not in (None, {}, [])}
        before = runs[id_].value
        if {**before, **said} == before:
            noticed.append(passed_over(place, "repeated_record", pointer, as_id(value.get("run_type")) or "run"))
        runs[id_].pointers |= {name: pointer for name, member in said.items() if before.get(name) != member}
        runs[id_].value = {**before, **said}
    return list(runs.values())


def read_trace(
    records: Sequence[tuple[Mapping[str, Any], Place, str]], ids: FirstPlaces
) -> Iterator[Trace | Problem]:
    noticed: list[Problem] = []
    runs = put_together(records, noticed)
    found = told(runs)
    yield from noticed
    yield from found.warnings
    place = runs[0].place
    if not found.messages:
        yield empty_run(place, runs[0].pointer)
    root = root_of(runs, {run.id: run for run in runs})
    given = trace_of(runs[0].value)
    own = given[:200] or PurePath(place.file).stem[:200] or "trace"
    example = as_id(root.value.get("reference_example_id")) if root is not None else ""
    yield Trace(
        source_id=own if ids.earlier(own, place) is None else f"{own} {place}",
        format=FORMAT,
        messages=found.messages,
        cluster=f"example {example}"[:255] if example else "",
        metadata={**metadata_of(runs, root), **({"messages": found.extras} if found.extras else {})},
        place=place,
    )


def metadata_of(runs: Sequence[Run], root: Run | None) -> dict[str, Any]:
    """What the runs say besides the conversation. All of it is private."""
    llms = sorted((run for run in runs if run.kind == "llm"), key=lambda run: run.begun)
    models = list(dict.fromkeys(model for run in llms if (model := model_of(run))))
    usage: dict[str, int | float] = {}
    for run in llms:
        for name, number in usage_of(run):
            usage[name] = usage.get(name, 0) + number
    outer = root.value if root is not None else {}
    threads = (run.metadata.get(name) for run in runs for name in THREADS)
    parts = {
        "model": models[0] if len(models) == 1 else models,
        "usage": usage,
        "success": outer.get("status"),
        "error": outer.get("error"),
        "session_id": next((as_id(thread) for thread in threads if thread), ""),
        "labels": {name: outer[name] for name in ("feedback", "feedback_stats") if outer.get(name)},
        "runs": [rest_of(run) for run in runs],
    }
    return {name: part for name, part in parts.items() if part}


def rest_of(run: Run) -> dict[str, Any]:
    """A run without its conversation; of a model run the parameters stay."""
    inputs = as_object(run.value.get("inputs"))
    parameters = {
        name: member
        for name, member in inputs.items()
        if run.kind == "llm" and name not in ("messages", "input", "prompts", "prompt", "system", "instructions")
    }
    rest = {name: member for name, member in run.value.items() if name not in READ}
    return {**rest, **({"parameters": parameters} if parameters else {})}
