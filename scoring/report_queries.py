"""Named reads that only reports need: the verdicts of a run, what filters allow, and how far the tables have
grown. Each is one statement unless it says otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, Max, OuterRef, QuerySet

from annotate.models import Annotation, Assignment, Event, Item, Post, Project
from scoring.models import Report, Run, Verdict

SAMPLE = 0
"""Where a run asked several times, its first answer is compared."""
PLACES = {"language": "trace__language", "area": "trace__area", "cluster": "cluster"}
"""Filters on items, and where an item has what they ask for."""


def runs_with_verdicts(project: Project, *, phase: str) -> list[Run]:
    """Runs that said something of a phase, newest first."""
    verdicts = Verdict.objects.filter(run=OuterRef("pk"), item__phase=phase, sample=SAMPLE)
    return list(Run.objects.filter(Exists(verdicts), project=project).select_related("judge").order_by("-number"))


@dataclass(frozen=True, slots=True)
class VerdictRow:
    id: int
    item: int
    label: dict[str, Any] | None
    is_unreadable: bool


def verdict_rows(
    run: Run, *, phase: str, wanted: Mapping[str, str], among: tuple[int, int] | None = None
) -> list[VerdictRow]:
    """By item; `among` names the ends of a range of ids."""
    rows = Verdict.objects.filter(run=run, sample=SAMPLE, item__phase=phase, **of_items(wanted, "item__"))
    rows = rows.filter(pk__range=among) if among else rows
    found = rows.order_by("item").values_list("pk", "item", "label", "is_unreadable")
    return [VerdictRow(*row) for row in found.iterator(chunk_size=5000)]


def of_items(wanted: Mapping[str, str], before: str = "") -> dict[str, str]:
    """Filters as conditions on items."""
    return {before + PLACES[name]: value for name, value in wanted.items()}


def values_of(project: Project, name: str, *, phase: str) -> list[str]:
    """What items of a phase have where a filter looks."""
    items = Item.objects.filter(project=project, phase=phase)
    return [one for one in items.order_by(PLACES[name]).values_list(PLACES[name], flat=True).distinct() if one]


def n_problems(project: Project, *, phase: str, wanted: Mapping[str, str]) -> int:
    """Assignments of the wanted items that ended in a reported problem."""
    return Assignment.objects.filter(
        item__project=project, item__phase=phase, state=Assignment.State.PROBLEM, **of_items(wanted, "item__")
    ).count()


def sources_of(items: list[int]) -> dict[int, tuple[str, int | None]]:
    """Where items came from: the name of the trace in its source, and the message."""
    rows = Item.objects.filter(pk__in=items).values_list("pk", "trace__source_id", "anchor")
    return {pk: (source or "", anchor) for pk, source, anchor in rows}


# Whether anything has come since


TAIL = 1000
"""How many ids below the newest are counted again: a transaction that began earlier may commit a lower id later."""


def growing(project: Project) -> dict[str, QuerySet]:
    """The tables that figures rest on: nothing in them changes without a new row in one of them."""
    return {
        "annotations": Annotation.objects.filter(assignment__annotator__project=project),
        "posts": Post.objects.filter(author__project=project),
        "events": Event.objects.filter(project=project),
        "verdicts": Verdict.objects.filter(run__project=project),
    }


def marks(project: Project) -> dict[str, list[int]]:
    """By table the newest id there is, of any project, and how many of this project's rows are close below it: two
    statements for each table, whose cost does not grow with the project."""
    found = {}
    for name, rows in growing(project).items():
        newest = rows.model.objects.aggregate(newest=Max("pk"))["newest"] or 0
        found[name] = [newest, rows.filter(pk__gt=newest - TAIL, pk__lte=newest).count()]
    return found


def has_grown(project: Project, seen: Mapping[str, list[int]]) -> bool:
    """Whether the project has a row that these marks did not count."""
    return any(
        rows.filter(pk__gt=seen[name][0] - TAIL).count() != seen[name][1] for name, rows in growing(project).items()
    )


def stored_reports(project: Project, kind: str, settings_hash: str) -> QuerySet[Report]:
    """Newest first."""
    return Report.objects.filter(project=project, kind=kind, settings_hash=settings_hash).order_by("-pk")
