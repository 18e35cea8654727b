"""Overlapping subsets: some traces for all, which agreement rests on, and others for one annotator each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotate.rules.plans import shuffled


@dataclass(frozen=True, slots=True)
class Candidate:
    """A trace that may be drawn, with the area it is of."""

    trace: int
    area: str
    language: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """Traces for everybody, and those for one annotator each, by code."""

    common: tuple[int, ...]
    unique: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class TooFew:
    """So many traces are needed and there are only so many: for all, or for the one with this code."""

    n_needed: int
    n_there: int
    code: str = ""


def draw(
    candidates: Iterable[Candidate],
    *,
    readers: Mapping[str, Sequence[str]],
    n_common: int,
    n_unique: int,
    seed: int,
) -> Drawn | TooFew:
    """`n_common` traces that all can read, of each area in proportion and at random inside it, and of what is left
    `n_unique` at random for each. `readers` are the languages that each reads, by code. The same traces, readers and
    seed give the same subsets."""
    there = sorted(candidates, key=lambda one: one.trace)
    for_all = [one for one in there if all(reads(languages, one) for languages in readers.values())]
    if n_common > len(for_all):
        return TooFew(n_common, len(for_all))
    common = {trace for area, n in in_proportion(for_all, n_common).items() for trace in some(for_all, area, n, seed)}
    rest = {one.trace: one for one in there if one.trace not in common}
    unique: dict[str, tuple[int, ...]] = {}
    n_readable = {code: sum(reads(languages, one) for one in rest.values()) for code, languages in readers.items()}
    for code in sorted(readers, key=lambda code: (n_readable[code], code)):  # who can read least chooses first
        own = [trace for trace in shuffled(sorted(rest), seed, f"unique/{code}") if reads(readers[code], rest[trace])]
        if n_unique > len(own):
            return TooFew(n_unique, len(own), code)
        unique[code] = tuple(sorted(own[:n_unique]))
        rest = {trace: one for trace, one in rest.items() if trace not in unique[code]}
    return Drawn(tuple(sorted(common)), {code: unique[code] for code in readers})


def reads(languages: Sequence[str], one: Candidate) -> bool:
    return not one.language or one.language in languages


def some(candidates: Sequence[Candidate], area: str, n: int, seed: int) -> list[int]:
    return shuffled([one.trace for one in candidates if one.area == area], seed, f"common/{area}")[:n]


def in_proportion(candidates: Sequence[Candidate], n: int) -> dict[str, int]:
    """How many of `n` each area gets: its share rounded down, and what is left to those with the largest remainders."""
    sizes = Counter(one.area for one in candidates)
    if not n:
        return dict.fromkeys(sizes, 0)
    shares = {area: divmod(n * size, len(candidates)) for area, size in sizes.items()}
    left = n - sum(whole for whole, _ in shares.values())
    first = sorted(shares, key=lambda area: (-shares[area][1], area))[:left]
    return {area: shares[area][0] + (area in first) for area in sorted(shares)}
