"""A CSV of ratings, one row a rating, read strictly: whatever cannot be read is named by line and column."""

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from annotate.errors import Refused
from annotate.traces.base import Problem, gettext_noop
from scoring.comparing import Table


def read_table(
    path: Path, *, item: str, rater: str, label: str, cluster: str | None, categories: Sequence[str] | None
) -> Table:
    """The ratings in a CSV file. An empty label cell is no rating, any other empty cell is refused. Without
    `categories` they are the labels of the file in the order of their first row, which nominal figures do not depend
    on."""
    if categories and len(set(categories)) < len(categories):
        raise Refused(declared_twice(categories))
    return parsed(path, [item, rater, label], cluster, categories, None)


def parsed(
    path: Path,
    columns: list[str],
    cluster: str | None,
    categories: Sequence[str] | None,
    read: Callable[[str], Any] | None,
) -> Table:
    """The table, with labels as `read` reads them; without it they are categories."""
    text = read_text(path)
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        return table_of(reader, path.name, columns, cluster, categories, read)
    except csv.Error as error:
        raise Refused(
            Problem(
                code="malformed_csv",
                file=path.name,
                line=reader.reader.line_num,  # its own is that of the last good row
                expected=gettext_noop("This is no CSV: %(why)s."),
                remedy=gettext_noop("Save it as CSV with commas and try again."),
                params={"why": str(error)},
            )
        ) from None


def read_records(
    path: Path, *, item: str, rater: str, label: str, cluster: str | None, kind: str
) -> Table:
    """The records in a CSV file whose labels are texts, numbers or lists, as for one statistic by its name. Which
    categories there are is for its params to say."""
    read = KINDS[kind]

    def label_of(cell: str) -> Any:
        try:
            return read(cell)
        except (ValueError, RecursionError):
            raise UnreadableLabel(cell) from None

    return parsed(path, [item, rater, label], cluster, None, label_of)


class UnreadableLabel(ValueError):
    """A label is not of the kind that was asked for."""


def as_number(cell: str) -> int | float:
    try:
        return int(cell)
    except ValueError:
        number = float(cell)
        if not math.isfinite(number):
            raise ValueError(cell) from None
        return number


def as_list(cell: str) -> list[Any]:
    value = json.loads(cell)
    if not isinstance(value, list):
        raise ValueError(cell)
    return value


KINDS: dict[str, Callable[[str], Any]] = {"text": str, "number": as_number, "list": as_list}


def read_text(path: Path) -> str:
    """The whole file, with or without a byte-order mark; Refused where it cannot be read as UTF-8."""
    try:
        data = path.read_bytes()
        return data.decode("utf-8").removeprefix("\ufeff")
    except OSError as error:
        raise Refused(
            Problem(
                code="unreadable_file",
                file=str(path),
                expected=gettext_noop("The file cannot be opened: %(why)s."),
                remedy=gettext_noop("Check its name and its rights."),
                params={"why": error.strerror or "?"},
            )
        ) from None
    except UnicodeDecodeError as error:
        raise Refused(
            Problem(
                code="not_utf8",
                file=path.name,
                line=data[: error.start].count(b"\n") + 1,
                expected=gettext_noop("The file is no UTF-8 (byte %(byte)s)."),
                remedy=gettext_noop("Save it as UTF-8 and try again."),
                params={"byte": error.start},
            )
        ) from None


def table_of(
    reader: csv.DictReader,
    name: str,
    columns: list[str],
    cluster: str | None,
    categories: Sequence[str] | None,
    read: Callable[[str], Any] | None,
) -> Table:
    check_columns(reader.fieldnames or [], [*columns, *([cluster] if cluster else [])], name)
    triples, lines, cluster_of = [], {}, {}
    for line, row in numbered(reader, name):
        item, rater, label = (row[column] for column in columns)
        for column in (*columns[:2], *([cluster] if cluster else [])):
            if not row[column].strip():
                raise Refused(empty_cell(name, line, column))
        if (item, rater) in lines:
            raise Refused(rated_twice(name, lines[item, rater], line, item, rater))
        lines[item, rater] = line
        if cluster and cluster_of.setdefault(item, row[cluster]) != row[cluster]:
            raise Refused(two_clusters(name, line, item, cluster))
        if label and categories and label not in categories:
            raise Refused(undeclared(name, line, columns[2], label, categories))
        try:
            triples.append((item, rater, (read(label) if read else label) if label else None))
        except UnreadableLabel:
            raise Refused(unreadable(name, line, columns[2], label)) from None
    found = () if read else tuple(dict.fromkeys(label for _, _, label in triples if label is not None))
    if not (categories or found or read):
        raise Refused(no_rating(name, columns[2]))
    if cluster:
        return Table(triples, tuple(categories or found), cluster_of, unit=cluster)
    return Table(triples, tuple(categories or found))


