"""A release as files: one pass over its items writes them all. What each file holds stands in docs/releases.md.

A folder is written beside its place under another name and renamed when it is whole, with a list of every file's bytes,
rows and hash, so that a cut one is known for what it is. The content is hashed on the way: what does not come out as it
was sealed is not handed out.
"""

import csv
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from django.conf import settings

from annotate import release_queries
from annotate.errors import Refused
from annotate.kinds.base import Schema, TaskKind
from annotate.kinds.registry import kind_of
from annotate.models import Release
from annotate.release_queries import SealedRow
from annotate.rules.csv_cells import cell
from annotate.rules.release_content import ContentHash, Outcome, canonical_line, row_of
from annotate.rules.release_shape import FILE_NAMES, LIST_FORMAT, LIST_NAME, MANIFEST_NAME
from annotate.rules.web_annotation import web_annotation
from annotate.traces.base import Problem, gettext_noop

CARDS = {"datacard.en.md": "en", "datacard.zh.md": "zh"}
PARQUET = "labels.parquet"
ITEM_COLUMNS = (
    *("item_hash", "format", "source_id", "anchor", "cluster", "area", "language"),
    *("how", "is_tie", "n_labels"),
)
LABEL_COLUMNS = ("item_hash", "format", "source_id", "anchor", "annotator", "round", "number", "protocol")


@dataclass(frozen=True, slots=True)
class Written:
    """A file of a folder. `rows` is None where it has none."""

    name: str
    sha256: str
    n_bytes: int
    rows: int | None

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "sha256": self.sha256, "bytes": self.n_bytes, "rows": self.rows}


@dataclass(frozen=True, slots=True)
class Exported:
    """A whole folder. `left_out` says which file is not there and why."""

    folder: Path
    files: tuple[Written, ...]
    left_out: tuple[Problem, ...]


def has_parquet() -> bool:
    """Whether the extra is installed; it is not loaded here."""
    return importlib.util.find_spec("pyarrow") is not None


def export_release(release: Release, folder: Path, *, with_parquet: bool | None = None) -> Exported:
    """Every file of a release into a folder that is not there yet, or is empty. Refused where it holds something, where
    it cannot be written, and where Parquet is asked for without its extra; where nothing is said of it (None), it is
    left out without the extra."""
    if with_parquet and not has_parquet():
        raise Refused(NO_PARQUET)
    refuse_taken(folder)
    wants = has_parquet() if with_parquet is None else with_parquet
    names = [name for name in FILE_NAMES if wants or name != PARQUET]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as aside:
            whole = Path(aside) / "whole"
            whole.mkdir()
            files = write_folder(release, whole, names)
            whole.replace(folder)
    except OSError as error:
        raise Refused(cannot_write(folder, error)) from error
    return Exported(folder, tuple(files), () if wants or with_parquet is False else (NO_PARQUET,))


def refuse_taken(folder: Path) -> None:
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise Refused(
            Problem(
                code="folder_taken",
                field="DIR",
                file=str(folder),
                expected=gettext_noop("A folder that is not there yet, or is empty."),
                remedy=gettext_noop("Name another one, or remove what is in it."),
            )
        )


def write_folder(release: Release, folder: Path, names: Sequence[str]) -> list[Written]:
    """These files and, when all of them are on disk, their list."""
    files = write_files(release, folder, names)
    listed = {
        "format": LIST_FORMAT,
        "content_hash": release.content_hash,
        "files": [one.as_dict() for one in files],
    }
    with OutFile(folder / LIST_NAME) as out:
        out.write(json.dumps(listed, indent=1).encode() + b"\n")
    return [*files, out.written(None)]


