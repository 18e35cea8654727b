"""The messages in what a model was given or gave back, as programs that watch agents record it: a list of messages, a
request or a reply of a vendor's API, a prompt, or a plain text. `read_messages` finds them in any of these forms.

What such a record calls a user may be anybody: results of tools in a user's role become results, definitions of tools
that stand among the messages are passed over and counted. Who is the requester is settled later (`otel_run.py`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotate.traces.base import Message, Role
from annotate.traces.otel_parts import Parts, Result, calls_of, first, is_part, parts_of, result_text
from annotate.traces.values import as_id, as_json, as_object

ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
CLASSES = {
    f"{name}message{end}": name for name in ("human", "ai", "system", "tool", "function") for end in ("", "chunk")
}
ITEMS = ("function_call", "function_call_output", "reasoning", "message")
"""Entries of a list of OpenAI's Responses API."""
TEXT_MEMBERS = ("text", "query", "question", "input", "output", "response", "answer", "result", "content", "user_input")
USED = frozenset(("role", "content", "parts", "text", "type", "name", "message", "additional_kwargs", "refusal")) | {
    *("tool_calls", "toolCalls", "function_call", "functionCall", "tool_call_id", "toolCallId", "call_id"),
    *("arguments", "output", "summary", "reasoning_content", "reasoning"),
}
DEEPEST = 8
"""So many wrappings are opened."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message, and what else stood with it."""

    message: Message
    extras: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Found:
    """What was found on the way, to be counted: names of what was passed over, and whether anything was no text."""

    passed_over: list[str] = field(default_factory=list)
    unknown_roles: list[str] = field(default_factory=list)
    is_partly_unknown: bool = False


def read_messages(value: Any, role: Role, found: Found) -> list[Said]:
    """All messages in a value. `role` is whose a text is that names nobody. What is no message at all is one text."""
    opened = unpacked(value)
    inside = opened if isinstance(opened, list) else [opened]
    is_text = isinstance(value, str) and all(isinstance(one, str) for one in inside)
    said = None if is_text else from_value(opened, role, found, 0)
    if said is not None:
        return said
    text = value if isinstance(value, str) else "" if value is None else as_json(value)
    return [Said(Message(0, role, text))] if text else []


def unpacked(value: Any) -> Any:
    """JSON in a text, however often it was packed; any other value as it is."""
    for _ in range(3):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
            break
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            break
    return value


def from_value(value: Any, role: Role, found: Found, depth: int) -> list[Said] | None:
    """None where it is nothing that we know."""
    if value is None or value == "" or value == []:
        return []
    if depth > DEEPEST:
        return None
    if isinstance(value, str):
        return [Said(Message(0, role, value))]
    if isinstance(value, list):
        return from_list(value, role, found, depth)
    return from_object(value, role, found, depth) if isinstance(value, dict) else None


def from_list(values: list[Any], role: Role, found: Found, depth: int) -> list[Said] | None:
    if all(isinstance(value, str) for value in values):
        if len(values) == 2 and values[0].lower() in ROLES:
            return [Said(Message(0, ROLES[values[0].lower()], values[1]))]
        return [Said(Message(0, role, "\n".join(values)))]
    if all(is_part(value) for value in values) and not any(is_item(value) for value in values):
        return said_of({"content": values}, role, found)
    if not any(isinstance(value, list) or is_message(value) for value in values):
        return None
    said: list[Said] = []
    for value in values:
        one = from_value(unpacked(value), role, found, depth + 1) if isinstance(value, list | str) else None
        if one is None and is_message(value):
            one = said_of(value, role, found)
        if one is None:
            one = [unknown(value, found)]
        said = joined(said, one) if is_item(value) else said + one
    return said


