"""Messages in the form of OpenAI's chat API, which several formats share.

Nothing is dropped: what we do not understand is kept as it is, private (role `other`, or metadata) and counted by a
warning; an image is named, never fetched.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from annotate.traces.base import Call, Message, Place, Problem, Role, gettext_noop
from annotate.traces.pairing import orphan_results, pair, unanswered_calls

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


def unpaired(messages: Sequence[Message], place: Place, pointers: Sequence[str]) -> Iterator[Problem]:
    """A warning for every result without a call and every call without a result; `pointers` lead to the messages."""
    for message in orphan_results(messages):
        yield orphan_result(place, pointers[message.index], message)
    for call in unanswered_calls(messages):
        yield unanswered_call(place, pointers[call.index], messages[call.index].calls[call.call].name)


def read_message(value: Any, index: int, found: Conversation, pointer: str) -> Message:
    if not isinstance(value, dict) or as_id(value.get("role")) not in ROLES:
        found.warnings.append(unknown_role(found.place, pointer, value))
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


def as_id(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else as_json(value)


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def unknown_role(place: Place, pointer: str, value: Any) -> Problem:
    return place.problem(
        "unknown_role",
        pointer + "/role" if isinstance(value, dict) else pointer,
        expected=gettext_noop("One of the roles %(roles)s; here it is %(found)s."),
        remedy=gettext_noop("The message is kept, seen by nobody who labels."),
        warning=True,
        roles=", ".join(ROLES),
        found=as_json(value.get("role") if isinstance(value, dict) else value)[:80],
    )


def non_text_content(place: Place, pointer: str) -> Problem:
    return place.problem(
        "non_text_content",
        pointer,
        expected=gettext_noop("A text, or a list of parts with text, images, sounds or files."),
        remedy=gettext_noop("What is none of these is kept with the private data of the trace and not shown."),
        warning=True,
    )


def orphan_result(place: Place, pointer: str, message: Message) -> Problem:
    return place.problem(
        "orphan_tool_result",
        pointer,
        expected=gettext_noop("A call that this result answers (id %(found)s) right before it; there is none."),
        remedy=gettext_noop("The message is kept as the result of no call."),
        warning=True,
        found=as_json(message.answers_id)[:80],
    )


def unanswered_call(place: Place, pointer: str, name: str) -> Problem:
    return place.problem(
        "unanswered_call",
        pointer,
        expected=gettext_noop("A result of the call of %(name)s; there is none."),
        remedy=gettext_noop("The call is kept and shown as unanswered."),
        warning=True,
        name=as_json(name)[:80],
    )
