"""One conversation out of the steps of an observed run: requests to a model, uses of tools, and what is around them.

Who speaks to whom is settled here, the same for OpenTelemetry and Langfuse. Every request repeats the conversation so
far, so requests are merged (`snapshots.py`) in the order in which they ended; the line nearest to the root is the
requester's, every other is private. A step of a tool is the twin of a result, or its only place: then it becomes the
result of its call. The root's own input, where it is one text, is what the requester wrote: the message that a program
wrapped around it, and texts in a user's role right before it, are private. Of several texts of the agent without calls
in one turn only the last is the reply. Where no request to a model has any text, the outermost step that has counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from annotate.traces.base import Call, Message, Place, Problem
from annotate.traces.chat_messages import ROLES as KNOWN_ROLES
from annotate.traces.otel_messages import Found, Said
from annotate.traces.pairing import orphan_results, pair, unanswered_calls
from annotate.traces.snapshots import canonical, merged
from annotate.traces.warned import non_text_content, orphan_result, passed_over, unanswered_call, unknown_role

Kind = Literal["model", "tool", "agent", "around", "none"]


@dataclass(frozen=True, slots=True)
class ToolUse:
    call: Call
    result: str | None
    """None where the step does not say what came out."""


@dataclass(slots=True)
class Step:
    """A span or an observation, read."""

    id: str
    place: Place
    pointer: str = ""
    parent: str = ""
    name: str = ""
    kind: Kind = "around"
    agent: str = ""
    """Which agent works in it, where it says so."""
    start: float = 0.0
    end: float = 0.0
    asked: list[Said] = field(default_factory=list)
    answered: list[Said] = field(default_factory=list)
    tool: ToolUse | None = None
    model: str = ""
    usage: Mapping[str, float] = field(default_factory=dict)
    left_out: str = ""
    """What it is, where nothing of it belongs to the conversation."""
    found: Found = field(default_factory=Found)

    @property
    def said(self) -> list[Said]:
        """System messages come first, also those that only the answer tells of."""
        systems = [one for one in self.answered if one.message.role == "system"]
        return [*systems, *self.asked, *(one for one in self.answered if one.message.role != "system")]


@dataclass(slots=True)
class Run:
    messages: Sequence[Message] = ()
    extras: dict[str, Any] = field(default_factory=dict)
    warnings: list[Problem] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    usage: dict[str, float] = field(default_factory=dict)

    def metadata(self) -> dict[str, Any]:
        parts = {
            "model": self.models[0] if len(self.models) == 1 else self.models,
            "usage": self.usage,
            "messages": self.extras,
        }
        return {name: part for name, part in parts.items() if part}


@dataclass(frozen=True, slots=True)
class Entry:
    """A message on its way, with what stood beside it and the step that brought it."""

    said: Said
    step: Step

    @property
    def message(self) -> Message:
        return self.said.message


def run_of(steps: Sequence[Step], request: str = "", reply: str = "") -> Run:
    """`request` and `reply` are what the run as a whole was given and gave back, where that is one text."""
    ordered = sorted(steps, key=lambda step: (step.end or step.start, -step.start))
    known = {step.id: step for step in steps if step.id}
    run = Run(models=models_of(steps), usage=usage_of(steps, known))
    talking = talking_steps(ordered, known)
    ranks = [rank_of(step, known) for step in talking]
    found = merged(
        [[one.message for one in step.said] for step in talking],
        ranks=ranks,
        names=[agent_of(step, known) for step in talking],
    )
    entries = [
        Entry(Said(message, talking[snapshot].said[place].extras), talking[snapshot])
        for message, (snapshot, place) in zip(found.messages, found.sources, strict=True)
    ]
    entries = with_request(entries, request, steps)
    entries, twins = with_tools(entries, ordered)
    entries = with_reply(entries, reply, steps)
    entries = last_texts_are_replies(entries)
    run.messages = pair([replace(entry.message, index=index) for index, entry in enumerate(entries)])
    run.extras = {str(index): dict(entry.said.extras) for index, entry in enumerate(entries) if entry.said.extras}
    repeated = [step for step, n_new in zip(talking, found.n_new, strict=True) if not n_new]
    run.warnings = [*warnings_of(steps, [*repeated, *twins], talking), *unpaired_of(run.messages, entries)]
    return run


def talking_steps(ordered: Sequence[Step], known: Mapping[str, Step]) -> list[Step]:
    """The requests to models that have any text; without one, the outermost steps that have."""
    models = [step for step in ordered if step.kind == "model" and step.said]
    if any(one.message.role != "system" for step in models for one in step.said):
        return models
    around = [step for step in ordered if step.kind in ("agent", "around") and step.said]
    nearest = min((depth_of(step, known) for step in around), default=0)
    return [step for step in around if depth_of(step, known) == nearest]


def ancestors(step: Step, known: Mapping[str, Step]) -> Iterator[Step]:
    seen = {step.id}
    while step.parent in known and step.parent not in seen:
        step = known[step.parent]
        seen.add(step.id)
        yield step


def depth_of(step: Step, known: Mapping[str, Step]) -> int:
    return sum(1 for _ in ancestors(step, known))


def rank_of(step: Step, known: Mapping[str, Step]) -> int:
    """How many tools and agents are between the requester and this request."""
    return sum(one.kind in ("tool", "agent") for one in ancestors(step, known))


def agent_of(step: Step, known: Mapping[str, Step]) -> str:
    """The agent that works here: the step's own word for it, or the nearest agent around it."""
    agents = (one.agent or (one.name if one.kind == "agent" else "") for one in (step, *ancestors(step, known)))
    return next((agent for agent in agents if agent), "")


