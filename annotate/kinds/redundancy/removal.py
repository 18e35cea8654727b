"""A trace without some of its steps, for what is made from trajectories in which nothing was superfluous."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from annotate.kinds.redundancy.steps import Pair
from annotate.traces.base import Answered, Message, Trace


def without_steps(trace: Trace, steps: Iterable[Pair]) -> Trace:
    """Without both messages of each step. A message with other calls or with a text of its own loses the call alone;
    every result of a call that goes is gone with it. What stays keeps its original index and its words. ValueError
    names a pair that is no step of the trace."""
    gone = {call for step in steps for call in calls_of(trace, step)}
    return replace(trace, messages=tuple(kept(trace.messages, gone))) if gone else trace


def calls_of(trace: Trace, step: Pair) -> set[Answered]:
    """The call of a step, whichever of its two messages calls."""
    first, second = step
    pairs = {(first, second), (second, first)}
    answered = ((message.index, message.answers) for message in trace.messages if message.answers is not None)
    found = {call for index, call in answered if (call.index, index) in pairs} & calls_in(trace.messages)
    if not found:
        raise ValueError(f"{[first, second]} is no step of the trace.")
    return found


def calls_in(messages: Iterable[Message]) -> set[Answered]:
    return {Answered(message.index, place) for message in messages for place in range(len(message.calls))}


def kept(messages: Iterable[Message], gone: set[Answered]) -> Iterator[Message]:
    """What is left of the messages without these calls; the calls that stay are counted anew."""
    callers = {call.index for call in gone}
    for message in messages:
        if message.answers in gone:
            continue
        if message.index in callers:
            message = without_calls(message, gone)
            if not message.calls and not message.text.strip():
                continue
        if message.answers is not None and message.answers.index in callers:
            message = replace(message, answers=counted_anew(message.answers, gone))
        yield message


def without_calls(message: Message, gone: set[Answered]) -> Message:
    left = (call for place, call in enumerate(message.calls) if Answered(message.index, place) not in gone)
    return replace(message, calls=tuple(left))


def counted_anew(call: Answered, gone: set[Answered]) -> Answered:
    before = sum(Answered(call.index, place) in gone for place in range(call.call))
    return replace(call, call=call.call - before)
