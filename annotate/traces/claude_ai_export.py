"""Conversations as Claude.ai exports them: an array of {uuid, name, chat_messages: [{sender, text, content, ...}]}.

`human` is the requester, `assistant` the agent. One message of the agent holds all of its turn as blocks: texts before
calls go with them, results (`tool_result`) become messages of their own, and the texts after the last result are the
reply. Results name their call or answer by place. `thinking` is reasoning. Where a message has no blocks that say
anything, its `text` counts, which otherwise only repeats them. Where messages name their parents, the conversation is
the way to `current_leaf_message_uuid`, else to the last message; those beside it are counted (`other_branch`).
An attachment whose text is in the export is a file that the requester gave with its message; other files and pictures
are named in brackets. Unknown blocks are kept private and counted. A run's id is its `uuid`; `model`, where it stands,
the account and all else is private. No file says usage or success. A file is read one conversation at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from annotate.traces.base import Call, File, Likeness, Message, Place, Problem, Role, Side, Trace, gettext_noop
from annotate.traces.chat_messages import Conversation
from annotate.traces.documents import Document
from annotate.traces.identity import FirstPlaces, conversation_id
from annotate.traces.names import Names
from annotate.traces.openai_chat import derived_id
from annotate.traces.pairing import pair
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

FORMAT = "claude_ai_export"
TITLE = "Claude.ai export"
ROLES: Mapping[str, Role] = {"human": "user", "user": "user", "assistant": "assistant", "system": "system"}
MEANINGLESS = ("token_budget", "flag")
"""Blocks that are a service's own notes."""
READ = frozenset({"sender", "text", "content", "attachments", "files", "files_v2"})


@dataclass
class Found(Conversation):
    """What comes out of one conversation."""

    spoken: list[Message] = field(default_factory=list)
    pointers: list[str] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    names: Names = field(default_factory=Names)
    """Of the files."""

    def add(self, role: Role, text: str, pointer: str, extras: Mapping[str, Any], **members: Any) -> None:
        index = len(self.spoken)
        side: Side = "user" if role == "user" else "agent"
        self.spoken.append(Message(index, role, text, side=side, **members))
        self.pointers.append(pointer)
        if extras:
            self.extras[str(index)] = dict(extras)


@dataclass
class Turn:
    """What the blocks of a message give until the next result."""

    texts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    extras: dict[str, Any] = field(default_factory=dict)

    def keep(self, name: str, value: Any) -> None:
        self.extras.setdefault(name, []).append(value)


def sniff(value: Any) -> Likeness:
    """An object with `chat_messages` that say their `sender`; an empty conversation has a `uuid` at least."""
    there = as_object(value)
    messages = there.get("chat_messages")
    first = as_object(next(iter(as_list(messages)), None))
    is_list = isinstance(messages, list)
    return likeness(
        {"chat_messages": is_list, "chat_messages[].sender": is_list and ("sender" in first or not messages)}
    )


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    with closing(FirstPlaces()) as places:
        for document in documents:
            if isinstance(document, Problem):
                yield document
            elif not isinstance(as_object(document.value).get("chat_messages"), list):
                yield unknown_record(document.place, gettext_noop("A conversation with chat_messages."))
            else:
                yield from read_conversation(document.value, document.place, places)


def read_conversation(value: Mapping[str, Any], place: Place, places: FirstPlaces) -> Iterator[Trace | Problem]:
    values = value["chat_messages"]
    way = way_through(values, value.get("current_leaf_message_uuid"))
    found = Found(place)
    for number in way:
        read_message(values[number], f"/chat_messages/{number}", found)
    messages = pair(found.spoken)
    yield from found.warnings
    yield from unpaired(messages, place, found.pointers)
    for number in sorted({*range(len(values))} - {*way}):
        yield passed_over(place, "other_branch", f"/chat_messages/{number}", "message")
    if not messages:
        yield empty_run(place, "/chat_messages")
    given = as_id(value.get("uuid"))
    yield Trace(
        source_id=given if given.strip() else derived_id(conversation_id(messages), place, places),
        format=FORMAT,
        messages=messages,
        files=tuple(found.files),
        metadata={
            **{key: member for key, member in value.items() if key != "chat_messages"},
            **({"messages": found.extras} if found.extras else {}),
        },
        place=place,
    )


def way_through(values: Sequence[Any], leaf: Any) -> list[int]:
    """The messages of the conversation in order; all of them where none names another one as its parent."""
    places = {as_id(as_object(value).get("uuid")): number for number, value in enumerate(values)}
    parents = [as_id(as_object(value).get("parent_message_uuid")) for value in values]
    if not any(parent and parent in places for parent in parents):
        return list(range(len(values)))
    number: int | None = places.get(as_id(leaf), len(values) - 1) if leaf else len(values) - 1
    way: dict[int, None] = {}
    while number is not None and number not in way:
        way[number] = None
        number = places.get(parents[number]) if parents[number] else None
    return list(reversed(way))


