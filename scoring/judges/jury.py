"""The jury: what three jurors' runs agree on, and nothing else. It asks no model (docs/redundant-steps.md, Jury)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotate.kinds.base import Finding
from annotate.rules.requester_view import TextBesideCalls
from annotate.traces.base import Problem, Trace, gettext_noop
from scoring.judges.base import JudgeSpec, Reads, SettingField, SettingsError, refuse_unknown
from scoring.methods.redundancy_consensus import consensus
from scoring.methods.redundancy_read import triplets
from scoring.stats.groups import Triplet

JURORS, AGREEING = 3, 2
Found = Sequence[Mapping[str, Any] | None]


def view(trace: Trace, anchor: int, text_beside_calls: TextBesideCalls = "private", *, earlier: Found) -> Found:
    """What each juror found; None where nothing of theirs could be read, so that they do not cover the trajectory."""
    return tuple(earlier)


def step(view: Found, settings: Mapping[str, Any]) -> Finding:
    covered = zip(settings["runs"], view, strict=True)
    sets = {number: triplets(found["steps"]) for number, found in covered if found is not None}
    agreed = consensus(list(sets.values()), AGREEING)
    is_agreed = agreed.outcome in ("retained", "empty")
    agreeing = [number for number, steps in sets.items() if is_agreed and set(steps) == set(agreed.steps)]
    said: dict[str, Any] = {"outcome": agreed.outcome, "n_covered": len(sets), "agreeing": agreeing}
    return Finding({**said, "steps": [as_json(one) for one in agreed.steps]} if is_agreed else said)


def as_json(one: Triplet) -> dict[str, Any]:
    return {"step": list(one.step), "type": one.type, "evidence": list(one.evidence)}


def read_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """`runs`: the numbers of three runs of jurors; none of them is no jury yet."""
    refuse_unknown(given, ("runs",))
    runs = given.get("runs") or []
    if runs == []:
        return {"runs": []}
    is_list = isinstance(runs, list) and len(runs) == JURORS and len(set(map(str, runs))) == JURORS
    if not isinstance(runs, list) or not is_list or not all(type(one) is int and 0 < one < 2**31 for one in runs):
        raise SettingsError(NO_JURORS)
    return {"runs": sorted(runs)}


NO_JURORS = Problem(
    code="no_jurors",
    field="runs",
    pointer="/runs",
    expected=gettext_noop("The numbers of three runs of the judge “juror”, each once."),
    remedy=gettext_noop("Let three models judge first, then name their runs, such as 4, 5, 6."),
)

JUDGE = JudgeSpec(
    name="jury",
    title=gettext_noop("Jury of three models"),
    describe=gettext_noop(
        "Keeps of each trajectory the redundant steps that at least two of three jurors name alike, all of them or "
        "none. It asks no model: it is worked out of three runs that are through."
    ),
    version="1",
    kinds=("redundancy",),
    view=view,
    step=step,
    settings={"runs": []},
    read_settings=read_settings,
    fields=(SettingField("runs", gettext_noop("Numbers of three runs of jurors, such as 4, 5, 6"), "wholes"),),
    reads=Reads(
        setting="runs",
        judge="juror",
        missing=gettext_noop("None of the three jurors was to judge this trajectory."),
        several=JURORS,
        alike=("protocol", "release", "examples", "single_pair_only", "judge_examples"),
    ),
)
