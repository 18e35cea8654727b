"""How each prediction of a judge stands to the gold of its trajectory: redundant steps that it named, and what it said
of steps that it was given.

Pure: what a verdict holds and the triplets of the gold in, one row a prediction out, and one for each gold step that
was missed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotate.traces.base import gettext_noop
from scoring.stats.groups import Triplet, triplet

STATES: dict[str, str] = {
    "exact": gettext_noop("exact"),
    "right": gettext_noop("right"),
    "evidence_differs": gettext_noop("evidence differs"),
    "type_differs": gettext_noop("type differs"),
    "not_gold": gettext_noop("not gold"),
    "missed": gettext_noop("missed"),
    "repeated": gettext_noop("step named before"),
    "unreadable": gettext_noop("unreadable"),
    "no_consensus": gettext_noop("no consensus"),
    "not_asked": gettext_noop("not asked about"),
    "no_gold": gettext_noop("trajectory without gold"),
}
"""`exact`, `not_gold`, `missed` and `repeated` are of steps that were named, `right` and `not_asked` of given ones."""

AGREED = ("retained", "empty")
NO_TRIPLETS: tuple[Triplet, ...] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """`rank` counts, from 1, what a judge that says how sure it is named; a step that was missed has what gold says
    alone. A field that was not asked for, or that nothing can be compared with, is None."""

    state: str
    step: tuple[int, ...] | None = None
    type: str | None = None
    evidence: tuple[int, ...] | None = None
    confidence: float | None = None
    rank: int | None = None
    gold_type: str | None = None
    gold_evidence: tuple[int, ...] | None = None

    @property
    def same_type(self) -> bool | None:
        return same(self.type, self.gold_type)

    @property
    def same_evidence(self) -> bool | None:
        return same(self.evidence, self.gold_evidence)

    def is_about(self, kind: str) -> bool:
        """Whether either side says this type."""
        return kind in (self.type, self.gold_type)


def same(said: object, gold: object) -> bool | None:
    return None if said is None or gold is None else said == gold


def triplets_of(steps: Sequence[Mapping[str, Any]]) -> tuple[Triplet, ...]:
    return tuple(triplet(one["step"], one["type"], one["evidence"]) for one in steps)


def matches(
    values: Mapping[str, Any],
    label: Mapping[str, Any] | None,
    is_unreadable: bool,
    gold: Sequence[Triplet] | None,
    *,
    is_given: bool = False,
) -> list[Match]:
    """In the order of the judge, or of its confidence; missed steps last. `values` are those of its finding, `label`
    serves a judge whose finding lists no steps; `gold` is None where the trajectory has none. `is_given`: the judge
    answers about steps that it is given."""
    if is_given:
        return list(of_given_steps(values.get("answers") or (), is_unreadable, gold))
    if is_unreadable:
        return [Match("unreadable")]
    if values.get("outcome") not in (None, *AGREED):
        return [Match("no_consensus"), *(missed(one) for one in gold or ())]
    return list(of_named_steps(values["steps"] if "steps" in values else (label or {}).get("steps", ()), gold))


def of_named_steps(steps: Sequence[Mapping[str, Any]], gold: Sequence[Triplet] | None) -> Iterator[Match]:
    """The most confident first; of two that name the same step the first counts, as in the report."""
    is_ranked = any(one.get("confidence") is not None for one in steps)
    in_order = sorted(steps, key=lambda one: -(one.get("confidence") or 0)) if is_ranked else steps
    of_gold = {one.step: one for one in gold or NO_TRIPLETS}
    seen: set[tuple[int, ...]] = set()
    for place, one in enumerate(in_order):
        named = triplet(one["step"], one["type"], one["evidence"])
        right = of_gold.get(named.step)
        state = "repeated" if named.step in seen else "no_gold" if gold is None else state_of(named, right)
        seen.add(named.step)
        yield Match(
            state,
            named.step,
            named.type,
            named.evidence,
            one.get("confidence"),
            place + 1 if is_ranked else None,
            right.type if right else None,
            right.evidence if right else None,
        )
    yield from (missed(one) for step, one in of_gold.items() if step not in seen)


def state_of(named: Triplet, gold: Triplet | None) -> str:
    if gold is None:
        return "not_gold"
    if named.type != gold.type:
        return "type_differs"
    return "exact" if named == gold else "evidence_differs"


def missed(gold: Triplet) -> Match:
    return Match("missed", gold.step, gold_type=gold.type, gold_evidence=gold.evidence)


def of_given_steps(
    answers: Sequence[Mapping[str, Any]], is_unreadable: bool, gold: Sequence[Triplet] | None
) -> Iterator[Match]:
    """Of every gold step what was answered about it, then the answers about steps that are no gold."""
    given = {tuple(sorted(one["step"])): one for one in answers}
    for right in gold or ():
        answer = given.pop(right.step, None)
        yield of_given_step(answer, "unreadable" if is_unreadable else "not_asked", right)
    for step, answer in given.items():
        evidence = answer.get("evidence")
        state = "no_gold" if gold is None else "not_gold"
        yield Match(state, step, answer["type"], None if evidence is None else evidence_of(evidence))
    if gold is None and is_unreadable:
        yield Match("unreadable")


def of_given_step(answer: Mapping[str, Any] | None, without: str, gold: Triplet) -> Match:
    if answer is None:
        return replace(missed(gold), state=without)
    if answer["type"] is None or ("evidence" in answer and answer["evidence"] is None):
        return replace(missed(gold), state="unreadable")
    evidence = evidence_of(answer["evidence"]) if "evidence" in answer else None
    state = "right"
    if answer["type"] != gold.type:
        state = "type_differs"
    elif evidence not in (None, gold.evidence):
        state = "evidence_differs"
    return replace(missed(gold), state=state, type=answer["type"], evidence=evidence)


def evidence_of(evidence: Sequence[int]) -> tuple[int, ...]:
    return triplet((), "", evidence).evidence
