"""Messages of LangChain and LangGraph as messages of ours, for every format that holds such messages.

Known forms: {type: human | ai | system | tool | function | chat, content, ...}; the same under `data`; the serialised
constructor {lc, type: "constructor", id: [..., "AIMessage"], kwargs}; a pair ["human", text]; and among them messages
with a `role` as OpenAI's and Anthropic's APIs have them.

`human` is the requester, but a later `human` message that names another speaker than the first one is an agent in
the requester's role and private (`other`). Where agents of several names speak in one turn, only the last text of the
turn without calls is the reply; the rest is private. Reasoning, ids, usage and everything else is kept by message.
Public: `is_message`, `conversation`, `metadata_of`, and `chat_forms` for one message.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotate.traces.base import Message, Place
from annotate.traces.chat_messages import Conversation, read_message
from annotate.traces.pairing import pair
from annotate.traces.values import as_id, as_list, as_object
from annotate.traces.warned import passed_over, unpaired

ROLES = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "developer": "developer",
    "tool": "tool",
    "function": "function",
}
CLASSES = {
    f"{start}Message{end}": kind
    for start, kind in {
        "Human": "human",
        "AI": "ai",
        "System": "system",
        "Tool": "tool",
        "Function": "function",
        "Chat": "chat",
    }.items()
    for end in ("", "Chunk")
} | {"RemoveMessage": "remove"}
KINDS = {**{kind: kind for kind in (*ROLES, "chat", "remove")}, **CLASSES}
"""What `type` says, to one kind."""
READ = frozenset({"type", "role", "content", "tool_calls", "invalid_tool_calls", "tool_call_id", "additional_kwargs"})
CALLS = ("tool_use", "tool_call", "function_call", "input_json_delta", "tool_call_chunk")
USAGE = ("input_tokens", "output_tokens", "total_tokens", "prompt_tokens", "completion_tokens")


def is_message(value: Any) -> bool:
    """A message in one of LangChain's own forms; one with only a `role` is another API's."""
    flat = plain(value)
    return isinstance(value, dict) and kind_of(flat) != "" and ("content" in flat or kind_of(flat) == "remove")


def plain(value: Any) -> Any:
    """A message as {type, content, ...}, out of whichever form holds it."""
    if isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value):
        kind = value[0] if value[0] in ROLES else {"user": "human", "assistant": "ai"}.get(value[0])
        return {"type": kind, "content": value[1]} if kind else value
    if not isinstance(value, dict):
        return value
    if value.get("type") == "constructor" and isinstance(value.get("kwargs"), dict):
        name = next(reversed(as_list(value.get("id"))), None)
        return {**value["kwargs"], "type": CLASSES.get(as_id(name), as_id(name))}
    if isinstance(value.get("data"), dict) and "content" not in value and as_id(value.get("type")) in KINDS:
        return {**value["data"], "type": value["type"]}
    return value


def kind_of(flat: Any) -> str:
    return KINDS.get(as_id(as_object(flat).get("type")), "")


def conversation(
    values: Iterable[Any], place: Place, pointer: str, agents: Container[str] = frozenset()
) -> Conversation:
    """All messages, paired, with what is private beside them. `pointer` leads to the list of them; `agents` are names
    that are known not to be the requester's."""
    found = Conversation(place)
    entries = [
        (f"{pointer}/{number}", chat)
        for number, value in enumerate(values)
        for chat in noted(value, number, found, pointer)
    ]
    messages = [read_message(chat, index, found, at) for index, (at, chat) in enumerate(entries)]
    spoken = one_voice(by_speaker(messages, found, agents), found)
    found.messages = pair(spoken)
    found.warnings += unpaired(found.messages, place, [at for at, _ in entries])
    return found


def noted(value: Any, number: int, found: Conversation, pointer: str) -> list[Any]:
    """The chat messages of one message; one that only removes others is no message and counted."""
    if kind_of(plain(value)) == "remove":
        found.warnings.append(passed_over(found.place, "bookkeeping", f"{pointer}/{number}", "RemoveMessage"))
        return []
    return chat_forms(value)


