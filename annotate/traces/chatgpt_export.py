"""Conversations as ChatGPT exports them: an array of {mapping, current_node, title, ...}, or one such object.

`mapping` is a tree of nodes, since questions are edited and answers made again. The conversation is the way from the
root to `current_node`, where that is missing to the newest leaf; messages beside it are counted (`other_branch`).
`user` is the requester; `assistant` is the agent, unless it speaks to a tool (`recipient`): that is a call without an
id, and the tool messages after it are its results by their place. Thoughts are reasoning of the message after them.
What the requester was not shown (`is_visually_hidden_from_conversation`) is private, the standing instructions of an
account are a system message. Pictures, sounds and attached files are named in brackets; what tools drew stands with
their results, which are private. Signs of citations (private characters around a reference) are taken out of texts and
kept. A run's id is `conversation_id` or `id`, the model that of its messages; all else is private. No file says usage
or success. A file is read one conversation at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from annotate.traces.base import Call, Likeness, Message, Place, Problem, Role, Side, Trace, gettext_noop
from annotate.traces.chat_messages import Conversation
from annotate.traces.documents import Document
from annotate.traces.identity import FirstPlaces, conversation_id
from annotate.traces.openai_chat import derived_id
from annotate.traces.pairing import pair
from annotate.traces.strict_json import pointer_part
from annotate.traces.values import as_id, as_json, as_list, as_object
from annotate.traces.warned import (
    empty_run,
    likeness,
    non_text_content,
    passed_over,
    unknown_record,
    unknown_role,
    unpaired,
)

FORMAT = "chatgpt_export"
TITLE = "ChatGPT export"
ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool"}
STANDING = ("user_editable_context", "model_editable_context")
"""Types of content that an account, not a person in this conversation, puts in."""
TEXTS = ("text", "result", "output_str", "content", "user_profile", "user_instructions", "model_set_context")
CITATION = re.compile("\ue200[^\ue200\ue201]*+\ue201")
READ = frozenset({"author", "content", "recipient"})


@dataclass
class Found(Conversation):
    """What comes out of one conversation."""

    spoken: list[Message] = field(default_factory=list)
    pointers: list[str] = field(default_factory=list)
    thoughts: list[Any] = field(default_factory=list)
    """Reasoning that waits for its message."""


def sniff(value: Any) -> Likeness:
    """An object with a `mapping` of nodes that name their parent or children."""
    mapping = as_object(value).get("mapping")
    first = next(iter(as_object(mapping).values()), None)
    return likeness(
        {
            "mapping": isinstance(mapping, dict),
            "mapping{}.message": isinstance(first, dict) and ("message" in first or "children" in first),
            "mapping{}.parent": isinstance(first, dict) and ("parent" in first or "children" in first),
        }
    )


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    with closing(FirstPlaces()) as places:
        for document in documents:
            if isinstance(document, Problem):
                yield document
            elif not isinstance(as_object(document.value).get("mapping"), dict):
                yield unknown_record(document.place, gettext_noop("A conversation with a mapping of its messages."))
            else:
                yield from read_conversation(document.value, document.place, places)


def read_conversation(value: Mapping[str, Any], place: Place, places: FirstPlaces) -> Iterator[Trace | Problem]:
    mapping = value["mapping"]
    way = way_to(leaf_of(mapping, value.get("current_node")), mapping)
    found = Found(place)
    for name in way:
        if (message := as_object(mapping[name]).get("message")) is not None:
            read_message(message, f"/mapping{pointer_part(name)}/message", found)
    if found.thoughts and found.spoken:
        found.extras.setdefault(str(len(found.spoken) - 1), {})["reasoning_after"] = found.thoughts
    messages = pair(found.spoken)
    yield from found.warnings
    yield from unpaired(messages, place, found.pointers)
    on_way = set(way)
    for name, node in mapping.items():
        if name not in on_way and as_object(node).get("message") is not None:
            yield passed_over(place, "other_branch", f"/mapping{pointer_part(name)}", "node")
    if not messages:
        yield empty_run(place, "/mapping")
    given = as_id(value.get("conversation_id")) or as_id(value.get("id"))
    yield Trace(
        source_id=given if given.strip() else derived_id(conversation_id(messages), place, places),
        format=FORMAT,
        messages=messages,
        metadata=metadata_of(value, found),
        place=place,
    )


def leaf_of(mapping: Mapping[str, Any], current: Any) -> str:
    """The end of the conversation: the node the file names, else the newest without children."""
    if isinstance(current, str) and current in mapping:
        return current
    parents = {as_id(as_object(node).get("parent")) for node in mapping.values()}
    leaves = [name for name in mapping if name not in parents] or list(mapping)
    return max(leaves, key=lambda name: (time_of(mapping[name]), leaves.index(name)), default="")


def time_of(node: Any) -> float:
    time = as_object(as_object(node).get("message")).get("create_time")
    return time if isinstance(time, int | float) else 0


def way_to(leaf: str, mapping: Mapping[str, Any]) -> list[str]:
    """The nodes from the root to the leaf; a circle ends where it closes."""
    way: dict[str, None] = {}
    name: Any = leaf
    while isinstance(name, str) and name in mapping and name not in way:
        way[name] = None
        name = as_object(mapping[name]).get("parent")
    return list(reversed(way))


def metadata_of(value: Mapping[str, Any], found: Found) -> dict[str, Any]:
    said = (as_object(extras.get("metadata")).get("model_slug") for extras in found.extras.values())
    models = list(dict.fromkeys(model for model in said if isinstance(model, str) and model))
    return {
        **{key: member for key, member in value.items() if key != "mapping"},
        **({"model": models[0] if len(models) == 1 else models} if models else {}),
        **({"messages": found.extras} if found.extras else {}),
    }


def read_message(value: Any, pointer: str, found: Found) -> None:
    message, author = as_object(value), as_object(as_object(value).get("author"))
    content = as_object(message.get("content"))
    if content.get("content_type") in ("thoughts", "reasoning_recap"):
        found.thoughts.append(dict(content))
        return
    extras = {key: member for key, member in message.items() if key not in READ and member not in (None, {}, [])}
    source = as_id(author.get("role"))
    if source not in ROLES:
        found.warnings.append(unknown_role(found.place, f"{pointer}/author/role", ROLES, author.get("role")))
        add(found, Message(len(found.spoken), "other", as_json(value), name=source[:255]), pointer, {})
        return
    text, is_understood = text_of(content, as_object(message.get("metadata")))
    if not is_understood:
        found.warnings.append(non_text_content(found.place, f"{pointer}/content"))
    if unsaid := unsaid_in(content):
        extras["content"] = unsaid
    role: Role = role_of(message, source, content)
    calls: tuple[Call, ...] = ()
    recipient = as_id(message.get("recipient"))
    if source == "assistant" and recipient not in ("", "all"):
        calls, text = (Call(id="", name=recipient, arguments=text),), ""
    if marks := CITATION.findall(text):
        text, extras["citations"] = CITATION.sub("", text), marks
    if author.get("metadata"):
        extras["author"] = author["metadata"]
    name = as_id(author.get("name")) if role == "tool" else source if role == "other" else ""
    side: Side = "user" if role == "user" else "agent"
    spoken = Message(len(found.spoken), role, text, side=side, calls=calls, name=name[:255])
    add(found, spoken, pointer, extras)


def role_of(message: Mapping[str, Any], source: str, content: Mapping[str, Any]) -> Role:
    """Instructions of the account are the system's; what nobody was shown is private."""
    metadata = as_object(message.get("metadata"))
    if content.get("content_type") in STANDING or metadata.get("is_user_system_message") is True:
        return "system"
    if metadata.get("is_visually_hidden_from_conversation") is True and source in ("user", "assistant"):
        return "other"
    return ROLES[source]


