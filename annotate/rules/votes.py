"""Which of somebody's labels of an item counts: where a new protocol opened it again, that of the later round."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar


class Rated(Protocol):
    @property
    def item(self) -> int: ...

    @property
    def rater(self) -> str: ...

    @property
    def round_purpose(self) -> str: ...


Row = TypeVar("Row", bound=Rated)


def last_of_each(rows: Iterable[Row]) -> list[Row]:
    """One row of a rater and item; `rows` come by item, by rater, and by round. Two of first rounds both stay, as
    nobody can say which one counts."""
    found: list[Row] = []
    for row in rows:
        is_same = bool(found) and (found[-1].item, found[-1].rater) == (row.item, row.rater)
        if is_same and row.round_purpose == "protocol":
            found.pop()
        found.append(row)
    return found
