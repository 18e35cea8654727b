"""Spans in the forms in which exporters write them, one like the other, and kept until all of a trace are there.

Forms: OTLP JSON ({resourceSpans: [{resource, scopeSpans: [{scope, spans}]}]}, attributes as [{key, value}]), also one
of its parts as a line; single spans with attributes as an object, as the SDKs' own exporters and stores of spans write
them; objects and lists of such spans; records of OTLP logs, which newer conventions use for messages.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotate.traces.base import Place
from annotate.traces.otel_parts import first
from annotate.traces.values import as_id, as_json, as_list, as_object

NESTED = ("gen_ai", "llm", "ai", "input", "output", "openinference", "traceloop", "tool", "session", "agent", "message")
"""Roots of attribute names that some stores write as objects inside each other instead of with dots."""
GROUPS = ("resourceSpans", "scopeSpans", "instrumentationLibrarySpans", "resourceLogs", "scopeLogs")
TRACE_IDS = ("traceId", "trace_id", "traceID", "TraceID")
SPAN_IDS = ("spanId", "span_id", "spanID", "SpanID")
TIMES = ("{0}TimeUnixNano", "{0}Time", "{0}_time", "{0}_time_unix_nano", "{1}Time", "{0}edAt")


@dataclass(frozen=True, slots=True)
class Span:
    trace_id: str
    id: str
    parent: str
    name: str
    start: float
    end: float
    attributes: Mapping[str, Any]
    events: list[Mapping[str, Any]]
    resource: Mapping[str, Any]
    place: Place
    pointer: str


def is_span(value: Any) -> bool:
    """A name, attributes, and the ids of a trace or a span, or the scope that a span has."""
    there = as_object(value)
    names = {"name", "spanName", "span_name", "Name"} & there.keys()
    context = as_object(first(there, "spanContext", "context", "SpanContext"))
    ids = {*TRACE_IDS, *SPAN_IDS, "scopeName"} & {*there.keys(), *context.keys()}
    return bool(names) and bool(ids) and isinstance(first(there, "attributes", "Attributes"), dict | list)


def is_group(value: Any) -> bool:
    return any(isinstance(as_object(value).get(name), list) for name in GROUPS)


def spans_in(value: Any, place: Place, pointer: str = "", resource: Mapping[str, Any] | None = None) -> Iterator[Span]:
    """All spans of one record of a file."""
    around = resource or {}
    there = as_object(value)
    if isinstance(value, list):
        for number, one in enumerate(value):
            yield from spans_in(one, place, f"{pointer}/{number}", around)
    elif is_group(value):
        around = {**around, **resource_of(there)}
        for name in GROUPS:
            for number, one in enumerate(as_list(there.get(name))):
                yield from spans_in(one, place, f"{pointer}/{name}/{number}", around)
    elif isinstance(there.get("spans"), list) or isinstance(there.get("logRecords"), list):
        for name in ("spans", "logRecords"):
            for number, one in enumerate(as_list(there.get(name))):
                yield from spans_in(one, place, f"{pointer}/{name}/{number}", around)
    elif is_span(value):
        yield read_span(there, place, pointer, around)
    elif is_log(there):
        yield read_log(there, place, pointer, around)
    elif there and all(isinstance(one, list) and one and all(map(is_span, one)) for one in there.values()):
        for name, spans in there.items():
            yield from spans_in(spans, place, f"{pointer}/{name}", around)


def is_log(value: Mapping[str, Any]) -> bool:
    ids = (first(value, "traceId", "trace_id"), first(value, "spanId", "span_id"))
    has_content = "body" in value or "eventName" in value or "event_name" in value
    return has_content and all(isinstance(one, str) for one in ids)


def read_span(value: Mapping[str, Any], place: Place, pointer: str, resource: Mapping[str, Any]) -> Span:
    context = as_object(first(value, "spanContext", "context", "SpanContext"))
    parent = first(value, "parentSpanId", "parent_span_id", "parentId", "parent_id", "parentSpanID")
    if parent is None:
        around = as_object(first(value, "parentSpanContext", "parent"))
        parent = first(around, "spanId", "span_id")
    return Span(
        trace_id=as_id(first({**context, **value}, *TRACE_IDS)),
        id=as_id(first({**context, **value}, *SPAN_IDS)),
        parent=as_id(parent),
        name=as_id(first(value, "name", "spanName", "span_name", "Name")),
        start=seconds(first(value, *(name.format("start", "Start") for name in TIMES))),
        end=seconds(first(value, *(name.format("end", "End") for name in TIMES))),
        attributes=attributes_of(first(value, "attributes", "Attributes")),
        events=[read_event(one) for one in as_list(first(value, "events", "Events"))],
        resource={**resource, **resource_of(value)},
        place=place,
        pointer=pointer,
    )


def resource_of(value: Mapping[str, Any]) -> dict[str, Any]:
    return attributes_of(as_object(value.get("resource")).get("attributes"))


def read_log(value: Mapping[str, Any], place: Place, pointer: str, resource: Mapping[str, Any]) -> Span:
    """A record of a log is an event of its span, which it names; a span with nothing else stands for it."""
    attributes = attributes_of(value.get("attributes"))
    name = as_id(first(value, "eventName", "event_name") or attributes.get("event.name"))
    body = plain(value.get("body"))
    at = seconds(first(value, "timeUnixNano", "observedTimeUnixNano", "timestamp"))
    event = {"name": name, "attributes": {**attributes, **as_object(body)}, "body": body}
    return Span(
        trace_id=as_id(first(value, "traceId", "trace_id")),
        id=as_id(first(value, "spanId", "span_id")),
        parent="",
        name="",
        start=at,
        end=at,
        attributes={},
        events=[event],
        resource=resource,
        place=place,
        pointer=pointer,
    )


def read_event(value: Any) -> dict[str, Any]:
    there = as_object(value)
    return {
        "name": as_id(first(there, "name", "Name")),
        "attributes": attributes_of(first(there, "attributes", "Attributes")),
    }


def attributes_of(value: Any) -> dict[str, Any]:
    """Attributes by their dotted names, in whichever form they stand."""
    found = as_object(plain(value)) if not isinstance(value, list) else {}
    if isinstance(value, list):
        found = {as_id(as_object(one).get("key")): plain(as_object(one).get("value")) for one in value}
    flat: dict[str, Any] = {}
    for key, one in found.items():
        if key in NESTED and isinstance(one, dict):
            flatten(key, one, flat)
        else:
            flat[key] = one
    return flat


def flatten(name: str, value: Any, flat: dict[str, Any]) -> None:
    if isinstance(value, dict):
        for key, one in value.items():
            flatten(f"{name}.{key}", one, flat)
    else:
        flat[name] = value


def plain(value: Any) -> Any:
    """A value without OTLP's wrapping of it: {stringValue}, {intValue}, {arrayValue: {values}}, {kvlistValue}."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        (kind, one), *_ = value.items()
        if kind in ("stringValue", "boolValue", "doubleValue", "bytesValue", "Value"):
            return one
        if kind == "intValue":
            return int(one) if isinstance(one, str) and one.removeprefix("-").isdecimal() and len(one) < 25 else one
        if kind == "arrayValue":
            return [plain(each) for each in as_list(as_object(one).get("values"))]
        if kind == "kvlistValue":
            return attributes_of(as_list(as_object(one).get("values")))
    if isinstance(value.get("attributes"), list):
        return {**value, "attributes": attributes_of(value["attributes"])}
    return value


