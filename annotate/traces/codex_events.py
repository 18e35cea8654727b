"""The events that Codex records beside the items of the API: mostly the same texts and calls once more.

An event becomes a piece only where the session has no item for it (`without_twins`): by its text, by the id of its
call, or, for a search on the web, by what was searched.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.traces.base import Call, Place, Problem
from annotate.traces.openai_responses_items import Piece
from annotate.traces.openai_responses_parts import shown, texts_of, without_data
from annotate.traces.values import as_id, as_json, as_list, as_object
from annotate.traces.warned import passed_over

TEXTS = {
    "user_message": ("user", "message"),
    "agent_message": ("assistant", "message"),
    "agent_reasoning": ("reasoning", "text"),
    "agent_reasoning_raw_content": ("reasoning", "text"),
    "task_complete": ("assistant", "last_agent_message"),
    "turn_complete": ("assistant", "last_agent_message"),
}
ITEM_TEXTS = {"UserMessage": "user", "AgentMessage": "assistant", "Plan": "assistant", "Reasoning": "reasoning"}
CALLS: Mapping[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "exec_command": ("exec_command", ("command",), ("aggregated_output", "formatted_output", "stdout")),
    "CommandExecution": ("exec_command", ("command",), ("aggregated_output", "formatted_output", "stdout")),
    "mcp_tool_call": ("", ("arguments",), ("result", "error")),
    "McpToolCall": ("", ("arguments",), ("result", "error")),
    "patch_apply": ("apply_patch", ("changes",), ("stdout",)),
    "FileChange": ("apply_patch", ("changes",), ("stdout",)),
    "web_search": ("web_search", ("action", "query"), ("results",)),
    "Extension": ("web_search", ("action", "query"), ("results",)),
    "WebSearch": ("web_search", ("action", "query"), ("results",)),
    "image_generation": ("image_generation", ("revised_prompt",), ()),
    "ImageGeneration": ("image_generation", ("revised_prompt",), ()),
    "view_image_tool_call": ("view_image", ("path",), ()),
    "ImageView": ("view_image", ("path",), ()),
    "dynamic_tool_call": ("", ("arguments",), ("content_items", "error")),
    "DynamicToolCall": ("", ("arguments",), ("content_items", "error")),
}
"""Calls in events, without the ending of the event: name, arguments and result."""
ENDINGS = ("_begin", "_end", "_request", "_response")
BOOKKEEPING = frozenset(
    {
        *("task_started", "task_complete", "turn_started", "turn_complete", "turn_aborted", "turn_diff"),
        *("token_count", "thread_name_updated", "thread_settings_applied", "thread_goal_updated", "session_configured"),
        *("context_compacted", "entered_review_mode", "exited_review_mode", "guardian_assessment"),
        *("sub_agent_activity", "undo_started", "undo_completed", "thread_rolled_back", "background_event"),
        *("plan_update", "agent_reasoning_section_break", "get_history_entry_response", "mcp_startup_complete"),
        *("mcp_startup_update", "exec_approval_request", "apply_patch_approval_request", "stream_error"),
        *("model_reroute", "deprecation_notice", "item_started", "exec_command_output_delta", "shutdown_complete"),
    }
)


@dataclass(slots=True)
class Event:
    """An event as the pieces it would be if no item said the same. `ids` are all names of its call."""

    pieces: list[Piece]
    kind: str
    place: Place
    ids: tuple[str, ...] = ()
    is_begin: bool = False


def event_of(payload: Mapping[str, Any], place: Place) -> Event | None:
    """None for one that is neither a text nor a call."""
    kind = as_id(payload.get("type"))
    pointer = "/payload"
    item = as_object(payload.get("item"))
    if kind == "item_completed" and item:
        kind, payload, pointer = as_id(item.get("type")), item, "/payload/item"
    if kind in ITEM_TEXTS:
        texts = [*texts_of(payload.get("content")), *texts_of(payload.get("text"))]
        texts += [*texts_of(payload.get("summary_text")), *texts_of(payload.get("raw_content"))]
        return text_event(kind, ITEM_TEXTS[kind], "\n".join(texts), place, pointer)
    if kind in TEXTS:
        role, member = TEXTS[kind]
        text = payload.get(member)
        return text_event(kind, role, text, place, pointer) if isinstance(text, str) and text else None
    if kind.startswith("collab_"):
        text = as_json(without_data(payload))
        piece = Piece("message", place, pointer, text=text, name=kind[:255])
        return Event([piece], kind, place, ids_of(payload), kind.endswith("_begin"))
    ending = next((one for one in ENDINGS if kind.endswith(one)), "")
    if (call := kind.removesuffix(ending)) in CALLS:
        return call_event(call, payload, place, pointer, ending in ("_begin", "_request"))
    return None


def text_event(kind: str, role: str, text: str, place: Place, pointer: str) -> Event:
    piece = Piece("message", place, pointer, text=text)
    if role == "reasoning":
        piece.kind = "reasoning"
    else:
        piece.role, piece.side = ("user", "user") if role == "user" else ("assistant", "agent")
    return Event([piece], kind, place)


def call_event(kind: str, payload: Mapping[str, Any], place: Place, pointer: str, is_begin: bool) -> Event:
    fixed, asked, given = CALLS[kind]
    invoked = as_object(payload.get("invocation")) or payload
    ids = ids_of(payload)
    name = fixed or ".".join(as_id(invoked[one]) for one in ("server", "namespace", "tool") if invoked.get(one))
    arguments = next((invoked[one] for one in asked if invoked.get(one) is not None), None)
    side = "user" if as_id(payload.get("source")) in ("user_shell", "userShell") else "agent"
    text = arguments if isinstance(arguments, str) else as_json(without_data(arguments)) if arguments else ""
    call = Call(id=ids[0] if ids else "", name=name[:255], arguments=text)
    pieces = [Piece("call", place, pointer, call=call, name=call.name, side="user" if side == "user" else "agent")]
    result = next((payload[one] for one in given if payload.get(one) is not None), None)
    if result is not None and not is_begin:
        pieces.append(Piece("result", place, pointer, text=result_text(result), id=call.id, name=call.name))
    return Event(pieces, kind, place, ids, is_begin)


def ids_of(payload: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(as_id(payload[name]) for name in ("call_id", "callId", "id") if payload.get(name))


def result_text(result: Any) -> str:
    """Of an MCP result the texts of its content, where there is nothing else in it."""
    inside = as_object(as_object(result).get("Ok")) or as_object(result)
    content = as_list(inside.get("content"))
    texts = list(texts_of(content))
    return "\n".join(texts) if texts and len(texts) == len(content) else shown(result)


def without_twins(parts: Sequence[Piece | Event], warnings: list[Problem]) -> Iterator[Piece]:
    """The pieces of the items in order, and of the events those that say something new; the others are counted."""
    items = [part for part in parts if isinstance(part, Piece)]
    known = Known(items, [part for part in parts if isinstance(part, Event)])
    for part in parts:
        if isinstance(part, Piece):
            yield part
            continue
        new = known.new(part)
        if new is not part.pieces:
            warnings.append(passed_over(part.place, "repeated_record", part.pieces[0].pointer, part.kind))
        yield from new


class Texts:
    """Texts in the order of the file, which every sort of event tells once more in the same order."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.told: dict[str, set[int]] = defaultdict(set)
        self.next: dict[str, int] = defaultdict(int)

    def add(self, text: str, kind: str = "") -> None:
        self.told[kind].add(len(self.texts))
        self.texts.append(text)

    def has(self, kind: str, text: str) -> bool:
        """Whether one is this text, or has it as lines of its own, that no event of the sort told yet."""
        told, first = self.told[kind], self.next[kind]
        while first in told:
            first += 1
        self.next[kind] = first
        ahead = [number for number in range(first, min(first + LOOKED_AHEAD, len(self.texts))) if number not in told]
        found = next((number for number in ahead if self.texts[number] == text), None)
        if found is None and text.strip():
            lines = f"\n{text.strip()}\n"
            found = next((number for number in ahead if lines in f"\n{self.texts[number].strip()}\n"), None)
        if found is not None:
            told.add(found)
        return found is not None


