"""The reader's second step: which questions find an answer, how far one has to read for it, and whether the sentence
that is said to hold it does (docs/methods.md, Reader)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from annotate.rules.language import HAN
from annotate.rules.normal_form import find_quote, normal_form, stands_in
from annotate.rules.windows import window
from scoring.judges.base import Answer, Ask, ReplyView
from scoring.judges.raw_answers import Again, GivenUp, UnusableError, entries, is_copied, members, usable, value_of
from scoring.judges.reader_questions import WORDS, Question, dialog_texts, file_texts, judged_texts, r_texts
from scoring.judges.shown_texts import one_line, parts

NOT_IN_TEXT = "NOT_IN_TEXT"
SCOPES = ("window", "reply", "context")
BATCH = 40
"""So many questions at a time: the answers to more would meet the output limit."""
FEWEST_WORDS, FEWEST_HAN = 3, 6
WORD = re.compile(r"[^\W_]*[^\W\d_][^\W_]*")

QUESTION = {"en": "{number}. {text} (about: {about})", "zh": "{number}. {text}（所问片段：{about}）"}
PASSAGE = {"en": "passage for question {number}", "zh": "问题 {number} 的段落"}


@dataclass(frozen=True, slots=True)
class Given:
    """One answer: what it says, with which quote."""

    answer: str
    quote: str

    @property
    def says_something(self) -> bool:
        return self.answer.strip().strip(".。") not in ("", NOT_IN_TEXT)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a quote stands: in the `reply`, or in the text of R of this number."""

    where: str | int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """How far a question came. Open is one without a `scope`; at the end it is a gap."""

    question: Question
    given: Given = Given("", "")
    scope: str = "none"
    place: Place | None = None
    was_answered: bool = False
    """Whether anything was said to answer it, be it with a quote that holds or not."""
    is_invented: bool = False
    """Whether a quote stood in no text at all."""

    @property
    def is_gap(self) -> bool:
        return not self.question.removed and self.scope == "none"


def answered(
    questions: Sequence[Question],
    view: ReplyView,
    settings: Mapping[str, Any],
    language: str,
    answers: Sequence[Answer],
) -> list[Outcome] | Ask | GivenUp:
    """Every question with its answer, or what has to be asked next. Only what is open goes to the next scope."""
    outcomes = [Outcome(question) for question in questions]
    for scope in SCOPES if settings["scopes"] == "in_order" else SCOPES[-1:]:
        still_open = [number for number, one in enumerate(outcomes) if one.is_gap]
        for first in range(0, len(still_open), BATCH):
            batch = still_open[first : first + BATCH]
            step = f"answers:{scope}" + (f":{first // BATCH + 1}" if first else "")
            those = [outcomes[number].question for number in batch]
            given = usable(answers, step, partial(read, n=len(those), view=view))
            if isinstance(given, Again):
                return ask(step, given.attempt, scope, those, view, language)
            if isinstance(given, GivenUp):
                return given
            for number, one in zip(batch, given, strict=True):
                outcomes[number] = with_answer(outcomes[number], one, scope, view, settings)
    return outcomes


def ask(step: str, attempt: int, scope: str, those: Sequence[Question], view: ReplyView, language: str) -> Ask:
    return Ask(
        step=step,
        attempt=attempt,
        prompt="reader.answers",
        language=language,
        values={"text": scope_text(scope, those, view, language), "questions": numbered(those, language)},
        schema=schema(len(those)),
    )


def numbered(those: Sequence[Question], language: str) -> str:
    return "\n".join(
        QUESTION[language].format(number=number, text=one_line(one.text), about=one_line(one.about))
        for number, one in enumerate(those, start=1)
    )


def scope_text(scope: str, those: Sequence[Question], view: ReplyView, language: str) -> str:
    """What the answers are to be found in."""
    if scope == "reply":
        return view.reply
    if scope == "window":
        return parts(list(passages(those, view.reply, language)), language)
    whole = [*file_texts(view, language), *dialog_texts(view, language), (WORDS[language]["reply"], view.reply)]
    return parts(whole, language)


def passages(those: Sequence[Question], reply: str, language: str) -> Iterator[tuple[str, str]]:
    for number, one in enumerate(those, start=1):
        yield PASSAGE[language].format(number=number), reply[slice(*around(one, reply))]


def around(one: Question, reply: str) -> tuple[int, int]:
    if one.start is None or one.end is None:
        raise ValueError("A question about nothing in the reply has no window.")
    return window(reply, one.start, one.end)


def schema(n: int) -> dict[str, Any]:
    """The root is an object, as endpoints that know schemas want one; `read` takes the bare list too."""
    entry = {
        "type": "object",
        "properties": {"answer": {"type": "string"}, "quote": {"type": "string"}},
        "required": ["answer", "quote"],
        "additionalProperties": False,
    }
    answers = {"type": "array", "items": entry, "minItems": n, "maxItems": n}
    return {
        "type": "object",
        "properties": {"answers": answers},
        "required": ["answers"],
        "additionalProperties": False,
    }


def read(answer: Answer, *, n: int, view: ReplyView) -> list[Given]:
    """One entry for each question; UnusableError where it is not that, or was taken from the judged texts."""
    if is_copied(answer, judged_texts(view)):
        raise UnusableError("The answer stands in the judged texts.")
    value = value_of(answer)
    if isinstance(value, dict):
        (value,) = members(value, {"answers": list})
    if len(entries(value)) != n:
        raise UnusableError(f"Not {n} answers.")
    return [Given(*members(entry, {"answer": str, "quote": str})) for entry in value]


# Whether an answer counts


def with_answer(
    outcome: Outcome, given: Given, scope: str, view: ReplyView, settings: Mapping[str, Any]
) -> Outcome:
    if not given.says_something:
        return outcome if outcome.was_answered else replace(outcome, given=given)
    question = outcome.question
    place, found_in = located(given.quote, question, scope, view, settings)
    said = replace(outcome, given=given, place=place, was_answered=True)
    if place is None:
        is_nowhere = bool(given.quote.strip()) and not any(stands_in(given.quote, text) for text in judged_texts(view))
        return replace(said, is_invented=outcome.is_invented or is_nowhere)
    return replace(said, scope=found_in) if says_more(given.quote, question.about) else said


def located(
    quote: str, question: Question, scope: str, view: ReplyView, settings: Mapping[str, Any]
) -> tuple[Place | None, str]:
    """Where a quote stands, and in which scope that is: the one that was shown, or where everything was shown at once
    the narrowest."""
    for one in (scope,) if settings["scopes"] == "in_order" else SCOPES:
        if place := place_of(quote, question, one, view):
            return place, one
    return None, "none"


def place_of(quote: str, question: Question, scope: str, view: ReplyView) -> Place | None:
    """With the context at hand, what is new in it comes first."""
    if scope == "window":
        start, end = around(question, view.reply)
        place = find_quote(quote, view.reply[start:end])
        return place and Place("reply", start + place[0], start + place[1])
    if scope == "context":
        for number, text in enumerate(r_texts(view)):
            if place := find_quote(quote, text):
                return Place(number, *place)
    place = find_quote(quote, view.reply)
    return place and Place("reply", *place)


def says_more(quote: str, about: str) -> bool:
    """Whether a quote says anything beside what was asked about: a mere repetition explains nothing."""
    rest, span = normal_form(quote).text, normal_form(about).text
    rest = rest.replace(span, " ") if span else rest
    n_han = len(HAN.findall(rest))
    return n_han >= FEWEST_HAN or len(WORD.findall(HAN.sub(" ", rest))) >= FEWEST_WORDS
