"""Pools: who asks is given the next item, for a lease that their work extends. No item is given to more people than it
has places, and a place that nobody works on comes back when its lease ends.

A place is taken by one conditional UPDATE in the transaction that writes its assignment, so that a process that dies
on the way leaves both or neither. The database's clock decides what has expired.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import (
    Case,
    DateTimeField,
    DurationField,
    ExpressionWrapper,
    F,
    IntegerField,
    OuterRef,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Greatest, Now

from annotate import blind, pool_queries, queries
from annotate.blind import BlindItem, OpenAssignment, OwnProject
from annotate.errors import NotYours, PlaceGone
from annotate.models import Assigning, Assignment, Person, PoolItem, Project
from annotate.pool_queries import LAPSED, Ask
from annotate.prepared import PreparedUpdate, insert_unless_there, place
from annotate.queries import Asker
from annotate.rules.pools import PHASE_SPAN, Candidate, in_blocks, in_order, reason_for_none

State = Assignment.State
TRIES = 5
"""Candidates that are tried before the pool is asked anew, when others take them at this very moment."""
ROUNDS = 40
AT_ONCE = 100
"""Items that come into a pool in one transaction; on SQLite nobody else writes meanwhile."""
TAKEN_BACK_BY_ONE = 20
"""Places that one ask takes back; the sweeper takes the rest."""


# Asking


@dataclass(frozen=True, slots=True)
class Next:
    """The item to go on with, or why there is none."""

    item: BlindItem | None
    standing: str = "ready"
    own: OwnProject | None = None


def next_item(person: Person, project_slug: str) -> Next:
    """The item to go on with, from one's plan or newly from the pool. Asking again gives the same one."""
    if item := blind.next_item(person, project_slug):
        return Next(item)
    own = blind.own_project(person, project_slug)
    if own.is_pool and give_next(person, project_slug):
        item = blind.next_item(person, project_slug)
    return Next(item, "ready") if item else Next(None, standing(person, own), own)


def standing(person: Person, own: OwnProject) -> str:
    """Why nothing is shown: as `blind.standing`, and in a pool also "cap_reached" or "nothing_free", which are the same
    words whatever the reason is that nothing is free."""
    asker = None if own.is_paused or not own.is_pool else pool_queries.asker_in(person, own.slug)
    if asker is None:
        return blind.standing(person, own.slug, own=own)
    found = pool_queries.ask(asker) if asker.round else Ask()
    return reason(asker, found) or "ready"


def reason(asker: Asker, found: Ask) -> str:
    n_held = found.n_held if found.candidates else asker.n_held
    return reason_for_none(
        found.candidates,
        open_phase=asker.open_phase,
        practice_is_ready=found.practice_is_ready,
        cap=asker.cap,
        n_held=n_held,
    )


def give_next(person: Person, project_slug: str) -> bool:
    """Give somebody who asks the next item of the pool; False where they have no part in one that labels. What has
    expired is taken back before."""
    asker = pool_queries.asker_in(person, project_slug)
    if asker is None or asker.round is None:
        return False
    with transaction.atomic():
        found = pool_queries.ask(asker)
        if found.candidates and not found.has_expired:
            take_one(asker, found, shown_at=None)
            return True
    take_back_expired(asker.round, at_most=TAKEN_BACK_BY_ONE)
    with transaction.atomic():
        take_next(asker, shown_at=None)
    return True


def take_next(asker: Asker, *, shown_at: datetime | None) -> bool:
    """Give the next item as part of the caller's transaction. With `shown_at` it is shown in the same answer, and no
    practice item is given, as that waits until its reader has seen the expected answer of the one before."""
    found = pool_queries.ask(asker)
    if shown_at is not None and any(one.block < PHASE_SPAN for one in found.candidates):
        return False
    return take_one(asker, found, shown_at=shown_at)


