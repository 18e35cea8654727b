"""Steps of an observed run, and the messages they bring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from annotate.traces.base import Call, Message, Place
from annotate.traces.otel_messages import Found, Said, unpacked

Kind = Literal["model", "tool", "agent", "around", "none"]


@dataclass(frozen=True, slots=True)
class ToolUse:
    call: Call
    result: str | None
    """None where the step does not say what came out."""


@dataclass(slots=True)
class Step:
    """A span or an observation, read."""

    id: str
    place: Place
    pointer: str = ""
    parent: str = ""
    name: str = ""
    kind: Kind = "around"
    agent: str = ""
    """Which agent works in it, where it says so."""
    start: float = 0.0
    end: float = 0.0
    asked: list[Said] = field(default_factory=list)
    answered: list[Said] = field(default_factory=list)
    tool: ToolUse | None = None
    model: str = ""
    usage: Mapping[str, float] = field(default_factory=dict)
    has_reply: bool = False
    """Whether its output is a message as chats have them, and not data."""
    left_out: str = ""
    """What it is, where nothing of it belongs to the conversation."""
    found: Found = field(default_factory=Found)

    @property
    def said(self) -> list[Said]:
        """System messages come first, also those that only the answer tells of."""
        systems = [one for one in self.answered if one.message.role == "system"]
        return [*systems, *self.asked, *(one for one in self.answered if one.message.role != "system")]


@dataclass(frozen=True, slots=True)
class Entry:
    """A message on its way, with what stood beside it and the step that brought it."""

    said: Said
    step: Step
    is_answer: bool = False
    """Whether a model gave it just then; else it was part of what a model was given, or of the whole run."""

    @property
    def message(self) -> Message:
        return self.said.message


def entry_of(message: Message, step: Step, place: int) -> Entry:
    said = step.said[place]
    return Entry(Said(message, said.extras), step, is_answer=any(said is one for one in step.answered))


def private(entry: Entry) -> Entry:
    """The entry with its message kept from everybody who labels."""
    message = replace(entry.message, role="other", side="agent", name=entry.message.name or entry.message.role)
    return Entry(Said(message, entry.said.extras), entry.step)


def is_reply(message: Message) -> bool:
    return message.role == "assistant" and not message.calls and bool(message.text.strip())


def text_of(said: Sequence[Said], role: str) -> str:
    """The text of this role where there is one; none where it is data and no words."""
    texts = [one.message.text for one in said if one.message.role == role]
    is_data = len(texts) == 1 and (isinstance(unpacked(texts[0]), dict | list) or texts[0].startswith(("{'", "[{'")))
    return texts[0] if len(texts) == 1 and not is_data else ""
