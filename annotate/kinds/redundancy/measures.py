"""What of two labels is compared. Whether a trajectory has a redundant step at all is a verdict on a scale. Which steps
it has, of which type and on what evidence are sets that nobody lists beforehand: two annotators are compared by what
both named."""

from __future__ import annotations

from collections.abc import Sequence

from annotate.kinds.base import Measure, Schema, SetMeasure
from annotate.kinds.redundancy.label import STEPS, RedundancyLabel
from annotate.kinds.redundancy.schema import TYPE_TITLES, TYPES
from annotate.traces.base import gettext_noop

SOME, NOTHING = "some", "none"
LOCATION, TYPE, TRIPLET = 0.5, 0.25, 0.25
"""How much of a distance each part makes: on another step or another type two disagree severely."""


def measures(schema: Schema) -> Sequence[Measure]:
    return (
        Measure(
            name="found",
            title=gettext_noop("has a redundant step or none"),
            level="nominal",
            categories=(SOME, NOTHING),
            category_titles=(gettext_noop("redundant steps"), gettext_noop("no redundant step")),
            rate=found,
        ),
    )


def found(label: RedundancyLabel) -> str | None:
    if not label.is_rating:
        return None
    return SOME if label.outcome == STEPS else NOTHING


def sets(schema: Schema) -> Sequence[SetMeasure]:
    return (
        SetMeasure("location", gettext_noop("the redundant steps"), locations),
        SetMeasure(
            "type",
            gettext_noop("the steps with their types"),
            types,
            categories=TYPES,
            category_titles=tuple(TYPE_TITLES.values()),
            named=lambda label: {one.type for one in label.steps},
        ),
        SetMeasure("evidence", gettext_noop("the steps with their evidence"), evidence),
        SetMeasure("triplet", gettext_noop("whole triplets"), triplets),
        SetMeasure("set", gettext_noop("the set of triplets, as a whole"), triplets, stat="exact"),
    )


def locations(label: RedundancyLabel) -> frozenset[object] | None:
    return frozenset(one.step for one in label.steps) if label.is_rating else None


def types(label: RedundancyLabel) -> frozenset[object] | None:
    return frozenset((one.step, one.type) for one in label.steps) if label.is_rating else None


def evidence(label: RedundancyLabel) -> frozenset[object] | None:
    return frozenset((one.step, one.evidence) for one in label.steps) if label.is_rating else None


def triplets(label: RedundancyLabel) -> frozenset[object] | None:
    return frozenset(label.triplets) if label.is_rating else None


def same(first: RedundancyLabel, second: RedundancyLabel) -> bool:
    """The same set of triplets, or both say that they cannot annotate. Reasons, certainties, what was suggested and the
    note are not compared."""
    return first.outcome == second.outcome and first.triplets == second.triplets


def distance(first: RedundancyLabel, second: RedundancyLabel) -> float:
    """From 0 (same) to 1: of the steps, the steps with types, and the triplets, the share of all that either names
    which one of them does not."""
    if same(first, second):
        return 0.0
    if not (first.is_rating and second.is_rating):
        return 1.0
    parts = ((LOCATION, locations), (TYPE, types), (TRIPLET, triplets))
    return sum(weight * apart(part(first), part(second)) for weight, part in parts)


def apart(first: frozenset[object] | None, second: frozenset[object] | None) -> float:
    mine, theirs = first or frozenset(), second or frozenset()
    return len(mine ^ theirs) / len(mine | theirs) if mine | theirs else 0.0
