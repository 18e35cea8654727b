"""A detector that finds redundant steps by itself: nothing is marked, everything is to be ranked
(docs/redundant-steps.md, Detectors)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.kinds.base import Finding
from annotate.traces.base import gettext_noop
from scoring.judges.base import Answer, Ask, JudgeSpec
from scoring.judges.detecting import DEFAULTS, DETECTOR_FIELDS, common_values, detector_settings, flags_of
from scoring.judges.raw_answers import Again, GivenUp, usable
from scoring.judges.trajectory_view import TrajectoryView, agent_steps, every_step, listed, shown, trajectory_view
from scoring.judges.triplet_answers import list_schema, read_list

SCHEMA = list_schema(with_confidence=True)


def step(view: TrajectoryView, settings: Mapping[str, Any], answers: tuple[Answer, ...]) -> Ask | Finding:
    language, texts = view.language, view.texts
    found = usable(answers, "detect", lambda answer: read_list(answer, view.there, texts, with_confidence=True))
    if isinstance(found, Again):
        values = {
            **common_values(view, settings),
            "trajectory": shown(view),
            "steps": listed(agent_steps(view), language),
            "evidence": every_step(view, language),
        }
        return Ask("detect", found.attempt, "stepdet", language, values, SCHEMA, also="detector.system")
    told = {"variant": settings["variant"], "flags": flags_of(texts, answers)}
    if isinstance(found, GivenUp):
        return Finding(told, unreadable=found.raw)
    return Finding({**told, "steps": found, "n_steps": len({tuple(one["step"]) for one in found})})


JUDGE = JudgeSpec(
    name="stepdet",
    title=gettext_noop("Detector of redundant steps"),
    describe=gettext_noop(
        "Asks a model for all redundant steps of a trajectory with their types, their evidence and how sure it is, "
        "from most to least. Nothing is marked for it."
    ),
    version="1",
    kinds=("redundancy",),
    view=trajectory_view,
    step=step,
    settings=DEFAULTS,
    read_settings=detector_settings,
    fields=DETECTOR_FIELDS,
    asks=True,
    prompts=("detector.system", "stepdet"),
    takes=("examples", "plan"),
)