def take_one(asker: Asker, found: Ask, *, shown_at: datetime | None) -> bool:
    """Take the best of these candidates that is still free. Others may take them at the same moment: then the next
    best, and after some of them the pool is asked anew."""
    for _ in range(ROUNDS):
        if reason(asker, found):
            return False
        order = in_order(found.candidates, seed=asker.seed, code=asker.code, last_trace=found.last_trace)
        for one in order[:TRIES]:
            if take_place(one.item, one.places):
                if not write(asker, found, one, shown_at):
                    leave_place(one.item, one.places)  # another window of theirs was given something just now
                return True
        found = pool_queries.ask(asker)
    return False


TAKE = PreparedUpdate(
    lambda: (
        PoolItem.objects.filter(item=place("item"), places__isnull=False, n_free__gt=0),
        {
            "n_free": F("n_free") - 1,
            "queue": Case(When(n_free=1, then=Value(None)), default=F("queue"), output_field=IntegerField()),
        },
    )
)
LEAVE = PreparedUpdate(
    lambda: (
        PoolItem.objects.filter(item=place("item"), places__isnull=False, n_free__lt=F("places")),
        {"n_free": F("n_free") + 1, "queue": F("block") - F("block") % PHASE_SPAN},
    )
)


def take_place(item: int, places: int | None) -> bool:
    return places is None or bool(TAKE.count(item=item))


def leave_place(item: int, places: int | None = 0) -> None:
    """The place waits before all others of its phase."""
    if places is not None:
        LEAVE.count(item=item)


def write(asker: Asker, found: Ask, one: Candidate, shown_at: datetime | None) -> bool:
    """The assignment of a place that was taken: a new one, or the one that had lapsed, with its draft. Two asks of one
    person at once are after the same place in their order, which one of them gets."""
    until = Now() + asker.lease
    if one.lapsed is not None:
        return bool(Assignment.objects.filter(LAPSED, pk=one.lapsed).update(state=State.OPEN, lease_until=until))
    return insert_unless_there(
        Assignment(
            annotator_id=asker.annotator,
            item_id=one.item,
            round_id=asker.round,
            order=found.last_order + 1,
            sequence=found.last_sequence + (one.trace != found.last_trace),
            state=State.OPEN,
            first_shown_at=shown_at,
            lease_until=until,
        )
    )


# Leases


def extended() -> Case:
    """For an UPDATE of assignments: the lease of one from a pool begins anew, others have none."""
    lease = Project.objects.filter(memberships=OuterRef("annotator")).values("lease")[:1]
    until = ExpressionWrapper(
        Now() + Subquery(lease, output_field=DurationField()), output_field=DateTimeField()
    )
    return Case(When(lease_until__isnull=True, then=Value(None)), default=until, output_field=DateTimeField())


def take_back_expired(round_id: int | None = None, *, at_most: int | None = None) -> int:
    """Take back the places whose lease has ended; how many. Drafts stay with their rows. Several at once do no harm."""
    rows = pool_queries.expired(round_id).order_by("pk").values_list("pk", "item")[:at_most]
    return sum(take_back(pk, item) for pk, item in rows)


def take_back(pk: int, item: int) -> bool:
    with transaction.atomic():
        lapsed = Assignment.objects.filter(pk=pk, state=State.OPEN, lease_until__lt=Now())
        if not lapsed.update(state=State.WITHDRAWN):
            return False
        leave_place(item)
    return True


def give_up(open_: QuerySet[Assignment]) -> None:
    """Take these open items from those who have them, as part of the caller's transaction, which holds them."""
    for pk, item in open_.filter(state=State.OPEN).order_by("pk").values_list("pk", "item"):
        if Assignment.objects.filter(pk=pk, state=State.OPEN).update(state=State.WITHDRAWN, lease_until=Now()):
            leave_place(item)


def open_assignment(person: Person, public_id: str) -> OpenAssignment:
    """As `blind.open_assignment`, and one goes on with what was taken back where its place is still free; PlaceGone
    where it is not."""
    try:
        return blind.open_assignment(person, public_id)
    except NotYours:
        if not regain(person, public_id):
            raise
    return blind.open_assignment(person, public_id)


