"""The runs of one LangSmith trace, put together to one conversation.

What each model run was given and gave back is a snapshot of a conversation; so is what the outermost run was given and
gave back, where that is a text or messages. Snapshots that repeat each other become one line (`snapshots`). The line of
the outermost run is the requester's; model runs inside of tools are further away from the requester than others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from annotate.traces.anthropic_blocks import Draft, result_text, without_partner
from annotate.traces.base import Call, Message, Place, Problem
from annotate.traces.langsmith_messages import Found, answered, asked, draft_of
from annotate.traces.pairing import pair
from annotate.traces.snapshots import canonical, key_of, merged
from annotate.traces.values import as_id, as_json, as_list, as_object
from annotate.traces.warned import passed_over

TOOLS = frozenset({"tool", "retriever"})
READ = frozenset({"inputs", "outputs", "events", "child_runs"})
USAGE = ("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "total_tokens")
LONGEST_NAME = 255


@dataclass(slots=True, eq=False)
class Run:
    """One run as its records say it, the later ones over the earlier ones."""

    id: str
    value: Mapping[str, Any]
    place: Place
    pointer: str
    number: int
    pointers: dict[str, str] = field(default_factory=dict)
    """Where members stand that a later record said."""

    def at(self, name: str) -> str:
        return f"{self.pointers.get(name, self.pointer)}/{name}"

    @property
    def kind(self) -> str:
        return as_id(self.value.get("run_type"))

    @property
    def name(self) -> str:
        return as_id(self.value.get("name"))

    @property
    def parent(self) -> str:
        return parent_of(self.value)

    @property
    def metadata(self) -> Mapping[str, Any]:
        return as_object(as_object(self.value.get("extra")).get("metadata"))

    @property
    def begun(self) -> tuple[float, str, int]:
        return moment(self.value.get("start_time")), as_id(self.value.get("dotted_order")), self.number

    @property
    def ended(self) -> tuple[float, str, int]:
        at = self.value.get("end_time")
        return moment(at if at is not None else self.value.get("start_time")), self.begun[1], self.number


def parent_of(value: Mapping[str, Any]) -> str:
    given = as_id(value.get("parent_run_id"))
    way = as_id(value.get("dotted_order")).split(".")
    return given or (id_in(way[-2]) if len(way) > 1 else "")


def id_in(step: str) -> str:
    """The id in a step of a dotted order, behind its time."""
    return step.partition("Z")[2]


def moment(value: Any) -> float:
    """Seconds, however a time is written; 0 where it is none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value / 1000 if abs(value) > 1e11 else float(value)
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() if found else 0.0
    except (ValueError, OverflowError):
        return 0.0


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


@dataclass(slots=True)
class Line:
    """A message on its way into the result."""

    message: Message
    place: Place
    pointer: str
    extras: Mapping[str, Any] = field(default_factory=dict)
    output_of: int = -1
    """Number of the snapshot whose last message it is."""


def told(runs: Sequence[Run]) -> Told:
    by_id = {run.id: run for run in runs}
    root = root_of(runs, by_id)
    snapshots = list(snapshots_of(runs, root, by_id))
    found = Told()
    for snapshot in snapshots:
        found.warnings += snapshot.draft.warnings
    lines = together(snapshots, by_id, found)
    ids, texts = results_told(snapshots)
    for run in sorted((run for run in runs if run.kind in TOOLS and run is not root), key=lambda run: run.ended):
        if is_twin(run, ids, texts):
            found.warnings.append(passed_over(run.place, "repeated_record", run.pointer, f"{run.kind} {run.name}"))
        else:
            put_in(run, lines, snapshots, found)
    read = {id(snapshot.run) for snapshot in snapshots}
    for run in runs:
        if run.kind not in TOOLS and id(run) not in read:
            found.warnings.append(passed_over(run.place, "bookkeeping", run.pointer, f"{run.kind} {run.name}"))
        if run.value.get("events"):
            found.warnings.append(passed_over(run.place, "bookkeeping", run.at("events"), "events"))
    finish(lines, found)
    return found


def root_of(runs: Sequence[Run], by_id: Mapping[str, Run]) -> Run | None:
    """The one run without a parent here; where there are several, an export was cut and none is outermost."""
    outer = [run for run in runs if run.parent not in by_id or run.parent == run.id]
    return outer[0] if len(outer) == 1 else None


def snapshots_of(runs: Sequence[Run], root: Run | None, by_id: Mapping[str, Run]) -> Iterator[Snapshot]:
    outermost = root if root is not None and root.kind != "llm" else None
    found = [one for run in runs if run.kind == "llm" and (one := snapshot_of(run, 0)).draft.messages]
    whole = snapshot_of(outermost, 0) if outermost is not None else None
    has_whole = whole is not None and (not found or is_exchange(whole.draft.messages))
    for one in found:
        one.rank = n_tools_around(one.run, by_id) + has_whole
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


def beside(run: Run) -> dict[str, Any]:
    """What a model run says of its answer."""
    outputs = as_object(run.value.get("outputs"))
    choice = as_object(next(iter(as_list(outputs.get("choices"))), None))
    members = {
        "run_id": run.id,
        "model": model_of(run),
        "usage": dict(usage_of(run)),
        "finish_reason": choice.get("finish_reason") or outputs.get("stop_reason"),
        "other_choices": as_list(outputs.get("choices"))[1:] or more_generations(outputs),
    }
    return {name: member for name, member in members.items() if member}


def more_generations(outputs: Mapping[str, Any]) -> list[Any]:
    """Samples beside the first."""
    values = as_list(outputs.get("generations"))
    first = as_list(values[0]) if values and isinstance(values[0], list) else values
    return [*first[1:], *(values[1:] if first is not values else [])]


