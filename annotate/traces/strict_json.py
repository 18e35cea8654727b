"""JSON without surprises: what two programs could read differently, or a database could not keep, is refused.

Duplicate keys, NaN and infinities, NUL, lone surrogates, bytes that are no UTF-8, and whatever is above the caps.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import Any

from annotate.traces.base import Place, Problem, gettext_noop
from annotate.traces.pieces import PIECE


@dataclass(frozen=True, slots=True)
class Caps:
    """What one record may take. A message that meets a cap names its setting."""

    line_bytes: int = 32 * 1024 * 1024
    string_characters: int = 4_000_000
    nesting: int = 100
    problems: int | None = None
    """So many of a value that parses are named; all of them without."""


SETTINGS = {
    "line_bytes": "IMPORT_MAX_LINE_BYTES",
    "string_characters": "IMPORT_MAX_STRING_CHARACTERS",
    "nesting": "IMPORT_MAX_NESTING",
}

NUL_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
SURROGATE = re.compile("[\ud800-\udfff]")
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
LONGEST_NUMBER = 400
LONGEST_KEY = 100
"""How much of a key a pointer shows."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """One JSON value, or what is wrong with it."""

    value: Any = None
    problems: tuple[Problem, ...] = ()
    n_replaced: int = 0


@dataclass(frozen=True, slots=True)
class Unfit:
    """Stands in a parsed value where something cannot be kept, until its pointer is known."""

    code: str
    found: str


class Hooks:
    """What `json` calls while it parses: everything it would settle by itself becomes an `Unfit`."""

    def __init__(self) -> None:
        self.has_unfit = False

    def unfit(self, code: str, found: str) -> Unfit:
        self.has_unfit = True
        return Unfit(code, found)

    def members(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            counts = Counter(key for key, _ in pairs)
            value.update({key: self.unfit("duplicate_key", key) for key, n in counts.items() if n > 1})
        return value

    def constant(self, text: str) -> Unfit:
        return self.unfit("number_not_finite", text)

    def decimal(self, text: str) -> float | Unfit:
        value = float(text)
        return value if math.isfinite(value) else self.unfit("number_not_finite", text)

    def whole(self, text: str) -> int | Unfit:
        return int(text) if len(text) <= LONGEST_NUMBER else self.unfit("number_too_long", text)


def parse(
    raw: bytes, place: Place, *, caps: Caps, replace_nul: bool = False, at: int = 0, first_line: int = 1
) -> Parsed:
    """The value of one record. `at` is the record's first byte in the file, `first_line` the line it begins on."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return Parsed(problems=(not_utf8(place, error.start + 1, at + error.start + 1),))
    if deepest(raw) > caps.nesting:
        return Parsed(problems=(too_deep(place, caps),))
    n_replaced = 0
    if replace_nul:
        text, n_replaced = NUL_ESCAPE.subn(r"\1\\u2400", text)
    hooks = Hooks()
    try:
        value = json.loads(
            text,
            object_pairs_hook=hooks.members,
            parse_constant=hooks.constant,
            parse_float=hooks.decimal,
            parse_int=hooks.whole,
        )
    except json.JSONDecodeError as error:
        return Parsed(problems=(malformed(place, error, first_line),))
    except RecursionError:  # a cap set above what the interpreter can take
        return Parsed(problems=(too_deep(place, caps),))
    if hooks.has_unfit or may_hold_unfit_text(text, caps):
        return Parsed(value, tuple(islice(unfit_places(value, place, caps), caps.problems)), n_replaced)
    return Parsed(value, (), n_replaced)


def deepest(raw: bytes) -> int:
    """How deep arrays and objects lie in each other, counted without parsing, so that no depth can hurt."""
    if b"[" not in raw and b"{" not in raw:
        return 0
    bare = raw.replace(b"\\\\", b"").replace(b'\\"', b"")  # what is left of quotes begins or ends a string
    brackets = b"".join(outside_strings(bare))
    return max(accumulate(1 if byte in b"[{" else -1 for byte in brackets), default=0)


def outside_strings(bare: bytes) -> Iterator[bytes]:
    """The brackets outside strings, in pieces, as a record may be nothing but quotes."""
    is_inside = False
    for start in range(0, len(bare), PIECE):
        parts = bare[start : start + PIECE].split(b'"')
        yield b"".join(parts[is_inside::2]).translate(None, NO_BRACKETS)
        is_inside ^= len(parts) % 2 == 0


def may_hold_unfit_text(text: str, caps: Caps) -> bool:
    """Whether the strings have to be looked at one by one; most records are cleared by this alone."""
    return "\\u0000" in text or len(text) > caps.string_characters or bool(SURROGATE_ESCAPE.search(text))


def pointer_part(key: str) -> str:
    """A key as a part of a JSON pointer that can be printed."""
    escaped = key[:LONGEST_KEY].replace("~", "~0").replace("/", "~1").replace("\0", "\\u0000")
    return "/" + escaped.encode("utf-8", "backslashreplace").decode()


Way = tuple[()] | tuple["Way", str | int]
"""Where a part of a value lies: the way to what it is in, and its key or number there. It is written as a pointer only
where somebody reads it, so that a long key costs nothing with everything that lies below it."""


