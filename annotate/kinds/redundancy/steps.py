"""The messages of a trace with their calls and results tied, and the steps that they make: one for each call that has a
result, wherever that stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotate.kinds.base import CallBlock, EntryBlock
from annotate.traces.base import Answered, Message, Side

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Step:
    """One tool interaction: what was called, and what came back. Calls of one message share its index."""

    call: int
    result: int
    side: Side
    tool: str
    arguments: str
    text: str

    @property
    def pair(self) -> Pair:
        return min(self.call, self.result), max(self.call, self.result)


def entries_of(messages: Sequence[Message]) -> tuple[EntryBlock, ...]:
    """Every message at its original index. Calls are numbered through the trace, whatever the source called them."""
    numbers: dict[Answered, int] = {}
    names: dict[Answered, str] = {}
    for message in messages:
        for place, call in enumerate(message.calls):
            at = Answered(message.index, place)
            numbers[at], names[at] = len(numbers) + 1, call.name
    results: dict[Answered, int] = {}
    for message in messages:
        if message.answers in numbers:
            results.setdefault(message.answers, message.index)
    return tuple(entry_of(message, numbers, names, results) for message in messages)


def entry_of(
    message: Message, numbers: dict[Answered, int], names: dict[Answered, str], results: dict[Answered, int]
) -> EntryBlock:
    calls = [(Answered(message.index, place), call) for place, call in enumerate(message.calls)]
    answers = message.answers if message.answers in numbers else None
    return EntryBlock(
        index=message.index,
        role=message.role,
        side="user" if message.role == "user" else message.side,
        text=message.text,
        calls=tuple(CallBlock(numbers[at], call.name, call.arguments, results.get(at)) for at, call in calls),
        answers=numbers[answers] if answers else None,
        called_at=answers.index if answers else None,
        tool=names[answers] if answers else "",
    )


def steps_of(entries: Iterable[EntryBlock]) -> tuple[Step, ...]:
    """In the order of their calls; a call without a result is no step."""
    shown = tuple(entries)
    called = {call.number: (entry, call) for entry in shown for call in entry.calls}
    found = []
    for entry in shown:
        if entry.answers is not None:
            caller, call = called[entry.answers]
            found.append((call.number, entry, caller, call))
    found.sort(key=lambda one: (one[0], one[1].index))
    return tuple(
        Step(caller.index, result.index, caller.side, call.name, call.arguments, result.text)
        for _, result, caller, call in found
    )
