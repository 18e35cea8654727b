"""Which gaps people are asked about, and what they see of each: a sample over models, and a window around the words."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from annotate.rules.remainders import allotted

AROUND = 200
"""Characters of the reply on either side of the words in question."""


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a text, and where in it the words in question are, in code points."""

    text: str
    start: int
    end: int


def window(text: str, start: int, end: int, around: int = AROUND) -> Window:
    """`text` is canonical, as offsets count in it. ValueError where the words are not in it."""
    if not 0 <= start < end <= len(text):
        raise ValueError(f"No words from {start} to {end} in a text of {len(text)} characters.")
    first = max(0, start - around)
    return Window(text[first : end + around], start - first, end - first)


def sampled(groups: Sequence[Hashable], n: int, seed: int) -> list[int]:
    """The places of `n` things, drawn from each group as many as largest remainders allot to it, in their order;
    `groups` says of each what it belongs to. The same seed draws the same."""
    places: dict[Hashable, list[int]] = defaultdict(list)
    for place, group in enumerate(groups):
        places[group].append(place)
    names = sorted(places, key=str)
    numbers = allotted({name: len(places[name]) for name in names}, n)
    drawn: list[int] = []
    for name in names:
        drawn += random.Random(f"{seed}/gaps/{name}").sample(places[name], numbers[name])
    return sorted(drawn)
