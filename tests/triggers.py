"""Rows that the database keeps for good have to make room in tests: triggers step aside for a moment."""

import contextlib

TABLES = ("annotate_event", "annotate_release", "annotate_releaseitem")


@contextlib.contextmanager
def aside(connection):
    """Without the triggers that refuse to change or remove rows."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            triggers = cursor.fetchall()
            off, on = [f'DROP TRIGGER "{name}"' for name, _ in triggers], [sql for _, sql in triggers]
        else:
            off, on = ([f"ALTER TABLE {name} {word} TRIGGER USER" for name in TABLES] for word in ("DISABLE", "ENABLE"))
            off = ["SET CONSTRAINTS ALL IMMEDIATE", *off]  # what is put off until commit would stand in the way
            on = [*on, "SET CONSTRAINTS ALL DEFERRED"]
        for statement in off:
            cursor.execute(statement)
        yield
        for statement in on:
            cursor.execute(statement)
