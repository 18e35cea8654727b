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
    known = {step.id: step for step in steps if step.id}
    run = Run(models=models_of(steps), usage=usage_of(steps, known))
    talking = talking_steps(ordered, known)
    around = wrapping(talking, known)
    for step in around:
        request, reply = request or text_of(step.asked, "user"), reply or text_of(step.answered, "assistant")
    ranks = [rank_of(step, known) for step in talking]
    found = merged(
        [[one.message for one in step.said] for step in talking],
        ranks=ranks,
        names=[agent_of(step, known) for step in talking],
    )
    entries = [
        entry_of(message, talking[snapshot], place)
        for message, (snapshot, place) in zip(found.messages, found.sources, strict=True)
    ]
    entries = with_request(entries, request, steps)
    entries, twins = with_tools(entries, ordered)
    entries = with_reply(entries, reply, steps)
    entries = last_texts_are_replies(entries)
    run.messages = pair([replace(entry.message, index=index) for index, entry in enumerate(entries)])
    run.extras = {str(index): dict(entry.said.extras) for index, entry in enumerate(entries) if entry.said.extras}
    repeated = [step for step, n_new in zip(talking, found.n_new, strict=True) if not n_new]
    run.warnings = [*warnings_of(steps, [*repeated, *twins, *around], talking), *unpaired_of(run.messages, entries)]
    return run


def talking_steps(ordered: Sequence[Step], known: Mapping[str, Step]) -> list[Step]:
    """The requests to models that have any text; without one, the outermost steps that have."""
    models = [step for step in ordered if step.kind == "model" and step.said]
    if any(one.message.role != "system" for step in models for one in step.said):
        around = {id(step) for step in wrapping(models, known)}
        return [step for step in models if id(step) not in around]
    steps = [step for step in ordered if step.kind in ("agent", "around") and step.said]
    nearest = min((depth_of(step, known) for step in steps), default=0)
    return [step for step in steps if depth_of(step, known) == nearest]


def wrapping(models: Sequence[Step], known: Mapping[str, Step]) -> list[Step]:
    """Requests that are only the sum of others inside them, as the Vercel AI SDK writes them: no tool and no agent is
    between."""
    around = [
        one
        for step in models
        for one in ancestors(step, known)
        if one.kind == "model" and rank_of(one, known) == rank_of(step, known)
    ]
    return list({id(one): one for one in around}.values())


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
    """The sum over the requests themselves; one around others that says their sum again does not count."""
    models = [step for step in steps if step.kind == "model"]
    around = {id(step) for step in wrapping(models, known)}
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
