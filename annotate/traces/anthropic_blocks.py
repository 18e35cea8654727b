"""Messages of Anthropic's Messages API as messages of ours, for every format that holds such messages.

The content of a message is a text or a list of blocks. What an assistant says before and after tools that ran on the
vendor's side becomes messages of its own, with each call and its result between; texts that follow each other directly
are one text, which the API splits at citations. Of a user message each `tool_result` becomes a result, in front of what
the requester says in the same message; a text that is nothing but a system reminder is private. Thinking is kept by
message, pictures and documents are named; a text document of the requester is a file. Base64, signatures and encrypted
parts are left out, with a warning for each message; every other member of a block is kept by message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotate.traces.base import Call, File, Message, Place, Problem, Role
from annotate.traces.chat_messages import image_name
from annotate.traces.names import Names
from annotate.traces.pairing import orphan_results, pair, unanswered_calls
from annotate.traces.values import as_id, as_json, as_object
from annotate.traces.warned import non_text_content, orphan_result, passed_over, unanswered_call, unknown_role

ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
RESULT = "tool_result"
"""Every type that ends so is a result: of our tools, of servers' tools, of the vendor's own."""
THINKING = frozenset({"thinking", "redacted_thinking"})
SECRET = frozenset({"signature", "encrypted_content", "encrypted_index", "encrypted_stdout"})
REMINDER = ("<system-reminder>", "</system-reminder>")
LONGEST_NAME = 255


def is_block(value: Any) -> bool:
    """A block that only this API has; texts look the same elsewhere."""
    block = as_object(value)
    kind = as_id(block.get("type"))
    if kind in CALLS:
        return "name" in block and "input" in block
    if kind.endswith(RESULT):
        return "tool_use_id" in block
    if kind in THINKING:
        return isinstance(block.get("thinking" if kind == "thinking" else "data"), str)
    return kind in ("image", "document") and isinstance(block.get("source"), dict)


@dataclass
class Draft:
    """Messages of one trace as they come out, with everything else that was found on the way."""

    place: Place
    messages: list[Message] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    pointers: list[str] = field(default_factory=list)
    extras: dict[str, dict[str, Any]] = field(default_factory=dict)
    warnings: list[Problem] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    names: Names = field(default_factory=Names)
    """Of the files."""
    tools: dict[str, str] = field(default_factory=dict)
    """Name of the tool that was called last under an id."""

    def add(self, role: Role, text: str, pointer: str, extras: Mapping[str, Any] | None = None, **members: Any) -> None:
        index = len(self.messages)
        self.keep(Message(index=index, role=role, text=text, **members), pointer)
        if extras:
            self.extras[str(index)] = dict(extras)

    def keep(self, message: Message, pointer: str) -> None:
        """The next message, which stands where the draft is now."""
        self.messages.append(message)
        self.places.append(self.place)
        self.pointers.append(pointer)

    def paired(self) -> tuple[Message, ...]:
        """All messages, paired; the warnings of what has no partner are added."""
        found = pair(self.messages)
        self.warnings += without_partner(found, self.places, self.pointers)
        return found


def without_partner(
    messages: Sequence[Message], places: Sequence[Place], pointers: Sequence[str]
) -> Iterator[Problem]:
    """As `unpaired` warns, of messages that stand in several records."""
    for message in orphan_results(messages):
        yield orphan_result(places[message.index], pointers[message.index], message)
    for call in unanswered_calls(messages):
        name = messages[call.index].calls[call.call].name
        yield unanswered_call(places[call.index], pointers[call.index], name)


def read_message(value: Any, draft: Draft, pointer: str) -> None:
    if not isinstance(value, dict) or as_id(value.get("role")) not in ROLES:
        is_object = isinstance(value, dict)
        at = f"{pointer}/role" if is_object else pointer
        draft.warnings.append(unknown_role(draft.place, at, ROLES, value.get("role") if is_object else value))
        name = as_id(value.get("role"))[:LONGEST_NAME] if isinstance(value, dict) else ""
        draft.add("other", as_json(scrubbed(value)), pointer, name=name)
        return
    rest = {key: member for key, member in value.items() if key not in ("role", "content", "type")}
    blocks = [(f"{pointer}/content{at}", block) for at, block in blocks_of(value.get("content"))]
    note_secrets(value.get("content"), draft, pointer)
    first = len(draft.messages)
    readers = {"assistant": read_assistant, "user": read_user, "system": read_system}
    readers[value["role"]](blocks, draft, pointer)
    if rest := {key: scrubbed(member) for key, member in rest.items() if member is not None}:
        draft.extras.setdefault(str(spoken_from(draft, first)), {}).update(rest)


def spoken_from(draft: Draft, first: int) -> int:
    """The first of the new messages that is the speaker's own."""
    own = (message.index for message in draft.messages[first:] if message.role not in ("tool", "other", "summary"))
    return next(own, first)


