"""Texts out of the content parts of the Responses API; pictures, sounds and files only by a name in brackets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotate.traces.chat_messages import image_name
from annotate.traces.values import as_id, as_json, as_list, as_object

TEXTS = {
    "input_text": "text",
    "output_text": "text",
    "text": "text",
    "inputText": "text",
    "summary_text": "text",
    "reasoning_text": "text",
    "refusal": "refusal",
    "logs": "logs",
}
IMAGES = frozenset({"input_image", "inputImage", "output_image", "image", "image_url", "computer_screenshot"})
FILES = frozenset({"input_file", "file", "output_file"})
SOUNDS = frozenset({"input_audio", "output_audio", "audio"})


def text_of(content: Any) -> tuple[str | None, bool]:
    """The text of a content, None where none of it is text; and whether all of it was understood."""
    if content is None:
        return "", True
    if isinstance(content, str):
        return content, True
    if not isinstance(content, list):
        return None, False
    parts = [part_text(part) for part in content]
    known = [part for part in parts if part is not None]
    return "\n".join(known) if known or not parts else None, len(known) == len(parts)


def part_text(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    there = as_object(part)
    kind = as_id(there.get("type"))
    if kind in TEXTS and isinstance(there.get(TEXTS[kind]), str):
        return str(there[TEXTS[kind]])
    if kind in IMAGES:
        return f"[image: {image_of(there)}]"
    if kind in FILES:
        return f"[file: {file_of(there)}]"
    if kind in SOUNDS:
        return "[audio]"
    return "[encrypted]" if kind == "encrypted_content" else None


def image_of(part: Any) -> str:
    url = part.get("image_url") or part.get("url")
    named = image_name(url.get("url") if isinstance(url, dict) else url)
    return named if named != "?" else as_id(part.get("filename")) or as_id(part.get("file_id")) or "?"


def file_of(part: Any) -> str:
    named = as_id(part.get("filename")) or as_id(part.get("file_id"))
    return named or image_name(part.get("file_url") or part.get("file_data"))


def texts_of(parts: Any) -> Iterator[str]:
    """The texts in a list of parts, or the text that stands there instead."""
    for part in [parts] if isinstance(parts, str) else as_list(parts):
        text = part_text(part)
        if text:
            yield text


def shown(value: Any) -> str:
    """What a tool gave back, as the model got it: a text, parts, an object around a text, or JSON."""
    if value is None:
        return ""
    if isinstance(value, dict) and part_text(value) is not None:
        return part_text(value) or ""
    if isinstance(value, dict) and isinstance(value.get("content"), str) and value.keys() <= {"content", "success"}:
        return str(value["content"])
    text, is_understood = text_of(value)
    return text if is_understood and text is not None and value != [] else as_json(without_data(value))


def without_data(value: Any) -> Any:
    """The value with data inside it (pictures, files, what is encrypted) named and not held."""
    if isinstance(value, dict):
        return {
            key: f"[encrypted: {len(member)} characters]"
            if key == "encrypted_content" and isinstance(member, str)
            else without_data(member)
            for key, member in value.items()
        }
    if isinstance(value, list):
        return [without_data(member) for member in value]
    if isinstance(value, str) and value.startswith("data:") and ";base64," in value[:200]:
        return f"[data: {image_name(value)}]"
    return value
