"""Which item a pool gives next: pure rules over ids, the project's seed and how many places are free. Nothing of what
anybody answered comes in here."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotate.rules.phases import reason_to_wait
from annotate.rules.plans import PHASES, PlannedItem, shuffled

PHASE_SPAN = 10**9
"""Numbers of blocks of one phase; the first of them is for places that came back, which are given before any other."""
BLOCK_ITEMS = 50
"""About so many items are given to whoever asks before the next ones are begun, so that each soon has all its labels;
in which order is everybody's own."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """An item at its place in the pool's order."""

    item: int
    trace: int
    anchor: int
    language: str
    block: int


def in_blocks(items: Iterable[PlannedItem], *, seed: int, last_blocks: Mapping[int, int]) -> list[Pooled]:
    """Every item in a block of its phase: traces in an order drawn from the seed, each whole in one block. Items that
    come later stand behind; `last_blocks` are the furthest blocks there are, by phase."""
    pooled: list[Pooled] = []
    by_phase: dict[int, dict[int, list[PlannedItem]]] = {}
    for item in items:
        by_phase.setdefault(PHASES.index(item.phase), {}).setdefault(item.trace, []).append(item)
    for phase, traces in sorted(by_phase.items()):
        block = max(last_blocks.get(phase, 0), phase * PHASE_SPAN) + 1
        n_in_block = 0
        for trace in shuffled(sorted(traces), seed, f"pool/{PHASES[phase]}/{block}"):
            if n_in_block >= BLOCK_ITEMS:
                block, n_in_block = block + 1, 0
            for item in sorted(traces[trace], key=lambda item: (item.anchor, item.id)):
                pooled.append(Pooled(item.id, trace, item.anchor, item.language, block))
            n_in_block += len(traces[trace])
    return pooled


def phase_of(block: int) -> int:
    return block // PHASE_SPAN


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item with a free place that its asker may be given: not had yet, and nothing behind it in its trace either.
    `lapsed` is their own assignment of it whose lease ended, with what they typed."""

    item: int
    trace: int
    anchor: int
    block: int
    queue: int
    places: int | None
    lapsed: int | None

    @property
    def came_back(self) -> bool:
        return self.queue % PHASE_SPAN == 0


def in_order(candidates: Sequence[Candidate], *, seed: int, code: str, last_trace: int | None) -> list[Candidate]:
    """The candidates of the first phase that has any, best first: what one had begun oneself, then the trace one is
    reading, then places that came back, then traces in an order of one's own; in a trace only its first one."""
    if not candidates:
        return []
    phase = min(phase_of(one.block) for one in candidates)
    first: dict[int, Candidate] = {}

    def place_of(one: Candidate) -> tuple[int, bytes]:  # arms of one point stand at one anchor
        return one.anchor, drawn(seed, code, one.item)

    for one in candidates:
        known = first.get(one.trace)
        if phase_of(one.block) == phase and (known is None or place_of(one) < place_of(known)):
            first[one.trace] = one
    return sorted(
        first.values(),
        key=lambda one: (
            one.lapsed is None,
            one.trace != last_trace,
            not one.came_back,
            drawn(seed, code, one.trace),
        ),
    )


def drawn(seed: int, code: str, number: int) -> bytes:
    """Words that only the seed, the annotator and an id decide; the same on every machine."""
    return hashlib.sha256(f"{seed}/{code}/pool/{number}".encode()).digest()


def reason_for_none(
    candidates: Sequence[Candidate], *, open_phase: str, practice_is_ready: bool, cap: int | None, n_held: int
) -> str:
    """Why nobody is given anything of these candidates, "" where they are: fixed words about the project and one's own
    part. Practice is done by everybody and counts for no cap."""
    phases = {phase_of(one.block) for one in candidates}
    if cap is not None and n_held >= cap and 0 not in phases:
        return "cap_reached"
    if not phases:
        return "nothing_free"
    return reason_to_wait(PHASES[min(phases)], open_phase=open_phase, practice_is_ready=practice_is_ready)
