"""Informed rounds: which items people look at again, and what order and numbers stand in for names.

Orders and numbers come from the random addresses of assignments. Nobody knows those of others, so they tell nothing
about who is who, and they stay what they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

WHICH = ("all", "common", "disagreeing")
"""What at least two people labelled; what everybody labelled; what people labelled differently."""
LEAST = 2
"""Below these there is nobody to be informed of."""


def is_chosen(
    which: str, labels: Mapping[int, Any], *, raters: Collection[int], same: Callable[[Any, Any], bool]
) -> bool:
    """Whether an item goes into an informed round. `labels` are its last labels by member, `raters` all who labelled
    anything."""
    if len(labels) < LEAST:
        return False
    if which == "common":
        return set(raters) <= set(labels)
    if which == "disagreeing":
        first, *others = labels.values()
        return not all(same(first, other) for other in others)
    return True


def in_random_order(addresses: Iterable[str], *, seen_from: str) -> list[str]:
    """Addresses of others' assignments in an order that differs by the assignment they are seen from."""
    return sorted(addresses, key=lambda one: hashlib.sha256(f"{seen_from}/{one}".encode()).digest())


def numbers_of(addresses: Iterable[str]) -> dict[str, int]:
    """1 to n for the people of a thread, the same whoever looks."""
    return {address: number for number, address in enumerate(sorted(addresses), 1)}
