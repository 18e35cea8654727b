"""Who reads what in which order: pure plans that services write down as assignments."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

PHASES = ("practice", "pilot", "main")


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """An item as a plan sees it: its ids, its place in the trace, its phase and language. Nothing hidden."""

    id: int
    trace: int
    anchor: int
    phase: str
    language: str


@dataclass(frozen=True, slots=True)
class Placed:
    """An item at its place: `order` counts items from 0, `sequence` the traces from 1."""

    item: int
    order: int
    sequence: int


def panel(
    items: Iterable[PlannedItem],
    *,
    languages: Sequence[str],
    seed: int,
    code: str,
    first_order: int = 0,
    first_sequence: int = 1,
) -> list[Placed]:
    """Every item in a language the annotator reads: practice, then pilot, then main; inside a phase the traces in an
    order drawn from the project's seed and the annotator's code, inside a trace the items in reading order.

    Items that come later are planned by themselves, starting at `first_order` and `first_sequence`.
    """
    readable = [item for item in items if not item.language or item.language in languages]
    placed: list[Placed] = []
    sequence = first_sequence
    for phase in PHASES:
        traces: dict[int, list[PlannedItem]] = {}
        for item in readable:
            if item.phase == phase:
                traces.setdefault(item.trace, []).append(item)
        for trace in shuffled(sorted(traces), seed, f"{code}/{phase}/{first_order}"):
            for item in sorted(traces[trace], key=lambda item: item.anchor):
                placed.append(Placed(item.id, first_order + len(placed), sequence))
            sequence += 1
    return placed


def shuffled(values: Sequence[int], seed: int | str, purpose: str) -> list[int]:
    """`values` in an order that only the seed and the purpose decide; the same on every machine."""
    digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    rng = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))
    return [values[place] for place in rng.permutation(len(values))]
