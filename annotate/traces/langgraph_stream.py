"""What a stream of LangGraph wraps around states, updates and messages, and messages that come in pieces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.traces.langchain_messages import is_message, plain
from annotate.traces.values import as_id, as_list, as_object

MODES = (
    *("values", "updates", "messages", "custom", "debug", "checkpoints"),
    *("tasks", "metadata", "events", "error", "end"),
)


def unwrapped(value: Any) -> tuple[str, Any]:
    """The mode and what is inside, where a stream of several modes or a server's events wrap it: [mode, data], or
    {event: "mode", data}, which may go on as in `messages/partial` and `values|subgraph:1`. An empty mode without."""
    if isinstance(value, list) and len(value) == 2 and value[0] in MODES and not isinstance(value[1], str):
        return value[0], value[1]
    if isinstance(value, dict) and "data" in value:
        mode = as_id(value.get("event")).split("|")[0].split("/")[0]
        if mode in MODES:
            return mode, value["data"]
    return "", value


def is_of_subgraph(value: Any) -> bool:
    """Events of a graph inside the graph name it after a bar."""
    return isinstance(value, dict) and "|" in as_id(value.get("event"))


def streamed_messages(mode: str, value: Any) -> list[Any] | None:
    """The messages of the mode `messages`: one with a description of its node, or a list of them."""
    if isinstance(value, list) and len(value) == 2 and is_message(value[0]) and is_description(value[1]):
        return value[:1]
    if mode == "messages" and isinstance(value, list) and any(is_message(one) for one in value):
        return value
    return None


def is_description(value: Any) -> bool:
    return isinstance(value, dict) and any(name.startswith("langgraph_") for name in value)


def is_piece(message: Any) -> bool:
    """Whether a message is one of many that add up to one; they have the id of it in common."""
    return as_id(as_object(plain(message)).get("type")).endswith("Chunk")


def joined(before: Any, after: Any) -> Mapping[str, Any]:
    """Two pieces as one: texts and arguments behind each other, of everything else the later where it says anything."""
    first, second = plain(before), plain(after)
    later = {name: one for name, one in second.items() if one not in (None, "", [], {})}
    chunks = [*as_list(first.get("tool_call_chunks")), *as_list(second.get("tool_call_chunks"))]
    whole = {**first, **later, "content": joined_content(first.get("content"), second.get("content"))}
    return {**whole, "tool_call_chunks": chunks, "tool_calls": calls_in(chunks)} if chunks else whole


def joined_content(before: Any, after: Any) -> Any:
    if isinstance(before, str) and isinstance(after, str):
        return before + after
    return [*as_parts(before), *as_parts(after)]


def as_parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content] if content else []


def calls_in(chunks: list[Any]) -> list[dict[str, Any]]:
    """Pieces of a call have its number in common; only the first has its name and id."""
    calls: dict[str, dict[str, Any]] = {}
    for chunk in map(as_object, chunks):
        call = calls.setdefault(as_id(chunk.get("index")), {"name": "", "args": "", "id": ""})
        call["name"] += as_id(chunk.get("name"))
        call["args"] += as_id(chunk.get("args"))
        call["id"] = call["id"] or as_id(chunk.get("id"))
    return list(calls.values())
