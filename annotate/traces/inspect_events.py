"""Events of a sample of Inspect: the same run once more, step by step, and what was done around it. They are counted
and not read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotate.traces.base import Place, Problem
from annotate.traces.inspect_messages import Reader
from annotate.traces.values import as_id, as_list, as_object
from annotate.traces.warned import passed_over


def passed_over_events(sample: Mapping[str, Any], place: Place, found: Reader) -> Iterator[Problem]:
    """A warning for each; the first logs kept them in `transcript`."""
    said = {message.text for message in found.messages if message.text} | ids_of(sample)
    called = {call.id for message in found.messages for call in message.calls if call.id}
    for pointer, events in (("/events", sample.get("events")), ("/transcript/events", transcript_of(sample))):
        for number, event in enumerate(as_list(events)):
            kind = as_id(as_object(event).get("event")) or "event"
            yield passed_over(place, code_of(as_object(event), found, said, called), f"{pointer}/{number}", kind)


def transcript_of(sample: Mapping[str, Any]) -> Any:
    return as_object(sample.get("transcript")).get("events")


def ids_of(sample: Mapping[str, Any]) -> set[str]:
    return {as_id(as_object(message).get("id")) for message in as_list(sample.get("messages"))} - {""}


def code_of(event: Mapping[str, Any], found: Reader, said: set[str], called: set[str]) -> str:
    """A twin of messages, a call of a model or a tool that is outside of the conversation, or bookkeeping."""
    kind = event.get("event")
    if kind == "model":
        choices = as_list(as_object(event.get("output")).get("choices"))
        message = as_object(as_object(choices[0] if choices else None).get("message"))
        own = Reader(found.place, found.attachments)
        own.add(message, "")
        calls = {call.id for call in own.messages[-1].calls}
        is_twin = as_id(message.get("id")) in said or own.messages[-1].text in said or bool(calls & called)
        return "repeated_record" if is_twin else "meta_record"
    if kind == "tool":
        return "repeated_record" if as_id(event.get("id")) in called else "meta_record"
    return "repeated_record" if kind in ("sample_init", "input") else "bookkeeping"
