"""Conversations in the form of OpenAI's chat API: objects with `messages`, as a file, an array or lines; or one file
that is itself the list of messages.

`user` is the requester, `assistant` the agent; other roles are private. The signs with which the simulators of tau's
requesters end (`###STOP###`) are nobody's words and private. An object that says both its step and its
episode ({env_index, step, messages}) is a snapshot of a recorded episode, and snapshots are cumulative: the longest of
an episode is the trace, each earlier one is counted as `repeated_record`. Where a later step has not every message of
the one before, the later one counts and a warning says how many it lacks; where the steps begin again, so does another
trace. Messages are the same where role, content and calls are. A run's id is its `id`, else its row's (`row_id` under
`input_metadata`, which is its cluster too, since several runs may repeat a row), else a digest of its messages. All
else is private under its own name. A file is streamed; of recorded episodes the newest snapshot of each is held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from typing import Any

from annotate.traces.base import Likeness, Place, Problem, Trace, gettext_noop
from annotate.traces.chat_messages import ROLES, USED, conversation
from annotate.traces.documents import Document
from annotate.traces.identity import FirstPlaces, conversation_id
from annotate.traces.tau2_bench import without_stop_tokens
from annotate.traces.values import as_id, as_list, as_object
from annotate.traces.warned import likeness, passed_over, unknown_record

FORMAT = "openai_chat"
TITLE = "OpenAI chat messages"
LOOKED_AT = 50
HELD_RECORDS, HELD = 10, 1000
"""No more records, and no more of anything, are held before it is decided what the file is."""
EPISODES = (
    *("env_index", "env_id", "episode", "episode_id", "rollout_id", "trajectory_id"),
    *("run_id", "session_id", "conversation_id", "thread_id"),
)
STEPS = ("step", "step_index", "step_id", "turn")
BLOCKS = ("tool_use", "tool_result", "server_tool_use", "thinking", "redacted_thinking")
"""Content parts of Anthropic's API, which OpenAI's has not."""
MESSAGE = USED | {"name", "audio", "annotations", "reasoning_content"}
"""Members of a message by itself; one with others (a time, a parent) belongs to some other log of messages."""


def sniff(value: Any) -> Likeness:
    """A list of messages with `role` and `content` or `tool_calls`, whose calls name a `function`. Messages that number
    their turns are tau2's; messages with other marks, and records around them, are those of other formats too."""
    messages = [value] if is_message(value) and value.keys() <= MESSAGE else messages_of(value)
    if not messages:
        return Likeness(missing=("messages",))
    first = messages[0] if isinstance(messages[0], dict) else {}
    calls = [
        call
        for message in messages[:LOOKED_AT]
        if isinstance(message, dict) and isinstance(message.get("tool_calls"), list)
        for call in message["tool_calls"]
    ]
    marks = {
        "messages": True,
        "messages[].role": isinstance(first.get("role"), str) and first["role"] in ROLES,
        "messages[].content": ("content" in first or "tool_calls" in first) and "turn_idx" not in first,
        "messages[].tool_calls[].function": all(isinstance(as_object(call).get("function"), dict) for call in calls),
        "messages of no other format": not is_elsewhere(value, messages[:LOOKED_AT]),
    }
    return likeness(marks)


def is_elsewhere(value: Any, messages: Sequence[Any]) -> bool:
    """Runs of mini-swe-agent, samples of Inspect, and messages of Anthropic's API and of LangChain."""
    there = as_object(value)
    is_run = "trajectory_format" in there or "mini_version" in as_object(there.get("info"))
    is_sample = "epoch" in there and "target" in there
    objects = [message for message in messages if isinstance(message, dict)]
    parts = (part for message in objects for part in as_list(message.get("content")))
    return (
        is_run
        or is_sample
        or any(as_object(part).get("type") in BLOCKS for part in parts)
        or any(message.get("type") in ("human", "ai", "constructor") for message in objects)
    )


def is_message(value: Any) -> bool:
    return isinstance(value, dict) and "role" in value and "messages" not in value


def messages_of(value: Any) -> list[Any] | None:
    messages = value.get("messages") if isinstance(value, dict) else value
    return messages if isinstance(messages, list) and messages else None


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    """A file is one list of messages, or conversations one by one; a record of the other sort does not change that."""
    rest = iter(documents)
    first = up_to_first_known(rest)
    reader = read_messages if is_list_of_messages(first) else read_records
    with closing(FirstPlaces()) as places:
        yield from reader(chain(first, rest), places)


def up_to_first_known(documents: Iterator[Document | Problem]) -> list[Document | Problem]:
    """What is read before it is clear what the file is, and the record that makes it clear."""
    first: list[Document | Problem] = []
    n_records = 0
    for found in documents:
        first.append(found)
        n_records += isinstance(found, Document)
        is_known = isinstance(found, Document) and not sniff(found.value).missing
        if is_known or n_records == HELD_RECORDS or len(first) == HELD:
            break
    return first


def is_list_of_messages(first: Sequence[Document | Problem]) -> bool:
    """The first known record says so, which is the last one here; where none is known, the first that is either."""
    values = [found.value for found in first if isinstance(found, Document)]
    known = [value for value in values if not sniff(value).missing]
    either = [value for value in values if is_message(value) or messages_of(value)]
    return any(is_message(value) for value in (known or either)[:1])


