"""What one record of a file holds of a conversation of Anthropic's Messages API, in whichever form it lies there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotate.traces.base import Place
from annotate.traces.values import as_id, as_list, as_object

LOOKED_AT = 50
ENDS = frozenset({"stop_reason", "stop_sequence", "stop_details", "usage", "container", "context_management"})
MESSAGE = ENDS | {"role", "content", "type", "id", "model", "name"}
"""Members of a message; one with others (a time, a parent) belongs to some other log."""
OUTCOMES = ("succeeded", "errored", "canceled", "expired")


@dataclass(slots=True)
class Record:
    """What one record holds of a conversation. `kind` is `message`, `response`, `run` or `batch`."""

    kind: str
    place: Place
    value: Any
    messages: Sequence[Any] = ()
    pointer: str = ""
    response: Mapping[str, Any] | None = None
    response_pointer: str = ""
    request: Mapping[str, Any] = field(default_factory=dict)
    rest: Mapping[str, Any] = field(default_factory=dict)


def has_role(message: Any) -> bool:
    there = as_object(message)
    return isinstance(there.get("role"), str) and "content" in there and there.keys() <= MESSAGE


def is_response(value: Any) -> bool:
    """`type` and `role` alone are OpenAI's too."""
    there = as_object(value)
    is_message = there.get("type") == "message" and isinstance(there.get("role"), str)
    is_ended = "stop_reason" in there or ("usage" in there and "model" in there)
    return is_message and isinstance(there.get("content"), list) and is_ended


def is_request(request: Mapping[str, Any]) -> bool:
    """The request says whose it is: by blocks in `system`, by a limit beside a `system` text, or by its tools."""
    system = request.get("system")
    texts = [as_object(block).get("type") == "text" for block in as_list(system)]
    tools = [as_object(tool) for tool in as_list(request.get("tools"))]
    return (
        (bool(texts) and all(texts))
        or (isinstance(system, str) and "max_tokens" in request)
        or any("input_schema" in tool and "name" in tool for tool in tools)
        or isinstance(request.get("anthropic_version"), str)
    )


def record_of(value: Any, place: Place) -> Record | None:
    if isinstance(value, list):
        is_run = bool(value) and all(is_message(one) for one in value[:LOOKED_AT])
        return Record("run", place, value, value) if is_run else None
    if not isinstance(value, dict):
        return None
    if "custom_id" in value:
        return batch_entry(value, place)
    if isinstance(value.get("messages"), list):
        return run_of(value, "", None, "", {}, place, value)
    if isinstance(value.get("request"), dict):
        return exchange(value, place)
    if is_message(value):
        is_answer = value.get("type") == "message" and isinstance(value.get("content"), list)
        return Record("response" if is_answer else "message", place, value)
    return None


def is_message(value: Any) -> bool:
    return isinstance(value, dict) and "role" in value and "content" in value and "messages" not in value


def run_of(
    request: Mapping[str, Any],
    pointer: str,
    response: Mapping[str, Any] | None,
    response_pointer: str,
    rest: Mapping[str, Any],
    place: Place,
    value: Any,
) -> Record:
    others = {key: member for key, member in request.items() if key != "messages"}
    messages = as_list(request.get("messages"))
    at = f"{pointer}/messages"
    return Record("run", place, value, messages, at, response, response_pointer, others, rest)


def exchange(value: Mapping[str, Any], place: Place) -> Record | None:
    """A request and its response, each as it is or as the body of a recorded call over the network."""
    request, at = body_of(value, "request")
    response, response_at = body_of(value, "response")
    if not isinstance(request.get("messages"), list):
        return None
    rest = {key: member for key, member in value.items() if key not in ("request", "response")}
    if response and not is_message(response):
        rest["response"], response = response, {}
    return run_of(request, at, response or None, response_at, rest, place, value)


def body_of(value: Mapping[str, Any], name: str) -> tuple[Mapping[str, Any], str]:
    there = as_object(value.get(name))
    body = as_object(there.get("body"))
    return (body, f"/{name}/body") if body and "messages" not in there else (there, f"/{name}")


def batch_entry(value: Mapping[str, Any], place: Place) -> Record | None:
    rest = {key: member for key, member in value.items() if key not in ("params", "result")}
    params, result = as_object(value.get("params")), as_object(value.get("result"))
    if not isinstance(params.get("messages"), list) and as_id(result.get("type")) not in OUTCOMES:
        return None
    answer = as_object(result.get("message")) or None
    rest |= {"result": {key: member for key, member in result.items() if key != "message"}} if result else {}
    record = run_of(params, "/params", answer, "/result/message", rest, place, value)
    record.kind = "batch"
    return record
