"""An exported folder, read back strictly: every hash, every line, and whether the project has what the release is
about. Nothing is believed that can be computed, and everything that is wrong is named with its file, line and field."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from django.utils.dateparse import parse_datetime

from annotate import release_queries
from annotate.errors import Refused
from annotate.kinds.base import LabelError, Schema
from annotate.kinds.registry import kind_of
from annotate.models import Phase, Project
from annotate.release_queries import Candidate
from annotate.rules.quotes import canonical
from annotate.rules.release_content import ContentHash, Source, canonical_line, protocol_hash
from annotate.rules.release_shape import (
    ALL_HOWS,
    FILE_LIST,
    JURY,
    LABELS_NAME,
    LEFT_BY_JURY,
    LINE_FILES,
    LIST_NAME,
    MANIFEST,
    MANIFEST_NAME,
    SETTLED_BY_JURY,
    row_shape,
)
from annotate.rules.shapes import shape_problems
from annotate.spool import Spool
from annotate.traces.base import Place, Problem, first_problems, gettext_noop
from annotate.traces.strict_json import Caps, parse

CHUNK = 500
PIECE = 1 << 20
CAPS = Caps(line_bytes=32 << 20, string_characters=4_000_000, nesting=50)
AS_EXPORTED = gettext_noop("Use the folder as it was exported.")
EXPORT_AGAIN = gettext_noop("Export the release again, or copy the whole folder again.")


class FolderRefused(Refused):
    """A folder that cannot be brought in, with everything that is wrong."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = first_problems(problems)
        super().__init__(self.problems[0])


@dataclass(frozen=True, slots=True)
class ReadRelease:
    """What a folder holds beside its lines, which lie in the spool. `practice` are the items of practice in it."""

    text: str
    content_hash: str
    rule: str
    protocol: int
    sealed_at: datetime
    practice: tuple[int, ...]


def read_release(project: Project, folder: Path, spool: Spool) -> ReadRelease:
    """Puts the lines into the spool, each with the project's own item; FolderRefused where anything is wrong."""
    refuse_any(file_problems(folder))
    raw = (folder / MANIFEST_NAME).read_bytes()
    manifest = parsed_object(raw, Place(MANIFEST_NAME), MANIFEST)
    refuse_any(manifest_problems(manifest, folder, project))
    protocol, schema = protocol_meant(project, manifest)
    matching = Matching(project, schema, spool)
    refuse_any(matching.read(folder / LABELS_NAME, manifest))
    spool.sort()
    return ReadRelease(
        text=raw.decode(),
        content_hash=manifest["content_hash"],
        rule=manifest["content"]["rule"],
        protocol=protocol,
        sealed_at=moment(manifest["sealed_at"]),
        practice=tuple(matching.practice),
    )


def refuse_any(problems: Iterable[Problem]) -> None:
    waiting = iter(problems)
    first = next(waiting, None)
    if first is not None:
        raise FolderRefused([first, *islice(waiting, 1000)])


def parsed_object(raw: bytes, place: Place, shape: Mapping[str, Any]) -> dict[str, Any]:
    found = parse(raw, place, caps=CAPS)
    refuse_any(found.problems)
    refuse_any(shape_problems(found.value, shape, place))
    return found.value


# Files


def file_problems(folder: Path) -> Iterator[Problem]:
    """Every listed file as it was written. What else lies in the folder is nobody's business."""
    path = folder / LIST_NAME
    if not path.is_file():
        yield missing_file(LIST_NAME)
        return
    if path.stat().st_size > PIECE:
        yield cut_or_longer(LIST_NAME, PIECE, path.stat().st_size)
        return
    listed = parsed_object(path.read_bytes(), Place(LIST_NAME), FILE_LIST)["files"]
    names = Counter(one["name"] for one in listed)
    for name in (MANIFEST_NAME, LABELS_NAME):
        if name not in names:
            yield Place(LIST_NAME).problem(
                "missing_file",
                "/files",
                expected=gettext_noop("%(name)s among the files; it is not listed."),
                remedy=AS_EXPORTED,
                name=name,
            )
    for one in listed:
        if names[one["name"]] > 1:
            yield Place(LIST_NAME).problem(
                "duplicate_key",
                "/files",
                expected=gettext_noop("Every file once; %(name)s is listed more than once."),
                remedy=AS_EXPORTED,
                name=one["name"],
            )
        else:
            yield from differing_file(folder / one["name"], one)


