"""A detector that gets a redundant step, marked, and finds its evidence and then its type (docs/redundant-steps.md,
Detectors). One call for each step of the gold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.kinds.base import Finding
from annotate.kinds.redundancy.exchange import NAMES
from annotate.traces.base import gettext_noop
from scoring.judges.base import Answer, Ask, JudgeSpec
from scoring.judges.detecting import DEFAULTS, DETECTOR_FIELDS, common_values, detector_settings, flags_of
from scoring.judges.given_steps import answered, has_steps, name_of
from scoring.judges.trajectory_view import (
    TrajectoryView,
    agent_steps,
    every_step,
    listed,
    marks_of,
    shown,
    trajectory_view,
)
from scoring.judges.triplet_answers import INDEXES, TYPE_SCHEMA, object_schema, read_evidence

SCHEMA = object_schema({NAMES["evidence"]: {**INDEXES, "minItems": 1}, NAMES["type"]: TYPE_SCHEMA})


def step(view: TrajectoryView, settings: Mapping[str, Any], answers: tuple[Answer, ...]) -> Ask | Finding:
    def asked(gold: Mapping[str, Any], attempt: int) -> Ask:
        values = {
            **common_values(view, settings),
            "trajectory": shown(view, marks_of(gold, with_evidence=False)),
            "step": str(list(gold["step"])),
            "steps": listed(agent_steps(view), view.language),
            "evidence": every_step(view, view.language),
        }
        return Ask(name_of(gold), attempt, "evidenceret", view.language, values, SCHEMA, also="detector.system")

    def read(gold: Mapping[str, Any], answer: Answer) -> dict[str, Any]:
        return read_evidence(answer, gold["step"], view.there, view.texts)

    told = {"variant": settings["variant"], "flags": flags_of(view.texts, answers)}
    return answered(view, answers, asked, read, ("type", "evidence"), told)


JUDGE = JudgeSpec(
    name="evidenceret",
    title=gettext_noop("Evidence of given steps"),
    describe=gettext_noop(
        "Asks a model for the evidence and the type of a redundant step that the release names, with the step marked. "
        "One call for each step; it gives no label."
    ),
    version="1",
    kinds=("redundancy",),
    view=trajectory_view,
    step=step,
    settings=DEFAULTS,
    read_settings=detector_settings,
    fields=DETECTOR_FIELDS,
    asks=True,
    prompts=("detector.system", "evidenceret"),
    usual_calls=3.5,
    gives_labels=False,
    takes=("gold", "examples", "plan"),
    has_something=has_steps,
)
