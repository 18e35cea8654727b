"""A file becomes traces and problems: its records are read strictly, its format found, every id kept once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from typing import Any, BinaryIO

from annotate.traces.base import Place, Problem, Trace, gettext_noop
from annotate.traces.documents import Document, Documents
from annotate.traces.identity import FirstPlaces
from annotate.traces.sniff import Reader, readers, recognise, record_lists, unknown_format, unknown_format_name
from annotate.traces.strict_json import Caps

LOOKED_AT = 10
"""So many records may be unknown before a known one, and a hundred times as many broken."""
LONGEST_NAME = 255
WHOLE_FILE = frozenset({"empty_file", "unsupported_type", "unknown_format", "no_traces"})
"""Codes of problems that no skipping of records can help."""


class Reading:
    """Iterates over `Trace | Problem` of a seekable binary file, once. `format` is known before, or empty."""

    def __init__(
        self,
        file: BinaryIO,
        *,
        file_name: str = "",
        format: str = "auto",
        caps: Caps | None = None,
        replace_nul: bool = False,
    ) -> None:
        self.file_name = file_name
        self.source = Documents(file, file_name=file_name, caps=caps, replace_nul=replace_nul, lists=record_lists())
        self.documents = iter(self.source)
        self.first: list[Document | Problem] = []
        self.refused: Problem | None = None
        self.reader = self.recognised() if format == "auto" else self.named(format)
        self.format = self.reader.FORMAT if self.reader else ""

    @property
    def n_replaced_nul(self) -> int:
        return self.source.n_replaced_nul

    def named(self, format: str) -> Reader | None:
        if format not in readers():
            self.refused = unknown_format_name(format, self.file_name)
        return readers().get(format)

    def recognised(self) -> Reader | None:
        """Looks no further than a few records, and holds those it looked at."""
        n_known = 0
        for found in self.documents:
            self.first.append(found)
            if isinstance(found, Document):
                n_known += 1
                reader = recognise(looks(found))
                if reader or n_known == LOOKED_AT:
                    break
            elif len(self.first) == 100 * LOOKED_AT:
                break
        documents = [found for found in self.first if isinstance(found, Document)]
        reader = recognise(look for document in documents for look in looks(document))
        if reader is None and documents:
            self.refused = unknown_format(documents[0].value, documents[0].place)
        return reader

    def __iter__(self) -> Iterator[Trace | Problem]:
        if self.reader is None:
            yield from (found for found in self.first if isinstance(found, Problem))
            if self.refused:
                yield self.refused
            return
        n_found = 0
        for found in once(self.reader.read(chain(self.first, self.documents))):
            n_found += not (isinstance(found, Problem) and found.warning)
            yield found
        if not n_found:
            yield no_traces(self.file_name)


def looks(document: Document) -> Iterator[Any]:
    """What tells the format of a record: the object that holds it in a list, if there is one, and then itself."""
    if document.around is not None:
        yield {**document.around, **{name: [document.value] for name in record_lists() & document.around.keys()}}
    yield document.value


def once(found: Iterator[Trace | Problem]) -> Iterator[Trace | Problem]:
    """Traces with an id that stood before, or a name that cannot be stored, become problems."""
    with closing(FirstPlaces()) as places:
        for one in found:
            if isinstance(one, Problem):
                yield one
                continue
            earlier = places.earlier(one.source_id, one.place)
            if earlier is not None:
                yield duplicate_id(one, earlier)
            elif too_long := [name for name in names(one) if len(name) > LONGEST_NAME]:
                yield name_too_long(one, too_long[0])
            else:
                yield one


def names(trace: Trace) -> Iterator[str]:
    """Every text of a trace that is kept as a name."""
    yield from (trace.source_id, trace.area, trace.cluster)
    yield from (file.name for file in trace.files)
    for message in trace.messages:
        yield from (message.name, message.answers_id)


def duplicate_id(trace: Trace, earlier: str) -> Problem:
    return trace.place.problem(
        "duplicate_id",
        "/id",
        expected=gettext_noop("Every id once in a file; “%(id)s” stands on %(earlier)s and again on %(place)s."),
        remedy=gettext_noop("Give each trace its own id, or remove one."),
        id=trace.source_id,
        earlier=earlier,
        place=str(trace.place),
    )


def name_too_long(trace: Trace, name: str) -> Problem:
    return trace.place.problem(
        "too_long",
        expected=gettext_noop("Names and ids of at most %(longest)s characters; this one begins with “%(found)s”."),
        remedy=gettext_noop("Shorten it in the file."),
        longest=LONGEST_NAME,
        found=name[:40],
    )


def no_traces(file_name: str) -> Problem:
    return Place(file_name).problem(
        "no_traces",
        expected=gettext_noop("At least one trace; no record of the file is one in this format."),
        remedy=gettext_noop("Import with --format auto, or check what the file holds."),
    )
