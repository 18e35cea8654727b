"""Named reads for the report of the method of redundant steps. Each is one statement unless it says otherwise; none
brings a message out of the database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.db.models import BooleanField, Case, Count, Exists, OuterRef, Q, Sum, When

from annotate.lead_queries import RATING_ROUNDS
from annotate.models import Annotation, Assignment, Message, Project, Round, Settlement, Trace, Work
from annotate.rules.message_tokens import Spoken, counts_of, tokens_of_agent
from scoring.models import Call, Run, Verdict
from scoring.redundancy_records import Ended, ItemRow, LabelRow, RoundRow
from scoring.reply_queries import PART, items_of, trace_rows
from scoring.report_queries import SAMPLE

FEW = 20
"""Traces whose private data are held at once."""
WAITING = (Assignment.State.LOCKED, Assignment.State.OPEN)


def item_rows(project: Project, phase: str) -> list[ItemRow]:
    """Those of a phase with their traces: four statements, five where files count tokens by message."""
    traces = {one.id: one for one in trace_rows(project, phase)}
    tokens = tokens_by_trace(project, phase)
    items = items_of(project, phase)
    lengths = dict(items.order_by().values("trace").annotate(n=Count("trace__messages")).values_list("trace", "n"))
    waiting = Assignment.objects.filter(item=OuterRef("pk"), state__in=WAITING, round__purpose__in=RATING_ROUNDS)
    rows = items.order_by("pk").annotate(is_waiting=Exists(waiting))
    columns = ("pk", "trace_id", "cluster", "suggestions", "suggestions_shown", "is_waiting")
    return [
        ItemRow(
            item=pk,
            cluster=cluster,
            domain=traces[trace].area,
            model=traces[trace].model,
            n_messages=lengths[trace],
            suggestions=suggestions,
            is_shown=is_shown,
            is_waiting=is_waiting,
            tokens=tokens.get(trace),
        )
        for pk, trace, cluster, suggestions, is_shown, is_waiting in rows.values_list(*columns).iterator(
            chunk_size=PART
        )
        if trace in traces
    ]


def tokens_by_trace(project: Project, phase: str) -> dict[int, dict[int, float]]:
    """The tokens of every message of the agent, of traces whose file has them all: one statement, two where a file has
    any."""
    of_phase = items_of(project, phase).order_by().values("trace")
    kept = Trace.objects.filter(pk__in=of_phase, metadata__has_key="messages").order_by()
    rows = kept.values_list("pk", "metadata__messages").iterator(chunk_size=FEW)
    counts = {trace: found for trace, beside in rows if (found := counts_of(beside))}
    if not counts:
        return {}
    said = Message.objects.filter(trace__in=of_phase, role__in=["user", "assistant"]).order_by()
    calls = Case(When(calls=[], then=False), default=True, output_field=BooleanField())
    messages: dict[int, list[Spoken]] = defaultdict(list)
    found_rows = said.annotate(calls_tools=calls).values_list("trace", "index", "role", "calls_tools")
    for trace, index, role, calls_tools in found_rows.iterator(chunk_size=PART):
        if trace in counts:
            messages[trace].append(Spoken(index, role == "assistant", calls_tools))
    tokens = {trace: tokens_of_agent(messages[trace], found) for trace, found in counts.items()}
    return {trace: found for trace, found in tokens.items() if found is not None}


def round_rows(project: Project) -> list[RoundRow]:
    rows = Round.objects.filter(project=project).order_by("number").values_list("number", "purpose", "informed")
    return [RoundRow(number, purpose == Round.Purpose.FIRST, informed) for number, purpose, informed in rows]


def label_rows(project: Project, phase: str) -> list[LabelRow]:
    """The current labels of every round, informed ones among them."""
    rows = Annotation.objects.filter(
        assignment__annotator__project=project,
        assignment__state=Assignment.State.SUBMITTED,
        assignment__item__phase=phase,
        is_current=True,
    ).order_by()
    columns = (
        *("pk", "assignment__item_id", "assignment__annotator__code", "assignment__round__number"),
        *("informed", "protocol__number", "label"),
    )
    return list(map(LabelRow._make, rows.values_list(*columns).iterator(chunk_size=PART)))


# What judges said


class SaidRow(NamedTuple):
    """What a run found of an item; `values` are None where nobody could read it."""

    run: int
    item: int
    values: Mapping[str, Any] | None


def runs_numbered(project: Project, numbers: Iterable[int]) -> list[Run]:
    """In the order of their numbers."""
    rows = Run.objects.filter(project=project, number__in=list(numbers)).select_related("judge")
    return list(rows.order_by("number"))


def said_rows(runs: Iterable[int], phase: str) -> list[SaidRow]:
    rows = Verdict.objects.filter(run__in=list(runs), item__phase=phase, sample=SAMPLE).order_by()
    found = rows.values_list("run", "item", "finding", "is_unreadable").iterator(chunk_size=PART)
    return [SaidRow(run, item, None if unreadable else finding["values"]) for run, item, finding, unreadable in found]


def costs_of(runs: Iterable[int]) -> dict[tuple[int, int], float]:
    """By run and item, what its calls cost; only where prices were known."""
    rows = Call.objects.filter(run__in=list(runs), sample=SAMPLE, cost__isnull=False).order_by()
    found = rows.values_list("run", "item").annotate(total=Sum("cost"))
    return {(run, item): float(total) for run, item, total in found}


def given_up(runs: Iterable[int]) -> list[tuple[int, int]]:
    """Run and item of jobs that ended without a verdict."""
    rows = Work.objects.filter(group__run__in=list(runs), state=Work.State.DEAD).order_by()
    return [(run, payload["item"]) for run, payload in rows.values_list("group__run", "payload")]


def settled_rows(project: Project, phase: str, protocol: int | None) -> dict[int, Ended]:
    """What people settled, under one protocol if it is named; known answers are no settling, and one that names no
    protocol holds under any."""
    rows = Settlement.objects.filter(item__project=project, item__phase=phase, is_current=True)
    if protocol is not None:
        rows = rows.filter(Q(protocol=None) | Q(protocol__number=protocol))
    found = rows.exclude(how=Settlement.How.KNOWN).order_by("item").values_list("item", "label")
    return {item: Ended(None if label is None else label.get("steps", [])) for item, label in found}
