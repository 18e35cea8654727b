"""A model of a jury: it labels a trajectory by the frozen guideline, as an expert would (docs/redundant-steps.md,
Jury)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from annotate.kinds.base import Finding
from annotate.traces.base import gettext_noop
from scoring.judges.base import Answer, Ask, JudgeSpec, SettingField, read_endpoint, refuse_unknown, run_number
from scoring.judges.detecting import (
    EXAMPLES_FIELD,
    RELEASE_FIELD,
    flags_of,
    read_items,
    read_number,
    read_truth,
)
from scoring.judges.raw_answers import Again, GivenUp, usable
from scoring.judges.shown_texts import NOTHING
from scoring.judges.trajectory_view import TrajectoryView, agent_steps, every_step, examples_shown, listed, shown
from scoring.judges.trajectory_view import trajectory_view as view
from scoring.judges.triplet_answers import list_schema, read_list

EACH = 3
"""Examples of each domain."""


def step(view: TrajectoryView, settings: Mapping[str, Any], answers: tuple[Answer, ...]) -> Ask | Finding:
    language, texts = view.language, view.texts
    rules: dict[str, Any] = {"with_confidence": False, "single_pair_only": settings["single_pair_only"]}
    found = usable(answers, "label", partial(read_list, there=view.there, texts=texts, **rules))
    if isinstance(found, Again):
        return Ask(
            "label", found.attempt, "juror", language, values_of(view), list_schema(**rules), also="juror.system"
        )
    told = {"flags": flags_of(texts, answers)}
    if isinstance(found, GivenUp):
        return Finding(told, unreadable=found.raw)
    return Finding({**told, "steps": found, "n_steps": len(found)})


def values_of(view: TrajectoryView) -> dict[str, str]:
    language, nothing = view.language, NOTHING[view.language]
    guideline = view.material.guideline
    return {
        "domain": view.domain or nothing,
        "policy": view.policy or nothing,
        "guideline": guideline.get(language) or guideline.get("en") or guideline.get("zh") or nothing,
        "examples": examples_shown(view.material.examples, language),
        "trajectory": shown(view),
        "steps": listed(agent_steps(view), language),
        "evidence": every_step(view, language),
    }


def read_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """`endpoint`, the model it asks; `protocol`, the number of the one whose guideline it follows, the newest where
    none is given; `release`, from whose labels `n_examples` of each domain are drawn where `examples`, the ids of
    items, are not given; `single_pair_only` refuses joint evidence; `judge_examples` has the examples judged too."""
    known = ("endpoint", "protocol", "release", "n_examples", "examples", "single_pair_only", "judge_examples")
    refuse_unknown(given, known)
    return {"endpoint": read_endpoint(given), **own_settings(given)}


def own_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    release, n_each = run_number(given, "release"), read_number(given, "n_examples", least=0, most=20)
    return {
        "protocol": run_number(given, "protocol"),
        "release": release,
        "n_examples": 0 if release is None else EACH if n_each is None else n_each,
        "examples": read_items(given, "examples") if release is not None else [],
        "single_pair_only": read_truth(given, "single_pair_only"),
        "judge_examples": read_truth(given, "judge_examples"),
    }


JUDGE = JudgeSpec(
    name="juror",
    title=gettext_noop("Juror: redundant steps by the guideline"),
    describe=gettext_noop(
        "Asks a model to label the trajectory as an expert would: by the guideline of the protocol, with examples from "
        "a release. Three such runs make a jury."
    ),
    version="1",
    kinds=("redundancy",),
    view=view,
    step=step,
    settings=own_settings({}),
    read_settings=read_settings,
    fields=(
        SettingField("protocol", gettext_noop("Number of the protocol whose guideline it follows"), "whole"),
        RELEASE_FIELD,
        EXAMPLES_FIELD,
        SettingField("single_pair_only", gettext_noop("Evidence is one step or message at most"), "truth"),
    ),
    asks=True,
    prompts=("juror.system", "juror"),
    takes=("guideline", "examples"),
)
