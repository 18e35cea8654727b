"""What makes a record the same one again: a digest of its content, and of its messages where a file gives no id."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from annotate.traces.base import Answered, Call, File, Message, Place, Trace


def members(value: object) -> Any:
    """The fields of our values for `json`; the place in a file is no part of what a trace is."""
    if isinstance(value, Answered | Call | File | Message | Trace):
        return {name: getattr(value, name) for name in value.__slots__ if name != "place"}
    raise TypeError(f"{type(value).__name__} is no part of a trace.")


def canonical_json(value: object) -> str:
    return json.dumps(value, default=members, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def digest(value: object) -> str:
    """SHA-256 of the canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def content_hash(trace: Trace) -> str:
    return digest(trace)


def n_characters(trace: Trace) -> int:
    """How much a trace is, everything in it counted: texts, calls, files, what is private, and each entry."""
    return len(canonical_json(trace))


def conversation_id(messages: Sequence[Message]) -> str:
    """A name for a conversation that has none, the same wherever it lies; 12 hexadecimal digits."""
    return digest(list(messages))[:12]


class FirstPlaces:
    """Where each id stood first. Kept in a temporary SQLite file, so that memory does not grow with the ids."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect("", isolation_level=None)
        self.connection.execute("PRAGMA journal_mode=OFF")
        self.connection.execute("CREATE TABLE first (id TEXT PRIMARY KEY, place TEXT) WITHOUT ROWID")
        self.connection.execute("BEGIN")

    def earlier(self, id_: str, place: Place | str) -> str | None:
        """The place of the same id before, or None, after which this is its first place."""
        added = self.connection.execute("INSERT OR IGNORE INTO first VALUES (?, ?)", (id_, str(place))).rowcount
        if added:
            return None
        return str(self.connection.execute("SELECT place FROM first WHERE id = ?", (id_,)).fetchone()[0])

    def close(self) -> None:
        self.connection.close()
