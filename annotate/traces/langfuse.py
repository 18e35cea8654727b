"""Traces of Langfuse: {trace, observations}, a trace with its observations inside, a page of the API ({data: [...]}),
or lines that are single observations of exports, brought together by their traceId.

Requester: messages of a user's role in the generations nearest to the root; where the trace's own input is one text,
that text, and what a program made of it is private. Reply: the last text of a turn without calls, else the trace's
output. Private (`other`): earlier texts of a turn, other agents and attempts given up. Call: of a generation's output
or of later input; result: a message, or the output of the tool's observation where no message has it. File: none.
Session: always 1; `session_id` is the trace's. Model: those of generations. Usage: the sum over the innermost
generations. Success: not said; `scores` are kept, those of people (source ANNOTATION) as `labels`.
Skipped and counted: observations that say nothing new, that only stand around others, or without any text. Refused:
what Langfuse's tests keep of a trace ({id: {input: {success, data}}}); it tells neither the order nor what each is.

A trace is one record. Single observations wait in a temporary SQLite file; memory holds one trace.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from annotate.traces.base import Call, Likeness, Place, Problem, Trace, gettext_noop
from annotate.traces.documents import Document
from annotate.traces.otel_attributes import TOOL_IDS, TOOL_NAMES, kind_by_names, tool_output
from annotate.traces.otel_forms import read_messages
from annotate.traces.otel_messages import Found, is_message, unpacked
from annotate.traces.otel_parts import first
from annotate.traces.otel_run import Run, run_of
from annotate.traces.otel_spans import Waiting, is_number, seconds
from annotate.traces.otel_steps import Kind, Step, ToolUse, text_of
from annotate.traces.values import as_id, as_list, as_object
from annotate.traces.warned import empty_run, likeness, passed_over, unknown_record

FORMAT = "langfuse"
TITLE = "Langfuse traces"
KINDS: Mapping[str, Kind] = {
    "GENERATION": "model",
    "TOOL": "tool",
    "AGENT": "agent",
    "SPAN": "around",
    "CHAIN": "around",
    "EVENT": "around",
    "RETRIEVER": "none",
    "EMBEDDING": "none",
    "EVALUATOR": "none",
    "GUARDRAIL": "none",
}
NOT_KEPT = frozenset({"observations", "scores", "trace", "input", "output", "id"})
TIMES = ("startTime", "start_time", "traceId", "trace_id")


def sniff(value: Any) -> Likeness:
    """A trace with observations, a page of traces, one observation, or what Langfuse's tests keep of one."""
    there = as_object(value)
    data = there.get("data")
    page = as_object(data[0]) if isinstance(data, list) and data else {}
    if is_trace(there) or is_trace(page) or is_observation(there) or is_observation(page) or is_checked(there):
        return Likeness(found=("observations",))
    return likeness({"id": "id" in there, "traceId": "traceId" in there, "observations": False})


def is_trace(value: Mapping[str, Any]) -> bool:
    """Observations, and the trace beside or around them; API answers may have only the ids of observations."""
    observations = value.get("observations")
    if not isinstance(observations, list):
        return False
    has_trace = isinstance(value.get("trace"), dict) or ("id" in value and "timestamp" in value)
    return has_trace and all(is_observation(as_object(one)) or isinstance(one, str) for one in observations[:1])


def is_observation(value: Mapping[str, Any]) -> bool:
    return as_id(value.get("type")) in KINDS and "id" in value and any(name in value for name in TIMES)


def is_checked(value: Mapping[str, Any]) -> bool:
    """Observations by their id, each input and output with whether Langfuse understood it."""
    sides = [
        as_object(one).get(side)
        for one in value.values()
        for side in ("input", "output")
        if isinstance(one, dict) and side in one and one.keys() <= {"input", "output"}
    ]
    return len(sides) >= len(value) > 0 and all(isinstance(as_object(side).get("success"), bool) for side in sides)


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    with closing(Waiting()) as waiting:
        for document in documents:
            if isinstance(document, Problem):
                yield document
            else:
                yield from read_record(document.value, document.place, waiting)
        for trace_id, parts in waiting.traces():
            places = [Place(**part["place"]) for part in parts]
            values = [part["value"] for part in parts]
            steps = [step_of(value, place, "") for value, place in zip(values, places, strict=True)]
            yield from trace_of({"id": trace_id}, values, steps, places[0])


def read_record(value: Any, place: Place, waiting: Waiting) -> Iterator[Trace | Problem]:
    there = as_object(value)
    if isinstance(there.get("data"), list) and not is_trace(there):
        for number, one in enumerate(there["data"]):
            yield from read_record(one, replace(place, prefix=f"{place.prefix}/data/{number}"), waiting)
    elif is_observation(there):
        kept = {"file": place.file, "line": place.line, "prefix": place.prefix}
        waiting.add(as_id(first(there, "traceId", "trace_id")), {"value": value, "place": kept})
    elif isinstance(there.get("observations"), list):
        values = there["observations"]
        steps = [step_of(one, place, f"/observations/{number}") for number, one in enumerate(values)]
        yield from trace_of(as_object(there.get("trace")) or there, values, steps, place)
    elif is_checked(there):
        yield only_checked(place)
    else:
        yield unknown_record(place, gettext_noop("A trace with a list of observations, or one observation."))


