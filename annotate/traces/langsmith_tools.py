"""Runs of tools and retrievers in a LangSmith trace: what messages tell of already, and where the others belong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotate.traces.anthropic_blocks import Draft, result_text
from annotate.traces.base import Call, Message, Place
from annotate.traces.langsmith_runs import Run
from annotate.traces.snapshots import canonical
from annotate.traces.values import as_id, as_json, as_object

LONGEST_NAME = 255


@dataclass(slots=True)
class Line:
    """A message on its way into the result."""

    message: Message
    place: Place
    pointer: str
    extras: Mapping[str, Any] = field(default_factory=dict)
    output_of: int = -1
    """Number of the snapshot whose last message it is."""


@dataclass(slots=True)
class Results:
    """The results that messages tell of: the ids they name, and how often each tool said each text."""

    ids: set[str]
    texts: Counter[tuple[str, str]]


def results_in(messages: Iterable[Message]) -> Results:
    results = [message for message in messages if message.role == "tool"]
    return Results(
        {message.answers_id for message in results},
        Counter((message.name, message.text.strip()) for message in results),
    )


def told_by(run: Run, results: Results) -> bool:
    """Whether a message of the conversation tells what the tool gave back: by the call's id, else by what came out.
    Each message tells of one run."""
    text, id_, _ = tool_result(run)
    keys = [(name, text.strip()) for name in dict.fromkeys((run.name, ""))]
    known = next((key for key in keys if results.texts[key] > 0), None)
    if known is not None:
        results.texts[known] -= 1
    return known is not None or bool(id_ and id_ in results.ids)


def tool_result(run: Run) -> tuple[str, str, dict[str, Any]]:
    """Text, call id and everything else of what a tool gave back."""
    outputs = run.value.get("outputs")
    there = as_object(outputs)
    value = there.get("output", outputs) if there.keys() <= {"output"} else outputs
    message = as_object(value)
    inner = as_object(message.get("kwargs")) or message
    if "tool_call_id" in inner and "content" in inner:
        text, more = result_text(inner["content"], Draft(run.place), "")
        return text, as_id(inner["tool_call_id"]), more
    call = as_object(run.value.get("inputs"))
    id_ = as_id(call.get("tool_call_id") or run.metadata.get("tool_call_id"))
    error = run.value.get("error")
    if not outputs and isinstance(error, str) and error:
        return error, id_, {"error": True}
    return ("" if value is None else value if isinstance(value, str) else as_json(value)), id_, {}


def arguments_of(run: Run) -> str:
    """LangChain gives a tool its arguments as a text, or as what they are."""
    inputs = run.value.get("inputs")
    there = as_object(inputs)
    given = there.get("input", inputs) if there.keys() <= {"input"} else inputs
    return "" if given is None else given if isinstance(given, str) else as_json(given)


def put_in(run: Run, lines: list[Line], before: int) -> None:
    """A result no message tells of: behind the call it answers, or with its call before what was said after it."""
    text, id_, more = tool_result(run)
    extras = {**more, "run_id": run.id}
    waiting = call_waiting(run, id_, lines)
    if waiting is not None:
        at, call = waiting
        result = Message(0, "tool", text, answers_id=call.id[:LONGEST_NAME], name=run.name[:LONGEST_NAME])
        lines.insert(after_results(at, lines), Line(result, run.place, run.pointer, extras))
        return
    call = Call(id=id_, name=run.name, arguments=arguments_of(run))
    result = Message(0, "tool", text, answers_id=id_[:LONGEST_NAME], name=run.name[:LONGEST_NAME])
    lines[before:before] = [
        Line(Message(0, "assistant", "", calls=(call,)), run.place, run.pointer),
        Line(result, run.place, run.pointer, extras),
    ]


def call_waiting(run: Run, id_: str, lines: Sequence[Line]) -> tuple[int, Call] | None:
    """The first call without a result that has the id; of a run that names none, the arguments, or else the name."""
    waiting = [(at, call) for at in range(len(lines)) for call in calls_waiting(at, lines)]
    if id_:
        return next(((at, call) for at, call in waiting if call.id == id_), None)
    named = [(at, call) for at, call in waiting if call.name == run.name]
    arguments = canonical(arguments_of(run))
    return next((one for one in named if canonical(one[1].arguments) == arguments), next(iter(named), None))


def calls_waiting(at: int, lines: Sequence[Line]) -> list[Call]:
    calls = lines[at].message.calls
    results = [line.message.answers_id for line in lines[at + 1 : after_results(at, lines)]] if calls else []
    if len(results) >= len(calls):
        return []
    return [call for call in calls if not call.id or call.id not in results]


def after_results(at: int, lines: Sequence[Line]) -> int:
    end = at + 1
    while end < len(lines) and lines[end].message.role == "tool":
        end += 1
    return end
