"""Where the records of a file begin and end: its lines, or the whole of it as one object."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from annotate.traces.base import Place

PIECE = 64 * 1024
"""How much of a file is read at once where a record is not held as a whole."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The bytes of one record; None where it was above the cap and not held. `at` counts bytes from 0."""

    raw: bytes | None
    place: Place
    at: int
    line: int


def lines(file: BinaryIO, start: int, file_name: str, longest: int) -> Iterator[Piece]:
    """Every line that is not blank."""
    file.seek(start)
    at, number = start, 0
    while line := file.readline(longest + 1):
        number += 1
        place = Place(file_name, line=number)
        if len(line) > longest and not line.endswith(b"\n"):
            yield Piece(None, place, at, number)
            while line and not line.endswith(b"\n"):
                at += len(line)
                line = file.readline(PIECE)
        elif not line.isspace():
            yield Piece(line, place, at, number)
        at += len(line)


def is_one_object(file: BinaryIO, start: int, longest: int) -> bool:
    """Whether the file is one object written over several lines: its first line ends, or its second begins, as no
    line of JSONL does. A first line that is merely cut off stays a line, and is named as one."""
    found = first_lines(file, start, longest)
    if found is None:
        return False
    first, second = found
    return first[-1:] in {b"{", b"[", b",", b":"} or second[:1] in {b"}", b"]", b",", b":"}


def are_arrays(file: BinaryIO, start: int, longest: int) -> bool:
    """Whether the lines of a file that begins with an array are arrays each: the first line ends one and the second
    begins another, as no line of one array does."""
    found = first_lines(file, start, longest)
    return found is not None and found[0][-1:] == b"]" and found[1][:1] == b"["


def first_lines(file: BinaryIO, start: int, longest: int) -> tuple[bytes, bytes] | None:
    """The first two lines that are not blank, of the second its begin; None where the first is above the cap."""
    file.seek(start)
    first = second = b""
    while not first and (line := file.readline(longest + 1)):
        if len(line) > longest:
            return None
        first = line.strip()
    while not second and (line := file.readline(PIECE)):
        second = line.strip()
    return first, second


def one_object(file: BinaryIO, start: int, file_name: str, longest: int) -> Iterator[Piece]:
    file.seek(start)
    raw = file.read(longest + 1)
    yield Piece(None if len(raw) > longest else raw, Place(file_name), start, 1)
