"""The elements of a JSON array one by one: only brackets and commas outside strings are looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from annotate.traces.base import Place, Problem, gettext_noop
from annotate.traces.pieces import PIECE, Piece

OUTSIDE = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(")?|[\[\]{},]', re.DOTALL)
REST_OF_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+(")?', re.DOTALL)


class Structure:
    """Brackets and commas outside strings, through a file that is read in pieces cut anywhere."""

    def __init__(self) -> None:
        self.in_string = False
        self.is_escaped = False

    def marks(self, piece: bytes) -> Iterator[tuple[int, bytes]]:
        position = self.leave_string(piece) if self.in_string else 0
        for match in OUTSIDE.finditer(piece, position):
            mark = piece[match.start() : match.start() + 1]
            if mark != b'"':
                yield match.start(), mark
            elif not match[1]:
                self.in_string, self.is_escaped = True, match.end() < len(piece)
                return

    def leave_string(self, piece: bytes) -> int:
        match = REST_OF_STRING.match(piece, 1 if self.is_escaped else 0)
        if match is None or not match[1]:
            self.is_escaped = match is not None and match.end() < len(piece)
            return len(piece)
        self.in_string = self.is_escaped = False
        return match.end()


class Slice:
    """The bytes of the element being read, dropped as soon as they are too many."""

    def __init__(self, at: int, line: int, longest: int) -> None:
        self.at, self.line, self.longest = at, line, longest
        self.n_bytes, self.n_line_ends = 0, 0
        self.held = bytearray()

    def add(self, part: bytes) -> None:
        self.n_bytes += len(part)
        self.n_line_ends += part.count(b"\n")
        if self.n_bytes <= self.longest:
            self.held += part
        else:
            self.held.clear()

    def piece(self, place: Place) -> Piece:
        is_held = self.n_bytes <= self.longest
        return Piece(bytes(self.held) if is_held else None, place, self.at, self.line)

    def following(self) -> Slice:
        """The next slice, after this one and the one mark that ended it."""
        return Slice(self.at + self.n_bytes + 1, self.line + self.n_line_ends, self.longest)

    @property
    def is_blank(self) -> bool:
        return self.n_bytes <= self.longest and not self.held.strip()


def elements(
    file: BinaryIO, start: int, file_name: str, longest: int, *, within: str | None = None, first_line: int = 1
) -> Iterator[Piece | Problem]:
    """Every element with its index; then a problem where the array is not closed, or something follows it.

    The file stands at `start` on line `first_line`, its first character that is not blank is the opening bracket.
    `within` is the pointer of an array that is part of something larger, about whose end others have to care."""
    piece = file.read(PIECE)
    opening = piece.index(b"[")
    structure, depth, index, prefix = Structure(), 1, 0, within or ""
    current = Slice(start + opening + 1, first_line + piece[:opening].count(b"\n"), longest)
    piece = piece[opening + 1 :] or file.read(PIECE)
    while piece:
        begin = 0
        for position, mark in structure.marks(piece):
            depth += 1 if mark in b"[{" else -1 if mark in b"]}" else 0
            if depth == 0 or (depth == 1 and mark == b","):
                current.add(piece[begin:position])
                if depth or index or not current.is_blank:
                    yield current.piece(Place(file_name, prefix=f"{prefix}/{index}"))
                index, current, begin = index + 1, current.following(), position + 1
            if depth == 0:
                if within is None and not is_blank_to_the_end(file, piece[begin:]):
                    yield goes_on(Place(file_name, line=current.line))
                return
        current.add(piece[begin:])
        piece = file.read(PIECE)
    yield cut_off(Place(file_name, prefix=f"{prefix}/{index}"))


def is_blank_to_the_end(file: BinaryIO, piece: bytes) -> bool:
    while piece:
        if not piece.isspace():
            return False
        piece = file.read(PIECE)
    return True


def cut_off(place: Place) -> Problem:
    return place.problem(
        "malformed_json",
        expected=gettext_noop("An array closed by a bracket; the file ends before that, in or after this element."),
        remedy=gettext_noop("Look for a missing bracket or quote from this element on, or export the file again."),
    )


def goes_on(place: Place) -> Problem:
    return place.problem(
        "malformed_json",
        expected=gettext_noop("One array; after its closing bracket something follows."),
        remedy=gettext_noop("Remove what follows, or write one record a line."),
    )
