"""A reply as a model wrote it, read as it came: a text, or nothing that can be used."""

from __future__ import annotations

from collections.abc import Sequence

from annotate.rules.quotes import canonical
from scoring.judges.base import Answer
from scoring.judges.raw_answers import UNFIT, Again, GivenUp, UnusableError, usable

LONGEST_TEXT = 200_000


def text_of(answers: Sequence[Answer], step: str) -> str | Again | GivenUp:
    """What was written at a step, or the next attempt at it."""
    return usable(answers, step, read)


def read(answer: Answer) -> str:
    """The text; UnusableError where the model called a tool, refused, was cut off or said nothing."""
    if answer.is_tool_call:
        raise UnusableError("The model called a tool.")
    if answer.refused:
        raise UnusableError("The model refused.")
    if answer.cut:
        raise UnusableError("The output limit ended the text.")
    text = canonical(answer.text).strip()
    if not text or len(text) > LONGEST_TEXT or UNFIT.search(text):
        raise UnusableError("No text, or one that cannot be kept.")
    return text
