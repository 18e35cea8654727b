"""Which result answers which call.

A group is the calls of one message and the tool messages after it, up to the next message that is no result. Ids hold
inside their group only: real logs use one id again later in the same run.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from annotate.traces.base import Answered, Message


def pair(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with `answers` filled in, and the side of a result taken from the message that called."""
    paired = list(messages)
    for caller, results in groups(messages):
        calling = messages[caller]
        for place, call in match(
            [call.id for call in calling.calls], [messages[place].answers_id for place in results]
        ).items():
            answered = Answered(index=calling.index, call=call)
            paired[results[place]] = replace(messages[results[place]], answers=answered, side=calling.side)
    return tuple(paired)


def groups(messages: Sequence[Message]) -> Iterator[tuple[int, list[int]]]:
    """Places of a message with calls, and of the results that follow it."""
    for caller, message in enumerate(messages):
        if not message.calls:
            continue
        end = caller + 1
        while end < len(messages) and messages[end].role == "tool":
            end += 1
        yield caller, list(range(caller + 1, end))


def match(calls: Sequence[str], results: Sequence[str]) -> dict[int, int]:
    """Place of a result -> place of its call: by id where it is unique on both sides, else the next free call in order
    that the result does not contradict by another id."""
    by_id = {id_: place for place, id_ in unique(calls)}
    found = {place: by_id[id_] for place, id_ in unique(results) if id_ in by_id}
    taken = set(found.values())
    free = {place: None for place in range(len(calls)) if place not in taken}
    of_id: dict[str, deque[int]] = defaultdict(deque)
    for place in free:
        of_id[calls[place]].append(place)
    for place, id_ in enumerate(results):
        if place in found:
            continue
        fitting = next_free(free, of_id, id_)
        if fitting is not None:
            found[place] = fitting
            del free[fitting]
    return found


def next_free(free: Mapping[int, None], of_id: Mapping[str, deque[int]], id_: str) -> int | None:
    """The first free call in order, and where a result names an id, the first of that id or of none."""
    if not id_:
        return next(iter(free), None)
    places = []
    for waiting in (of_id.get(id_, deque()), of_id.get("", deque())):
        while waiting and waiting[0] not in free:
            waiting.popleft()
        if waiting:
            places.append(waiting[0])
    return min(places, default=None)


def unique(ids: Sequence[str]) -> Iterator[tuple[int, str]]:
    counts = Counter(ids)
    return ((place, id_) for place, id_ in enumerate(ids) if id_ and counts[id_] == 1)


def unanswered_calls(messages: Iterable[Message]) -> list[Answered]:
    """Every call without a result, in order."""
    answered = set()
    called = []
    for message in messages:
        called += [Answered(message.index, place) for place in range(len(message.calls))]
        if message.answers is not None:
            answered.add(message.answers)
    return [call for call in called if call not in answered]


def orphan_results(messages: Iterable[Message]) -> list[Message]:
    """Every result that answers no call."""
    return [message for message in messages if message.role == "tool" and message.answers is None]
