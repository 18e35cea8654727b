"""A number of things allotted to groups in proportion: largest remainders, so that the parts add up to it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def allotted(sizes: Mapping[Key, int], n: int) -> dict[Key, int]:
    """How many of `n` each group gets, never more than it has; all of them where there are no more than `n`.

    Each gets the whole part of its share; what is left goes to the largest remainders, of equal ones to the larger
    group, then to the one that stands first. ValueError for a negative number.
    """
    if n < 0 or any(size < 0 for size in sizes.values()):
        raise ValueError("A number of things and the sizes of groups are at least 0.")
    whole = sum(sizes.values())
    if n >= whole:
        return dict(sizes)
    shares = {key: Fraction(size * n, whole) for key, size in sizes.items()}
    found = {key: int(share) for key, share in shares.items()}
    order = {key: place for place, key in enumerate(sizes)}
    by_remainder = sorted(sizes, key=lambda key: (found[key] - shares[key], -sizes[key], order[key]))
    for key in by_remainder[: n - sum(found.values())]:
        found[key] += 1
    return found
