"""What a model answers about redundant steps, read by the index contract: the right form, the four types by name,
indexes of this very trajectory. What breaks it is unusable as a whole and is asked for again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from annotate.kinds.redundancy.contract import Trajectory, evidence_problems, triplet_problems
from annotate.kinds.redundancy.exchange import CODES, FULL_TYPES, NAMES
from annotate.kinds.redundancy.label import (
    NONE_SERVES,
    RedundantStep,
    normal_evidence,
    own_evidence_problems,
    pair_of,
    step_problems,
)
from annotate.kinds.redundancy.label import evidence_problems as evidence_shape
from scoring.judges.base import Answer
from scoring.judges.raw_answers import UnusableError, entries, is_copied, value_of

Json = dict[str, Any]
CONFIDENCE = "confidence"
INDEXES: Mapping[str, Any] = {"type": "array", "items": {"type": "integer"}}
TYPE_SCHEMA: Mapping[str, Any] = {"type": "string", "enum": list(FULL_TYPES.values())}


def list_schema(*, with_confidence: bool, single_pair_only: bool = False) -> Json:
    """The JSON schema of a list of triplets."""
    evidence = {**INDEXES, "minItems": 1, **({"maxItems": 2} if single_pair_only else {})}
    fields: Json = {NAMES["step"]: {**INDEXES, "minItems": 2, "maxItems": 2}, NAMES["type"]: TYPE_SCHEMA}
    fields[NAMES["evidence"]] = evidence
    if with_confidence:
        fields[CONFIDENCE] = {"type": "number", "minimum": 0, "maximum": 1}
    return {"type": "array", "items": object_schema(fields)}


def object_schema(fields: Mapping[str, Any]) -> Json:
    return {"type": "object", "properties": dict(fields), "required": list(fields), "additionalProperties": False}


def read_list(
    answer: Answer, there: Trajectory, texts: Sequence[str], *, with_confidence: bool, single_pair_only: bool = False
) -> list[Json]:
    """The triplets of an answer in normal form and in its own order; with confidences a step may come twice."""
    if is_copied(answer, texts):
        raise UnusableError("The answer stands in the judged texts.")
    wanted = {*NAMES.values(), *([CONFIDENCE] if with_confidence else [])}
    given = entries(value_of(answer))
    if not all(isinstance(one, dict) and set(one) == wanted for one in given):
        raise UnusableError(f"Not a list of objects of {', '.join(sorted(wanted))}.")
    steps = [{ours: one[theirs] for ours, theirs in NAMES.items()} for one in given]
    for one in steps:
        one["type"] = code_of(one["type"])
    checked = [[one] for one in steps] if with_confidence else [steps]
    for some in checked:
        refuse(step_problems(some, ""))
    triplets = [normal(one) for one in steps]
    refuse(triplet_problems([as_step(one) for one in triplets], there, ""))
    if single_pair_only and any(len(one["evidence"]) > 2 for one in triplets):
        raise UnusableError("Evidence of more than one step.")
    if not with_confidence:
        return sorted(triplets, key=lambda one: (one["step"], one["type"], one["evidence"]))
    return [{**one, CONFIDENCE: confidence(told[CONFIDENCE])} for one, told in zip(triplets, given, strict=True)]


def read_type(answer: Answer, texts: Sequence[str]) -> Json:
    return {"type": code_of(of_step(answer, texts, NAMES["type"])[0])}


def read_evidence(answer: Answer, step: Sequence[int], there: Trajectory, texts: Sequence[str]) -> Json:
    """Evidence of a step that is given, in normal form, and its type."""
    evidence, type = of_step(answer, texts, NAMES["evidence"], NAMES["type"])
    refuse(evidence_shape(evidence, ""))
    refuse(own_evidence_problems(pair_of(step), evidence, ""))
    if evidence != [NONE_SERVES]:
        refuse(evidence_problems(evidence, there, ""))
    return {"type": code_of(type), "evidence": list(normal_evidence(evidence))}


def of_step(answer: Answer, texts: Sequence[str], *names: str) -> list[Any]:
    if is_copied(answer, texts):
        raise UnusableError("The answer stands in the judged texts.")
    value = value_of(answer)
    if not isinstance(value, dict) or set(value) != set(names):
        raise UnusableError(f"Not an object of {', '.join(names)}.")
    return [value[name] for name in names]


def code_of(type: Any) -> str:
    code = CODES.get(type.strip().lower()) if isinstance(type, str) else None
    if code is None:
        raise UnusableError("No type of redundant steps.")
    return code


def confidence(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or not 0 <= value <= 1:
        raise UnusableError("A confidence outside of 0 to 1.")
    return float(value)


def normal(one: Mapping[str, Any]) -> Json:
    return {
        "step": list(pair_of(one["step"])),
        "type": one["type"],
        "evidence": list(normal_evidence(one["evidence"])),
    }


def as_step(one: Mapping[str, Any]) -> RedundantStep:
    return RedundantStep(pair_of(one["step"]), one["type"], tuple(one["evidence"]))


def refuse(problems: Any) -> None:
    found = next(iter(problems), None)
    if found is not None:
        raise UnusableError(found.sentence())
