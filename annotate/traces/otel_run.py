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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotate.traces.base import Message, Problem
from annotate.traces.chat_messages import ROLES as KNOWN_ROLES
from annotate.traces.otel_steps import Entry, Step, entry_of, text_of
from annotate.traces.otel_tools import with_tools
from annotate.traces.otel_turns import last_texts_are_replies, with_reply, with_request
from annotate.traces.pairing import orphan_results, pair, unanswered_calls
from annotate.traces.snapshots import merged
from annotate.traces.warned import non_text_content, orphan_result, passed_over, unanswered_call, unknown_role


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


def run_of(steps: Sequence[Step], request: str = "", reply: str = "") -> Run:
    """`request` and `reply` are what the run as a whole was given and gave back, where that is one text."""
    ordered = sorted(steps, key=lambda step: (step.end or step.start, -step.start))
    tree = Tree(steps)
    run = Run(models=models_of(steps), usage=usage_of(steps, tree))
    talking = talking_steps(ordered, tree)
    around = tree.wrapping(talking)
    for step in around:
        request, reply = request or text_of(step.asked, "user"), reply or text_of(step.answered, "assistant")
    ranks = [tree.spot(step).rank for step in talking]
    found = merged(
        [[one.message for one in step.said] for step in talking],
        ranks=ranks,
        names=[tree.spot(step).agent for step in talking],
    )
    entries = [
        entry_of(message, talking[snapshot], place)
        for message, (snapshot, place) in zip(found.messages, found.sources, strict=True)
    ]
    entries = with_request(entries, request, steps)
    entries, twins = with_tools(entries, ordered)
    entries = with_reply(entries, reply, steps)
    entries = last_texts_are_replies(entries)
    run.messages = pair([message_of(entry, index) for index, entry in enumerate(entries)])
    run.extras = {str(index): dict(entry.said.extras) for index, entry in enumerate(entries) if entry.said.extras}
    repeated = [step for step, n_new in zip(talking, found.n_new, strict=True) if not n_new]
    run.warnings = [*warnings_of(steps, [*repeated, *twins, *around], talking), *unpaired_of(run.messages, entries)]
    return run


def message_of(entry: Entry, index: int) -> Message:
    """What the requester says is their doing, also where a text that names nobody told of it."""
    message = entry.message
    return replace(message, index=index, side="user" if message.role == "user" else message.side)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a step is in the run: how many steps are around it, how many tools and agents between the requester and
    it, and which agent works there (the step's own word for it, or the nearest agent around it)."""

    depth: int
    rank: int
    agent: str


class Tree:
    """Which steps are inside which, each looked at once, however deep they are. Of steps that are around each other one
    counts as the outermost."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self.known = {step.id: step for step in steps if step.id}
        self.spots: dict[str, Spot] = {}
        self.outermost: set[str] = set()
        """The ids of those that would be inside themselves."""
        walked: dict[str, int] = {}
        for number, step in enumerate(self.known.values()):
            inner: Step | None = step
            while inner and inner.id not in walked:
                walked[inner.id] = number
                outer = self.parent(inner)
                if outer and walked.get(outer.id) == number:
                    self.outermost.add(inner.id)
                inner = outer

    def parent(self, step: Step) -> Step | None:
        return None if step.id in self.outermost else self.known.get(step.parent)

    def spot(self, step: Step) -> Spot:
        way = [step]
        while (outer := self.parent(way[-1])) and outer.id not in self.spots:
            way.append(outer)
        found = self.spots[outer.id] if outer else None
        for one in reversed(way):
            if outer is None or found is None:
                found = Spot(0, 0, agent_in(one))
            else:
                is_between = outer.kind in ("tool", "agent")
                found = Spot(found.depth + 1, found.rank + is_between, agent_in(one) or found.agent)
            if one.id:
                self.spots[one.id] = found
            outer = one
        return self.spots[step.id] if step.id else found or Spot(0, 0, agent_in(step))

    def wrapping(self, models: Iterable[Step]) -> list[Step]:
        """Requests that are only the sum of others inside them, as the Vercel AI SDK writes them: no tool and no agent
        is between."""
        around: dict[str, Step] = {}
        passed: set[str] = set()
        for step in models:
            inner = step
            while (outer := self.parent(inner)) and outer.id not in passed and outer.kind not in ("tool", "agent"):
                passed.add(outer.id)
                if outer.kind == "model":
                    around[outer.id] = outer
                inner = outer
        return list(around.values())


def agent_in(step: Step) -> str:
    return step.agent or (step.name if step.kind == "agent" else "")


def talking_steps(ordered: Sequence[Step], tree: Tree) -> list[Step]:
    """The requests to models that have any text; without one, the outermost steps that have."""
    models = [step for step in ordered if step.kind == "model" and step.said]
    if any(one.message.role != "system" for step in models for one in step.said):
        around = {id(step) for step in tree.wrapping(models)}
        return [step for step in models if id(step) not in around]
    steps = [step for step in ordered if step.kind in ("agent", "around") and step.said]
    nearest = min((tree.spot(step).depth for step in steps), default=0)
    return [step for step in steps if tree.spot(step).depth == nearest]


def models_of(steps: Iterable[Step]) -> list[str]:
    ordered = sorted((step for step in steps if step.model and step.kind == "model"), key=lambda step: step.start)
    return list(dict.fromkeys(step.model for step in ordered))


def usage_of(steps: Iterable[Step], tree: Tree) -> dict[str, float]:
    """The sum over the requests themselves; one around others that says their sum again does not count."""
    models = [step for step in steps if step.kind == "model"]
    around = {id(step) for step in tree.wrapping(models)}
    total: Counter[str] = Counter()
    for step in models:
        if id(step) not in around:
            total.update(step.usage)
    return dict(total)


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
