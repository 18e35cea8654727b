"""Our own format, one collaboration a record (`docs/trace-format.md`, `sightline.schema.json`). Strict: what is wrong
is refused by name; members we do not know are kept as private metadata."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, cast

from annotate.traces.base import (
    ROLES,
    Answered,
    Call,
    File,
    Likeness,
    Message,
    Place,
    Problem,
    Role,
    Side,
    Trace,
    gettext_noop,
)
from annotate.traces.documents import Document
from annotate.traces.fields import Fields, Notes, empty_value, unknown_value
from annotate.traces.pairing import orphan_results, pair, unanswered_calls
from annotate.traces.warned import likeness

FORMAT = "sightline"
TITLE = "Sightline JSON lines"
LANGUAGES = ("en", "zh")
LONGEST_NAME = 255
MOST_SESSIONS = 100_000
OTHERS = frozenset({"task_id", "epoch"})
"""Of these, one stands beside `id` and `messages` in runs of tau2 and of Inspect, also where nobody spoke in them."""


def sniff(value: Any) -> Likeness:
    """An object whose messages have `text`; or, so that a broken record is named as ours, `id` and messages without
    `content`. Without either, one that names a task or an epoch is a run of others in which nobody spoke."""
    record = value if isinstance(value, dict) else {}
    messages = record.get("messages") if isinstance(record.get("messages"), list) else []
    has_text = any(isinstance(message, dict) and "text" in message for message in messages or [])
    has_content = any(isinstance(message, dict) and "content" in message for message in messages or [])
    is_like_ours = {"id", "messages"} <= record.keys() and not OTHERS & record.keys()
    marks = {
        "id": "id" in record or has_text,
        "messages": "messages" in record,
        "messages[].text": has_text or (not has_content and is_like_ours),
    }
    return likeness(marks)


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    for document in documents:
        if isinstance(document, Problem):
            yield document
        else:
            yield from read_record(document)


def read_record(document: Document) -> Iterator[Trace | Problem]:
    notes = Notes(document.place)
    record = Fields(document.value, notes)
    entries = record.entries("messages", is_required=True)
    if record.members.get("messages") == []:
        record.note("messages", empty_value)
    messages = read_messages(entries)
    trace = Trace(
        source_id=record.text("id", blank=False, longest=LONGEST_NAME),
        format=FORMAT,
        messages=pair(messages),
        files=read_files(record, len(messages)),
        language=record.one_of("language", LANGUAGES, ""),
        area=record.text("area", "", longest=LONGEST_NAME),
        cluster=record.text("cluster", "", longest=LONGEST_NAME),
        metadata=read_metadata(record),
        place=document.place,
    )
    problems = notes.problems or list(contradictions(trace, entries))
    yield from problems
    if not problems:
        yield from (unanswered_call(trace, call) for call in unanswered_calls(trace.messages))
        yield trace


def read_metadata(record: Fields) -> dict[str, Any]:
    """`meta`, and under `other_fields` every member we do not know, by the pointer of its object."""
    meta, others = record.mapping("meta"), record.notes.unknown_members()
    return {**({"meta": meta} if meta else {}), **({"other_fields": others} if others else {})}


def read_messages(entries: list[Fields]) -> list[Message]:
    """A message without `session` belongs to that of the message before it."""
    messages: list[Message] = []
    for index, fields in enumerate(entries):
        messages.append(read_message(fields, index, messages[-1].session if messages else 1))
    return messages


def read_message(fields: Fields, index: int, session: int) -> Message:
    role = cast(Role, fields.one_of("role", ROLES, None, code="unknown_role"))
    if role in ("system", "tool", "summary"):
        fields.refuse("calls", "user, assistant")
    if role in ("system", "user", "assistant", "summary"):
        fields.refuse("answers", "tool")
    says_nothing_else = role in ("user", "assistant") and not fields.members.get("calls")
    return Message(
        index=index,
        role=role,
        text=fields.text("text", blank=not says_nothing_else),
        session=fields.whole("session", session, low=1, high=MOST_SESSIONS),
        side=read_side(fields, role),
        calls=() if "calls" in fields.taken else read_calls(fields),
        answers_id="" if "answers" in fields.taken else fields.text("answers", "", longest=LONGEST_NAME),
    )


def read_side(fields: Fields, role: str) -> Side:
    """Only a result may be of either side; what a person or the agent says is theirs."""
    own = "user" if role == "user" else "agent"
    return cast(Side, fields.one_of("side", ("agent", "user") if role in ("tool", "") else (own,), own))


def read_calls(fields: Fields) -> tuple[Call, ...]:
    return tuple(
        Call(
            id=call.text("id", "", longest=LONGEST_NAME),
            name=call.text("name", blank=False, longest=LONGEST_NAME),
            arguments=read_arguments(call),
        )
        for call in fields.entries("calls")
    )


def read_arguments(call: Fields) -> str:
    """A text letter for letter, an object as its JSON."""
    value = call.take("arguments", (str, dict), "text or object", is_required=False)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value or ""


def read_files(record: Fields, n_messages: int) -> tuple[File, ...]:
    return tuple(
        File(
            name=file.text("name", blank=False, longest=LONGEST_NAME),
            text=file.text("text"),
            available_from=file.whole("available_from", 0, low=0, high=max(0, n_messages - 1)),
        )
        for file in record.entries("files")
    )


def contradictions(trace: Trace, entries: list[Fields]) -> Iterator[Problem]:
    """What a schema cannot say: results without calls, sides that differ, sessions that go back."""
    orphans = {message.index for message in orphan_results(trace.messages)}
    session = 1
    for message, fields in zip(trace.messages, entries, strict=True):
        if message.index in orphans:
            yield orphan_result(fields, trace.place)
        elif fields.members.get("side", message.side) != message.side:
            fields.note("side", unknown_value, "wrong_side", (message.side,), fields.members["side"])
            yield fields.notes.problems[-1]
        if message.session < session:
            yield session_goes_back(trace.place, fields.at("session"), session)
        session = max(session, message.session)


def orphan_result(fields: Fields, place: Place) -> Problem:
    return place.problem(
        "orphan_tool_result",
        fields.at("answers") if "answers" in fields.members else fields.pointer,
        expected=gettext_noop(
            "A call that this result (of “%(found)s”) answers, in the message right before the results."
        ),
        remedy=gettext_noop("Add the call, correct the id, or remove the result."),
        found=fields.members.get("answers", ""),
    )


def session_goes_back(place: Place, pointer: str, session: int) -> Problem:
    return place.problem(
        "session_goes_back",
        pointer,
        expected=gettext_noop("Session %(session)s or a later one; messages stand in the order of their sessions."),
        remedy=gettext_noop("Correct the number, or put the message where it belongs."),
        session=session,
    )


def unanswered_call(trace: Trace, answered: Answered) -> Problem:
    call = trace.messages[answered.index].calls[answered.call]
    return trace.place.problem(
        "unanswered_call",
        f"/messages/{answered.index}/calls/{answered.call}",
        expected=gettext_noop("A result of call “%(call)s” (%(name)s); there is none."),
        remedy=gettext_noop("Nothing, if the run ended there; the call is shown as unanswered."),
        warning=True,
        call=call.id,
        name=call.name,
    )
