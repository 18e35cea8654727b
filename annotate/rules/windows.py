"""The piece of a text around a span, cut at the ends of sentences (docs/methods.md, Windows)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache

AROUND = 200
SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。！？；]|\n")


def window(text: str, start: int, end: int, around: int = AROUND) -> tuple[int, int]:
    """`[start, end)` with so many characters before and after it, widened to the sentences it then cuts."""
    return sentence_start(text, max(0, start - around)), sentence_end(text, min(len(text), end + around))


def sentence_start(text: str, place: int) -> int:
    """Behind the last sentence end that is not behind a place."""
    ends = sentence_ends(text)
    before = bisect_right(ends, place)
    return ends[before - 1] if before else 0


def sentence_end(text: str, place: int) -> int:
    """Behind the first sentence end that is not before a place; where one ends at the very place, there."""
    ends = sentence_ends(text)
    behind = bisect_left(ends, place)
    return ends[behind] if behind < len(ends) else len(text)


@lru_cache(maxsize=4)
def sentence_ends(text: str) -> tuple[int, ...]:
    return tuple(found.end() for found in SENTENCE_END.finditer(text))