def blocks_of(content: Any) -> list[tuple[str, Any]]:
    """Every block with its pointer; a plain text is a block, and nothing is none."""
    if content is None or content == "":
        return []
    if isinstance(content, list):
        return [(f"/{number}", block) for number, block in enumerate(content)]
    return [("", {"type": "text", "text": content} if isinstance(content, str) else content)]


def kind_of(block: Any) -> str:
    return "text" if isinstance(block, str) else as_id(as_object(block).get("type"))


def read_system(blocks: Sequence[tuple[str, Any]], draft: Draft, pointer: str) -> None:
    told = read_parts(blocks, draft, is_requester=False)
    draft.add("system", "\n".join(told.texts), pointer, told.extras())


def read_user(blocks: Sequence[tuple[str, Any]], draft: Draft, pointer: str) -> None:
    """Results first, as they answer the message before; then what the requester says, if anything."""
    for at, block in blocks:
        if kind_of(block).endswith(RESULT):
            read_result(block, draft, at)
    rest = [(at, block) for at, block in blocks if not kind_of(block).endswith(RESULT)]
    reminders = [(at, block) for at, block in rest if is_reminder(block)]
    for at, block in reminders:
        draft.add("other", as_id(as_object(block).get("text")), at, name="system-reminder")
    said = [(at, block) for at, block in rest if not is_reminder(block)]
    told = read_parts(said, draft, is_requester=True)
    if told.texts or not blocks:
        draft.add("user", "\n".join(told.texts), pointer, told.extras(), side="user")


def is_reminder(block: Any) -> bool:
    text = as_id(as_object(block).get("text")).strip()
    return text.startswith(REMINDER[0]) and text.endswith(REMINDER[1])


def read_assistant(blocks: Sequence[tuple[str, Any]], draft: Draft, pointer: str) -> None:
    for steps in in_steps(blocks):
        results = [(at, block) for at, block in steps if kind_of(block).endswith(RESULT)]
        spoken = [(at, block) for at, block in steps if not kind_of(block).endswith(RESULT)]
        told = read_parts(spoken, draft, is_requester=False)
        if told.is_any or not blocks:
            draft.add("assistant", told.joined(), pointer, told.extras(), calls=tuple(told.calls))
            draft.tools.update((call.id, call.name) for call in told.calls if call.id)
        for at, block in results:
            read_result(block, draft, at)


def in_steps(blocks: Sequence[tuple[str, Any]]) -> Iterable[list[tuple[str, Any]]]:
    """A message cut where everything that was called so far and is answered in it has its answer; a message without
    blocks is one step."""
    answered = {as_id(as_object(block).get("tool_use_id")) for _, block in blocks if kind_of(block).endswith(RESULT)}
    step: list[tuple[str, Any]] = []
    waiting: set[str] = set()
    has_result = False
    for at, block in blocks:
        is_result = kind_of(block).endswith(RESULT)
        if has_result and not is_result and not waiting:
            yield step
            step, has_result = [], False
        step.append((at, block))
        if is_result:
            has_result = True
            waiting.discard(as_id(as_object(block).get("tool_use_id")))
        elif kind_of(block) in CALLS and (id_ := as_id(as_object(block).get("id"))):
            waiting |= {id_} & answered
    yield step


@dataclass
class Told:
    """What the blocks of one message say."""

    texts: list[str] = field(default_factory=list)
    breaks: list[bool] = field(default_factory=list)
    """For each text, whether something stands between it and the text before."""
    calls: list[Call] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    blocks: list[dict[str, Any]] = field(default_factory=list)
    is_any: bool = False

    def joined(self) -> str:
        """Texts of an assistant: those that follow each other are one."""
        parts = [
            ("\n" if number and is_break else "") + text
            for number, (text, is_break) in enumerate(zip(self.texts, self.breaks, strict=True))
        ]
        return "".join(parts)

    def extras(self) -> dict[str, Any]:
        reasoning = {"reasoning": "\n".join(self.reasoning)} if self.reasoning else {}
        return {**reasoning, **({"blocks": self.blocks} if self.blocks else {})}


def read_parts(blocks: Sequence[tuple[str, Any]], draft: Draft, *, is_requester: bool) -> Told:
    """Texts, calls and thinking of the blocks. A block of another type becomes a private message in front."""
    told = Told()
    after_text = False
    for at, block in blocks:
        kind, there = kind_of(block), as_object(block)
        if kind in CALLS:
            told.calls.append(read_call(there))
            keep(told, there, {"id", "name", "input"})
        elif kind in THINKING:
            told.reasoning += [there["thinking"]] if isinstance(there.get("thinking"), str) else []
            keep(told, there, {"thinking", "data"} if kind == "redacted_thinking" else {"thinking"})
        elif kind == "compaction" and isinstance(there.get("content"), str):
            draft.add("summary", there["content"], at)
            continue
        elif (text := part_text(block, draft, is_requester=is_requester)) is not None:
            told.breaks.append(not (after_text and kind == "text"))
            told.texts.append(text)
            keep(told, there, {"text", "source", "title", "content"})
        else:
            draft.warnings.append(non_text_content(draft.place, at))
            draft.add("other", as_json(scrubbed(block)), at, name=kind[:LONGEST_NAME])
            continue
        told.is_any = True
        after_text = kind == "text"
    return told


