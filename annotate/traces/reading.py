"""A file becomes traces and problems: it is unpacked, its records are read strictly, its format is found, labels that
lie beside the runs are put to them, every id is kept once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, BinaryIO, Protocol

from annotate.traces.base import Place, Problem, Trace, gettext_noop
from annotate.traces.documents import Document, Documents
from annotate.traces.identity import FirstPlaces
from annotate.traces.labels import LabelFile, Labels, attached, is_labels, labels_only, left_over, read_labels
from annotate.traces.packed import Archive, Inner, UnpackCaps, Unpacking, candidates, packing, shown
from annotate.traces.sniff import (
    Reader,
    layouts,
    readers,
    recognise,
    record_lists,
    unknown_format,
    unknown_format_name,
)
from annotate.traces.strict_json import Caps, parse, too_long

LOOKED_AT = 10
"""So many records may be unknown before a known one, and a hundred times as many broken."""
LONGEST_NAME = 255
WHOLE_FILE = frozenset({"empty_file", "unsupported_type", "unknown_format", "no_traces", "labels_only"})
"""Codes of problems that no skipping of records can help. Inside an archive they are those of one file of many."""
ONE_OF_MANY = "not_read_in_archive"
LABELS = b'"trajectory_id"'
"""Stands near the begin of every label file, so that an archive need not be read twice to find them."""


class Source(Protocol):
    """Where the records of one part come from."""

    n_replaced_nul: int

    def __iter__(self) -> Iterator[Document | Problem]: ...


class Samples:
    """The records of an archive that is one file of a format, with what holds for all of them around each."""

    def __init__(self, archive: Archive, caps: Caps, *, replace_nul: bool) -> None:
        self.archive, self.caps, self.replace_nul = archive, caps, replace_nul
        self.n_replaced_nul = 0

    def __iter__(self) -> Iterator[Document | Problem]:
        around: Mapping[str, Any] = {}
        for found in self.read(self.archive.layout.around, None):
            if isinstance(found, Problem):
                yield found
            elif isinstance(found.value, dict):
                around = {**found.value, self.archive.layout.member: []}
        for name in self.archive.layout.records:
            yield from self.read(name, around)

    def read(self, name: str, around: Mapping[str, Any] | None) -> Iterator[Document | Problem]:
        raw = self.archive.read(name)
        place = Place(f"{self.archive.name}/{shown(name)}")
        if isinstance(raw, Problem):
            yield raw
        elif len(raw) > self.caps.line_bytes:
            yield too_long(place, self.caps)
        else:
            parsed = parse(raw, place, caps=self.caps, replace_nul=self.replace_nul)
            self.n_replaced_nul += parsed.n_replaced
            yield from parsed.problems or [Document(parsed.value, place, around)]


@dataclass(slots=True)
class Part:
    """One file with records of one format: the file that was given, or one inside it."""

    source: Source
    file_name: str
    documents: Iterator[Document | Problem]
    first: list[Document | Problem]
    """What was read to find the format, and not yet handed on."""
    reader: Reader | None
    refused: Problem | None
    is_named: bool
    """The format was named and not found: then nothing is taken for another one."""
    holds_labels: bool = False
    """It holds labels of runs, and no runs."""

    def found(self) -> Iterator[Trace | Problem]:
        if self.reader is None:
            yield from (found for found in self.first if isinstance(found, Problem))
            if self.refused:
                yield self.refused
            return
        documents = chain(self.first, self.documents)
        n_found = 0
        for one in self.reader.read(documents if self.is_named else alike(documents, self.reader)):
            n_found += not (isinstance(one, Problem) and one.warning)
            yield one
        if not n_found:
            yield no_traces(self.file_name)


class Reading:
    """Iterates over `Trace | Problem` of a seekable binary file, once. `format` is known before for a file that is not
    packed; of an archive it names those that were found so far."""

    def __init__(
        self,
        file: BinaryIO,
        *,
        file_name: str = "",
        format: str = "auto",
        caps: Caps | None = None,
        unpack_caps: UnpackCaps | None = None,
        replace_nul: bool = False,
        labels: LabelFile | None = None,
    ) -> None:
        self.file, self.file_name, self.named_format = file, file_name, format
        self.caps, self.replace_nul = caps, replace_nul
        self.labels = labels or LabelFile({})
        """Of a file beside the runs, which may be those of many files: who gives them says which are left over."""
        self.n_labelled: Counter[str | int] = Counter()
        self.unpacking = Unpacking(unpack_caps or UnpackCaps(), layouts())
        self.is_packed = bool(packing(file))
        self.formats: Counter[str] = Counter()
        """How many files of each format there were."""
        self.n_replaced_before = 0
        self.part = None if self.is_packed else self.part_of(Inner(file, file_name))

    @property
    def format(self) -> str:
        return ", ".join(self.formats)

    @property
    def n_replaced_nul(self) -> int:
        return self.n_replaced_before + (self.part.source.n_replaced_nul if self.part else 0)

    @property
    def n_read(self) -> int:
        """How many bytes of the file are behind us."""
        return self.unpacking.n_read if self.is_packed else self.file.tell()

    def __iter__(self) -> Iterator[Trace | Problem]:
        return once(self.labelled(), with_files=self.is_packed)

    def labelled(self) -> Iterator[Trace | Problem]:
        """Every trace with the labels that lie in a file beside it."""
        inside = self.labels_inside() if self.is_packed else LabelFile({})
        yield from inside.problems
        labels = LabelFile({**self.labels.by_id, **inside.by_id})
        for one in self.found():
            if isinstance(one, Problem):
                yield one
                continue
            found = attached(one, labels)
            if found.id is not None:
                self.n_labelled[found.id] += 1
            yield from found.problems
            yield found.trace
        yield from left_over(inside, self.n_labelled)

    def labels_inside(self) -> LabelFile:
        """The labels of an archive, whatever their place in it."""
        by_id: dict[str | int, tuple[Labels, ...]] = {}
        problems: list[Problem] = []
        for inner in candidates(self.file, self.file_name, self.unpacking.caps, LABELS):
            found = read_label_file(inner.file, inner.name, self.caps)
            if found is not None:
                problems += found.problems
                for id_, records in found.by_id.items():
                    by_id[id_] = (*by_id.get(id_, ()), *records)
        return LabelFile(by_id, tuple(problems))

    def found(self) -> Iterator[Trace | Problem]:
        if self.part:
            yield from self.part.found()
            return
        n_parts = n_found = 0
        for part in self.unpacking.of(self.file, self.file_name):
            n_parts += 1
            for one in [part] if isinstance(part, Problem) else self.inside(part):
                n_found += not (isinstance(one, Problem) and one.warning)
                yield one
        if not n_parts:
            yield no_files(self.file_name)
        elif not n_found:
            yield no_traces(self.file_name)

    def inside(self, inner: Inner | Archive) -> Iterator[Trace | Problem]:
        """What is in one file of an archive. Its labels are read before."""
        self.part = self.part_of(inner)
        is_all = inner.name == self.file_name  # of a gzip: whatever is wrong with it is wrong with the file
        for found in () if self.part.holds_labels and not is_all else self.part.found():
            yield found if is_all or isinstance(found, Trace) else one_of_many(found)
        self.n_replaced_before, self.part = self.n_replaced_nul, None

    def part_of(self, inner: Inner | Archive) -> Part:
        source: Source
        if isinstance(inner, Archive):
            source = Samples(inner, self.caps or Caps(), replace_nul=self.replace_nul)
        else:
            source = Documents(
                inner.file,
                file_name=inner.name,
                caps=self.caps,
                replace_nul=self.replace_nul,
                lists=record_lists(),
            )
        part = Part(source, inner.name, iter(source), [], None, None, self.named_format != "auto")
        if part.is_named:
            part.reader = readers().get(self.named_format)
            part.refused = None if part.reader else unknown_format_name(self.named_format, self.file_name)
        else:
            self.recognise(part)
        if part.reader:
            self.formats[part.reader.FORMAT] += 1
        return part

    def recognise(self, part: Part) -> None:
        """Looks no further than a few records, and holds those it looked at."""
        n_known = 0
        for found in part.documents:
            part.first.append(found)
            if isinstance(found, Document):
                n_known += 1
                if recognise(looks(found)) or n_known == LOOKED_AT:
                    break
            elif len(part.first) == 100 * LOOKED_AT:
                break
        documents = [found for found in part.first if isinstance(found, Document)]
        part.reader = recognise(look for document in documents for look in looks(document))
        part.holds_labels = part.reader is None and bool(documents) and is_labels(documents[0].value)
        if part.holds_labels:
            part.refused = labels_only(documents[0].place)
        elif part.reader is None and documents:
            part.refused = unknown_format(documents[0].value, documents[0].place)


def read_label_file(file: BinaryIO, file_name: str, caps: Caps | None = None) -> LabelFile | None:
    """The labels in a file, or None where its first record is none of a label file."""
    documents = iter(Documents(file, file_name=file_name, caps=caps))
    first = list(islice(documents, 1))
    if not first or isinstance(first[0], Problem) or not is_labels(first[0].value):
        return None
    return read_labels(chain(first, documents))


def looks(document: Document) -> Iterator[Any]:
    """What tells the format of a record: the object that holds it in a list, if there is one, and then itself."""
    if document.around is not None:
        yield {**document.around, **{name: [document.value] for name in record_lists() & document.around.keys()}}
    yield document.value


def alike(documents: Iterable[Document | Problem], reader: Reader) -> Iterator[Document | Problem]:
    """The records, without those that are known to another reader and not to this one: a file that is half one format
    and half another is none that anybody wrote."""
    for found in documents:
        if isinstance(found, Document) and not is_of(found, reader):
            other = recognise(looks(found))
            if other:
                yield mixed_formats(found.place, reader.FORMAT, other.FORMAT)
                continue
        yield found


def is_of(document: Document, reader: Reader) -> bool:
    """Whether a record is of the format that the file began as."""
    if any(not reader.sniff(look).missing for look in looks(document)):
        return True
    belongs = getattr(reader, "belongs", None)
    return belongs is not None and bool(belongs(document.value))


def once(found: Iterator[Trace | Problem], *, with_files: bool = False) -> Iterator[Trace | Problem]:
    """Traces with an id that stood before, or a name that cannot be stored, become problems."""
    with closing(FirstPlaces()) as places:
        for one in found:
            if isinstance(one, Problem):
                yield one
                continue
            place = f"{one.place.file}, {one.place}" if with_files else str(one.place)
            earlier = places.earlier(f"{one.format}\0{one.source_id}", place)
            if earlier is not None:
                yield duplicate_id(one, earlier, place)
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


def duplicate_id(trace: Trace, earlier: str, place: str) -> Problem:
    return trace.place.problem(
        "duplicate_id",
        "/id",
        expected=gettext_noop("Every id once in a file; “%(id)s” stands on %(earlier)s and again on %(place)s."),
        remedy=gettext_noop("Give each trace its own id, or remove one."),
        id=trace.source_id,
        earlier=earlier,
        place=place,
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


def no_files(file_name: str) -> Problem:
    return Place(file_name).problem(
        "empty_file",
        expected=gettext_noop("At least one file in the archive; there is none."),
        remedy=gettext_noop("Check the export that wrote the file."),
    )


def one_of_many(problem: Problem) -> Problem:
    """What refuses a whole file by itself is, in an archive, one record that `--skip-bad` may leave out; a file that is
    no data at all, as a page of explanations, is passed over."""
    if problem.code not in WHOLE_FILE:
        return problem
    return replace(problem, code=ONE_OF_MANY, warning=problem.code == "unsupported_type")


def mixed_formats(place: Place, format: str, other: str) -> Problem:
    return place.problem(
        "mixed_formats",
        expected=gettext_noop("Records of one format; the file began as %(format)s, and this one is %(other)s."),
        remedy=gettext_noop("Put each format into a file of its own; a zip may hold several files."),
        format=format,
        other=other,
    )
