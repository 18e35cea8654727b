"""What an agent had before it when it wrote a reply, as the chat messages a model is asked with (docs/remedies.md).

What it still held is `context` of the requester view: after a compaction the first request, the summary and what
follows. Every call is followed by its outputs, as providers want them, and the names of calls are ours, so that nothing
of the recording system is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotate.rules.requester_view import context, rendered, require_reply
from annotate.traces.base import Call, Message, Trace

NO_TOOL_NAME = re.compile("[^a-zA-Z0-9_-]")
LONGEST_TOOL_NAME = 64
OPEN: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": True}
"""Parameters of which nobody told what they are."""


def working_context(trace: Trace, anchor: int) -> tuple[Mapping[str, Any], ...]:
    """The messages before a reply, the system prompt first; ValueError where there is no reply."""
    require_reply(trace, anchor)
    held = context(trace.messages, anchor)
    return (*system_messages(trace, anchor), *as_chat(held))


def system_messages(trace: Trace, anchor: int) -> tuple[Mapping[str, Any], ...]:
    """The system prompt the agent worked under: its session's, or where that has none the last one before."""
    session = next(message.session for message in trace.messages if message.index == anchor)
    told = [message for message in trace.messages if message.role == "system" and message.index < anchor]
    own = [message for message in told if message.session == session]
    last = [message for message in told if message.session == told[-1].session] if told else []
    text = "\n\n".join(message.text for message in own or last)
    return ({"role": "system", "content": text},) if text.strip() else ()


def as_chat(held: Sequence[Message]) -> Iterator[Mapping[str, Any]]:
    """Messages with their calls and outputs tied. An output whose call is no more there is a text with a heading; a
    call without an output has an empty one."""
    calling = {message.index for message in held if message.role == "assistant"}
    outputs: dict[tuple[int, int], list[Message]] = {}
    for message in held:
        if message.answers is not None and is_tied(message, calling):
            outputs.setdefault((message.answers.index, message.answers.call), []).append(message)
    n_calls = 0
    for message in held:
        if message.role == "assistant":
            ids = [f"call-{n_calls + place + 1}" for place in range(len(message.calls))]
            n_calls += len(ids)
            yield said(message, ids)
            for place, id_ in enumerate(ids):
                text = "\n".join(output.text for output in outputs.get((message.index, place), ()))
                yield {"role": "tool", "tool_call_id": id_, "content": text}
        elif message.role in ("user", "summary"):
            yield {"role": "user", "content": message.text}
        elif not is_tied(message, calling):
            yield {"role": "user", "content": rendered(message)}


def is_tied(message: Message, calling: set[int]) -> bool:
    return message.role == "tool" and message.answers is not None and message.answers.index in calling


def said(message: Message, ids: Sequence[str]) -> Mapping[str, Any]:
    """A message of the agent."""
    if not ids:
        return {"role": "assistant", "content": message.text}
    calls = [as_tool_call(call, id_) for call, id_ in zip(message.calls, ids, strict=True)]
    return {"role": "assistant", "content": message.text or None, "tool_calls": calls}


def as_tool_call(call: Call, id_: str) -> Mapping[str, Any]:
    function = {"name": tool_name(call.name), "arguments": call.arguments}
    return {"id": id_, "type": "function", "function": function}


def tool_name(name: str) -> str:
    """A name as providers take it."""
    return NO_TOOL_NAME.sub("_", name)[:LONGEST_TOOL_NAME] or "tool"


def declared_tools(trace: Trace, anchor: int) -> tuple[Mapping[str, Any], ...]:
    """The agent's tools by the names it called before a reply, each with parameters left open: a judge is not shown
    what else a file said beside its messages."""
    before = (message for message in trace.messages if message.index < anchor and message.side == "agent")
    names = {tool_name(call.name) for message in before for call in message.calls}
    return tuple({"type": "function", "function": {"name": name, "parameters": dict(OPEN)}} for name in sorted(names))
