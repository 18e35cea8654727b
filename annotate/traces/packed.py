"""Files that hold other files: gzip and zip, inside each other to a bounded depth, told by their content.

What is inside is read one by one from a temporary file, so memory stays flat whatever the size. How much comes out is
counted while it comes out and not believed from a header; an archive above a cap is refused before more is written.
"""

from __future__ import annotations

import gzip
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any, BinaryIO

from annotate.traces.base import Place, Problem, gettext_noop
from annotate.traces.pieces import PIECE

GZIP, ZIP, EMPTY_ZIP = b"\x1f\x8b", b"PK\x03\x04", b"PK\x05\x06"
HELD = 4 * 1024 * 1024
"""So much of a file inside is held before it goes to the disk."""
FREE_BYTES = 16 * 1024 * 1024
"""So much may come out of an archive at any ratio: small files of repeated lines pack very well."""
DIRECTORY_BYTES = 16 * 1024 * 1024
"""The longest list of names that is read: a list is held as a whole, and costs several times its bytes."""
LONGEST_NAME = 200
NOBODYS = ("__MACOSX/", ".DS_Store", "Thumbs.db")
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""What others need to unpack, one byte of a file can say, and it may be more memory than there is."""
BROKEN = (OSError, EOFError, zlib.error, zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError)
SETTINGS = {"bytes": "IMPORT_MAX_UNPACKED_BYTES", "files": "IMPORT_MAX_PACKED_FILES", "ratio": "IMPORT_MAX_RATIO"}


@dataclass(frozen=True, slots=True)
class UnpackCaps:
    """What an archive may become: bytes in all, files in all, times its own size, archives inside each other."""

    bytes: int = 2 * 1024**3
    files: int = 50_000
    ratio: int = 200
    depth: int = 2


@dataclass(frozen=True, slots=True)
class Records:
    """How the archive of one format is laid out: the file that says once what holds for all records, and the files
    that are the records, in their order."""

    around: str
    records: Sequence[str]
    member: str
    """The list in which the records would stand if all were one object: a reader's `RECORDS_IN`."""


Layout = Callable[[Sequence[str]], Records | None]
"""Says from the names in an archive whether it is one of a format, and where its records are. A reader whose files may
be such an archive has one as `layout`."""


@dataclass(slots=True)
class Inner:
    """A file from inside, open at its begin, closed by whoever asked for the next one."""

    file: BinaryIO
    name: str


@dataclass(slots=True)
class Archive:
    """A zip that is one file of a format: `read(name)` gives the bytes of one of its files, or None above the cap."""

    name: str
    layout: Records
    read: Callable[[str], bytes | Problem]


