"""What single events of OpenHands say: the call, the text beside it, and what is kept of the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from annotate.traces.base import Call
from annotate.traces.chat_messages import image_name, text_of
from annotate.traces.values import as_id, as_json, as_list, as_object

SETTINGS = frozenset({"thought", "confirmation_state", "security_risk", "blocking", "hidden", "is_static"})
"""Members of an action that are no part of what the tool is asked."""
READ = frozenset({"source", "args", "cause", "tool_call_metadata", "llm_metrics", "thought"})
NOTHING: tuple[Any, ...] = (None, "", {}, [])
PICTURES = frozenset({"screenshot", "set_of_marks"})
DATA_IMAGE = re.compile(r"(?:!\[[^\]]*\]\()?data:([\w.+-]+/[\w.+-]+);base64,[A-Za-z0-9+/=]+\)?")


def call_metadata(event: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_object(event.get("tool_call_metadata"))


def response_of(event: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_object(call_metadata(event).get("model_response"))


def said_in(response: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_object(as_object(next(iter(as_list(response.get("choices"))), {})).get("message"))


def extras_of(event: Mapping[str, Any], used: Iterable[str] = ()) -> dict[str, Any]:
    """What else the event says, without the members of `args` that are `used`, and without the answer of the model."""
    hidden = READ | ({"content"} if not event.get("action") else set())
    left = {name: member for name, member in event.items() if name not in hidden and member not in NOTHING}
    given = as_object(event.get("args"))
    said = said_in(response_of(event))
    parts = {
        "args": {name: member for name, member in given.items() if name not in set(used) and member not in NOTHING},
        "tool_call": {name: member for name, member in call_metadata(event).items() if name != "model_response"},
        "reasoning": said.get("reasoning_content") or said.get("thinking_blocks"),
    }
    return {name: without_pictures(part) for name, part in {**left, **parts}.items() if part not in NOTHING}


def without_pictures(value: Any) -> Any:
    """No picture is kept, only its name."""
    if isinstance(value, str):
        return named_pictures(value)
    if isinstance(value, list):
        return [without_pictures(member) for member in value]
    if isinstance(value, dict):
        return {
            key: f"[image: {key}]" if key in PICTURES and member else without_pictures(member)
            for key, member in value.items()
        }
    return value


def named_pictures(text: str) -> str:
    return DATA_IMAGE.sub(lambda match: f"[image: {match[1]}]", text) if "base64," in text else text


def with_attachments(text: str, args: Mapping[str, Any]) -> str:
    images = [f"[image: {image_name(url)}]" for url in as_list(args.get("image_urls") or args.get("images_urls"))]
    files = [f"[file: {image_name(url)}]" for url in as_list(args.get("file_urls"))]
    return "\n".join([*([text] if text or not images + files else []), *images, *files])


def call_of(event: Mapping[str, Any], kind: str) -> Call:
    """As the model wrote it, where its answer is there; else the action with its arguments."""
    told = call_metadata(event)
    id_ = as_id(told.get("tool_call_id"))
    name = as_id(told.get("function_name")) or kind
    for one in as_list(said_in(response_of(event)).get("tool_calls")):
        function = as_object(as_object(one).get("function"))
        if id_ and as_object(one).get("id") == id_ and function:
            given = function.get("arguments", "")
            return Call(id_, name, given if isinstance(given, str) else as_json(given))
    args = event.get("args")
    if not isinstance(args, dict):
        return Call(id_, name, "" if args is None else as_id(args))
    hidden = SETTINGS - ({"thought"} if kind == "think" else set())
    return Call(id_, name, as_json(without_pictures({n: member for n, member in args.items() if n not in hidden})))


def text_beside(event: Mapping[str, Any], kind: str) -> tuple[str, str]:
    """The model's text beside its calls, and the thought where it is another one."""
    thought = "" if kind == "think" else as_id(as_object(event.get("args")).get("thought") or event.get("thought"))
    said = text_of(said_in(response_of(event)))[0] or ""
    return (said, thought if thought != said else "") if said.strip() else (thought, "")