def read_messages(documents: Iterable[Document | Problem], places: FirstPlaces) -> Iterator[Trace | Problem]:
    """The one trace of a file that is itself the list of messages."""
    messages: list[Any] = []
    file = ""
    for document in documents:
        if isinstance(document, Problem):
            yield document
        elif isinstance(document.value, dict) and messages_of(document.value):
            yield unknown_record(document.place, gettext_noop("A message; this file is one list of messages."))
        else:
            messages.append(document.value)
            file = document.place.file
    if messages:
        yield from trace_of(messages, Place(file), "", {}, places)


def read_records(documents: Iterable[Document | Problem], places: FirstPlaces) -> Iterator[Trace | Problem]:
    """A trace for each conversation of a file, and for each recorded episode once nothing more of it can come."""
    held: dict[str, Document] = {}
    for document in documents:
        if isinstance(document, Problem):
            yield document
        elif messages_of(document.value) is None:
            yield unknown_record(document.place, gettext_noop("An object with a list of messages."))
        elif episode := episode_of(document.value):
            for found in take_snapshot(document, episode, held):
                yield from read_record(found, places) if isinstance(found, Document) else [found]
        else:
            yield from read_record(document, places)
    for document in held.values():
        yield from read_record(document, places)


def episode_of(value: Any) -> str:
    """What the snapshots of one episode have in common; empty for a record that is no snapshot."""
    there = as_object(value)
    named = [f"{name} {as_id(there[name])}" for name in EPISODES if there.get(name) is not None]
    return " ".join(named) if named and step_of(there) is not None else ""


def step_of(value: Mapping[str, Any]) -> int | None:
    steps = (value.get(name) for name in STEPS)
    return next((step for step in steps if isinstance(step, int) and not isinstance(step, bool)), None)


def take_snapshot(document: Document, episode: str, held: dict[str, Document]) -> Iterator[Document | Problem]:
    """Keeps the longest snapshot of each episode, and gives the one before where the episode begins again."""
    before = held.get(episode)
    if before is None:
        held[episode] = document
        return
    n_kept, n_new = n_same(before.value, document.value), len(document.value["messages"])
    n_before = len(before.value["messages"])
    if n_kept == n_new < n_before:
        yield passed_over(document.place, "repeated_record", "/messages", "snapshot")
        return
    if n_kept < n_before and (step_of(document.value) or 0) <= (step_of(before.value) or 0):
        yield before
    else:
        yield passed_over(before.place, "repeated_record", "/messages", "snapshot")
        if n_kept < n_before:
            yield shrunk_snapshot(document.place, n_before - n_kept)
    held[episode] = document


def n_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> int:
    """How many messages at the beginning of two snapshots are the same."""
    pairs = zip(one["messages"], other["messages"], strict=False)
    shorter = min(len(one["messages"]), len(other["messages"]))
    return next((number for number, (a, b) in enumerate(pairs) if said_in(a) != said_in(b)), shorter)


def said_in(message: Any) -> Any:
    """A message without what a recorder wrote beside it."""
    return {name: message.get(name) for name in USED} if isinstance(message, dict) else message


def shrunk_snapshot(place: Place, n: int) -> Problem:
    return place.problem(
        "shrunk_snapshot",
        "/messages",
        expected=gettext_noop("Every message of the step before; %(n)s of them are missing or changed."),
        remedy=gettext_noop("The later step is kept; what only the earlier one had is not shown."),
        warning=True,
        n=n,
    )


def read_record(document: Document, places: FirstPlaces) -> Iterator[Trace | Problem]:
    value = document.value
    is_object = isinstance(value, dict)
    extras = {key: member for key, member in value.items() if key != "messages"} if is_object else {}
    yield from trace_of(messages_of(value) or [], document.place, "/messages" if is_object else "", extras, places)


def trace_of(
    values: Sequence[Any], place: Place, pointer: str, extras: dict[str, Any], places: FirstPlaces
) -> Iterator[Trace | Problem]:
    found = conversation(values, place, pointer)
    found.messages = [without_stop_tokens(message, found) for message in found.messages]
    yield from found.warnings
    row = as_object(extras.get("input_metadata")).get("row_id")
    row_id = row if isinstance(row, str) and row.strip() else ""
    yield Trace(
        source_id=given_id(extras) or derived_id(row_id or conversation_id(found.messages), place, places),
        format=FORMAT,
        messages=tuple(found.messages),
        cluster=row_id,
        metadata={**extras, **({"messages": found.extras} if found.extras else {})},
        place=place,
    )


def given_id(extras: dict[str, Any]) -> str:
    """The record's own id, where it is a text or a number."""
    found = extras.get("id")
    if isinstance(found, str) and found.strip():
        return found
    return str(found) if isinstance(found, int) and not isinstance(found, bool) else ""


def derived_id(digest: str, place: Place, places: FirstPlaces) -> str:
    """Files give no id, so the conversation or its row is its own name. The same once more in a file is another sample,
    told apart by its place."""
    return digest if places.earlier(digest, place) is None else f"{digest} {place}"