def from_object(value: Mapping[str, Any], role: Role, found: Found, depth: int) -> list[Said] | None:
    def inner(one: Any, whose: Role = role) -> list[Said]:
        opened = unpacked(one)
        said = from_value(opened, whose, found, depth + 1)
        return [Said(Message(0, whose, one if isinstance(one, str) else as_json(one)))] if said is None else said

    config = as_object(value.get("config"))
    system = first(value, "system", "system_instruction", "systemInstruction", "instructions")
    system = first(config, "system_instruction", "systemInstruction") if system is None else system
    prompts = inner(system, "system") if system is not None else []
    if isinstance(value.get("messages"), list):
        return prompts + inner(value["messages"])
    if isinstance(value.get("contents"), list | str):
        return prompts + inner(value["contents"], "user")
    if isinstance(value.get("output"), list) and (value.get("object") == "response" or "instructions" in value):
        return prompts + inner(value["output"], "assistant")
    if isinstance(value.get("choices"), list):
        return [one for choice in value["choices"][:1] for one in inner(choice, "assistant")]
    if isinstance(value.get("candidates"), list):
        return [one for choice in value["candidates"][:1] for one in inner(as_object(choice).get("content"))]
    if isinstance(value.get("generations"), list):
        flat = [one for row in value["generations"] for one in (row if isinstance(row, list) else [row])]
        return [one for given in flat[:1] for one in inner(as_object(given).get("message") or given)]
    if is_message(value):
        return said_of(value, role, found)
    if isinstance(value.get("prompt"), str | list):
        return prompts + inner(value["prompt"])
    if isinstance(value.get("content"), dict) and "parts" in value["content"]:
        return inner(value["content"])
    if isinstance(value.get("new_message"), dict):
        return inner(value["new_message"])
    if isinstance(value.get("content"), list) and all(is_part(one) for one in value["content"]):
        return said_of(value, role, found)
    if len(value) == 1 and isinstance(text := next(iter(value.values())), str) and next(iter(value)) in TEXT_MEMBERS:
        return [Said(Message(0, role, text))]
    return None


def is_item(value: Any) -> bool:
    return isinstance(value, dict) and (value.get("type") in ITEMS or as_id(value.get("type")).endswith("_call"))