def keep(told: Told, block: Mapping[str, Any], used: set[str]) -> None:
    rest = {key: scrubbed(member) for key, member in block.items() if key not in used | SECRET and member is not None}
    if rest.keys() > {"type"}:
        told.blocks.append(rest)


def read_call(block: Mapping[str, Any]) -> Call:
    given = block.get("input")
    arguments = "" if given is None else given if isinstance(given, str) else as_json(given)
    return Call(id=as_id(block.get("id")), name=as_id(block.get("name")), arguments=arguments)


def read_result(block: Mapping[str, Any], draft: Draft, pointer: str) -> None:
    id_, kind = as_id(block.get("tool_use_id")), kind_of(block)
    extras = {
        key: scrubbed(member)
        for key, member in block.items()
        if key not in ("type", "tool_use_id", "content") and member is not None
    }
    text, more = result_text(block.get("content"), draft, pointer)
    name = draft.tools.get(id_, kind.removesuffix(RESULT).rstrip("_"))
    draft.add("tool", text, pointer, {**extras, **more}, answers_id=id_[:LONGEST_NAME], name=name[:LONGEST_NAME])


def result_text(content: Any, draft: Draft, pointer: str) -> tuple[str, dict[str, Any]]:
    """The text of a result and what it says beside; what is no text stays JSON."""
    if content is None:
        return "", {}
    if isinstance(content, str):
        return content, {}
    fetched = as_object(as_object(content).get("content"))
    if isinstance(text := as_object(fetched.get("source")).get("data"), str) and is_text_document(fetched):
        return text, {"content": {key: scrubbed(one) for key, one in as_object(content).items() if key != "content"}}
    if not isinstance(content, list):
        return as_json(scrubbed(content)), {}
    parts = [part_text(part, draft, is_requester=False) for part in content]
    if content and all(part is None for part in parts):
        return as_json(scrubbed(content)), {}
    shown = [as_json(scrubbed(one)) if part is None else part for one, part in zip(content, parts, strict=True)]
    return "\n".join(shown), {}


def part_text(block: Any, draft: Draft, *, is_requester: bool) -> str | None:
    """A block as text; pictures and documents by a name in brackets. None where it is nothing of these."""
    if isinstance(block, str):
        return block
    there = as_object(block)
    kind, text, source = there.get("type"), there.get("text"), as_object(there.get("source"))
    if kind == "text" and isinstance(text, str):
        return text
    if kind == "image":
        return f"[image: {source_name(source)}]"
    if kind == "document":
        return document_text(there, draft, is_requester=is_requester)
    if kind == "container_upload":
        return "[file: ?]"
    if kind == "search_result" and isinstance(there.get("content"), list):
        inner = [part_text(part, draft, is_requester=False) for part in there["content"]]
        return "\n".join([f"[search result: {as_id(there.get('title')) or '?'}]", *(one for one in inner if one)])
    return None


def source_name(source: Mapping[str, Any]) -> str:
    """The last part of the address, or the type of what lies in the message itself."""
    if isinstance(source.get("url"), str):
        return image_name(source["url"])
    media = source.get("media_type")
    return media[:80] if isinstance(media, str) and media else "?"


def is_text_document(block: Mapping[str, Any]) -> bool:
    source = as_object(block.get("source"))
    return block.get("type") == "document" and source.get("type") == "text" and isinstance(source.get("data"), str)


def document_text(block: Mapping[str, Any], draft: Draft, *, is_requester: bool) -> str:
    source = as_object(block.get("source"))
    title = block.get("title")
    name = title if isinstance(title, str) and title else source_name(source)
    if is_text_document(block) and not is_requester:
        return str(source["data"])
    if is_text_document(block):
        name = draft.names.take(name[: LONGEST_NAME - 10])
        draft.files.append(File(name=name, text=source["data"], available_from=len(draft.messages)))
    elif source.get("type") == "content":
        inner = [part_text(part, draft, is_requester=False) for _, part in blocks_of(source.get("content"))]
        return "\n".join([f"[file: {name}]", *(one for one in inner if one)])
    return f"[file: {name}]"


def scrubbed(value: Any) -> Any:
    """A copy without base64 and without what only the vendor can read."""
    if isinstance(value, list):
        return [scrubbed(one) for one in value]
    if not isinstance(value, dict):
        return value
    is_base64 = value.get("type") in ("base64", "redacted_thinking") and isinstance(value.get("data"), str)
    left_out = SECRET | {"data"} if is_base64 else SECRET
    return {
        key: scrubbed(member)
        for key, member in value.items()
        if key not in left_out or not isinstance(member, str | None)
    }


def note_secrets(content: Any, draft: Draft, pointer: str) -> None:
    if isinstance(content, list) and scrubbed(content) != content:
        what = "base64, signatures or encrypted parts"
        draft.warnings.append(passed_over(draft.place, "encoded_part", f"{pointer}/content", what))
