"""Parts of a message's content, in the spellings of all vendors whose messages reach a program that watches agents.

OpenTelemetry's GenAI conventions, OpenAI (chat and Responses), Anthropic, Gemini, the Vercel AI SDK and LangChain name
the same few things differently: a text, a call, a result, reasoning, a picture or a file. Text and results stay letter
for letter; a picture or a file becomes its name in brackets; what is none of these is kept in `rest`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotate.traces.base import Call
from annotate.traces.chat_messages import image_name
from annotate.traces.values import as_id, as_json, as_list, as_object

TEXTS = ("", "text", "input-text", "output-text", "refusal")
REASONING = ("reasoning", "thinking", "redacted-thinking", "reasoning-text", "summary-text")
CALLS = ("tool-call", "tool-use", "function-call", "server-tool-use", "mcp-tool-use")
RESULTS = (
    "tool-call-response",
    "tool-result",
    "function-call-output",
    "function-response",
    "web-search-tool-result",
    "mcp-tool-result",
)
IMAGES = ("image", "image-url", "input-image")
SOUNDS = ("audio", "input-audio")
FILES = ("file", "input-file", "document", "video", "blob", "uri", "media", "file-url")
CALL_MEMBERS = ("function_call", "functionCall", "toolUse")
RESULT_MEMBERS = ("function_response", "functionResponse", "toolResult")
UNTYPED = ("text", *CALL_MEMBERS, *RESULT_MEMBERS, "inline_data", "inlineData", "reasoningContent")
"""Members that tell the kind of a part which names none, as in Gemini's and Bedrock's messages."""
RESULT_WRAPPING = {"content", "isError", "is_error", "structuredContent", "_meta", "meta", "type"}


@dataclass(frozen=True, slots=True)
class Result:
    id: str
    name: str
    text: str


@dataclass(slots=True)
class Parts:
    """What a content consists of, each sort in its order."""

    texts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    rest: list[Any] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


def parts_of(content: Any) -> Parts:
    found = Parts()
    for part in content if isinstance(content, list) else [] if content is None else [content]:
        read_part(part, found)
    return found


def first(value: Mapping[str, Any], *names: str) -> Any:
    """The first of these members that is there and not null."""
    return next((value[name] for name in names if value.get(name) is not None), None)


def kind_of(part: Mapping[str, Any]) -> str:
    return as_id(part.get("type")).lower().replace("_", "-")


def is_part(value: Any) -> bool:
    """Whether it is a part of a content and no message: it has a kind that parts have, and nobody who speaks."""
    if not isinstance(value, dict) or "role" in value:
        return False
    known = (*TEXTS[1:], *REASONING, *CALLS, *RESULTS, *IMAGES, *SOUNDS, *FILES)
    if "toolCallId" in value and "toolName" in value:
        return True
    return kind_of(value) in known or (not kind_of(value) and any(name in value for name in UNTYPED))


def read_part(part: Any, found: Parts) -> None:
    if isinstance(part, str):
        found.texts.append(part)
        return
    if not isinstance(part, dict):
        found.rest.append(part)
        return
    kind = kind_of(part)
    if isinstance(part.get("reasoningContent"), dict):
        found.reasoning += reasoning_of(as_object(part["reasoningContent"].get("reasoningText")))
    elif kind in REASONING or kind.endswith("reasoningcontent") or part.get("thought") is True:
        found.reasoning += reasoning_of(part)
    elif kind in CALLS or "toolCallType" in part or isinstance(first(part, *CALL_MEMBERS), dict):
        found.calls.append(call_of(as_object(first(part, *CALL_MEMBERS)) or part))
    elif kind in RESULTS or isinstance(first(part, *RESULT_MEMBERS), dict):
        found.results.append(result_of(as_object(first(part, *RESULT_MEMBERS)) or part))
    elif kind.startswith("tool-") and "toolCallId" in part:
        read_tool_of_page(part, found)
    elif kind in TEXTS and isinstance(text := first(part, "text", "content", "refusal"), str):
        found.texts.append(text)
    elif (name := media_of(kind, part)) is not None:
        found.texts.append(name)
    else:
        found.rest.append(part)


def read_tool_of_page(part: Mapping[str, Any], found: Parts) -> None:
    """The Vercel AI SDK's messages of a page hold a call and its result as one part, named for the tool."""
    name = as_id(part.get("toolName")) or as_id(part.get("type"))[len("tool-") :]
    found.calls.append(call_of({**part, "toolName": name}))
    output = first(part, "output", "errorText")
    if output is not None:
        found.results.append(Result(as_id(part.get("toolCallId")), name, result_text(output)))


def reasoning_of(part: Mapping[str, Any]) -> list[str]:
    """Reasoning as text; what a vendor has locked up is only named."""
    said = first(part, "text", "thinking", "reasoning", "content", "summary")
    if isinstance(said, list):
        return [text for one in said for text in parts_of(one).texts + parts_of(one).reasoning]
    if isinstance(said, dict):
        said = said.get("text")
    return [said] if isinstance(said, str) and said else ["[locked reasoning]"]


