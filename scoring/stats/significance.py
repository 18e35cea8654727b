"""Whether a difference could be chance, and what becomes of that where several are tested together."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from scoring.stats.registry import Outcome
from scoring.stats.statistic import Floats

Alternative = Literal["two-sided", "greater", "less"]
Mode = Literal["auto", "exact", "monte_carlo"]

EXACT_UP_TO = 20
"""So many differences that are not zero have all their signs tried: a million sums, 8 MB."""

MOST_STEPS = 2**28
"""Whole-numbered differences are convolved however many there are, up to so many additions: about a second."""

SAME = 1e-12
"""Sums closer than this part of all the differences together are equal: 0.1 + 0.2 ties with 0.3."""

BLOCK_CELLS = 2**20


def sign_flip_test(
    differences: npt.ArrayLike,
    clusters: Sequence[Hashable] | None = None,
    *,
    alternative: Alternative = "two-sided",
    mode: Mode = "auto",
    n_draws: int = 10_000,
    seed: int = 0,
) -> Outcome:
    """How often differences as large would come about if each could as well have had the other sign.

    Parameters
    ----------
    differences : (n_items,) paired differences, nan for an item that has no value on one side.
    clusters : the cluster of every item; the differences of a cluster are added up and flipped together. None where
        each item is its own.
    alternative : `greater` asks for sums at least as high, `less` for sums at least as low, `two-sided` for either.
    mode : `auto` tries all signs of up to 20 differences that are not zero, else draws some. `exact` draws none: it
        takes more of them only if they are whole numbers. `monte_carlo` always draws.

    Returns
    -------
    Outcome whose value is p; 1 where all differences are zero. Sums that differ by rounding only are ties, and ties
    count as extreme. Drawn, p is (b + 1) / (n_draws + 1), so never 0, and hangs neither on the order nor on the names
    of items. Reason `empty` (no items) or `no_overlap` (none with both values). Details: `mode`, `unit`, `n_units`,
    `n_nonzero`, `mean_difference` over items, and `n_draws` and `seed` where it was drawn.

    Raises
    ------
    ValueError for another alternative or mode, an infinite difference, clusters of another number of items, or
    `exact` with more differences than can be worked.

    Source: Fisher 1935, The Design of Experiments, section 21; Phipson and Smyth 2010, Statistical Applications in
    Genetics and Molecular Biology 9(1), article 39, for p where signs are drawn.
    Checked against: fixtures/reference/agreement-cases.json O30; enumeration in fractions.
    """
    if alternative not in ("two-sided", "greater", "less"):
        raise ValueError(f"alternative is {alternative!r}; it is two-sided, greater or less.")
    if mode not in ("auto", "exact", "monte_carlo"):
        raise ValueError(f"mode is {mode!r}; it is auto, exact or monte_carlo.")
    if n_draws < 1:
        raise ValueError(f"n_draws is {n_draws}; draw at least once.")
    every = np.asarray(differences, dtype=float)
    if every.ndim != 1 or np.isinf(every).any():
        raise ValueError("differences are finite numbers, one for each item; nan where an item has no difference.")
    if clusters is not None and len(clusters) != len(every):
        raise ValueError(f"{len(clusters)} clusters for {len(every)} items; give the cluster of every item.")
    known = ~np.isnan(every)
    used = every[known]
    unit = "item" if clusters is None else "cluster"
    if not len(used):
        reason = "no_overlap" if len(every) else "empty"
        return _outcome(None, reason, every, n_units=0, details={"unit": unit, "mode": None})
    units = used if clusters is None else _cluster_sums(used, [clusters[i] for i in np.flatnonzero(known).tolist()])
    tolerance = SAME * float(np.abs(used).sum())
    flipped = np.sort(np.abs(units[np.abs(units) > tolerance]))  # their order and signs play no part in chance
    total = float(units.sum())
    details: dict[str, object] = {
        "unit": unit,
        "n_units": len(units),
        "n_nonzero": len(flipped),
        "mean_difference": float(used.mean()),
        "alternative": alternative,
    }
    is_exact = mode == "exact" or (mode == "auto" and len(flipped) <= EXACT_UP_TO) or not len(flipped)
    if is_exact:
        sums, ways = _all_sums(flipped)
        p = float(ways[_extreme(sums, total, tolerance, alternative)].sum() / ways.sum())
        details["mode"] = "exact"
    else:
        rng = np.random.Generator(np.random.PCG64(seed))
        drawn = _drawn_sums(flipped, rng=rng, n_draws=n_draws)
        n_extreme = sum(int(_extreme(sums, total, tolerance, alternative).sum()) for sums in drawn)
        p = (n_extreme + 1) / (n_draws + 1)
        details |= {"mode": "monte_carlo", "n_draws": n_draws, "seed": seed}
    return _outcome(p, None, every, n_units=len(units), details=details)


@dataclass(frozen=True)
class Family:
    """Adjusted p values in the order they were given, None for one that was not tested; `n_tested` is the family."""

    adjusted: tuple[float | None, ...]
    n_tested: int

    @property
    def not_tested(self) -> tuple[int, ...]:
        return tuple(place for place, p in enumerate(self.adjusted) if p is None)


def holm(p_values: Sequence[float | None]) -> Family:
    """p values that keep the chance of any false finding among them all: the running maximum of (m - i + 1) p_(i).

    Parameters
    ----------
    p_values : None where nothing could be tested; it leaves the family, so it does not count in m.

    Raises
    ------
    ValueError if one is no number from 0 to 1; names its place.

    Source: Holm 1979, Scandinavian Journal of Statistics 6(2), 65-70.
    Checked against: fixtures/reference/agreement-cases.json O31; statsmodels multipletests.
    """
    places, sorted_p = _in_order(p_values)
    m = len(sorted_p)
    steps = np.maximum.accumulate((m - np.arange(m)) * sorted_p)
    return _family(p_values, places, steps)


def benjamini_yekutieli(p_values: Sequence[float | None]) -> Family:
    """p values that keep the share of false findings among the findings, however the tests hang together: the running
    minimum, from the largest down, of (1 + 1/2 + ... + 1/m) m / i p_(i).

    Parameters and errors as with `holm`.

    Source: Benjamini and Yekutieli 2001, Annals of Statistics 29(4), 1165-1188, theorem 1.3.
    Checked against: scipy.stats.false_discovery_control, statsmodels multipletests.
    """
    places, sorted_p = _in_order(p_values)
    m = len(sorted_p)
    rank = np.arange(1, m + 1)
    steps = np.minimum.accumulate((sorted_p * m / rank * (1 / rank).sum())[::-1])[::-1]
    return _family(p_values, places, steps)


def _extreme(sums: Floats, total: float, tolerance: float, alternative: Alternative) -> npt.NDArray[np.bool_]:
    if alternative == "two-sided":
        return np.abs(sums) >= abs(total) - tolerance
    return sums >= (total if alternative == "greater" else -total) - tolerance  # what chance gives is symmetric


def _all_sums(values: Floats) -> tuple[Floats, Floats]:
    """Every sum that signs can give, and in how many ways (of 2^n, as a share where that is a very large number)."""
    if len(values) <= EXACT_UP_TO:
        sums = np.zeros(1)
        for value in values:
            sums = np.concatenate([sums - value, sums + value])
        return sums, np.ones(len(sums))
    whole = np.round(values)
    if (whole != values).any() or len(values) * whole.sum() > MOST_STEPS:
        raise ValueError(
            f"{len(values)} differences are not zero; all signs are tried up to {EXACT_UP_TO}, or of small whole "
            f"numbers. Use mode monte_carlo."
        )
    total = int(whole.sum())
    chance = np.zeros(2 * total + 1)
    chance[total] = 1.0
    for step in whole.astype(int).tolist():
        chance = (np.roll(chance, step) + np.roll(chance, -step)) / 2  # never wraps: no sum is beyond the total
    return np.arange(-total, total + 1).astype(float), chance


def _drawn_sums(values: Floats, *, rng: np.random.Generator, n_draws: int) -> Iterator[Floats]:
    """The sums under drawn signs, a block at a time."""
    block = max(1, BLOCK_CELLS // len(values))
    for start in range(0, n_draws, block):
        signs = rng.integers(0, 2, size=(min(block, n_draws - start), len(values)), dtype=np.int64)
        yield (2.0 * signs - 1.0) @ values


def _cluster_sums(differences: Floats, clusters: Sequence[Hashable]) -> Floats:
    place: dict[Hashable, int] = {}
    of_item = np.array([place.setdefault(name, len(place)) for name in clusters], dtype=np.int64)
    order = np.lexsort([differences, of_item])  # within a cluster in one order, so that rounding is the same too
    return np.bincount(of_item[order], weights=differences[order], minlength=len(place)).astype(float)


def _outcome(
    p: float | None, reason: str | None, every: Floats, *, n_units: int, details: dict[str, object]
) -> Outcome:
    n_used = int((~np.isnan(every)).sum())
    n_missing = len(every) - n_used
    return Outcome(
        value=p,
        reason=reason,
        n_items=n_used,
        n_ratings=2 * n_used,
        n_raters=2,
        left_out={"not_in_both": n_missing} if n_missing else {},
        n_clusters=n_units,
        details=details,
    )


def _in_order(p_values: Sequence[float | None]) -> tuple[npt.NDArray[np.int64], Floats]:
    """The places of the tested from the smallest p, and their p values."""
    for place, p in enumerate(p_values):
        if p is not None and (isinstance(p, bool | str) or not 0 <= p <= 1):
            raise ValueError(f"p value {place} is {p!r}; it is a number from 0 to 1, or None where nothing was tested.")
    tested = np.array([place for place, p in enumerate(p_values) if p is not None], dtype=np.int64)
    values = np.array([p for p in p_values if p is not None], dtype=float)
    order = np.argsort(values, kind="stable")
    return tested[order], values[order]


def _family(p_values: Sequence[float | None], places: npt.NDArray[np.int64], steps: Floats) -> Family:
    adjusted: list[float | None] = [None] * len(p_values)
    for place, p in zip(places.tolist(), np.minimum(steps, 1.0).tolist(), strict=True):
        adjusted[place] = p
    return Family(tuple(adjusted), n_tested=len(places))
