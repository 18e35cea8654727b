"""What detectors and jurors share: their settings, and what they are all told of a trajectory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.traces.base import Problem, gettext_noop
from scoring.judges.base import (
    Answer,
    SettingField,
    SettingsError,
    read_endpoint,
    refuse_unknown,
    run_number,
)
from scoring.judges.raw_answers import is_copied
from scoring.judges.shown_texts import NOTHING
from scoring.judges.steering import steers
from scoring.judges.trajectory_view import WORDS, TrajectoryView, examples_shown, plan_shown

VARIANTS = DEFAULT, NO_POLICY, FEW_SHOT, ORACLE_PLAN = ("default", "no_policy", "few_shot", "oracle_plan")
VARIANT_TITLES = {
    DEFAULT: gettext_noop("nothing added, nothing left out"),
    NO_POLICY: gettext_noop("without the policy"),
    FEW_SHOT: gettext_noop("with examples"),
    ORACLE_PLAN: gettext_noop("with the calls that the task needs"),
}
MOST_EXAMPLES = 100
RELEASE_FIELD = SettingField(
    "release",
    gettext_noop("Number of the release"),
    "whole",
    hint=gettext_noop("Its sealed labels are the gold, and examples are drawn from it."),
)
EXAMPLES_FIELD = SettingField(
    "n_examples",
    gettext_noop("Examples of each domain"),
    "whole",
    hint=gettext_noop("Drawn from the release by the seed of the project; they are not judged."),
)


def read_number(given: Mapping[str, Any], name: str, *, least: int = 1, most: int = 2**31 - 1) -> int | None:
    """A whole number that may be absent; raises SettingsError."""
    number = given.get(name)
    if number is None:
        return None
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise SettingsError(bad_number(name, least, most))
    return number


def read_truth(given: Mapping[str, Any], name: str) -> bool:
    value = given.get(name, False)
    if not isinstance(value, bool):
        raise SettingsError(
            Problem(
                code="wrong_type",
                field=name,
                pointer=f"/{name}",
                expected=gettext_noop("Expected here: %(expected)s."),
                remedy=gettext_noop("Send it in that form."),
                params={"expected": "true, false"},
            )
        )
    return value


def read_items(given: Mapping[str, Any], name: str) -> list[int] | None:
    """Ids of items in their order; None where they are still to be drawn."""
    ids = given.get(name)
    if ids is None:
        return None
    is_list = isinstance(ids, list) and len(ids) <= MOST_EXAMPLES and len(set(map(str, ids))) == len(ids)
    if not is_list or not all(type(one) is int and 0 < one < 2**63 for one in ids):
        raise SettingsError(bad_examples(name))
    return list(ids)


def detector_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """`endpoint`, the model it asks; `variant` of the prompt; `release`, the number of the release whose labels are the
    gold and the examples; `n_examples` of each domain are drawn from it where `examples`, the ids of items, are not
    given; `judge_examples` has them judged too."""
    known = ("endpoint", "variant", "release", "n_examples", "examples", "judge_examples")
    refuse_unknown(given, known)
    return {"endpoint": read_endpoint(given), **own_settings(given)}


def own_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    variant = given.get("variant", DEFAULT)
    if variant not in VARIANTS:
        raise SettingsError(unknown_variant(VARIANTS))
    is_shown = variant == FEW_SHOT
    return {
        "variant": variant,
        "release": run_number(given, "release"),
        "n_examples": (read_number(given, "n_examples", most=20) or FEW) if is_shown else 0,
        "examples": read_items(given, "examples") if is_shown else [],
        "judge_examples": read_truth(given, "judge_examples"),
    }


FEW = 2
"""Examples of each domain in a few-shot prompt: four where there are two domains."""
DEFAULTS: Mapping[str, Any] = own_settings({})
DETECTOR_FIELDS = (
    SettingField(
        "variant",
        gettext_noop("Variant of the prompt"),
        "choice",
        choices=tuple(VARIANT_TITLES.items()),
    ),
    RELEASE_FIELD,
    EXAMPLES_FIELD,
)


def common_values(view: TrajectoryView, settings: Mapping[str, Any]) -> dict[str, str]:
    """By placeholder, what every detector is told besides the trajectory; what a variant does not have says so."""
    language, variant = view.language, settings["variant"]
    is_planned = variant == ORACLE_PLAN
    plan = view.material.plan
    return {
        "domain": view.domain or NOTHING[language],
        "policy": WORDS[language]["left_out"] if variant == NO_POLICY else view.policy or NOTHING[language],
        "examples": examples_shown(view.material.examples, language),
        "plan": plan_shown(plan, language) if is_planned and plan is not None else NOTHING[language],
    }


def flags_of(texts: tuple[str, ...], answers: tuple[Answer, ...]) -> list[str]:
    found = {
        "obeys_the_text": any(is_copied(answer, texts) for answer in answers),
        "steering_text": steers(texts),
    }
    return [name for name, holds in found.items() if holds]


def unknown_variant(allowed: tuple[str, ...]) -> Problem:
    return Problem(
        code="not_allowed",
        field="variant",
        pointer="/variant",
        expected=gettext_noop("One of: %(allowed)s."),
        remedy=gettext_noop("Choose one of these; case counts."),
        params={"allowed": ", ".join(allowed)},
    )


def bad_number(name: str, least: int, most: int) -> Problem:
    return Problem(
        code="bad_number",
        field=name,
        pointer=f"/{name}",
        expected=gettext_noop("A whole number from %(least)s to %(most)s."),
        remedy=gettext_noop("Choose one of these."),
        params={"least": least, "most": most},
    )


def bad_examples(name: str) -> Problem:
    return Problem(
        code="bad_examples",
        field=name,
        pointer=f"/{name}",
        expected=gettext_noop("Ids of items of the release, each once, at most %(most)s."),
        remedy=gettext_noop("Leave them out to have them drawn."),
        params={"most": MOST_EXAMPLES},
    )