def models_of(steps: Iterable[Step]) -> list[str]:
    ordered = sorted((step for step in steps if step.model and step.kind == "model"), key=lambda step: step.start)
    return list(dict.fromkeys(step.model for step in ordered))


def usage_of(steps: Iterable[Step], known: Mapping[str, Step]) -> dict[str, float]:
    """The sum over the requests themselves; a step around others that says their sum again does not count."""
    models = [step for step in steps if step.kind == "model"]
    around = {one.id for step in models for one in ancestors(step, known)}
    total: Counter[str] = Counter()
    for step in models:
        if step.id not in around:
            total.update(step.usage)
    return dict(total)


def with_request(entries: list[Entry], request: str, steps: Sequence[Step]) -> list[Entry]:
    """The requester's own words instead of what a program made of them."""
    if not request.strip():
        return entries
    users = [place for place, entry in enumerate(entries) if entry.message.role == "user"]
    same = [place for place in users if entries[place].message.text.strip() == request.strip()]
    if same:
        place = same[0] - 1
        while place >= 0 and entries[place].message.role in ("user", "system"):
            entries = private(entries, place) if entries[place].message.role == "user" else entries
            place -= 1
        return entries
    wrapped = [place for place in users if request.strip() in entries[place].message.text]
    own = Entry(Said(Message(0, "user", request, side="user")), steps[0])
    if wrapped:
        return [*entries[: wrapped[0]], own, *private(entries, wrapped[0])[wrapped[0] :]]
    if not users and entries:
        start = next((place for place, entry in enumerate(entries) if entry.message.role != "system"), len(entries))
        return [*entries[:start], own, *entries[start:]]
    return entries


def private(entries: Sequence[Entry], place: int) -> list[Entry]:
    """The entries with this one's message kept from everybody who labels."""
    entry = entries[place]
    message = replace(entry.message, role="other", side="agent", name=entry.message.name or entry.message.role)
    return [*entries[:place], Entry(Said(message, entry.said.extras), entry.step), *entries[place + 1 :]]


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


def is_reply(message: Message) -> bool:
    return message.role == "assistant" and not message.calls and bool(message.text.strip())


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


def with_reply(entries: list[Entry], reply: str, steps: Sequence[Step]) -> list[Entry]:
    """What the run as a whole gave back, where no request to a model says it."""
    turn = [entry.message for entry in entries[last_user(entries) + 1 :]]
    if not reply.strip() or any(message.role == "assistant" and message.text.strip() for message in turn):
        return entries
    return [*entries, Entry(Said(Message(0, "assistant", reply)), steps[0])]


def last_user(entries: Sequence[Entry]) -> int:
    return max((place for place, entry in enumerate(entries) if entry.message.role == "user"), default=-1)


def last_texts_are_replies(entries: list[Entry]) -> list[Entry]:
    """In each turn the texts without calls before the last one are the agent's notes to itself."""
    latest = None
    for place in reversed(range(len(entries))):
        message = entries[place].message
        if message.role == "user":
            latest = None
        elif is_reply(message):
            if latest is not None:
                entries = private(entries, place)
            latest = place
    return entries


def warnings_of(steps: Sequence[Step], repeated: Sequence[Step], talking: Sequence[Step]) -> Iterator[Problem]:
    again = {id(step) for step in repeated}
    used = {id(step) for step in talking}
    for step in steps:
        if id(step) in again:
            yield passed_over(step.place, "repeated_record", step.pointer, f"a copy: {step.name}")
        elif step.left_out:
            yield passed_over(step.place, "bookkeeping", step.pointer, step.left_out)
        elif step.kind in ("agent", "around", "model") and id(step) not in used:
            yield passed_over(step.place, "bookkeeping", step.pointer, f"a step without words of its own: {step.name}")
        if id(step) not in used:
            continue
        for name in step.found.passed_over:
            yield passed_over(step.place, "meta_record", step.pointer, name)
        for role in step.found.unknown_roles:
            yield unknown_role(step.place, step.pointer, KNOWN_ROLES, role)
        if step.found.is_partly_unknown:
            yield non_text_content(step.place, step.pointer)


def unpaired_of(messages: Sequence[Message], entries: Sequence[Entry]) -> Iterator[Problem]:
    for message in orphan_results(messages):
        step = entries[message.index].step
        yield orphan_result(step.place, step.pointer, message)
    for call in unanswered_calls(messages):
        step = entries[call.index].step
        yield unanswered_call(step.place, step.pointer, messages[call.index].calls[call.call].name)
