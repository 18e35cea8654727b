"""Named reads of reply points."""

from django.db.models import QuerySet

from annotate.models import Item, Project
from scoring.models import Points


def points_of(project: Project) -> QuerySet[Points]:
    """Newest first."""
    return Points.objects.filter(project=project).select_related("person").order_by("-number")


def points_numbered(project: Project, number: int) -> Points | None:
    return Points.objects.filter(project=project, number=number).first() if 0 < number < 2**31 else None


def items_of_points(points: Points) -> list[tuple[int, str]]:
    """Items and their phases, in the order in which one trace has to be read once only."""
    items = Item.objects.filter(project=points.project_id, pk__in=[one["item"] for one in points.items])
    rows = items.filter(trace__is_staged=False).order_by("trace", "anchor", "pk")
    return list(rows.values_list("pk", "phase"))
