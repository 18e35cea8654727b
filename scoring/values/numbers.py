"""Numbers as they are printed: decimal text with a last digit, compared by decimal arithmetic and never in binary.

A value that was asked for has a last digit at 10 to the power of its exponent, in plain as in scientific notation. A
printed number matches it when it has at least the digits down to there and, rounded half-up to there, equals it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal, InvalidOperation, localcontext
from functools import lru_cache
from typing import Literal

from annotate.traces.base import gettext_noop

Precision = Literal["report", "more_digits"]
"""`report` where both have the same last digit, `more_digits` where the printed number has further ones."""

NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eEdD][-+]?\d+)?", re.ASCII)
"""How a number is read out of a text, from the left."""
_RUN = frozenset("0123456789.+-eEdD")
"""What a number is made of; none reaches across anything else."""
_EXPONENT = str.maketrans("dD", "ee")
LARGEST_EXPONENT = 10_000
MOST_DIGITS = 1_000

OTHER_NOTATIONS = {
    "empty": gettext_noop("A number such as 7.078 or 1.543e-02; there is none."),
    "minus_sign": gettext_noop("A number such as 7.078 or 1.543e-02, its minus a hyphen: %(text)s."),
    "thousands": gettext_noop("A number such as 7.078 or 1.543e-02, without groups of thousands: %(text)s."),
    "decimal_comma": gettext_noop("A number such as 7.078 or 1.543e-02, with a point and no comma: %(text)s."),
    "power_of_ten": gettext_noop("A number such as 7.078 or 1.543e-02, a power of ten behind an e: %(text)s."),
    "percent": gettext_noop("A number such as 7.078 or 1.543e-02, no percentage: %(text)s."),
    "fraction": gettext_noop("A number such as 7.078 or 1.543e-02, no fraction: %(text)s."),
    "foreign_digits": gettext_noop("A number such as 7.078 or 1.543e-02, in the digits 0 to 9: %(text)s."),
    "out_of_range": gettext_noop("A number such as 7.078 or 1.543e-02, with fewer digits: %(text)s."),
    "no_number": gettext_noop("A number such as 7.078 or 1.543e-02: %(text)s is none."),
}
"""What is expected of a value that is not read, by what it is written in."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number as printed. `exponent` is that of its last digit: -3 for 7.078 as for 7078e-3."""

    text: str
    value: Decimal
    exponent: int


@lru_cache(maxsize=20_000)
def number(text: str) -> Number | None:
    """The whole text as one number; None where it is none or lies beyond what is read."""
    if len(text) > MOST_DIGITS or not NUMBER.fullmatch(text):
        return None
    try:
        value = Decimal(text.translate(_EXPONENT))
    except InvalidOperation:
        return None
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or abs(exponent) > LARGEST_EXPONENT:
        return None
    return Number(text, value, exponent)


def other_notation(text: str) -> str | None:
    """Why a value is not read as a number, as a code of `OTHER_NOTATIONS`; None where it is read."""
    text = text.strip()
    if number(text):
        return None
    if not text:
        return "empty"
    if NUMBER.fullmatch(text):
        return "out_of_range"
    if any(sign in text for sign in "−–—－"):
        return "minus_sign"
    if any(character.isdigit() and not character.isascii() for character in text) and not re.search(r"[0-9]", text):
        return "foreign_digits"
    if re.fullmatch(r"[-+]?[0-9]{1,3}(?:[,'_ \u00a0\u2009\u202f][0-9]{3})+(?:\.[0-9]*)?", text):
        return "thousands"
    if re.fullmatch(r"[-+]?[0-9]+,[0-9]+(?:[eE][-+]?[0-9]+)?", text):
        return "decimal_comma"
    if re.search(r"[0-9]\s*[×x*·]\s*10", text):
        return "power_of_ten"
    if re.fullmatch(r"[-+]?[0-9.]+\s*[%％]", text):
        return "percent"
    if re.fullmatch(r"[-+]?[0-9]+\s*[/⁄]\s*[0-9]+", text):
        return "fraction"
    return "no_number"


def matching(key: Number, printed: Number) -> Precision | None:
    """Whether a printed number shows the value asked for, and with which digits."""
    if printed.exponent > key.exponent:
        return None
    if not printed.value.is_zero():
        if key.value.is_zero() and printed.value.adjusted() >= key.exponent:
            return None
        if not key.value.is_zero() and abs(printed.value.adjusted() - key.value.adjusted()) > 1:
            return None
    if rounded(printed.value, key.exponent) != key.value:
        return None
    return "report" if printed.exponent == key.exponent else "more_digits"


def rounded(value: Decimal, exponent: int) -> Decimal:
    """To the digit at this exponent, a half away from zero."""
    return _at(value, exponent, ROUND_HALF_UP)


def cut(value: Decimal, exponent: int) -> Decimal:
    """The further digits left out, whatever they are."""
    return _at(value, exponent, ROUND_DOWN)


def _at(value: Decimal, exponent: int, rounding: str) -> Decimal:
    digits = max(value.adjusted(), 0) - min(exponent, 0) + 5
    with localcontext(Context(prec=max(digits, 28))):
        return value.quantize(Decimal((0, (1,), exponent)), rounding=rounding)


@dataclass(frozen=True, slots=True)
class Seen:
    """A place in a text that shows the value: the number as it stands there, and from which character on."""

    start: int
    text: str
    precision: Precision


def occurrences(key: Number, text: str) -> Iterator[Seen]:
    """Every number of a text that matches, in its order. As numbers are read from the left, 17.078 holds no 7.078.

    Only places where the digits of the value stand, or those just below it, are read as numbers: a report has tens of
    thousands, of which hardly any can match."""
    run_end = -1
    numbers: Iterator[re.Match[str]] = iter(())
    token: re.Match[str] | None = None
    for found in _candidates(key).finditer(text):
        place = found.start()
        if place >= run_end:
            run_start, run_end = _run_around(text, place)
            numbers, token = NUMBER.finditer(text, run_start, run_end), None
        if token and place < token.end():
            continue
        token = next((one for one in numbers if one.end() > place), None)
        if token is None or token.start() > place:
            continue
        printed = number(token.group())
        precision = matching(key, printed) if printed else None
        if precision:
            yield Seen(token.start(), token.group(), precision)


def _run_around(text: str, place: int) -> tuple[int, int]:
    """The characters of numbers around one of them: what a number is read from without a look at anything else."""
    start, end = place, place + 1
    while start and text[start - 1] in _RUN:
        start -= 1
    while end < len(text) and text[end] in _RUN:
        end += 1
    return start, end


@lru_cache(maxsize=2_000)
def _candidates(key: Number) -> re.Pattern[str]:
    """Where a match may begin with its first digit that is not 0: with the digits of the value, or with those one below
    in the last digit and then 5 to 9."""
    digits = "".join(map(str, key.value.as_tuple().digits)).lstrip("0")
    if not digits:
        return NUMBER
    below = str(int(digits) - 1).lstrip("0")
    return re.compile("|".join((r"\.?".join(digits), r"\.?".join([*below, "[5-9]"]))), re.ASCII)
