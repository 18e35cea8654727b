"""Runs of LangSmith: what one is, where it stands in the tree of its trace, and what a model run says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from annotate.traces.base import Place
from annotate.traces.langsmith_messages import answered
from annotate.traces.values import as_id, as_list, as_object

TOOLS = frozenset({"tool", "retriever"})
READ = frozenset({"inputs", "outputs", "events", "child_runs"})
USAGE = ("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "total_tokens")


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


def root_of(runs: Sequence[Run], by_id: Mapping[str, Run]) -> Run | None:
    """The one run without a parent here; where there are several, an export was cut and none is outermost."""
    outer = [run for run in runs if run.parent not in by_id or run.parent == run.id]
    return outer[0] if len(outer) == 1 else None


def n_tools_around(run: Run, by_id: Mapping[str, Run], known: dict[str, int]) -> int:
    """How many tools a run is inside of. `known` holds those that were looked at, so that each is once."""
    way, seen = [run], {run.id}
    while (parent := by_id.get(way[-1].parent)) is not None and parent.id not in known and parent.id not in seen:
        seen.add(parent.id)
        way.append(parent)
    n_tools = 0
    for one in reversed(way):
        around = by_id.get(one.parent)
        if around is not None and around.id in known:
            n_tools = known[around.id] + (around.kind in TOOLS)
        known[one.id] = n_tools
    return n_tools


def agent_of(run: Run, by_id: Mapping[str, Run]) -> str:
    """Who speaks in a run: the node of a graph, else what called the model."""
    node = run.metadata.get("langgraph_node")
    parent = by_id.get(run.parent)
    return node if isinstance(node, str) and node else (parent.name if parent is not None else "") or run.name


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
