"""The reader's first step: what it asks, and what becomes of its questions before anybody looks for answers
(docs/methods.md, Reader)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from annotate.kinds.reply.label import SPAN_TYPES
from annotate.rules.normal_form import find_quote, find_words, normal_form
from annotate.rules.windows import window
from scoring.judges.base import Answer, ReplyView
from scoring.judges.lexical import marked, unseen_names
from scoring.judges.raw_answers import UnusableError, entries, is_copied, members, value_of
from scoring.judges.shown_texts import parts

NONE = "NONE"
MOST_LEXICAL = 200
"""A reply that is a list of thousands of names would cost thousands of calls."""

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "questions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "q": {"type": "string"},
                    "type": {"type": "string", "enum": list(SPAN_TYPES)},
                    "about": {"type": "string"},
                },
                "required": ["q", "type", "about"],
                "additionalProperties": False,
            },
        },
        "answer_needed": {"type": "boolean"},
        "answer_quote": {"type": "string"},
    },
    "required": ["questions", "answer_needed", "answer_quote"],
    "additionalProperties": False,
}
WORDS = {
    "en": {"file": "file: {name}", "you": "you", "agent": "the agent", "reply": "the message"},
    "zh": {"file": "文件：{name}", "you": "你", "agent": "智能体", "reply": "消息"},
}
LEXICAL_QUESTION = {"en": "What does “{name}” refer to?", "zh": "“{name}”指的是什么？"}


@dataclass(frozen=True, slots=True)
class Question:
    """`removed` says why nobody looks for its answer: `file_or_path`, `not_in_reply`, `duplicate` or empty. Offsets
    are None only where it is about nothing in the reply."""

    origin: str
    text: str
    type: str
    about: str
    start: int | None
    end: int | None
    removed: str = ""

    def overlaps(self, other: Question) -> bool:
        if self.start is None or self.end is None or other.start is None or other.end is None:
            return False
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class FirstReading:
    """What a usable answer says. `answer` is where the sentence that answers stands in the reply, if it does."""

    questions: tuple[Question, ...]
    answer_needed: bool
    answer_quote: str
    answer: tuple[int, int] | None

    @property
    def is_settled(self) -> bool:
        """Whether its answer sentence is there, or none is needed, or it says that there is none."""
        return not self.answer_needed or self.says_none or self.answer is not None

    @property
    def says_none(self) -> bool:
        return self.answer_quote.strip().strip(".。") in ("", NONE)


def shown(view: ReplyView, language: str) -> dict[str, str]:
    """What the prompt shows."""
    return {
        "files": parts(list(file_texts(view, language)), language),
        "conversation": parts(list(dialog_texts(view, language)), language),
        "reply": view.reply,
    }


def file_texts(view: ReplyView, language: str) -> Iterator[tuple[str, str]]:
    for name, text in view.files:
        yield WORDS[language]["file"].replace("{name}", name), text


def dialog_texts(view: ReplyView, language: str) -> Iterator[tuple[str, str]]:
    for speaker, text in zip(view.speakers, view.dialog, strict=True):
        yield WORDS[language][speaker], text


def judged_texts(view: ReplyView) -> tuple[str, ...]:
    """The reply, and the texts of R in the order in which a quote's place counts them: files, then the dialog."""
    return (view.reply, *r_texts(view))


def r_texts(view: ReplyView) -> tuple[str, ...]:
    return (*(text for _, text in view.files), *view.dialog)


def read(answer: Answer, view: ReplyView) -> FirstReading:
    """UnusableError where the answer is not what was asked for, or was taken from the texts it is about."""
    if is_copied(answer, judged_texts(view)):
        raise UnusableError("The answer stands in the judged texts.")
    types = {"questions": list, "answer_needed": bool, "answer_quote": str}
    said, answer_needed, answer_quote = members(value_of(answer), types)
    questions = tuple(question(entry, view.reply) for entry in entries(said))
    return FirstReading(questions, answer_needed, answer_quote, sentence(answer_quote, view.reply))


def question(entry: Any, reply: str) -> Question:
    text, kind, about = members(entry, {"q": str, "type": str, "about": str})
    if kind not in SPAN_TYPES or not text.strip():
        raise UnusableError("A question without a text, or of a type there is not.")
    start, end = find_words(about, reply) or (None, None)
    return Question("model", text, kind, about, start, end, "" if start is not None else "not_in_reply")


def sentence(quote: str, reply: str) -> tuple[int, int] | None:
    """Where the sentence that answers stands. One too short for a quote counts where it is a whole sentence."""
    place = find_quote(quote, reply)
    if place or not (place := find_words(quote.strip(), reply)):
        return place
    around = reply[slice(*window(reply, *place, around=0))]
    return place if normal_form(around).text == normal_form(quote).text else None


# What becomes of the questions


def prepared(first: FirstReading, view: ReplyView, settings: Mapping[str, Any], language: str) -> list[Question]:
    """All questions in the order in which they are looked at, those of the model before the lexical ones."""
    asked = [*first.questions, *lexical(view, settings["allow"], language)]
    extensions = frozenset(settings["extensions"])
    asked = [replace(one, removed=one.removed or dropped(one, extensions)) for one in asked]
    return without_duplicates(asked)


def lexical(view: ReplyView, allowed: Collection[str], language: str) -> Iterator[Question]:
    """Identifiers of the reply that the agent's own work has and the requester never saw."""
    for span in marked(unseen_names(view, allowed), view.reply)[:MOST_LEXICAL]:
        text = LEXICAL_QUESTION[language].replace("{name}", normal_form(span.quote).text)
        yield Question("lexical", text, "reference", span.quote, span.start, span.end)


PATH = re.compile(r"(?:[A-Za-z]:|~)?+[\\/]*+[\w.~%@+-]++(?:[\\/]++[\w.~%@+-]++)++[\\/]*+")
FILE_NAME = re.compile(r"[^\s\\/]+\.([A-Za-z0-9]{1,10})")


def dropped(one: Question, extensions: Collection[str]) -> str:
    """Nobody has to be told what a path or the name of a file is; what has more than the name stays."""
    name = normal_form(one.about).text.strip("\"' ")
    found = FILE_NAME.fullmatch(name)
    is_file = bool(found) and found[1].lower() in extensions  # type: ignore[index]
    return "file_or_path" if is_file or PATH.fullmatch(name) else ""


def without_duplicates(asked: Iterable[Question]) -> list[Question]:
    kept: list[Question] = []
    found: list[Question] = []
    for one in asked:
        if not one.removed and any(is_same(one, other) for other in kept):
            one = replace(one, removed="duplicate")
        elif not one.removed:
            kept.append(one)
        found.append(one)
    return found


def is_same(one: Question, other: Question) -> bool:
    """The same span, or spans that overlap with questions of one type."""
    return (one.start, one.end) == (other.start, other.end) or (one.type == other.type and one.overlaps(other))
