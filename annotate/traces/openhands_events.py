"""The messages of one conversation of OpenHands out of its events: actions, and the observations that answer them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from annotate.traces.base import Call, Message, Place, Problem, Role, Side
from annotate.traces.openhands_parts import (
    PICTURES,
    call_metadata,
    call_of,
    extras_of,
    named_pictures,
    response_of,
    text_beside,
    with_attachments,
    without_pictures,
)
from annotate.traces.pairing import pair
from annotate.traces.values import as_id, as_json, as_object
from annotate.traces.warned import passed_over, unknown_role, unpaired

SOURCES = ("user", "agent", "environment")
BOOKKEEPING = frozenset(
    (
        "null",
        "change_agent_state",
        "agent_state_changed",
        "pause",
        "resume",
        "stop",
        "start",
        "recall",
        "microagent",
        "workspace_context",
        "condensation_request",
        "loop_recovery",
        "loop_detection",
        "add_task",
        "modify_task",
    )
)
SUMMARIES = frozenset({"condensation", "condense", "summarize"})
LAST_WORDS = frozenset({"finish", "reject"})
GO_ON = "Please continue working on the task on whatever approach you think is suitable.\n"
"""With this a benchmark answers the agent in the place of a person."""


@dataclass
class Group:
    """A message, and the results of its calls, which stand elsewhere among the events."""

    message: Message
    pointer: str
    extras: dict[str, Any] = field(default_factory=dict)
    response: str = ""
    """Which answer of the model it is; several calls of one answer come as several events."""
    results: list[Group] = field(default_factory=list)


@dataclass
class Events:
    """A conversation while it is put together, in the order of the events."""

    place: Place
    is_benchmark: bool = False
    groups: list[Group] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    callers: dict[str, tuple[Group, Call]] = field(default_factory=dict)
    """Id of an event, and of a call -> the message that called."""
    seen: dict[str, Any] = field(default_factory=dict)
    responses: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    delegates: list[str] = field(default_factory=list)
    """Agents at work for the agent, the last one speaking."""
    is_delegate_told: bool = True
    metrics: Any = None

    def messages(self) -> tuple[tuple[Message, ...], list[str], dict[str, dict[str, Any]]]:
        """All messages in order, each group with its results; where they stand; and what else is known of them."""
        flat = [one for group in self.groups for one in (group, *group.results)]
        messages = pair([replace(one.message, index=index) for index, one in enumerate(flat)])
        extras = {str(index): one.extras for index, one in enumerate(flat) if one.extras}
        return messages, [one.pointer for one in flat], extras

    def pass_over(self, code: str, pointer: str, what: str) -> None:
        self.warnings.append(passed_over(self.place, code, pointer, what))


def read_events(events: Iterable[tuple[Any, Place, str]], place: Place, *, is_benchmark: bool = False) -> Events:
    """`events` come with their places and pointers; an old pair of action and observation is two of them."""
    found = Events(place, is_benchmark)
    for value, where, pointer in events:
        found.place = where
        if isinstance(value, list):
            add_pair(found, value, pointer)
        else:
            add_event(found, value, pointer)
    found.place = place
    return found


def add_pair(found: Events, pair_: list[Any], pointer: str) -> None:
    """[action, observation]: what comes second answers what comes first, whatever ids they have."""
    for number, value in enumerate(pair_):
        before = len(found.groups)
        add_event(found, value, f"{pointer}/{number}")
        if number == 0 and len(found.groups) > before and found.groups[-1].message.calls:
            found.callers["pair"] = (found.groups[-1], found.groups[-1].message.calls[-1])
    found.callers.pop("pair", None)


def add_event(found: Events, value: Any, pointer: str) -> None:
    event = as_object(value)
    kind = as_id(event.get("action")) or as_id(event.get("observation"))
    if not kind:
        found.warnings.append(unknown_role(found.place, pointer, ("action", "observation"), value))
        name = as_id(event.get("source"))[:255]
        found.groups.append(Group(Message(0, "other", as_json(without_pictures(value)), name=name), pointer))
        return
    if is_repeated(found, event, value):
        found.pass_over("repeated_record", pointer, kind)
        return
    if event.get("llm_metrics"):
        found.metrics = event["llm_metrics"]
    is_action = bool(as_id(event.get("action")))
    note_response(found, event, pointer)
    if kind in SUMMARIES:
        add_summary(found, event, kind, pointer)
    elif kind in BOOKKEEPING:
        add_bookkeeping(found, event, kind, pointer)
    elif is_action:
        add_action(found, event, kind, pointer)
    else:
        add_observation(found, event, kind, pointer)


def is_repeated(found: Events, event: Mapping[str, Any], value: Any) -> bool:
    """The same event once more; one with its id and another content is another one."""
    id_ = as_id(event.get("id"))
    if not id_ or id_ == "-1":
        return False
    if id_ in found.seen and found.seen[id_] == value:
        return True
    found.seen[id_] = value
    return False


def note_response(found: Events, event: Mapping[str, Any], pointer: str) -> None:
    """Every action and observation of a call has the whole answer of the model again; the last one counts."""
    response = response_of(event)
    if not response:
        return
    id_ = as_id(response.get("id")) or pointer
    if id_ in found.responses:
        at = f"{pointer}/tool_call_metadata/model_response"
        found.pass_over("repeated_record", at, "tool_call_metadata.model_response")
    found.responses[id_] = response


def add_bookkeeping(found: Events, event: Mapping[str, Any], kind: str, pointer: str) -> None:
    """Changes of state say nothing; what was recalled for the agent, if it is more than a name, the agent read."""
    found.pass_over("bookkeeping", pointer, kind)
    extras = as_object(event.get("extras"))
    recalled = {name: extras[name] for name in ("repo_instructions", "microagent_knowledge") if extras.get(name)}
    if recalled:
        found.groups.append(Group(Message(0, "other", as_json(recalled), name=kind[:255]), pointer, extras_of(event)))


def add_summary(found: Events, event: Mapping[str, Any], kind: str, pointer: str) -> None:
    """A condensation with a summary; one that only forgets events says nothing."""
    summary = as_id(as_object(event.get("args")).get("summary")) or as_id(event.get("content"))
    if summary.strip():
        found.groups.append(Group(Message(0, "summary", summary), pointer, extras_of(event, {"summary"})))
    else:
        found.pass_over("bookkeeping", pointer, kind)


def add_action(found: Events, event: Mapping[str, Any], kind: str, pointer: str) -> None:
    args = as_object(event.get("args"))
    source = event.get("source")
    if kind == "system":
        message = Message(0, "system", as_id(args.get("content")) or as_id(event.get("content")))
        found.groups.append(Group(message, pointer, extras_of(event, {"content"})))
    elif kind == "message":
        add_message(found, event, pointer)
    elif kind in LAST_WORDS and source != "user":
        add_last_words(found, event, pointer)
    else:
        add_call(found, event, kind, pointer)


def add_message(found: Events, event: Mapping[str, Any], pointer: str) -> None:
    args = as_object(event.get("args"))
    text = with_attachments(as_id(args.get("content")) or as_id(event.get("message")), args)
    extras = extras_of(event, {"content"})
    if extras.get("message") == text:
        del extras["message"]
    role, name = speaker(found, event, text, args, pointer)
    side: Side = "user" if role == "user" else "agent"
    found.groups.append(Group(Message(0, role, text, side=side, name=name), pointer, extras))


def speaker(
    found: Events, event: Mapping[str, Any], text: str, args: Mapping[str, Any], pointer: str
) -> tuple[Role, str]:
    """Who says a message to whom. A delegate is told its task in the requester's place."""
    source = event.get("source")
    if source == "user":
        if not found.is_delegate_told:
            found.is_delegate_told = True
            return "other", "delegate"
        return ("other", "benchmark") if found.is_benchmark and text.startswith(GO_ON) else ("user", "")
    if source == "agent":
        return ("other", found.delegates[-1]) if found.delegates else ("assistant", "")
    if source != "environment":
        found.warnings.append(unknown_role(found.place, f"{pointer}/source", SOURCES, source))
    return "other", as_id(source)[:255]


