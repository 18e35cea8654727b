"""Texts as they are compared when somebody quotes them, with the way back to the offsets (docs/methods.md, Quotes of a
model).

The normal form is made cluster by cluster (a character with the marks that combine with it), so what stands in a text
has the same form by itself as inside of it, but for what is cut in the middle of a mark.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from annotate.rules.language import HAN

SHORTEST, SHORTEST_HAN = 8, 4
"""Characters of the normal form below which a quote could stand anywhere."""

PLAIN = {
    **dict.fromkeys("‘’‚‛′＇", "'"),
    **dict.fromkeys("“”„‟″«»「」『』﹁﹂﹃﹄＂", '"'),
    **dict.fromkeys("‐‑‒–—―−﹘﹣－", "-"),
    **dict.fromkeys("`*", ""),
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""),
    "|": " ",
    "｜": " ",
}
"""Quotation marks and dashes made plain; markup and what nobody sees taken out; the bars of tables are blanks."""

EMPHASIS = re.compile(r"(?<!\w)_+|_+(?!\w)")
"""Underscores that are not inside a word."""
HEADING = re.compile(r"(?<!\S)#{1,6}(?=\s)")
DOTS = re.compile(r"\.{3,}")
CLUSTER = re.compile(r".[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a]*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NormalForm:
    """`text` compares; its character i came from `[places[i], ends[i])` of the text as it is."""

    text: str
    places: array[int]
    ends: array[int]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Where `[start, end)`, which is not empty, stands in the text as it is."""
        return self.places[start], self.ends[end - 1]


@lru_cache(maxsize=16)
def normal_form(text: str) -> NormalForm:
    """NFKC with plain quotation marks and dashes, without markup, white space collapsed and trimmed. Case is kept."""
    letters: list[str] = []
    places, ends = array("I"), array("I")
    is_blank = True
    for start, end, letter in pieces(text):
        if letter.isspace():
            if is_blank:
                continue
            letter = " "
        is_blank = letter == " "
        letters.append(letter)
        places.append(start)
        ends.append(end)
    if letters and is_blank:
        letters.pop()
        places.pop()
        ends.pop()
    return NormalForm("".join(letters), places, ends)


def pieces(text: str) -> Iterator[tuple[int, int, str]]:
    """Every character of the form before blanks are collapsed, and where it comes from."""
    gone = bytearray(len(text))
    for pattern in (EMPHASIS, HEADING):
        for found in pattern.finditer(text):
            gone[found.start() : found.end()] = b"\1" * (found.end() - found.start())
    for found in CLUSTER.finditer(text):
        start, end = found.span()
        if gone[start]:
            continue
        letters = PLAIN.get(found[0])
        if letters is None:
            letters = found[0] if found[0].isascii() else plain(found[0])
        for letter in letters:
            yield start, end, letter


def plain(cluster: str) -> str:
    return "".join(PLAIN.get(letter, letter) for letter in unicodedata.normalize("NFKC", cluster))


def find_words(words: str, text: str) -> tuple[int, int] | None:
    """Where words first stand in a text: as they are, or else in their normal form."""
    if not words:
        return None
    start = text.find(words)
    return (start, start + len(words)) if start >= 0 else found_form(normal_form(words).text, text)


def found_form(form: str, text: str) -> tuple[int, int] | None:
    whole = normal_form(text)
    start = whole.text.find(form) if form else -1
    return whole.original(start, start + len(form)) if start >= 0 else None


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Where a quote stands in a text, `[start, end)` of the text as it is; None where it does not, or is too short to
    show anything. A quote with an ellipsis may leave something out there; its parts stand in order."""
    form = normal_form(quote).text
    if is_long_enough(form) and (place := find_words(quote.strip(), text)):
        return place
    parts = [part.strip() for part in DOTS.split(form) if part.strip()]
    if not DOTS.search(form) or not parts or not all(map(is_long_enough, parts)):
        return None
    return in_order(parts, normal_form(text))


def in_order(parts: list[str], whole: NormalForm) -> tuple[int, int] | None:
    first, end = -1, 0
    for part in parts:
        start = whole.text.find(part, end)
        if start < 0:
            return None
        first, end = (start if first < 0 else first), start + len(part)
    return whole.original(first, end)


def is_long_enough(form: str) -> bool:
    return len(form) >= (SHORTEST_HAN if HAN.search(form) else SHORTEST)


def stands_in(quote: str, text: str) -> bool:
    """Whether a quote stands in a text at all, whole or part by part, however short it is."""
    if find_words(quote.strip(), text):
        return True
    parts = [part.strip() for part in DOTS.split(normal_form(quote).text) if part.strip()]
    return bool(parts) and in_order(parts, normal_form(text)) is not None
