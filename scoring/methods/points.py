"""Which replies are written anew under every condition (docs/remedies.md)."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

PointClass = Literal["priority", "random"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A reply. It is `prior` where it was written behind a compaction or first in a later session."""

    item: int
    cluster: str
    prior: bool


@dataclass(frozen=True, slots=True)
class ChosenPoint:
    item: int
    point_class: PointClass
    order: int
    """From 0, over all points."""


def chosen_points(candidates: Iterable[Candidate], *, seed: int, quota: int, n: int | None = None) -> list[ChosenPoint]:
    """From each collaboration up to `quota` replies: those that are prior in random order, then others at random.
    With `n` at most so many in all, the first of each collaboration before the second of any."""
    clusters = defaultdict(list)
    for one in candidates:
        clusters[one.cluster].append(one)
    ranked = [
        (place, cluster, one)
        for cluster in sorted(clusters)
        for place, one in enumerate(in_turn(clusters[cluster], f"{seed}:{cluster}")[:quota])
    ]
    if n is not None:
        kept = sorted(ranked, key=lambda row: (row[0], order_of_cluster(seed, row[1])))[:n]
        ranked = sorted(kept, key=lambda row: (row[1], row[0]))
    return [
        ChosenPoint(one.item, "priority" if one.prior else "random", order)
        for order, (_, _, one) in enumerate(ranked)
    ]


def points_at_random(candidates: Iterable[Candidate], *, seed: int, n: int | None = None) -> list[ChosenPoint]:
    """So many of all replies, each as likely as any other, whatever its collaboration and whether it is prior; in the
    order of collaborations."""
    rows = sorted(candidates, key=lambda one: (one.cluster, one.item))
    drawn = random.Random(f"{seed}:any").sample(range(len(rows)), len(rows))[:n]
    return [ChosenPoint(rows[place].item, "random", order) for order, place in enumerate(sorted(drawn))]


def in_turn(candidates: Iterable[Candidate], seed: str) -> list[Candidate]:
    """Each class in an order of its own draw, so that how many are prior moves nothing else."""
    rows = sorted(candidates, key=lambda one: one.item)
    prior, others = [one for one in rows if one.prior], [one for one in rows if not one.prior]
    random.Random(f"{seed}:priority").shuffle(prior)
    random.Random(f"{seed}:random").shuffle(others)
    return [*prior, *others]


def order_of_cluster(seed: int, cluster: str) -> float:
    return random.Random(f"{seed}:{cluster}:order").random()
