"""What of two labels is compared: usable or not, the three labels, and whether a result is stated."""

from collections.abc import Sequence

from annotate.kinds.base import Measure, Schema
from annotate.kinds.reply.label import LABELS, ReplyLabel
from annotate.traces.base import gettext_noop

LABEL_TITLES = (gettext_noop("readable"), gettext_noop("needs information"), gettext_noop("unrepairable or no answer"))
FAIL = "fail"


def measures(schema: Schema) -> Sequence[Measure]:
    """The first one is the kind's verdict; a tie of the others counts as failed (docs/methods.md, Tie rule)."""
    return (
        Measure(
            name="fail",
            title=gettext_noop("fails or passes"),
            level="nominal",
            categories=("pass", FAIL),
            category_titles=(gettext_noop("passes"), gettext_noop("fails")),
            rate=lambda label: FAIL if label.fails else "pass",
            tie=("toward", FAIL),
        ),
        Measure(
            name="label",
            title=gettext_noop("the three labels"),
            level="nominal",
            categories=LABELS,
            category_titles=LABEL_TITLES,
            rate=lambda label: label.label,
        ),
        Measure(
            name="no_result",
            title=gettext_noop("states no result or answer"),
            level="nominal",
            categories=("states", "states_none"),
            category_titles=(gettext_noop("states one"), gettext_noop("states none")),
            rate=lambda label: "states_none" if label.states_no_result else "states",
        ),
    )


def marks(label: ReplyLabel) -> frozenset[tuple[str, int]]:
    """Every marked (type, position); overlapping and repeated spans count once."""
    return frozenset((span.type, place) for span in label.spans for place in range(span.start, span.end))


def same(first: ReplyLabel, second: ReplyLabel) -> bool:
    """Equal in everything but the free comment."""
    return (first.label, first.states_no_result, marks(first)) == (second.label, second.states_no_result, marks(second))


def distance(first: ReplyLabel, second: ReplyLabel) -> float:
    """From 0 (same) to 1: half of it for the verdict, a quarter for the rest of the label, a quarter for the marks."""
    verdict = 0.5 * (first.fails != second.fails)
    rest = 0.125 * (first.label != second.label) + 0.125 * (first.states_no_result != second.states_no_result)
    union = marks(first) | marks(second)
    return verdict + rest + (0.25 * len(marks(first) ^ marks(second)) / len(union) if union else 0.0)
