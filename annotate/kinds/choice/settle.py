"""The label several labels make together, part by part, and how one stands beside a known answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from annotate.kinds.base import Finding, Grade, LabelError, Schema, Settled, Span
from annotate.kinds.choice.label import ChoiceLabel, Value, dump, load, parse
from annotate.kinds.choice.measures import Say, same, values_of
from annotate.kinds.choice.question import MARKS, Part, is_asked, question_of
from annotate.traces.base import gettext_noop

MARKS_TITLE = gettext_noop("the marked passages")


def settle(labels: Sequence[ChoiceLabel], schema: Schema) -> Settled:
    """In each part, in their order, what most of those say who were asked it; where any number of labels may be chosen
    those that more than half chose; marks by more than half. Two values as frequent as each other are a tie: then the
    part stays empty, and a part that has to have an answer leaves the whole label unresolved. Whether a part is asked
    is said by what the parts before it ended with. Notes are nobody's but their writer's."""
    if not labels:
        return Settled(None, "unresolved", is_tie=False)
    answers: dict[str, Value] = {}
    is_tie = is_short = False
    question = question_of(schema)
    for part in question.parts:
        if part.type in ("note", "marks") or not is_asked(part, answers):
            continue
        given = [value for label in labels if (value := label.value(part.id)) is not None]
        value, ties = several(given, part) if part.type == "several" else most_frequent(given)
        is_tie |= ties
        if value is None or (part.required and value == ()):
            is_short |= part.required or part.type == "several"
        if value is not None:
            answers[part.id] = value
    types = [
        label.id for part in question.parts if part.type == "marks" and is_asked(part, answers) for label in part.labels
    ]
    spans = majority_spans(labels, types)
    made = {part: list(value) if isinstance(value, tuple) else value for part, value in answers.items()}
    label = load({"answers": made, "notes": {}, "spans": [stored_span(span) for span in spans]}, schema)
    if is_short or not is_whole(label, schema):
        return Settled(None, "unresolved", is_tie)
    agree = all(same(without_marks(labels[0]), without_marks(other)) for other in labels[1:])
    return Settled(label, "consensus" if agree else "majority", is_tie)


def is_whole(label: ChoiceLabel, schema: Schema) -> bool:
    """Whether one person could have given this label."""
    try:
        parse(dump(label), schema, None)
    except LabelError:
        return False
    return True


def without_marks(label: ChoiceLabel) -> ChoiceLabel:
    """Marks of two people are hardly ever alike to the letter, so they do not take a consensus away."""
    return ChoiceLabel(label.answers)


def most_frequent(values: Sequence[Value]) -> tuple[Value | None, bool]:
    """The value and False, or None and whether several tie for it."""
    counts = Counter(values).most_common(2)
    if not counts:
        return None, False
    if len(counts) == 2 and counts[0][1] == counts[1][1]:
        return None, True
    return counts[0][0], False


def several(values: Sequence[Value], part: Part) -> tuple[Value | None, bool]:
    """The labels that more than half chose; one that exactly half chose is a tie and not chosen."""
    if not values:
        return None, False
    counts = Counter(one for value in values if isinstance(value, tuple) for one in value)
    ties = any(2 * n == len(values) for n in counts.values())
    return tuple(one for one in part.label_ids if 2 * counts[one] > len(values)), ties


def stored_span(span: Span) -> dict[str, object]:
    return {"start": span.start, "end": span.end, "type": span.type, "quote": span.quote}


def majority_spans(labels: Sequence[ChoiceLabel], types: Sequence[str]) -> list[Span]:
    """By type: overlapping spans merged transitively; a cluster that more than half of the raters marked is kept, with
    its most frequent start and end (the longest of equals)."""
    kept = []
    for type in types:
        marked = sorted(
            ((span, rater) for rater, label in enumerate(labels) for span in label.spans if span.type == type),
            key=lambda entry: (entry[0].start, entry[0].end, entry[1]),
        )
        clusters: list[list[tuple[Span, int]]] = []
        for span, rater in marked:
            if clusters and any(span.overlaps(other) for other, _ in clusters[-1]):
                clusters[-1].append((span, rater))
            else:
                clusters.append([(span, rater)])
        for cluster in clusters:
            if 2 * len({rater for _, rater in cluster}) > len(labels):
                counts = Counter(span for span, _ in cluster)
                kept.append(max(counts, key=lambda one: (counts[one], one.end - one.start, -one.start)))
    return kept


def part_titles(schema: Schema, say: Say) -> dict[str, str]:
    titles = {part.id: say(part.title, part.id) for part in question_of(schema).parts if part.type != "note"}
    return {**titles, MARKS: MARKS_TITLE}


def grade(label: ChoiceLabel, known: ChoiceLabel) -> Grade:
    """Right where every answer is the known one; of the marks whether each expected passage was touched with its
    type."""
    mine, theirs = values_of(label), values_of(known)
    parts = {
        part: part in mine and part in theirs and mine[part].value == theirs[part].value
        for part in dict.fromkeys([*theirs, *mine])
    }
    if label.spans or known.spans:
        parts[MARKS] = all(
            any(span.overlaps(mark) and span.type == mark.type for mark in label.spans) for span in known.spans
        )
    return Grade(is_right=all(parts.values()), parts=parts)


def from_finding(finding: Finding, schema: Schema) -> ChoiceLabel | None:
    """A judge's answers by the ids of the parts, where a person could have given them; else no label at all."""
    if finding.unreadable is not None:
        return None
    question = question_of(schema)
    answers: dict[str, Any] = {}
    for part in question.parts:
        if part.type not in ("note", "marks") and part.id in finding.values and is_asked(part, answers):
            value = finding.values[part.id]
            answers[part.id] = list(value) if isinstance(value, tuple) else value
    data = {"answers": answers, "notes": {}, "spans": [stored_span(span) for span in finding.spans]}
    try:
        return parse(data, schema, None)
    except LabelError:
        return None
