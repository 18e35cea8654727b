"""What annotators do: save a draft, submit, correct, report a problem. An answer is acknowledged after its commit."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import CharField, DateTimeField, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from annotate import assigning, pool_queries, pools, qualifying, queries
from annotate.blind import OpenAssignment
from annotate.errors import AlreadySubmitted, NewerDraft, NotYours, ReasonMissing
from annotate.models import Annotation, Assignment, Event, Membership, Phase, Post, Round
from annotate.prepared import PreparedRead, PreparedUpdate, place


@dataclass(frozen=True, slots=True)
class Receipt:
    """The word that an answer is stored. The same key always gets the same one."""

    key: str
    number: int
    submitted_at: datetime
    public_id: str
    project_slug: str
    phase: str


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds as the page measured them; the server bounds them by its own times (docs/methods.md, Reading
    times)."""

    raw_ms: int
    active_ms: int
    hidden_ms: int

    def bounded(self, first_shown_at: datetime | None, now: datetime, *, is_first: bool) -> "Timing":
        """Raw of a first answer is the time since the item was first shown, 0 where nobody knows; of a correction what
        the page says, at most that. Nothing negative, active and hidden at most raw."""
        on_show = max(round((now - (first_shown_at or now)) / timedelta(milliseconds=1)), 0)
        raw = on_show if is_first else min(max(self.raw_ms, 0), on_show)
        return Timing(raw, min(max(self.active_ms, 0), raw), min(max(self.hidden_ms, 0), raw))


RECEIPT = PreparedRead(
    lambda: Annotation.objects.filter(
        assignment__public_id=place("assignment", CharField()),
        assignment__annotator__person=place("person"),
        key=place("key", CharField()),
    ).values_list(
        *("key", "number", "submitted_at", "assignment__public_id"),
        *("assignment__annotator__project__slug", "assignment__item__phase"),
    )
)


def find_receipt(*, annotator, assignment_id: str, key: str) -> Receipt | None:
    """The receipt of an answer that is stored already, whatever has become of the item since."""
    row = RECEIPT.row(assignment=assignment_id, person=annotator.pk, key=key)
    return None if row is None else Receipt(*row)


def protocols_of(assignment: OpenAssignment) -> list[queries.NumberedSchema]:
    """The protocols an answer may have been given under, newest first."""
    return queries.protocols_of(assignment.project_id)


def own_row(annotator, assignment_id: str) -> QuerySet[Assignment]:
    """One's own assignment without a join, so that conditions on its columns hold at the moment of an UPDATE."""
    return Assignment.objects.filter(public_id=assignment_id, annotator__in=queries.active_memberships(annotator))


def mark_shown(*, annotator, assignment_id: str, now: datetime) -> None:
    """Remember when an open item was first on show; a second look only begins the lease of an item from a pool
    anew."""
    mine = own_row(annotator, assignment_id).filter(state=Assignment.State.OPEN)
    shown = {"first_shown_at": Coalesce("first_shown_at", Value(now, DateTimeField()))}
    mine.filter(Q(first_shown_at=None) | Q(lease_until__isnull=False)).update(**shown, lease_until=pools.extended())


def mark_settled_seen(*, annotator, project_slug: str, now: datetime) -> None:
    """Remember, and write in the log, that one has seen what items were settled to; a second look changes nothing."""
    mine = Membership.objects.filter(person=annotator, project__slug=project_slug, left_at=None, settled_seen_at=None)
    with transaction.atomic():
        member = mine.select_related("project").first()
        if member is not None and mine.update(settled_seen_at=now):
            detail = {"annotator": member.code}
            Event.objects.create(project=member.project, person=annotator, action="settled_seen", detail=detail)


def save_draft(
    *, annotator, assignment_id: str, draft: dict[str, Any], draft_number: int, number: int, now: datetime
) -> None:
    """Keep what is typed so far. `number` is the annotation the form was opened on (0: none yet). A draft that comes
    late, after the answer or after a newer draft, changes nothing and is told so. It begins the lease of an item from a
    pool anew."""
    mine = own_row(annotator, assignment_id)
    older = mine.filter(draft_number__lt=draft_number)
    values = {"draft": draft, "draft_number": draft_number, "draft_saved_at": now}
    if number:
        with transaction.atomic():
            is_kept = is_current(mine, number) and older.filter(state=Assignment.State.SUBMITTED).update(**values)
    else:
        is_kept = older.filter(state=Assignment.State.OPEN).update(**values, lease_until=pools.extended())
    if is_kept:
        return
    row = mine.filter(state__in=queries.VISIBLE_STATES).first()
    if row is None:
        if keep_in_pool(annotator, assignment_id, older, values):
            return
        raise NotYours
    annotation = queries.current_annotation(row.pk)
    if (annotation.number if annotation else 0) != number:
        raise AlreadySubmitted(annotation.submitted_at if annotation else None)
    raise NewerDraft


def keep_in_pool(annotator, assignment_id: str, older: QuerySet[Assignment], values: dict[str, Any]) -> bool:
    """Keep what was typed of an item that was taken back, and go on with it where its place is free still; PlaceGone
    where it is not. False where nothing was taken back."""
    older.filter(pool_queries.LAPSED).update(**values)
    return pools.regain(annotator, assignment_id)


