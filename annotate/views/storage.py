"""What an error of the database says of its state: whether it is away for a while, or has no room left."""

import sqlite3
from typing import Literal

from django.db import DatabaseError, InterfaceError, OperationalError

Trouble = Literal["away", "full"]

FULL = {"53100"}
AWAY = ("08", "53300", "53400", "57014", "57P0", "55P03", "25006")
"""Beginnings of SQLSTATE: of connections, of too many of them, of a server that ends, starts, waits for a lock or takes
longer over a statement than a page waits."""
SQLITE_FULL = {"SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE"}
SQLITE_AWAY = {"SQLITE_BUSY", "SQLITE_BUSY_SNAPSHOT", "SQLITE_LOCKED"}


def trouble_of(error: BaseException | None) -> Trouble | None:
    """None for an error that says nothing of the kind: then something is wrong with what was asked."""
    if not isinstance(error, DatabaseError | InterfaceError):
        return None
    cause = error.__cause__
    if isinstance(cause, sqlite3.Error):
        return trouble_of_sqlite(cause)
    state = getattr(cause, "sqlstate", None) or ""
    if state in FULL:
        return "full"
    is_lost = isinstance(error, OperationalError | InterfaceError) and not state
    return "away" if is_lost or state.startswith(AWAY) else None


def trouble_of_sqlite(cause: sqlite3.Error) -> Trouble | None:
    name = getattr(cause, "sqlite_errorname", "")
    if name in SQLITE_FULL:
        return "full"
    return "away" if name in SQLITE_AWAY else None
