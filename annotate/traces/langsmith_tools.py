"""Runs of tools and retrievers in a LangSmith trace: what messages tell of already, and where the others belong."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
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


class Waiting:
    """The calls of a conversation that have no result yet, each found by its id, its name or its arguments."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        self.found: dict[tuple[str, ...], deque[tuple[int, Call]]] = defaultdict(deque)
        self.result_ids: dict[int, Counter[str]] = {}
        self.ends: dict[int, int] = {}
        """Of a line with calls the place behind its results."""
        self.n_results: Counter[int] = Counter()
        for at, line in enumerate(lines):
            if not line.message.calls:
                continue
            self.ends[at] = after_results(at, lines)
            self.result_ids[at] = Counter(result.message.answers_id for result in lines[at + 1 : self.ends[at]])
            self.n_results[at] = self.ends[at] - at - 1
            for call in line.message.calls:
                self.found["id", call.id].append((at, call))
                self.found["name", call.name].append((at, call))
                self.found["arguments", call.name, canonical(call.arguments)].append((at, call))

    def first(self, *group: str) -> tuple[int, Call] | None:
        calls = self.found.get(group, deque())
        while calls and not self.is_waiting(*calls[0]):
            calls.popleft()
        return calls[0] if calls else None

    def is_waiting(self, at: int, call: Call) -> bool:
        results = self.result_ids[at]
        return self.n_results[at] < len(self.lines[at].message.calls) and not (call.id and call.id in results)

    def of(self, run: Run, id_: str) -> tuple[int, Call] | None:
        """The first call without a result that has the id; of a run that names none, the arguments, or else the
        name."""
        if id_:
            return self.first("id", id_)
        return self.first("arguments", run.name, canonical(arguments_of(run))) or self.first("name", run.name)


class Inserted:
    """Results that no message tells of: behind the call they answer, or with their call before what was said after
    them. What is put in does not move the lines, so that places stay what they are."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines, self.waiting = lines, Waiting(lines)
        self.behind: dict[int, list[Line]] = defaultdict(list)
        self.before: dict[int, list[Line]] = defaultdict(list)

    def put_in(self, run: Run, before: int) -> None:
        text, id_, more = tool_result(run)
        extras = {**more, "run_id": run.id}
        name = run.name[:LONGEST_NAME]
        waiting = self.waiting.of(run, id_)
        if waiting is not None:
            at, call = waiting
            result = Message(0, "tool", text, answers_id=call.id[:LONGEST_NAME], name=name)
            self.behind[self.waiting.ends[at]].append(Line(result, run.place, run.pointer, extras))
            self.waiting.result_ids[at][result.answers_id] += 1
            self.waiting.n_results[at] += 1
            return
        called = Call(id=id_, name=run.name, arguments=arguments_of(run))
        result = Message(0, "tool", text, answers_id=id_[:LONGEST_NAME], name=name)
        self.before[before] += [
            Line(Message(0, "assistant", "", calls=(called,)), run.place, run.pointer),
            Line(result, run.place, run.pointer, extras),
        ]

    def all(self) -> list[Line]:
        told = ([*self.behind[at], *self.before[at], *self.lines[at : at + 1]] for at in range(len(self.lines) + 1))
        return [line for part in told for line in part]


def after_results(at: int, lines: Sequence[Line]) -> int:
    end = at + 1
    while end < len(lines) and lines[end].message.role == "tool":
        end += 1
    return end