@dataclass(slots=True)
class Unpacking:
    """Unpacks one file given by a person, and counts all that comes out of it."""

    caps: UnpackCaps
    layouts: Sequence[Layout] = ()
    n_packed: int = 0
    """The size of the file that was given."""
    n_bytes: int = 0
    n_files: int = 0
    n_read: int = 0
    """How much of the given file is behind us, roughly."""
    is_stopped: bool = False
    """A cap was met: nothing more is unpacked."""

    def of(self, file: BinaryIO, name: str) -> Iterator[Inner | Archive | Problem]:
        """All files in the given one."""
        self.n_packed = file.seek(0, 2)
        return self.parts(file, name)

    def parts(self, file: BinaryIO, name: str, depth: int = 0) -> Iterator[Inner | Archive | Problem]:
        """What is inside, archives inside archives opened; a file that is not packed is its own only part."""
        kind = packing(file)
        if not kind:
            yield Inner(file, name)
        elif depth >= self.caps.depth:
            yield too_nested(name, self.caps)
        else:
            inside = self.from_gzip(file, name) if kind == "gzip" else self.from_zip(file, name)
            for found in inside:
                if isinstance(found, Inner):
                    yield from self.parts(found.file, found.name, depth + 1)
                else:
                    yield found
                if self.is_stopped:
                    return

    def from_gzip(self, file: BinaryIO, name: str) -> Iterator[Inner | Problem]:
        with tempfile.SpooledTemporaryFile(HELD) as out, gzip.GzipFile(fileobj=file, mode="rb") as packed:
            problem = self.copied(packed, out, name)
            if problem:
                yield problem
            else:
                yield Inner(out, name)  # type: ignore[arg-type]

    def from_zip(self, file: BinaryIO, name: str) -> Iterator[Inner | Archive | Problem]:
        if problem := self.refused(file, name):
            yield problem
            return
        try:
            archive = zipfile.ZipFile(file)
        except BROKEN:
            yield broken(name)
            return
        with archive:
            entries = [entry for entry in archive.infolist() if not is_nobodys(entry.filename)]
            names = [entry.filename for entry in entries]
            layout = next((found for look in self.layouts if (found := look(names))), None)
            if layout:
                yield Archive(name, layout, lambda entry: self.whole(archive, entry, f"{name}/{shown(entry)}"))
                return
            for entry in entries:
                yield from self.entry(archive, entry, f"{name}/{shown(entry.filename)}")

    def refused(self, file: BinaryIO, name: str) -> Problem | None:
        """Told from the end of the zip before its list of names is read, which costs memory by its length."""
        found = end_of_zip(file)
        if found is None:
            return broken(name)
        n_entries, n_directory = found
        self.n_files += n_entries
        if self.n_files > self.caps.files or n_directory > DIRECTORY_BYTES:
            return too_many_files(name, self.caps)
        return None

    def entry(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> Iterator[Inner | Problem]:
        with tempfile.SpooledTemporaryFile(HELD) as out:
            problem = self.unpacked(archive, entry, out, name)
            if problem:
                yield problem
            else:
                yield Inner(out, name)  # type: ignore[arg-type]
        self.n_read += entry.compress_size

    def unpacked(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, out: IO[bytes], name: str) -> Problem | None:
        if entry.flag_bits & 0x1:
            return encrypted(name)
        if entry.compress_type not in METHODS:
            return unknown_packing(name, entry.compress_type)
        try:
            packed = archive.open(entry)
        except BROKEN:
            return broken(name)
        with packed:
            return self.copied(packed, out, name)

    def whole(self, archive: zipfile.ZipFile, entry: str, name: str) -> bytes | Problem:
        """One file as bytes; of a record that is too long only as much as shows that it is."""
        with tempfile.SpooledTemporaryFile(HELD) as out:
            try:
                problem = self.unpacked(archive, archive.getinfo(entry), out, name)
            except KeyError:
                return broken(name)
            self.n_read += archive.getinfo(entry).compress_size
            return problem or out.read()

    def copied(self, packed: Any, out: IO[bytes], name: str) -> Problem | None:
        """Unpack into `out`, as far as the caps go, and stand at its begin again."""
        try:
            while piece := packed.read(PIECE):
                self.n_bytes += len(piece)
                if problem := self.too_much(name):
                    self.is_stopped = True
                    return problem
                out.write(piece)
        except BROKEN:
            return broken(name)
        out.seek(0)
        return None

    def too_much(self, name: str) -> Problem | None:
        if self.n_bytes > self.caps.bytes:
            return too_large(name, self.caps)
        if self.n_bytes > max(FREE_BYTES, self.caps.ratio * self.n_packed):
            return too_packed(name, self.caps)
        return None


def candidates(file: BinaryIO, name: str, caps: UnpackCaps, mark: bytes) -> Iterator[Inner]:
    """Files of a zip, not of archives inside it, that have `mark` near their begin."""
    unpacking = Unpacking(caps)
    unpacking.n_packed = file.seek(0, 2)
    if packing(file) != "zip" or unpacking.refused(file, name):
        return
    try:
        archive = zipfile.ZipFile(file)
    except BROKEN:
        return
    with archive:
        for entry in archive.infolist():
            if not is_nobodys(entry.filename) and mark in begin_of(archive, entry):
                for found in unpacking.entry(archive, entry, f"{name}/{shown(entry.filename)}"):
                    if isinstance(found, Inner):
                        yield found
            if unpacking.is_stopped:
                return


def begin_of(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The first piece of a file inside; nothing where it cannot be read, which is said when all of it is asked for."""
    if entry.flag_bits & 0x1 or entry.compress_type not in METHODS:
        return b""
    try:
        with archive.open(entry) as packed:
            return packed.read(PIECE)
    except BROKEN:
        return b""


def packing(file: BinaryIO) -> str:
    """`gzip`, `zip` or nothing. The file stands at its begin behind it."""
    file.seek(0)
    head = file.read(4)
    file.seek(0)
    return "gzip" if head.startswith(GZIP) else "zip" if head in (ZIP, EMPTY_ZIP) else ""


def end_of_zip(file: BinaryIO) -> tuple[int, int] | None:
    """How many entries a zip says it has, and how long its list of them is; None where its end is missing. Archives
    that need the larger fields of ZIP64 say more than any cap."""
    end = file.seek(0, 2)
    file.seek(max(0, end - 65_700))
    tail = file.read()
    at = tail.rfind(EMPTY_ZIP)
    file.seek(0)
    if at < 0 or len(tail) - at < 22:
        return None
    n_entries = int.from_bytes(tail[at + 10 : at + 12], "little")
    n_directory = int.from_bytes(tail[at + 12 : at + 16], "little")
    locator = tail.rfind(b"PK\x06\x07", 0, at)
    if locator >= 0 and (n_entries == 0xFFFF or n_directory == 0xFFFFFFFF):
        large = tail.rfind(b"PK\x06\x06", 0, locator)
        if large < 0:
            return None
        n_entries = int.from_bytes(tail[large + 32 : large + 40], "little")
        n_directory = int.from_bytes(tail[large + 40 : large + 48], "little")
    return n_entries, n_directory


def is_nobodys(name: str) -> bool:
    """Folders, and what systems put beside the files of their users."""
    last = name.rsplit("/", 1)[-1]
    return not last or name.startswith(NOBODYS[0]) or last in NOBODYS[1:] or last.startswith("._")


def shown(name: str) -> str:
    """The name of a file inside, as it can be printed and kept."""
    printable = name.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
    return printable if len(printable) <= LONGEST_NAME else f"…{printable[1 - LONGEST_NAME :]}"


def broken(name: str) -> Problem:
    return Place(name).problem(
        "broken_archive",
        expected=gettext_noop("A whole zip or gzip file; this one ends early or is damaged."),
        remedy=gettext_noop("Pack the files again, or import them unpacked."),
    )


def encrypted(name: str) -> Problem:
    return Place(name).problem(
        "encrypted_archive",
        expected=gettext_noop("A zip without a password."),
        remedy=gettext_noop("Pack the files again without one, or import them unpacked."),
    )


def unknown_packing(name: str, method: int) -> Problem:
    return Place(name).problem(
        "unknown_packing",
        expected=gettext_noop("Files packed with deflate, or not at all; this one has method %(method)s."),
        remedy=gettext_noop("Pack the files again with deflate, or import them unpacked."),
        method=method,
    )


def too_nested(name: str, caps: UnpackCaps) -> Problem:
    return Place(name).problem(
        "archive_too_deep",
        expected=gettext_noop("Archives at most %(cap)s deep in each other."),
        remedy=gettext_noop("Unpack it, then import what is inside."),
        cap=caps.depth,
    )


def too_many_files(name: str, caps: UnpackCaps) -> Problem:
    return Place(name).problem(
        "archive_too_long",
        expected=gettext_noop("At most %(cap)s files in an archive, with names of at most %(bytes)s bytes in all."),
        remedy=gettext_noop("Split the archive, or raise %(setting)s."),
        cap=caps.files,
        bytes=DIRECTORY_BYTES,
        setting=SETTINGS["files"],
    )


def too_large(name: str, caps: UnpackCaps) -> Problem:
    return Place(name).problem(
        "too_large",
        expected=gettext_noop("An archive that unpacks to at most %(cap)s bytes."),
        remedy=gettext_noop("Split the archive, or raise %(setting)s."),
        cap=caps.bytes,
        setting=SETTINGS["bytes"],
    )


def too_packed(name: str, caps: UnpackCaps) -> Problem:
    return Place(name).problem(
        "too_large",
        expected=gettext_noop("An archive that unpacks to at most %(cap)s times its size."),
        remedy=gettext_noop("Import the files unpacked if they are what they should be, or raise %(setting)s."),
        cap=caps.ratio,
        setting=SETTINGS["ratio"],
    )