def add_last_words(found: Events, event: Mapping[str, Any], pointer: str) -> None:
    """How the agent ends its work is what it says to the requester; a delegate says it to the agent."""
    args = as_object(event.get("args"))
    outputs = as_object(args.get("outputs"))
    ways = [args.get("final_thought"), args.get("thought"), outputs.get("content"), outputs.get("reason")]
    text = next((way for way in (*ways, event.get("message")) if isinstance(way, str) and way.strip()), "")
    extras = extras_of(event, [name for name in ("final_thought", "thought") if args.get(name) == text])
    if extras.get("message") == text:
        del extras["message"]
    role: Role = "other" if found.delegates else "assistant"
    name = found.delegates[-1] if found.delegates else ""
    found.groups.append(Group(Message(0, role, text, name=name), pointer, extras))


def add_call(found: Events, event: Mapping[str, Any], kind: str, pointer: str) -> None:
    """A call, with the agent's text beside it. Further calls of one answer of the model join its message."""
    call = call_of(event, kind)
    source = event.get("source")
    extras = extras_of(event, {"thought"})
    response = as_id(response_of(event).get("id"))
    last = found.groups[-1] if found.groups else None
    if last and response and last.response == response and last.message.calls:
        last.message = replace(last.message, calls=(*last.message.calls, call))
        last.extras.setdefault("further_calls", []).append(extras)
        group = last
    else:
        role: Role = "user" if source == "user" else "assistant" if source == "agent" else "other"
        if role == "assistant" and found.delegates:
            role = "other"
        name = "" if role != "other" else found.delegates[-1] if found.delegates else as_id(source)[:255]
        if source not in SOURCES:
            found.warnings.append(unknown_role(found.place, f"{pointer}/source", SOURCES, source))
        side: Side = "user" if role == "user" else "agent"
        text, thought = text_beside(event, kind)
        if thought:
            extras["thought"] = thought
        message = Message(0, role, text, side=side, calls=(call,), name=name)
        group = Group(message, pointer, extras, response)
        found.groups.append(group)
    for id_ in (f"event {as_id(event['id'])}" if as_id(event.get("id")) else "", call.id and f"call {call.id}"):
        if id_:
            found.callers[id_] = (group, call)
    if kind == "delegate":
        found.delegates.append((as_id(as_object(event.get("args")).get("agent")) or "delegate")[:255])
        found.is_delegate_told = False


