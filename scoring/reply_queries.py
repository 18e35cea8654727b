"""Named reads for the report of the method of replies: texts, the work before them, labels with their times, what the
reader and the checker said. Each is one statement unless it says otherwise; none brings a text out of the database."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.db.models import Case, CharField, F, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce, Length, Replace

from annotate.models import Annotation, Assignment, Item, Message, Project, Trace, Work
from annotate.rules.trace_names import FAMILIES, MODELS, name_among
from scoring.label_queries import Labels
from scoring.models import Run, Verdict
from scoring.reply_records import LabelRow, SaidRow, StepRow, TextRow, TraceRow

PART = 5000


def items_of(project: Project, phase: str) -> QuerySet[Item]:
    return Item.objects.filter(project=project, phase=phase, trace__isnull=False).exclude(trace__is_staged=True)


def trace_rows(project: Project, phase: str) -> list[TraceRow]:
    """Those that have an item of the phase."""
    traces = Trace.objects.filter(pk__in=items_of(project, phase).values("trace")).order_by("pk")
    rows = traces.values_list("pk", "source_id", "language", "area", *MODELS, *FAMILIES)
    n = len(MODELS)
    return [
        TraceRow(pk, source, language, area, name_among(found[:n]), name_among(found[n:]))
        for pk, source, language, area, *found in rows
    ]


def judged_text(item: str = "") -> Coalesce:
    """The text of an item: its own, else the recorded one."""
    recorded = Message.objects.filter(trace=OuterRef(f"{item}trace"), index=OuterRef(f"{item}anchor")).values("text")
    return Coalesce(F(f"{item}text"), Subquery(recorded[:1]))


def text_rows(project: Project, phase: str) -> list[TextRow]:
    text = judged_text()
    length = Length(Replace(text, Value("\r\n"), Value("\n")))
    rows = items_of(project, phase).order_by("pk").annotate(n_chars=length)
    found = rows.values_list("pk", "trace_id", "cluster", "anchor", "n_chars", "point", "arm")
    return [
        TextRow(item, trace, cluster, anchor or 0, n_chars, point or "", arm)
        for item, trace, cluster, anchor, n_chars, point, arm in found.iterator(chunk_size=PART)
    ]


def step_rows(project: Project, phase: str) -> list[StepRow]:
    """The messages that the work before a reply is counted by: requests, calls, summaries, and the replies."""
    said = Case(When(text__regex=r"\S", then=Value("said")), default=Value(""), output_field=CharField())
    kind = Case(
        When(role="summary", then=Value("summary")),
        When(role="user", then=said),
        When(Q(role="assistant") & ~Q(calls=[]), then=Value("call")),
        default=Value("other"),
        output_field=CharField(),
    )
    messages = Message.objects.filter(
        trace__in=items_of(project, phase).values("trace"), role__in=("user", "assistant", "summary")
    )
    rows = messages.order_by("trace", "index").annotate(kind=kind).values_list("trace_id", "index", "session", "kind")
    return [
        StepRow(trace, index, session, kind == "said", kind == "call", kind == "summary")
        for trace, index, session, kind in rows.iterator(chunk_size=PART)
    ]


def label_rows(project: Project, labels: Labels) -> list[LabelRow]:
    """These labels with the times of the first answer of each."""
    times = times_of(project)
    said = [json.loads(text) for text in labels.texts]
    columns = (labels.item.tolist(), labels.rater.tolist(), labels.label.tolist(), labels.annotation.tolist())
    return [
        LabelRow(item, labels.raters[rater], said[label], *times.get(annotation, ()))
        for item, rater, label, annotation in zip(*columns, strict=True)
    ]


def times_of(project: Project) -> dict[int, tuple[Any, ...]]:
    """By annotation: time in use, time in all, when the item was first shown, when first answered."""
    rows = Annotation.objects.filter(
        assignment__annotator__project=project, assignment__state=Assignment.State.SUBMITTED
    ).order_by("assignment", "number")
    columns = ("pk", "assignment_id", "active_ms", "raw_ms", "assignment__first_shown_at", "submitted_at")
    first: dict[int, tuple[Any, ...]] = {}
    return {
        pk: first.setdefault(assignment, times)
        for pk, assignment, *times in rows.values_list(*columns).iterator(chunk_size=PART)
    }


def said_rows(run: Run, phase: str) -> list[SaidRow]:
    """What the run said of items of a phase, and those whose job was given up: two statements."""
    verdicts = Verdict.objects.filter(run=run, item__phase=phase).order_by("item", "sample")
    rows = verdicts.values_list("pk", "item", "sample", "finding", "is_unreadable").iterator(chunk_size=PART)
    found = {
        (item, sample): SaidRow(item, sample, None if is_unreadable else finding.get("values") or {}, pk)
        for pk, item, sample, finding, is_unreadable in rows
    }
    return [*found.values(), *(one for one in given_up(run) if (one.item, one.sample) not in found)]


def given_up(run: Run) -> Iterator[SaidRow]:
    dead = Work.objects.filter(group=run.group_id, state=Work.State.DEAD).values_list("payload", flat=True)
    return (SaidRow(payload["item"], payload.get("sample", 0), None) for payload in dead)
