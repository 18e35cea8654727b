"""Triplets in the method's own JSON, for labels that were made elsewhere or go there: by trajectory, a list of

    {"redundant_step_idx": [8, 9], "redundant_step_type": "Duplicated Step", "evidence_step_idx": [4, 5]}

`[]` is a trajectory without a redundant step. Types are the four full names or their codes; `reason` and `certainty`
may stand beside them. Indexes count from 0 unless it is said that they count from 1; [-1] is no index and stays.
Whatever does not fit its trajectory is refused, all of it at once, in the numbers of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from annotate.kinds.base import Blocks, Exchange, LabelError
from annotate.kinds.redundancy.contract import Trajectory, triplet_problems
from annotate.kinds.redundancy.label import (
    MAX_STEPS,
    NONE,
    NONE_SERVES,
    STEPS,
    RedundancyLabel,
    RedundantStep,
    load,
    step_problems,
    too_many,
    wrong_type,
)
from annotate.kinds.redundancy.marks import from_marks
from annotate.kinds.redundancy.schema import ABNORMAL, DUPLICATED, EXPLORATORY, INCORRECT, SCHEMA
from annotate.traces.base import Problem, first_problems, gettext_noop
from annotate.traces.strict_json import pointer_part

Base = Literal[0, 1]
NAMES = {"step": "redundant_step_idx", "type": "redundant_step_type", "evidence": "evidence_step_idx"}
OWN = {theirs: ours for ours, theirs in NAMES.items()}
BESIDE = ("reason", "certainty")
FULL_TYPES = {
    ABNORMAL: "Abnormal Step",
    DUPLICATED: "Duplicated Step",
    INCORRECT: "Incorrect Step",
    EXPLORATORY: "Exploratory Step",
}
CODES = {name.lower(): code for code, name in FULL_TYPES.items()} | {code.lower(): code for code in FULL_TYPES}


def written(labels: Mapping[str, RedundancyLabel], base: Base = 0) -> dict[str, list[dict[str, Any]]]:
    """The labels that say something, by trajectory; who could not annotate one says nothing of it."""
    return {name: [as_own(one, base) for one in label.steps] for name, label in labels.items() if label.is_rating}


def as_own(one: RedundantStep, base: Base) -> dict[str, Any]:
    evidence = [index if index == NONE_SERVES else index + base for index in one.evidence]
    return {
        NAMES["step"]: [index + base for index in one.step],
        NAMES["type"]: FULL_TYPES[one.type],
        NAMES["evidence"]: evidence,
    }


def read(data: Any, trajectories: Mapping[str, Trajectory], base: Base = 0) -> dict[str, RedundancyLabel]:
    """The labels by trajectory, their indexes from 0; LabelError with everything that is wrong."""
    if not isinstance(data, Mapping):
        raise LabelError(wrong_type("", gettext_noop("An object with a list of triplets for each trajectory."), ""))
    problems = first_problems(file_problems(data, trajectories, base))
    if problems:
        raise LabelError(*problems)
    return {name: label_of(triplets, base) for name, triplets in data.items()}


def file_problems(data: Mapping[str, Any], trajectories: Mapping[str, Trajectory], base: Base) -> Iterator[Problem]:
    for name, triplets in data.items():
        if name not in trajectories:
            yield unknown_trajectory(name)
        elif not isinstance(triplets, list):
            yield wrong_type("", gettext_noop("A list of triplets."), pointer_part(name))
        elif len(triplets) > MAX_STEPS:
            yield too_many("", MAX_STEPS, pointer_part(name))
        else:
            found = [*shape_problems(triplets), *step_problems(list(map(as_ours, triplets)), "")]
            if not found:
                given = [step for one in triplets for step in label_of([one], 0).steps]  # in the order of the file
                found = list(triplet_problems(given, trajectories[name].counted_from(base), ""))
            yield from (in_file(problem, name) for problem in found)


def shape_problems(triplets: Sequence[Any]) -> Iterator[Problem]:
    allowed = [*OWN, *BESIDE]
    for place, one in enumerate(triplets):
        for name in sorted(set(one) - set(allowed)) if isinstance(one, Mapping) else ():
            yield Problem(
                code="unknown_field",
                field=name[:80],
                pointer=f"/{place}{pointer_part(name)}",
                expected=gettext_noop("Fields that there are here: %(fields)s."),
                remedy=gettext_noop("Leave the other out."),
                params={"fields": ", ".join(allowed)},
            )


def as_ours(one: Any) -> Any:
    """A triplet under the names of a label; what it has beside them is refused elsewhere."""
    if not isinstance(one, Mapping):
        return one
    named = {ours: one.get(theirs) for theirs, ours in OWN.items()}
    named |= {name: one[name] for name in BESIDE if one.get(name) is not None}
    type = named["type"]
    return {**named, "type": CODES.get(type.strip().lower(), type) if isinstance(type, str) else type}


def label_of(triplets: Sequence[Any], base: Base) -> RedundancyLabel:
    steps = [counted_from_0(as_ours(one), base) for one in triplets]
    return load({"outcome": STEPS if steps else NONE, "steps": steps}, SCHEMA)


def counted_from_0(one: Mapping[str, Any], base: Base) -> dict[str, Any]:
    evidence = [index if index == NONE_SERVES else index - base for index in one["evidence"]]
    return {**one, "step": [index - base for index in one["step"]], "evidence": evidence}


def in_file(problem: Problem, trajectory: str) -> Problem:
    """At its place in the file, under the names of the file."""
    *before, last = (problem.pointer or "").split("/")
    pointer = pointer_part(trajectory) + "/".join([*before, NAMES.get(last, last)])
    if problem.code == "unknown_label" and problem.field == "type":
        problem = replace(problem, params={"allowed": ", ".join([*FULL_TYPES.values(), *FULL_TYPES])})
    return replace(problem, field=NAMES.get(problem.field, problem.field), pointer=pointer)


def unknown_trajectory(name: str) -> Problem:
    return Problem(
        code="unknown_trajectory",
        field=name[:80],
        pointer=pointer_part(name),
        expected=gettext_noop("The id of a trajectory of the project."),
        remedy=gettext_noop("Correct it, or import the trajectory first."),
    )


def read_shown(data: Any, shown: Mapping[str, Blocks], base: int) -> dict[str, RedundancyLabel]:
    """As `read`, of trajectories as their items show them."""
    return read(data, {name: Trajectory.of(blocks.entries) for name, blocks in shown.items()}, 1 if base else 0)


EXCHANGE = Exchange(
    title=gettext_noop("A list of triplets for each trajectory, by the id it had in its file."),
    read=read_shown,
    write=written,
    files={
        "triplets-pool.json": lambda label: bool(label.is_rating),
        "triplets-gold.json": lambda label: bool(label.steps),
    },
    from_marks=from_marks,
)
"""The pool is every trajectory that people agree on, the gold those of them that have a redundant step."""
