"""Named reads of what judges are given beside a trace. Each is one statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from annotate.models import Item, Project, Protocol, Release, ReleaseItem
from annotate.rules.release_shape import JURY


class Sealed(NamedTuple):
    """An item with a sealed label."""

    area: str
    item: int
    has_steps: bool


class ExampleRow(NamedTuple):
    item: int
    trace: int
    area: str
    label: Mapping[str, Any]


def protocol_numbers(project: Project) -> list[int]:
    return list(Protocol.objects.filter(project=project).order_by("number").values_list("number", flat=True))


def guideline(project_id: int, number: int) -> dict[str, str]:
    """By language."""
    row = Protocol.objects.filter(project=project_id, number=number).values_list("guideline_en", "guideline_zh").get()
    return dict(zip(("en", "zh"), row, strict=True))


def sealed(project: Project, release: int) -> list[Sealed]:
    rows = ReleaseItem.objects.filter(release__project=project, release__number=release, label__isnull=False)
    columns = rows.order_by().values_list("item__trace__area", "item", "label")
    return [Sealed(area, item, bool(label.get("steps"))) for area, item, label in columns]


def is_of_a_jury(project: Project, release: int) -> bool:
    return Release.objects.filter(project=project, number=release, rule=JURY).exists()


def labels(project: Project, release: int) -> dict[int, dict[str, Any]]:
    rows = ReleaseItem.objects.filter(release__project=project, release__number=release, label__isnull=False)
    return dict(rows.order_by().values_list("item", "label"))


def label_of(project_id: int, release: int | None, item: int) -> dict[str, Any] | None:
    rows = ReleaseItem.objects.filter(
        release__project=project_id, release__number=release, item=item, label__isnull=False
    )
    return rows.values_list("label", flat=True).first()


def example_rows(project_id: int, release: int, items: Iterable[int]) -> list[ExampleRow]:
    """In the order of their ids."""
    rows = ReleaseItem.objects.filter(release__project=project_id, release__number=release, item__in=list(items))
    columns = rows.order_by("item").values_list("item", "item__trace", "item__trace__area", "label")
    return [ExampleRow(*row) for row in columns]


def told_of(item: int, *, with_metadata: bool = False) -> tuple[str, dict[str, Any]]:
    """The area of an item's trace, and what else its file said where that is asked for."""
    columns = ("trace__area", "trace__metadata") if with_metadata else ("trace__area",)
    area, *rest = Item.objects.filter(pk=item).values_list(*columns).get()
    return area, rest[0] if rest else {}
