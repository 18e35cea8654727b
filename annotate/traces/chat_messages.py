"""Messages in the form of OpenAI's chat API, which several formats share.

Nothing is dropped: what we do not understand is kept as it is, private (role `other`, or metadata) and counted by a
warning; an image is named, never fetched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from annotate.traces.base import Call, Message, Place, Problem, Role
from annotate.traces.pairing import pair
from annotate.traces.values import as_id, as_json
from annotate.traces.warned import non_text_content, unknown_role, unpaired

ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
USED = frozenset({"role", "content", "refusal", "tool_calls", "function_call", "tool_call_id"})


@dataclass
class Conversation:
    """Messages of one record as they come out, with everything else that was found on the way."""

    place: Place
    messages: Sequence[Message] = ()
    extras: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Members of messages that we have no place for, by original index."""
    warnings: list[Problem] = field(default_factory=list)


def conversation(values: Iterable[Any], place: Place, pointer: str) -> Conversation:
    """All messages, paired. `pointer` leads to the list of them."""
    found = Conversation(place)
    messages = [read_message(value, index, found, f"{pointer}/{index}") for index, value in enumerate(values)]
    found.messages = pair(messages)
    found.warnings += unpaired(found.messages, place, [f"{pointer}/{index}" for index in range(len(messages))])
    return found


def read_message(value: Any, index: int, found: Conversation, pointer: str) -> Message:
    if not isinstance(value, dict) or as_id(value.get("role")) not in ROLES:
        is_object = isinstance(value, dict)
        at = f"{pointer}/role" if is_object else pointer
        found.warnings.append(unknown_role(found.place, at, ROLES, value.get("role") if is_object else value))
        name = str(value.get("role", ""))[:255] if isinstance(value, dict) else ""
        return Message(index=index, role="other", text=as_json(value), name=name)
    role = ROLES[value["role"]]
    text, is_understood = text_of(value)
    if not is_understood:
        found.warnings.append(non_text_content(found.place, f"{pointer}/content"))
    keep_extras(value, index, found, is_understood)
    if text is None and role != "tool":
        role = "other"
    return Message(
        index=index,
        role=role,
        text=as_json(value.get("content")) if text is None else text,
        side="user" if value["role"] == "user" else "agent",
        calls=tuple(calls_of(value)),
        answers_id=as_id(value.get("tool_call_id")) if role == "tool" else "",
        name=as_id(value.get("name")) if role == "tool" else value["role"] if role == "other" else "",
    )


def keep_extras(value: Mapping[str, Any], index: int, found: Conversation, is_understood: bool) -> None:
    extras = {key: member for key, member in value.items() if key not in USED and member is not None}
    if not is_understood:
        extras["content"] = value.get("content")
    if value["role"] in ("tool", "function"):
        extras.pop("name", None)
    if extras:
        found.extras[str(index)] = extras


def text_of(value: Mapping[str, Any]) -> tuple[str | None, bool]:
    """The text of a message, None where none of its content is text; and whether all of it was understood."""
    content = value.get("content")
    if content is None:
        refusal = value.get("refusal")
        return (refusal if isinstance(refusal, str) else ""), True
    if isinstance(content, str):
        return content, True
    if not isinstance(content, list):
        return None, False
    parts = [part_text(part) for part in content]
    known = [part for part in parts if part is not None]
    return "\n".join(known) if known or not parts else None, len(known) == len(parts)


def part_text(part: Any) -> str | None:
    """A content part as text; pictures, sounds and files by a name in brackets."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return None
    for kind in ("text", "refusal"):
        if part.get("type") == kind and isinstance(part.get(kind), str):
            return str(part[kind])
    if part.get("type") == "image_url":
        image = part.get("image_url")
        return f"[image: {image_name(image.get('url') if isinstance(image, dict) else image)}]"
    if part.get("type") == "input_audio":
        return "[audio]"
    if part.get("type") == "file":
        file = part.get("file")
        return f"[file: {as_id(file.get('filename')) or '?'}]" if isinstance(file, dict) else "[file]"
    return None


def image_name(url: Any) -> str:
    """The last part of the address; of an image inside the file its type."""
    if not isinstance(url, str) or not url:
        return "?"
    if url.startswith("data:"):
        return url[5:80].split(";")[0].split(",")[0] or "?"
    try:
        path = urlsplit(url).path
    except ValueError:
        return "?"
    return unquote(path.rstrip("/").rsplit("/", 1)[-1]) or "?"


def calls_of(value: Mapping[str, Any]) -> Iterator[Call]:
    """Tool calls in the order of the message, the single `function_call` of older files too."""
    calls = value.get("tool_calls")
    if isinstance(value.get("function_call"), dict):
        yield read_call({"function": value["function_call"]})
    for call in calls if isinstance(calls, list) else []:
        yield read_call(call)


def read_call(value: Any) -> Call:
    """Also a call that looks different stays a call, whole, so that places of calls do not move."""
    function = value.get("function") if isinstance(value, dict) else None
    if not isinstance(function, dict):
        return Call(id=as_id(value.get("id")) if isinstance(value, dict) else "", name="", arguments=as_json(value))
    arguments = function.get("arguments", "")
    return Call(
        id=as_id(value.get("id")),
        name=as_id(function.get("name")),
        arguments=arguments if isinstance(arguments, str) else as_json(arguments),
    )
