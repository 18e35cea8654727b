"""Sessions of Anthropic's managed agents: their events, bare, as lists ({data} of the API), or recorded beside the name
of the client's method that sent or received them (["client.beta.sessions.events.stream", event]).

One trace per session; a session that is created begins one, and so do events sent to another session. `user.message`
and `user.define_outcome` are the requester, the agent's `system` is the system message. What the model says and calls
in one request (a `span`) is one message, where no spans are recorded a text and the calls right after it; its texts and
calls are followed by their results, whenever those came: of the agent's tools, of servers' tools, and of tools of the
requester's program. Requester's permissions are kept with the message that called. Other threads' messages,
interruptions and errors are private.

An event that was sent and came back in the stream counts once, where the stream has it; an event with a known id is the
same one again (`repeated_record`). States and spans are counted as `bookkeeping`. Model: the agent's. Usage: added up
over the requests. Success: the result of the outcome's evaluation. An id is the session's, else the file's name.
Streams session by session: the events of one are held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from annotate.traces.anthropic_sessions import Event, assembled, is_event
from annotate.traces.base import Likeness, Place, Problem, Trace, gettext_noop
from annotate.traces.documents import Document
from annotate.traces.identity import FirstPlaces, canonical_json
from annotate.traces.values import as_id, as_list, as_object
from annotate.traces.warned import empty_run, likeness, passed_over, unknown_record

FORMAT = "anthropic_events"
TITLE = "Anthropic managed agent events"
METHOD = "client.beta.sessions."
ECHOED = ("type", "content", "custom_tool_use_id", "tool_use_id", "result", "deny_message", "description")
"""What an event has when it is sent, and still has when it comes back."""


def sniff(value: Any) -> Likeness:
    """An event of a session that was processed, a list of such, a session, or one of these beside its method."""
    if is_recorded(value):
        return Likeness(found=(METHOD,))
    there = as_object(value)
    events = as_list(there.get("data")) or as_list(there.get("events"))
    marks = {
        "type": is_event(value) or is_session(value) or (bool(events) and is_event(events[0])),
    }
    return likeness(marks)


def is_recorded(value: Any) -> bool:
    is_pair = isinstance(value, list) and len(value) == 2
    return is_pair and isinstance(value[0], str) and value[0].startswith(METHOD)


def is_session(value: Any) -> bool:
    there = as_object(value)
    return there.get("type") == "session" and isinstance(there.get("agent"), dict) and "environment_id" in there


@dataclass
class Session:
    """What is known of the session that is being read."""

    place: Place
    id: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    sent: list[Event] = field(default_factory=list)
    """Those sent that did not come back yet."""
    known: dict[str, int] = field(default_factory=dict)
    """Where the event with an id stands."""


@dataclass(frozen=True, slots=True)
class Part:
    """One thing a record holds: a session, an event that was sent, or one that was received."""

    kind: str
    value: Mapping[str, Any]
    pointer: str
    session_id: str = ""


def parts_of(value: Any) -> Iterator[Part]:
    if is_recorded(value):
        yield from recorded(value[0], value[1])
    elif is_session(value):
        yield Part("session", value, "")
    elif is_event(value):
        yield Part("received", value, "")
    else:
        for name in ("data", "events"):
            for number, event in enumerate(as_list(as_object(value).get(name))):
                if isinstance(event, dict):
                    yield Part("received", event, f"/{name}/{number}")


def recorded(method: str, value: Any) -> Iterator[Part]:
    name = method.removeprefix(METHOD)
    if name == "events.send":
        session_id = as_id(next(iter(as_list(value)), "")) if isinstance(value, list) else ""
        at, body = ("/1/1", value[1]) if isinstance(value, list) and len(value) == 2 else ("/1", value)
        for number, event in enumerate(as_list(as_object(body).get("events"))):
            if isinstance(event, dict):
                yield Part("sent", event, f"{at}/events/{number}", session_id)
    elif name.startswith("events.") and isinstance(as_object(value).get("data"), list):
        for number, event in enumerate(value["data"]):
            if isinstance(event, dict):
                yield Part("received", event, f"/1/data/{number}")
    elif name.startswith("events.") and isinstance(value, dict):
        yield Part("received", value, "/1")
    elif isinstance(value, dict) and value.get("type") == "session":
        yield Part("created" if name == "create" else "session", value, "/1")


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    session: Session | None = None
    with closing(FirstPlaces()) as ids:
        for document in documents:
            if isinstance(document, Problem):
                yield document
                continue
            parts = list(parts_of(document.value))
            if not parts:
                yield nothing_of(document)
            for part in parts:
                if session is not None and begins(part, session):
                    yield from trace_of(session, ids)
                    session = None
                session = session or Session(document.place)
                yield from take(part, session, document.place)
        if session is not None:
            yield from trace_of(session, ids)


def nothing_of(document: Document) -> Problem:
    if is_recorded(document.value):
        return passed_over(document.place, "bookkeeping", "", document.value[0])
    return unknown_record(document.place, gettext_noop("An event of a session of managed agents, or the session."))


def begins(part: Part, session: Session) -> bool:
    """A session with another id than the one that is being read, or that is created after events."""
    id_ = session_id_of(part)
    if id_ and session.id and id_ != session.id:
        return True
    return part.kind == "created" and bool(session.events) and id_ != session.id


def session_id_of(part: Part) -> str:
    if part.kind in ("created", "session"):
        return as_id(part.value.get("id"))
    return part.session_id or as_id(part.value.get("session_id"))


def take(part: Part, session: Session, place: Place) -> Iterator[Problem]:
    session.id = session.id or session_id_of(part)
    if part.kind in ("created", "session"):
        session.about = {**session.about, **part.value}
        return
    event = Event(part.value, place, part.pointer, is_sent=part.kind == "sent")
    if not event.is_sent and (twin := sent_twin(session, event)) is not None:
        yield passed_over(twin.place, "repeated_record", twin.pointer, twin.kind)
        twin.is_out = True
        session.sent.remove(twin)
    id_ = as_id(part.value.get("id"))
    if id_ and id_ in session.known:
        earlier = session.events[session.known[id_]]
        yield passed_over(place, "repeated_record", part.pointer, event.kind)
        if earlier.value.get("processed_at") is not None or part.value.get("processed_at") is None:
            return
        earlier.is_out = True
    if id_:
        session.known[id_] = len(session.events)
    session.events.append(event)
    if event.is_sent:
        session.sent.append(event)


def sent_twin(session: Session, event: Event) -> Event | None:
    """The same event when it was sent and had no id yet."""
    if not event.kind.startswith("user."):
        return None
    return next((one for one in session.sent if echo(one) == echo(event)), None)


def echo(event: Event) -> str:
    return canonical_json({name: event.value.get(name) for name in ECHOED})


def trace_of(session: Session, ids: FirstPlaces) -> Iterator[Trace | Problem]:
    agent = as_object(session.about.get("agent"))
    found = assembled([event for event in session.events if not event.is_out], agent, session.place)
    messages = found.draft.paired()
    yield from found.draft.warnings
    if not messages:
        yield empty_run(session.place, "")
    own = session.id[:200] or PurePath(session.place.file).stem[:200] or "session"
    model = as_object(agent.get("model")).get("id") or agent.get("model")
    about = {key: member for key, member in session.about.items() if key != "agent"}
    rest = {key: member for key, member in agent.items() if key != "system"}
    yield Trace(
        source_id=own if ids.earlier(own, session.place) is None else f"{own} {session.place}",
        format=FORMAT,
        messages=messages,
        files=tuple(found.draft.files),
        metadata={
            **({"model": model} if isinstance(model, str) and model else {}),
            **({"session_id": session.id} if session.id else {}),
            **found.facts,
            **({"session": about} if about else {}),
            **({"agent": rest} if rest else {}),
            **({"messages": found.draft.extras} if found.draft.extras else {}),
        },
        place=session.place,
    )
