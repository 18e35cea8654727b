"""Where the steps of tools belong in a conversation: they are twins of results, or tell of the only one there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from annotate.traces.base import Call, Message
from annotate.traces.otel_messages import Said
from annotate.traces.otel_steps import Entry, Step, ToolUse, is_reply
from annotate.traces.pairing import pair, unanswered_calls
from annotate.traces.snapshots import canonical


def with_tools(entries: list[Entry], ordered: Sequence[Step]) -> tuple[list[Entry], list[Step]]:
    """The results that only the steps of tools tell of, behind their calls; and the steps that are twins."""
    twins: list[Step] = []
    alone: list[Entry] = []
    messages = pair([replace(entry.message, index=index) for index, entry in enumerate(entries)])
    open_calls = [(one.index, one.call) for one in unanswered_calls(messages)]
    answered = [message for message in messages if message.role == "tool"]
    behind: dict[int, list[tuple[int, Entry]]] = {}
    for step in ordered:
        if step.tool is None:
            continue
        call = fitting(step.tool.call, open_calls, messages)
        if call is not None and step.tool.result is not None:
            open_calls.remove(call)
            behind.setdefault(call[0], []).append((call[1], result_entry(step, messages[call[0]].calls[call[1]].id)))
        elif call is not None or is_twin(step.tool, answered, messages):
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


def fitting(call: Call, open_calls: Sequence[tuple[int, int]], messages: Sequence[Message]) -> tuple[int, int] | None:
    """The open call that a step of a tool is: by its id, else the first of that name with these arguments, else of that
    name."""
    waiting = [(place, messages[place[0]].calls[place[1]]) for place in open_calls]
    by_id = [place for place, one in waiting if call.id and one.id == call.id]
    named = [(place, one) for place, one in waiting if one.name == call.name and (not call.id or not one.id)]
    wanted = canonical(call.arguments)
    same = [place for place, one in named if canonical(one.arguments) == wanted]
    inside = [place for place, one in named if canonical(one.arguments) in wanted]
    return next(iter([*by_id, *same, *inside, *(place for place, _ in named)]), None)


def is_twin(use: ToolUse, answered: Sequence[Message], messages: Sequence[Message]) -> bool:
    """Whether the result is in the conversation already."""
    for message in answered:
        call = messages[message.answers.index].calls[message.answers.call] if message.answers else None
        if use.call.id and use.call.id in (message.answers_id, call.id if call else ""):
            return True
        if use.call.name in (message.name, call.name if call else "") and not (use.call.id and message.answers_id):
            return True
    return False


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
