"""What a model wrote, read strictly: one JSON value, alone or in one fenced block, and exactly of the form that was
asked for. What is anything else is asked for again, and is never guessed at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from annotate.traces.base import Place
from annotate.traces.strict_json import Caps, parse
from scoring.judges.base import MOST_ATTEMPTS, Answer

FENCED = re.compile(r"\s*```(?:json)?[ \t]*\n(.*)\n[ \t]*```\s*", re.DOTALL | re.IGNORECASE)
CAPS = Caps(line_bytes=1_000_000, string_characters=20_000, nesting=10, problems=1)
MOST_ENTRIES = 1000
SHORTEST_COPY = 12
"""An answer shorter than this may stand in a text by chance."""
UNFIT = re.compile("[\0\ud800-\udfff]")

Read = TypeVar("Read")


class UnusableError(ValueError):
    """An answer that is not of the form asked for; the message says in English what is wrong, for who reads the code's
    tests or a log."""


@dataclass(frozen=True, slots=True)
class Again:
    """Nothing usable yet."""

    attempt: int


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Nothing usable in all attempts; the last answer as it came, but for what no database keeps."""

    raw: str


def usable(
    answers: Sequence[Answer],
    step: str,
    read: Callable[[Answer], Read],
    is_enough: Callable[[Read], bool] = lambda _: True,
) -> Read | Again | GivenUp:
    """The first answer of a step that can be used and is enough; after the last attempt the last that can be used."""
    given = [answer for answer in answers if answer.step == step][:MOST_ATTEMPTS]
    values: list[Read] = []
    for answer in given:
        try:
            value = read(answer)
        except UnusableError:
            continue
        if is_enough(value):
            return value
        values.append(value)
    if len(given) < MOST_ATTEMPTS:
        return Again(len(given) + 1)
    return values[-1] if values else GivenUp(UNFIT.sub("\ufffd", given[-1].text))


def value_of(answer: Answer) -> Any:
    """The one JSON value of an answer."""
    if answer.refused:
        raise UnusableError("The model refused.")
    if answer.cut:
        raise UnusableError("The output limit ended the answer.")
    raw = bare(answer.text).encode("utf-8", "surrogatepass")
    if len(raw) > CAPS.line_bytes:
        raise UnusableError("The answer is too long.")
    parsed = parse(raw, Place(line=1), caps=CAPS)
    if parsed.problems:
        raise UnusableError(parsed.problems[0].sentence())
    return parsed.value


def bare(text: str) -> str:
    """An answer without the fence around it."""
    fenced = FENCED.fullmatch(text)
    return fenced[1] if fenced else text


def members(value: Any, types: Mapping[str, type]) -> tuple[Any, ...]:
    """The members of an object in the order of `types`, each of its type; one more or less is an error."""
    if not isinstance(value, dict) or set(value) != set(types):
        raise UnusableError(f"Not an object of {', '.join(types)}.")
    for name, wanted in types.items():
        if type(value[name]) is not wanted:
            raise UnusableError(f"{name} is no {wanted.__name__}.")
    return tuple(value[name] for name in types)


def entries(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > MOST_ENTRIES:
        raise UnusableError(f"Not a list of at most {MOST_ENTRIES}.")
    return value


def is_copied(answer: Answer, texts: Iterable[str]) -> bool:
    """Whether the whole answer stands in one of the judged texts, white space aside: then it says what the text told
    the model to say."""
    said = without_blanks(bare(answer.text))
    return len(said) >= SHORTEST_COPY and any(said in without_blanks(text) for text in texts)


def without_blanks(text: str) -> str:
    return "".join(text.split())
