"""Named reads for publishing texts: what runs wrote, where, and what is there of it already. Each is one statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Max

from annotate.models import Item, Project, Trace
from annotate.rules.trace_names import FAMILIES, MODELS
from scoring.models import Run, Verdict


@dataclass(frozen=True, slots=True)
class WrittenText:
    """What a run wrote for a reply, "" where that was nothing or could not be read."""

    run: Run
    item: int
    sample: int
    text: str
    trace: int
    source_id: str
    anchor: int


def runs_called(project: Project, numbers: Iterable[int]) -> list[Run]:
    found = Run.objects.filter(project=project, number__in=list(numbers)).select_related("judge")
    return list(found.order_by("number"))


def written_texts(runs: Sequence[Run]) -> Iterator[WrittenText]:
    by_pk = {run.pk: run for run in runs}
    rows = Verdict.objects.filter(run__in=by_pk).order_by("run", "item__trace", "item__anchor", "item", "sample")
    columns = ("run", "item", "sample", "finding", "is_unreadable", "item__trace", "item__trace__source_id")
    for run, item, sample, finding, is_unreadable, trace, source_id, anchor in rows.values_list(
        *columns, "item__anchor"
    ).iterator(chunk_size=500):
        text = "" if is_unreadable else (finding.get("values") or {}).get("text")
        yield WrittenText(
            by_pk[run], item, sample, text if isinstance(text, str) else "", trace, source_id, anchor or 0
        )


@dataclass(frozen=True, slots=True)
class PublishedText:
    """A text that is there already, with the run that wrote it."""

    trace: int
    run: int | None


def published_texts(project: Project) -> dict[tuple[str, str], PublishedText]:
    """By point and arm."""
    rows = Item.objects.filter(project=project, point__isnull=False).values_list("point", "arm", "trace", "origin")
    return {(point, arm): PublishedText(trace, (origin or {}).get("run")) for point, arm, trace, origin in rows}


def ends_of_traces(project: Project, source_ids: Iterable[str], format: str) -> dict[str, int]:
    """The last message of each of these traces that is there already."""
    there = Trace.objects.filter(project=project, format=format, source_id__in=list(source_ids), is_staged=False)
    return dict(there.annotate(end=Max("messages__index")).values_list("source_id", "end"))


@dataclass(frozen=True, slots=True)
class SourceTrace:
    pk: int
    source_id: str
    language: str
    area: str
    cluster: str
    models: tuple[Any, ...]
    families: tuple[Any, ...]


def traces_called(pks: Iterable[int]) -> Iterator[SourceTrace]:
    rows = Trace.objects.filter(pk__in=list(pks)).order_by("pk")
    n = len(MODELS)
    for pk, source_id, language, area, cluster, *named in rows.values_list(
        "pk", "source_id", "language", "area", "cluster", *MODELS, *FAMILIES
    ):
        yield SourceTrace(pk, source_id, language, area, cluster, tuple(named[:n]), tuple(named[n:]))
