"""Named reads of rounds for leads: what each holds, what was said in those that are closed, and the gaps that people
met in the guideline. Each says how many statements it takes; tests pin them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet

from annotate.lead_queries import RATING_ROUNDS
from annotate.models import Annotation, Assignment, Phase, Post, Project, Round, Settlement

WAITING = (Assignment.State.LOCKED, Assignment.State.OPEN)
CHUNK = 2000


@dataclass(frozen=True, slots=True)
class RoundRow:
    """A round in the lead's list. `n_given` counts what was not withdrawn, of so many people."""

    number: int
    purpose: str
    informed: bool
    opened_at: datetime
    closed_at: datetime | None
    n_items: int
    n_people: int
    n_given: int
    n_done: int
    n_waiting: int
    n_posts: int

    @property
    def name(self) -> str:
        return str(Round.Purpose(self.purpose).label)


def round_rows(project: Project) -> list[RoundRow]:
    """The rounds of a project in their order: two statements."""
    rounds = Round.objects.filter(project=project).order_by("number")
    held, state = ~Q(assignments__state=Assignment.State.WITHDRAWN), Assignment.State
    rows = rounds.annotate(
        n_items=Count("assignments__item", distinct=True, filter=held),
        n_people=Count("assignments__annotator", distinct=True, filter=held),
        n_given=Count("assignments", filter=held),
        n_done=Count("assignments", filter=Q(assignments__state=state.SUBMITTED)),
        n_waiting=Count("assignments", filter=Q(assignments__state__in=WAITING)),
    )
    posts = Post.objects.filter(round__project=project, purpose=Post.Purpose.THREAD).order_by().values("round")
    n_posts = dict(posts.annotate(n=Count("pk")).values_list("round", "n"))
    values = ("number", "purpose", "informed", "opened_at", "closed_at")
    counts = ("n_items", "n_people", "n_given", "n_done", "n_waiting")
    return [RoundRow(*row, n_posts.get(pk, 0)) for pk, *row in rows.values_list("pk", *values, *counts)]


@dataclass(frozen=True, slots=True)
class SaidBefore:
    """A current label of a closed round."""

    item: int
    member: int
    protocol: int
    label: dict[str, Any]


def said_in_closed_rounds(project: Project, phase: str) -> Iterator[SaidBefore]:
    """By item, annotator and round: one statement."""
    rows = current_in_closed(project, phase).order_by(
        "assignment__item", "assignment__annotator", "assignment__round__number"
    )
    values = ("assignment__item_id", "assignment__annotator_id", "protocol__number", "label")
    return (SaidBefore(*row) for row in rows.values_list(*values).iterator(chunk_size=CHUNK))


def current_in_closed(project: Project, phase: str) -> QuerySet[Annotation]:
    return Annotation.objects.filter(
        assignment__item__project=project,
        assignment__item__phase=phase,
        assignment__item__trace__is_staged=False,
        assignment__state=Assignment.State.SUBMITTED,
        assignment__round__closed_at__isnull=False,
        is_current=True,
    )


def raters_in_closed_rounds(project: Project, phase: str) -> set[int]:
    """Members who labelled anything of a phase in a closed round and have not left: one statement."""
    rows = current_in_closed(project, phase).filter(assignment__annotator__left_at=None)
    return set(rows.order_by().values_list("assignment__annotator", flat=True).distinct())


def asked_blind(project: Project) -> set[tuple[int, int]]:
    """Members and items that wait in an open blind round, which must stay blind: one statement."""
    rows = Assignment.objects.filter(
        round__project=project, round__closed_at=None, round__purpose__in=RATING_ROUNDS, state__in=WAITING
    )
    return set(rows.values_list("annotator", "item"))


def newest_labels(project: Project) -> Iterator[SaidBefore]:
    """Current labels of the main phase in blind rounds, by annotator, item and round: one statement."""
    rows = Annotation.objects.filter(
        assignment__item__project=project,
        assignment__item__phase=Phase.MAIN,
        assignment__state=Assignment.State.SUBMITTED,
        assignment__round__purpose__in=RATING_ROUNDS,
        is_current=True,
    ).order_by("assignment__annotator", "assignment__item", "assignment__round__number")
    values = ("assignment__item_id", "assignment__annotator_id", "protocol__number", "label")
    return (SaidBefore(*row) for row in rows.values_list(*values).iterator(chunk_size=CHUNK))


@dataclass(frozen=True, slots=True)
class Gap:
    """What somebody could not decide by the guideline."""

    id: int
    item: int
    source: str
    anchor: int | None
    code: str
    protocol: int | None
    text: str
    at: datetime


def gaps_of(
    project: Project, *, protocol: int | None = None, before: int | None = None, limit: int | None = None
) -> list[Gap]:
    """The gaps that were met in one protocol or in any, newest first, or those before one: one statement."""
    rows = Post.objects.filter(round__project=project, purpose=Post.Purpose.GAP).order_by("-pk")
    if protocol is not None:
        rows = rows.filter(protocol__number=protocol)
    if before is not None:
        rows = rows.filter(pk__lt=before)
    values = rows.values_list(
        *("pk", "item", "item__trace__source_id", "item__anchor", "author__code", "protocol__number", "text"),
        "created_at",
    )
    return [Gap(*row) for row in values[:limit]]


def gaps_by_protocol(project: Project) -> dict[int, int]:
    """How many gaps were met in each protocol, the newest first: one statement."""
    rows = Post.objects.filter(round__project=project, purpose=Post.Purpose.GAP).order_by("-protocol__number")
    return dict(rows.values("protocol__number").annotate(n=Count("pk")).values_list("protocol__number", "n"))


@dataclass(frozen=True, slots=True)
class GapSettled:
    """An item whose reviewer says that people differed because the guideline leaves it open."""

    id: int
    item: int
    source: str
    anchor: int | None
    protocol: int | None
    note: str
    at: datetime


def settled_for_gaps(
    project: Project, *, before: int | None = None, limit: int | None = None
) -> list[GapSettled]:
    """Newest first, or those before one: one statement."""
    rows = Settlement.objects.filter(item__project=project, cause=Settlement.Cause.GUIDELINE, is_current=True)
    if before is not None:
        rows = rows.filter(pk__lt=before)
    values = rows.order_by("-pk").values_list(
        *("pk", "item", "item__trace__source_id", "item__anchor", "protocol__number", "note", "created_at")
    )
    return [GapSettled(*row) for row in values[:limit]]
