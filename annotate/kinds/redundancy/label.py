"""The label of one trajectory: its redundant steps, that it has none, or that it cannot be annotated.

    {"outcome": "steps" | "none" | "cannot_annotate",
     "steps": [{"step": [CALL, RESULT], "type": "DUP", "evidence": [...], "reason": TEXT, "certainty": "high",
                "origin": "added" | "kept" | "changed"}],
     "decisions": [{"step": [CALL, RESULT], "decision": "keep" | "change" | "reject"}],
     "note": TEXT}

`step`, `type` and `evidence` are those of the records of the method (docs/records.md), in normal form: indexes are the
original ones from 0, pairs are sorted. Evidence is one pair, several pairs one after another, one message, or [-1].
What can be seen without the trajectory is checked here, the rest in `contract.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.kinds.base import LabelError, Schema
from annotate.kinds.redundancy.schema import CERTAINTIES, TYPES
from annotate.traces.base import Problem, first_problems, gettext_noop
from annotate.traces.strict_json import pointer_part

OUTCOMES = STEPS, NONE, CANNOT = ("steps", "none", "cannot_annotate")
ORIGINS = ADDED, KEPT, CHANGED = ("added", "kept", "changed")
DECISIONS = KEEP, CHANGE, REJECT = ("keep", "change", "reject")
ORIGIN_OF = {KEEP: KEPT, CHANGE: CHANGED}
FIELDS = {"outcome", "steps", "decisions", "note"}
STEP_FIELDS = {"step", "type", "evidence", "reason", "certainty", "origin"}
DECISION_FIELDS = {"step", "decision"}
UNMEASURED = ("decisions", "note")
NONE_SERVES = -1
"""As the whole evidence: no other step of the trajectory serves."""

MAX_STEPS = 2000
MAX_EVIDENCE = 100
MAX_TEXT = 4000
MAX_NAME = 80

Pair = tuple[int, int]
Triplet = tuple[Pair, str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class RedundantStep:
    """A triplet in normal form, with what its annotator said of it."""

    step: Pair
    type: str
    evidence: tuple[int, ...]
    reason: str = ""
    certainty: str = ""
    origin: str = ADDED

    @property
    def triplet(self) -> Triplet:
        return self.step, self.type, self.evidence


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of the suggestion of a step."""

    step: Pair
    decision: str


@dataclass(frozen=True, slots=True)
class RedundancyLabel:
    """Steps and decisions stand in the order of the trajectory."""

    outcome: str
    steps: tuple[RedundantStep, ...] = ()
    decisions: tuple[Decided, ...] = ()
    note: str = ""

    @property
    def is_rating(self) -> bool:
        """Who cannot annotate says nothing of the steps; who finds none says that there are none."""
        return self.outcome != CANNOT

    @property
    def triplets(self) -> frozenset[Triplet]:
        return frozenset(one.triplet for one in self.steps)


def pair_of(indexes: Sequence[int]) -> Pair:
    first, second = sorted(indexes)
    return first, second


def pairs_in(evidence: Sequence[int]) -> list[Pair]:
    """Read from the left in twos; one index alone is no pair."""
    return [pair_of(evidence[place : place + 2]) for place in range(0, len(evidence) - 1, 2)]


def normal_evidence(evidence: Sequence[int]) -> tuple[int, ...]:
    """Every pair sorted, then the pairs."""
    if len(evidence) == 1:
        return tuple(evidence)
    return tuple(index for pair in sorted(pairs_in(evidence)) for index in pair)


def parse(data: Mapping[str, Any], schema: Schema, text: str | None) -> RedundancyLabel:
    """A label from its JSON form. There is no judged text; what the trajectory itself contradicts says `check`."""
    problems = [*unknown_fields(data, FIELDS, ""), *field_problems(data)]
    if not problems:
        steps, decisions = data.get("steps", []), data.get("decisions", [])
        problems = first_problems([*step_problems(steps), *decision_problems(decisions)])
    if not problems:
        problems = first_problems([*outcome_problems(data, steps), *origin_problems(steps, decisions)])
    if problems:
        raise LabelError(*problems)
    return load(data, schema)


