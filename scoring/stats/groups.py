"""How far two sides that each name a set of things name the same: groups of steps, triplets, anything hashable.

An item's row counts what either side named and what of it the other named too; spans are compared by the same counts
(`spans.py`). Order inside a group plays no part unless it is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from scoring.stats.statistic import Floats, Mask, ratio
from scoring.stats.sums import Summed

Stat = Literal["precision", "recall", "f1", "jaccard", "exact"]
Aggregate = Literal["micro", "macro"]

STATS: tuple[Stat, ...] = ("precision", "recall", "f1", "jaccard", "exact")
AGGREGATES: tuple[Aggregate, ...] = ("micro", "macro")


@dataclass(frozen=True, eq=False)
class Named:
    """What two sides named on every item: arrays (n_items,).

    `n_predicted` and `n_reference` count what each side named, `right` what of the predicted the reference holds,
    `found` what of the reference was predicted (the same number where things match one to one). `equal` where both
    named exactly the same. `by_predicted`, `by_reference`: which side looked at the item; one that did not look is
    missing there, not empty, and its counts are not read.
    """

    n_predicted: Floats
    n_reference: Floats
    right: Floats
    found: Floats
    equal: Mask
    by_predicted: Mask
    by_reference: Mask

    @classmethod
    def of(
        cls,
        reference: Sequence[Any | None],
        predicted: Sequence[Any | None],
        count: Callable[[Any, Any], tuple[float, float, float, float, bool]],
    ) -> Named:
        """From what each side said of every item (None for nothing said) and the row that two answers make."""
        if len(reference) != len(predicted):
            raise ValueError(
                f"{len(reference)} items of the reference and {len(predicted)} predicted; give both sides every item."
            )
        rows = [
            (0.0, 0.0, 0.0, 0.0, False) if one is None or other is None else count(one, other)
            for one, other in zip(reference, predicted, strict=True)
        ]
        table = np.array(rows, dtype=float).reshape(len(rows), 5)
        return cls(
            n_reference=table[:, 0],
            n_predicted=table[:, 1],
            found=table[:, 2],
            right=table[:, 3],
            equal=table[:, 4] > 0,
            by_reference=np.array([one is not None for one in reference], dtype=bool),
            by_predicted=np.array([one is not None for one in predicted], dtype=bool),
        )


def agreement_of(named: Named, *, stat: Stat = "f1", aggregate: Aggregate = "micro") -> Summed:
    """One statistic of what two sides named on the same items.

    Parameters
    ----------
    stat : `precision` (of the predicted, how much is right), `recall` (of the reference, how much was found), `f1`
        (their harmonic mean, 0 where one side alone named something), `jaccard` (common things to all things), `exact`
        (share of items where both named the same; two empty sets do).
    aggregate : `micro` sums over items first, `macro` is the mean over the items that have a value.

    Returns
    -------
    Summed, without a value for `empty` (nobody looked at any item), `one_rater`, `no_overlap` (no item both looked
    at), `both_empty`, `predicted_empty` or `reference_empty`. Items where both named nothing are left out of all but
    `exact`.

    Raises
    ------
    ValueError if the stat or aggregate is not known.
    """
    if stat not in STATS:
        raise ValueError(f"stat is {stat!r}; it is one of {', '.join(STATS)}.")
    if aggregate not in AGGREGATES:
        raise ValueError(f"aggregate is {aggregate!r}; it is one of {', '.join(AGGREGATES)}.")
    both = named.by_predicted & named.by_reference
    empty = both & (named.n_predicted == 0) & (named.n_reference == 0)
    left_out = {
        "no_rating": int((~named.by_predicted & ~named.by_reference).sum()),
        "one_rating": int((named.by_predicted ^ named.by_reference).sum()),
    }
    if stat == "exact":
        features = np.column_stack([both, both & named.equal]).astype(float)
        reason = _table_reason(named, both) or "empty"
        return _summed(features, lambda sums: ratio(sums[:, 1], sums[:, 0]), reason, left_out, is_share=True)
    left_out["both_empty"] = int(empty.sum())
    counts = np.column_stack([named.n_reference, named.n_predicted, named.found, named.right])
    reason = _reason(named, both, stat)
    used = both & ~empty
    if aggregate == "micro":
        features = np.column_stack([used, np.where(used[:, None], counts, 0.0)]).astype(float)
        return _summed(features, lambda sums: _value(sums[:, 1:], stat), reason, left_out)
    of_item = _value(counts, stat)
    lacking = used & np.isnan(of_item)
    left_out["predicted_empty" if stat == "precision" else "reference_empty"] = int(lacking.sum())
    used = used & ~lacking
    features = np.column_stack([used, np.where(used, of_item, 0.0)]).astype(float)
    return _summed(features, lambda sums: ratio(sums[:, 1], sums[:, 0]), reason, left_out)


def group_agreement(
    reference: Sequence[Iterable[Sequence[Any]] | None],
    predicted: Sequence[Iterable[Sequence[Any]] | None],
    *,
    ordered_within: bool = False,
    repeats: Literal["once", "each"] = "once",
    stat: Stat = "f1",
    aggregate: Aggregate = "micro",
) -> Summed:
    """How far the groups of steps that one side names are those of the reference.

    Parameters
    ----------
    reference, predicted : for every item the groups named there, each a sequence of steps (or a triplet of step, type
        and evidence); empty where somebody looked and found none, None where nobody looked.
    ordered_within : whether the order inside a group counts. Without it two groups are one if they hold the same
        members equally often.
    repeats : a group named twice on an item counts `once`, or `each` time, so that what is right is the intersection
        of the two multisets.

    Source: the definitions of precision, recall and F1 of van Rijsbergen 1979, Information Retrieval, chapter 7.
    Checked against: fixtures/reference/agreement-cases.json O26, O27.
    """
    if repeats not in ("once", "each"):
        raise ValueError(f"repeats is {repeats!r}; it is once or each.")

    def counted(groups: Iterable[Sequence[Any]] | None) -> Counter[Hashable] | None:
        if groups is None:
            return None
        keys = [group_key(group, ordered_within=ordered_within) for group in groups]
        return Counter(keys if repeats == "each" else set(keys))

    return agreement_of(
        Named.of([counted(one) for one in reference], [counted(one) for one in predicted], common),
        stat=stat,
        aggregate=aggregate,
    )


def common(reference: Counter[Hashable], predicted: Counter[Hashable]) -> tuple[float, float, float, float, bool]:
    """The row of two multisets: their sizes, their intersection for either side, and whether they are equal."""
    both = (reference & predicted).total()
    return reference.total(), predicted.total(), both, both, reference == predicted


def group_key(group: Sequence[Any], *, ordered_within: bool) -> Hashable:
    """What two groups have in common exactly if they are the same group. 1, "1" and True are three steps."""
    if isinstance(group, str | bytes) or not isinstance(group, Sequence):
        raise ValueError(f"A group is a list of steps; this is {group!r}.")
    members = [_exact(one) for one in group]
    return tuple(members) if ordered_within else frozenset(Counter(members).items())


@dataclass(frozen=True)
class Triplet:
    """A redundant step, its type and the evidence for it, in normal form (`triplet` makes it)."""

    step: tuple[int, ...]
    type: str
    evidence: tuple[int, ...]


def triplet(step: Sequence[int], type: str, evidence: Sequence[int]) -> Triplet:
    """In normal form: the pair of the step sorted; evidence read in twos, each pair sorted, then the pairs sorted.

    `[2, 9, 4, 5]` and `[5, 4, 9, 2]` are the same two pairs. One index alone is a message; -1 says that none serves.
    """
    if len(evidence) > 1 and len(evidence) % 2:
        raise ValueError(f"Evidence is one index or whole pairs; {list(evidence)} is {len(evidence)} indexes.")
    if len(evidence) <= 2:
        return Triplet(tuple(sorted(step)), type, tuple(sorted(evidence)))
    pairs = sorted(tuple(sorted(evidence[place : place + 2])) for place in range(0, len(evidence), 2))
    return Triplet(tuple(sorted(step)), type, tuple(index for pair in pairs for index in pair))


Compared = Literal["step", "step_type", "triplet"]


def triplet_agreement(
    reference: Sequence[Iterable[Triplet] | None],
    predicted: Sequence[Iterable[Triplet] | None],
    *,
    by: Compared = "triplet",
    repeats: Literal["once", "each"] = "each",
    stat: Stat = "f1",
    aggregate: Aggregate = "micro",
) -> Summed:
    """As `group_agreement`, of triplets: two match if their steps are equal, the types too, or the evidence as well."""
    if by not in ("step", "step_type", "triplet"):
        raise ValueError(f"by is {by!r}; it is step, step_type or triplet.")

    def groups(triplets: Iterable[Triplet] | None) -> list[tuple[Any, ...]] | None:
        if triplets is None:
            return None
        width = {"step": 1, "step_type": 2, "triplet": 3}[by]
        return [(one.step, one.type, one.evidence)[:width] for one in triplets]

    return group_agreement(
        [groups(one) for one in reference],
        [groups(one) for one in predicted],
        ordered_within=True,
        repeats=repeats,
        stat=stat,
        aggregate=aggregate,
    )


def _value(counts: Floats, stat: Stat) -> Floats:
    """(n_rows, 4) of n_reference, n_predicted, found, right -> the statistic, nan where it is undefined."""
    n_reference, n_predicted, found, right = counts.T
    if stat == "precision":
        return ratio(right, n_predicted)
    if stat == "recall":
        return ratio(found, n_reference)
    if stat == "jaccard":
        return ratio(right, n_predicted + n_reference - right)
    # the harmonic mean of the two shares; without a match it is 0, and it needs something on one side only
    together = found * n_predicted + right * n_reference
    value = np.where(together > 0, ratio(2 * found * right, together), 0.0)
    return np.where(n_predicted + n_reference > 0, value, np.nan)


def _table_reason(named: Named, both: Mask) -> str | None:
    if not (named.by_predicted.any() or named.by_reference.any()):
        return "empty"
    if not (named.by_predicted.any() and named.by_reference.any()):
        return "one_rater"
    return None if both.any() else "no_overlap"


def _reason(named: Named, both: Mask, stat: Stat) -> str:
    """Why there is no value, if there is none."""
    if (reason := _table_reason(named, both)) is not None:
        return reason
    if not (named.n_predicted[both].any() or named.n_reference[both].any()):
        return "both_empty"
    return "predicted_empty" if stat == "precision" else "reference_empty"


def _summed(
    features: Floats,
    formula: Callable[[Floats], Floats],
    reason: str,
    left_out: dict[str, int],
    *,
    is_share: bool = False,
) -> Summed:
    n_ratings = 2 * int((features[:, 0] > 0).sum())
    return Summed(
        features, formula, reason=reason, left_out=left_out, is_share=is_share, n_ratings=n_ratings, n_raters=2
    )


def _exact(value: Any) -> Hashable:
    """A key of any step, lists among them; it tells 1 from "1", True and 1.0."""
    if isinstance(value, list | tuple):
        return ("list", *(_exact(one) for one in value))
    return (type(value).__name__, value)