def pointer_of(way: Way) -> str:
    parts = []
    while way:
        way, key = way
        parts.append(pointer_part(key) if isinstance(key, str) else f"/{key}")
    return "".join(reversed(parts))


def strings_and_unfit(value: Any) -> Iterator[tuple[Way, Any]]:
    """Every string, key and `Unfit` with the way to it, in the order of the text; no recursion."""
    waiting: list[tuple[Way, Any]] = [((), value)]
    while waiting:
        way, found = waiting.pop()
        if isinstance(found, dict):
            yield from (((way, key), key) for key in found)
            waiting += reversed([((way, key), member) for key, member in found.items()])
        elif isinstance(found, list):
            waiting += reversed([((way, n), member) for n, member in enumerate(found)])
        elif isinstance(found, str | Unfit):
            yield way, found


def unfit_places(value: Any, place: Place, caps: Caps) -> Iterator[Problem]:
    """Everything in a parsed value that cannot be kept, each with its pointer."""
    for way, found in strings_and_unfit(value):
        if isinstance(found, Unfit):
            yield from unfit_problem(found, place, pointer_of(way))
            continue
        if "\0" in found:
            yield nul_character(place, pointer_of(way))
        if SURROGATE.search(found):
            yield lone_surrogate(place, pointer_of(way))
        if len(found) > caps.string_characters:
            yield string_too_long(place, pointer_of(way), len(found), caps)


def unfit_problem(unfit: Unfit, place: Place, pointer: str) -> Iterator[Problem]:
    if unfit.code == "duplicate_key":
        yield place.problem(
            "duplicate_key",
            pointer,
            expected=gettext_noop("Every key once in an object; this one stands there more than once."),
            remedy=gettext_noop("Remove or rename all but one."),
        )
    elif unfit.code == "number_not_finite":
        yield place.problem(
            "number_not_finite",
            pointer,
            expected=gettext_noop("A number that JSON can write; %(found)s is none."),
            remedy=gettext_noop("Write null or leave the field out where there is no number."),
            found=unfit.found[:40],
        )
    else:
        yield place.problem(
            "number_too_long",
            pointer,
            expected=gettext_noop("A number of at most %(longest)s digits."),
            remedy=gettext_noop("Write it as a text."),
            longest=LONGEST_NUMBER,
        )


def not_utf8(place: Place, byte: int, byte_of_file: int) -> Problem:
    return place.problem(
        "not_utf8",
        expected=gettext_noop(
            "UTF-8; byte %(byte)s of this record, byte %(byte_of_file)s of the file (both from 1), does not belong."
        ),
        remedy=gettext_noop("Save the file as UTF-8, then import again."),
        byte=byte,
        byte_of_file=byte_of_file,
    )


def too_deep(place: Place, caps: Caps) -> Problem:
    return place.problem(
        "too_deep",
        expected=gettext_noop("Objects and arrays at most %(cap)s deep in each other."),
        remedy=gettext_noop("Flatten the record, or raise %(setting)s."),
        cap=caps.nesting,
        setting=SETTINGS["nesting"],
    )


def malformed(place: Place, error: json.JSONDecodeError, first_line: int) -> Problem:
    """Names the line also inside arrays and objects that go over several lines: an editor can go there."""
    is_line = place.line is not None
    problem = place.problem(
        "malformed_json",
        expected=gettext_noop("Valid JSON; at character %(column)s of this line: %(reason)s."),
        remedy=gettext_noop("Correct or remove the record, then import again."),
        column=error.pos + 1 if is_line else error.colno,
        reason=error.msg,
    )
    return problem if is_line else replace(problem, line=first_line + error.lineno - 1)


def nul_character(place: Place, pointer: str) -> Problem:
    return place.problem(
        "nul_character",
        pointer,
        expected=gettext_noop("Text without the character U+0000, which PostgreSQL cannot store."),
        remedy=gettext_noop("Remove it, or import with --replace-nul, which shows it as U+2400."),
    )


def lone_surrogate(place: Place, pointer: str) -> Problem:
    return place.problem(
        "lone_surrogate",
        pointer,
        expected=gettext_noop("Whole characters; here is one half of a surrogate pair without the other."),
        remedy=gettext_noop("Export the text again without cutting it inside a character."),
    )


def string_too_long(place: Place, pointer: str, length: int, caps: Caps) -> Problem:
    return place.problem(
        "string_too_long",
        pointer,
        expected=gettext_noop("Texts of at most %(cap)s characters; this one has %(length)s."),
        remedy=gettext_noop("Shorten it, or raise %(setting)s."),
        cap=caps.string_characters,
        length=length,
        setting=SETTINGS["string_characters"],
    )


def too_long(place: Place, caps: Caps) -> Problem:
    """Lines have the code of lines; an element of an array or a whole object may go over many of them."""
    is_line = place.line is not None
    return place.problem(
        "line_too_long" if is_line else "too_large",
        expected=gettext_noop("Records of at most %(cap)s bytes."),
        remedy=gettext_noop("Split or shorten the record, or raise %(setting)s."),
        cap=caps.line_bytes,
        setting=SETTINGS["line_bytes"],
    )
