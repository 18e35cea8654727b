"""What a system that asks no prompt of ours predicts, in the method's own JSON: by trajectory, a list of

    {"redundant_step_idx": [8, 9], "probabilities": {"ABN": 0.1, "DUP": 0.7, "INC": 0.1, "EXP": 0.1}}

for the types of given steps (classification; `redundant_step_type` in place of the probabilities goes too), with
`evidence_step_idx` for their evidence (retrieval), and with `confidence` beside them for steps that it found by itself
(detection), in its own order. Whatever does not fit its trajectory is refused, all of it at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotate.kinds.base import Blocks, LabelError
from annotate.kinds.redundancy.contract import Trajectory, triplet_problems
from annotate.kinds.redundancy.exchange import CODES, NAMES, as_ours, in_file, unknown_trajectory
from annotate.kinds.redundancy.label import (
    MAX_STEPS,
    NONE_SERVES,
    Pair,
    RedundantStep,
    normal_evidence,
    pair_of,
    said,
    step_problems,
    too_many,
    wrong_type,
)
from annotate.kinds.redundancy.schema import TYPES
from annotate.traces.base import Problem, first_problems, gettext_noop
from annotate.traces.strict_json import pointer_part

SETTINGS = CLASSIFICATION, RETRIEVAL, DETECTION = ("classification", "retrieval", "detection")
PROBABILITIES, CONFIDENCE = "probabilities", "confidence"
FIELDS = {
    CLASSIFICATION: (NAMES["step"], NAMES["type"], PROBABILITIES),
    RETRIEVAL: (NAMES["step"], NAMES["evidence"], NAMES["type"], PROBABILITIES),
    DETECTION: (NAMES["step"], NAMES["evidence"], NAMES["type"], PROBABILITIES, CONFIDENCE),
}
NEAR = 1e-3
"""So far at most probabilities may miss 1 in their sum."""
Json = dict[str, Any]


def read(
    data: Any, shown: Mapping[str, Blocks], setting: str, given: Mapping[str, Sequence[Pair]] | None = None
) -> dict[str, Json]:
    """By trajectory what the finding of a detector holds under this setting; `given` are the steps that each trajectory
    was asked about, where there are any. LabelError with everything that is wrong, at its place in the file."""
    if not isinstance(data, Mapping):
        raise LabelError(wrong_type("", gettext_noop("An object with a list of predictions for each trajectory."), ""))
    problems = first_problems(file_problems(data, shown, setting, given))
    if problems:
        raise LabelError(*problems)
    return {name: values_of(rows, setting, (given or {}).get(name)) for name, rows in data.items()}


# What is wrong with a file


def file_problems(
    data: Mapping[str, Any], shown: Mapping[str, Blocks], setting: str, given: Mapping[str, Sequence[Pair]] | None
) -> Iterator[Problem]:
    for name, rows in data.items():
        if name not in shown:
            yield unknown_trajectory(name)
        elif not isinstance(rows, list):
            yield wrong_type("", gettext_noop("A list of predictions."), pointer_part(name))
        elif len(rows) > MAX_STEPS:
            yield too_many("", MAX_STEPS, pointer_part(name))
        else:
            there = Trajectory.of(shown[name].entries)
            wanted = None if given is None else set(given.get(name, ()))
            yield from (in_file(problem, name) for problem in row_problems(rows, there, setting, wanted))


def row_problems(
    rows: Sequence[Any], there: Trajectory, setting: str, wanted: set[Pair] | None
) -> Iterator[Problem]:
    """The form of every row, then the index contract, then whether the steps are those that were asked about."""
    found = list(shape_problems(rows, setting))
    if not found:
        steps = [triplet_of(row, setting) for row in rows]
        found = list(form_problems(steps, setting))
    if not found:
        found = list(triplet_problems([as_step(one) for one in steps], there, ""))
    if not found and wanted is not None:
        found = [not_asked(one, wanted, place) for place, one in enumerate(steps) if pair_of(one["step"]) not in wanted]
    yield from found


def form_problems(steps: Sequence[Json], setting: str) -> Iterator[Problem]:
    """A detector may name a step several times; who was asked about steps answers each once."""
    if setting != DETECTION:
        yield from step_problems(steps, "")
        return
    for place, one in enumerate(steps):
        for problem in step_problems([one], ""):
            yield at_place(problem, place)


def at_place(problem: Problem, place: int) -> Problem:
    _, _, inside = (problem.pointer or "").removeprefix("/").partition("/")
    return replace(problem, pointer=f"/{place}" + (f"/{inside}" if inside else ""))


def shape_problems(rows: Sequence[Any], setting: str) -> Iterator[Problem]:
    """The fields that a label does not have, and those that a setting does not ask for."""
    allowed = FIELDS[setting]
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            yield wrong_type("", gettext_noop("A list of objects."), f"/{place}")
            continue
        for name in sorted(set(row) - set(allowed)):
            yield Problem(
                code="unknown_field",
                field=name[:80],
                pointer=f"/{place}{pointer_part(name)}",
                expected=gettext_noop("Fields that there are here: %(fields)s."),
                remedy=gettext_noop("Leave the other out."),
                params={"fields": ", ".join(allowed)},
            )
        if PROBABILITIES in row:
            yield from probability_problems(row, f"/{place}/{PROBABILITIES}")
        if setting == DETECTION and not is_share(row.get(CONFIDENCE)):
            yield Problem(
                code="bad_number",
                field=CONFIDENCE,
                pointer=f"/{place}/{CONFIDENCE}",
                expected=gettext_noop("A number from 0 to 1."),
                remedy=gettext_noop("Say how sure the system is of each step it found."),
            )


def probability_problems(row: Mapping[str, Any], pointer: str) -> Iterator[Problem]:
    """One for each type, none negative, 1 in all; a type that is said beside them is the most probable one."""
    given = row[PROBABILITIES]
    types = [CODES.get(name.strip().lower()) for name in given] if isinstance(given, Mapping) else []
    if not isinstance(given, Mapping) or sorted(map(str, types)) != sorted(TYPES):
        yield wrong_type(PROBABILITIES, gettext_noop("A number for each of ABN, DUP, INC and EXP."), pointer)
        return
    if not all(is_number(one) and one >= 0 for one in given.values()) or abs(sum(given.values()) - 1) > NEAR:
        yield Problem(
            code="bad_probabilities",
            field=PROBABILITIES,
            pointer=pointer,
            expected=gettext_noop("Four numbers that are not negative and make 1 together, give or take 0.001."),
            remedy=gettext_noop("Correct them; they are taken as they are."),
        )
    elif NAMES["type"] in row and as_ours(row)["type"] != likeliest(given):
        yield Problem(
            code="type_contradicted",
            field=NAMES["type"],
            pointer=pointer.removesuffix(PROBABILITIES) + NAMES["type"],
            expected=gettext_noop("The most probable type, which is %(type)s."),
            remedy=gettext_noop("Leave the type or the probabilities out, or correct one of them."),
            params={"type": likeliest(given)},
        )


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_share(value: Any) -> bool:
    return is_number(value) and 0 <= value <= 1


def not_asked(one: Mapping[str, Any], wanted: Iterable[Pair], place: int) -> Problem:
    return Problem(
        code="not_a_given_step",
        field="step",
        pointer=f"/{place}/step",
        expected=gettext_noop("A redundant step that the release has of this trajectory: %(steps)s."),
        remedy=gettext_noop("Take it away, or name the release that the system was asked about."),
        params={"steps": ", ".join(said(pair) for pair in sorted(wanted)[:20]) or "–"},
    )


# What it says


def likeliest(probabilities: Mapping[str, Any]) -> str:
    """Of types that are equally probable the one that is checked first: ABN, DUP, INC, EXP."""
    by_type = by_code(probabilities)
    return max(TYPES, key=lambda code: by_type[code])


def by_code(probabilities: Mapping[str, Any]) -> dict[str, float]:
    found = {CODES[name.strip().lower()]: float(one) for name, one in probabilities.items()}
    return {code: found[code] for code in TYPES}


def triplet_of(row: Mapping[str, Any], setting: str) -> Json:
    """A row under the names of a label; who gives no evidence says nothing of it."""
    one = as_ours(row)
    if PROBABILITIES in row:
        one["type"] = likeliest(row[PROBABILITIES])
    return {**one, "evidence": [NONE_SERVES]} if setting == CLASSIFICATION else one


def as_step(one: Mapping[str, Any]) -> RedundantStep:
    return RedundantStep(pair_of(one["step"]), one["type"], tuple(one["evidence"]))


def values_of(rows: Sequence[Mapping[str, Any]], setting: str, wanted: Sequence[Pair] | None) -> Json:
    """As detectors that ask a model hand it back; the probabilities stand beside it."""
    said_of = [answer_of(row, setting) for row in rows]
    probable = [
        {"step": list(pair_of(row[NAMES["step"]])), **by_code(row[PROBABILITIES])}
        for row in rows
        if PROBABILITIES in row
    ]
    beside: Json = {PROBABILITIES: probable} if probable else {}
    if setting == DETECTION:
        return {"steps": said_of, "n_steps": len({tuple(one["step"]) for one in said_of}), **beside}
    answers = {tuple(one["step"]): one for one in said_of}
    names = ("type",) if setting == CLASSIFICATION else ("type", "evidence")
    every = [answers.get(pair, {"step": list(pair), **dict.fromkeys(names)}) for pair in wanted or answers]
    return {"answers": every, **beside}


def answer_of(row: Mapping[str, Any], setting: str) -> Json:
    one = triplet_of(row, setting)
    found: Json = {"step": list(pair_of(one["step"])), "type": one["type"]}
    if setting != CLASSIFICATION:
        found["evidence"] = list(normal_evidence(one["evidence"]))
    if setting == DETECTION:
        found[CONFIDENCE] = float(row[CONFIDENCE])
    return found
