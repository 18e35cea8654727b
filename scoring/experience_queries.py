"""Named reads of experience replays: the workflows that runs have written, and the outcomes that were brought in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet

from annotate.models import Project
from annotate.subset_queries import SUCCESS, first_said
from scoring.methods.outcomes import Key
from scoring.models import Outcome, OutcomeBatch, Run, Verdict

WORKFLOW = "workflow"
PART = 500


def batches_of(project: Project) -> QuerySet[OutcomeBatch]:
    """Newest first."""
    return OutcomeBatch.objects.filter(project=project).select_related("person").order_by("-pk")


def known_outcomes(project: Project) -> dict[Key, tuple[bool, float]]:
    """One statement."""
    rows = Outcome.objects.filter(project=project).order_by()
    columns = ("domain", "task", "repeat", "condition", "success", "tokens")
    return {
        (domain, task, repeat, condition): (success, tokens)
        for domain, task, repeat, condition, success, tokens in rows.values_list(*columns).iterator(chunk_size=PART)
    }


def outcome_records(project: Project) -> list[dict[str, Any]]:
    """As docs/records.md has them, with what their files say of themselves first: one statement."""
    rows = Outcome.objects.filter(project=project).order_by("domain", "task", "repeat", "condition")
    columns = ("domain", "task", "repeat", "condition", "success", "tokens")
    told: dict[int, dict[str, Any]] = {}
    found = []
    said = rows.values(*columns, "batch", "batch__about", "batch__is_synthetic")
    for row in said.iterator(chunk_size=PART):
        if row["batch__about"]:
            told[row["batch"]] = about(row["batch__about"], row["batch__is_synthetic"])
        own = {name: row[name] for name in columns}
        found.append({"record": "outcome", **own, "tokens": whole(own["tokens"])})
    return [*(told[batch] for batch in sorted(told)), *found]


def about(text: str, is_synthetic: bool) -> dict[str, Any]:
    return {"record": "about", "text": text, "synthetic": is_synthetic}


def whole(number: float) -> float | int:
    return int(number) if number == int(number) else number


@dataclass(frozen=True, slots=True)
class WorkflowRun:
    """A run with how many workflows it has written, and of how many trajectories it has none: as nobody says which
    steps go, or nothing could be read."""

    run: Run
    n_written: int
    n_none: int


def workflow_runs(project: Project) -> list[WorkflowRun]:
    """Newest first: three statements."""
    runs = Run.objects.filter(project=project, judge__name=WORKFLOW).select_related("judge").order_by("-number")
    verdicts = Verdict.objects.filter(run__in=runs.order_by()).order_by()
    every, written = counted(verdicts), counted(with_text(verdicts))
    return [WorkflowRun(run, written.get(run.pk, 0), every.get(run.pk, 0) - written.get(run.pk, 0)) for run in runs]


def counted(verdicts: QuerySet[Verdict]) -> dict[int, int]:
    return dict(verdicts.values_list("run").annotate(n=Count("pk")))


def with_text(verdicts: QuerySet[Verdict]) -> QuerySet[Verdict]:
    return verdicts.filter(is_unreadable=False).exclude(finding__values__text=None)


def workflow_run(project: Project, number: int) -> Run | None:
    runs = Run.objects.select_related("judge", "project")
    return runs.filter(project=project, judge__name=WORKFLOW, number=number).first() if 0 < number < 2**31 else None


def workflows_of(run: Run, *, behind: int = 0, limit: int | None = None) -> Iterator[dict[str, Any]]:
    """The workflows of a run, in the order in which they were written: one statement. `id` is that of the verdict."""
    rows = with_text(Verdict.objects.filter(run=run, pk__gt=behind))
    columns = ("pk", "sample", "item_id", "item__cluster", "item__trace__source_id", "item__trace__area", "finding")
    places = [f"item__trace__{name}" for name in SUCCESS]
    found = rows.order_by("pk").values_list(*columns, *places)
    for pk, sample, item, task, source, domain, finding, *said in (found[:limit] if limit else found).iterator(
        chunk_size=PART
    ):
        values = finding["values"]
        yield {
            **{"id": pk, "run": run.number, "item": item, "sample": sample, "trajectory": source},
            **{"domain": domain, "task": task, "success": first_said(said)},
            **{name: values[name] for name in ("condition", "removed", "n_steps")},
            "model": (run.judge.settings.get("endpoint") or {}).get("model", ""),
            "workflow": values["text"],
        }