def load(data: Mapping[str, Any], schema: Schema) -> RedundancyLabel:
    """A label as it was stored; nothing is checked."""
    steps = (
        RedundantStep(
            pair_of(one["step"]),
            one["type"],
            normal_evidence(one["evidence"]),
            one.get("reason", ""),
            one.get("certainty", ""),
            one.get("origin", ADDED),
        )
        for one in data.get("steps", ())
    )
    decisions = (Decided(pair_of(one["step"]), one["decision"]) for one in data.get("decisions", ()))
    return RedundancyLabel(
        data["outcome"],
        tuple(sorted(steps, key=lambda one: one.step)),
        tuple(sorted(decisions, key=lambda one: one.step)),
        data.get("note", ""),
    )


def dump(label: RedundancyLabel) -> dict[str, Any]:
    return {
        "outcome": label.outcome,
        "steps": [
            {
                "step": list(one.step),
                "type": one.type,
                "evidence": list(one.evidence),
                "reason": one.reason,
                "certainty": one.certainty,
                "origin": one.origin,
            }
            for one in label.steps
        ],
        "decisions": [{"step": list(one.step), "decision": one.decision} for one in label.decisions],
        "note": label.note,
    }


# What can be wrong with one


def unknown_fields(data: Mapping[str, Any], allowed: set[str], pointer: str) -> list[Problem]:
    unknown = sorted(set(data) - allowed)
    return first_problems(
        (
            Problem(
                code="unknown_field",
                field=name[:MAX_NAME],
                pointer=pointer + pointer_part(name),
                expected=gettext_noop("Fields that there are here: %(fields)s."),
                remedy=gettext_noop("Leave the other out."),
                params={"fields": ", ".join(sorted(allowed))},
            )
            for name in unknown
        ),
        len(unknown),
    )


def field_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    outcome = data.get("outcome")
    if outcome in (None, ""):
        yield Problem(
            code="missing_field",
            field="outcome",
            expected=gettext_noop("Nothing is said of the trajectory yet."),
            remedy=gettext_noop("Mark a redundant step, or say that there is none or that you cannot annotate it."),
        )
    elif outcome not in OUTCOMES:
        yield unknown_value("outcome", OUTCOMES, "/outcome")
    for name in ("steps", "decisions"):
        value = data.get(name, [])
        if not isinstance(value, list):
            yield wrong_type(name, gettext_noop("A list of objects."), f"/{name}")
        elif len(value) > MAX_STEPS:
            yield too_many(name, MAX_STEPS, f"/{name}")
    yield from text_problems(data.get("note", ""), "note", "/note")


def text_problems(value: Any, name: str, pointer: str) -> Iterator[Problem]:
    if not isinstance(value, str):
        yield wrong_type(name, gettext_noop("A text."), pointer)
    elif len(value) > MAX_TEXT:
        yield too_many(name, MAX_TEXT, pointer)


def step_problems(steps: Sequence[Any], at: str = "/steps") -> Iterator[Problem]:
    """What is wrong with each triplet by itself, and steps that are named twice."""
    seen: set[Pair] = set()
    for place, one in enumerate(steps):
        pointer = f"{at}/{place}"
        if not isinstance(one, Mapping):
            yield wrong_type("steps", gettext_noop("A list of objects."), pointer)
            continue
        found = [
            *unknown_fields(one, STEP_FIELDS, pointer),
            *pair_problems(one.get("step"), f"{pointer}/step"),
            *type_problems(one.get("type"), f"{pointer}/type"),
            *evidence_problems(one.get("evidence"), f"{pointer}/evidence"),
            *text_problems(one.get("reason", ""), "reason", f"{pointer}/reason"),
        ]
        if one.get("certainty", "") not in ("", *CERTAINTIES):
            found.append(unknown_value("certainty", CERTAINTIES, f"{pointer}/certainty"))
        if one.get("origin", ADDED) not in ORIGINS:
            found.append(unknown_value("origin", ORIGINS, f"{pointer}/origin"))
        yield from found
        if found:
            continue
        pair = pair_of(one["step"])
        if pair in seen:
            yield step_twice(pair, f"{pointer}/step")
        seen.add(pair)
        yield from own_evidence_problems(pair, one["evidence"], f"{pointer}/evidence")


