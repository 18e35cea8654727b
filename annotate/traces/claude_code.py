"""Sessions of Claude Code: JSONL files of lines {type, uuid, sessionId, message}, and objects with `loglines`.

A trace is a session; a session resumed under another id (its first line follows a line of the first one) goes on in the
same trace. The id is `sessionId`, else the name of the file. A subagent's lines under an `agentId`, or in a file of
their own, are a trace of their own without a requester, as it was an agent that asked (`other`, "calling agent");
inside another session they are private. After `/clear` a new session of the same trace begins; after a compaction it
goes on.

Requester: the text and images of `user` lines that a person typed, prompts that waited while the agent worked, and
slash commands with arguments, unless the program carried them out itself. What the program puts into `user` lines
(meta lines, reminders, outputs of local commands, notes of interruptions) and attachments are private. Reply: an API
message, all its lines in one (by `message.id`, else `requestId`), its thinking apart, with private data. Result: each
`tool_result` block, moved behind the message that called; the program's own copy of it (`toolUseResult`) and
signatures of thinking are not kept. Errors in the model's place (`<synthetic>`) are private. The branches of a
rewound session are kept in the order of the file.

`model` is every model in order; `usage` the sum over API messages of the last count of each. Counted and passed over:
the same line twice, parts of a message told twice, bookkeeping (titles and notices are kept in the private data).
Lines with counts of tokens and no content are no messages. All sessions of a file are held until its end, because
lines of one may stand between those of another: the size of the file bounds the memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from annotate.traces.base import Likeness, Message, Place, Problem, Trace, gettext_noop
from annotate.traces.claude_code_agent import lane_of
from annotate.traces.claude_code_lines import BOOKKEEPING, TALKING, add_line, add_other
from annotate.traces.claude_code_session import Session, unpaired_of
from annotate.traces.claude_code_texts import added
from annotate.traces.documents import Document
from annotate.traces.identity import conversation_id
from annotate.traces.values import as_id, as_object
from annotate.traces.warned import likeness, unknown_record

FORMAT = "claude_code"
TITLE = "Claude Code sessions"
RECORDS_IN = "loglines"

LINE = ("uuid", "sessionId", "timestamp", "parentUuid")
SYSTEM = ("isSidechain", "userType", "compactMetadata", "level", "isMeta", "content")
TITLES = {"summary": "summary", "custom-title": "customTitle", "ai-title": "aiTitle"}
SHORT = {
    "file-history-snapshot": "snapshot",
    "last-prompt": "sessionId",
    "mode": "sessionId",
    "permission-mode": "sessionId",
    "progress": "data",
    "queue-operation": "operation",
    "summary": "leafUuid",
    "custom-title": "customTitle",
    "ai-title": "aiTitle",
    "agent-name": "agentName",
}
"""Lines without a message by their type, each with a member that it must have."""


def sniff(value: Any) -> Likeness:
    """A line of a session, by its type and what lines of that type have; or an object with such lines."""
    there = as_object(value)
    if isinstance(there.get("loglines"), list):
        lines = there["loglines"]
        return likeness({"loglines": True, "loglines[]": any(not sniff_line(line).missing for line in lines[:50])})
    return sniff_line(there)


def sniff_line(line: Any) -> Likeness:
    there = as_object(line)
    kind = there.get("type")
    message = as_object(there.get("message"))
    if kind in TALKING or ("type" not in there and "usage" in message):
        marks = {
            "type": "type" in there,
            "uuid": any(name in there for name in LINE) or {"session_id", "parent_tool_use_id"} <= there.keys(),
            "message.role": message.get("role") in TALKING if "type" not in there else message.get("role") == kind,
            "message.content": "content" in message,
        }
    elif kind == "attachment":
        marks = {"type": True, "attachment": isinstance(there.get("attachment"), dict), "uuid": "uuid" in there}
    elif kind == "system":
        marks = {
            "type": True,
            "subtype": "subtype" in there or "content" in there,
            "uuid": "uuid" in there and ("sessionId" in there or "session_id" in there),
            "isSidechain": any(name in there for name in SYSTEM) and not {"message", "systemPayload"} & there.keys(),
        }
    else:
        needed = SHORT.get(kind) if isinstance(kind, str) else None
        marks = {"type": needed is not None, needed or "message": needed is not None and needed in there}
    return likeness(marks)


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    log = Log()
    for document in documents:
        if isinstance(document, Problem):
            yield document
            continue
        if document.around:
            log.around = document.around
        for line, place in lines_of(document):
            yield from log.add(line, place)
    yield from log.traces()


def lines_of(document: Document) -> Iterator[tuple[Any, Place]]:
    """The record, or the lines of one that is all of a session."""
    place = document.place
    lines = as_object(document.value).get("loglines")
    if not isinstance(lines, list):
        yield document.value, place
        return
    for number, line in enumerate(lines):
        yield line, replace(place, prefix=f"{place.prefix}/loglines/{number}")


class Log:
    """All sessions of a file."""

    def __init__(self) -> None:
        self.sessions: dict[tuple[str, str], Session] = {}
        self.by_line: dict[str, Session] = {}
        """The session of each line, by its uuid: what a line of another session id goes on from."""
        self.titles: list[tuple[str, str, str]] = []
        self.around: Mapping[str, Any] = {}
        self.current: Session | None = None

    def add(self, line: Any, place: Place) -> Iterator[Problem]:
        if not isinstance(line, dict):
            yield unknown_record(place, gettext_noop("A line of a Claude Code session: an object with a known type."))
            return
        kind = as_id(line.get("type"))
        said = line.get("message") is not None or (kind in TALKING or kind == "attachment")
        if kind in BOOKKEEPING or not said or not kind:
            if kind in TITLES:
                self.titles.append((session_id(line), as_id(line.get("leafUuid")), as_id(line.get(TITLES[kind]))))
            yield from add_other(self.named(line, place), line, place)
            return
        yield from add_line(self.session_of(line, place), line, place)

    def session_of(self, line: Mapping[str, Any], place: Place) -> Session:
        """The session of a line; a new one if need be."""
        id_ = session_id(line)
        if not id_ and self.current is not None:
            session = self.current
        else:
            key = key_of(line)
            session = self.sessions.get(key) or self.resumed(line) or Session(id_, key[1], place)
            self.sessions[key] = session
        uuid = as_id(line.get("uuid"))
        if uuid:
            self.by_line.setdefault(uuid, session)
        self.current = session
        return session

    def resumed(self, line: Mapping[str, Any]) -> Session | None:
        """The session that a line under a new id goes on from. A copy of an old line begins a session of its own."""
        if as_id(line.get("uuid")) in self.by_line:
            return None
        before = self.by_line.get(as_id(line.get("parentUuid")))
        return before if before is not None and before.agent == key_of(line)[1] else None

    def named(self, line: Mapping[str, Any], place: Place) -> Session | None:
        """The session of a line that says nothing; only lines with a place in it may begin one."""
        if session_id(line) and as_id(line.get("uuid")):
            return self.session_of(line, place)
        return self.sessions.get(key_of(line)) if session_id(line) else self.current

    def traces(self) -> Iterator[Trace | Problem]:
        whole = {id(session): session for session in self.sessions.values()}
        ids: dict[int, list[str]] = {}
        for key, session in self.sessions.items():
            ids.setdefault(id(session), []).extend([key[0]] if key[0] else [])
        titles = self.titles_of_sessions()
        for number, session in whole.items():
            if session.entries:
                yield from self.trace_of(session, list(dict.fromkeys(ids[number])), titles.get(number, []))

    def trace_of(self, session: Session, ids: Sequence[str], titles: Sequence[str]) -> Iterator[Trace | Problem]:
        messages, entries = session.messages()
        yield from unpaired_of(messages, entries)
        extras = {str(index): as_extras(entry.extras) for index, entry in enumerate(entries) if entry.extras}
        is_subagent = session.is_subagent()
        if is_subagent:
            messages = tuple(asked_by_an_agent(messages))
        usage = added(list(session.usages.values()))
        parts = {
            "model": session.models[0] if len(session.models) == 1 else session.models,
            "usage": usage,
            "session_id": session.id,
            "session_ids": list(ids) if len(ids) > 1 else [],
            "requester": "agent" if is_subagent else "",
            "agent": session.agent,
            "titles": list(titles),
            **session.facts,
            **session.others,
            "file": {name: value for name, value in self.around.items() if name != RECORDS_IN},
            "messages": extras,
        }
        yield Trace(
            source_id=source_id(session, is_subagent) or conversation_id(messages),
            format=FORMAT,
            messages=messages,
            cluster=session.id[:255],
            metadata={name: part for name, part in parts.items() if part not in ("", [], {})},
            place=session.place,
        )

    def titles_of_sessions(self) -> dict[int, list[str]]:
        """Titles that name a line or the id of a session; those that name nothing known are the first session's."""
        by_id: dict[str, Session] = {}
        for key, session in self.sessions.items():
            by_id.setdefault(key[0], session)
        first = next((session for session in self.sessions.values() if session.entries), None)
        titles: dict[int, list[str]] = {}
        for id_, leaf, title in self.titles:
            named = self.by_line.get(leaf) or by_id.get(id_) or first
            titles.setdefault(id(named), []).append(title)
        return titles


def as_extras(extras: Mapping[str, Any]) -> dict[str, Any]:
    reasoning = extras.get("reasoning")
    return {**extras, **({"reasoning": "\n".join(reasoning)} if isinstance(reasoning, list) else {})}


def session_id(line: Mapping[str, Any]) -> str:
    return as_id(line.get("sessionId")) or as_id(line.get("session_id"))


def key_of(line: Mapping[str, Any]) -> tuple[str, str]:
    """Session and subagent: one that is named has its own lines."""
    return session_id(line), as_id(line.get("agentId")) if lane_of(line) else ""


def asked_by_an_agent(messages: Iterable[Message]) -> Iterator[Message]:
    """What an agent asks of another is no person's, and what it is answered is no reply to one."""
    for message in messages:
        yield replace(message, role="other", side="agent", name="calling agent") if message.role == "user" else message


def source_id(session: Session, is_subagent: bool) -> str:
    """A subagent's file often names the session of its caller, so its own name is added."""
    stem = PurePath(session.place.file).stem
    agent = session.agent or (stem.removeprefix("agent-") if is_subagent and stem.startswith("agent-") else "")
    return " agent ".join(part for part in (session.id or stem, agent) if part)[:255]