def differing_file(path: Path, listed: Mapping[str, Any]) -> Iterator[Problem]:
    if not path.is_file():
        yield missing_file(path.name)
        return
    n_bytes, n_lines, ends_whole, sha256 = measured(path)
    if n_bytes != listed["bytes"]:
        is_lines = path.name in LINE_FILES and not ends_whole
        yield cut_or_longer(path.name, listed["bytes"], n_bytes, n_lines + 1 if is_lines else None)
    elif sha256 != listed["sha256"]:
        yield wrong_hash(path.name, listed["sha256"], sha256)
    elif path.name in LINE_FILES and n_lines != listed["rows"]:
        yield Place(LIST_NAME).problem(
            "wrong_count",
            "/files/rows",
            expected=gettext_noop("The number of lines of %(name)s, which is %(n)s."),
            remedy=AS_EXPORTED,
            name=path.name,
            n=n_lines,
        )


def measured(path: Path) -> tuple[int, int, bool, str]:
    """Bytes, whole lines, whether the last line is whole, SHA-256."""
    n_bytes = n_lines = 0
    last, total = b"\n", hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            total.update(piece)
            n_bytes += len(piece)
            n_lines += piece.count(b"\n")
            last = piece[-1:]
    return n_bytes, n_lines, last == b"\n", total.hexdigest()


# release.json


def manifest_problems(manifest: Mapping[str, Any], folder: Path, project: Project) -> Iterator[Problem]:
    place, content = Place(MANIFEST_NAME), manifest["content"]
    listed = parsed_object((folder / LIST_NAME).read_bytes(), Place(LIST_NAME), FILE_LIST)["content_hash"]
    if listed != manifest["content_hash"]:
        yield replace(wrong_hash(LIST_NAME, manifest["content_hash"], listed), field="content_hash")
    if content["kind"] != project.kind:
        yield place.problem(
            "other_kind",
            "/content/kind",
            expected=gettext_noop("A release of the kind of the project, which is %(kind)s."),
            remedy=gettext_noop("Bring it into a project of its own kind."),
            kind=project.kind,
        )
    said = manifest["protocol"]
    own = protocol_hash(said["guideline_en"], said["guideline_zh"], said["label_schema"])
    if own != content["protocol_hash"]:
        yield replace(wrong_hash(MANIFEST_NAME, content["protocol_hash"], own), field="protocol")
    if not is_moment(manifest["sealed_at"]):
        yield place.problem(
            "wrong_type",
            "/sealed_at",
            expected=gettext_noop("Expected here: %(form)s."),
            remedy=AS_EXPORTED,
            form="2026-01-31T12:00:00+00:00",
        )
    yield from provenance_problems(manifest, place)


