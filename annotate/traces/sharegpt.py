"""Conversations in ShareGPT's form, as LLaMA-Factory and data sets for training hold them: {conversations: [{from,
value}], system?, tools?, id?}, one a record.

`human` is the requester, `gpt` the agent; `function_call` is a call, `observation` or `tool` its result; none of these
texts comes from a file of another kind, so all but results and calls is what the two said. A call's value is a JSON
text of one call or a list of them; a text that is no such JSON is kept as the arguments of a call without a name. Calls
that follow each other, or a text of the agent, are one message with it, and so are `<tool_call>` blocks inside a text;
`<tool_response>` blocks are one result each. Ids of calls do not exist: results answer by their place. A leading
`<think>` block is reasoning (private). `<image>` in a text becomes the name of the record's image in brackets.
An unknown `from` is private. `system` of the record is a system message in front. Everything else of the record
(`tools`, `chosen`, `images`, ...) is private. A run's id is the record's, else a digest of its messages; a cluster,
session, model, usage or success is in no such file. Nothing is skipped. A file is read one conversation at a time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from annotate.traces.base import Call, Likeness, Message, Place, Problem, Role, Trace, gettext_noop
from annotate.traces.chat_messages import Conversation, image_name
from annotate.traces.documents import Document
from annotate.traces.identity import FirstPlaces, conversation_id
from annotate.traces.openai_chat import derived_id, given_id
from annotate.traces.pairing import pair
from annotate.traces.values import as_id, as_json, as_list, as_object
from annotate.traces.warned import empty_run, likeness, non_text_content, unknown_record, unknown_role, unpaired

FORMAT = "sharegpt"
TITLE = "ShareGPT conversations"
CALLS = ("function_call", "function-call", "tool_call", "tool_calls")
ROLES: Mapping[str, Role] = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "model": "assistant",
    "system": "system",
    "observation": "tool",
    "tool": "tool",
    "tool_response": "tool",
    "function": "tool",
    "function_response": "tool",
    "function-response": "tool",
    **dict.fromkeys(CALLS, "assistant"),
}
CALL = re.compile(r"\s*<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
RESULT = re.compile(r"<tool_response>\n?(.*?)\n?</tool_response>", re.DOTALL)
THOUGHT = re.compile(r"\A\s*<think>(.*?)</think>\s*", re.DOTALL)
IMAGE = re.compile(r"<image>")
READ = frozenset({"from", "value"})


@dataclass
class Found(Conversation):
    """What comes out of one conversation, with the pointer of each message."""

    pointers: list[str] = field(default_factory=list)
    spoken: list[Message] = field(default_factory=list)
    images: Iterator[Any] = field(default_factory=lambda: iter(()))

    def add(self, role: Role, text: str, pointer: str, **members: Any) -> Message:
        message = Message(index=len(self.spoken), role=role, text=text, **members)
        self.spoken.append(replace(message, side="user") if role == "user" else message)
        self.pointers.append(pointer)
        return message

    def keep(self, extras: Mapping[str, Any]) -> None:
        """Beside the last message."""
        if extras:
            self.extras.setdefault(str(len(self.spoken) - 1), {}).update(extras)


def sniff(value: Any) -> Likeness:
    """An object with `conversations` whose turns say `from` and `value`."""
    turns = as_list(as_object(value).get("conversations"))
    first = as_object(next(iter(turns), None))
    return likeness(
        {
            "conversations": bool(turns),
            "conversations[].from": isinstance(first.get("from"), str),
            "conversations[].value": "value" in first,
        }
    )


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    with closing(FirstPlaces()) as places:
        for document in documents:
            if isinstance(document, Problem):
                yield document
            elif not isinstance(as_object(document.value).get("conversations"), list):
                yield unknown_record(document.place, gettext_noop("An object with a list of conversations."))
            else:
                yield from read_record(document.value, document.place, places)


def read_record(value: Mapping[str, Any], place: Place, places: FirstPlaces) -> Iterator[Trace | Problem]:
    found = Found(place, images=iter(as_list(value.get("images"))))
    rest = {key: member for key, member in value.items() if key != "conversations"}
    if isinstance(value.get("system"), str) and value["system"]:
        found.add("system", rest.pop("system"), "/system")
    for number, turn in enumerate(value["conversations"]):
        read_turn(turn, f"/conversations/{number}", found)
    messages = pair(found.spoken)
    yield from found.warnings
    yield from unpaired(messages, place, found.pointers)
    if not messages:
        yield empty_run(place, "/conversations")
    language = value.get("language") or value.get("lang")
    yield Trace(
        source_id=given_id(rest) or derived_id(conversation_id(messages), place, places),
        format=FORMAT,
        messages=messages,
        language=language if language in ("en", "zh") else "",
        metadata={**rest, **({"messages": found.extras} if found.extras else {})},
        place=place,
    )


def read_turn(turn: Any, pointer: str, found: Found) -> None:
    said = as_object(turn)
    source = as_id(said.get("from"))
    if source not in ROLES:
        at = f"{pointer}/from" if isinstance(turn, dict) else pointer
        found.warnings.append(unknown_role(found.place, at, ROLES, said.get("from") if said else turn))
        found.add("other", as_json(turn), pointer, name=source[:255])
        return
    value, role = said.get("value"), ROLES[source]
    if value is not None and not isinstance(value, str):
        if source in CALLS:
            value = as_json(value)
        else:
            found.warnings.append(non_text_content(found.place, f"{pointer}/value"))
            kept: tuple[Role, str] = ("tool", "") if role == "tool" else ("other", source)
            found.add(kept[0], as_json(value), pointer, name=kept[1])
            return
    if source in CALLS:
        call(calls_in(value or ""), "", pointer, found)
    elif role == "tool":
        for text in RESULT.findall(value or "") or [value or ""]:
            found.add("tool", text, pointer, name=as_id(said.get("name"))[:255])
    elif role == "assistant":
        answer(value or "", pointer, found)
    else:
        found.add(role, IMAGE.sub(lambda match: named(match, found), value or ""), pointer)
    found.keep({key: member for key, member in said.items() if key not in READ and member is not None})


def answer(value: str, pointer: str, found: Found) -> None:
    """A text of the agent, without the calls and thoughts that are written into it."""
    thought = THOUGHT.match(value)
    text = value[thought.end() :] if thought else value
    blocks = CALL.findall(text)
    if blocks:
        call([one for block in blocks for one in calls_in(block)], CALL.sub("", text), pointer, found)
    else:
        found.add("assistant", text, pointer)
    if thought and thought[1].strip():
        found.keep({"reasoning": thought[1]})


def call(calls: Sequence[Call], text: str, pointer: str, found: Found) -> None:
    """Calls go with the agent's message right before them."""
    last = found.spoken[-1] if found.spoken else None
    if last is None or last.role != "assistant":
        found.add("assistant", text, pointer, calls=tuple(calls))
        return
    both = "\n".join(part for part in (last.text, text) if part)
    found.spoken[-1] = replace(last, text=both, calls=(*last.calls, *calls))


def calls_in(value: str) -> list[Call]:
    """One call or a list of them; a text that is no JSON of calls is kept as it is."""
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return [Call(id="", name="", arguments=value)]
    given = parsed if isinstance(parsed, list) and parsed else [parsed]
    if not all(isinstance(one, dict) and isinstance(function_of(one).get("name"), str) for one in given):
        return [Call(id="", name="", arguments=value)]
    return [read_call(one) for one in given]


def function_of(value: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_object(value.get("function")) or value


def read_call(value: Mapping[str, Any]) -> Call:
    function = function_of(value)
    arguments = next((function[key] for key in ("arguments", "parameters") if key in function), "")
    return Call(
        id=as_id(value.get("id")),
        name=function["name"],
        arguments=arguments if isinstance(arguments, str) else as_json(arguments),
    )


def named(match: re.Match[str], found: Found) -> str:
    """The next image of the record; the sign itself where there is none left."""
    image = next(found.images, None)
    return match[0] if image is None else f"[image: {image_name(image)}]"