def call_of(value: Any) -> Call:
    """A call in any spelling; one that looks different stays a call, whole, so that places of calls do not move."""
    call = as_object(value)
    if any(key.startswith("tool_call.") for key in call):
        call = as_object(undotted(call))
    call = as_object(call.get("tool_call")) or call
    function = as_object(call.get("function"))
    name = first(function, "name") or first(call, "toolName", "name", "tool_name")
    id_ = as_id(first(call, "toolCallId", "tool_call_id", "call_id", "toolUseId", "id"))
    arguments = first(function, "arguments", "args", "input")
    if arguments is None:
        arguments = first(call, "arguments", "args", "input", "parameters")
    if name is None and arguments is None:
        return Call(id_, "", as_json(value))
    text = "" if arguments is None else arguments if isinstance(arguments, str) else as_json(arguments)
    return Call(id_, as_id(name), text)


def result_of(part: Mapping[str, Any]) -> Result:
    output = first(part, "response", "result", "output", "content")
    id_ = as_id(first(part, "toolCallId", "tool_use_id", "tool_call_id", "call_id", "toolUseId", "id"))
    return Result(id_, as_id(first(part, "toolName", "name", "tool_name")), result_text(output))


def result_text(value: Any) -> str:
    """What a tool gave back: a text as it is, texts in the usual wrappings taken out of them, anything else as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(one, dict) and is_part(one) for one in value):
        found = parts_of(value)
        if not (found.rest or found.calls or found.results or found.reasoning):
            return found.text
    if isinstance(value, dict):
        if value.keys() == {"type", "value"}:
            return result_text(value["value"])
        if value.keys() == {"type", "text"} and value["type"] == "text":
            return result_text(value["text"])
        if isinstance(value.get("content"), list) and value.keys() <= RESULT_WRAPPING:
            return result_text(value["content"])
    return as_json(value)


def media_of(kind: str, part: Mapping[str, Any]) -> str | None:
    """A picture, a sound or a file by its name in brackets, never its bytes."""
    inline = as_object(first(part, "inline_data", "inlineData", "file_data", "fileData"))
    mime = as_id(first(inline, "mime_type", "mimeType") or first(part, "mime_type", "mimeType", "mediaType"))
    modality = as_id(part.get("modality")) or mime.split("/")[0]
    if not inline and kind not in (*IMAGES, *SOUNDS, *FILES):
        return None
    if kind in IMAGES or modality == "image":
        return f"[image: {media_name(part, inline, mime)}]"
    if kind in SOUNDS or modality == "audio":
        return "[audio]"
    return f"[file: {media_name(part, inline, mime)}]"


def media_name(part: Mapping[str, Any], inline: Mapping[str, Any], mime: str) -> str:
    file = as_object(part.get("file"))
    name = first(part, "filename", "fileName", "title") or first(file, "filename", "file_id")
    if isinstance(name, str):
        return name
    source = as_object(part.get("source"))
    source = source or as_object(as_object(part.get("image")).get("image"))
    for value in (*addresses(part), *addresses(inline), *addresses(source)):
        if value.startswith(("http:", "https:", "data:", "gs:", "s3:", "file:")):
            return image_name(value)
    return mime or as_id(first(source, "media_type", "mediaType")) or as_id(part.get("file_id")) or "?"


def addresses(value: Mapping[str, Any]) -> Sequence[str]:
    names = ("image_url", "url", "uri", "image", "file_uri", "fileUri", "data")
    found = [value.get(name) for name in names]
    return [one for value in found for one in (value, as_object(value).get("url")) if isinstance(one, str)]


def calls_of(value: Mapping[str, Any]) -> list[Call]:
    """Calls beside a content, as chat messages have them."""
    calls = list(as_list(first(value, "tool_calls", "toolCalls", "message.tool_calls")))
    extra = as_object(value.get("additional_kwargs"))
    calls = calls or list(as_list(extra.get("tool_calls")))
    single = first(value, "function_call", "functionCall") or (None if calls else extra.get("function_call"))
    return [call_of(call) for call in ([single] if isinstance(single, dict) else []) + calls]


def undotted(value: Mapping[str, Any]) -> Any:
    """Members with dots in their names as objects inside each other; those that are only numbers as lists."""
    tree: dict[str, Any] = {}
    for key, one in value.items():
        grow(tree, key.split("."), one)
    return lists_in(tree)


def grow(tree: dict[str, Any], names: Sequence[str], value: Any) -> None:
    for name in names[:-1]:
        inner = tree.setdefault(name, {})
        if not isinstance(inner, dict):
            return
        tree = inner
    tree[names[-1]] = value


def lists_in(tree: Any) -> Any:
    """Objects whose members are all numbers are lists, in the order of these."""
    if not isinstance(tree, dict):
        return tree
    if tree and all(name.isdecimal() and name.isascii() for name in tree):
        return [lists_in(tree[name]) for name in sorted(tree, key=lambda name: (len(name.lstrip("0")), name))]
    return {name: lists_in(member) for name, member in tree.items()}