def is_message(value: Any) -> bool:
    """One message: it says who speaks, in one of the ways in which messages do."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("role"), str):
        return any(name in value for name in ("content", "parts", "text", "tool_calls", "function_call", "toolCalls"))
    if isinstance(value.get("message"), dict) and is_message(value["message"]):
        return True
    if isinstance(value.get("parts"), list) and all(isinstance(one, dict | str) for one in value["parts"]):
        return True
    kind = as_id(value.get("type"))
    if kind in ROLES and ("content" in value or "data" in value):
        return True
    return is_item(value) or (isinstance(value.get("kwargs"), dict) and isinstance(value.get("id"), list))


def speaker(value: Mapping[str, Any], role: Role) -> tuple[str, Mapping[str, Any]]:
    """Who speaks, and the message itself without its wrapping."""
    if isinstance(value.get("message"), dict) and "role" not in value:
        return speaker({**value["message"], **without(value, "message")}, role)
    if isinstance(value.get("kwargs"), dict) and isinstance(value.get("id"), list):
        name = as_id(value["id"][-1]).lower() if value["id"] else ""
        return CLASSES.get(name, name or role), value["kwargs"]
    if isinstance(value.get("data"), dict) and "content" not in value:
        return as_id(value.get("type")), value["data"]
    if isinstance(value.get("role"), str):
        return value["role"], value
    kind = as_id(value.get("type"))
    if kind == "function_call_output":
        return "tool", value
    return (kind if kind in ROLES else "assistant" if is_item(value) else role), value


def without(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: member for key, member in value.items() if key != name}


def said_of(value: Mapping[str, Any], default: Role, found: Found) -> list[Said]:
    """One message; with the results of tools that it holds, several."""
    name, inside = speaker(value, default)
    role = ROLES.get(name.lower()) or ROLES.get(CLASSES.get(name.lower(), ""))
    parts = content_of(inside, role)
    if role is None:
        found.unknown_roles.append(name)
        return [Said(Message(0, "other", parts.text or as_json(value), calls=tuple(parts.calls), name=name[:255]))]
    if role == "tool" and is_definition(inside.get("content")):
        found.passed_over.append("a definition of a tool")
        return []
    said = [result(one, inside) for one in parts.results]
    extras = extras_of(inside, parts)
    if parts.rest:
        found.is_partly_unknown = True
        extras["content"] = parts.rest
    if role == "tool":
        if not said:
            id_ = as_id(first(inside, "tool_call_id", "toolCallId", "call_id", "id"))
            whole = inside.get("output") if "output" in inside else inside.get("content")
            text = parts.text if parts.texts and not parts.rest else result_text(whole)
            said = [Said(Message(0, "tool", text, answers_id=id_, name=as_id(inside.get("name"))[:255]), extras)]
        return said
    if said and not (parts.texts or parts.calls or parts.rest):
        return said
    text = parts.text if parts.texts or not parts.rest else as_json(parts.rest)
    kept: Role = role if parts.texts or not parts.rest else "other"
    whose = name[:255] if kept == "other" else ""
    message = Message(0, kept, text, side="user" if kept == "user" else "agent", calls=tuple(parts.calls), name=whose)
    return [Said(message, extras), *said] if parts.calls else [*said, Said(message, extras)]


def content_of(value: Mapping[str, Any], role: Role | None) -> Parts:
    """The parts of a message, wherever it has them."""
    kind = as_id(value.get("type"))
    if kind == "function_call" or (kind.endswith("_call") and is_item(value) and "content" not in value):
        named = value if kind == "function_call" else {"id": value.get("id"), "name": kind, "arguments": value}
        return Parts(calls=parts_of({**named, "type": "tool-call"}).calls)
    if kind == "reasoning":
        return Parts(reasoning=parts_of(dict(value)).reasoning)
    content = first(value, "content", "parts", "text")
    if isinstance(content, dict) and isinstance(content.get("parts"), list):
        content = content["parts"]
    elif isinstance(content, dict) and not is_part(content):
        content = as_json(content) if role in ("tool", "assistant") else content
    found = parts_of(content)
    known = {(call.id, call.name) for call in found.calls}
    found.calls += [call for call in calls_of(value) if not call.id or (call.id, call.name) not in known]
    if isinstance(value.get("refusal"), str) and not found.texts:
        found.texts.append(value["refusal"])
    for name in ("reasoning_content", "reasoning"):
        if isinstance(value.get(name), str) and value[name]:
            found.reasoning.append(value[name])
    return found


def is_definition(content: Any) -> bool:
    """Some programs put the tools that a model has among its messages, in a tool's role."""
    inside = as_object(unpacked(content))
    return inside.get("type") == "function" and "name" in as_object(inside.get("function"))


def extras_of(value: Mapping[str, Any], parts: Parts) -> dict[str, Any]:
    extras = {key: one for key, one in value.items() if key not in USED and one not in (None, "", [], {})}
    more = {key: one for key, one in as_object(value.get("additional_kwargs")).items() if key != "tool_calls" and one}
    if more:
        extras["additional_kwargs"] = more
    if parts.reasoning:
        extras["reasoning"] = "\n".join(parts.reasoning)
    return extras


def result(one: Result, value: Mapping[str, Any]) -> Said:
    name = one.name or as_id(value.get("name"))
    return Said(Message(0, "tool", one.text, answers_id=one.id, name=name[:255]))


def unknown(value: Any, found: Found) -> Said:
    found.is_partly_unknown = True
    name = as_id(as_object(value).get("role") or as_object(value).get("type"))
    return Said(Message(0, "other", as_json(value), name=name[:255]))


def joined(said: list[Said], more: list[Said]) -> list[Said]:
    """One answer of the Responses API is several entries: reasoning, text and calls that follow each other."""
    if not (said and more and len(more) == 1) or said[-1].message.role != "assistant":
        return said + more
    before, one = said[-1], more[0]
    is_start = not before.message.text and not before.message.calls
    if one.message.role != "assistant" or (one.message.text and not is_start):
        return said + more
    message = Message(
        0, "assistant", before.message.text or one.message.text, calls=before.message.calls + one.message.calls
    )
    return [*said[:-1], Said(message, {**one.extras, **before.extras})]

