"""The predictions of a run against the gold: one row each, filtered, with counts of how they stand to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotate.errors import Refused
from annotate.models import Project, Release
from scoring import prediction_queries, redundancy_queries, report_queries
from scoring.comparing import schemas_of, unknown_choice
from scoring.methods.redundancy import METHOD
from scoring.models import Run
from scoring.prediction_matches import STATES, Match, matches, triplets_of
from scoring.redundancy_joins import IMPORTED, JURY, SETTINGS, made
from scoring.redundancy_records import CLASSIFICATION, DETECTION, RETRIEVAL, Ended

KIND = METHOD.kind
PREDICTING = (JURY, IMPORTED, *SETTINGS, "juror", "heuristics")
"""Judges whose verdicts are redundant steps."""

GIVEN = (CLASSIFICATION, RETRIEVAL)


@dataclass(frozen=True, slots=True)
class Asked:
    """Which predictions are asked for. `release` names the gold, which is that of the report without; with
    `jury_gold` what the newest jury agreed on is gold where experts ended nothing. `type` is of the prediction or of
    the gold."""

    run: int | None = None
    release: int | None = None
    phase: str = "main"
    state: str = ""
    type: str = ""
    domain: str = ""
    jury_gold: bool = False


@dataclass(frozen=True, slots=True)
class PredictionRow:
    """A prediction, or a gold step that was missed. `id` is its place among all that are asked for, from 1;
    `provenance` says whose the gold is, where it is of no release."""

    id: int
    item: int
    source: str
    domain: str
    provenance: str | None
    match: Match

    def as_dict(self) -> dict[str, Any]:
        match = self.match
        return {
            "item": self.item,
            "trace": self.source,
            "domain": self.domain,
            "provenance": self.provenance,
            "state": match.state,
            "step": match.step and list(match.step),
            "rank": match.rank,
            "type": match.type,
            "gold_type": match.gold_type,
            "same_type": match.same_type,
            "evidence": match.evidence and list(match.evidence),
            "gold_evidence": match.gold_evidence and list(match.gold_evidence),
            "same_evidence": match.same_evidence,
            "confidence": match.confidence,
        }


@dataclass(frozen=True, slots=True)
class Predictions:
    """`run` is None where no judge has predicted anything. `counts` are by state, of what the other filters leave."""

    asked: Asked
    run: Run | None
    runs: tuple[Run, ...]
    releases: Mapping[int, Release]
    counts: Mapping[str, int]
    rows: Sequence[PredictionRow]

    def as_dict(self) -> dict[str, Any]:
        return {
            "run": self.run and self.run.number,
            "judge": self.run and self.run.judge.name,
            "phase": self.asked.phase,
            "release": self.asked.release,
            "jury_gold": self.asked.jury_gold,
            "counts": dict(self.counts),
        }


def predictions(project: Project, asked: Asked) -> Predictions:
    """Of the run asked for, or the newest; Refused for a run or a release that is not there. The number of statements
    is fixed."""
    runs = [one for one in report_queries.runs_with_verdicts(project, phase=asked.phase) if predicts(one)]
    releases = prediction_queries.numbered_releases(project)
    if asked.release is not None and asked.release not in releases:
        raise Refused(unknown_choice("release", map(str, releases)))
    numbered = {one.number: one for one in runs}
    if asked.run is not None and asked.run not in numbered:
        raise Refused(unknown_choice("run", map(str, numbered)))
    run = next(iter(runs), None) if asked.run is None else numbered[asked.run]
    found: list[tuple[prediction_queries.Predicted, Match]] = []
    gold = Gold({})
    if run is not None:
        said = prediction_queries.predicted_by(run, asked.phase, asked.domain)
        if asked.release is not None:
            gold = Gold(prediction_queries.sealed_ends(releases[asked.release]))
        else:
            jury = next((one for one in runs if one.judge.name == JURY), None) if asked.jury_gold else None
            gold = gold_of(project, asked.phase, jury, {one.item for one in said})
        found = compared(said, gold, is_given=SETTINGS.get(run.judge.name, setting_of(run)) in GIVEN)
    found = [(one, match) for one, match in found if not asked.type or match.is_about(asked.type)]
    counts = Counter(match.state for _, match in found)
    chosen = [(one, match) for one, match in found if asked.state in ("", match.state)]
    return Predictions(
        asked=asked,
        run=run,
        runs=tuple(runs),
        releases=releases,
        counts={state: counts[state] for state in STATES if counts[state]},
        rows=[
            PredictionRow(place, one.item, one.source, one.domain, gold.provenance.get(one.item), match)
            for place, (one, match) in enumerate(chosen, start=1)
        ],
    )


def predicts(run: Run) -> bool:
    return run.judge.name in PREDICTING


def setting_of(run: Run) -> str:
    """What predictions that were made elsewhere were asked for."""
    return str(run.judge.settings.get("setting") or DETECTION)


def compared(
    said: Sequence[prediction_queries.Predicted], gold: Gold, *, is_given: bool
) -> list[tuple[prediction_queries.Predicted, Match]]:
    found = []
    for one in said:
        steps = gold.ends[one.item].steps if one.item in gold.ends else None
        right = None if steps is None else triplets_of(steps)
        found += [(one, match) for match in matches(one.values, one.label, one.is_unreadable, right, is_given=is_given)]
    return found


@dataclass(frozen=True, slots=True)
class Gold:
    """What trajectories ended with, and whose it is where that is known."""

    ends: Mapping[int, Ended]
    provenance: Mapping[int, str] = field(default_factory=dict)


def gold_of(project: Project, phase: str, jury: Run | None, items: set[int]) -> Gold:
    """What each of these trajectories ended with, as the report has it."""
    labels = [one for one in redundancy_queries.label_rows(project, phase) if one.item in items]
    waiting = prediction_queries.waiting_items(project, phase)
    settled = redundancy_queries.settled_rows(project, phase, None)
    ends = {**made(project, schemas_of(project), labels, waiting), **settled}
    agreed = {
        one.item: Ended(one.values["steps"])
        for one in (prediction_queries.predicted_by(jury, phase) if jury else ())
        if "steps" in one.values and one.item not in ends
    }
    of_experts = {item: "experts" for item, end in ends.items() if end.steps is not None}
    return Gold({**agreed, **ends}, {**of_experts, **dict.fromkeys(agreed, "jury")})