def is_current(mine: QuerySet[Assignment], number: int) -> bool:
    """Whether this annotation is the current one and stays it until the transaction ends: a correction that is under
    way is waited for, and one that comes later waits before it takes the draft away."""
    locked = mine.select_for_update(no_key=True).values_list("pk", flat=True).first()
    return Annotation.objects.filter(assignment=locked, number=number, is_current=True).exists()


@dataclass(frozen=True, slots=True)
class NewAnnotation:
    """A checked answer. `number` is the annotation its form was opened on: 0 for a first answer, else the one that it
    corrects."""

    label: dict[str, Any]
    protocol: queries.NumberedSchema
    number: int
    draft_number: int
    timing: Timing
    reason: str


def submit_annotation(
    *, assignment: OpenAssignment, key: str, new: NewAnnotation, now: datetime, shows_next: bool = False
) -> Receipt:
    """Store an answer, whole or not at all, and open the next item; a pool gives it at once only where it is shown in
    the same answer, else to who asks for it."""
    if new.number:
        check_correction(assignment, new.reason)
    timing = new.timing.bounded(assignment.first_shown_at, now, is_first=not new.number)
    with transaction.atomic():
        is_ours = take_over(assignment, new.number) if new.number else end_open(assignment, now, new)
        if not is_ours:
            return stored_receipt(assignment, key)
        Annotation.objects.create(
            assignment_id=assignment.id,
            number=new.number + 1,
            key=key,
            protocol_id=new.protocol.id,
            label=new.label,
            reason=new.reason,
            informed=assignment.informed,
            raw_ms=timing.raw_ms,
            active_ms=timing.active_ms,
            hidden_ms=timing.hidden_ms,
            submitted_at=now,
        )
        if not new.number:
            is_paused = qualifying.pause_if_failed(assignment, now)
            open_next(assignment, now=now, shows_next=shows_next and not is_paused)
    return Receipt(key, new.number + 1, now, assignment.public_id, assignment.project_slug, assignment.phase)


END_OPEN = PreparedUpdate(
    lambda: (
        Assignment.objects.filter(pk=place("assignment"), state=Assignment.State.OPEN),
        {
            "state": Assignment.State.SUBMITTED,
            "ended_at": place("now", DateTimeField()),
            "draft": None,
            "draft_number": place("draft_number"),
            "lease_until": None,
        },
    )
)


def end_open(assignment: OpenAssignment, now: datetime, new: NewAnnotation) -> bool:
    """Claim an open assignment for its first answer; of two windows only one can."""
    return bool(END_OPEN.count(assignment=assignment.id, now=now, draft_number=new.draft_number))


def take_over(assignment: OpenAssignment, number: int) -> bool:
    """Make room for a correction: the annotation it was opened on has to be the current one still. NotYours where the
    round was closed, or the annotator's part ended, since the form was opened."""
    open_rounds = Round.objects.filter(pk=assignment.round_id, closed_at=None)
    at_work = Membership.objects.filter(pk=assignment.annotator_id, left_at=None, paused_at=None)
    held = Assignment.objects.filter(pk=assignment.id, round__in=open_rounds, annotator__in=at_work)
    if not held.update(draft=None):
        raise NotYours
    mine = Annotation.objects.filter(assignment=assignment.id, number=number, is_current=True)
    return bool(mine.update(is_current=False))


def stored_receipt(assignment: OpenAssignment, key: str) -> Receipt:
    """Somebody was first: this very answer, sent twice at the same moment, or another window's."""
    stored = Annotation.objects.filter(assignment=assignment.id, key=key).first()
    if stored is None:
        current = queries.current_annotation(assignment.id)
        raise AlreadySubmitted(current.submitted_at if current else None)
    own = (assignment.public_id, assignment.project_slug, assignment.phase)
    return Receipt(stored.key, stored.number, stored.submitted_at, *own)


def check_correction(assignment: OpenAssignment, reason: str) -> None:
    """Undo, until the next submit, needs no reason; a later correction does. A closed round takes neither."""
    if not assignment.is_round_open:
        raise NotYours
    if not reason and not assignment.is_last_submitted:
        raise ReasonMissing


def open_next(assignment: OpenAssignment, *, now: datetime, shows_next: bool) -> None:
    if assignment.asker is None:
        assigning.open_next(
            annotator_id=assignment.annotator_id, round_id=assignment.round_id, ended_id=assignment.id, now=None
        )
    elif shows_next and assignment.phase != Phase.PRACTICE:
        pools.take_next(assignment.asker, shown_at=now)


def report_problem(*, assignment: OpenAssignment, text: str, now: datetime, shows_next: bool = False) -> None:
    """End an open assignment without a label and open the next. It is no label: counted, and seen by the lead."""
    with transaction.atomic():
        ended = Assignment.objects.filter(pk=assignment.id, state=Assignment.State.OPEN).update(
            state=Assignment.State.PROBLEM, ended_at=now, lease_until=None
        )
        if not ended:
            raise AlreadySubmitted(None)
        row = Assignment.objects.get(pk=assignment.id)
        Post.objects.create(
            item_id=row.item_id,
            round_id=row.round_id,
            author_id=row.annotator_id,
            purpose=Post.Purpose.PROBLEM,
            text=text,
        )
        open_next(assignment, now=now, shows_next=shows_next)