def is_index(value: Any) -> bool:
    return type(value) is int and value >= 0


def pair_problems(value: Any, pointer: str, field: str = "step") -> Iterator[Problem]:
    if value in (None, [], ""):
        yield Problem(
            code="missing_field",
            field=field,
            pointer=pointer,
            expected=gettext_noop("No step is named."),
            remedy=gettext_noop("Name the call and its result by their indexes, such as [8, 9]."),
        )
    elif not isinstance(value, list) or not all(map(is_index, value)):
        yield wrong_type(field, gettext_noop("The indexes of a call and of its result, such as [8, 9]."), pointer)
    elif len(value) != 2 or value[0] == value[1]:
        yield half_pair(field, value, pointer)


def type_problems(value: Any, pointer: str) -> Iterator[Problem]:
    if value in (None, ""):
        yield Problem(
            code="missing_field",
            field="type",
            pointer=pointer,
            expected=gettext_noop("The step has no type."),
            remedy=gettext_noop("Choose one: abnormal, duplicated, incorrect or exploratory."),
        )
    elif value not in TYPES:
        yield unknown_value("type", TYPES, pointer)


def evidence_problems(value: Any, pointer: str) -> Iterator[Problem]:
    if value in (None, [], ""):
        yield Problem(
            code="missing_field",
            field="evidence",
            pointer=pointer,
            expected=gettext_noop("The step has no evidence."),
            remedy=gettext_noop("Choose a step or a message, or say that no other step serves."),
        )
    elif value == [NONE_SERVES]:
        return
    elif not isinstance(value, list) or not all(is_index(one) or one == NONE_SERVES for one in value):
        yield wrong_type("evidence", gettext_noop("A list of indexes of messages, or [-1]."), pointer)
    elif len(value) > MAX_EVIDENCE:
        yield too_many("evidence", MAX_EVIDENCE, pointer)
    elif NONE_SERVES in value:
        yield Problem(
            code="none_beside_evidence",
            field="evidence",
            pointer=pointer,
            expected=gettext_noop("“No other step” (-1) stands alone; beside it there is evidence."),
            remedy=gettext_noop("Take one of the two away."),
        )
    elif len(value) > 1 and (len(value) % 2 or any(first == second for first, second in pairs_in(value))):
        yield half_pair("evidence", value, pointer)
    elif len(set(pairs_in(value))) < len(pairs_in(value)):
        yield Problem(
            code="evidence_twice",
            field="evidence",
            pointer=pointer,
            expected=gettext_noop("Every step once in the evidence."),
            remedy=gettext_noop("Take the repeated one away."),
        )


def own_evidence_problems(step: Pair, evidence: Sequence[int], pointer: str) -> Iterator[Problem]:
    is_half = len(evidence) == 1 and evidence[0] in step
    if is_half or step in pairs_in(evidence):
        yield Problem(
            code="evidence_is_step",
            field="evidence",
            pointer=pointer,
            expected=gettext_noop("Evidence is another step or message than the redundant step %(step)s itself."),
            remedy=gettext_noop("Choose another, or say that no other step serves."),
            params={"step": said(step)},
        )


def decision_problems(decisions: Sequence[Any]) -> Iterator[Problem]:
    seen: set[Pair] = set()
    for place, one in enumerate(decisions):
        pointer = f"/decisions/{place}"
        if not isinstance(one, Mapping):
            yield wrong_type("decisions", gettext_noop("A list of objects."), pointer)
            continue
        found = [*unknown_fields(one, DECISION_FIELDS, pointer), *pair_problems(one.get("step"), f"{pointer}/step")]
        if one.get("decision") not in DECISIONS:
            found.append(unknown_value("decision", DECISIONS, f"{pointer}/decision"))
        yield from found
        if found:
            continue
        if pair_of(one["step"]) in seen:
            yield step_twice(pair_of(one["step"]), f"{pointer}/step")
        seen.add(pair_of(one["step"]))