def provenance_problems(manifest: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    """What models said says so, counts it, and names nobody; what people said has no such thing."""
    is_jury, provenance = manifest["content"]["rule"] == JURY, manifest.get("provenance")
    if is_jury != (provenance is not None):
        yield place.problem(
            "wrong_value",
            "/provenance",
            expected=gettext_noop("Where the labels come from, if they are those of a jury, and nothing otherwise."),
            remedy=AS_EXPORTED,
        )
    if not is_jury or provenance is None:
        return
    for name in ("people", "rounds"):
        if manifest[name]:
            yield place.problem(
                "wrong_value",
                f"/{name}",
                expected=gettext_noop("An empty list: a jury's labels rest on nobody's."),
                remedy=AS_EXPORTED,
            )
    for how, names in ((JURY, SETTLED_BY_JURY), ("unresolved", LEFT_BY_JURY)):
        n = sum(provenance["outcomes"][name] for name in names)
        if n != manifest["counts"].get(how, 0):
            yield place.problem(
                "wrong_count",
                "/provenance/outcomes",
                expected=gettext_noop("As many as the counts of the release have: %(n)s."),
                remedy=AS_EXPORTED,
                n=manifest["counts"].get(how, 0),
            )


def is_moment(text: str) -> bool:
    try:
        found = parse_datetime(text)
    except ValueError:
        return False
    return found is not None and found.tzinfo is not None


def moment(text: str) -> datetime:
    found = parse_datetime(text)
    if found is None:
        raise ValueError(f"{text!r} is no time; manifest_problems lets none such through.")
    return found


def protocol_meant(project: Project, manifest: Mapping[str, Any]) -> tuple[int, Schema]:
    """The protocol of the project that says what the release's says, whatever its number."""
    kind = kind_of(project.kind)
    for one in project.protocols.order_by("-number"):
        schema = one.label_schema or kind.schema
        if protocol_hash(one.guideline_en, one.guideline_zh, schema) == manifest["content"]["protocol_hash"]:
            return one.pk, schema
    missing = Place(MANIFEST_NAME).problem(
        "missing_protocol",
        "/protocol",
        expected=gettext_noop(
            "A protocol of the project with the guideline and labels of the release (SHA-256 %(hash)s)."
        ),
        remedy=gettext_noop("Open a protocol with the guideline that stands in release.json, then bring it in again."),
        hash=manifest["content"]["protocol_hash"],
    )
    raise FolderRefused([missing])


# labels.jsonl


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    raw: bytes
    row: dict[str, Any]

    @property
    def place(self) -> Place:
        return Place(LABELS_NAME, line=self.number)


class Matching:
    """The lines of a release beside the items of a project."""

    def __init__(self, project: Project, schema: Schema, spool: Spool) -> None:
        self.project, self.schema, self.spool = project, schema, spool
        self.kind = kind_of(project.kind)
        self.practice: list[int] = []
        self.counts: Counter[str] = Counter()
        self.last_hash, self.rule, self.jurors = "", "", frozenset[int]()

    def read(self, path: Path, manifest: Mapping[str, Any]) -> Iterator[Problem]:
        """Everything that is wrong with the lines, and with what the manifest says of them."""
        self.rule = manifest["content"]["rule"]
        self.jurors = frozenset(one["run"] for one in manifest.get("provenance", {}).get("jurors", ()))
        total, n_wrong = ContentHash(manifest["content"]), 0
        with path.open("rb") as file:
            found = self.checked(lines(file), total)
            while chunk := list(islice(found, CHUNK)):
                whole = [one for one in chunk if isinstance(one, Line)]
                problems = [one for one in chunk if isinstance(one, Problem)]
                for problem in [*problems, *self.match(whole)]:
                    n_wrong += 1
                    yield problem
        if not n_wrong:
            yield from self.wrong_totals(manifest, total.hexdigest())

    def checked(self, raws: Iterable[tuple[int, bytes]], total: ContentHash) -> Iterator[Line | Problem]:
        """Each line by itself: its JSON, its form, its one spelling, its hash, its order."""
        for number, raw in raws:
            place = Place(LABELS_NAME, line=number)
            total.add(raw)
            if len(raw) > CAPS.line_bytes:
                yield line_too_long(place)
                return
            problems = list(line_problems(raw, place, row_shape(self.rule)))
            if problems:
                yield from problems
                continue
            line = Line(number, raw, parse(raw, place, caps=CAPS).value)
            yield from self.order_problems(line)
            yield line

    def order_problems(self, line: Line) -> Iterator[Problem]:
        own, before = line.row["item_hash"], self.last_hash
        self.last_hash = own
        if own == before:
            yield line.place.problem(
                "duplicate_item",
                "/item_hash",
                expected=gettext_noop("Every item once; this one stands on the line before."),
                remedy=AS_EXPORTED,
            )
        elif own < before:
            yield line.place.problem(
                "wrong_order",
                "/item_hash",
                expected=gettext_noop("Items in the order of their hashes."),
                remedy=AS_EXPORTED,
            )

    def match(self, chunk: Sequence[Line]) -> Iterator[Problem]:
        """Each line's own item of the project, into the spool; or what is missing or differs."""
        if not chunk:
            return
        there = release_queries.candidates(self.project, sorted({line.row["source"]["id"] for line in chunk}))
        by_hash = {one.source.item_hash(): one for one in there}
        by_place = {(one.source.format, one.source.id, one.source.anchor): one for one in there}
        for line in chunk:
            source = line.row["source"]
            own = by_hash.get(line.row["item_hash"])
            if own is None:
                other = by_place.get((source["format"], source["id"], source["anchor"]))
                yield missing_item(line) if other is None else other_content(line, other)
                continue
            problems = [*grouped_otherwise(line, own.source), *self.label_problems(line, own.text)]
            yield from problems
            self.count(line.row)
            if own.phase == Phase.PRACTICE:
                self.practice.append(own.item)
            self.spool.add(line.row["item_hash"], own.item, line.raw)

    def label_problems(self, line: Line, text: str) -> Iterator[Problem]:
        """A label that the kind would not have let in, or would have written otherwise."""
        row = line.row
        if (row["label"] is None) != (row["how"] == "unresolved"):
            yield line.place.problem(
                "wrong_value",
                "/label",
                expected=gettext_noop("A label, or null where the item is unresolved."),
                remedy=AS_EXPORTED,
            )
        labels = [("/label", row["label"])] if row["label"] is not None else []
        if self.rule == JURY:
            yield from self.juror_problems(line)
        else:
            labels += [(f"/rests_on/{n}/label", vote["label"]) for n, vote in enumerate(row["rests_on"])]
        for pointer, label in labels:
            try:
                said = self.kind.dump(self.kind.parse(label, self.schema, canonical(text)))
            except LabelError as error:
                for problem in error.problems:
                    inside = pointer + (problem.pointer or (f"/{problem.field}" if problem.field else ""))
                    yield replace(problem, file=LABELS_NAME, line=line.number, pointer=inside)
                continue
            if said != label:
                yield line.place.problem(
                    "wrong_value",
                    pointer,
                    expected=gettext_noop("The label as the kind writes it."),
                    remedy=AS_EXPORTED,
                )

    def juror_problems(self, line: Line) -> Iterator[Problem]:
        """A label of a jury rests on runs of its own jurors, each once; what it left open rests on none."""
        runs = [one["run"] for one in line.row["rests_on"]]
        is_right = set(runs) <= self.jurors and len(set(runs)) == len(runs)
        if not is_right or bool(runs) != (line.row["how"] == JURY) or line.row["is_tie"]:
            yield line.place.problem(
                "wrong_value",
                "/rests_on",
                expected=gettext_noop("Runs of the jurors that release.json names, each once; none where unresolved."),
                remedy=AS_EXPORTED,
            )

    def count(self, row: Mapping[str, Any]) -> None:
        self.counts["n_items"] += 1
        self.counts["n_labels"] += 0 if self.rule == JURY else len(row["rests_on"])
        self.counts[row["how"]] += 1
        self.counts["n_ties"] += row["is_tie"]

    def wrong_totals(self, manifest: Mapping[str, Any], content_hash: str) -> Iterator[Problem]:
        if content_hash != manifest["content_hash"]:
            wrong = wrong_hash(LABELS_NAME, manifest["content_hash"], content_hash)
            yield replace(wrong, field="content_hash")
        for name in ("n_items", "n_labels", *ALL_HOWS, "n_ties"):
            if self.counts[name] != manifest["counts"].get(name, 0):
                yield Place(MANIFEST_NAME).problem(
                    "wrong_count",
                    f"/counts/{name}",
                    expected=gettext_noop("As many as the lines of labels.jsonl have: %(n)s."),
                    remedy=AS_EXPORTED,
                    n=self.counts[name],
                )


def lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers; of one that is too long only so much that this can be seen."""
    number = 0
    while raw := file.readline(CAPS.line_bytes + 1):
        number += 1
        yield number, raw


def line_problems(raw: bytes, place: Place, shape: Mapping[str, Any]) -> Iterator[Problem]:
    found = parse(raw, place, caps=CAPS)
    if found.problems:
        yield from found.problems
        return
    problems = list(shape_problems(found.value, shape, place))
    yield from problems
    if problems:
        return
    row = found.value
    if canonical_line(row).encode() + b"\n" != raw:
        yield place.problem(
            "other_spelling",
            expected=gettext_noop("The one spelling that is hashed: keys sorted, no blanks, a line feed at the end."),
            remedy=AS_EXPORTED,
        )
    own = Source(**row["source"]).item_hash()
    if own != row["item_hash"]:
        yield replace(wrong_hash(LABELS_NAME, row["item_hash"], own), line=place.line, field="item_hash")


# What is said


def missing_file(name: str) -> Problem:
    return Problem(
        code="missing_file",
        file=name,
        expected=gettext_noop("A file of this name in the folder."),
        remedy=EXPORT_AGAIN,
    )


def cut_or_longer(name: str, expected: int, found: int, line: int | None = None) -> Problem:
    return Problem(
        code="cut_file" if found < expected else "wrong_length",
        file=name,
        line=line if found < expected else None,
        expected=gettext_noop("%(expected)s bytes; the file has %(found)s."),
        remedy=EXPORT_AGAIN,
        params={"expected": expected, "found": found},
    )


def wrong_hash(name: str, expected: str, found: str) -> Problem:
    return Problem(
        code="wrong_hash",
        file=name,
        field="sha256",
        expected=gettext_noop("SHA-256 %(expected)s; it is %(found)s."),
        remedy=EXPORT_AGAIN,
        params={"expected": expected, "found": found},
    )


def line_too_long(place: Place) -> Problem:
    return place.problem(
        "line_too_long",
        expected=gettext_noop("Lines of at most %(cap)s bytes."),
        remedy=AS_EXPORTED,
        cap=CAPS.line_bytes,
    )


def missing_item(line: Line) -> Problem:
    source = line.row["source"]
    return line.place.problem(
        "missing_item",
        "/source",
        expected=gettext_noop("An item of message %(anchor)s of trace “%(id)s” (%(format)s) in the project."),
        remedy=gettext_noop("Import the traces that the release is about first."),
        **{name: source[name] for name in ("anchor", "id", "format")},
    )


def other_content(line: Line, own: Candidate) -> Problem:
    source = line.row["source"]
    name = "trace_hash" if own.source.trace_hash != source["trace_hash"] else "text_hash"
    return line.place.problem(
        "other_content",
        f"/source/{name}",
        expected=gettext_noop(
            "The trace “%(id)s” as the release knows it (%(theirs)s); in the project it is %(ours)s."
        ),
        remedy=gettext_noop("Import the very traces that were labelled, into a project of their own."),
        id=source["id"],
        theirs=source[name],
        ours=getattr(own.source, name),
    )


def grouped_otherwise(line: Line, own: Source) -> Iterator[Problem]:
    for name in ("cluster", "area", "language"):
        if getattr(own, name) != line.row["source"][name]:
            yield line.place.problem(
                "other_content",
                f"/source/{name}",
                expected=gettext_noop("“%(theirs)s” as in the release; in the project it is “%(ours)s”."),
                remedy=gettext_noop("Import the very traces that were labelled, into a project of their own."),
                theirs=line.row["source"][name],
                ours=getattr(own, name),
            )
