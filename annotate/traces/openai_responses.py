"""Runs in OpenAI's Responses API: objects with `input` and `output` items, single responses, the events of a streamed
response, lists of items, and rollouts of NeMo Gym (`responses_create_params.input`, `response.output`, reward).

Decided. Requester: messages of role `user`. Reply: a message of the assistant without calls; a text before or between
the calls of its turn stands beside them. Call: every `..._call` item and `program`; its result: the `..._output` item
with its `call_id`, or what the item itself holds where the provider ran the tool. System: `system`, `developer` and
`instructions`. Private: reasoning (by message), approvals of MCP calls, citations, ids, everything unknown. File: none.
Session: one. Model, usage: those of the response. Success: the reward of a rollout. A rollout in which the agent wrote
its call as text (`<tool_call>` at the end) has it as a call.
A NeMo Gym rollout of tau2 holds one run twice. The simulation in `result` is read, because only it has the requester's
own tools, briefing and stop signs apart; the Responses items are passed over and counted.
Passed over and counted: references to items, listings of MCP tools, events before the end of a stream, and a record
whose whole conversation the next one repeats. One record is held, and of a stream one response.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any

from annotate.traces.base import Likeness, Message, Problem, Trace, gettext_noop
from annotate.traces.documents import Document
from annotate.traces.identity import FirstPlaces
from annotate.traces.openai_responses_events import Stream, is_event
from annotate.traces.openai_responses_items import CALLS, COMPACTION, RESULTS, type_of
from annotate.traces.openai_responses_parts import IMAGES, TEXTS
from annotate.traces.openai_responses_records import Run, is_rollout, named, read_run
from annotate.traces.openai_responses_tau2 import is_tau2, read_tau2
from annotate.traces.values import as_id, as_list, as_object
from annotate.traces.warned import likeness, passed_over, unknown_record

FORMAT = "openai_responses"
TITLE = "OpenAI responses"
LOOKED_AT = 50
PARTS = frozenset(TEXTS) - {"text", "logs", "summary_text"} | (IMAGES - {"image", "image_url"}) | {"input_file"}
OTHER_LOGS = ("type", "messages", "observations", "traceId", "trace_id", "run_type", "spans", "span_data", "traj")
"""An object with one of these is an entry of some log of calls, which has its own reader."""


def sniff(value: Any) -> Likeness:
    """A response, an event of one, a rollout, or items of the API under `input` and `output` or in a list."""
    there = as_object(value)
    if isinstance(there.get("responses_create_params"), dict):
        has_output = isinstance(as_object(there.get("response")).get("output"), list)
        return likeness({"responses_create_params": True, "response.output": has_output})
    if there.get("object") == "response":
        return likeness({"object": True, "output": isinstance(there.get("output"), list)})
    if is_event(value):
        return likeness({"type": True})
    if isinstance(value, list):
        return likeness({"items": bool(value) and all(map(is_like_item, value[:LOOKED_AT])) and is_marked(value)})
    output = there.get("output")
    items = [*as_list(there.get("input")), *as_list(as_object(output).get("output") or output)]
    marks = {
        "input": isinstance(there.get("input"), list | str),
        "output": isinstance(output, list | dict | str),
        "items": is_marked(items),
        "no other log": not any(name in there for name in OTHER_LOGS),
    }
    return likeness(marks if "input" in there or "output" in there else dict.fromkeys(marks, False))


def is_like_item(item: Any) -> bool:
    return isinstance(item, dict) and bool(type_of(item))


def is_marked(items: Sequence[Any]) -> bool:
    return any(is_item(item) for item in items[:LOOKED_AT])


def is_item(item: Any) -> bool:
    """What no other format writes: typed parts of a message, a call or result by `call_id`, reasoning beside both."""
    there, kind = as_object(item), type_of(item)
    if kind == "message":
        parts = as_list(there.get("content"))
        return any(as_id(as_object(part).get("type")) in PARTS for part in parts)
    if kind == "reasoning":
        return isinstance(there.get("summary"), list)
    is_hosted = "id" in there and kind not in ("tool_call", "program")
    return (kind in CALLS or kind in RESULTS or kind in COMPACTION) and ("call_id" in there or is_hosted)


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    with closing(FirstPlaces()) as places:
        for run in without_snapshots(runs_of(documents)):
            yield run if isinstance(run, Problem) else named(run, places)


def runs_of(documents: Iterable[Document | Problem]) -> Iterator[Run | Problem]:
    stream = Stream()
    for document in documents:
        if isinstance(document, Problem):
            yield document
        elif is_event(document.value):
            for found in stream.add(document):
                yield from [found] if isinstance(found, Problem) else read_run(found)
        elif is_tau2(document.value):
            yield from read_tau2(document.value, document.place)
        elif not is_record(document.value):
            yield unknown_record(
                document.place, gettext_noop("A response, a rollout, or an object with input and output items.")
            )
        else:
            yield from read_run(document)
    for document in stream.left():
        yield from read_run(document)


def is_record(value: Any) -> bool:
    there = as_object(value)
    has_items = any(isinstance(there.get(name), list | str | dict) for name in ("input", "output"))
    return has_items or is_rollout(there) or (isinstance(value, list) and bool(value))


def without_snapshots(runs: Iterable[Run | Problem]) -> Iterator[Run | Problem]:
    """A log of requests has the whole conversation in each: the last one stands for those before it. Rollouts are runs
    of their own, however they begin."""
    held: Run | None = None
    for run in runs:
        if isinstance(run, Problem):
            yield run
            continue
        if held is not None and is_snapshot(held, run):
            yield passed_over(held.trace.place, "repeated_record", "", "the beginning of the next record")
        elif held is not None:
            yield held
        held = run
    if held is not None:
        yield held


def is_snapshot(held: Run, run: Run) -> bool:
    before, after = held.trace.messages, run.trace.messages
    if held.is_rollout or run.is_rollout or not 0 < len(before) < len(after):
        return False
    return [said(one) for one in before] == [said(one) for one in after[: len(before)]]


def said(message: Message) -> tuple[Any, ...]:
    return message.role, message.text, message.calls, message.answers_id
