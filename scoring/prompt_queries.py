"""Named reads of the prompt lab: versions of prompts, what their trials can be held against, and what they said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce

from annotate.models import Item, Project, Release, ReleaseItem
from annotate.release_queries import recorded_text
from scoring.models import Prompt, Run, Trial, Verdict

SAMPLE = 0


def versions_of(project: Project) -> list[Prompt]:
    """Newest first, without their texts: one statement."""
    prompts = Prompt.objects.filter(project=project).select_related("person").defer("text")
    return list(prompts.order_by("key", "language", "-number"))


def version(project: Project, key: str, language: str, number: int) -> Prompt | None:
    prompts = Prompt.objects.filter(project=project, key=key, language=language, number=number)
    return prompts.select_related("person").first()


def newest(project: Project, key: str, language: str) -> Prompt | None:
    return Prompt.objects.filter(project=project, key=key, language=language).order_by("-number").first()


def items_there(project: Project, numbers: Iterable[int]) -> set[int]:
    return set(Item.objects.filter(project=project, pk__in=list(numbers)).values_list("pk", flat=True))


def trials_of(project: Project) -> QuerySet[Trial]:
    """Newest first."""
    rows = Trial.objects.filter(project=project).order_by("-number")
    rows = rows.select_related("release__protocol", "prompt_old", "prompt_new", "run_old__judge", "run_new", "person")
    return rows.defer("prompt_old__text", "prompt_new__text", "release__manifest")


def sealed_items(release: Release, language: str) -> list[int]:
    """Items with a sealed label whose traces are in a language, or in none that anybody said."""
    rows = ReleaseItem.objects.filter(release=release, label__isnull=False, item__trace__is_staged=False)
    rows = rows.filter(Q(item__trace__language=language) | Q(item__trace__language=""))
    return list(rows.order_by("item_id").values_list("item_id", flat=True))


def texts_of(items: Sequence[int]) -> dict[int, str]:
    rows = Item.objects.filter(pk__in=list(items)).annotate(judged=Coalesce("text", recorded_text()))
    return dict(rows.values_list("pk", "judged"))


def phases_of(items: Sequence[int]) -> set[str]:
    return set(Item.objects.filter(pk__in=list(items)).values_list("phase", flat=True))


class SealedLabel(NamedTuple):
    item: int
    label: dict[str, Any]
    cluster: str


def sealed_labels(release: Release, items: Sequence[int]) -> list[SealedLabel]:
    rows = ReleaseItem.objects.filter(release=release, item__in=list(items), label__isnull=False).order_by("item_id")
    return [SealedLabel(*row) for row in rows.values_list("item_id", "label", "item__cluster")]


class Said(NamedTuple):
    label: dict[str, Any] | None
    is_unreadable: bool


def said_by(run: Run) -> dict[int, Said]:
    """What a run said, by item: one statement."""
    rows = Verdict.objects.filter(run=run, sample=SAMPLE).values_list("item_id", "label", "is_unreadable")
    return {item: Said(label, is_unreadable) for item, label, is_unreadable in rows}
