"""Named reads of settling: the queue of disagreements, and one item with what was said of it, as reviewers may see it:
without names, times, models and judges. Each says how many statements it takes; tests pin them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery

from annotate.lead_queries import RATING_ROUNDS
from annotate.models import (
    Annotation,
    Assignment,
    Disagreement,
    Membership,
    Phase,
    Project,
    Role,
    Round,
    Settlement,
)

PHASES = (Phase.MAIN, Phase.PILOT)
"""What is settled; practice items have known answers."""
STATES = ("open", "waiting", "settled", "unresolved", "all")
"""Not settled yet; sent back and not all through; with a label; marked as unresolved."""
CHUNK = 2000


def part_in(person, slug) -> Membership | None:
    """One's part in a project as a reviewer or a lead, with the project: one statement."""
    parts = Membership.objects.filter(
        person=person, project__slug=slug, role__in=[Role.REVIEWER, Role.LEAD], left_at=None
    )
    return parts.select_related("project", "person").first()


# How far apart labels are


def blind_labels(project: Project) -> QuerySet[Annotation]:
    """The current labels that human agreement may rest on, of the phases that are settled."""
    return Annotation.objects.filter(
        assignment__item__project=project,
        assignment__item__phase__in=PHASES,
        assignment__state=Assignment.State.SUBMITTED,
        assignment__round__purpose__in=RATING_ROUNDS,
        informed=False,
        is_current=True,
    )


@dataclass(frozen=True, slots=True)
class Changed:
    """An item whose labels are others than those its disagreement was worked out of."""

    item: int
    n_labels: int
    last_annotation: int


def changed_items(project: Project) -> list[Changed]:
    """One statement, which reads keys alone. A label that is added or corrected is a row of its own, so that number and
    last key tell; no label ever goes."""
    known = "assignment__item__disagreement__"
    rows = (
        blind_labels(project)
        .order_by()
        .values("assignment__item", f"{known}n_labels", f"{known}last_annotation")
        .annotate(n=Count("pk"), last=Max("pk"))
    )
    same = Q(**{f"{known}n_labels": F("n"), f"{known}last_annotation": F("last")})
    new = Q(**{f"{known}n_labels": None})
    return [Changed(*row) for row in rows.filter(new | ~same).values_list("assignment__item", "n", "last")]


@dataclass(frozen=True, slots=True)
class BlindLabel:
    """A label as it enters a disagreement."""

    item: int
    rater: str
    round_purpose: str
    protocol: int
    label: dict[str, Any]


def labels_to_compare(project: Project, items: Sequence[int] | None) -> Iterator[BlindLabel]:
    """By item, annotator and round, of these items or of all: one statement."""
    rows = blind_labels(project)
    if items is not None:
        rows = rows.filter(assignment__item__in=items)
    rows = rows.order_by("assignment__item", "assignment__annotator", "assignment__round__number").values_list(
        *("assignment__item_id", "assignment__annotator__code", "assignment__round__purpose"),
        *("protocol__number", "label"),
    )
    return (BlindLabel(*row) for row in rows.iterator(chunk_size=CHUNK))


# The queue


@dataclass(frozen=True, slots=True)
class QueueRow:
    """An item in the queue. `differing` names measures, `state` is one of STATES."""

    public_id: str
    phase: str
    language: str
    weight: float
    differing: tuple[str, ...]
    n_labels: int
    state: str


def disagreements(project: Project) -> QuerySet[Disagreement]:
    """With what has become of each: `settled` is how, or None, and `is_waiting` that it was sent back."""
    settled = Settlement.objects.filter(item=OuterRef("item"), is_current=True).exclude(how=Settlement.How.KNOWN)
    waiting = Assignment.objects.filter(
        item=OuterRef("item"),
        round__purpose=Round.Purpose.SENT_BACK,
        round__closed_at=None,
        state__in=[Assignment.State.LOCKED, Assignment.State.OPEN],
    )
    rows = Disagreement.objects.filter(project=project)
    return rows.annotate(settled=Subquery(settled.values("how")[:1]), is_waiting=Exists(waiting))


IN_STATE = {
    "open": Q(settled=None, is_waiting=False),
    "waiting": Q(settled=None, is_waiting=True),
    "settled": Q(settled__isnull=False) & ~Q(settled="unresolved"),
    "unresolved": Q(settled="unresolved"),
    "all": Q(),
}