def read_message(value: Any, pointer: str, found: Found) -> None:
    message = as_object(value)
    sender = as_id(message.get("sender"))
    if sender not in ROLES:
        at = f"{pointer}/sender" if isinstance(value, dict) else pointer
        found.warnings.append(unknown_role(found.place, at, ROLES, message.get("sender") if message else value))
        found.add("other", as_json(value), pointer, {}, name=sender[:255])
        return
    role = ROLES[sender]
    extras = {key: one for key, one in message.items() if key not in READ and one not in (None, [], {}, False, "")}
    for name in ("attachments", "files", "files_v2"):
        if given := [without_text(one) for one in as_list(message.get(name))]:
            extras[name] = given
    turn = Turn(extras=extras)
    n_before = len(found.spoken)
    is_understood = True
    for number, block in enumerate(as_list(message.get("content"))):
        is_understood &= read_block(block, f"{pointer}/content/{number}", role, turn, found)
    if not is_understood:
        found.warnings.append(non_text_content(found.place, f"{pointer}/content"))
    if not turn.texts and not turn.calls and len(found.spoken) == n_before:
        text = message.get("text")
        turn.texts += [text if isinstance(text, str) else as_json(text)] if text else []
    turn.texts += named_files(message, found)
    if turn.texts or turn.calls or len(found.spoken) == n_before:
        close(turn, role, pointer, found)
    elif turn.extras:
        found.extras.setdefault(str(len(found.spoken) - 1), {}).update(turn.extras)


def read_block(block: Any, pointer: str, role: Role, turn: Turn, found: Found) -> bool:
    """Whether it was understood."""
    there = as_object(block)
    kind = there.get("type")
    if kind == "text" and isinstance(there.get("text"), str):
        if turn.calls:
            close(turn, role, pointer, found)
        turn.texts.append(there["text"])
        if there.get("citations"):
            turn.keep("citations", there["citations"])
    elif kind in ("thinking", "redacted_thinking"):
        turn.keep("reasoning", there.get("thinking") or dict(there))
    elif kind == "tool_use":
        given = there.get("input", "")
        arguments = given if isinstance(given, str) else as_json(given)
        turn.calls.append(Call(id=as_id(there.get("id")), name=as_id(there.get("name")), arguments=arguments))
    elif kind == "tool_result":
        if turn.texts or turn.calls:
            close(turn, role, pointer, found)
        read_result(there, pointer, found)
    else:
        turn.keep("content", block)
        return kind in MEANINGLESS
    return True


def close(turn: Turn, role: Role, pointer: str, found: Found) -> None:
    """Makes a message of what came up, and begins anew."""
    found.add(role, "\n".join(turn.texts), pointer, turn.extras, calls=tuple(turn.calls))
    turn.texts, turn.calls, turn.extras = [], [], {}


def read_result(block: Mapping[str, Any], pointer: str, found: Found) -> None:
    content = block.get("content")
    shown = "" if content is None else content if isinstance(content, str) else as_json(content)
    extras = {key: block[key] for key in ("is_error", "message") if block.get(key)}
    if isinstance(content, list):
        texts = [as_object(part).get("text") for part in content]
        said = [text for text in texts if isinstance(text, str)]
        if said or not content:
            shown = "\n".join(said)
            extras |= {"content": content} if len(said) < len(content) else {}
    name, answers = as_id(block.get("name"))[:255], as_id(block.get("tool_use_id"))
    found.add("tool", shown, pointer, extras, name=name, answers_id=answers)


def named_files(message: Mapping[str, Any], found: Found) -> Iterator[str]:
    """Attachments with their text become files; all are named in the message."""
    for given in as_list(message.get("attachments")):
        there = as_object(given)
        name = found.names.free(as_id(there.get("file_name"))[:240] or "attachment")
        if isinstance(there.get("extracted_content"), str):
            found.names.take(name)
            found.files.append(File(name, there["extracted_content"], available_from=len(found.spoken)))
        yield f"[file: {name}]"
    for given in as_list(message.get("files_v2")) or as_list(message.get("files")):
        there = as_object(given)
        kind = "image" if there.get("file_kind") == "image" else "file"
        yield f"[{kind}: {as_id(there.get('file_name')) or as_id(there.get('file_uuid')) or '?'}]"


def without_text(given: Any) -> Any:
    """What else is said of a file."""
    return {key: one for key, one in given.items() if key != "extracted_content"} if isinstance(given, dict) else given
