"""Which format a file has: every module of this folder with a `FORMAT` is a reader and looks at the first records."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from annotate.traces.base import Likeness, Place, Problem, Trace, gettext_noop
from annotate.traces.documents import Document
from annotate.traces.packed import Layout


class Reader(Protocol):
    """What a module has to have to be a reader. One whose files may be an object with the records in a list of it names
    that member as `RECORDS_IN`; one whose files may be a zip has `layout(names) -> Records | None` (`packed.py`); one
    whose later records alone could be another format's has `belongs(value) -> bool`."""

    FORMAT: str
    TITLE: str
    sniff: Callable[[Any], Likeness]
    read: Callable[[Iterable[Document | Problem]], Iterator[Trace | Problem]]


@cache
def readers() -> dict[str, Reader]:
    """Every reader by its format, in the order of the names. A module that cannot be imported stops the start."""
    names = sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    modules = [import_module(f"annotate.traces.{name}") for name in names]
    return {module.FORMAT: cast(Reader, module) for module in modules if hasattr(module, "FORMAT")}


def record_lists() -> frozenset[str]:
    """Members that hold the records of a file which is one object."""
    return frozenset(reader.RECORDS_IN for reader in readers().values() if hasattr(reader, "RECORDS_IN"))


def layouts() -> list[Layout]:
    """What tells from the names in an archive that it is one file of a format."""
    return [reader.layout for reader in readers().values() if hasattr(reader, "layout")]


def recognise(values: Iterable[Any]) -> Reader | None:
    """The reader of the first record that any of them knows."""
    for value in values:
        for reader in readers().values():
            if not reader.sniff(value).missing:
                return reader
    return None


def unknown_format(value: Any, place: Place) -> Problem:
    """The formats that come nearest, and what they miss."""
    near = [(reader.FORMAT, reader.sniff(value)) for reader in readers().values()]
    near = sorted((one for one in near if one[1].found), key=lambda one: (-share_found(one[1]), -len(one[1].found)))
    said = "; ".join(f"{name} ({', '.join(likeness.missing)})" for name, likeness in near[:2])
    return place.problem(
        "unknown_format",
        expected=gettext_noop("One of the formats %(formats)s. Nearest, with what is missing: %(near)s."),
        remedy=gettext_noop("Name the format with --format, or convert the file to ours (docs/trace-format.md)."),
        formats=", ".join(readers()),
        near=said or "-",
    )


def share_found(likeness: Likeness) -> float:
    """A format with few marks is not near for missing few."""
    return len(likeness.found) / (len(likeness.found) + len(likeness.missing))


def unknown_format_name(name: str, file_name: str) -> Problem:
    return Problem(
        code="unknown_format",
        file=file_name,
        field="format",
        expected=gettext_noop("One of the formats %(formats)s, or auto; “%(found)s” is none."),
        remedy=gettext_noop("Write one of these."),
        params={"formats": ", ".join(readers()), "found": name},
    )