def in_queue(project: Project, *, state: str, phase: str, measure: str) -> QuerySet[Disagreement]:
    """What matters most first. Items that nobody disagrees on are not in it, unless they were settled or sent back."""
    rows = disagreements(project).filter(IN_STATE[state])
    if state in ("open", "all"):
        rows = rows.filter(Q(weight__gt=0) | Q(settled__isnull=False) | Q(is_waiting=True))
    if phase:
        rows = rows.filter(item__phase=phase)
    if measure:
        rows = rows.filter(by_measure__has_key=measure)
    return rows.order_by("-weight", "item")


def queue_rows(
    project: Project, *, state: str, phase: str = "", measure: str = "", first: int = 0, limit: int
) -> list[QueueRow]:
    """A page of the queue: one statement."""
    rows = in_queue(project, state=state, phase=phase, measure=measure).values_list(
        *("public_id", "item__phase", "item__trace__language", "weight", "by_measure", "n_labels"),
        *("settled", "is_waiting"),
    )
    return [
        QueueRow(id_, of, language or "", weight, tuple(by_measure), n, state_of(settled, is_waiting=waiting))
        for id_, of, language, weight, by_measure, n, settled, waiting in rows[first : first + limit]
    ]


def state_of(settled: str | None, *, is_waiting: bool) -> str:
    if settled is None:
        return "waiting" if is_waiting else "open"
    return "unresolved" if settled == Settlement.How.UNRESOLVED else "settled"


def queue_counts(project: Project) -> dict[str, int]:
    """How many items are in each state: one statement."""
    rows = disagreements(project).filter(Q(weight__gt=0) | Q(settled__isnull=False) | Q(is_waiting=True))
    counts = {f"n_{state}": Count("pk", filter=asked) for state, asked in IN_STATE.items() if state != "all"}
    return {name.removeprefix("n_"): n for name, n in rows.aggregate(**counts).items()}


def next_open(project: Project, *, phase: str, measure: str, but: str) -> str | None:
    """The first item of the queue that is not settled and not this one: one statement."""
    rows = in_queue(project, state="open", phase=phase, measure=measure).exclude(public_id=but)
    return rows.values_list("public_id", flat=True).first()


# One item


@dataclass(frozen=True, slots=True)
class Disputed:
    """An item by its public id, with what its labels were compared on."""

    item: int
    public_id: str
    phase: str
    weight: float
    differing: tuple[str, ...]


def disputed_item(project: Project, public_id: str) -> Disputed | None:
    """One statement."""
    rows = Disagreement.objects.filter(project=project, public_id=public_id)
    row = rows.values_list("item_id", "public_id", "item__phase", "weight", "by_measure").first()
    return None if row is None else Disputed(*row[:4], differing=tuple(row[4]))


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """A current label of the item. `member` is for the service alone, which makes an alias of it."""

    id: int
    member: int
    is_blind: bool
    purpose: str
    round: int
    protocol: int
    schema: dict[str, Any]
    label: dict[str, Any]


def answers_of(item_id: int) -> list[GivenAnswer]:
    """All current labels of an item, blind ones and those of later rounds, by annotator and round: one statement."""
    rows = Annotation.objects.filter(
        assignment__item=item_id, assignment__state=Assignment.State.SUBMITTED, is_current=True
    ).order_by("assignment__annotator", "assignment__round__number")
    return [
        GivenAnswer(id_, member, not informed and purpose in RATING_ROUNDS, purpose, *rest)
        for id_, member, informed, purpose, *rest in rows.values_list(
            *("pk", "assignment__annotator", "informed", "assignment__round__purpose", "assignment__round__number"),
            *("protocol__number", "protocol__label_schema", "label"),
        )
    ]


@dataclass(frozen=True, slots=True)
class Stored:
    """A settlement of an item; `number` counts them from 1. `is_own` is whether the one who asks gave it."""

    number: int
    label: dict[str, Any] | None
    cause: str
    confidence: str
    note: str
    at: datetime
    is_own: bool
    is_current: bool
    after_verdict: bool
    id: int


def settlements_of(item_id: int, person) -> list[Stored]:
    """All that were stored, the first one first: one statement."""
    rows = Settlement.objects.filter(item=item_id).exclude(how=Settlement.How.KNOWN).order_by("pk")
    values = rows.values_list(
        *("label", "cause", "confidence", "note", "created_at", "person", "is_current", "after_verdict", "pk")
    )
    return [
        Stored(number, *said, whose == person.pk, is_current, after_verdict, id_)
        for number, (*said, whose, is_current, after_verdict, id_) in enumerate(values, 1)
    ]


def waiting_for(item_id: int) -> int:
    """How many people an item was sent back to who have not answered again: one statement."""
    return Assignment.objects.filter(
        item=item_id,
        round__purpose=Round.Purpose.SENT_BACK,
        round__closed_at=None,
        state__in=[Assignment.State.LOCKED, Assignment.State.OPEN],
    ).count()
