"""The runs of one LangSmith trace, put together to one conversation.

What each model run was given and gave back is a snapshot of a conversation; so is what the outermost run was given and
gave back, where that is a text or messages. Snapshots that repeat each other become one line (`snapshots`). The line of
the outermost run is the requester's; model runs inside of tools are further away from the requester than others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotate.traces.anthropic_blocks import Draft, without_partner
from annotate.traces.base import Message, Problem
from annotate.traces.langsmith_messages import Found, answered, asked, draft_of
from annotate.traces.langsmith_runs import TOOLS, Run, agent_of, beside, n_tools_around, root_of
from annotate.traces.langsmith_tools import Inserted, Line, results_in, told_by
from annotate.traces.pairing import pair
from annotate.traces.snapshots import key_of, merged
from annotate.traces.warned import passed_over


@dataclass(slots=True)
class Snapshot:
    run: Run
    draft: Draft
    rank: int
    n_given: int
    """How many of its messages the run was given."""


@dataclass(slots=True)
class Told:
    """The messages of a trace, with what is private beside them and what was noticed."""

    messages: tuple[Message, ...] = ()
    extras: dict[str, dict[str, Any]] = field(default_factory=dict)
    warnings: list[Problem] = field(default_factory=list)


def told(runs: Sequence[Run]) -> Told:
    by_id = {run.id: run for run in runs}
    root = root_of(runs, by_id)
    snapshots = list(snapshots_of(runs, root, by_id))
    found = Told()
    for snapshot in snapshots:
        found.warnings += snapshot.draft.warnings
    lines = together(snapshots, by_id, found)
    results = results_in(line.message for line in lines)
    inserted, place = Inserted(lines), 0
    for run in sorted((run for run in runs if run.kind in TOOLS and run is not root), key=lambda run: run.ended):
        if told_by(run, results):
            found.warnings.append(passed_over(run.place, "repeated_record", run.pointer, f"{run.kind} {run.name}"))
        else:
            place = place_after(run, lines, snapshots, place)
            inserted.put_in(run, place)
    read = {id(snapshot.run) for snapshot in snapshots}
    for run in runs:
        if run.kind not in TOOLS and id(run) not in read:
            found.warnings.append(passed_over(run.place, "bookkeeping", run.pointer, f"{run.kind} {run.name}"))
        if run.value.get("events"):
            found.warnings.append(passed_over(run.place, "bookkeeping", run.at("events"), "events"))
    finish(inserted.all(), found)
    return found


def snapshots_of(runs: Sequence[Run], root: Run | None, by_id: Mapping[str, Run]) -> Iterator[Snapshot]:
    outermost = root if root is not None and root.kind != "llm" else None
    found = [one for run in runs if run.kind == "llm" and (one := snapshot_of(run, 0)).draft.messages]
    whole = snapshot_of(outermost, 0) if outermost is not None else None
    has_whole = whole is not None and (not found or is_exchange(whole.draft.messages))
    n_tools: dict[str, int] = {}
    for one in found:
        one.rank = n_tools_around(one.run, by_id, n_tools) + has_whole
    if has_whole and whole is not None and whole.draft.messages:
        found.append(whole)
    yield from sorted(found, key=lambda one: (one.run is root, one.run.ended))


def is_exchange(messages: Sequence[Message]) -> bool:
    """A question with its answer; one of them alone says less than the model runs do."""
    said = {message.role for message in messages if message.text.strip()}
    return {"user", "assistant"} <= said


def snapshot_of(run: Run, rank: int) -> Snapshot:
    given = asked(run.value.get("inputs"), run.at("inputs"))
    got = answered(run.value.get("outputs"), run.at("outputs"))
    n_given, draft = repeated(given, got, run)
    if got and draft.messages and run.kind == "llm":
        last = str(len(draft.messages) - 1)
        draft.extras.setdefault(last, {}).update(beside(run))
    return Snapshot(run, draft, rank, n_given)


def repeated(given: Sequence[Found], got: Sequence[Found], run: Run) -> tuple[int, Draft]:
    """What was given and what came back, once: graphs give back the whole conversation, with what was given in it."""
    asked_, answer, whole = Draft(run.place), Draft(run.place), Draft(run.place)
    draft_of(given, asked_)
    draft_of(got, answer)
    keys = [key_of(message) for message in asked_.messages]
    known = [key_of(message) for message in answer.messages]
    n = len(keys)
    for at in range(len(known) - n + 1) if n else ():
        if known[at : at + n] == keys:
            return at + n, answer
    draft_of(given, whole)
    draft_of(got, whole)
    return n, whole


def together(snapshots: Sequence[Snapshot], by_id: Mapping[str, Run], found: Told) -> list[Line]:
    """One conversation. The outermost run ends last, but what it was asked came first."""
    whole = merged(
        [snapshot.draft.messages for snapshot in snapshots],
        ranks=[snapshot.rank for snapshot in snapshots],
        names=[agent_of(snapshot.run, by_id) for snapshot in snapshots],
    )
    lines: list[Line] = []
    for message, (number, at) in zip(whole.messages, whole.sources, strict=True):
        draft, run = snapshots[number].draft, snapshots[number].run
        is_last = at == len(draft.messages) - 1
        extras = draft.extras.get(str(at), {})
        lines.append(Line(message, run.place, draft.pointers[at], extras, number if is_last else -1))
    for number, n_new in enumerate(whole.n_new):
        run = snapshots[number].run
        if not n_new:
            found.warnings.append(passed_over(run.place, "repeated_record", run.pointer, f"{run.kind} {run.name}"))
    asked_at = [
        place
        for place, (number, at) in enumerate(whole.sources)
        if snapshots[number].run.kind != "llm" and at < snapshots[number].n_given
    ]
    if snapshots and len(asked_at) < snapshots[-1].n_given:
        return lines
    first = set(asked_at)
    return [lines[at] for at in asked_at] + [line for at, line in enumerate(lines) if at not in first]


def place_after(run: Run, lines: Sequence[Line], snapshots: Sequence[Snapshot], start: int) -> int:
    """Before the first answer of a model that was given after the run. Those before `start` were given earlier."""
    for at in range(start, len(lines)):
        number = lines[at].output_of
        if number >= 0 and snapshots[number].run.ended >= run.ended:
            return at
    return len(lines)


def finish(lines: Sequence[Line], found: Told) -> None:
    """Indexes, partners, and what has none."""
    kept = [replace(line.message, index=index) for index, line in enumerate(lines)]
    messages = pair([replace(one, side="agent") if one.role == "other" else one for one in kept])
    found.messages = messages
    found.extras = {str(index): dict(line.extras) for index, line in enumerate(lines) if line.extras}
    found.warnings += without_partner(messages, [line.place for line in lines], [line.pointer for line in lines])
