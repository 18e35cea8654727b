"""What of two labels is compared: the category."""

from collections.abc import Sequence

from annotate.kinds.base import Measure, Schema
from annotate.kinds.gap.label import CATEGORIES, GapLabel
from annotate.traces.base import gettext_noop

TITLES = (
    gettext_noop("pointer to what was not seen"),
    gettext_noop("coined label"),
    gettext_noop("term of the field"),
    gettext_noop("missing background"),
)


def measures(schema: Schema) -> Sequence[Measure]:
    return (
        Measure(
            name="category",
            title=gettext_noop("category of the gap"),
            level="nominal",
            categories=CATEGORIES,
            category_titles=TITLES,
            rate=lambda label: label.category,
            min_others=1,
        ),
    )


def same(first: GapLabel, second: GapLabel) -> bool:
    """Equal in everything but the free comment."""
    return first.category == second.category


def distance(first: GapLabel, second: GapLabel) -> float:
    return float(first.category != second.category)