def numbered(reader: csv.DictReader, name: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows with the line they end on; a row with too few or too many cells is refused."""
    for row in reader:
        if None in row or None in row.values():
            raise Refused(
                Problem(
                    code="ragged_row",
                    file=name,
                    line=reader.line_num,
                    expected=gettext_noop("Every row has as many cells as the head of the table."),
                    remedy=gettext_noop("Correct the row; a comma inside a cell needs quotes."),
                )
            )
        yield reader.line_num, row


def check_columns(present: Sequence[str], wanted: Sequence[str], name: str) -> None:
    """Every wanted column is there, and once: of two with one name nobody could say which is meant."""
    for column in wanted:
        if present.count(column) > 1:
            raise Refused(
                Problem(
                    code="duplicate_column",
                    file=name,
                    line=1,
                    field=column,
                    expected=gettext_noop("The column %(column)s stands in the table twice."),
                    remedy=gettext_noop("Rename one of the two."),
                    params={"column": column},
                )
            )
        if column not in present:
            raise Refused(
                Problem(
                    code="missing_field",
                    file=name,
                    line=1,
                    field=column,
                    expected=gettext_noop("There is no column %(column)s; there are: %(present)s."),
                    remedy=gettext_noop("Name the columns with --item, --rater, --label and --cluster."),
                    params={"column": column, "present": ", ".join(present) or "-"},
                )
            )


def empty_cell(name: str, line: int, column: str) -> Problem:
    return Problem(
        code="empty_value",
        file=name,
        line=line,
        field=column,
        expected=gettext_noop("A cell of column %(column)s is empty; only a label may be."),
        remedy=gettext_noop("Fill it in, or remove the row."),
        params={"column": column},
    )


def no_rating(name: str, column: str) -> Problem:
    return Problem(
        code="no_rating",
        file=name,
        field=column,
        expected=gettext_noop("Column %(column)s holds no label at all."),
        remedy=gettext_noop("Fill it in, or name the labels there are with --categories."),
        params={"column": column},
    )


def declared_twice(categories: Sequence[str]) -> Problem:
    return Problem(
        code="duplicate_label",
        field="--categories",
        expected=gettext_noop("Every label once; declared are: %(allowed)s."),
        remedy=gettext_noop("Remove what stands there twice."),
        params={"allowed": ", ".join(categories)},
    )


def rated_twice(name: str, first: int, line: int, item: str, rater: str) -> Problem:
    return Problem(
        code="duplicate_rating",
        file=name,
        line=line,
        expected=gettext_noop("%(rater)s rated item %(item)s twice, in line %(first)s and here."),
        remedy=gettext_noop("Keep the one that counts and remove the other."),
        params={"rater": rater, "item": item, "first": first},
    )


def unreadable(name: str, line: int, column: str, label: str) -> Problem:
    return Problem(
        code="unreadable_label",
        file=name,
        line=line,
        field=column,
        expected=gettext_noop("%(label)s is not what this figure is about: numbers, or lists as JSON writes them."),
        remedy=gettext_noop("Correct the row, or say with --labels-are what the labels are."),
        params={"label": label},
    )


def two_clusters(name: str, line: int, item: str, cluster: str) -> Problem:
    return Problem(
        code="two_clusters",
        file=name,
        line=line,
        field=cluster,
        expected=gettext_noop("Item %(item)s stands in another cluster further up; an item belongs to one."),
        remedy=gettext_noop("Give all its rows the same cluster."),
        params={"item": item},
    )


def undeclared(name: str, line: int, column: str, label: str, categories: Sequence[str]) -> Problem:
    return Problem(
        code="unknown_label",
        file=name,
        line=line,
        field=column,
        expected=gettext_noop("%(label)s is none of the declared labels: %(allowed)s."),
        remedy=gettext_noop("Correct the row, or name the label with --categories."),
        params={"label": label, "allowed": ", ".join(categories)},
    )
