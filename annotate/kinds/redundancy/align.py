"""Several labels of one trajectory side by side, step by step, with the fields in which they differ."""

from __future__ import annotations

from collections.abc import Sequence

from annotate.kinds.base import Aligned, AlignedPart, Schema
from annotate.kinds.redundancy.label import NONE_SERVES, RedundancyLabel, RedundantStep, pairs_in, said
from annotate.kinds.redundancy.schema import TYPE_TITLES
from annotate.kinds.redundancy.settle import severities
from annotate.traces.base import gettext_noop

GRADES = {
    "same": "",
    "minor": gettext_noop("minor: only the evidence differs"),
    "severe": gettext_noop("severe: another step or another type"),
}
TYPE, EVIDENCE = gettext_noop("type"), gettext_noop("evidence")
CERTAINTY, REASON = gettext_noop("certainty"), gettext_noop("reason")
CERTAINTY_TITLES = {"low": gettext_noop("low"), "medium": gettext_noop("medium"), "high": gettext_noop("high")}
NO_OTHER = gettext_noop("no other step serves")


def align(labels: Sequence[RedundancyLabel], schema: Schema) -> list[Aligned]:
    """Who cannot annotate names nothing and differs from nobody."""
    lines = []
    for pair, grade in severities([label for label in labels if label.is_rating]).items():
        named = [next((one for one in label.steps if one.step == pair), None) for label in labels]
        there = [one for one in named if one is not None]
        cells = tuple(None if one is None else parts_of(one, there) for one in named)
        lines.append(Aligned(said(pair), pair[0], GRADES[grade], cells))
    return lines


def parts_of(one: RedundantStep, there: Sequence[RedundantStep]) -> tuple[AlignedPart, ...]:
    parts = [
        AlignedPart(TYPE, TYPE_TITLES.get(one.type, one.type), len({other.type for other in there}) > 1),
        AlignedPart(EVIDENCE, evidence_words(one.evidence), len({other.evidence for other in there}) > 1),
    ]
    if one.certainty:
        parts.append(AlignedPart(CERTAINTY, CERTAINTY_TITLES.get(one.certainty, one.certainty), is_apart=False))
    if one.reason:
        parts.append(AlignedPart(REASON, one.reason, is_apart=False, is_typed=True))
    return tuple(parts)


def evidence_words(evidence: Sequence[int]) -> str:
    if list(evidence) == [NONE_SERVES]:
        return NO_OTHER
    return ", ".join(map(said, pairs_in(evidence))) or said(evidence)
