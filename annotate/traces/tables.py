"""Files that are tables with a heading (CSV, or columns between semicolons or tabs), row by row as objects of texts.

A file is a table when its first line names at least two columns and its next row has as many. Cells may go over lines.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from annotate.traces.base import Place, Problem, gettext_noop
from annotate.traces.strict_json import Caps, not_utf8, nul_character, too_long

SEPARATORS = ",;\t"
LONGEST_HEADING = 64
NUL, SHOWN_NUL = "\0", "\u2400"


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its cells by the names of their columns, and where it stands; or what is wrong with it."""

    place: Place
    cells: dict[str, str] | None = None
    problems: tuple[Problem, ...] = ()
    n_replaced: int = 0


def separator_of(head: bytes) -> str:
    """What stands between the columns of a file with this begin, or nothing where it is no table."""
    try:
        text = head.decode()
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4:  # the piece may end inside a character
            return ""
        text = head[: error.start].decode()
    first = text.split("\n", 1)[0]
    separator = max(SEPARATORS, key=first.count)
    return separator if separator in first and has_heading(text, separator) else ""


def has_heading(text: str, separator: str) -> bool:
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        names = next(rows)
        second = next((row for row in rows if row), names)
    except (csv.Error, StopIteration):  # the piece may end inside a cell
        second = names = csv_line(text.split("\n", 1)[0], separator)
    stripped = [name.strip() for name in names]
    is_named = all(name and len(name) <= LONGEST_HEADING and "\n" not in name for name in stripped[1:])
    return len(names) > 1 and is_named and len({*stripped}) == len(names) and len(second) == len(names)


def csv_line(line: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator, strict=True), [])
    except csv.Error:
        return []


def rows(
    file: BinaryIO, start: int, file_name: str, separator: str, caps: Caps, replace_nul: bool = False
) -> Iterator[Row]:
    """Every row behind the heading. A row that cannot be read ends the table: nobody knows where the next begins."""
    csv.field_size_limit(max(csv.field_size_limit(), caps.string_characters))
    source = Lines(file, start, file_name, caps)
    reader = csv.reader(source, delimiter=separator, strict=True)
    names: list[str] | None = None
    while True:
        first_line = reader.line_num + 1
        place = Place(file_name, line=first_line)
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            yield Row(place, problems=(malformed(place, str(error)),))
            return
        except Unreadable as error:
            yield Row(place, problems=(error.problem,))
            return
        if names is None:
            names = [name.strip() for name in cells]
        elif cells:
            yield row_of(cells, names, place, caps, replace_nul=replace_nul)


def row_of(cells: list[str], names: list[str], place: Place, caps: Caps, *, replace_nul: bool) -> Row:
    if len(cells) != len(names):
        return Row(place, problems=(wrong_columns(place, len(names), len(cells)),))
    n_nul = sum(cell.count(NUL) for cell in cells)
    if n_nul and not replace_nul:
        return Row(place, problems=(nul_character(place, ""),))
    return Row(
        place,
        {name: cell.replace(NUL, SHOWN_NUL) if n_nul else cell for name, cell in zip(names, cells, strict=True)},
        n_replaced=n_nul,
    )


class Unreadable(Exception):
    """A line that cannot be handed on; carries the problem through the reader of the table."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code)
        self.problem = problem


class Lines:
    """The lines of a file as texts, each of bounded length."""

    def __init__(self, file: BinaryIO, start: int, file_name: str, caps: Caps) -> None:
        self.file, self.file_name, self.caps = file, file_name, caps
        self.at, self.number = start, 0
        file.seek(start)

    def __iter__(self) -> Lines:
        return self

    def __next__(self) -> str:
        line = self.file.readline(self.caps.line_bytes + 1)
        if not line:
            raise StopIteration
        self.number += 1
        place = Place(self.file_name, line=self.number)
        if len(line) > self.caps.line_bytes:
            raise Unreadable(too_long(place, self.caps))
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise Unreadable(not_utf8(place, error.start + 1, self.at + error.start + 1)) from None
        self.at += len(line)
        return text


def wrong_columns(place: Place, n_named: int, n_found: int) -> Problem:
    return place.problem(
        "wrong_columns",
        expected=gettext_noop("%(named)s columns, as the heading has; this row has %(found)s."),
        remedy=gettext_noop("Put cells that hold the separator or a line end in double quotes."),
        named=n_named,
        found=n_found,
    )


def malformed(place: Place, reason: str) -> Problem:
    return place.problem(
        "malformed_table",
        expected=gettext_noop("A table whose cells are in double quotes where they need them: %(reason)s."),
        remedy=gettext_noop("Correct the row; what follows it could not be read."),
        reason=reason,
    )
