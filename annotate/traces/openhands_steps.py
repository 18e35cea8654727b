"""Conversations written down as steps {step, user_message, agent: {thought, action}, environment, step_usage}, as the
DevAI benchmark has them of OpenHands: each step becomes the events it was made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotate.traces.base import Place
from annotate.traces.values import as_id, as_object

ACTIONS = {"Running command: ": "run", "Running Python code interactively: ": "run_ipython"}
"""How a step begins to say what was done, and the action that this was."""
USED = frozenset({"user_message", "agent", "environment", "step_usage", "accumulated_usage"})


def is_step(value: Any) -> bool:
    there = as_object(value)
    return (
        "step" in there
        and isinstance(there.get("agent"), dict)
        and "thought" in there["agent"]
        and "action" in there["agent"]
        and "environment" in there
    )


def step_events(one: tuple[Any, Place, str]) -> Iterator[tuple[Any, Place, str]]:
    """An event as it is; a step as the message of the requester, what the agent did or said, and what came back."""
    value, place, pointer = one
    if not is_step(value):
        yield one
        return
    if value.get("user_message") is not None:
        yield message("user", value["user_message"]), place, f"{pointer}/user_message"
    yield action_of(value), place, f"{pointer}/agent"
    if value.get("environment") is not None:
        yield {"observation": kind_of(value), "content": value["environment"]}, place, f"{pointer}/environment"


def message(source: str, content: Any) -> dict[str, Any]:
    return {"source": source, "action": "message", "args": {"content": as_id(content)}}


def kind_of(step: Mapping[str, Any]) -> str:
    said = as_id(step["agent"].get("action"))
    if not said:
        return "message"
    return next((kind for start, kind in ACTIONS.items() if said.startswith(start)), "action")


def action_of(step: Mapping[str, Any]) -> dict[str, Any]:
    """A step without an action is what the agent says; the words of one stay as they are, its arguments."""
    agent = step["agent"]
    rest = {name: member for name, member in step.items() if name not in USED}
    more = {name: member for name, member in agent.items() if name not in ("thought", "action") and member is not None}
    rest = {**rest, **({"agent": more} if more else {})}
    if not as_id(agent.get("action")):
        return {**message("agent", agent.get("thought")), **rest}
    return {
        "source": "agent",
        "action": kind_of(step),
        "args": as_id(agent["action"]),
        "thought": as_id(agent.get("thought")),
        **rest,
    }
