"""The label several labels make together, and how one stands beside a known answer."""

from collections import Counter
from collections.abc import Sequence

from annotate.kinds.base import Finding, Grade, Schema, Settled
from annotate.kinds.gap.label import CATEGORIES, GapLabel
from annotate.traces.base import gettext_noop


def settle(labels: Sequence[GapLabel], schema: Schema) -> Settled:
    """What all say, else what more than half say; with two annotators who differ a reviewer decides."""
    counts = Counter(label.category for label in labels)
    if not counts:
        return Settled(None, "unresolved", is_tie=False)
    most = max(counts.values())
    first = [category for category in CATEGORIES if counts[category] == most]
    if 2 * most > len(labels):
        return Settled(GapLabel(first[0]), "consensus" if len(counts) == 1 else "majority", is_tie=False)
    return Settled(None, "unresolved", is_tie=len(first) > 1)


PART_TITLES = {"category": gettext_noop("the category")}


def part_titles(schema: Schema) -> dict[str, str]:
    return PART_TITLES


def grade(label: GapLabel, known: GapLabel) -> Grade:
    is_right = label.category == known.category
    return Grade(is_right=is_right, parts={"category": is_right})


def from_finding(finding: Finding, schema: Schema) -> GapLabel | None:
    """A judge's category; None where it gave none that could be read."""
    category = finding.values.get("category")
    return GapLabel(category) if finding.unreadable is None and category in CATEGORIES else None