def add_observation(found: Events, event: Mapping[str, Any], kind: str, pointer: str) -> None:
    """A result stands behind the call that caused it, however late it came."""
    extras = extras_of(event)
    text = named_pictures(as_id(event.get("content")))
    seen = as_object(event.get("extras"))
    for name in sorted(PICTURES):
        if isinstance(seen.get(name), str) and seen[name]:
            text += f"\n[image: {name}]"
    id_ = as_id(call_metadata(event).get("tool_call_id"))
    caller = next(iter(callers_of(found, event, id_)), None)
    if caller is None and kind in ("error", "message", "chat", "success", "user_rejected"):
        found.groups.append(Group(Message(0, "other", text, name=kind[:255]), pointer, extras))
        return
    name = (caller[1].name if caller else kind)[:255]
    result = Group(Message(0, "tool", text, answers_id=id_ or (caller[1].id if caller else ""), name=name), pointer)
    result.extras = extras
    (caller[0].results if caller else found.groups).append(result)
    if kind == "delegate" and found.delegates:
        found.delegates.pop()
        found.is_delegate_told = True


def callers_of(found: Events, event: Mapping[str, Any], id_: str) -> Iterator[tuple[Group, Call]]:
    """The call by what the observation says of it, else the last one that is still open."""
    cause = as_id(event.get("cause"))
    for key in ("pair", f"event {cause}" if cause else "", f"call {id_}" if id_ else ""):
        if key in found.callers:
            yield found.callers[key]
    last = found.groups[-1] if found.groups else None
    if last and not cause and not id_ and len(last.results) < len(last.message.calls):
        yield last, last.message.calls[len(last.results)]


def warnings_of(found: Events, messages: Iterable[Message], pointers: list[str], place: Place) -> Iterator[Problem]:
    yield from found.warnings
    yield from unpaired(tuple(messages), place, pointers)
