"""A detector that gets a redundant step and its evidence, both marked, and says of which type it is
(docs/redundant-steps.md, Detectors). One call for each step of the gold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.kinds.base import Finding
from annotate.kinds.redundancy.exchange import NAMES
from annotate.traces.base import gettext_noop
from scoring.judges.base import Answer, Ask, JudgeSpec
from scoring.judges.detecting import DEFAULTS, DETECTOR_FIELDS, common_values, detector_settings, flags_of
from scoring.judges.given_steps import answered, has_steps, name_of
from scoring.judges.trajectory_view import TrajectoryView, marks_of, shown, trajectory_view
from scoring.judges.triplet_answers import TYPE_SCHEMA, object_schema, read_type

SCHEMA = object_schema({NAMES["type"]: TYPE_SCHEMA})


def step(view: TrajectoryView, settings: Mapping[str, Any], answers: tuple[Answer, ...]) -> Ask | Finding:
    def asked(gold: Mapping[str, Any], attempt: int) -> Ask:
        values = {
            **common_values(view, settings),
            "trajectory": shown(view, marks_of(gold, with_evidence=True)),
            "step": str(list(gold["step"])),
            "evidence": str(list(gold["evidence"])),
        }
        return Ask(name_of(gold), attempt, "stepcls", view.language, values, SCHEMA, also="detector.system")

    told = {"variant": settings["variant"], "flags": flags_of(view.texts, answers)}
    return answered(view, answers, asked, lambda gold, answer: read_type(answer, view.texts), ("type",), told)


JUDGE = JudgeSpec(
    name="stepcls",
    title=gettext_noop("Types of given steps"),
    describe=gettext_noop(
        "Asks a model of which type a redundant step is that the release names, with the step and its evidence marked. "
        "One call for each step; it gives types and no label."
    ),
    version="1",
    kinds=("redundancy",),
    view=trajectory_view,
    step=step,
    settings=DEFAULTS,
    read_settings=detector_settings,
    fields=DETECTOR_FIELDS,
    asks=True,
    prompts=("detector.system", "stepcls"),
    usual_calls=3.5,
    gives_labels=False,
    takes=("gold", "examples", "plan"),
    has_something=has_steps,
)
