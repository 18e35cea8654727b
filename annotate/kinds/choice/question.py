"""What a label may say: the parts that a lead has set up, as they are stored in a protocol and as values.

    {"judged": "replies", "parts": [PART, ...], "removed": [{"id", "title"}, ...]}

Every PART has `id`, `type`, `title` and `help` ({"en", "zh"}), `required`, and `when`, which is null or
{"part", "label"}: the part is asked where that earlier part has that label. By its type it has more:

    one      labels, ordered     one of the labels
    several  labels              any of the labels
    marks    labels              passages of the text, each of a type
    scale    lowest, highest, ends ({"en", "zh"} twice), digits (whether its numbers are its keys)
    note     key                 a text, never required

A label is {"id", "title", "key"}. Ids of parts, labels and types are made once, stay when titles change, and are never
given to anything else: `removed` keeps those that are in use no more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from annotate.kinds.base import Schema
from annotate.traces.base import gettext_noop

PartType = Literal["one", "several", "marks", "scale", "note"]
TYPES: dict[PartType, str] = {
    "one": gettext_noop("one label of several"),
    "several": gettext_noop("any number of labels"),
    "marks": gettext_noop("passages marked in the text"),
    "scale": gettext_noop("a number on a scale"),
    "note": gettext_noop("a note in free words"),
}
JUDGED = {
    "replies": gettext_noop("each reply of the agent, with the conversation before it"),
    "last": gettext_noop("the last reply of each trace, with the conversation before it"),
    "text": gettext_noop("the last text of each trace, by itself"),
}
ID = re.compile(r"[a-z0-9][a-z0-9_]{0,39}")
MARKS = "marks"
"""What all marks of a label are called where a part has a name, so no part has this id."""
MAX_PARTS = 12
MAX_LABELS = 30
MAX_TYPES = 6
"""Types of marks, all parts together: each has an underline of its own."""
MAX_TITLE = 200
MAX_HELP = 500
MAX_STEPS = 100
"""Of a scale; each of its numbers is a category."""
MAX_SHOWN_STEPS = 11
"""A longer scale is a field for a number."""
OF_THE_PAGE = "zcpgm?"
"""Keys that the page has taken."""


@dataclass(frozen=True, slots=True)
class Title:
    """A text in both languages; where one is empty the other stands for it."""

    en: str = ""
    zh: str = ""

    def said(self, language: str) -> str:
        first, second = (self.zh, self.en) if language.startswith("zh") else (self.en, self.zh)
        return first or second


@dataclass(frozen=True, slots=True)
class Label:
    """A label, or a type of marks."""

    id: str
    title: Title
    key: str = ""


@dataclass(frozen=True, slots=True)
class When:
    """The part is asked where another one has this label."""

    part: str
    label: str


@dataclass(frozen=True, slots=True)
class Part:
    id: str
    type: PartType
    title: Title
    help: Title = Title()
    required: bool = False
    when: When | None = None
    ordered: bool = False
    labels: tuple[Label, ...] = ()
    lowest: int = 1
    highest: int = 5
    ends: tuple[Title, Title] = (Title(), Title())
    digits: bool = False
    key: str = ""

    @property
    def label_ids(self) -> tuple[str, ...]:
        return tuple(label.id for label in self.labels)

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(range(self.lowest, self.highest + 1))

    def place(self, value: str | int) -> float | None:
        """Where a value stands between the ends of an ordered part, from 0 to 1; None where it stands nowhere."""
        if self.type == "scale" and isinstance(value, int):
            return (value - self.lowest) / max(self.highest - self.lowest, 1)
        if self.ordered and value in self.label_ids:
            return self.label_ids.index(str(value)) / max(len(self.labels) - 1, 1)
        return None


@dataclass(frozen=True, slots=True)
class Question:
    judged: str
    parts: tuple[Part, ...]
    removed: tuple[Label, ...] = ()
    by_id: Mapping[str, Part] = field(default_factory=dict, compare=False)

    @property
    def mark_types(self) -> tuple[Label, ...]:
        return tuple(label for part in self.parts if part.type == "marks" for label in part.labels)

    @property
    def slots(self) -> dict[str, int]:
        """By type of marks, the number of its underline."""
        return {label.id: place for place, label in enumerate(self.mark_types, start=1)}

    def part(self, id: str) -> Part | None:
        return self.by_id.get(id)


def question_of(schema: Schema) -> Question:
    """The values of a stored schema. It may also be one that is being written: what is not there is empty."""
    parts = tuple(part_of(one) for one in schema.get("parts", ()))
    removed = tuple(Label(one.get("id", ""), title_of(one.get("title"))) for one in schema.get("removed", ()))
    return Question(schema.get("judged", "replies"), parts, removed, {part.id: part for part in parts})


def part_of(data: Mapping[str, Any]) -> Part:
    when, ends = data.get("when"), data.get("ends") or [{}, {}]
    return Part(
        id=data.get("id", ""),
        type=data.get("type", "one"),
        title=title_of(data.get("title")),
        help=title_of(data.get("help")),
        required=data.get("required", False),
        when=When(when["part"], when["label"]) if when else None,
        ordered=data.get("ordered", False),
        labels=tuple(
            Label(one.get("id", ""), title_of(one.get("title")), one.get("key", "")) for one in data.get("labels", ())
        ),
        lowest=data.get("lowest", 1),
        highest=data.get("highest", 5),
        ends=(title_of(ends[0]), title_of(ends[1])),
        digits=data.get("digits", False),
        key=data.get("key", ""),
    )


def title_of(data: Mapping[str, str] | None) -> Title:
    return Title((data or {}).get("en", ""), (data or {}).get("zh", ""))


def stored(question: Question) -> dict[str, Any]:
    """The schema of a question: what `question_of` reads."""
    return {
        "judged": question.judged,
        "parts": [stored_part(part) for part in question.parts],
        "removed": [{"id": label.id, "title": stored_title(label.title)} for label in question.removed],
    }


def stored_part(part: Part) -> dict[str, Any]:
    data: dict[str, Any] = {
        "id": part.id,
        "type": part.type,
        "title": stored_title(part.title),
        "help": stored_title(part.help),
        "required": part.required,
        "when": {"part": part.when.part, "label": part.when.label} if part.when else None,
    }
    if part.type in ("one", "several", "marks"):
        data["labels"] = [{"id": one.id, "title": stored_title(one.title), "key": one.key} for one in part.labels]
    if part.type == "one":
        data["ordered"] = part.ordered
    if part.type == "scale":
        data |= {"lowest": part.lowest, "highest": part.highest, "digits": part.digits}
        data["ends"] = [stored_title(end) for end in part.ends]
    if part.type == "note":
        data["key"] = part.key
    return data


def stored_title(title: Title) -> dict[str, str]:
    return {"en": title.en, "zh": title.zh}


def is_asked(part: Part, answers: Mapping[str, Any]) -> bool:
    """Whether a part is to be answered beside these answers of the parts before it."""
    if part.when is None:
        return True
    said = answers.get(part.when.part)
    return part.when.label in said if isinstance(said, tuple | list) else said == part.when.label


FIRST: Schema = {
    "judged": "replies",
    "parts": [
        {
            "id": "label",
            "type": "one",
            "title": {"en": "Is it good?", "zh": "好不好？"},
            "help": {"en": "", "zh": ""},
            "required": True,
            "when": None,
            "labels": [
                {"id": "yes", "title": {"en": "yes", "zh": "是"}, "key": "1"},
                {"id": "no", "title": {"en": "no", "zh": "否"}, "key": "2"},
            ],
            "ordered": False,
        }
    ],
    "removed": [],
}
"""What a new project begins with."""