class Known:
    """What the items of a session say, and the events so far that no item repeats."""

    def __init__(self, items: Sequence[Piece], events: Sequence[Event]) -> None:
        self.said: dict[str, Texts] = defaultdict(Texts)
        self.kept: dict[str, Texts] = defaultdict(Texts)
        self.ids: set[str] = set()
        self.searches: dict[str, list[str]] = {}
        self.n_own_commands = sum(piece.call is not None and piece.side == "user" for piece in items)
        self.ended = {id_ for event in events if not event.is_begin for id_ in event.ids}
        for piece in items:
            self.add(piece)

    def add(self, piece: Piece) -> None:
        if piece.kind in ("message", "reasoning"):
            self.said[speaker(piece)].add(piece.text)
        elif piece.call:
            self.ids |= {piece.call.id, as_id(piece.extras.get("id"))} - {""}
            if piece.call.name == "web_search":
                self.searches.setdefault(piece.call.arguments, []).append(piece.call.id)

    def new(self, event: Event) -> list[Piece]:
        """The very pieces of the event where it has no twin; of a search of an item that lacks them, the results."""
        head = event.pieces[0]
        if self.ids.intersection(event.ids) or (event.is_begin and self.ended.intersection(event.ids)):
            return []
        if head.call is None and not event.ids:
            return [] if self.is_said(event.kind, speaker(head), head.text) else event.pieces
        if head.side == "user" and self.n_own_commands:
            self.n_own_commands -= 1
            return []
        if head.call and head.call.name == "web_search" and self.searches.get(head.call.arguments):
            id_ = self.searches[head.call.arguments].pop(0)
            for piece in event.pieces[1:]:
                piece.id = id_
            return event.pieces[1:]
        self.ids |= set(event.ids)
        return event.pieces

    def is_said(self, kind: str, role: str, text: str) -> bool:
        if self.said[role].has(kind, text) or self.kept[role].has(kind, text):
            return True
        self.kept[role].add(text, kind)
        return False


def speaker(piece: Piece) -> str:
    return "reasoning" if piece.kind == "reasoning" else piece.role


LOOKED_AHEAD = 200
"""So many texts an event may be behind or ahead of its twin."""
