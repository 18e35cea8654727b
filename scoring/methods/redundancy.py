"""Redundant steps of agent runs: what experts found, what detectors and a jury of models find of it, and what leaving
the steps out saves.

A finding is a triplet: the step (call and result of one assistant-side tool interaction), its type, and the evidence.
Two are equal only if all three are, in normal form (`stats.groups.triplet`). Intervals resample the tasks of runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotate.traces.base import gettext_noop
from scoring.methods.records import Records
from scoring.methods.redundancy_costs import costs, experiences
from scoring.methods.redundancy_dataset import dataset
from scoring.methods.redundancy_detection import detection
from scoring.methods.redundancy_detectors import detector_costs, types_and_evidence
from scoring.methods.redundancy_experts import experts
from scoring.methods.redundancy_jury import jury
from scoring.methods.redundancy_read import TASK, TRAJECTORY, Study
from scoring.methods.redundancy_rounds import confusion, rounds
from scoring.methods.redundancy_schema import SCHEMA
from scoring.methods.redundancy_suggestions import anchoring, suggestions
from scoring.methods.tables import Method, MethodReport, Parameter, Said, Words, drawing_of, drawn

TITLE = gettext_noop("Redundant steps")
PARAMETERS = (
    Parameter(
        "precision_of", "text", "predictions", "Prec@K divides by min(K, n) of predictions, or gold steps", "B-01",
        allowed=("predictions", "gold"),
    ),
    Parameter(
        "missing_answers", "text", "wrong", "gold that a detector has no record for: wrong, or left out", "B-09",
        allowed=("wrong", "left_out"),
    ),
    Parameter("score_exemplars", "truth", False, "score trajectories that were shown as examples", "B-10"),
    Parameter("jury_gold", "truth", False, "what the jury agreed on is gold where experts ended nothing"),
    Parameter("length_bins", "text", "8-30,31-53,54-76,77-99,100-122", "bins of n_steps, both ends inside"),
    Parameter("agreeing_jurors", "whole", 2, "jurors whose sets must be equal", least=2, most=99),
    Parameter("cluster", "text", "task", "what is resampled", allowed=("task", "trajectory")),
    Parameter("reference", "text", "", "detector that the others are compared with; the first by name where empty"),
    Parameter("baseline", "text", "none", "condition that experiences are compared with"),
    Parameter("n_resamples_costs", "whole", 4_000, "resamples of tasks behind a correlation", least=100, most=200_000),
)
SECTIONS = (
    *(dataset, experts, rounds, confusion, suggestions, anchoring),
    *(types_and_evidence, detection, detector_costs, jury, costs, experiences),
)


def report(records: Records, settings: Mapping[str, Any]) -> MethodReport:
    study = Study.of(records, settings)
    drawing = drawing_of(settings, TASK if settings["cluster"] == "task" else TRAJECTORY)
    tables = drawn([plan for section in SECTIONS for plan in section(study)], drawing)
    notes: list[Words] = []
    n_shown = len(study.pool) - len(study.scored)
    if n_shown:
        notes.append(
            Said(gettext_noop("%(n)s trajectories were shown as examples and are not scored."), {"n": n_shown})
        )
    n_waiting = sum(name not in study.gold and not one["state"] for name, one in study.trajectories.items())
    if n_waiting:
        notes.append(Said(gettext_noop("%(n)s trajectories have no gold record and are no part."), {"n": n_waiting}))
    return MethodReport("redundancy", TITLE, settings, tables, tuple(notes))


METHOD = Method("redundancy", TITLE, SCHEMA, report, PARAMETERS, kind="redundancy", joins="redundancy_joins")
