"""Named reads of what was said of one item, by people and by judges; for leads only. Each says how many statements it
takes; tests pin them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotate.lead_queries import RATING_ROUNDS
from annotate.models import Annotation, Assignment, Item, Post, Project
from scoring.models import Flag, Verdict

N_VERDICTS = 50


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """Where an item came from, and the items before and after it in its phase."""

    id: int
    phase: str
    source: str
    anchor: int | None
    language: str
    area: str
    cluster: str
    before: int | None
    after: int | None


def item_facts(project: Project, item_id: int) -> ItemFacts | None:
    """A visible item of the project: three statements at most, none for one that is not there but the first."""
    visible = Item.objects.filter(project=project).exclude(trace__is_staged=True)
    row = visible.filter(pk=item_id).select_related("trace").first()
    if row is None:
        return None
    ids = visible.filter(phase=row.phase).values_list("pk", flat=True)
    return ItemFacts(
        id=row.pk,
        phase=row.phase,
        source=row.trace.source_id if row.trace else "",
        anchor=row.anchor,
        language=row.trace.language if row.trace else "",
        area=row.trace.area if row.trace else "",
        cluster=row.cluster,
        before=ids.filter(pk__lt=item_id).order_by("-pk").first(),
        after=ids.filter(pk__gt=item_id).order_by("pk").first(),
    )


@dataclass(frozen=True, slots=True)
class GivenLabel:
    """A current label of an annotator; `number` counts their corrections, times are in milliseconds."""

    code: str
    round: int
    purpose: str
    is_informed: bool
    protocol: int
    number: int
    label: dict[str, Any]
    reason: str
    at: datetime
    active_ms: int | None
    hidden_ms: int | None
    raw_ms: int | None


def labels_of_item(item_id: int) -> list[GivenLabel]:
    """By round and code: one statement."""
    rows = Annotation.objects.filter(
        assignment__item=item_id, assignment__state=Assignment.State.SUBMITTED, is_current=True
    ).order_by("assignment__round__number", "assignment__annotator__code")
    return [
        GivenLabel(*row)
        for row in rows.values_list(
            *("assignment__annotator__code", "assignment__round__number", "assignment__round__purpose", "informed"),
            *("protocol__number", "number", "label", "reason", "submitted_at", "active_ms", "hidden_ms", "raw_ms"),
        )
    ]


def problems_of_item(item_id: int) -> list[tuple[str, str]]:
    """Who reported a problem in place of a label, and their words; the newest of each: one statement."""
    rows = Post.objects.filter(
        item=item_id,
        purpose=Post.Purpose.PROBLEM,
        author__assignments__item=item_id,
        author__assignments__state=Assignment.State.PROBLEM,
    ).order_by("pk")
    return list(dict(rows.values_list("author__code", "text")).items())


@dataclass(frozen=True, slots=True)
class SaidOfItem:
    """A verdict with the run that gave it. `label` is None where it is none: then `answer` is what nobody could read,
    if anything came at all."""

    run: int
    judge: str
    version: str
    sample: int
    label: dict[str, Any] | None
    values: dict[str, Any]
    spans: tuple[dict[str, Any], ...]
    answer: str
    is_proof: bool
    at: datetime


def verdicts_of_item(item_id: int) -> list[SaidOfItem]:
    """Of the newest run first, at most N_VERDICTS: one statement."""
    rows = (
        Verdict.objects.filter(item=item_id)
        .order_by("-run__number", "sample")
        .values_list(
            *("run__number", "run__judge__name", "run__version", "sample", "label", "finding"),
            *("run__is_proof", "created_at"),
        )[:N_VERDICTS]
    )
    return [
        SaidOfItem(
            *(run, judge, version, sample, label, finding.get("values") or {}),
            spans=tuple((label or finding).get("spans") or ()),
            answer=finding.get("unreadable") or "",
            is_proof=is_proof,
            at=at,
        )
        for run, judge, version, sample, label, finding, is_proof, at in rows
    ]


def compared_labels(items: list[int], *, round: int | None = None) -> list[tuple[int, int, str, dict[str, Any]]]:
    """Item, protocol, code and label of what enters human agreement on these items, of a rater the later round last, or
    of what was said of them in one round: one statement."""
    blind = {"assignment__round__purpose__in": RATING_ROUNDS, "informed": False}
    rows = Annotation.objects.filter(
        assignment__item__in=items,
        assignment__state=Assignment.State.SUBMITTED,
        is_current=True,
        **(blind if round is None else {"assignment__round__number": round}),
    ).order_by("assignment__item", "assignment__annotator__code", "assignment__round__number")
    return list(rows.values_list("assignment__item", "protocol__number", "assignment__annotator__code", "label"))


READER = "reader"


def reading_verdict(project: Project, item_id: int, *, run: int | None, sample: int = 0) -> Verdict | None:
    """What the reader said of an item in this run, or in the newest that has said something: one statement."""
    found = Verdict.objects.filter(
        item=item_id, item__project=project, run__project=project, run__judge__name=READER, sample=sample
    )
    found = found if run is None else found.filter(run__number=run)
    return found.select_related("run__judge").order_by("-run__number").first()


def readings_of(project: Project, item_id: int) -> list[tuple[int, int]]:
    """Run and sample of every verdict of the reader on an item, the newest first; at most N_VERDICTS: one statement."""
    found = Verdict.objects.filter(item=item_id, item__project=project, run__judge__name=READER)
    return list(found.order_by("-run__number", "sample").values_list("run__number", "sample")[:N_VERDICTS])


@dataclass(frozen=True, slots=True)
class GivenFlag:
    """A lead's word on a question, from 0, or on its quote."""

    place: int
    what: str
    note: str
    who: str
    at: datetime


def flags_of(verdict_id: int) -> list[GivenFlag]:
    """One statement."""
    rows = Flag.objects.filter(verdict=verdict_id).order_by("place", "what")
    return [GivenFlag(*row) for row in rows.values_list("place", "what", "note", "person__username", "created_at")]