def trace_of(
    trace: Mapping[str, Any], observations: Sequence[Any], steps: Sequence[Step], place: Place
) -> Iterator[Trace | Problem]:
    single, repeated = once(steps)
    for step in repeated:
        yield passed_over(step.place, "repeated_record", step.pointer, f"a second observation {step.id}")
    run = run_of(single, *own_words(trace, single)) if single else Run()
    yield from run.warnings
    if not run.messages:
        yield empty_run(place, "/observations")
    yield Trace(
        source_id=as_id(trace.get("id")) or PurePath(place.file).stem or "trace",
        format=FORMAT,
        messages=tuple(run.messages),
        metadata={**run.metadata(), **metadata_of(trace, observations)},
        place=place,
    )


def once(steps: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """Each observation with its last state."""
    kept: dict[str, Step] = {}
    repeated: list[Step] = []
    for number, step in enumerate(steps):
        key = step.id or f"#{number}"
        if key in kept:
            repeated.append(kept[key])
        kept[key] = step
    return list(kept.values()), repeated


def own_words(trace: Mapping[str, Any], steps: Sequence[Step]) -> tuple[str, str]:
    """What the trace as a whole was asked and answered, where each is one text; else the same of its root, or the
    answer with which a step around others ended last."""
    ids = {step.id for step in steps}
    around = [step for step in steps if step.kind in ("around", "agent")]
    roots = [step for step in around if step.parent not in ids][:1]
    last = sorted((step for step in around if step.has_reply), key=lambda step: step.end)[-1:]
    asked = [read_messages(unquoted(trace.get("input")), "user", Found()), *(step.asked for step in roots)]
    answered = [
        read_messages(unquoted(trace.get("output")), "assistant", Found()),
        *(step.answered for step in [*roots, *last]),
    ]
    return (
        next(filter(None, (text_of(said, "user") for said in asked)), ""),
        next(filter(None, (text_of(said, "assistant") for said in answered)), ""),
    )


def unquoted(value: Any) -> Any:
    """Langfuse exports the input of a trace as JSON once more, also where it is a text."""
    for _ in range(2):
        if isinstance(value, str) and value.startswith('"'):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                break
    return value


def step_of(value: Any, place: Place, pointer: str) -> Step:
    there = as_object(value)
    attributes = as_object(as_object(unpacked(there.get("metadata"))).get("attributes"))
    kind = KINDS.get(as_id(there.get("type")), "around")
    if kind == "around" and kind_by_names(attributes) in ("tool", "agent", "none"):
        kind = kind_by_names(attributes) or kind
    if kind == "tool" and there.get("input") is None and there.get("output") is None:
        kind = "around"
    name = as_id(there.get("name"))
    found = Found()
    is_talk = kind in ("model", "agent", "around")
    asked = read_messages(there.get("input"), "user", found) if is_talk else []
    if kind == "model" and is_no_input(there.get("input")):
        asked = []
    return Step(
        id=as_id(there.get("id")),
        place=place,
        pointer=pointer,
        parent=as_id(first(there, "parentObservationId", "parent_observation_id")),
        name=name,
        kind=kind,
        start=seconds(first(there, "startTime", "start_time")),
        end=seconds(first(there, "endTime", "end_time")),
        asked=asked,
        answered=read_messages(there.get("output"), "assistant", found) if is_talk else [],
        tool=tool_of(there, name, attributes) if kind == "tool" else None,
        model=as_id(first(there, "model", "providedModelName")) if kind == "model" else "",
        usage=usage_of(there),
        left_out=f"a search or a check: {name}" if kind == "none" else "",
        has_reply=is_message(unpacked(there.get("output"))),
        found=found,
    )


def is_no_input(value: Any) -> bool:
    """Some tracers lose what a model was given and leave the name of a member in its place."""
    return bool(unpacked(value) == {"content": "role"})


def tool_of(value: Mapping[str, Any], name: str, attributes: Mapping[str, Any]) -> ToolUse:
    text, said_id = tool_output(value.get("output"))
    given = first(attributes, *TOOL_NAMES)
    shown = as_id(given) or name.removeprefix("execute_tool ").removeprefix("running tool: ")
    return ToolUse(Call(as_id(first(attributes, *TOOL_IDS)) or said_id, shown, as_id(value.get("input"))), text)


def usage_of(value: Mapping[str, Any]) -> dict[str, float]:
    """Numbers of `usageDetails`, in older files of `usage`."""
    found = as_object(first(value, "usageDetails", "usage_details", "usage"))
    return {name: number for name, number in found.items() if is_number(number)}


def metadata_of(trace: Mapping[str, Any], observations: Sequence[Any]) -> dict[str, Any]:
    """Everything else that the file says. The trace's own input and output are kept as they stand."""
    scores = [one for one in as_list(trace.get("scores")) if one]
    parts = {
        "session_id": as_id(first(trace, "sessionId", "session_id")),
        "labels": [one for one in scores if as_object(one).get("source") == "ANNOTATION"],
        "scores": [one for one in scores if as_object(one).get("source") != "ANNOTATION"],
        "input": trace.get("input"),
        "output": trace.get("output"),
        "trace": said_in(trace),
        "observations": [{"id": as_object(one).get("id"), **said_in(as_object(one))} for one in observations],
    }
    return {name: part for name, part in parts.items() if part}


def said_in(value: Mapping[str, Any]) -> dict[str, Any]:
    """The members that say anything, without those that are read elsewhere."""
    return {name: one for name, one in value.items() if name not in NOT_KEPT and one not in (None, "", [], {})}


def only_checked(place: Place) -> Problem:
    return place.problem(
        "no_trace",
        expected=gettext_noop("A trace with its observations; this is a check of inputs and outputs, in no order."),
        remedy=gettext_noop("Export the trace itself from Langfuse, with its observations, then import that."),
    )
