"""The items of OpenAI's Responses API as pieces of a conversation: something said, a call, a result, or reasoning.

Codex records the same items, so that both readers share this. Some calls carry their result inside (a search of the
provider's own, an MCP call) and become two pieces. Nothing is dropped: an item of no known type is kept as its JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from annotate.traces.base import Call, Place, Problem, Role, Side
from annotate.traces.openai_responses_parts import shown, text_of, texts_of, without_data
from annotate.traces.values import as_id, as_json, as_list, as_object
from annotate.traces.warned import non_text_content, passed_over, unknown_role

ROLES: Mapping[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}
CALLS: Mapping[str, tuple[str, str]] = {
    "function_call": ("", "arguments"),
    "custom_tool_call": ("", "input"),
    "tool_call": ("", "arguments"),
    "mcp_call": ("", "arguments"),
    "tool_search_call": ("tool_search", "arguments"),
    "local_shell_call": ("local_shell", "action"),
    "shell_call": ("shell", "action"),
    "apply_patch_call": ("apply_patch", "operation"),
    "computer_call": ("computer", "action"),
    "web_search_call": ("web_search", "action"),
    "file_search_call": ("file_search", "queries"),
    "code_interpreter_call": ("code_interpreter", "code"),
    "image_generation_call": ("image_generation", "revised_prompt"),
    "program": ("program", "code"),
}
"""Types of calls: the tool's name where the item has none, and the member that holds the arguments."""

RESULTS: Mapping[str, str] = {
    "function_call_output": "output",
    "custom_tool_call_output": "output",
    "local_shell_call_output": "output",
    "shell_call_output": "output",
    "apply_patch_call_output": "output",
    "computer_call_output": "output",
    "mcp_tool_call_output": "output",
    "tool_search_output": "tools",
    "program_output": "result",
    "tool_result": "result",
}
"""Types of results, and the member that holds what came back."""

RESULT_INSIDE: Mapping[str, tuple[str, ...]] = {
    "mcp_call": ("output", "error"),
    "web_search_call": ("results",),
    "file_search_call": ("results",),
    "code_interpreter_call": ("outputs",),
    "image_generation_call": ("result",),
}
"""Calls that the provider itself carries out, and where their result stands in the item."""

COMPACTION = frozenset({"compaction", "compaction_summary", "context_compaction"})
ASIDE = frozenset({"mcp_approval_request", "mcp_approval_response"})
"""What a program asks and is told before a call; nobody says it in the conversation."""

PASSED_OVER = {"item_reference": "repeated_record", "mcp_list_tools": "meta_record", "ghost_snapshot": "bookkeeping"}
USED = frozenset({"type", "role", "content", "name", "call_id", "encrypted_content", "function", "summary"})


@dataclass(slots=True)
class Piece:
    """A part of a conversation in the order of the file. `id` is that of the call which a result names; a `break` is
    the end of a turn, over which nothing is joined."""

    kind: Literal["message", "call", "result", "reasoning", "break"]
    place: Place
    pointer: str = ""
    role: Role = "other"
    text: str = ""
    name: str = ""
    call: Call | None = None
    id: str = ""
    side: Side = "agent"
    extras: dict[str, Any] = field(default_factory=dict)


def pieces_of(item: Any, place: Place, pointer: str, warnings: list[Problem]) -> Iterator[Piece]:
    """What one item holds."""
    kind = type_of(item)
    if kind == "message":
        yield message(item, place, pointer, warnings)
    elif kind in CALLS:
        yield from call_and_result(kind, item, place, pointer)
    elif kind in RESULTS:
        yield result(kind, item, place, pointer)
    elif kind == "reasoning":
        yield Piece("reasoning", place, pointer, text=reasoning_text(item))
    elif kind in COMPACTION:
        text = "\n".join(texts_of(item.get("summary"))) or "[summary: encrypted]"
        yield Piece("message", place, pointer, role="summary", text=text, extras=rest(item))
    elif kind == "agent_message":
        text = shown(item.get("content"))
        yield Piece("message", place, pointer, text=text, name=as_id(item.get("author")), extras=rest(item))
    elif kind in ASIDE:
        yield Piece("message", place, pointer, text=as_json(without_data(item)), name=kind)
    elif kind in PASSED_OVER:
        warnings.append(passed_over(place, PASSED_OVER[kind], pointer, kind))
    else:
        yield not_understood(item, place, pointer, warnings)