def show_item(person: Person, public_id: str) -> BlindItem:
    """As `blind.show_item`, and like `open_assignment`."""
    try:
        return blind.show_item(person, public_id)
    except NotYours:
        if not regain(person, public_id):
            raise
    return blind.show_item(person, public_id)


def regain(person: Person, public_id: str) -> bool:
    """Go on with an item that was taken back when its lease had ended. False for any other; PlaceGone where its place
    was given on, or one may have no more items."""
    row = lapsed_of(person, public_id)
    if row is None:
        return False
    project = row.annotator.project
    asker = pool_queries.asker_in(person, project.slug)
    if asker is None or asker.round != row.round_id:
        raise PlaceGone(project.slug)
    places = PoolItem.objects.filter(item=row.item_id).values_list("places", flat=True).first()
    if places is not None and asker.cap and asker.n_held >= asker.cap:
        raise PlaceGone(project.slug)
    with transaction.atomic():
        if not take_place(row.item_id, places):
            raise PlaceGone(project.slug)
        if not Assignment.objects.filter(LAPSED, pk=row.pk).update(state=State.OPEN, lease_until=Now() + asker.lease):
            leave_place(row.item_id, places)
    return True


def lapsed_of(person: Person, public_id: str) -> Assignment | None:
    mine = Assignment.objects.filter(LAPSED, public_id=public_id, annotator__in=queries.active_memberships(person))
    return mine.select_related("annotator__project").first()


# What is in a pool


def fill(*, project: Project, stand_back: Callable[[float], object] = lambda seconds: None) -> int:
    """Bring the visible items of a project that are not in its pool into it, in short transactions; how many. Safe to
    run again, also where it was cut off on the way."""
    placed = in_blocks(
        pool_queries.not_pooled(project.pk), seed=project.seed, last_blocks=pool_queries.last_blocks(project.pk)
    )
    n_new = 0
    for start in range(0, len(placed), AT_ONCE):
        began = time.monotonic()
        with transaction.atomic():
            now = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
            if now.assigning != Assigning.POOL:
                break
            rows = [
                PoolItem(
                    item_id=one.item,
                    project=now,
                    trace_id=one.trace,
                    anchor=one.anchor,
                    language=one.language,
                    block=one.block,
                    queue=one.block,
                    places=None if one.block < PHASE_SPAN else now.overlap,
                    n_free=1 if one.block < PHASE_SPAN else now.overlap,
                )
                for one in placed[start : start + AT_ONCE]
            ]
            PoolItem.objects.bulk_create(rows, ignore_conflicts=True)
            n_new += len(rows)
        stand_back(time.monotonic() - began)
    return n_new


def change_places(pooled: QuerySet[PoolItem], by: int) -> int:
    """Give these items so many more places or fewer, down to what is taken; how many items there are. As part of the
    caller's transaction."""
    left = Greatest(F("n_free") + by, Value(0))
    comes_back = ExpressionWrapper(F("block") - F("block") % PHASE_SPAN, output_field=IntegerField())
    return pooled.filter(places__isnull=False).update(
        places=F("places") - F("n_free") + left,
        n_free=left,
        queue=Case(When(n_free__lte=-by, then=Value(None)), default=Coalesce(F("queue"), comes_back)),
    )


def remove(project: Project) -> None:
    """Take a pool away, as part of the caller's transaction. Who takes a place at this moment is waited for."""
    PoolItem.objects.filter(project=project).delete()


def add_places(items: Iterable[int], *, n: int, at_most: int) -> int:
    """Let so many more people have each of these items, where that is within a bound; how many items get more. As part
    of the caller's transaction. Who has seen an item is not given it again."""
    return change_places(PoolItem.objects.filter(item__in=items, places__lte=at_most - n), n)


def minutes(lease: timedelta) -> int:
    return round(lease / timedelta(minutes=1))
