"""OpenTelemetry spans of agents, as exporters write them: OTLP JSON, or single spans as objects, lists or lines.

Conventions: OpenTelemetry GenAI (old: messages as events; new: messages as attributes), OpenLLMetry, Vercel AI SDK,
OpenInference. One trace for each traceId; its spans may stand anywhere in the file.

Requester: messages of a user's role in the line of requests nearest to the root. Reply: the last text of a turn without
calls. Private (`other`): earlier texts of a turn, other agents and attempts given up, what a program put around the
requester's words. Call: of the model's answer; result: a message, or the span of the tool where no message has it.
File: none. Session: always 1; the id of the session is `session_id`. Model: every one that answered. Usage: the sum
over the innermost requests. Success: not said. Other attributes are kept by span (`spans`).
Skipped and counted: copies (spans that say nothing new), spans around others, embeddings and searches, spans without
any text; a trace without text is passed over, and a file that has no other is refused for that reason.

The spans of all traces wait in a temporary SQLite file; memory holds one trace (and one record of the file).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from annotate.traces.base import Likeness, Place, Problem, Trace, gettext_noop
from annotate.traces.documents import Document
from annotate.traces.otel_attributes import (
    SESSIONS,
    answered_in,
    asked_in,
    kind_of,
    model_of,
    rest_of,
    tool_of,
    usage_of,
    with_details,
)
from annotate.traces.otel_messages import Found
from annotate.traces.otel_parts import first
from annotate.traces.otel_run import run_of
from annotate.traces.otel_spans import Span, Waiting, is_group, is_log, is_span, spans_in
from annotate.traces.otel_steps import Step, text_of
from annotate.traces.values import as_id, as_object
from annotate.traces.warned import likeness, passed_over, unknown_record

FORMAT = "otel_genai"
TITLE = "OpenTelemetry GenAI spans"
RECORDS_IN = "resourceSpans"
LOOKED_AT = 50


def sniff(value: Any) -> Likeness:
    """Spans, or groups of them as OTLP has them."""
    if is_group(value):
        return Likeness(found=("resourceSpans",))
    one = next(iter(value), None) if isinstance(value, list) else value
    there = as_object(one)
    if is_group(one) or is_span(one) or is_log(there) or (there and is_named_lists(there)):
        return Likeness(found=("spans",))
    marks = {"name": "name" in there, "traceId": "traceId" in there, "attributes": "attributes" in there}
    return likeness({**marks, "spans": False})


def is_named_lists(value: Any) -> bool:
    """An object of lists of spans, under whatever names."""
    lists = list(value.values())[:LOOKED_AT]
    return all(isinstance(one, list) and bool(one) and is_span(one[0]) for one in lists)


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    file = ""
    n_spans = n_traces = 0
    with closing(Waiting()) as waiting:
        for document in documents:
            if isinstance(document, Problem):
                yield document
                continue
            file = document.place.file
            found = 0
            for span in spans_in(document.value, document.place):
                waiting.add(span.trace_id, part_of(span))
                found += 1
            n_spans += found
            if not found and document.value != []:
                yield unknown_record(document.place, gettext_noop("A span with attributes, or a group of spans."))
        for trace_id, parts in waiting.traces():
            for one in read_trace(trace_id, [span_of(part) for part in parts], file):
                n_traces += isinstance(one, Trace)
                yield one
    if n_spans and not n_traces:
        yield no_text(Place(file))


def part_of(span: Span) -> dict[str, Any]:
    place = {"file": span.place.file, "line": span.place.line, "prefix": span.place.prefix}
    return {**{name: getattr(span, name) for name in span.__slots__}, "place": place}


def span_of(part: dict[str, Any]) -> Span:
    return Span(**{**part, "place": Place(**part["place"])})


def read_trace(trace_id: str, spans: Sequence[Span], file: str) -> Iterator[Trace | Problem]:
    single, repeated = once(spans)
    for span in repeated:
        yield passed_over(span.place, "repeated_record", span.pointer, f"a second span {span.id}")
    steps = [step_of(span) for span in single]
    roots = [step for step in steps if not step.parent and step.kind in ("agent", "around")]
    request = text_of(roots[0].asked, "user") if roots else ""
    run = run_of(steps, request, text_of(roots[0].answered, "assistant") if roots else "")
    yield from run.warnings
    if not any(message.role != "system" for message in run.messages):
        yield passed_over(single[0].place, "no_text", single[0].pointer, f"a trace without any text: {trace_id}")
        return
    yield Trace(
        source_id=trace_id or PurePath(file).stem or "trace",
        format=FORMAT,
        messages=tuple(run.messages),
        metadata={**run.metadata(), **metadata_of(single)},
        place=single[0].place,
    )


def once(spans: Sequence[Span]) -> tuple[list[Span], list[Span]]:
    """Each span with its last state: exporters write a long one several times. Records of logs join their span."""
    kept: dict[str, Span] = {}
    repeated: list[Span] = []
    for number, span in enumerate(spans):
        key = span.id or f"#{number}"
        before = kept.get(key)
        if before is None:
            kept[key] = span
        elif is_of_log(before) or is_of_log(span):
            whole, part = (span, before) if is_of_log(before) else (before, span)
            kept[key] = replace(whole, events=[*whole.events, *part.events])
        else:
            repeated.append(before)
            kept[key] = span
    return list(kept.values()), repeated


def is_of_log(span: Span) -> bool:
    return not span.name and not span.attributes and bool(span.events)


def step_of(span: Span) -> Step:
    attributes = with_details(span)
    kind = kind_of(replace(span, attributes=attributes))
    tool = tool_of(span, attributes) if kind == "tool" else None
    if tool and tool.result is None and not (tool.call.arguments or tool.call.id):
        kind, tool = "around", None
    found = Found()
    is_talk = kind in ("model", "agent", "around")
    return Step(
        id=span.id,
        place=span.place,
        pointer=span.pointer,
        parent=span.parent,
        name=span.name,
        kind=kind,
        agent=as_id(first(attributes, "gen_ai.agent.name", "agent.name")),
        start=span.start,
        end=span.end,
        asked=asked_in(attributes, span.events, found) if is_talk else [],
        answered=answered_in(attributes, span.events, found) if is_talk else [],
        tool=tool,
        model=model_of(attributes) if kind == "model" else "",
        usage=usage_of(attributes),
        left_out=f"a search or an embedding: {span.name}" if kind == "none" else "",
        found=found,
    )


def metadata_of(spans: Sequence[Span]) -> dict[str, Any]:
    sessions = (as_id(first(span.attributes, *SESSIONS)) for span in spans)
    parts = {
        "session_id": next((session for session in sessions if session), ""),
        "resource": next((span.resource for span in spans if span.resource), {}),
        "spans": [
            {"id": span.id, "parent": span.parent, "name": span.name, "attributes": rest}
            for span in spans
            if (rest := rest_of(span.attributes))
        ],
    }
    return {name: part for name, part in parts.items() if part}


def no_text(place: Place) -> Problem:
    return place.problem(
        "no_text",
        expected=gettext_noop("Spans that hold the texts of messages; these have only times, models, usage."),
        remedy=gettext_noop("Switch on the recording of messages in the agent's tracing, then export again."),
    )
