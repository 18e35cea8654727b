"""Spans of several raters over one text: the text cut at every end of a span, each piece with the spans it lies under.

Every rater has a lane of their own, and one more for each span of theirs that lies under another. What is cut is text;
the template escapes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from annotate.rules.light_text import Piece

N_LANES = 12
"""The lanes that styles are made for; what would need more shares the last."""


@dataclass(frozen=True, slots=True)
class MarkType:
    """How a type of marks is called, and what tells it apart in a text: the name of its underline, and a letter. One
    without a letter is given one."""

    title: str
    style: str
    letter: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A span with who marked it; `lane` counts from 1, `letter` and `style` are those of its type."""

    start: int
    end: int
    type: str
    who: str
    lane: int = 1
    letter: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece that no span ends within; `marks` lie under all of it, `begins` are those that begin here."""

    piece: Piece
    marks: tuple[Mark, ...]
    begins: tuple[Mark, ...]

    @property
    def tags(self) -> list[str]:
        """Who begins a span here, by its letter: `a1 a2 r`."""
        letters = dict.fromkeys(mark.letter for mark in self.begins)
        return [" ".join([*(one.who for one in self.begins if one.letter == letter), letter]) for letter in letters]


@dataclass(frozen=True, slots=True)
class LanedText:
    """`legend` is of the types that are in it."""

    segments: tuple[Segment, ...]
    n_lanes: int
    legend: tuple[MarkType, ...]


def laned(pieces: Sequence[Piece], marks: Sequence[Mark], types: Mapping[str, MarkType] | None = None) -> LanedText:
    """The pieces cut so; joined, their texts are what they were. What of a mark lies outside of it is left out. A type
    that is not among `types` goes by its own name."""
    n_characters = sum(len(piece.text) for piece in pieces)
    looks = looks_of({one.type: None for one in marks}, types or {})
    placed = in_lanes(
        Mark(
            max(0, one.start),
            min(n_characters, one.end),
            one.type,
            one.who,
            letter=looks[one.type].letter,
            style=looks[one.type].style,
        )
        for one in marks
        if one.start < min(n_characters, one.end)
    )
    cuts = sorted({end for one in placed for end in (one.start, one.end)})
    waiting = sorted(placed, key=lambda one: one.start)
    segments: list[Segment] = []
    running: list[Mark] = []
    at, begun = 0, 0
    for piece in cut(pieces, cuts):
        first = begun
        while begun < len(waiting) and waiting[begun].start <= at:
            begun += 1
        running = [one for one in running if one.end > at] + waiting[first:begun]
        segments.append(Segment(piece, by_lane(running), by_lane(waiting[first:begun])))
        at += len(piece.text)
    n_lanes = max((one.lane for one in placed), default=0)
    return LanedText(tuple(segments), n_lanes, tuple(looks.values()))


def looks_of(types: Iterable[str], known: Mapping[str, MarkType]) -> dict[str, MarkType]:
    """Each of these types with a letter."""
    letters = letters_of(types)
    looks = {type: known.get(type, MarkType(type, type)) for type in letters}
    return {type: look if look.letter else replace(look, letter=letters[type]) for type, look in looks.items()}


def letters_of(types: Iterable[str]) -> dict[str, str]:
    """What each type begins with, as far as no other begins so."""
    types = list(types)

    def short(type: str) -> str:
        others = [one for one in types if one != type]
        lengths = range(1, len(type) + 1)
        return next((type[:n] for n in lengths if not any(one.startswith(type[:n]) for one in others)), type)

    return {type: short(type) for type in types}


def by_lane(marks: Iterable[Mark]) -> tuple[Mark, ...]:
    return tuple(sorted(marks, key=lambda one: (one.lane, one.start)))


def in_lanes(marks: Iterable[Mark]) -> list[Mark]:
    """Each mark with its lane: those of one rater together, in the order in which raters came."""
    of_rater: dict[str, list[Mark]] = {}
    for mark in marks:
        of_rater.setdefault(mark.who, []).append(mark)
    placed: list[Mark] = []
    first = 1
    for own in of_rater.values():
        ends: list[int] = []  # of the last mark in each lane of this rater
        for mark in sorted(own, key=lambda one: (one.start, -one.end)):
            free = next((place for place, end in enumerate(ends) if end <= mark.start), len(ends))
            ends[free : free + 1] = [mark.end]
            placed.append(replace(mark, lane=min(first + free, N_LANES)))
        first += len(ends)
    return placed


def cut(pieces: Sequence[Piece], cuts: Sequence[int]) -> Iterator[Piece]:
    """The pieces, none of which reaches over a cut."""
    at, place = 0, 0
    for piece in pieces:
        end, begin = at + len(piece.text), at
        while place < len(cuts) and cuts[place] <= begin:
            place += 1
        while place < len(cuts) and cuts[place] < end:
            yield replace(piece, text=piece.text[begin - at : cuts[place] - at])
            begin = cuts[place]
            place += 1
        yield replace(piece, text=piece.text[begin - at :])
        at = end
