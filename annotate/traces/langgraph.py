"""Runs of LangGraph: what `langchain_messages` reads, in the forms in which graphs give their state away.

State dumps {messages}, snapshots {values: {messages}} of `get_state_history` and of the server's threads, checkpoints
{channel_values: {messages}}, updates {node: {messages}} of `stream`, messages in pieces, each also as {event, data} or
[mode, data], lists of messages, and a file that is itself one list of messages.

Snapshots are cumulative: of a thread the newest counts (by its time, else its step, else its place in the file), and of
dumps without a thread the last of those that each go on from the one before. The earlier ones are counted as
`repeated_record`; where the newest lacks a message that an earlier one had (a context was trimmed, a run was forked), a
warning says so. Updates add up to one run of a file; a message with a known id replaces the earlier one, and one that
removes others removes nothing, as it was said. What subgraphs tell is agents among themselves, and counted, and so are
events without messages (`bookkeeping`).

Requester, reply, calls, private parts: see `langchain_messages`; a message in the requester's role with the name of the
node that wrote it is that agent's. A run's id is its thread, else the record's id, else a digest of its messages.
Model and usage (added up) come from the messages; nothing says success. A file of plain states is streamed; of threads
and updates the newest state of each is held to the end of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from annotate.traces.base import Likeness, Place, Problem, Trace, gettext_noop
from annotate.traces.documents import Document
from annotate.traces.identity import FirstPlaces, conversation_id
from annotate.traces.langchain_messages import conversation, is_message, kind_of, metadata_of, plain
from annotate.traces.langgraph_stream import is_of_subgraph, is_piece, joined, streamed_messages, unwrapped
from annotate.traces.values import as_id, as_list, as_object
from annotate.traces.warned import empty_run, likeness, passed_over, unknown_record

FORMAT = "langgraph"
TITLE = "LangGraph states"
LOOKED_AT = 50
NO_NODES = frozenset(
    {"input", "output", "inputs", "outputs", "kwargs", "data", "values", "checkpoint", "channel_values"}
)
"""Members of other logs that hold messages in the same way as nodes do."""
OWN = ("additional_kwargs", "response_metadata", "usage_metadata", "tool_call_id")
"""Marks of a system or tool message of LangChain; other logs have lines of these types too."""


@dataclass(slots=True)
class Part:
    """What one record has of a run, and of one that adds up all that came so far."""

    messages: list[Any]
    pointer: str = ""
    thread: str = ""
    given_id: str = ""
    rest: Mapping[str, Any] = field(default_factory=dict)
    adds: bool = False
    """Whether its messages go on from those before, or are all there are."""
    nodes: tuple[str, ...] = ()
    when: tuple[str, float] = ("", 0)
    is_inner: bool = False
    place: Place = field(default_factory=Place)
    at: dict[str, int] = field(default_factory=dict)
    """Where the messages with an id are, for what adds up."""


def sniff(value: Any) -> Likeness:
    """A message of LangChain's, a list of such, or a state, snapshot, checkpoint or update with one."""
    mode, inner = unwrapped(value)
    if is_message(inner):
        return likeness({"type: human | ai | constructor": is_langchain(inner)})
    part = part_of(inner, Place(), mode)
    if part is None or not part.messages:
        return Likeness(missing=("messages",))
    said = any(is_message(message) and is_langchain(message) for message in part.messages[:LOOKED_AT])
    return likeness({"messages": True, "messages[].type: human | ai | constructor": said})


def is_langchain(message: Any) -> bool:
    is_wrapped = plain(message) is not message
    return is_wrapped or kind_of(message) in ("human", "ai") or any(name in message for name in OWN)


def part_of(value: Any, place: Place, mode: str = "") -> Part | None:
    """None where a record holds no list of messages in any of the known ways."""
    if (streamed := streamed_messages(mode, value)) is not None:
        return Part(list(streamed), adds=True, place=place)
    if isinstance(value, list) and any(is_message(message) for message in value[:LOOKED_AT]):
        return Part(value, place=place)
    if not isinstance(value, dict):
        return None
    for way in (("messages",), ("values", "messages"), ("channel_values", "messages"), CHECKPOINT):
        if isinstance(reached(value, way), list):
            return snapshot(value, way, place)
    return update(value, place)


CHECKPOINT = ("checkpoint", "channel_values", "messages")


def reached(value: Any, way: Sequence[str]) -> Any:
    for name in way:
        value = as_object(value).get(name)
    return value


def snapshot(value: Mapping[str, Any], way: tuple[str, ...], place: Place) -> Part:
    places = [value, *(as_object(value.get(name)) for name in ("checkpoint", "metadata"))]
    places.append(as_object(as_object(value.get("config")).get("configurable")))
    rest = without(value, way)
    time = next((as_id(there[name]) for there in places for name in ("created_at", "ts") if there.get(name)), "")
    step = next((there["step"] for there in places if isinstance(there.get("step"), int | float)), 0)
    return Part(
        reached(value, way),
        pointer="".join(f"/{name}" for name in way),
        thread=next((as_id(there["thread_id"]) for there in places if there.get("thread_id")), ""),
        given_id=as_id(value.get("id")) if way == ("messages",) else "",
        rest=rest,
        when=(time, step),
        is_inner=any(there.get("checkpoint_ns") for there in places),
        place=place,
    )


def without(value: Mapping[str, Any], way: Sequence[str]) -> dict[str, Any]:
    """Everything but the messages."""
    rest = dict(value)
    inner = rest.pop(way[0])
    if len(way) > 1:
        rest[way[0]] = without(inner, way[1:])
    return rest