def chat_forms(value: Any) -> list[Any]:
    """One message as OpenAI's chat API would have it, for `chat_messages.read_message`. Results that lie in its
    content become messages by themselves, before the rest of it."""
    flat = plain(value)
    kind = kind_of(flat)
    if not isinstance(flat, dict) or (not kind and "role" not in flat):
        return [flat]
    role = flat.get("role") if kind in ("", "chat") else ROLES[kind]
    role = {"human": "user", "ai": "assistant"}.get(as_id(role), role)
    blocks = as_list(flat.get("content"))
    results = [block for block in blocks if as_object(block).get("type") == "tool_result" and role in ("user", "tool")]
    rest = [block for block in blocks if not any(block is result for result in results)]
    chats = [result_form(block) for block in results]
    if rest or not results:
        chats.append(one_form({**flat, "content": rest} if results else flat, role))
    return chats


def result_form(block: Mapping[str, Any]) -> dict[str, Any]:
    content = block.get("content")
    shown = [part_form(part) for part in content] if isinstance(content, list) else content
    others = {key: member for key, member in block.items() if key not in ("type", "content", "tool_use_id")}
    return {**others, "role": "tool", "content": shown, "tool_call_id": block.get("tool_use_id")}


def one_form(flat: Mapping[str, Any], role: Any) -> dict[str, Any]:
    given = as_object(flat.get("additional_kwargs"))
    content, reasoning = flat.get("content"), []
    if isinstance(content, list):
        reasoning = [part for part in content if is_reasoning(part)]
        content = [part_form(part) for part in content if not is_reasoning(part) and not is_call(part)]
    if not content and isinstance(given.get("refusal"), str):
        content = given["refusal"]
    calls = list(calls_of(flat))
    reasons = [*reasoning, *([given["reasoning_content"]] if given.get("reasoning_content") else [])]
    unread = {
        key: member
        for key, member in given.items()
        if key not in ("tool_calls", "function_call", "refusal", "reasoning_content") and member not in (None, {}, [])
    }
    extras = {key: member for key, member in flat.items() if key not in READ and member not in (None, {}, [], False)}
    return {
        **extras,
        "role": role,
        "content": content,
        "tool_call_id": flat.get("tool_call_id"),
        **({"tool_calls": calls} if calls else {}),
        **({"additional_kwargs": unread} if unread else {}),
        **({"reasoning": reasons} if reasons else {}),
    }


def is_reasoning(part: Any) -> bool:
    return as_object(part).get("type") in ("thinking", "redacted_thinking", "reasoning", "reasoning_content")


def is_call(part: Any) -> bool:
    """Calls in the content; `tool_calls` has them too, as a rule."""
    return as_object(part).get("type") in CALLS