def outcome_problems(data: Mapping[str, Any], steps: Sequence[Any]) -> Iterator[Problem]:
    if data["outcome"] == STEPS and not steps:
        yield Problem(
            code="missing_field",
            field="steps",
            expected=gettext_noop("No step is marked."),
            remedy=gettext_noop("Mark a redundant step, or say that there is none."),
        )
    if data["outcome"] != STEPS and steps:
        yield Problem(
            code="steps_beside_outcome",
            field="outcome",
            expected=gettext_noop("Beside “no redundant step” and “cannot annotate” no step is marked."),
            remedy=gettext_noop("Take the marks away, or take the other back."),
        )
    if data["outcome"] == CANNOT and not data.get("note", "").strip():
        yield Problem(
            code="missing_field",
            field="note",
            expected=gettext_noop("“Cannot annotate” needs a note that says why."),
            remedy=gettext_noop("Write it in the note."),
        )


def origin_problems(steps: Sequence[Any], decisions: Sequence[Any]) -> Iterator[Problem]:
    """A step that is kept or changed was suggested, and a suggestion that is rejected is no step."""
    decided = {pair_of(one["step"]): (place, one["decision"]) for place, one in enumerate(decisions)}
    origins = {pair_of(one["step"]): one.get("origin", ADDED) for one in steps}
    for pair, (place, decision) in decided.items():
        if origins.get(pair) != ORIGIN_OF.get(decision):
            yield contradiction(pair, f"/decisions/{place}/decision", "decision")
    for place, one in enumerate(steps):
        if one.get("origin", ADDED) != ADDED and pair_of(one["step"]) not in decided:
            yield contradiction(pair_of(one["step"]), f"/steps/{place}/origin", "origin")


def contradiction(pair: Pair, pointer: str, field: str) -> Problem:
    return Problem(
        code="decision_contradicted",
        field=field,
        pointer=pointer,
        expected=gettext_noop(
            "A suggestion that is kept or changed is a step with that origin, and one that is rejected is none; "
            "step %(step)s says otherwise."
        ),
        remedy=gettext_noop("Decide the suggestion again."),
        params={"step": said(pair)},
    )


def said(indexes: Sequence[int]) -> str:
    return "-".join(map(str, indexes))


def half_pair(field: str, value: Sequence[int], pointer: str) -> Problem:
    return Problem(
        code="half_pair",
        field=field,
        pointer=pointer,
        expected=gettext_noop("Whole pairs, each of a call and its result; [%(given)s] is not made of them."),
        remedy=gettext_noop("Name both messages of each step."),
        params={"given": ", ".join(map(str, value[:20]))},
    )


def step_twice(pair: Pair, pointer: str) -> Problem:
    return Problem(
        code="step_twice",
        field="step",
        pointer=pointer,
        expected=gettext_noop("Every step once; %(step)s is there twice."),
        remedy=gettext_noop("Take one of the two away."),
        params={"step": said(pair)},
    )


def unknown_value(field: str, allowed: Sequence[str], pointer: str) -> Problem:
    return Problem(
        code="unknown_label",
        field=field,
        pointer=pointer,
        expected=gettext_noop("One of: %(allowed)s."),
        remedy=gettext_noop("Choose one of these; case counts."),
        params={"allowed": ", ".join(allowed)},
    )


def wrong_type(field: str, expected: str, pointer: str) -> Problem:
    return Problem(
        code="wrong_type",
        field=field,
        pointer=pointer,
        expected=expected,
        remedy=gettext_noop("Send it in that form."),
    )


def too_many(field: str, limit: int, pointer: str) -> Problem:
    return Problem(
        code="too_many",
        field=field,
        pointer=pointer,
        expected=gettext_noop("At most %(limit)s."),
        remedy=gettext_noop("Shorten it."),
        params={"limit": limit},
    )
