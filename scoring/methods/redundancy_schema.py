"""The records of redundant steps, and what of their index contract can be checked without the runs themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotate.traces.base import gettext_noop
from scoring.methods.records import Field, RecordType, Schema, Wrong

TYPES = ("ABN", "DUP", "INC", "EXP")
NONE_SERVES = -1
"""As the whole evidence: no other step of the run serves."""
PROVENANCES = EXPERTS, JURY = ("experts", "jury")
SHOWN = ("shown", "left_off")
DECISIONS = ("keep", "change", "reject")

STEP = Field("step", "wholes", "original message indexes of the call and its result, an assistant-side pair", least=0)
TYPE = Field("type", "text", "type of redundancy", allowed=TYPES)
EVIDENCE = Field(
    "evidence", "wholes", "one pair, pairs one after another, one message, or [-1] where no other step serves", least=-1
)
TRIPLET = (STEP, TYPE, EVIDENCE)


def _shape(steps: Sequence[Mapping[str, Any]], name: str) -> Iterator[Wrong]:
    """What of the index contract can be seen without the run itself."""
    for place, one in enumerate(steps):
        step, evidence = one["step"], one["evidence"]
        if len(step) != 2 or step[0] == step[1]:
            yield Wrong(f"{name}/{place}/step", gettext_noop("Two different indexes, of a call and of its result."))
        if evidence is None:
            continue
        if len(evidence) != 1 and (not evidence or len(evidence) % 2 or NONE_SERVES in evidence):
            yield Wrong(f"{name}/{place}/evidence", gettext_noop("Whole pairs of indexes, one message, or [-1]."))
        elif sorted(evidence) == sorted(step):
            yield Wrong(f"{name}/{place}/evidence", gettext_noop("Another step than the redundant one."))


def _once(steps: Sequence[Mapping[str, Any]], name: str) -> Iterator[Wrong]:
    seen: set[tuple[int, ...]] = set()
    for place, one in enumerate(steps):
        step = tuple(sorted(one["step"]))
        if step in seen:
            yield Wrong(f"{name}/{place}/step", gettext_noop("Every redundant step once in a record."))
        seen.add(step)


def _set_of_steps(values: Mapping[str, Any]) -> Iterator[Wrong]:
    yield from _shape(values["steps"], "steps")
    yield from _once(values["steps"], "steps")


def _decided_once(values: Mapping[str, Any]) -> Iterator[Wrong]:
    decisions = values["decisions"] or ()
    for place, one in enumerate(decisions):
        if len(one["step"]) != 2:
            yield Wrong(f"decisions/{place}/step", gettext_noop("Two different indexes, of a call and of its result."))
    yield from _once(decisions, "decisions")


def _jury_answer(values: Mapping[str, Any]) -> Iterator[Wrong]:
    if values["covered"] != (values["steps"] is not None):
        yield Wrong("steps", gettext_noop("The steps that the juror named, exactly where covered is true."))
    yield from _shape(values["steps"] or (), "steps")


def _detector_answer(values: Mapping[str, Any]) -> Iterator[Wrong]:
    answers, setting = values["answers"] or (), values["setting"]
    if bool(values["failed"]) != (values["answers"] is None):
        yield Wrong("answers", gettext_noop("The answers, or failed: true where nobody could read any."))
    yield from _shape(answers, "answers")
    if setting != "detection":
        yield from _once(answers, "answers")
    needed = {"classification": (), "retrieval": (), "detection": ("type", "evidence", "confidence")}[setting]
    for place, one in enumerate(answers):
        for name in needed:
            if one[name] is None:
                yield Wrong(f"answers/{place}/{name}", gettext_noop("A value, as every detected step has one."))
        if setting == "retrieval" and (one["type"] is None) != (one["evidence"] is None):
            yield Wrong(f"answers/{place}/type", gettext_noop("Type and evidence, or neither where it is unreadable."))


TRAJECTORY_ID = Field("trajectory", "text", "its trajectory", refers="trajectory")
SCHEMA = Schema(
    (
        RecordType(
            "trajectory",
            "One recorded run of an agent on a task that it completed.",
            (
                Field("id", "text", "name of the trajectory"),
                Field("domain", "text", "domain, such as airline"),
                Field("task", "text", "task within the domain; trajectories of a task are resampled together", False),
                Field("model", "text", "model of the agent", False),
                Field("split", "text", "part of the data, such as phase1", False),
                Field("n_steps", "whole", "length, for the length bins", False, unit="steps", least=0),
                Field("state", "text", "why it is no part of the pool", False, allowed=("unresolved", "dropped")),
                Field("suggestions", "text", "whether experts were shown what rules suggest", False, allowed=SHOWN),
                Field("exemplar", "truth", "it was shown to detectors or jurors as an example", False),
                Field("tokens_redundant", "number", "of agent messages with a redundant call", False, unit="tokens",
                      least=0),
                Field("tokens_total", "number", "of all agent messages", False, unit="tokens", least=0),
            ),
            key=("id",),
        ),
        RecordType(
            "gold",
            "The redundant steps a trajectory ended with; an empty list where it has none.",
            (
                TRAJECTORY_ID,
                Field("steps", "objects", "the triplets", inside=TRIPLET),
                Field("provenance", "text", "who it is from; experts where absent", False, allowed=PROVENANCES),
            ),
            key=("trajectory",),
            checks=(_set_of_steps,),
        ),
        RecordType(
            "expert",
            "What one expert found in one round.",
            (
                TRAJECTORY_ID,
                Field("expert", "text", "name of the expert"),
                Field("round", "whole", "round of annotation, from 1; 1 where absent", False, least=1),
                Field("informed", "truth", "they knew what others had found", False),
                Field("steps", "objects", "the triplets", inside=TRIPLET),
                Field(
                    "decisions",
                    "objects",
                    "what became of each suggestion",
                    False,
                    inside=(STEP, Field("decision", "text", "of the expert", allowed=DECISIONS)),
                ),
            ),
            key=("trajectory", "expert", "round"),
            checks=(_set_of_steps, _decided_once),
        ),
        RecordType(
            "suggested",
            "What rules pointed to in a trajectory before anybody read it, shown or not.",
            (
                TRAJECTORY_ID,
                Field(
                    "steps",
                    "objects",
                    "the suggested triplets",
                    inside=(*TRIPLET, Field("rules", "texts", "names of the rules that found it")),
                ),
            ),
            key=("trajectory",),
            checks=(_set_of_steps,),
        ),
        RecordType(
            "jury",
            "What one model of the jury found.",
            (
                TRAJECTORY_ID,
                Field("juror", "text", "name of the model"),
                Field("covered", "truth", "one of its attempts could be read"),
                Field("steps", "objects", "the triplets, where covered", False, inside=TRIPLET),
            ),
            key=("trajectory", "juror"),
            checks=(_jury_answer,),
        ),
        RecordType(
            "detector",
            "What a detector answered: types of gold steps (classification), evidence and types of gold steps "
            "(retrieval), or steps in the order it gave them (detection).",
            (
                TRAJECTORY_ID,
                Field("detector", "text", "name of the detector"),
                Field("variant", "text", "variant of its prompt", False),
                Field("setting", "text", "what it was asked", allowed=("classification", "retrieval", "detection")),
                Field("failed", "truth", "no attempt could be read", False),
                Field(
                    "answers",
                    "objects",
                    "one for each step; type and evidence null where that answer could not be read",
                    False,
                    inside=(
                        STEP,
                        replace(TYPE, required=False),
                        replace(EVIDENCE, required=False),
                        Field("confidence", "number", "of a detected step", False, least=0, most=1),
                    ),
                ),
                Field("cost", "number", "of the calls", False, unit="dollars", least=0),
            ),
            key=("trajectory", "detector", "variant", "setting"),
            checks=(_detector_answer,),
        ),
        RecordType(
            "outcome",
            "One run of a task with an experience in the context: none, or a workflow made from a trajectory.",
            (
                Field("domain", "text", "domain of the task"),
                Field("task", "text", "task within the domain"),
                Field("repeat", "whole", "which run of the task", least=0),
                Field("condition", "text", "none, or what the workflow was made from"),
                Field("success", "truth", "the task was done"),
                Field("tokens", "number", "of the agent", unit="tokens", least=0),
            ),
            key=("domain", "task", "repeat", "condition"),
        ),
    )
)
