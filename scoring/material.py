"""What judges are given beside a trace by their settings: the guideline of a protocol, sealed labels as gold and as
examples, the calls that a task needs. Settings that name none are completed when a run starts, so that they stand with
the judge and three runs by the same settings get the same."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from annotate.errors import JobFailed, Refused
from annotate.models import Project
from annotate.rules.needed_calls import needed_calls
from annotate.traces.base import Problem, gettext_noop
from scoring import material_queries, queries
from scoring.judges.base import Example, JudgeSpec, Material
from scoring.material_queries import Sealed

ORACLE_PLAN = "oracle_plan"


# Completed


def completed(spec: JudgeSpec, project: Project, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a judge with everything in them that is drawn or looked up: the number of the newest protocol,
    and the items that are shown as examples. Refused for a protocol, release or example that is not there, and where
    gold is needed and no release is named."""
    told = dict(settings)
    if "guideline" in spec.takes:
        told["protocol"] = protocol_number(project, told["protocol"])
    if not {"examples", "gold"} & set(spec.takes):
        return told
    if "examples" not in spec.takes:
        if takes_gold(spec, told):
            sealed_in(project, told["release"])
        return told
    is_needed = "gold" in spec.takes or told["n_examples"] > 0
    if told["release"] is None:
        if is_needed:
            raise Refused(no_release())
        return {**told, "examples": []}
    sealed = sealed_in(project, told["release"])
    if "guideline" in spec.takes and material_queries.is_of_a_jury(project, told["release"]):
        raise Refused(JURY_AS_EXPERTS)
    if told["examples"] is None:
        told["examples"] = drawn(sealed, told["n_examples"], project.seed)
    if set(told["examples"]) - {one.item for one in sealed}:
        raise Refused(UNKNOWN_EXAMPLES)
    return told


def takes_gold(spec: JudgeSpec, settings: Mapping[str, Any]) -> bool:
    return "gold" in spec.takes and not (spec.gold_is_optional and settings["release"] is None)


def protocol_number(project: Project, wanted: int | None) -> int:
    numbers = material_queries.protocol_numbers(project)
    if not numbers or wanted not in (None, *numbers):
        raise Refused(no_protocol(numbers))
    return max(numbers) if wanted is None else wanted


def sealed_in(project: Project, number: int | None) -> list[Sealed]:
    found = [] if number is None else material_queries.sealed(project, number)
    if not found:
        raise Refused(no_release())
    return found


def drawn(sealed: Iterable[Sealed], n_each: int, seed: int) -> list[int]:
    """So many items of each area at random, those with something in their label first; the same for the same seed.

    An area that has fewer gives all it has."""
    by_area: dict[str, list[Sealed]] = defaultdict(list)
    for one in sorted(sealed):
        by_area[one.area].append(one)
    chosen: list[int] = []
    for area in sorted(by_area):
        those = by_area[area]
        random.Random(f"examples {seed} {area}").shuffle(those)
        chosen += [one.item for one in sorted(those, key=lambda one: not one.has_steps)[:n_each]]
    return sorted(chosen)


def to_judge(
    spec: JudgeSpec, project: Project, settings: Mapping[str, Any], items: Sequence[int]
) -> list[int]:
    """Those of the items that a judge judges under these complete settings; Refused where that leaves none."""
    left = list(items)
    if "examples" in spec.takes and not settings["judge_examples"]:
        shown = set(settings["examples"])
        left = [item for item in left if item not in shown]
    if takes_gold(spec, settings):
        labels = material_queries.labels(project, settings["release"])
        left = [item for item in left if item in labels and spec.has_something(labels[item])]
    if spec.reads is not None and (spec.reads.several or (spec.reads.is_optional and settings[spec.reads.setting])):
        numbers = settings[spec.reads.setting]
        known = queries.items_of_runs(project, numbers if spec.reads.several else [numbers])
        left = [item for item in left if item in known]
    if not left:
        raise Refused(NOTHING_LEFT)
    return left


# Given


def material_of(spec: JudgeSpec, project_id: int, settings: Mapping[str, Any], item: int) -> Material:
    """JobFailed where the release has no label of the item, or a plan is needed and the source says none."""
    release = settings.get("release")
    is_planned = "plan" in spec.takes and settings.get("variant") == ORACLE_PLAN
    area, metadata = material_queries.told_of(item, with_metadata=is_planned)
    plan = needed_calls(metadata) if is_planned else None
    if is_planned and plan is None:
        raise JobFailed(NO_PLAN)
    gold = None
    if takes_gold(spec, settings):
        gold = material_queries.label_of(project_id, release, item)
        if gold is None:
            raise JobFailed(NO_GOLD)
    examples = tuple(one for one in settings.get("examples") or () if one != item)
    return Material(
        area=area,
        guideline=guideline_of(project_id, settings["protocol"]) if "guideline" in spec.takes else {},
        examples=examples_of(project_id, release, examples) if "examples" in spec.takes and examples else (),
        gold=gold,
        plan=plan,
    )


@lru_cache(maxsize=4)
def guideline_of(project_id: int, number: int) -> Mapping[str, str]:
    """A protocol is never edited, so it is read once."""
    return material_queries.guideline(project_id, number)


@lru_cache(maxsize=4)
def examples_of(project_id: int, release: int, items: tuple[int, ...]) -> tuple[Example, ...]:
    """A release is never edited, so its examples are read once."""
    rows = material_queries.example_rows(project_id, release, items)
    return tuple(
        Example(number=one.item, area=one.area, trace=queries.whole_trace(one.trace), label=one.label) for one in rows
    )


NO_GOLD = gettext_noop("The release that is the gold has no label of this item.")
NO_PLAN = gettext_noop("The file of this trace does not say which calls the task needs.")
NOTHING_LEFT = Problem(
    code="nothing_to_judge",
    field="phases",
    expected=gettext_noop("Items that this judge can judge under these settings; there are none."),
    remedy=gettext_noop("Choose another release or other phases: examples are not judged, nor items without gold."),
)
JURY_AS_EXPERTS = Problem(
    code="jury_release",
    field="release",
    pointer="/release",
    expected=gettext_noop("A release of what people said: examples of a juror are those of experts."),
    remedy=gettext_noop("Name another release, or none."),
)
UNKNOWN_EXAMPLES = Problem(
    code="bad_examples",
    field="examples",
    pointer="/examples",
    expected=gettext_noop("Ids of items that the release has a label of."),
    remedy=gettext_noop("Leave them out to have them drawn."),
)


def no_release() -> Problem:
    return Problem(
        code="no_release",
        field="release",
        pointer="/release",
        expected=gettext_noop("The number of a release of this project with labels: its gold and its examples."),
        remedy=gettext_noop("Seal a release first, then name its number."),
    )


def no_protocol(numbers: Iterable[int]) -> Problem:
    return Problem(
        code="no_protocol",
        field="protocol",
        pointer="/protocol",
        expected=gettext_noop("The number of a protocol of this project: %(allowed)s."),
        remedy=gettext_noop("Choose one of these."),
        params={"allowed": ", ".join(map(str, sorted(numbers))) or "-"},
    )
