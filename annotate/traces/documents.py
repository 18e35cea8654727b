"""The records of a file one by one, as JSONL, as the elements of a JSON array, as those of a list inside one object, as
one JSON object, or as the rows of a table.

Memory holds one record and a piece of the file, whatever the file's size; a record above the cap is passed over
without being held. What is wrong with a record takes its place in the stream, so that the next ones are read too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any, BinaryIO

from annotate.traces.arrays import elements
from annotate.traces.base import Place, Problem, gettext_noop
from annotate.traces.frames import Frame, frame_of
from annotate.traces.pieces import PIECE, Piece, are_arrays, is_one_object, lines, one_object
from annotate.traces.strict_json import Caps, Parsed, not_utf8, parse, pointer_part, too_long
from annotate.traces.tables import rows, separator_of

MARK = b"\xef\xbb\xbf"
OTHER_MARKS = (b"\xff\xfe", b"\xfe\xff")
BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")
BEGINS_LIKE_JSON = re.compile(rb"""^[ \t]*+(?:\{[ \t]*+(?:"|\}|\r?$)|\[[ \t]*+(?:["\[{\]]|\r?$))""", re.MULTILINE)
"""A line that begins as JSON does, and not only with a bracket, as lines of other texts may."""


@dataclass(frozen=True, slots=True)
class Document:
    """One record of a file and where it stands. `around` is the object whose list holds it, that list left empty; all
    records of a file have the very same one."""

    value: Any
    place: Place
    around: Mapping[str, Any] | None = None


class Documents:
    """Iterates over `Document | Problem` of a seekable binary file, once. `lists` are the members of one object that
    may hold the records."""

    def __init__(
        self,
        file: BinaryIO,
        *,
        file_name: str = "",
        caps: Caps | None = None,
        replace_nul: bool = False,
        lists: Set[str] = frozenset(),
    ) -> None:
        self.file = file
        self.file_name = file_name
        self.caps = caps or Caps()
        self.replace_nul = replace_nul
        self.lists = lists
        self.around: Mapping[str, Any] | None = None
        self.n_replaced_nul = 0

    def __iter__(self) -> Iterator[Document | Problem]:
        head = self.file.read(PIECE)
        start = len(MARK) if head.startswith(MARK) else 0
        self.file.seek(start)
        if may_be_table(head[start:]) and (separator := separator_of(head[start:])):
            found = self.rows(start, separator)
        elif refused := self.refuse(head[start:]):
            yield refused
            return
        else:
            found = self.records(start, head[start:].lstrip()[:1])
        is_empty = True
        for one in found:
            is_empty = False
            yield one
        if is_empty:
            yield empty_file(Place(self.file_name))

    def records(self, start: int, first: bytes) -> Iterator[Document | Problem]:
        for piece in self.pieces(start, first):
            yield from self.read(piece)

    def rows(self, start: int, separator: str) -> Iterator[Document | Problem]:
        for row in rows(self.file, start, self.file_name, separator, self.caps, self.replace_nul):
            self.n_replaced_nul += row.n_replaced
            yield from row.problems or [Document(row.cells, row.place)]

    def refuse(self, head: bytes) -> Problem | None:
        """Files that hold no JSON at all, told by their first bytes and not by their name."""
        place = Place(self.file_name)
        if head.startswith(OTHER_MARKS):
            return not_utf8(Place(self.file_name, line=1), 1, 1)
        if not head.strip() and len(head) < PIECE:
            return empty_file(place)
        if head.lstrip()[:1] in (b"{", b"["):
            return None
        if BINARY.search(head) or not BEGINS_LIKE_JSON.search(head):
            return unsupported_type(place)
        return None

    def pieces(self, start: int, first: bytes) -> Iterator[Piece | Problem]:
        if first == b"[" and not are_arrays(self.file, start, self.caps.line_bytes):
            self.file.seek(start)
            return elements(self.file, start, self.file_name, self.caps.line_bytes)
        if self.lists and first == b"{" and (frame := frame_of(self.file, start, self.lists, self.caps.line_bytes)):
            return self.framed(frame, start)
        if is_one_object(self.file, start, self.caps.line_bytes):
            return one_object(self.file, start, self.file_name, self.caps.line_bytes)
        return lines(self.file, start, self.file_name, self.caps.line_bytes)

    def framed(self, frame: Frame, start: int) -> Iterator[Piece | Problem]:
        """The records of the list, once what is around them is read; nothing but problems where that cannot be."""
        for found in self.read(Piece(frame.raw, Place(self.file_name), start, 1)):
            if isinstance(found, Problem):
                yield frame.in_file(found)
            else:
                self.around = found.value
        if self.around is not None:
            self.file.seek(frame.at)
            within = pointer_part(frame.member)
            yield from elements(
                self.file, frame.at, self.file_name, self.caps.line_bytes, within=within, first_line=frame.line
            )

    def read(self, piece: Piece | Problem) -> Iterator[Document | Problem]:
        if isinstance(piece, Problem):
            yield piece
            return
        if piece.raw is None:
            yield too_long(piece.place, self.caps)
            return
        parsed: Parsed = parse(
            piece.raw,
            piece.place,
            caps=self.caps,
            replace_nul=self.replace_nul,
            at=piece.at,
            first_line=piece.line,
        )
        self.n_replaced_nul += parsed.n_replaced
        if parsed.problems:
            yield from parsed.problems
        else:
            yield Document(parsed.value, piece.place, self.around)


def may_be_table(head: bytes) -> bool:
    return head.lstrip()[:1] not in (b"{", b"[") and not BINARY.search(head) and not head.startswith(OTHER_MARKS)


def empty_file(place: Place) -> Problem:
    return place.problem(
        "empty_file",
        expected=gettext_noop("At least one record; there is none."),
        remedy=gettext_noop("Check the export that wrote the file."),
    )


def unsupported_type(place: Place) -> Problem:
    return place.problem(
        "unsupported_type",
        expected=gettext_noop(
            "JSON, JSON lines or a table as text, or a zip or gzip of them, told by the content and not by the name."
        ),
        remedy=gettext_noop("Export it as one of these, then import again."),
    )