def seconds(value: Any) -> float:
    """Times as nanoseconds, milliseconds or seconds since 1970, as [seconds, nanoseconds], or written out."""
    if isinstance(value, list) and len(value) == 2:
        return seconds(value[0]) + (float(value[1]) / 1e9 if is_number(value[1]) else 0.0)
    if isinstance(value, str):
        try:
            value = int(value) if value.isdecimal() and len(value) < 25 else datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError, OSError):
            return 0.0
    if not is_number(value):
        return 0.0
    number = float(value)
    for unit in (1e9, 1e6, 1e3):
        if abs(number) > 1e8 * unit:
            return number / unit
    return number


def is_number(value: Any) -> bool:
    """Whether it can be counted with; JSON may hold numbers that no sum of ours can."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e24


class Waiting:
    """Parts of traces until all parts are there, in a temporary SQLite file, so that memory holds one trace at a time
    whatever the order of the parts in the file is."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect("", isolation_level=None)
        self.connection.execute("PRAGMA journal_mode=OFF")
        self.connection.execute("CREATE TABLE part (trace TEXT, number INTEGER PRIMARY KEY, value TEXT)")
        self.connection.execute("BEGIN")

    def add(self, trace_id: str, value: Any) -> None:
        text = as_json(value).encode("utf-8", "surrogatepass")
        self.connection.execute("INSERT INTO part (trace, value) VALUES (?, ?)", (key_of(trace_id), text))

    def traces(self) -> Iterator[tuple[str, list[Any]]]:
        """Each trace with its parts, in the order in which they began."""
        self.connection.execute("CREATE INDEX by_trace ON part (trace)")
        firsts = self.connection.execute("SELECT trace FROM part GROUP BY trace ORDER BY MIN(number)")
        for (trace,) in firsts:
            rows = self.connection.execute("SELECT value FROM part WHERE trace = ? ORDER BY number", (trace,))
            yield json.loads(trace), [json.loads(value.decode("utf-8", "surrogatepass")) for (value,) in rows]

    def close(self) -> None:
        self.connection.close()


def key_of(trace_id: str) -> str:
    return json.dumps(trace_id)
