"""One message of a model's request or answer, as programs that watch agents record it, in the spellings of all vendors.

What such a record calls a user may be anybody: results of tools in a user's role become results, definitions of tools
that stand among the messages are passed over and counted. Who is the requester is settled later (`otel_turns.py`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotate.traces.base import Message, Role
from annotate.traces.otel_parts import Parts, Result, calls_of, first, is_part, parts_of, result_text, undotted
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
NESTED = 60
"""So many levels of JSON in a text are opened."""
CONTENTS = ("content", "parts", "text", "contents", "tool_calls", "function_call", "toolCalls")
USED = frozenset((*CONTENTS, "role", "type", "name", "message", "additional_kwargs", "refusal")) | {
    *("functionCall", "tool_call_id", "toolCallId", "call_id", "arguments", "output"),
    *("summary", "reasoning_content", "reasoning"),
}


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


def unpacked(value: Any) -> Any:
    """JSON in a text, however often it was packed; any other value as it is."""
    for _ in range(3):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
            break
        try:
            inside = json.loads(value)
        except (ValueError, RecursionError):
            break
        if value.count("[") + value.count("{") > NESTED and is_deeper(inside, NESTED):
            break
        value = inside
    return value


def is_deeper(value: Any, most: int) -> bool:
    """Whether more objects and lists are inside each other than can be walked through safely."""
    level = [value]
    for _ in range(most):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True


def is_item(value: Any) -> bool:
    return isinstance(value, dict) and (value.get("type") in ITEMS or as_id(value.get("type")).endswith("_call"))


def is_message(value: Any) -> bool:
    """One message: it says who speaks, in one of the ways in which messages do."""
    if not isinstance(value, dict):
        return False
    if any(key.startswith("message.") for key in value):
        return True
    if isinstance(value.get("role"), str):
        return any(name in value for name in CONTENTS)
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
    if any(key.startswith("message.") for key in value):
        value = as_object(undotted(value))
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
    if isinstance(value.get("contents"), list):
        inside = [as_object(one) for one in value["contents"]]
        content = [one.get("message_content") or as_object(undotted(one)).get("message_content") for one in inside]
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
