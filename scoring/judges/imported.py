"""Predictions that a system made elsewhere, as they were brought in: what it said of a trajectory is its verdict
(docs/redundant-steps.md, Predictions made elsewhere)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from annotate.kinds.base import Finding
from annotate.kinds.redundancy import predictions
from annotate.kinds.redundancy.label import Pair, pair_of
from annotate.kinds.redundancy.predictions import CLASSIFICATION, DETECTION, RETRIEVAL, SETTINGS
from annotate.rules.requester_view import TextBesideCalls
from annotate.traces.base import Problem, Trace, gettext_noop
from scoring.judges.base import JudgeSpec, SettingsError, refuse_unknown

Said = Mapping[str, Any] | None
LONGEST = {"system": 80, "variant": 40}
HASH = re.compile("[0-9a-f]{64}")
NEEDS_A_RELEASE = (CLASSIFICATION, RETRIEVAL)


def view(trace: Trace, anchor: int, text_beside_calls: TextBesideCalls = "private", *, said: Said) -> Said:
    """What the file says of the trajectory; None where it does not name it."""
    return said


def step(view: Said, settings: Mapping[str, Any]) -> Finding:
    """A trajectory that the file does not name got no answer, as one whose answer nobody could read."""
    told = {"variant": settings["variant"]}
    return Finding(told, unreadable="") if view is None else Finding({**told, **view})


read_file = predictions.read


def steps_named(label: Mapping[str, Any]) -> list[Pair]:
    """The redundant steps of a sealed label."""
    return [pair_of(one["step"]) for one in label.get("steps", ())]


def gives_labels_under(settings: Mapping[str, Any]) -> bool:
    """Only steps that were found are a label; types and evidence of given steps are none."""
    return settings.get("setting") == DETECTION


def read_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """`system`, the name of what predicted; `variant` of it; `setting`, what it was asked; `release`, the number of the
    one whose labels it was asked about; `sha256` of the file."""
    refuse_unknown(given, ("system", "variant", "setting", "release", "sha256"))
    setting, sha256 = given.get("setting", DETECTION), given.get("sha256", "")
    if setting not in SETTINGS:
        raise SettingsError(unknown_setting())
    if sha256 != "" and not (isinstance(sha256, str) and HASH.fullmatch(sha256)):
        raise SettingsError(NO_HASH)
    return {
        "system": name_of(given, "system", ""),
        "variant": name_of(given, "variant", "default"),
        "setting": setting,
        "release": release_number(given),
        "sha256": sha256,
    }


def release_number(given: Mapping[str, Any]) -> int | None:
    number = given.get("release")
    if number is not None and (type(number) is not int or not 0 < number < 2**31):
        raise SettingsError(UNKNOWN_RELEASE)
    return number


def name_of(given: Mapping[str, Any], field: str, usual: str) -> str:
    value = given.get(field, usual)
    name = value.strip() if isinstance(value, str) else ""
    is_name = isinstance(value, str) and len(name) <= LONGEST[field] and name.isprintable()
    if not is_name or (field in given and not name and value != usual):
        raise SettingsError(no_name(field))
    return name or usual


def no_name(field: str) -> Problem:
    return Problem(
        code="bad_name",
        field=field,
        pointer=f"/{field}",
        expected=gettext_noop("A name of at most %(most)s characters in one line."),
        remedy=gettext_noop("Give it one."),
        params={"most": LONGEST[field]},
    )


def unknown_setting() -> Problem:
    return Problem(
        code="unknown_value",
        field="setting",
        pointer="/setting",
        expected=gettext_noop("One of: %(allowed)s."),
        remedy=gettext_noop("Choose one of these; case counts."),
        params={"allowed": ", ".join(SETTINGS)},
    )


UNKNOWN_RELEASE = Problem(
    code="no_release",
    field="release",
    pointer="/release",
    expected=gettext_noop("The number of a release of this project with labels."),
    remedy=gettext_noop("Seal a release first, then name its number."),
)
NO_HASH = Problem(
    code="wrong_type",
    field="sha256",
    pointer="/sha256",
    expected=gettext_noop("Expected here: %(expected)s."),
    remedy=gettext_noop("Send it in that form."),
    params={"expected": "SHA-256"},
)

JUDGE = JudgeSpec(
    name="imported",
    title=gettext_noop("Predictions made elsewhere"),
    describe=gettext_noop("What a system without prompts predicted, brought in from a file. It asks no model."),
    version="1",
    kinds=("redundancy",),
    view=view,
    step=step,
    settings=read_settings({}),
    read_settings=read_settings,
    gives_labels_under=gives_labels_under,
    brings=True,
)
