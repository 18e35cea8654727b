"""Texts as pieces: every character stays in its place, so offsets hold, and is at most styled.

`light` dims Markdown's markers, sets code and tables in the typeface of code and headings in bold; `plain` styles
nothing. Both make invisible and direction-changing characters visible, each in a piece of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

FENCE = re.compile(r"^\s{0,3}(```|~~~)")
HEADING = re.compile(r"^(\s{0,3}#{1,6}\s+)(.*)$", re.DOTALL)
QUOTE = re.compile(r"^(\s{0,3}>+\s?)(.*)$", re.DOTALL)
TABLE = re.compile(r"^\s*\|.*\|\s*$")
INLINE = re.compile(r"(?P<tick>`+)(?P<code>[^`\n]+)(?P=tick)|(?P<star>\*\*)(?P<strong>[^*\n]+)(?P=star)")

CONTROL = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
    "|(?<=[ -~])[\u200c\u200d]"
)
"""Characters nobody sees or that turn the direction of what follows. Joiners count only after plain ASCII: inside an
emoji or a script that needs them they are part of the writing."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters, how it is styled (empty: not at all), and for an invisible one its name to show."""

    text: str
    style: str = ""
    name: str = ""


def plain(text: str) -> tuple[Piece, ...]:
    """`text` as it is, invisible characters named."""
    return tuple(with_controls(Piece(text)))


def light(text: str) -> tuple[Piece, ...]:
    """`text` with Markdown's structure styled; joined, the pieces are `text`."""
    return tuple(named for piece in joined(styled_lines(text)) for named in with_controls(piece))


def styled_lines(text: str) -> Iterator[Piece]:
    inside_fence = False
    for line in text.splitlines(keepends=True) if "\n" in text else [text]:
        if FENCE.match(line):
            inside_fence = not inside_fence
            yield Piece(line, "marker")
        elif inside_fence:
            yield Piece(line, "code")
        else:
            yield from styled_line(line)


def styled_line(line: str) -> Iterator[Piece]:
    if TABLE.match(line):
        yield Piece(line, "code")
    elif found := HEADING.match(line):
        yield Piece(found[1], "marker")
        yield Piece(found[2], "strong")
    elif found := QUOTE.match(line):
        yield Piece(found[1], "marker")
        yield from inline(found[2])
    else:
        yield from inline(line)


def inline(text: str) -> Iterator[Piece]:
    """Code spans and bold runs; their markers are dimmed."""
    end = 0
    for found in INLINE.finditer(text):
        yield Piece(text[end : found.start()])
        marker = found["tick"] or found["star"]
        yield Piece(marker, "marker")
        yield Piece(found["code"] or found["strong"], "code" if found["tick"] else "strong")
        yield Piece(marker, "marker")
        end = found.end()
    yield Piece(text[end:])


def joined(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Neighbours of one style as one piece; empty ones left out."""
    text, style = "", ""
    for piece in pieces:
        if piece.style != style and text:
            yield Piece(text, style)
            text = ""
        text, style = text + piece.text, piece.style
    if text:
        yield Piece(text, style)


def with_controls(piece: Piece) -> Iterator[Piece]:
    """The piece cut at every invisible character, which stands alone under its name."""
    end = 0
    for found in CONTROL.finditer(piece.text):
        if found.start() > end:
            yield Piece(piece.text[end : found.start()], piece.style)
        yield Piece(found[0], "control", f"U+{ord(found[0]):04X}")
        end = found.end()
    if end < len(piece.text):
        yield Piece(piece.text[end:], piece.style)
