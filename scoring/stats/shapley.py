"""Which factor of acc = p * s * c + u a change of accuracy goes to, as the mean over all orders of changing them.

p is the share built, s of those exposed, c of those correct, and u the share that is correct without either. This
assigns an observed change and estimates no cause.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from scoring.stats.results import Figure
from scoring.stats.statistic import Floats, ratio
from scoring.stats.sums import Summed

FACTORS = ("p", "s", "c", "u")
Missing = Literal["undefined", "borrow"]
SAME = 1e-12


@dataclass(frozen=True)
class Decomposition:
    """`shares` by factor, which add up to `change`; `borrowed` are the factors that are one arm's in both.

    The change has a value even where a factor was not observed, as long as the product is 0 without it.
    """

    shares: Mapping[str, Figure]
    change: Figure
    borrowed: tuple[str, ...]


def shapley_acc(
    before: Mapping[str, float | None], after: Mapping[str, float | None], *, missing: Missing = "undefined"
) -> Decomposition:
    """The share of every factor in the change from one arm to the other.

    Parameters
    ----------
    before, after : p, s, c and u of the two arms, each from 0 to 1; None or absent where it was not observed.
    missing : `undefined` gives `factor_undefined` for all four if any is missing; `borrow` takes the other arm's value,
        so that the factor is assigned nothing by itself, and flags `factor_borrowed`; then only a factor that is absent
        in both arms is undefined.

    Returns
    -------
    Decomposition; reason `empty` where no factor was observed in either arm.

    Raises
    ------
    ValueError for a name that is no factor or a value outside 0 to 1.

    Source: Shapley 1953, A value for n-person games; the closed form of a product of three factors.
    Checked against: fixtures/reference/agreement-cases.json O32; all 24 orders in fractions.
    """
    _check_missing(missing)
    arms = np.array([_read(before, "before"), _read(after, "after")])
    filled, lent = _filled(arms[None], missing)
    borrowed = tuple(factor for factor, is_lent in zip(FACTORS, lent[0].tolist(), strict=True) if is_lent)
    shares = shares_of_change(filled[:, 0], filled[:, 1])[0]
    change = float(np.diff(_accuracy(arms))[0])
    reason = "empty" if np.isnan(arms).all() else "factor_undefined"
    flags = ("factor_borrowed",) if borrowed else ()
    return Decomposition(
        shares={
            factor: _figure(share, reason, flags) for factor, share in zip(FACTORS, shares.tolist(), strict=True)
        },
        change=_figure(change, reason, ()),
        borrowed=borrowed,
    )


def shares_of_change(before: Floats, after: Floats) -> Floats:
    """(n_rows, 4) shares of p, s, c and u from the two arms' factors (n_rows, 4); a row with a nan is nan.

    Their sum is the change of p * s * c + u, which is asserted.
    """
    (p0, s0, c0, u0), (p1, s1, c1, u1) = before.T, after.T
    shares = np.column_stack(
        [
            (p1 - p0) * (2 * s0 * c0 + s0 * c1 + s1 * c0 + 2 * s1 * c1) / 6,
            (s1 - s0) * (2 * p0 * c0 + p0 * c1 + p1 * c0 + 2 * p1 * c1) / 6,
            (c1 - c0) * (2 * p0 * s0 + p0 * s1 + p1 * s0 + 2 * p1 * s1) / 6,
            u1 - u0,
        ]
    )
    shares = np.where(np.isnan(shares).any(axis=1, keepdims=True), np.nan, shares)
    change = (p1 * s1 * c1 + u1) - (p0 * s0 * c0 + u0)
    gap = np.abs(shares.sum(axis=1) - change)
    assert not (gap > SAME).any(), f"The shares miss the change by {np.nanmax(gap)}."
    return shares


@dataclass(frozen=True, eq=False)
class Stages:
    """One arm, (n_items,) each, of an item's runs the mean share: built; built and exposed; built, exposed and correct;
    and correct in any way. nan where the arm has no run of the item."""

    built: Floats
    exposed: Floats
    closed: Floats
    correct: Floats

    @classmethod
    def of(
        cls, built: npt.ArrayLike, exposed: npt.ArrayLike, closed: npt.ArrayLike, correct: npt.ArrayLike
    ) -> Stages:
        """Raises ValueError unless closed <= exposed <= built and closed <= correct on every item; names the first."""
        arrays = [np.asarray(one, dtype=float) for one in (built, exposed, closed, correct)]
        if len({one.shape for one in arrays}) > 1 or arrays[0].ndim != 1:
            raise ValueError("built, exposed, closed and correct are one share for each item.")
        stages = cls(*arrays)
        for what, small, large in (
            ("exposed at most as often as built", stages.exposed, stages.built),
            ("closed at most as often as exposed", stages.closed, stages.exposed),
            ("closed at most as often as correct", stages.closed, stages.correct),
        ):
            wrong = np.flatnonzero(small > large + SAME)
            if len(wrong):
                raise ValueError(f"Item {wrong[0]} is not {what}: {small[wrong[0]]} and {large[wrong[0]]}.")
        return stages

    @property
    def observed(self) -> npt.NDArray[np.bool_]:
        missing = np.isnan([self.built, self.exposed, self.closed, self.correct])
        return ~np.asarray(missing.any(axis=0), dtype=bool)

    def features(self, used: npt.NDArray[np.bool_]) -> Floats:
        """(n_items, 5): counts, built, exposed, closed, and correct in another way; 0 where the item is not used."""
        rows = np.column_stack([self.built, self.exposed, self.closed, self.correct - self.closed])
        return np.column_stack([used.astype(float), np.where(used[:, None], rows, 0.0)])


def factor_statistics(stages: Stages) -> dict[str, Summed]:
    """p, s, c and u of one arm, every item weighted equally; `factor_undefined` for s and c that nothing reached."""
    used = stages.observed
    features = stages.features(used)
    left_out = {"not_observed": int((~used).sum())}
    reason = "factor_undefined" if used.any() else "empty"
    return {
        factor: Summed(features, _Factor(place), reason=reason, left_out=left_out)
        for place, factor in enumerate(FACTORS)
    }


def shapley_statistics(before: Stages, after: Stages, *, missing: Missing = "undefined") -> dict[str, Summed]:
    """The shares of p, s, c and u, and the `change`, as statistics of items that have runs in both arms, so that both
    arms are resampled together. A resample in which a factor is missing follows the same rule as the value."""
    _check_missing(missing)
    if len(before.built) != len(after.built):
        raise ValueError(f"{len(before.built)} items before and {len(after.built)} after; give both arms every item.")
    used = before.observed & after.observed
    features = np.column_stack([before.features(used), after.features(used)[:, 1:]])
    left_out = {
        "not_in_both": int((before.observed ^ after.observed).sum()),
        "not_observed": int((~before.observed & ~after.observed).sum()),
    }
    reason = "factor_undefined" if used.any() else "empty"
    arms = np.stack([_factors(_arm(features.sum(axis=0)[None], arm)) for arm in (0, 1)], axis=1)
    filled, lent = _filled(arms, missing)
    is_borrowed = bool(lent.any()) and not np.isnan(filled).any()
    flags = ("factor_borrowed",) if is_borrowed else ()
    parts = {
        factor: Summed(features, _Share(place, missing), reason=reason, left_out=left_out, flags=flags)
        for place, factor in enumerate(FACTORS)
    }
    return parts | {"change": Summed(features, _change, reason="empty", left_out=left_out)}


@dataclass(frozen=True)
class _Factor:
    place: int

    def __call__(self, sums: Floats) -> Floats:
        found: Floats = _factors(sums)[:, self.place]
        return found


@dataclass(frozen=True)
class _Share:
    place: int
    missing: Missing

    def __call__(self, sums: Floats) -> Floats:
        arms = np.stack([_factors(_arm(sums, arm)) for arm in (0, 1)], axis=1)
        filled, _ = _filled(arms, self.missing)
        found: Floats = shares_of_change(filled[:, 0], filled[:, 1])[:, self.place]
        return found


def _change(sums: Floats) -> Floats:
    return ratio(sums[:, 7] + sums[:, 8] - sums[:, 3] - sums[:, 4], sums[:, 0])


def _arm(sums: Floats, arm: int) -> Floats:
    """The sums (n_rows, 5) of one arm out of those of both."""
    return np.column_stack([sums[:, :1], sums[:, 1 + 4 * arm : 5 + 4 * arm]])


def _factors(sums: Floats) -> Floats:
    """(n_rows, 4) p, s, c and u from the sums of `Stages.features`."""
    n, built, exposed, closed, other = sums.T
    return np.column_stack([ratio(built, n), ratio(exposed, built), ratio(closed, exposed), ratio(other, n)])


def _filled(arms: Floats, missing: Missing) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """(n_rows, 2 arms, 4 factors) with what an arm lacks taken from the other, if that is the rule; and which factors
    of each row were."""
    lacking = np.isnan(arms)
    if missing == "undefined":
        return arms, np.zeros((len(arms), len(FACTORS)), dtype=bool)
    is_lent: npt.NDArray[np.bool_] = lacking[:, 0] ^ lacking[:, 1]
    return np.where(lacking, arms[:, ::-1], arms), is_lent


def _accuracy(arms: Floats) -> Floats:
    """p * s * c + u of rows of factors. A product with a factor of 0 is 0, whatever else was not observed."""
    product = np.where((arms[:, :3] == 0).any(axis=1), 0.0, arms[:, :3].prod(axis=1))
    total: Floats = product + arms[:, 3]
    return total


def _read(arm: Mapping[str, float | None], name: str) -> list[float]:
    unknown = [factor for factor in arm if factor not in FACTORS]
    if unknown:
        raise ValueError(f"{name} has {unknown[0]!r}; the factors are {', '.join(FACTORS)}.")
    found = []
    for factor in FACTORS:
        value = arm.get(factor)
        if value is not None and (isinstance(value, bool | str) or not 0 <= value <= 1):
            raise ValueError(f"{factor} {name} is {value!r}; a factor is a number from 0 to 1, None if not observed.")
        found.append(np.nan if value is None else float(value))
    return found


def _figure(value: float, reason: str, flags: tuple[str, ...]) -> Figure:
    has_value = not np.isnan(value)
    return Figure(
        value=value if has_value else None,
        reason=None if has_value else reason,
        n_items=len(FACTORS),
        n_ratings=2 * len(FACTORS),
        n_raters=2,
        flags=flags if has_value else (),
    )


def _check_missing(missing: str) -> None:
    if missing not in ("undefined", "borrow"):
        raise ValueError(f"missing is {missing!r}; it is undefined or borrow.")
