"""The label several labels make together, and how one stands beside a known answer."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from annotate.kinds.base import Finding, Grade, Schema, Settled, Span
from annotate.kinds.reply.label import LABELS, NEEDS_INFORMATION, READABLE, SPAN_TYPES, UNREPAIRABLE, ReplyLabel
from annotate.traces.base import gettext_noop


def settle(labels: Sequence[ReplyLabel], schema: Schema) -> Settled:
    """Majority of fail against pass, a tie fails; among failing labels the more frequent one, equal counts give
    `needs_information` (docs/methods.md, Tie rule)."""
    if not labels:
        return Settled(None, "unresolved", is_tie=False)
    failing = [label for label in labels if label.fails]
    is_tie = 2 * len(failing) == len(labels)
    how: Literal["consensus", "majority"] = "consensus" if len({label.label for label in labels}) == 1 else "majority"
    if 2 * len(failing) < len(labels):
        return Settled(ReplyLabel(READABLE), how, is_tie)
    stronger = sum(label.label == UNREPAIRABLE for label in failing)
    name = UNREPAIRABLE if 2 * stronger > len(failing) else NEEDS_INFORMATION
    no_result = 2 * sum(label.states_no_result for label in labels) > len(labels)
    return Settled(ReplyLabel(name, no_result, majority_spans(labels)), how, is_tie)


def majority_spans(labels: Sequence[ReplyLabel]) -> tuple[Span, ...]:
    """Overlapping spans merged transitively; a cluster marked by more than half of the raters is kept, as the span
    most of them would know: from its most frequent start and end, with its most frequent type."""
    marked = sorted(((span, rater) for rater, label in enumerate(labels) for span in label.spans), key=place)
    clusters: list[list[tuple[Span, int]]] = []
    for span, rater in marked:
        if clusters and any(span.overlaps(other) for other, _ in clusters[-1]):
            clusters[-1].append((span, rater))
        else:
            clusters.append([(span, rater)])
    kept = [cluster for cluster in clusters if 2 * len({rater for _, rater in cluster}) > len(labels)]
    return tuple(typical_span([span for span, _ in cluster]) for cluster in kept)


def place(entry: tuple[Span, int]) -> tuple[int, int, int]:
    return entry[0].start, entry[0].end, entry[1]


def typical_span(spans: Sequence[Span]) -> Span:
    """The most frequent span of a cluster (the longest of equals), under the cluster's most frequent type."""
    counts = Counter((span.start, span.end, span.quote) for span in spans)
    start, end, quote = max(counts, key=lambda key: (counts[key], key[1] - key[0], -key[0]))
    types = Counter(span.type for span in spans)
    return Span(start, end, max(SPAN_TYPES, key=lambda name: types[name]), quote)


PART_TITLES = {
    "label": gettext_noop("the label"),
    "states_no_result": gettext_noop("states no result or answer"),
    "spans": gettext_noop("the marked passages"),
}


def part_titles(schema: Schema) -> dict[str, str]:
    return PART_TITLES


def grade(label: ReplyLabel, known: ReplyLabel) -> Grade:
    """Right when verdict and label are; the parts also tell whether each expected passage was touched."""
    parts = {
        "label": label.label == known.label,
        "states_no_result": label.states_no_result == known.states_no_result,
        "spans": all(any(span.overlaps(mark) for mark in label.spans) for span in known.spans),
    }
    return Grade(is_right=parts["label"] and parts["states_no_result"], parts=parts)


def from_finding(finding: Finding, schema: Schema) -> ReplyLabel | None:
    """A judge's verdict as a label: its gaps are spans; no readable answer is no label at all, nor is a finding that
    says so (`label` None)."""
    values = finding.values
    if finding.unreadable is not None or values.get("label", "") is None:
        return None
    verdict = values.get("verdict", {})
    no_answer = bool(values.get("no_answer") or verdict.get("fail_answer"))
    if values.get("label") in LABELS:
        name = values["label"]
    elif no_answer or values.get("wrong_language") or verdict.get("fail_language"):
        name = UNREPAIRABLE
    else:
        name = NEEDS_INFORMATION if finding.spans else READABLE
    return ReplyLabel(name, no_answer, finding.spans)