def calls_of(flat: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Those of `tool_calls` with the unreadable ones behind; where there are none, what the vendor's answer held."""
    given = as_object(flat.get("additional_kwargs"))
    raw = [call for call in as_list(given.get("tool_calls")) if isinstance(call, dict)]
    calls = [*as_list(flat.get("tool_calls")), *as_list(flat.get("invalid_tool_calls"))]
    if calls:
        yield from (call_form(call, raw) for call in calls)
    elif raw:
        yield from raw
    elif isinstance(given.get("function_call"), dict):
        yield {"function": given["function_call"]}
    else:
        blocks = [part for part in as_list(flat.get("content")) if is_call(part) and "name" in part]
        yield from (call_form(block, []) for block in blocks)


def call_form(call: Any, raw: Sequence[Mapping[str, Any]]) -> Any:
    """Arguments as the model wrote them, where the vendor's copy of the same call still has that."""
    if not isinstance(call, dict) or "function" in call:
        return call
    arguments = next((call[key] for key in ("args", "input", "arguments") if key in call), "")
    written = (as_object(one.get("function")) for one in raw if call.get("id") and one.get("id") == call["id"])
    texts = [one["arguments"] for one in written if isinstance(one.get("arguments"), str)]
    kept = next((text for text in texts if says(text, arguments)), arguments)
    id_ = call.get("call_id") or call.get("id")
    return {"id": id_, "function": {"name": call.get("name"), "arguments": "" if kept is None else kept}}


def says(text: str, arguments: Any) -> bool:
    try:
        return bool(json.loads(text) == arguments)
    except (ValueError, RecursionError):
        return False


def part_form(part: Any) -> Any:
    """A block of the content as a content part of OpenAI's; pictures, sounds and files by name or type only."""
    there = as_object(part)
    kind = there.get("type")
    source = as_object(there.get("source"))
    media = as_id(there.get("mime_type") or there.get("media_type") or source.get("media_type"))
    url = as_id(there.get("url") or source.get("url"))
    name = as_id(there.get("filename") or there.get("name") or there.get("title") or there.get("file_id"))
    if kind in ("output_text", "input_text"):
        return {**there, "type": "text"}
    if kind in ("image", "input_image") or (kind == "media" and media.startswith("image/")):
        return {"type": "image_url", "image_url": url or name or as_id(there.get("image_url")) or f"data:{media}"}
    if kind == "image_url":
        given = there.get("image_url")
        address = as_id(as_object(given).get("url") if isinstance(given, dict) else given)
        return {"type": kind, "image_url": address.split(",")[0] if address.startswith("data:") else address}
    if kind == "audio":
        return {"type": "input_audio"}
    if kind in ("document", "media", "video", "text-plain") or (kind == "file" and "file" not in there):
        return {"type": "file", "file": {"filename": name or url or media}}
    return part


def by_speaker(messages: Sequence[Message], found: Conversation, agents: Container[str]) -> list[Message]:
    """The requester is who speaks first in that role; another name in it is an agent's."""
    names = [speaker(message, found) for message in messages]
    asking = [name for name, message in zip(names, messages, strict=True) if message.role == "user"]
    first = next((name for name in asking if name not in agents), "")
    return [
        replace(message, role="other", side="agent", name=name[:255])
        if message.role == "user" and name and name != first
        else message
        for name, message in zip(names, messages, strict=True)
    ]


def one_voice(messages: Sequence[Message], found: Conversation) -> list[Message]:
    """In a turn in which agents of several names speak, only the last text without calls is said to the requester."""
    voiced = list(messages)
    for turn in turns(messages):
        speaking = [message for message in turn if message.role == "assistant"]
        if len({speaker(message, found) for message in speaking}) < 2:
            continue
        said = [message.index for message in speaking if not message.calls and message.text.strip()]
        for message in speaking:
            if message.index != next(reversed(said), None):
                name = speaker(message, found) or "ai"
                voiced[message.index] = replace(message, role="other", name=name[:255])
    return voiced


def turns(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """What comes between two messages of the requester."""
    turn: list[Message] = []
    for message in messages:
        if message.role == "user":
            yield turn
            turn = []
        turn.append(message)
    yield turn


def speaker(message: Message, found: Conversation) -> str:
    return as_id(found.extras.get(str(message.index), {}).get("name"))


def metadata_of(found: Conversation) -> dict[str, Any]:
    """Model, usage added up over the messages, and what else each message had."""
    models = list(dict.fromkeys(name for extras in found.extras.values() if (name := model_of(extras))))
    usage: dict[str, int | float] = {}
    for extras in found.extras.values():
        for name, number in usage_of(extras):
            usage[name] = usage.get(name, 0) + number
    return {
        **({"model": models[0] if len(models) == 1 else models} if models else {}),
        **({"usage": usage} if usage else {}),
        **({"messages": found.extras} if found.extras else {}),
    }


def model_of(extras: Mapping[str, Any]) -> str:
    said = as_object(extras.get("response_metadata"))
    return next((said[key] for key in ("model_name", "model", "model_id") if isinstance(said.get(key), str)), "")


def usage_of(extras: Mapping[str, Any]) -> Iterator[tuple[str, int | float]]:
    """LangChain's own count, else the vendor's."""
    said = as_object(extras.get("response_metadata"))
    vendor = as_object(said.get("token_usage")) or as_object(said.get("usage"))
    counted = as_object(extras.get("usage_metadata")) or vendor
    for name in USAGE:
        number = counted.get(name)
        if isinstance(number, int | float) and not isinstance(number, bool):
            yield name, number


