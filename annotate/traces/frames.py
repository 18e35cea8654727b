"""A file that is one object with its records in one of its lists, as files of results are: the list is found, and the
rest of the object read, without holding the records."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass, replace
from typing import BinaryIO

from annotate.traces.arrays import Structure, is_blank_to_the_end
from annotate.traces.base import Problem
from annotate.traces.pieces import PIECE

MEMBER = re.compile(rb'\s*"([^"\\]*)"\s*:\s*')


@dataclass(frozen=True, slots=True)
class Frame:
    """The object around a list of records. `raw` is its text with an empty list in their place, its lines kept; None
    where it was above the cap and not held. The list begins at byte `at` of the file, on line `line`."""

    raw: bytes | None
    member: str
    at: int
    line: int
    head: int
    """So many bytes of `raw` stand before the list's end, and so many bytes of the file are missing there."""
    n_left_out: int

    def in_file(self, problem: Problem) -> Problem:
        """A problem of `raw` with the bytes it names, if any, counted in the file."""
        places = {name: n for name, n in problem.params.items() if name.startswith("byte")}
        if places.get("byte", 0) <= self.head:
            return problem
        return replace(problem, params={**problem.params, **{name: n + self.n_left_out for name, n in places.items()}})


class Frames:
    """Looks for the frame while the file goes by in pieces cut anywhere."""

    def __init__(self, start: int, members: Set[str], longest: int) -> None:
        self.start, self.members, self.longest = start, members, longest
        self.structure, self.depth = Structure(), 0
        self.held, self.n_before, self.line = bytearray(), 0, 1
        self.head = self.n_left_out = 0
        self.name_from = 0
        """Where in `held` the name of a member may begin."""
        self.found: tuple[str, int, int] | None = None
        self.is_inside = self.is_too_long = False

    def add(self, piece: bytes) -> int | None:
        """The place behind the object in this piece, or None where it goes on."""
        begin = 0
        for position, mark in self.structure.marks(piece):
            self.depth += 1 if mark in b"[{" else -1 if mark in b"]}" else 0
            if self.is_inside:
                if self.depth > 1:
                    continue
                self.pass_over(piece, begin, position)
                self.is_inside, self.head, begin = False, len(self.held), position
            elif self.depth == 2 and mark == b"[" and not self.found:
                self.hold(piece[begin:position])
                begin = position
                if name := self.member():
                    line = self.line + piece.count(b"\n", 0, position)
                    self.found = name, self.start + self.n_before + position, line
                    self.is_inside, begin = True, position + 1
                    self.hold(b"[")
            if self.depth <= 1:
                self.hold(piece[begin : position + 1])
                begin = position + 1
                self.name_from = len(self.held)
            if self.depth == 0:
                return position + 1
        if self.is_inside:
            self.pass_over(piece, begin, len(piece))
        else:
            self.hold(piece[begin:])
        self.n_before += len(piece)
        self.line += piece.count(b"\n")
        return None

    def hold(self, part: bytes) -> None:
        self.is_too_long |= len(self.held) + len(part) > self.longest
        if not self.is_too_long:
            self.held += part

    def pass_over(self, piece: bytes, begin: int, end: int) -> None:
        """Of the list's text only the line ends are held, so that what follows keeps its lines."""
        n_line_ends = piece.count(b"\n", begin, end)
        self.hold(b"\n" * n_line_ends)
        self.n_left_out += end - begin - n_line_ends

    def member(self) -> str:
        """The name of the member whose value begins here, if it is one of those looked for."""
        name = MEMBER.fullmatch(self.held, self.name_from)
        found = name[1].decode("utf-8", "replace") if name else ""
        return found if found in self.members else ""


def frame_of(file: BinaryIO, start: int, members: Set[str], longest: int) -> Frame | None:
    """The frame of a file that is one object with a list under one of `members`; else None. A file that ends before
    the list does has one too: what is wrong with the list is said where it is read."""
    file.seek(start)
    frames = Frames(start, members, longest)
    while piece := file.read(PIECE):
        end = frames.add(piece)
        if end is not None:
            if not is_blank_to_the_end(file, piece[end:]):
                return None
            break
        if frames.is_too_long and not frames.found:
            return None
    if not frames.found:
        return None
    if frames.is_inside:
        frames.head = len(frames.held)
        frames.held += b"]}"
    member, at, line = frames.found
    raw = None if frames.is_too_long else bytes(frames.held)
    return Frame(raw, member, at, line, frames.head, frames.n_left_out)
