"""Messages of Inspect: a text or a list of parts, texts and pictures lying apart as attachments, and tools that the
model's provider ran, whose call and result stand inside one message of the agent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotate.traces.base import Call, Message, Place, Problem, Role, Side, gettext_noop
from annotate.traces.chat_messages import image_name
from annotate.traces.values import as_id, as_json, as_list, as_object
from annotate.traces.warned import non_text_content, unknown_role

ROLES: Mapping[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
REFERENCE = re.compile(r"(?:attachment|tc)://([0-9A-Za-z]+)")
REMOVED = "<base64-data-removed>"
"""Stands where the log was told to leave pictures out."""
THINKING = re.compile(r"\s*<think[^>]*>(.*?)</think>\n*", re.DOTALL)
USED = frozenset({"role", "content", "tool_calls", "tool_call_id", "function", "reasoning"})
CALL = ("id", "function", "arguments", "type")
MEDIA = {"image": "image", "audio": "audio", "video": "video", "document": "file"}
LONGEST_NAME, LONGEST_ADDRESS = 255, 2000
"""What is longer than an address is the picture itself."""


@dataclass(slots=True)
class Reader:
    """Reads the messages of one sample, and gathers what is found on the way."""

    place: Place
    attachments: Mapping[str, Any]
    messages: list[Message] = field(default_factory=list)
    pointers: list[str] = field(default_factory=list)
    """Where each message stands in the sample; those of one place came out of one message of the log."""
    extras: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Members of messages that we have no place for, by index."""
    warnings: list[Problem] = field(default_factory=list)

    def add(self, value: Any, pointer: str) -> None:
        """The messages that one of the log becomes: mostly one."""
        role = ROLES.get(as_id(as_object(value).get("role")))
        if role is None:
            named = value.get("role") if isinstance(value, dict) else value
            self.warnings.append(unknown_role(self.place, pointer, ROLES, named))
            self.append("other", as_json(self.plain(value, pointer)), pointer, name=as_id(named)[:LONGEST_NAME])
            return
        extras = {key: member for key, member in value.items() if key not in USED and member is not None}
        if role == "tool":
            self.add_result(value, extras, pointer)
            return
        turns = self.content(value, extras, pointer)
        given = enumerate(as_list(value.get("tool_calls")))
        calls = [self.call(call, number, extras, pointer) for number, call in given]
        self.said(role, turns, calls, pointer)
        self.keep(extras, pointer)

    def add_result(self, value: Mapping[str, Any], extras: dict[str, Any], pointer: str) -> None:
        """What the tool said, or where it said nothing why it failed, which is what the model was told."""
        turns = self.content(value, extras, pointer)
        error = as_object(value.get("error"))
        text = turns[0].text or (as_id(error.get("message")) if error else as_id(value.get("tool_error")))
        name = as_id(value.get("function"))[:LONGEST_NAME]
        self.append("tool", text, pointer, answers_id=as_id(value.get("tool_call_id")), name=name)
        self.keep(extras, pointer)

    def said(self, role: Role, turns: list[Turn], calls: list[Call], pointer: str) -> None:
        """A message for each stretch that ends with calls of the provider's tools, with their results behind it."""
        *before, last = turns
        for turn in before:
            self.append(role, turn.text, pointer, calls=tuple(call for call, _ in turn.used))
            for call, result in turn.used:
                self.append("tool", result, pointer, answers_id=call.id, name=call.name[:LONGEST_NAME])
        if last.text or calls or not before:
            self.append(role, last.text, pointer, calls=tuple(calls))

    def append(
        self,
        role: Role,
        text: str,
        pointer: str,
        *,
        calls: tuple[Call, ...] = (),
        answers_id: str = "",
        name: str = "",
    ) -> None:
        side: Side = "user" if role == "user" else "agent"
        index, answers_id = len(self.messages), answers_id[:LONGEST_NAME]
        self.messages.append(Message(index, role, text, side=side, calls=calls, answers_id=answers_id, name=name))
        self.pointers.append(pointer)

    def keep(self, extras: Mapping[str, Any], pointer: str) -> None:
        if extras:
            self.extras[str(len(self.messages) - 1)] = self.plain(extras, pointer)

    def content(self, value: Mapping[str, Any], extras: dict[str, Any], pointer: str) -> list[Turn]:
        content, reasoning = value.get("content"), [as_id(value.get("reasoning"))]
        turns, is_agent = [Turn()], value["role"] == "assistant"
        if isinstance(content, str):
            text = self.resolved(content, f"{pointer}/content")
            thought = THINKING.match(text) if is_agent else None
            reasoning += [thought[1]] if thought else []
            turns[0].texts.append(text[thought.end() :] if thought else text)
        elif isinstance(content, list):
            for number, part in enumerate(content):
                self.part(part, turns, reasoning, extras, f"{pointer}/content/{number}", is_agent=is_agent)
        elif content is not None:
            self.not_text(content, extras, f"{pointer}/content")
        if said := [text for text in reasoning if text]:
            extras["reasoning"] = "\n\n".join(said)
        return turns

    def part(
        self,
        part: Any,
        turns: list[Turn],
        reasoning: list[str],
        extras: dict[str, Any],
        pointer: str,
        *,
        is_agent: bool,
    ) -> None:
        there = as_object(part)
        kind = as_id(there.get("type"))
        known = there.get(kind)
        if isinstance(part, str):
            turns[-1].texts.append(self.resolved(part, pointer))
        elif kind == "text" and isinstance(known, str):
            turns[-1].texts.append(self.resolved(known, pointer))
            self.more(there, ("type", "text"), extras, "parts")
        elif kind == "reasoning" and isinstance(known, str):
            reasoning.append(self.resolved(known, pointer))
            self.more(there, ("type", "reasoning"), extras, "reasoning_details")
        elif kind in MEDIA and isinstance(known, str):
            given = as_id(there.get("filename"))
            turns[-1].texts.append(f"[{MEDIA[kind]}: {given or self.media_name(known, pointer)}]")
            self.more(there, ("type", kind, "filename"), extras, "parts")
        elif kind == "tool_use" and "name" in there and is_agent:
            if turns[-1].texts or len(turns) == 1:
                turns.append(Turn())
            turns[-2].used.append(self.provider_call(there, pointer))
            self.more(there, ("type", "id", "name", "arguments", "result"), extras, "parts")
        elif kind == "data":
            extras.setdefault("data", []).append(known)
        else:
            self.not_text(part, extras, pointer)

    def provider_call(self, part: Mapping[str, Any], pointer: str) -> tuple[Call, str]:
        arguments, result = part.get("arguments", ""), part.get("result")
        call = Call(as_id(part.get("id")), as_id(part.get("name")), self.text_or_json(arguments, pointer))
        return call, self.text_or_json(result, pointer) if result not in (None, "") else as_id(part.get("error"))

    def call(self, call: Any, number: int, extras: dict[str, Any], pointer: str) -> Call:
        """Also a call that looks different stays a call, whole, so that places of calls do not move."""
        there = as_object(call)
        pointer = f"{pointer}/tool_calls/{number}"
        if not isinstance(there.get("function"), str):
            return Call(as_id(there.get("id")), "", as_json(self.plain(call, pointer)))
        usual = [name for name in CALL if name != "type" or there.get("type") == "function"]
        self.more(there, usual, extras, "calls", call=number)
        return Call(as_id(there.get("id")), there["function"], self.text_or_json(there.get("arguments", ""), pointer))

    def more(
        self, there: Mapping[str, Any], known: Sequence[str], extras: dict[str, Any], name: str, **of: int
    ) -> None:
        """Members of a part or a call that are kept beside it."""
        rest = {key: member for key, member in there.items() if key not in known and member is not None}
        if rest:
            extras.setdefault(name, []).append({**of, **rest})

    def not_text(self, part: Any, extras: dict[str, Any], pointer: str) -> None:
        extras.setdefault("content", []).append(part)
        self.warnings.append(non_text_content(self.place, pointer))

    def media_name(self, where: str, pointer: str) -> str:
        found = self.resolved(where, pointer)
        is_packed = len(found) > LONGEST_ADDRESS and not found.startswith("data:")
        return "?" if is_packed or found == REMOVED or REFERENCE.fullmatch(found) else image_name(found)

    def text_or_json(self, value: Any, pointer: str) -> str:
        return self.resolved(value, pointer) if isinstance(value, str) else as_json(self.plain(value, pointer))

    def resolved(self, text: str, pointer: str) -> str:
        """The text itself, or what lies under it among the attachments."""
        reference = REFERENCE.fullmatch(text)
        if not reference:
            return text
        found = self.attachments.get(reference[1])
        if isinstance(found, str):
            return found
        self.warnings.append(missing_attachment(self.place, pointer, text))
        return text

    def plain(self, value: Any, pointer: str) -> Any:
        """A JSON value with its attachments in their places, and names for what is packed into addresses."""
        if isinstance(value, dict):
            return {key: self.plain(member, pointer) for key, member in value.items()}
        if isinstance(value, list):
            return [self.plain(member, pointer) for member in value]
        if isinstance(value, str):
            text = self.resolved(value, pointer)
            return f"[{image_name(text)}]" if text.startswith("data:") and ";base64," in text[:200] else text
        return value


@dataclass(slots=True)
class Turn:
    """A stretch of one message, and the provider's tools that were used at its end."""

    texts: list[str] = field(default_factory=list)
    used: list[tuple[Call, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


def missing_attachment(place: Place, pointer: str, reference: str) -> Problem:
    return place.problem(
        "missing_attachment",
        pointer,
        expected=gettext_noop("An attachment of the sample that %(reference)s stands for; there is none."),
        remedy=gettext_noop("It is kept as it is."),
        warning=True,
        reference=as_json(reference)[:80],
    )