def update(value: Mapping[str, Any], place: Place) -> Part | None:
    """What nodes give back, in the order in which the record has them."""
    if value.keys() & NO_NODES or not all(given is None or isinstance(given, dict | list) for given in value.values()):
        return None
    given = [(node, part) for node, parts in value.items() for part in (parts if isinstance(parts, list) else [parts])]
    messages = [message for _, part in given for message in listed(as_object(part).get("messages"))]
    if not any(is_message(message) for message in messages):
        return None
    rest = [{node: {key: as_object(part)[key] for key in as_object(part) if key != "messages"}} for node, part in given]
    others = [one for one in rest if any(one.values())]
    return Part(messages, rest={"updates": others} if others else {}, adds=True, nodes=tuple(value), place=place)


def listed(value: Any) -> Sequence[Any]:
    return [value] if is_message(value) else as_list(value)


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    held: dict[str, Part] = {}
    with closing(FirstPlaces()) as places:
        for document in documents:
            if isinstance(document, Problem):
                yield document
                continue
            for found in take(document, held):
                yield from trace_of(found, places) if isinstance(found, Part) else [found]
        for part in held.values():
            yield from trace_of(part, places)


def take(document: Document, held: dict[str, Part]) -> Iterator[Part | Problem]:
    """Keeps what a record has by its thread, and gives what is complete."""
    place = document.place
    mode, value = unwrapped(document.value)
    is_alone = is_message(value) or is_chat(value)
    part = Part([value], adds=True, place=place) if is_alone else part_of(value, place, mode)
    if part is None and not mode:
        yield unknown_record(place, gettext_noop("A state with a list of messages."))
        return
    if part is None or part.is_inner or is_of_subgraph(document.value):
        yield passed_over(place, "bookkeeping", "", "event" if part is None else "subgraph")
        return
    before = held.get(part.thread)
    if part.adds:
        held[part.thread] = before or replace(part, messages=[], rest={}, place=Place(place.file))
        yield from add(held[part.thread], part)
    elif before is None:
        held[part.thread] = part
    elif part.thread or continues(part, before):
        older, newer = (part, before) if part.thread and part.when < before.when else (before, part)
        held[part.thread] = replace(newer, nodes=(*before.nodes, *part.nodes))
        yield passed_over(older.place, "repeated_record", older.pointer, "snapshot")
        if n_lost := n_missing(older, newer):
            yield lost(older, n_lost)
    else:
        yield before
        held[part.thread] = part


def is_chat(value: Any) -> bool:
    """A message of another API, which may stand among LangChain's."""
    return isinstance(value, dict) and isinstance(value.get("role"), str) and "content" in value


def add(run: Part, part: Part) -> Iterator[Problem]:
    """A message with an id that stood before replaces that one."""
    if not run.at:
        run.at = {id_: number for number, message in enumerate(run.messages) if (id_ := id_of(message))}
    for message in part.messages:
        id_ = id_of(message) if kind_of(plain(message)) != "remove" else ""
        if id_ in run.at and is_piece(message) and is_piece(run.messages[run.at[id_]]):
            run.messages[run.at[id_]] = joined(run.messages[run.at[id_]], message)
            continue
        if id_ in run.at:
            yield passed_over(part.place, "repeated_record", part.pointer, "message")
            run.messages[run.at[id_]] = message
            continue
        if id_:
            run.at[id_] = len(run.messages)
        run.messages.append(message)
    run.nodes = (*run.nodes, *(node for node in part.nodes if node not in run.nodes))
    if "updates" in part.rest:
        run.rest = {**run.rest, "updates": run.rest.get("updates", [])}
        run.rest["updates"] += part.rest["updates"]


def id_of(message: Any) -> str:
    return as_id(as_object(plain(message)).get("id"))


def continues(part: Part, before: Part) -> bool:
    """Whether a state without a thread is a later one of the run before."""
    n = len(before.messages)
    return 0 < n <= len(part.messages) and all(map(is_same, before.messages, part.messages[:n]))


def is_same(one: Any, other: Any) -> bool:
    return bool(one == other) or (id_of(one) != "" and id_of(one) == id_of(other))


def n_missing(older: Part, newer: Part) -> int:
    """How many messages of the older snapshot the newer one has no more; those without an id are compared whole."""
    ids = {id_ for message in newer.messages if (id_ := id_of(message))}
    rest = [message for message in newer.messages if not id_of(message)]
    return sum(
        id_of(message) not in ids if id_of(message) else message not in rest
        for message in older.messages
        if kind_of(plain(message)) != "remove"
    )


def trace_of(part: Part, places: FirstPlaces) -> Iterator[Trace | Problem]:
    found = conversation(part.messages, part.place, part.pointer, frozenset(part.nodes))
    yield from found.warnings
    if not found.messages:
        yield empty_run(part.place, part.pointer)
    name = part.thread or part.given_id or conversation_id(found.messages)
    is_first = places.earlier(name, part.place) is None or bool(part.thread)
    yield Trace(
        source_id=name if is_first else f"{name} {part.place}",
        format=FORMAT,
        messages=tuple(found.messages),
        metadata={
            **({"session_id": part.thread} if part.thread else {}),
            **({"state": part.rest} if part.rest else {}),
            **metadata_of(found),
        },
        place=part.place,
    )


def lost(older: Part, n: int) -> Problem:
    return older.place.problem(
        "shrunk_snapshot",
        older.pointer,
        expected=gettext_noop("Later snapshots with every message of this one; the next lacks %(n)s of them."),
        remedy=gettext_noop("The newest snapshot is kept as it is; what it lacks is not shown."),
        warning=True,
        n=n,
    )
