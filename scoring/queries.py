"""Named reads of what judges are shown and what they said. Annotators' code cannot reach any of it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, QuerySet

from annotate import queries
from annotate.models import File, Item, Message, Project, Work, WorkGroup
from annotate.prepared import PreparedRead, place
from annotate.subset_queries import SUCCESS, first_said
from annotate.traces import base
from scoring.models import Run, Verdict

UNFINISHED = [Work.State.WAITING, Work.State.RUNNING]


# What a judge is shown


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """An item as a judge's view is cut from it; `text` only where it has one of its own."""

    id: int
    trace: int
    anchor: int
    text: str | None


JUDGED_ITEM = PreparedRead(
    lambda: Item.objects.filter(pk=place("item")).values_list("pk", "trace_id", "anchor", "text")
)


def judged_item(item_id: int) -> JudgedItem | None:
    row = JUDGED_ITEM.row(item=item_id)
    return None if row is None else JudgedItem(*row)


WHOLE_MESSAGES = PreparedRead(
    lambda: (
        Message.objects.filter(trace=place("trace"))
        .order_by("index")
        .values_list(
            *("index", "role", "text", "session", "side", "calls"),
            *("answers_index", "answers_call", "answers_id", "name"),
        )
    )
)
WHOLE_FILES = PreparedRead(
    lambda: (
        File.objects.filter(trace=place("trace")).order_by("position").values_list("name", "text", "available_from")
    )
)
LANGUAGE = PreparedRead(
    lambda: Item.objects.filter(trace=place("trace")).order_by("pk").values_list("trace__language")[:1]
)


def whole_trace(trace_id: int) -> base.Trace:
    """A trace as its reader gave it, private messages and all, without its metadata: no judge may know the model."""
    return base.Trace(
        source_id="",
        format="",
        messages=tuple(message_value(row) for row in WHOLE_MESSAGES.rows(trace=trace_id)),
        files=tuple(base.File(*row) for row in WHOLE_FILES.rows(trace=trace_id)),
        language=(LANGUAGE.row(trace=trace_id) or ("",))[0],
    )


def message_value(row: tuple[Any, ...]) -> base.Message:
    index, role, text, session, side, calls, answers_index, answers_call, answers_id, name = row
    return base.Message(
        index=index,
        role=role,
        text=text,
        session=session,
        side=side,
        calls=tuple(base.Call(call["id"], call["name"], call["arguments"]) for call in calls),
        answers=None if answers_index is None else base.Answered(answers_index, answers_call),
        answers_id=answers_id,
        name=name,
    )


def items_to_judge(project: Project, phases: Iterable[str]) -> list[int]:
    """In the order in which one trace has to be read once only."""
    items = Item.objects.filter(project=project, phase__in=list(phases), trace__is_staged=False)
    return list(items.order_by("trace", "anchor", "pk").values_list("pk", flat=True))


def items_of_failed_runs(project: Project) -> set[int]:
    """Those of traces whose file says that the run did not succeed: one statement."""
    columns = ("pk", *(f"trace__{one}" for one in SUCCESS))
    rows = Item.objects.filter(project=project).order_by().values_list(*columns)
    return {pk for pk, *said in rows.iterator(chunk_size=2000) if first_said(said) is False}


def newest_schema(project_id: int) -> dict[str, Any]:
    """The label schema of the newest protocol; empty where there is none, or it says nothing."""
    protocols = queries.protocols_of(project_id)
    return protocols[0].label_schema if protocols else {}


# Runs


def runs_of(project: Project) -> QuerySet[Run]:
    """Newest first."""
    rows = Run.objects.filter(project=project).select_related("judge", "group", "person", "endpoint", "points")
    return rows.order_by("-number")


def run_numbered(project: Project, number: int | None) -> Run | None:
    return Run.objects.select_related("judge", "group").filter(project=project, number=number).first()


def found_by(project_id: int, number: int, item_id: int) -> dict[str, Any] | None:
    """The values of what a run found of an item, sample 0; None where there is nothing that can be read."""
    those = Verdict.objects.filter(
        run__project=project_id, run__number=number, item=item_id, sample=0, is_unreadable=False
    )
    finding = those.values_list("finding", flat=True).first()
    return None if finding is None else finding["values"]


def found_by_each(project_id: int, numbers: Iterable[int], item_id: int) -> dict[int, dict[str, Any]]:
    """The same of several runs, by the number of the run; one statement."""
    those = Verdict.objects.filter(
        run__project=project_id, run__number__in=list(numbers), item=item_id, sample=0, is_unreadable=False
    )
    return {number: finding["values"] for number, finding in those.values_list("run__number", "finding")}


def items_of_runs(project: Project, numbers: Iterable[int]) -> set[int]:
    """The items that one of these runs was to judge, whatever came of it."""
    groups = Run.objects.filter(project=project, number__in=list(numbers)).values_list("group", flat=True)
    payloads = Work.objects.filter(group__in=list(groups)).order_by().values_list("payload", flat=True)
    return {payload["item"] for payload in payloads.iterator(chunk_size=2000) if "item" in payload}


def jobs_by_state(groups: Iterable[int]) -> dict[int, Counter[str]]:
    """How many jobs of each group are in each state: one statement."""
    counts: dict[int, Counter[str]] = {group: Counter() for group in groups}
    rows = Work.objects.filter(group__in=list(counts)).values_list("group", "state").annotate(n=Count("pk"))
    for group, state, n in rows.order_by():
        counts[group][state] = n
    return counts


GROUP_STATE = PreparedRead(lambda: WorkGroup.objects.filter(pk=place("group")).values_list("state"))


def group_state(group_id: int) -> str:
    return GROUP_STATE.rows(group=group_id)[0][0]


def unreadable_of(runs: Iterable[int]) -> Counter[int]:
    rows = Verdict.objects.filter(run__in=list(runs), is_unreadable=True).values_list("run").annotate(n=Count("pk"))
    return Counter(dict(rows.order_by()))


LEFT = PreparedRead(lambda: Work.objects.filter(group=place("group"), state__in=UNFINISHED).values_list("pk")[:1])


def is_through(group_id: int) -> bool:
    return LEFT.row(group=group_id) is None


SAME_VERDICT = PreparedRead(
    lambda: Verdict.objects.filter(run=place("run"), item=place("item"), sample=place("sample")).values_list("pk")
)


def has_verdict(verdict: Verdict) -> bool:
    """Whether the run has said something of this item and sample already."""
    return SAME_VERDICT.row(run=verdict.run_id, item=verdict.item_id, sample=verdict.sample) is not None


def runs_to_end() -> list[Run]:
    """Runs that nobody has noted the end of, though no job of theirs is left."""
    return [run for run in Run.objects.filter(ended_at=None).select_related("group") if is_through(run.group_id)]


@dataclass(frozen=True, slots=True)
class DeadJob:
    """A job of a run that was given up: its item and why, as a message id."""

    work: int
    item: int
    sentence: str
    attempts: int
    ended_at: datetime | None


def dead_jobs(run: Run, *, limit: int) -> list[DeadJob]:
    rows = Work.objects.filter(group=run.group_id, state=Work.State.DEAD).order_by("pk")
    return [
        DeadJob(row.pk, row.payload["item"], row.error, row.attempts, row.ended_at) for row in rows[:limit]
    ]