def model_of(run: Run) -> str:
    extra = as_object(run.value.get("extra"))
    given = [
        as_object(run.value.get("outputs")).get("model"),
        run.metadata.get("ls_model_name"),
        as_object(run.value.get("inputs")).get("model"),
        as_object(extra.get("invocation_params")).get("model"),
    ]
    return next((name for name in given if isinstance(name, str) and name), "")


def usage_of(run: Run) -> Iterator[tuple[str, int | float]]:
    """The first place that counts tokens: LangSmith's own, the vendor's, LangChain's."""
    outputs = as_object(run.value.get("outputs"))
    first = answered(outputs, "")[:1]
    message = as_object(first[0][1]) if first else {}
    counted = [
        outputs.get("usage_metadata"),
        outputs.get("usage"),
        as_object(outputs.get("llm_output")).get("token_usage"),
        message.get("usage_metadata"),
        as_object(message.get("kwargs")).get("usage_metadata"),
        run.value,
    ]
    for place in counted:
        numbers = [
            (name, number)
            for name in USAGE
            if isinstance(number := as_object(place).get(name), int | float) and not isinstance(number, bool)
        ]
        if numbers:
            yield from numbers
            return


def n_tools_around(run: Run, by_id: Mapping[str, Run]) -> int:
    n_tools, seen = 0, {run.id}
    while (parent := by_id.get(run.parent)) is not None and parent.id not in seen:
        seen.add(parent.id)
        n_tools += parent.kind in TOOLS
        run = parent
    return n_tools


def agent_of(run: Run, by_id: Mapping[str, Run]) -> str:
    """Who speaks in a run: the node of a graph, else what called the model."""
    node = run.metadata.get("langgraph_node")
    parent = by_id.get(run.parent)
    return node if isinstance(node, str) and node else (parent.name if parent is not None else "") or run.name


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
    return [lines[at] for at in asked_at] + [line for at, line in enumerate(lines) if at not in set(asked_at)]


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


def results_told(snapshots: Sequence[Snapshot]) -> tuple[set[str], set[tuple[str, str]]]:
    """The call ids of all results in messages, and what they say, with the name of the tool."""
    results = [one for snapshot in snapshots for one in snapshot.draft.messages if one.role == "tool"]
    return {one.answers_id for one in results}, {(one.name, one.text.strip()) for one in results}


def is_twin(run: Run, ids: Set[str], texts: Set[tuple[str, str]]) -> bool:
    """Whether a message of the conversation tells the same: by the call's id, else by what came out."""
    text, id_, _ = tool_result(run)
    return bool(id_ and id_ in ids) or any((name, text.strip()) in texts for name in ("", run.name))


def arguments_of(run: Run) -> str:
    """LangChain gives a tool its arguments as a text, or as what they are."""
    inputs = run.value.get("inputs")
    there = as_object(inputs)
    given = there.get("input", inputs) if there.keys() <= {"input"} else inputs
    return "" if given is None else given if isinstance(given, str) else as_json(given)


def put_in(run: Run, lines: list[Line], snapshots: Sequence[Snapshot], found: Told) -> None:
    """A result no message tells of: behind the call it answers, or with its call before what was said after it."""
    text, id_, more = tool_result(run)
    extras = {**more, "run_id": run.id}
    at = call_waiting(run, id_, lines)
    if at is not None:
        caller = lines[at].message
        answers = next((call.id for call in caller.calls if call.id == id_), "") or called_by(run, caller)
        result = Message(0, "tool", text, answers_id=answers[:LONGEST_NAME], name=run.name[:LONGEST_NAME])
        lines.insert(after_results(at, lines), Line(result, run.place, run.pointer, extras))
        return
    call = Call(id=id_, name=run.name, arguments=arguments_of(run))
    result = Message(0, "tool", text, answers_id=id_[:LONGEST_NAME], name=run.name[:LONGEST_NAME])
    outputs = ((at, snapshots[line.output_of].run) for at, line in enumerate(lines) if line.output_of >= 0)
    before = next((at for at, model in outputs if model.ended >= run.ended), len(lines))
    lines[before:before] = [
        Line(Message(0, "assistant", "", calls=(call,)), run.place, run.pointer),
        Line(result, run.place, run.pointer, extras),
    ]


def called_by(run: Run, caller: Message) -> str:
    return next((call.id for call in caller.calls if is_call_of(run, call)), "")


def is_call_of(run: Run, call: Call) -> bool:
    return call.name == run.name and canonical(call.arguments) == canonical(arguments_of(run))


def call_waiting(run: Run, id_: str, lines: Sequence[Line]) -> int | None:
    """The last message whose call has the id, or the name and arguments, and no result yet."""
    for at in range(len(lines) - 1, -1, -1):
        calls = lines[at].message.calls
        n_results = after_results(at, lines) - at - 1
        answered_ids = {line.message.answers_id for line in lines[at + 1 : at + 1 + n_results]}
        for call in calls if n_results < len(calls) else ():
            is_open = not call.id or call.id not in answered_ids
            if is_open and ((id_ and call.id == id_) or (not id_ and is_call_of(run, call))):
                return at
    return None


def after_results(at: int, lines: Sequence[Line]) -> int:
    end = at + 1
    while end < len(lines) and lines[end].message.role == "tool":
        end += 1
    return end


def finish(lines: Sequence[Line], found: Told) -> None:
    """Indexes, partners, and what has none."""
    messages = pair([replace(line.message, index=index) for index, line in enumerate(lines)])
    found.messages = messages
    found.extras = {str(index): dict(line.extras) for index, line in enumerate(lines) if line.extras}
    found.warnings += without_partner(messages, [line.place for line in lines], [line.pointer for line in lines])