def export_file(release: Release, name: str, folder: Path) -> Path:
    """One file of a release, or `files.json`, or all of them as one zip, in a folder of the caller's."""
    if name == PARQUET and not has_parquet():
        raise Refused(NO_PARQUET)
    if name in method_files(release):
        return write_method_file(release, name, folder / name)
    if name in FILE_NAMES:
        write_files(release, folder, [name])
        return folder / name
    whole = folder / "whole"
    whole.mkdir()
    write_folder(release, whole, [one for one in FILE_NAMES if one != PARQUET or has_parquet()])
    return whole / name if name == LIST_NAME else zipped(whole, folder / name)


def zipped(whole: Path, target: Path) -> Path:
    """The same bytes every time: a zip that says when would be another one each time."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(whole.iterdir()):
            entry = zipfile.ZipInfo(path.name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            with path.open("rb") as source, file.open(entry, "w", force_zip64=True) as packed:
                shutil.copyfileobj(source, packed)
    return target


class OutFile:
    """A file on its way to disk, counted and hashed as it is written."""

    def __init__(self, path: Path) -> None:
        self.path, self.sum, self.n_bytes, self.rows = path, hashlib.sha256(), 0, 0

    def __enter__(self) -> "OutFile":
        self.file = self.path.open("wb", buffering=1 << 18)
        return self

    def __exit__(self, *error: object) -> None:
        with self.file:
            self.file.flush()
            os.fsync(self.file.fileno())

    def write(self, data: bytes) -> None:
        self.sum.update(data)
        self.n_bytes += len(data)
        self.file.write(data)

    def row(self, data: bytes) -> None:
        self.rows += 1
        self.write(data)

    def written(self, rows: int | None) -> Written:
        return Written(self.path.name, self.sum.hexdigest(), self.n_bytes, rows)


class Row:
    """A sealed item as each file needs it; what only some need is made when they ask."""

    def __init__(self, sealed: SealedRow, kind: TaskKind, schema: Schema, content_hash: str) -> None:
        self.item_hash, self.source, self.sealed = sealed.item_hash, sealed.source, sealed
        self.kind, self.schema, self.content_hash = kind, schema, content_hash

    @cached_property
    def line(self) -> bytes:
        one = self.sealed
        outcome = Outcome(one.label, one.how, one.is_tie, one.rests_on)
        return canonical_line(row_of(self.source, self.item_hash, outcome)).encode() + b"\n"

    @cached_property
    def label_rows(self) -> Sequence[Mapping[str, Any]]:
        return self.rows_of(self.sealed.label)

    @cached_property
    def labels_of_people(self) -> list[dict[str, Any]]:
        """What the label rests on, where that is labels of annotators and not runs of jurors."""
        return [vote for vote in self.sealed.rests_on if "annotator" in vote]

    @cached_property
    def votes(self) -> list[tuple[dict[str, Any], Sequence[Mapping[str, Any]]]]:
        return [(vote, self.rows_of(vote["label"])) for vote in self.labels_of_people]

    def rows_of(self, label: Mapping[str, Any] | None) -> Sequence[Mapping[str, Any]]:
        return [] if label is None else self.kind.rows(self.kind.load(label, self.schema))


# Each file's own rows


def label_lines(row: Row, columns: Sequence[str]) -> Iterator[bytes]:
    yield row.line


def annotation_lines(row: Row, columns: Sequence[str]) -> Iterator[bytes]:
    source = {name: getattr(row.source, name) for name in ("format", "id", "anchor")}
    for vote in row.labels_of_people:
        yield canonical_line({"item_hash": row.item_hash, "source": source, **vote}).encode() + b"\n"


def web_lines(row: Row, columns: Sequence[str]) -> Iterator[bytes]:
    """The spans of the label, then those of each annotator: what the kind calls `spans` in its rows."""
    every = [(None, row.label_rows), *((vote["annotator"], rows) for vote, rows in row.votes)]
    for annotator, rows in every:
        spans = [span for one in rows for span in one.get("spans", ())]
        for place, span in enumerate(spans):
            found = web_annotation(
                span, item_hash=row.item_hash, content_hash=row.content_hash, place=place, annotator=annotator
            )
            yield canonical_line(found).encode() + b"\n"


def label_cells(row: Row, columns: Sequence[str]) -> Iterator[bytes]:
    """One row for each row of the label, and one for an item whose label has none."""
    source, one = row.source, row.sealed
    place = [row.item_hash, source.format, source.id, source.anchor, source.cluster, source.area, source.language]
    place += [one.how, one.is_tie, len(row.labels_of_people)]
    for part in row.label_rows or [{}]:
        yield csv_row([*place, *(part.get(name) for name in columns)])


def annotation_cells(row: Row, columns: Sequence[str]) -> Iterator[bytes]:
    place = [row.item_hash, row.source.format, row.source.id, row.source.anchor]
    for vote, rows in row.votes:
        own = [vote[name] for name in ("annotator", "round", "number", "protocol")]
        for part in rows or [{}]:
            yield csv_row([*place, *own, *(part.get(name) for name in columns)])


class Echo:
    """What `csv` writes into: gives the text back."""

    def write(self, text: str) -> str:
        return text


CSV = csv.writer(Echo(), lineterminator="\r\n")
MARK = "\ufeff"
"""By which spreadsheets know UTF-8."""


def csv_row(values: Sequence[object]) -> bytes:
    text: str = CSV.writerow([cell(value) for value in values])
    return text.encode()


Rows = Callable[[Row, Sequence[str]], Iterator[bytes]]
BY_ROWS: dict[str, Rows] = {
    "labels.jsonl": label_lines,
    "annotations.jsonl": annotation_lines,
    "annotations.w3c.jsonl": web_lines,
    "labels.csv": label_cells,
    "annotations.csv": annotation_cells,
}
HEADS = {"labels.csv": ITEM_COLUMNS, "annotations.csv": LABEL_COLUMNS}


def write_files(release: Release, folder: Path, names: Sequence[str]) -> list[Written]:
    """These files of a release, in the order of their names here."""
    kind = kind_of(release.project.kind)
    wanted = [name for name in BY_ROWS if name in names]
    if PARQUET in names and "labels.jsonl" not in wanted:
        wanted.append("labels.jsonl")
    outs = write_rows(release, folder, wanted, kind)
    written = {name: out.written(out.rows) for name, out in outs.items()}
    for name in names:
        if name == MANIFEST_NAME or name in CARDS:
            text = release.manifest if name == MANIFEST_NAME else card_of(release, name)
            with OutFile(folder / name) as out:
                out.write(text.encode())
            written[name] = out.written(None)
    if PARQUET in names:
        written[PARQUET] = write_parquet(folder, written["labels.jsonl"].rows, release.rule)
    return [written[name] for name in FILE_NAMES if name in names]


def write_rows(release: Release, folder: Path, names: Sequence[str], kind: TaskKind) -> dict[str, OutFile]:
    """All that goes item by item, in one pass; Refused where the content is not what was sealed."""
    manifest = json.loads(release.manifest)
    total, schema = ContentHash(manifest["content"]), manifest["protocol"]["label_schema"]
    with ExitStack() as stack:
        outs = {name: stack.enter_context(OutFile(folder / name)) for name in names}
        for name in set(HEADS) & set(outs):
            head = csv_row([*HEADS[name], *kind.columns])
            outs[name].write(MARK.encode() + head)
        writers = [(outs[name].row, BY_ROWS[name]) for name in names]
        for sealed in release_queries.sealed_rows(release) if names else ():
            row = Row(sealed, kind, schema, release.content_hash)
            total.add(row.line)
            for write, rows in writers:
                for line in rows(row, kind.columns):
                    write(line)
    if names and total.hexdigest() != release.content_hash:
        raise Refused(changed_material(release, total.hexdigest()))
    return outs


def method_files(release: Release) -> tuple[str, ...]:
    """Files in the form that the method of the kind has for labels, which stand beside the folder of a release and are
    no part of it."""
    exchange = kind_of(release.project.kind).exchange
    return tuple(exchange.files) if exchange else ()


def write_method_file(release: Release, name: str, path: Path) -> Path:
    """The settled labels that belong into one of these files, by the source id of their trace; Refused where the
    content is not what was sealed, and where two traces have one id."""
    kind, manifest = kind_of(release.project.kind), json.loads(release.manifest)
    if kind.exchange is None:
        raise Refused(no_method_file(()))
    total, schema = ContentHash(manifest["content"]), manifest["protocol"]["label_schema"]
    labels: dict[str, Any] = {}
    twice = ""
    for sealed in release_queries.sealed_rows(release):
        total.add(Row(sealed, kind, schema, release.content_hash).line)
        label = None if sealed.label is None else kind.load(sealed.label, schema)
        if label is None or not kind.exchange.files[name](label):
            continue
        twice = twice or (sealed.source.id if sealed.source.id in labels else "")
        labels[sealed.source.id] = label
    if twice:
        raise Refused(two_of_one_id(twice))
    if total.hexdigest() != release.content_hash:
        raise Refused(changed_material(release, total.hexdigest()))
    text = json.dumps(kind.exchange.write(dict(sorted(labels.items()))), ensure_ascii=False, indent=1) + "\n"
    path.write_text(text, "utf-8")
    return path


def card_of(release: Release, name: str) -> str:
    """A data card, as it was sealed."""
    text: str = json.loads(release.manifest)["data_card"][CARDS[name]]
    return text


def write_parquet(folder: Path, n_rows: int | None, rule: str) -> Written:
    """By a child, which alone loads what that takes."""
    path = folder / PARQUET
    files = [str((folder / "labels.jsonl").absolute()), str(path.absolute())]
    words = [sys.executable, "-m", "annotate.parquet", *files, rule]
    done = subprocess.run(words, cwd=settings.ROOT, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{PARQUET}: {done.stderr.strip().splitlines()[-1:]}")
    with path.open("rb") as file:
        os.fsync(file.fileno())
        return Written(PARQUET, hashlib.file_digest(file, "sha256").hexdigest(), path.stat().st_size, n_rows)


# What is refused

NO_PARQUET = Problem(
    code="missing_extra",
    field=PARQUET,
    expected=gettext_noop("The extra “parquet”, which writes labels.parquet; it is not installed."),
    remedy=gettext_noop("Have whoever runs the server install it: ./run setup --extra parquet"),
)


def no_method_file(names: Sequence[str]) -> Problem:
    return Problem(
        code="unknown_value",
        field="method_file",
        expected=gettext_noop("A form that the kind of the project has for labels (%(allowed)s)."),
        remedy=gettext_noop("Choose one of these, or take the files of the release."),
        params={"allowed": ", ".join(names) or "–"},
    )


def two_of_one_id(source: str) -> Problem:
    return Problem(
        code="several_trajectories",
        field="method_file",
        expected=gettext_noop("One trace for an id; “%(source)s” is that of several, of other formats."),
        remedy=gettext_noop("Take labels.jsonl, which tells them apart."),
        params={"source": source[:80]},
    )


def cannot_write(folder: Path, error: OSError) -> Problem:
    return Problem(
        code="cannot_write",
        field="DIR",
        file=str(folder),
        expected=gettext_noop("A place that can be written: %(reason)s."),
        remedy=gettext_noop("Make room, or name another folder; nothing was left behind."),
        params={"reason": error.strerror or str(error)},
    )


def changed_material(release: Release, found: str) -> Problem:
    return Problem(
        code="wrong_hash",
        field="content_hash",
        expected=gettext_noop(
            "The content as it was sealed (SHA-256 %(expected)s); from what is stored now comes %(found)s."
        ),
        remedy=gettext_noop("Somebody changed traces in the database. Restore them from a backup, then export again."),
        params={"expected": release.content_hash, "found": found},
    )