def add(found: Found, message: Message, pointer: str, extras: dict[str, Any]) -> None:
    if message.role == "assistant" and found.thoughts:
        extras = {**extras, "reasoning": found.thoughts}
        found.thoughts = []
    found.spoken.append(message)
    found.pointers.append(pointer)
    if extras:
        found.extras[str(message.index)] = extras


def text_of(content: Mapping[str, Any], metadata: Mapping[str, Any]) -> tuple[str, bool]:
    """The text of a message with its pictures and files by name; and whether all of it was understood."""
    given = [as_object(one) for one in as_list(metadata.get("attachments"))]
    attached = {as_id(one.get("id")): as_id(one.get("name")) for one in given}
    if isinstance(content.get("parts"), list):
        parts = [part_text(part, attached) for part in content["parts"]]
        known = [part for part in parts if part is not None]
        is_understood = len(known) == len(parts)
    else:
        known = [content[name] for name in TEXTS if isinstance(content.get(name), str)]
        is_understood = bool(known) or not content
    files = [f"[file: {name or '?'}]" for name in attached.values() if not any(name and name in text for text in known)]
    return "\n".join([*known, *files]), is_understood


def unsaid_in(content: Mapping[str, Any]) -> dict[str, Any]:
    """What of a content does not stand in the text."""
    if isinstance(content.get("parts"), list):
        parts = [part for part in content["parts"] if not isinstance(part, str)]
        rest = {**content, "parts": parts}
    else:
        rest = {name: one for name, one in content.items() if name not in TEXTS or not isinstance(one, str)}
    return {name: one for name, one in rest.items() if name != "content_type" and one not in (None, "", [], {})}


def part_text(part: Any, attached: Mapping[str, str]) -> str | None:
    if isinstance(part, str):
        return part
    there = as_object(part)
    kind = there.get("content_type")
    if kind == "image_asset_pointer":
        name = as_id(there.get("asset_pointer")).rsplit("/", 1)[-1]
        return f"[image: {attached.get(name) or name or '?'}]"
    if kind == "audio_transcription" and isinstance(there.get("text"), str):
        return str(there["text"])
    if kind in ("audio_asset_pointer", "real_time_user_audio_video_asset_pointer"):
        return "[audio]"
    return None
