"""One Claude Code session while its lines come in, and the trace it becomes."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from annotate.traces.base import Call, Message, Place, Problem, Role
from annotate.traces.pairing import orphan_results, pair, unanswered_calls
from annotate.traces.values import as_json
from annotate.traces.warned import orphan_result, unanswered_call

LONGEST_NAME = 255


@dataclass
class Entry:
    """A message to be: one API message with all its lines, one result, or what one line put in."""

    role: Role
    place: Place
    pointer: str = ""
    lane: str = ""
    """Empty for the conversation itself, else the agent that works beside it."""
    texts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    name: str = ""
    answers_id: str = ""
    session: int = 1
    extras: dict[str, Any] = field(default_factory=dict)
    blocks: set[str] = field(default_factory=set)
    """Digests of the blocks that earlier lines brought."""
    results: list[Entry] = field(default_factory=list)
    is_answered: bool = False


@dataclass
class Session:
    """Everything of one session. `agent` is the subagent whose own file or lines these are."""

    id: str
    agent: str
    place: Place
    entries: list[Entry] = field(default_factory=list)
    number: int = 1
    is_used: bool = False
    """Whether something was said since the context was last emptied."""
    open: dict[str, dict[str, Entry]] = field(default_factory=lambda: defaultdict(dict))
    """API messages that may get more lines, by lane and id."""
    is_human_beside: bool = False
    """Whether lines marked as beside the conversation say that a human typed them: the marks then mean nothing."""
    command: Entry | None = None
    """A typed command that may turn out to be one the program handled by itself."""
    seen: set[tuple[str, str]] = field(default_factory=set)
    models: list[str] = field(default_factory=list)
    usages: dict[str, Any] = field(default_factory=dict)
    """The last count of each API message."""
    facts: dict[str, Any] = field(default_factory=dict)
    others: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))

    def add(self, entry: Entry) -> None:
        entry.session = self.number
        self.entries.append(entry)
        if not entry.lane and entry.role not in ("other", "system"):
            self.is_used = True
        if entry.role == "user":
            self.open.pop(entry.lane, None)
        if entry.role in ("user", "assistant"):
            self.command = None

    def empty_context(self) -> None:
        """What comes after `/clear` is a new session, if anything was said before it."""
        self.number += self.is_used
        self.is_used = False
        self.command = None

    def is_subagent(self) -> bool:
        """The lines of one agent for another, and no word of a person."""
        talk = [entry for entry in self.entries if entry.role in ("user", "assistant")]
        if self.is_human_beside:
            return False
        is_alone = not any(entry.role == "user" and not entry.lane for entry in talk)
        return bool(self.agent) or (is_alone and any(entry.lane != "" for entry in talk[:1]))

    def messages(self) -> tuple[tuple[Message, ...], list[Entry]]:
        """All messages, paired, and the entries they come from."""
        is_one_lane = self.is_human_beside or self.is_subagent()
        entries = [part for entry in with_results(self.entries, is_one_lane) for part in (entry, *entry.results)]
        messages = pair([message_of(entry, index, is_one_lane) for index, entry in enumerate(entries)])
        return tuple(with_tool_names(messages)), entries


def message_of(entry: Entry, index: int, is_one_lane: bool) -> Message:
    is_beside = entry.lane != "" and not is_one_lane and entry.role in ("user", "assistant", "summary")
    is_unknown = entry.role == "assistant" and "content" in entry.extras and not (entry.texts or entry.calls)
    role: Role = "other" if is_beside or is_unknown else entry.role
    name = f"{entry.lane} ({entry.role})" if is_beside else "assistant" if is_unknown else entry.name
    return Message(
        index=index,
        role=role,
        text=as_json(entry.extras["content"]) if is_unknown else "\n".join(entry.texts),
        session=entry.session,
        side="user" if role == "user" else "agent",
        calls=tuple(entry.calls),
        answers_id=entry.answers_id,
        name=name[:LONGEST_NAME],
    )


def with_tool_names(messages: tuple[Message, ...]) -> Iterator[Message]:
    """A result names only the id of its call; the tool is that of the call."""
    for message in messages:
        answers = message.answers
        if answers is None:
            yield message
        else:
            yield replace(message, name=messages[answers.index].calls[answers.call].name[:LONGEST_NAME])


def with_results(entries: list[Entry], is_one_lane: bool) -> list[Entry]:
    """The entries with every result behind the message whose call it answers: the nearest one before it with an open
    call of that id, or where the result came first the next one before anybody else speaks. Other results stay where
    they stand."""
    waiting: dict[tuple[str, str], deque[Entry]] = defaultdict(deque)
    called: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    last: dict[str, Entry] = {}
    free: dict[int, Counter[str]] = {}
    for entry in entries:
        lane = "" if is_one_lane else entry.lane
        if entry.calls:
            last[lane] = entry
            free[id(entry)] = Counter(call.id for call in entry.calls)
            for call in entry.calls:
                if call.id and waiting[lane, call.id]:
                    take(entry, waiting[lane, call.id].popleft(), call.id, free)
                else:
                    called[lane, call.id].append(entry)
        if entry.role == "user":
            waiting.clear()
        if entry.role != "tool":
            continue
        caller = caller_of(entry, lane, called, last, free)
        if caller is None:
            waiting[lane, entry.answers_id].append(entry)
        else:
            take(caller[0], entry, caller[1], free)
    return [entry for entry in entries if not entry.is_answered]


def take(caller: Entry, result: Entry, call_id: str, free: Mapping[int, Counter[str]]) -> None:
    free[id(caller)][call_id] -= 1
    result.is_answered = True
    result.session = caller.session
    caller.results.append(result)


def caller_of(
    result: Entry,
    lane: str,
    called: Mapping[tuple[str, str], list[Entry]],
    last: Mapping[str, Entry],
    free: Mapping[int, Counter[str]],
) -> tuple[Entry, str] | None:
    """The message that a result answers and the id of the call there. Without an id on one side it is the last message
    with a call still open."""
    if result.answers_id:
        open_ = called[lane, result.answers_id]
        while open_:
            caller = open_.pop()
            if free[id(caller)][result.answers_id] > 0:
                return caller, result.answers_id
    nearest = last.get(lane)
    if nearest is None:
        return None
    left = free[id(nearest)]
    ids = [""] if result.answers_id else list(left)
    fitting = next((call_id for call_id in ids if left[call_id] > 0), None)
    return None if fitting is None else (nearest, fitting)


def unpaired_of(messages: tuple[Message, ...], entries: list[Entry]) -> Iterator[Problem]:
    """As `warned.unpaired`, for messages of many lines."""
    for message in orphan_results(messages):
        entry = entries[message.index]
        yield orphan_result(entry.place, entry.pointer, message)
    for call in unanswered_calls(messages):
        entry = entries[call.index]
        yield unanswered_call(entry.place, entry.pointer, messages[call.index].calls[call.call].name)
