"""Messages wherever they stand: in a list, a request or a reply of a vendor's API, a prompt, or a plain text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.traces.base import Message, Role
from annotate.traces.otel_messages import ROLES, Found, Said, is_item, is_message, said_of, unknown, unpacked
from annotate.traces.otel_parts import first, is_part
from annotate.traces.values import as_json, as_object

TEXT_MEMBERS = ("text", "query", "question", "input", "output", "response", "answer", "result", "content", "user_input")
"""What was asked is a text where an object has nothing but one of these. An answer may be such an object itself."""
DEEPEST = 8
"""So many wrappings are opened."""


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
    if isinstance(value.get("toolCalls"), list) or isinstance(value.get("tool_calls"), list):
        return said_of(value, role, found)
    if isinstance(value.get("prompt"), str | list):
        return prompts + inner(value["prompt"])
    if isinstance(value.get("content"), dict) and "parts" in value["content"]:
        return inner(value["content"])
    if isinstance(value.get("new_message"), dict):
        return inner(value["new_message"])
    if isinstance(value.get("content"), list) and all(is_part(one) for one in value["content"]):
        return said_of(value, role, found)
    (name, text), *more = value.items() if value else [("", None)]
    if role == "user" and isinstance(text, str) and not more and name in TEXT_MEMBERS:
        return [Said(Message(0, role, text))]
    return None


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
