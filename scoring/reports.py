"""Reports that are kept. The page, the command and the API show the same stored one; it is computed again once a label,
a problem, an event or a verdict of the project has come since, and can be computed again from what it names."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone

from annotate import lead_queries
from annotate.kinds.registry import kind_of
from annotate.models import Project
from scoring import comparing, label_queries, report_queries
from scoring.comparing import AgreementReport, ComparedRun, Facts, Gathered, ProtocolLabels
from scoring.models import Report, Run
from scoring.stats.results import plain, restored

VERSION = "2"
"""Of the figures: raise it where the same rows are to give other ones, and no older report is shown."""
KEPT = 5
"""How many reports of the same settings are kept, with the newest."""


@dataclass(frozen=True, slots=True)
class StoredReport:
    """A report as it is shown, and the row that has it."""

    row: Report
    report: AgreementReport
    is_new: bool


def shown_report(
    project: Project,
    *,
    phase: str = "main",
    measure: str | None = None,
    protocol: int | None = None,
    language: str | None = None,
    area: str | None = None,
    cluster: str | None = None,
    run: int | None = None,
    round: int | None = None,
) -> StoredReport:
    """The stored report of these settings if nothing has come since, else a new one. Refused as `agreement_report`."""
    schemas = comparing.schemas_of(project)
    wanted = {"language": language, "area": area, "cluster": cluster}
    asked = {"phase": phase, "measure": measure, "protocol": protocol, "run": run, "round": round, **wanted}
    key = hash_of({"asked": asked, "n_resamples": comparing.N_RESAMPLES, "version": VERSION})
    row = report_queries.stored_reports(project, Report.Kind.AGREEMENT, key).first()
    if row is not None and (same := report_queries.marks_since(project, row.seen)):
        keep_up(row, same)
        chosen = comparing.chosen_of_all(project, schemas, measure, row.payload["protocol"])
        return StoredReport(row, comparing.report_from(row.payload, chosen.measures), is_new=False)
    marks = report_queries.marks(project)  # before any row is read: what commits in between is seen the next time
    gathered = comparing.gather(project, schemas, phase=phase, protocol=protocol, run=run, wanted=wanted, round=round)
    chosen = comparing.chosen_of_all(project, schemas, measure, gathered.facts.protocol)
    report = comparing.computed_report(project, gathered, schemas=schemas, chosen=chosen)
    row = Report(
        project=project,
        kind=Report.Kind.AGREEMENT,
        settings={"asked": asked, "facts": plain(gathered.facts), "n_resamples": comparing.N_RESAMPLES},
        settings_hash=key,
        seen=marks,
        ids=ids_of(gathered),
        payload=report.as_dict(),
        version=VERSION,
        computed_at=timezone.now(),
    )
    keep(row)
    return StoredReport(row, comparing.report_from(row.payload, chosen.measures), is_new=True)


def keep(row: Report) -> None:
    """Store a report and let go of those of the same settings that are too many."""
    with transaction.atomic():
        row.save()
        same = report_queries.stored_reports(row.project, row.kind, row.settings_hash)
        Report.objects.filter(pk__in=list(same.values_list("pk", flat=True)[KEPT:])).delete()


def keep_up(row: Report, marks: Mapping[str, list[int]]) -> None:
    """Move the marks of a fresh report on where other projects have grown, so that the next look stays short."""
    if marks != row.seen:
        row.seen = dict(marks)
        row.save(update_fields=["seen"])


def recompute(row: Report) -> dict[str, Any]:
    """The payload anew, from the settings and the rows that the report names, whatever has come since."""
    project, asked = row.project, row.settings["asked"]
    facts = facts_from(row.settings["facts"])
    schemas = comparing.schemas_of(project)
    chosen = comparing.chosen_of_all(project, schemas, asked["measure"], facts.protocol)
    leave = kind_of(project.kind).unmeasured
    among = np.array(sorted(numbers_of(row.ids["annotations"])))
    labels = label_queries.rated_labels(project, phase=facts.phase, leave=leave, among=among, round=facts.round)
    gathered = Gathered(facts, labels, verdicts_again(project, facts, row.ids, leave))
    return comparing.computed_report(project, gathered, schemas=schemas, chosen=chosen).as_dict()


def verdicts_again(
    project: Project, facts: Facts, ids: Mapping[str, str], leave: Sequence[str]
) -> Sequence[report_queries.VerdictRow]:
    wanted = numbers_of(ids["verdicts"])
    if facts.run is None or not wanted:
        return []
    run = Run.objects.get(project=project, number=facts.run.number)
    among = (min(wanted), max(wanted))
    rows = report_queries.verdict_rows(run, phase=facts.phase, wanted=facts.filters, leave=leave, among=among)
    return [row for row in rows if row.id in wanted]


def facts_from(stored: Mapping[str, Any]) -> Facts:
    return Facts(
        **{
            **stored,
            "protocols": restored(tuple[ProtocolLabels, ...], stored["protocols"]),
            "partial": restored(tuple[lead_queries.Partial, ...], stored["partial"]),
            "run": restored(ComparedRun | None, stored["run"]),
        }
    )


def ids_of(gathered: Gathered) -> dict[str, str]:
    return {
        "annotations": runs_of_numbers(gathered.labels.annotation.tolist()),
        "verdicts": runs_of_numbers(row.id for row in gathered.verdicts),
    }


def runs_of_numbers(numbers: Iterable[int]) -> str:
    """`1-5,8`: numbers in order, those in a row as their first and last."""
    said = []
    for _, group in groupby(enumerate(sorted(numbers)), lambda entry: entry[1] - entry[0]):
        row = [number for _, number in group]
        said.append(str(row[0]) if len(row) == 1 else f"{row[0]}-{row[-1]}")
    return ",".join(said)


def numbers_of(said: str) -> set[int]:
    """What `runs_of_numbers` wrote."""
    found: set[int] = set()
    for part in filter(None, said.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def hash_of(settings: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
