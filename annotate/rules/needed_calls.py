"""The calls that a task needs, where the file of a run says them: of the agent, and of the user where they have tools.

Benchmarks keep them in different places: tau-bench under `info.task.actions` as {name, kwargs}, tau2-bench under
`task.evaluation_criteria.actions` as {requestor, name, arguments}. Our own format has them as `needed_calls`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

PLACES = (("needed_calls",), ("task", "evaluation_criteria", "actions"), ("info", "task", "actions"))
USERS = ("user",)


def needed_calls(metadata: Mapping[str, Any]) -> tuple[dict[str, Any], ...] | None:
    """{side, name, arguments} in the order of the file; None where it says nothing, empty where it says that none is
    needed."""
    for place in PLACES:
        found = inside(metadata, place)
        if isinstance(found, list):
            return tuple(calls_of(found))
    return None


def inside(value: Any, names: tuple[str, ...]) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def calls_of(actions: list[Any]) -> Iterator[dict[str, Any]]:
    for one in actions:
        if isinstance(one, Mapping) and isinstance(one.get("name"), str):
            side = "user" if one.get("requestor", one.get("side")) in USERS else "agent"
            yield {"side": side, "name": one["name"], "arguments": one.get("arguments", one.get("kwargs")) or {}}
