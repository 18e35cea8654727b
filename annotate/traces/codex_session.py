"""One session of Codex while its lines are read, and the trace it becomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from annotate.traces.base import Message, Place, Problem, Trace
from annotate.traces.codex_context import INJECTED, is_sub_agent, said_by_requester
from annotate.traces.codex_events import BOOKKEEPING, Event, event_of, without_twins
from annotate.traces.identity import FirstPlaces, conversation_id
from annotate.traces.openai_responses_items import Piece, pieces_of
from annotate.traces.openai_responses_parts import texts_of, without_data
from annotate.traces.openai_responses_turns import turns_of
from annotate.traces.values import as_id, as_json, as_list, as_object
from annotate.traces.warned import empty_run, passed_over, unknown_role

FORMAT_NAME = "codex"
META = ("turn_context", "world_state", "inter_agent_communication_metadata", "session_state")
ENDS_OF_TURNS = frozenset({"task_started", "task_complete", "turn_started", "turn_complete", "turn_aborted"})
PROMPTS = ("base_instructions", "instructions")


@dataclass
class Session:
    """The lines of a session; `ancestors` are the ids of sessions whose history it begins with."""

    place: Place
    meta: Mapping[str, Any] | None = None
    written_at: str = ""
    ancestors: set[str] = field(default_factory=set)
    parts: list[Piece | Event] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    private: dict[str, Any] = field(default_factory=dict)

    def takes(self, meta: Mapping[str, Any], written_at: str) -> bool:
        """Whether a head belongs to this session: its own once more, or that of a session whose history was copied.
        Copies are written after the head of the new session though the old one began before it."""
        if self.meta is None:
            return True
        own, other = as_id(self.meta.get("id")), as_id(meta.get("id"))
        if other == own or other in self.ancestors:
            return True
        began, other_began = as_id(self.meta.get("timestamp")), as_id(meta.get("timestamp"))
        return bool(other_began) and other_began < began <= written_at

    def begin(self, meta: Mapping[str, Any], place: Place) -> None:
        """The first head is the session's own."""
        self.ancestors |= {as_id(meta[name]) for name in ("forked_from_id", "parent_thread_id") if meta.get(name)}
        if self.meta is not None:
            self.warnings.append(passed_over(place, "repeated_record", "", "the head of a session"))
            return
        self.meta = meta
        said = [*texts_of(as_object(meta.get("base_instructions")).get("text")), *texts_of(meta.get("instructions"))]
        for text in said:
            self.parts.append(Piece("message", place, "/payload", role="system", text=text))

    def add(self, kind: str, payload: Any, place: Place, pointer: str) -> None:
        """A line that is no head."""
        if kind == "response_item":
            self.add_item(payload, place, pointer)
        elif kind == "event_msg":
            self.add_event(as_object(payload), place)
        elif kind == "compacted":
            self.add_summary(as_object(payload), place)
        elif kind in META:
            self.add_model(as_object(payload).get("model"))
            if kind == "turn_context":
                self.parts.append(Piece("break", place))
            self.warnings.append(passed_over(place, "meta_record", "", kind))
        else:
            self.not_understood(kind, payload, place, pointer)

    def add_model(self, model: Any) -> None:
        if isinstance(model, str) and model and model not in self.models:
            self.models.append(model)

    def not_understood(self, kind: str, payload: Any, place: Place, pointer: str) -> None:
        known = ("response_item", "event_msg", "compacted", *META)
        self.warnings.append(unknown_role(place, "/type", known, kind))
        text = as_json(without_data(payload))
        self.parts.append(Piece("message", place, pointer, text=text, name=kind[:255]))

    def add_item(self, item: Any, place: Place, pointer: str) -> None:
        for piece in pieces_of(item, place, pointer, self.warnings):
            is_user = piece.kind == "message" and piece.role == "user"
            self.parts += said_by_requester(piece, as_object(item).get("content")) if is_user else [piece]

    def add_event(self, payload: Mapping[str, Any], place: Place) -> None:
        kind = as_id(payload.get("type"))
        event = event_of(payload, place)
        self.note(kind, payload)
        if event is not None and kind == "user_message":
            self.add_user_event(event, payload)
        elif event is not None:
            self.parts.append(event)
        elif kind == "error":
            self.parts.append(Piece("message", place, "/payload", text=as_id(payload.get("message")), name="error"))
        elif kind in BOOKKEEPING or kind in ("user_message", "agent_message", "agent_reasoning"):
            self.warnings.append(passed_over(place, "bookkeeping", "/payload", kind))
        else:
            self.not_understood(kind, payload, place, "/payload")
        if kind in ENDS_OF_TURNS:
            self.parts.append(Piece("break", place))

    def add_user_event(self, event: Event, payload: Mapping[str, Any]) -> None:
        """What was typed; older versions name what they put in themselves."""
        head = event.pieces[0]
        pieces = list(said_by_requester(head, None))
        if as_id(payload.get("kind")) in INJECTED:
            pieces = [replace(head, role="other", name=payload["kind"], side="agent")]
        for piece in pieces:
            self.parts.append(replace(event, pieces=[piece]) if piece.kind == "message" else piece)

    def note(self, kind: str, payload: Mapping[str, Any]) -> None:
        """What events say of the session as a whole: the last count of tokens, its name, what was taken back."""
        usage = as_object(as_object(payload.get("info")).get("total_token_usage"))
        if kind == "token_count" and usage:
            self.private["usage"] = dict(usage)
        elif kind == "thread_name_updated":
            self.private["title"] = as_id(payload.get("thread_name"))
        elif kind in ("turn_aborted", "thread_rolled_back", "exited_review_mode"):
            self.private.setdefault(kind, []).append(without_data(payload))

    def add_summary(self, payload: Mapping[str, Any], place: Place) -> None:
        """The summary, else what of the new history no message said before; the history itself is a repetition."""
        history = as_list(payload.get("replacement_history"))
        text = as_id(payload.get("message"))
        if not text and any(as_object(item).get("encrypted_content") for item in history):
            text = "[summary: encrypted]"
        self.parts.append(Piece("message", place, "/payload", role="summary", text=text))
        if history:
            pointer = "/payload/replacement_history"
            self.warnings.append(passed_over(place, "repeated_record", pointer, f"{len(history)} items as they were"))

    def traces(self, places: FirstPlaces) -> Iterator[Trace | Problem]:
        found = turns_of(list(without_twins(self.parts, self.warnings)))
        yield from [*self.warnings, *found.warnings]
        meta = self.meta or {}
        messages = tuple(found.messages)
        if is_sub_agent(meta):
            messages = tuple(among_agents(message, as_id(meta.get("agent_nickname"))) for message in messages)
        if not messages:
            yield empty_run(self.place, "")
        head = {name: without_data(member) for name, member in meta.items() if name not in PROMPTS}
        parts = {
            "session_id": as_id(meta.get("id")),
            "model": self.models[0] if len(self.models) == 1 else self.models,
            **self.private,
            "session": head,
            "reasoning": found.reasoning,
            "messages": found.extras,
        }
        yield Trace(
            source_id=self.name(messages, places),
            format=FORMAT_NAME,
            messages=messages,
            metadata={name: part for name, part in parts.items() if part},
            place=self.place,
        )

    def name(self, messages: tuple[Message, ...], places: FirstPlaces) -> str:
        """The id of the session, else the name of the file; for one that was there already, with what was said."""
        given = as_id((self.meta or {}).get("id")) or PurePath(self.place.file).stem or conversation_id(messages)
        given = given[:200]
        digest = conversation_id(messages)
        names = [given, f"{given} {digest}", f"{given} {digest} {self.place}"]
        return next((name for name in names if places.earlier(name, self.place) is None), names[-1])


def among_agents(message: Message, nickname: str) -> Message:
    """In a sub-agent's session nobody is the requester: the agent that started it asks, and is told."""
    if message.role == "user" and not message.calls:
        return replace(message, role="other", name="parent agent", side="agent")
    if message.role == "assistant" and not message.calls:
        return replace(message, role="other", name=nickname[:255] or "sub-agent")
    return message
