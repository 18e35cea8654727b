"""Named reads of what judges predicted, and of the gold that it is held against. Each is one statement."""

from __future__ import annotations

from typing import Any, NamedTuple

from annotate.lead_queries import RATING_ROUNDS
from annotate.models import Assignment, Project, Release, ReleaseItem
from scoring.models import Run, Verdict
from scoring.redundancy_queries import WAITING
from scoring.redundancy_records import Ended
from scoring.report_queries import SAMPLE

PART = 2000


class Predicted(NamedTuple):
    """What a run said of a trajectory."""

    item: int
    source: str
    domain: str
    values: dict[str, Any]
    label: dict[str, Any] | None
    is_unreadable: bool


def predicted_by(run: Run, phase: str, domain: str = "") -> list[Predicted]:
    """In the order of items; where a run asked several times, its first answer."""
    rows = Verdict.objects.filter(run=run, sample=SAMPLE, item__phase=phase)
    rows = rows.filter(item__trace__area=domain) if domain else rows
    columns = ("item_id", "item__trace__source_id", "item__trace__area", "finding", "label", "is_unreadable")
    return [
        Predicted(item, source or "", area or "", finding.get("values") or {}, label, is_unreadable)
        for item, source, area, finding, label, is_unreadable in rows.order_by("item")
        .values_list(*columns)
        .iterator(chunk_size=PART)
    ]


def waiting_items(project: Project, phase: str) -> set[int]:
    """Those that somebody has still to label blind."""
    rows = Assignment.objects.filter(item__project=project, item__phase=phase, state__in=WAITING)
    return set(rows.filter(round__purpose__in=RATING_ROUNDS).values_list("item", flat=True).distinct())


def sealed_ends(release: Release) -> dict[int, Ended]:
    """What each item of a release ended with."""
    rows = ReleaseItem.objects.filter(release=release).order_by("position").values_list("item", "label")
    return {
        item: Ended(None if label is None else label.get("steps", []))
        for item, label in rows.iterator(chunk_size=PART)
    }


def numbered_releases(project: Project) -> dict[int, Release]:
    """By number, the newest first."""
    rows = Release.objects.filter(project=project).defer("manifest").order_by("-number")
    return {one.number: one for one in rows}
