"""The events of one session of Anthropic's managed agents, put together to messages: what the model said and called in
one request is one message, and the results of its calls stand right behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotate.traces.anthropic_blocks import Draft, blocks_of, note_secrets, part_text, read_call, result_text, scrubbed
from annotate.traces.base import Place
from annotate.traces.values import as_id, as_json, as_object
from annotate.traces.warned import non_text_content, passed_over, unknown_role

SOURCES = ("user.", "agent.", "session.", "span.", "system.")
CALLS = frozenset({"agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use"})
RESULTS = frozenset({"agent.tool_result", "agent.mcp_tool_result", "user.custom_tool_result", "user.tool_result"})
ANSWERS = ("tool_use_id", "mcp_tool_use_id", "custom_tool_use_id")
PRIVATE = frozenset({"user.interrupt", "session.error", "agent.thread_message_sent", "agent.thread_message_received"})
BEGIN, END = "span.model_request_start", "span.model_request_end"
KNOWN = ("user.message", "user.define_outcome", "agent.message", "agent.thinking", *sorted(CALLS | RESULTS | PRIVATE))
LONGEST_NAME = 255


def is_event(value: Any) -> bool:
    """Events of other agents have types of these names too, but say what happened in `data`."""
    there = as_object(value)
    kind = there.get("type")
    return isinstance(kind, str) and kind.startswith(SOURCES) and "processed_at" in there and "data" not in there


@dataclass(slots=True, eq=False)
class Event:
    """One event and where it stands. `is_out`: another one stands for it."""

    value: Mapping[str, Any]
    place: Place
    pointer: str
    is_sent: bool = False
    is_out: bool = False

    @property
    def kind(self) -> str:
        return as_id(self.value.get("type"))

    @property
    def answers(self) -> str:
        return next((as_id(self.value[name]) for name in ANSWERS if self.value.get(name)), "")


@dataclass(slots=True, eq=False)
class Turn:
    """What the model said in one request, with the results of its calls and the permissions given for them."""

    events: list[Event] = field(default_factory=list)
    results: list[Event] = field(default_factory=list)
    permissions: list[Event] = field(default_factory=list)

    waiting: Counter[str] = field(default_factory=Counter)
    """How many calls of an id have no result yet."""
    has_said: bool = False
    """Whether there is more than thinking in it."""

    def speak(self, event: Event) -> None:
        self.events.append(event)
        self.has_said |= event.kind != "agent.thinking"
        if event.kind in CALLS:
            self.waiting[as_id(event.value.get("id"))] += 1

    def answer(self, result: Event) -> None:
        self.results.append(result)
        self.waiting[result.answers] -= 1


@dataclass(slots=True)
class Assembled:
    draft: Draft
    facts: dict[str, Any] = field(default_factory=dict)
    """Usage, how it ended, and how the outcome was judged."""


class Order:
    """Turns and other events in the order of the conversation."""

    def __init__(self) -> None:
        self.steps: list[Turn | Event] = []
        self.turn: Turn | None = None
        self.last: Turn | None = None
        self.calling: dict[str, list[Turn]] = {}
        """The turns that called something under an id; those at the end go once all their calls have results."""
        self.called_last: dict[str, Turn] = {}
        self.is_in_request = False
        self.thread = ""

    def add(self, event: Event) -> None:
        kind = event.kind
        if kind in (BEGIN, END):
            self.turn, self.is_in_request = None, kind == BEGIN
            self.steps.append(event)
        elif self.is_foreign(event):
            self.steps.append(event)
        elif kind in CALLS or kind in ("agent.message", "agent.thinking"):
            self.speak(event)
        elif kind in RESULTS or kind == "user.tool_confirmation":
            self.answer(event)
        else:
            self.thread = self.thread or as_id(event.value.get("session_thread_id"))
            self.steps.append(event)
            self.end_turn()

    def end_turn(self) -> None:
        if not self.is_in_request:
            self.turn = None

    def is_foreign(self, event: Event) -> bool:
        """Whether a thread of another agent says it."""
        thread = as_id(event.value.get("session_thread_id"))
        return event.kind.startswith("agent.") and bool(thread and self.thread) and thread != self.thread

    def speak(self, event: Event) -> None:
        """Without spans a text begins a new message."""
        if self.turn is None or (not self.is_in_request and event.kind not in CALLS and self.turn.has_said):
            self.turn = Turn()
            self.last = self.turn
            self.steps.append(self.turn)
        self.turn.speak(event)
        if event.kind in CALLS:
            id_ = as_id(event.value.get("id"))
            self.calling.setdefault(id_, []).append(self.turn)
            self.called_last[id_] = self.turn

    def answer(self, event: Event) -> None:
        """A result goes to the last call of its id that has none, one without an id to the last turn."""
        id_ = event.answers
        calling = self.calling.get(id_, []) if id_ else []
        while calling and calling[-1].waiting[id_] <= 0:
            calling.pop()
        turn = calling[-1] if calling else self.called_last.get(id_) if id_ else self.last
        if turn is None:
            self.steps.append(event)
        elif event.kind in RESULTS:
            turn.answer(event)
        else:
            turn.permissions.append(event)
            return
        self.end_turn()


def assembled(events: Iterable[Event], agent: Mapping[str, Any], place: Place) -> Assembled:
    found = Assembled(Draft(place))
    if isinstance(agent.get("system"), str) and agent["system"]:
        found.draft.add("system", agent["system"], "")
    order = Order()
    for event in events:
        order.add(event)
    for step in order.steps:
        if isinstance(step, Turn):
            read_turn(step, found.draft)
        else:
            read_event(step, found, is_foreign=order.is_foreign(step))
    return found


def at(event: Event, draft: Draft) -> str:
    """The draft tells places of the event that is being read."""
    draft.place = event.place
    return event.pointer


def content_text(event: Event, draft: Draft, *, is_requester: bool = False) -> str:
    pointer = at(event, draft)
    note_secrets(event.value.get("content"), draft, pointer)
    shown = []
    for where, block in blocks_of(event.value.get("content")):
        text = part_text(block, draft, is_requester=is_requester)
        if text is None:
            draft.warnings.append(non_text_content(event.place, f"{pointer}/content{where}"))
            text = "" if is_requester or event.kind == "agent.message" else as_json(scrubbed(block))
        shown.append(text)
    return "\n".join(shown)


def beside(event: Event, *used: str) -> dict[str, Any]:
    """What an event says besides its text; content that has no text is kept whole."""
    blocks = [as_object(block) for _, block in blocks_of(event.value.get("content"))]
    has_other = any(not isinstance(block.get("text"), str) or block.keys() > {"type", "text"} for block in blocks)
    left_out = {"type", *used, *(() if has_other else ("content",))}
    return {key: scrubbed(one) for key, one in event.value.items() if key not in left_out and one is not None}


def read_turn(turn: Turn, draft: Draft) -> None:
    texts = [content_text(event, draft) for event in turn.events if event.kind == "agent.message"]
    calls = [read_call(event.value) for event in turn.events if event.kind in CALLS]
    reasoning = [content_text(event, draft) for event in turn.events if event.kind == "agent.thinking"]
    pointer = at(turn.events[0], draft)
    kept = [beside(event, "name", "input", *ANSWERS) for event in turn.events]
    allowed = [beside(event) for event in turn.permissions]
    thoughts = "\n".join(thought for thought in reasoning if thought)
    extras = {
        "events": kept,
        **({"reasoning": thoughts} if thoughts else {}),
        **({"confirmations": allowed} if allowed else {}),
    }
    draft.add("assistant", "\n".join(texts), pointer, extras, calls=tuple(calls))
    names = {call.id: call.name for call in calls}
    for result in turn.results:
        read_result(result, draft, names.get(result.answers, ""))


def read_result(event: Event, draft: Draft, name: str) -> None:
    pointer = at(event, draft)
    note_secrets(event.value.get("content"), draft, pointer)
    text, more = result_text(event.value.get("content"), draft, pointer)
    extras = {key: one for key, one in beside(event, "content", *ANSWERS).items() if key != "content"}
    extras.update(more)
    draft.add("tool", text, pointer, extras, answers_id=event.answers[:LONGEST_NAME], name=name[:LONGEST_NAME])


def read_event(event: Event, found: Assembled, *, is_foreign: bool) -> None:
    draft, kind = found.draft, event.kind
    pointer = at(event, draft)
    if is_foreign or kind in PRIVATE or kind == "user.tool_confirmation":
        add_private(event, draft)
    elif kind == "user.message":
        draft.add("user", content_text(event, draft, is_requester=True), pointer, beside(event), side="user")
    elif kind == "user.define_outcome":
        draft.add("user", as_id(event.value.get("description")), pointer, beside(event, "description"), side="user")
    elif kind == "system.message":
        draft.add("system", content_text(event, draft), pointer, beside(event))
    elif kind in RESULTS:
        read_result(event, draft, "")
    elif kind.startswith(("session.", "span.")) or kind == "agent.thread_context_compacted":
        note_facts(event, found.facts)
        draft.warnings.append(passed_over(event.place, "bookkeeping", pointer, kind))
    else:
        draft.warnings.append(unknown_role(event.place, f"{pointer}/type", KNOWN, event.value.get("type")))
        add_private(event, draft)


def add_private(event: Event, draft: Draft) -> None:
    pointer = at(event, draft)
    is_text = bool(blocks_of(event.value.get("content")))
    text = content_text(event, draft) if is_text else as_json(scrubbed(event.value))
    named = (event.value[name] for name in ("agent_name", "from_agent_name") if event.value.get(name))
    speaker = next(named, event.kind)
    draft.add("other", text, pointer, beside(event) if is_text else None, name=as_id(speaker)[:LONGEST_NAME])


def note_facts(event: Event, facts: dict[str, Any]) -> None:
    usage = as_object(event.value.get("model_usage"))
    if event.kind == END and usage:
        total = facts.setdefault("usage", {})
        for name, number in usage.items():
            if isinstance(number, int | float) and not isinstance(number, bool):
                total[name] = total.get(name, 0) + number
    if event.kind == "session.status_idle" and "stop_reason" in event.value:
        facts["stop_reason"] = event.value["stop_reason"]
    if event.kind == "span.outcome_evaluation_end" and "result" in event.value:
        facts["success"] = event.value["result"]
        facts.setdefault("outcomes", []).append(dict(event.value))
