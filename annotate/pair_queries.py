"""Named reads of blind pairs: what can be drawn from, and who reads what. Each says how many statements it takes; tests
pin them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotate.models import Assignment, Item, Membership, PairsDraw, Phase, Project, Role, Round, Trace
from annotate.rules.pairs import DEFAULT, REWRITE, VERSIONS, Collaboration
from annotate.rules.trace_names import MODELS, name_among


@dataclass(frozen=True, slots=True)
class There:
    """Collaborations with points that have both versions, and the item of each version. `without_default` are points
    that have a rewrite alone."""

    collaborations: Sequence[Collaboration]
    items: Mapping[tuple[str, str], int]
    without_default: Sequence[str]


def there_to_draw(project: Project) -> There:
    """Two statements."""
    of_trace: dict[int, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    items: dict[tuple[str, str], int] = {}
    found = Item.objects.filter(
        project=project, phase=Phase.MAIN, point__isnull=False, arm__in=VERSIONS, trace__is_staged=False
    )
    rows = found.order_by("trace", "anchor", "pk").values_list("pk", "trace", "point", "arm")
    for item, trace, point, arm in rows.iterator(chunk_size=2000):
        of_trace[trace][point].add(arm)
        items[point, arm] = item
    traces = Trace.objects.filter(project=project, pk__in=of_trace).order_by("pk")
    told = {
        pk: (source, language, area, name_among(models))
        for pk, source, language, area, *models in traces.values_list(
            "pk", "source_id", "language", "area", *MODELS
        )
    }
    collaborations, without = [], []
    for trace, points in sorted(of_trace.items()):
        whole = tuple(point for point, arms in points.items() if arms == set(VERSIONS))
        without += [point for point, arms in points.items() if arms == {REWRITE}]
        source, language, area, model = told[trace]
        if whole:
            collaborations.append(Collaboration(trace, source, model, area, language, whole))
    return There(collaborations, items, without)


def annotators_of(project: Project) -> list[Membership]:
    """Those who have not left, by code: one statement."""
    members = Membership.objects.filter(project=project, role=Role.ANNOTATOR, left_at=None)
    return list(members.select_related("person").order_by("code"))


def draw_of(project: Project) -> PairsDraw | None:
    """One statement."""
    return PairsDraw.objects.filter(project=project).first()


def is_planned(project: Project) -> bool:
    """Whether anybody has anything of the project: one statement."""
    return Assignment.objects.filter(annotator__project=project).exists()


def readers_of(project: Project) -> list[str]:
    """Codes of those who have something to read, or have read it: one statement."""
    given = Assignment.objects.filter(annotator__project=project, point__isnull=False)
    return sorted(set(given.values_list("annotator__code", flat=True)))


def reader_called(project: Project, code: str) -> Membership | None:
    """One statement."""
    given = Assignment.objects.filter(annotator=OuterRef("pk"), point__isnull=False)
    members = Membership.objects.filter(Exists(given), project=project, code=code)
    return members.select_related("project").first()


def unfinished(member: Membership, round_: Round) -> QuerySet[Assignment]:
    """What this member has neither submitted nor reported of the pairs in a round, in the order of their plan."""
    over = (Assignment.State.SUBMITTED, Assignment.State.PROBLEM)
    mine = Assignment.objects.filter(annotator=member, round=round_, point__isnull=False)
    return mine.exclude(state__in=over).order_by("order")


@dataclass(frozen=True, slots=True)
class Planned:
    """One annotator is to read this version of a point."""

    code: str
    collaboration: str
    point: str
    arm: str


def planned_pairs(project: Project) -> list[Planned]:
    """In the order of codes and plans: one statement."""
    rows = Assignment.objects.filter(
        annotator__project=project, round__purpose=Round.Purpose.FIRST, point__isnull=False
    ).order_by("annotator__code", "round__number", "order")
    return [
        Planned(*row)
        for row in rows.values_list("annotator__code", "item__trace__source_id", "item__point", "item__arm")
    ]


def n_of_versions(project: Project) -> dict[str, int]:
    """How many are to be read of each version: one statement."""
    planned = Assignment.objects.filter(annotator__project=project, point__isnull=False)
    return planned.aggregate(
        **{arm: Count("pk", filter=Q(item__arm=arm)) for arm in (DEFAULT, REWRITE)}
    )
