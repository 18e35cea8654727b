"""What of two labels is compared, part by part. One label of several is nominal, or ordinal where its labels are
ordered; a scale is an interval. Where any number of labels may be chosen each label is a measure of its own (chosen or
not), so that figures say which of them people disagree on; so is each type of marks (marked anywhere or not). Notes are
in no measure. A part that was not asked of somebody is no rating of theirs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

from annotate.kinds.base import Measure, Schema
from annotate.kinds.choice.label import Answer, ChoiceLabel
from annotate.kinds.choice.question import Label, Part, Question, Title, is_asked, question_of
from annotate.traces.base import gettext_noop

YES, NO = "yes", "no"
YES_NO = (gettext_noop("chosen"), gettext_noop("not chosen"))
MARKED = (gettext_noop("marked"), gettext_noop("not marked"))

Say = Callable[[Title, str], str]
"""A title, and what stands in front of it, as the text that pages show in their language."""


def measures(schema: Schema, say: Say) -> Sequence[Measure]:
    question = question_of(schema)
    return tuple(measure for part in question.parts for measure in of_part(part, question, say))


def of_part(part: Part, question: Question, say: Say) -> Iterator[Measure]:
    if part.type == "one":
        yield Measure(
            name=part.id,
            title=say(part.title, part.id),
            level="ordinal" if part.ordered else "nominal",
            categories=part.label_ids,
            category_titles=tuple(say(label.title, label.id) for label in part.labels),
            rate=lambda label: known(label.value(part.id), part.label_ids),
        )
    elif part.type == "scale":
        yield Measure(
            name=part.id,
            title=say(part.title, part.id),
            level="interval",
            categories=part.numbers,
            category_titles=tuple(map(str, part.numbers)),
            rate=lambda label: known(label.value(part.id), part.numbers),
        )
    elif part.type == "several":
        yield from (chosen(part, label, say) for label in part.labels)
    elif part.type == "marks":
        yield from (marked(part, label, say) for label in part.labels)


def known(value: object, categories: Sequence[Hashable]) -> Hashable | None:
    """A value that another protocol's labels may have is no rating on this scale."""
    return value if isinstance(value, Hashable) and value in categories else None


def chosen(part: Part, of: Label, say: Say) -> Measure:
    def rate(label: ChoiceLabel) -> str | None:
        value = label.value(part.id)
        if not isinstance(value, tuple):
            return None
        return YES if of.id in value else NO

    return Measure(
        name=f"{part.id}.{of.id}",
        title=say(Title(*joined(part.title, of.title)), f"{part.id}: {of.id}"),
        level="nominal",
        categories=(YES, NO),
        category_titles=YES_NO,
        rate=rate,
    )


def marked(part: Part, of: Label, say: Say) -> Measure:
    def rate(label: ChoiceLabel) -> str | None:
        if not is_asked(part, {answer.part: answer.value for answer in label.answers}):
            return None
        return YES if any(span.type == of.id for span in label.spans) else NO

    return Measure(
        name=f"{part.id}.{of.id}",
        title=say(Title(*joined(part.title, of.title)), f"{part.id}: {of.id}"),
        level="nominal",
        categories=(YES, NO),
        category_titles=MARKED,
        rate=rate,
    )


def joined(part: Title, label: Title) -> tuple[str, str]:
    return f"{part.said('en')}: {label.said('en')}", f"{part.said('zh')}：{label.said('zh')}"


def marks(label: ChoiceLabel) -> frozenset[tuple[str, int]]:
    """Every marked (type, position); overlapping and repeated spans count once."""
    return frozenset((span.type, place) for span in label.spans for place in range(span.start, span.end))


def values_of(label: ChoiceLabel) -> dict[str, Answer]:
    return {answer.part: answer for answer in label.answers}


def same(first: ChoiceLabel, second: ChoiceLabel) -> bool:
    """Equal in everything but the notes."""
    values = [{part: answer.value for part, answer in values_of(one).items()} for one in (first, second)]
    return values[0] == values[1] and marks(first) == marks(second)


def distance(first: ChoiceLabel, second: ChoiceLabel) -> float:
    """The mean over all parts that either of them answers, from 0 (same) to 1. Of one label 0 or 1, of an ordered one
    and of a scale how far apart they stand between its ends, of several labels and of marks the share of all that
    either has which one of them has not."""
    mine, theirs = values_of(first), values_of(second)
    apart = [part_distance(mine.get(part), theirs.get(part)) for part in sorted({*mine, *theirs})]
    union = marks(first) | marks(second)
    if union:
        apart.append(len(marks(first) ^ marks(second)) / len(union))
    return sum(apart) / len(apart) if apart else 0.0


def part_distance(first: Answer | None, second: Answer | None) -> float:
    if first is None or second is None:
        return 1.0
    if first.value == second.value:
        return 0.0
    if isinstance(first.value, tuple) and isinstance(second.value, tuple):
        return len({*first.value} ^ {*second.value}) / len({*first.value} | {*second.value})
    if first.place is not None and second.place is not None and first.place != second.place:
        return abs(first.place - second.place)
    return 1.0
