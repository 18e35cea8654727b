"""Where the steps of tools belong in a conversation: they are twins of results, or tell of the only one there is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from annotate.traces.base import Call, Message
from annotate.traces.otel_messages import Said
from annotate.traces.otel_steps import Entry, Step, is_reply
from annotate.traces.pairing import pair, unanswered_calls
from annotate.traces.snapshots import canonical

LOOKED_AT = 100
"""Of so many open calls of one name the arguments are looked for in those of the tool's step."""


def with_tools(entries: list[Entry], ordered: Sequence[Step]) -> tuple[list[Entry], list[Step]]:
    """The results that only the steps of tools tell of, behind their calls; and the steps that are twins."""
    twins: list[Step] = []
    alone: list[Entry] = []
    messages = pair([replace(entry.message, index=index) for index, entry in enumerate(entries)])
    open_calls, answered = OpenCalls(messages), Answered(messages)
    behind: dict[int, list[tuple[int, Entry]]] = {}
    for step in ordered:
        if step.tool is None:
            continue
        call = open_calls.fitting(step.tool.call)
        if call is not None and step.tool.result is not None:
            open_calls.answer(call)
            behind.setdefault(call[0], []).append((call[1], result_entry(step, messages[call[0]].calls[call[1]].id)))
        elif call is not None or answered.has(step.tool.call):
            twins.append(step)
        else:
            alone += lonely(step)
    result: list[Entry] = []
    waiting: list[tuple[int, Entry]] = []
    for index, entry in enumerate(entries):
        if entry.message.role != "tool":
            result += [one for _, one in sorted(waiting, key=lambda one: one[0])]
            waiting = behind.get(index, [])
        result.append(entry)
    result += [one for _, one in sorted(waiting, key=lambda one: one[0])]
    texts = [place for place, entry in enumerate(result) if is_reply(entry.message)]
    end = texts[-1] if texts else len(result)
    return [*result[:end], *alone, *result[end:]], twins


class OpenCalls:
    """The calls of a conversation that have no result, found by id and name however many there are."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        self.places = {(one.index, one.call): None for one in unanswered_calls(messages)}
        self.groups: dict[tuple[str, ...], dict[tuple[int, int], None]] = defaultdict(dict)
        for place in self.places:
            for group in self.groups_of(place):
                self.groups[group][place] = None

    def call(self, place: tuple[int, int]) -> Call:
        return self.messages[place[0]].calls[place[1]]

    def groups_of(self, place: tuple[int, int]) -> list[tuple[str, ...]]:
        call = self.call(place)
        arguments = canonical(call.arguments)
        named = [("named", call.name), ("same", call.name, arguments)]
        bare = [("bare", call.name), ("bare same", call.name, arguments)]
        return [("id", call.id), *named] if call.id else [*named, *bare]

    def fitting(self, call: Call) -> tuple[int, int] | None:
        """The open call that a step of a tool is: by its id, else the first of that name with these arguments, or with
        arguments that stand in them, else of that name."""
        wanted = canonical(call.arguments)
        kind = "bare" if call.id else "named"
        same = "bare same" if call.id else "same"
        by_id = self.first(("id", call.id)) if call.id else None
        return by_id or self.first((same, call.name, wanted)) or self.inside((kind, call.name), wanted)

    def first(self, group: tuple[str, ...]) -> tuple[int, int] | None:
        return next(iter(self.groups.get(group, ())), None)

    def inside(self, group: tuple[str, ...], wanted: str) -> tuple[int, int] | None:
        near = islice(self.groups.get(group, ()), LOOKED_AT)
        fit = (place for place in near if canonical(self.call(place).arguments) in wanted)
        return next(fit, self.first(group))

    def answer(self, place: tuple[int, int]) -> None:
        for group in self.groups_of(place):
            self.groups[group].pop(place, None)


class Answered:
    """The results that are in a conversation already, by the ids and names that they and their calls have."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.ids: set[str] = set()
        self.names: set[str] = set()
        self.names_without_id: set[str] = set()
        for message in messages:
            if message.role != "tool":
                continue
            call = messages[message.answers.index].calls[message.answers.call] if message.answers else None
            names = {message.name, call.name if call else ""}
            self.ids |= {message.answers_id, call.id if call else ""}
            self.names |= names
            self.names_without_id |= set() if message.answers_id else names

    def has(self, call: Call) -> bool:
        if call.id:
            return call.id in self.ids or call.name in self.names_without_id
        return call.name in self.names


def result_entry(step: Step, id_: str) -> Entry:
    use = step.tool
    text = use.result if use and use.result is not None else ""
    return Entry(Said(Message(0, "tool", text, answers_id=id_, name=use.call.name[:255] if use else "")), step)


def lonely(step: Step) -> Iterator[Entry]:
    """A tool that no model called in the record: a private call, and its result."""
    if step.tool is None:
        return
    yield Entry(Said(Message(0, "other", "", calls=(step.tool.call,), name=step.name[:255])), step)
    if step.tool.result is not None:
        yield result_entry(step, step.tool.call.id)