def type_of(item: Any) -> str:
    """An input message may do without its type."""
    there = as_object(item)
    kind = there.get("type")
    if kind is None and "role" in there:
        return "message"
    return kind if isinstance(kind, str) else ""


def message(item: Mapping[str, Any], place: Place, pointer: str, warnings: list[Problem]) -> Piece:
    """Somebody's text. A role outside the four, and a content without any text, are nobody's."""
    role = ROLES.get(as_id(item.get("role")), "other")
    name = as_id(item.get("role"))[:255] if role == "other" else ""
    if role == "other":
        warnings.append(unknown_role(place, f"{pointer}/role", ROLES, item.get("role")))
    text, is_understood = text_of(item.get("content"))
    extras = rest(item)
    if not is_understood:
        warnings.append(non_text_content(place, f"{pointer}/content"))
        extras["content"] = without_data(item.get("content"))
    if text is None:
        role, name, text = "other", as_id(item.get("role"))[:255], as_json(without_data(item.get("content")))
    notes = [note for part in as_list(item.get("content")) for note in as_list(as_object(part).get("annotations"))]
    if notes:
        extras["annotations"] = without_data(notes)
    side: Side = "user" if role == "user" else "agent"
    return Piece("message", place, pointer, role=role, text=text, name=name, side=side, extras=extras)


def result(kind: str, item: Mapping[str, Any], place: Place, pointer: str) -> Piece:
    member = RESULTS[kind]
    text, id_, name = shown(item.get(member)), as_id(item.get("call_id")), as_id(item.get("name"))
    return Piece("result", place, pointer, text=text, id=id_, name=name, extras=rest(item, member))


def call_and_result(kind: str, item: Mapping[str, Any], place: Place, pointer: str) -> Iterator[Piece]:
    fallback, member = CALLS[kind]
    id_ = as_id(item.get("call_id")) or as_id(item.get("id"))
    name = as_id(item.get("name")) or as_id(as_object(item.get("function")).get("name")) or fallback
    inside = RESULT_INSIDE.get(kind, ())
    arguments = item.get(member)
    call = Call(id=id_, name=name, arguments=arguments if isinstance(arguments, str) else said_arguments(arguments))
    yield Piece("call", place, pointer, call=call, name=name, extras=rest(item, member, *inside))
    found = next((item[there] for there in inside if item.get(there) is not None), None)
    if kind == "web_search_call" and found is None:
        found = as_object(item.get("action")).get("sources")
    if kind == "image_generation_call" and found is not None:
        yield Piece("result", place, pointer, text=f"[image: {as_id(item.get('output_format')) or '?'}]", id=id_)
    elif found is not None:
        yield Piece("result", place, pointer, text=shown(found), id=id_)


def said_arguments(arguments: Any) -> str:
    return "" if arguments is None else as_json(without_data(arguments))


def reasoning_text(item: Mapping[str, Any]) -> str:
    """The summary and the text itself; what is encrypted is only said to be there."""
    texts = [*texts_of(item.get("summary")), *texts_of(item.get("content"))]
    return "\n\n".join(texts) or ("[reasoning: encrypted]" if item.get("encrypted_content") else "")


def rest(item: Mapping[str, Any], *read: str) -> dict[str, Any]:
    """Members of an item that have no place in a message."""
    left = {
        key: without_data(member)
        for key, member in item.items()
        if key not in USED and key not in read and member not in (None, "", [], {})
    }
    return {"type": type_of(item), **left} if left else {}


def not_understood(item: Any, place: Place, pointer: str, warnings: list[Problem]) -> Piece:
    at = f"{pointer}/type" if isinstance(item, dict) else pointer
    warnings.append(unknown_role(place, at, ("message", "reasoning", *CALLS, *RESULTS), type_of(item) or item))
    return Piece("message", place, pointer, text=as_json(without_data(item)), name=type_of(item)[:255])
