"""Who sees which item next. Plans only write assignments; the rules are in `rules/plans.py`."""

from datetime import datetime

from django.db import transaction
from django.db.models import DateTimeField, Exists, Subquery

from annotate import lead_queries, queries
from annotate.errors import NotYours
from annotate.models import Assignment, Event, Membership, Person, Project, Role, Round
from annotate.prepared import PreparedUpdate, place
from annotate.rules.plans import panel

BATCH = 500


def open_round(*, project: Project, now: datetime) -> Round:
    """The open first round of a project, made when there is none yet."""
    found = Round.objects.filter(project=project, purpose=Round.Purpose.FIRST, closed_at=None).first()
    return found or Round.objects.create(
        project=project, number=Round.objects.filter(project=project).count() + 1, purpose="first", opened_at=now
    )


def extend_panel(*, project: Project, now: datetime) -> int:
    """Give every annotator the items they read and do not have yet, after what they have; returns how many.

    Safe to run again: an item is planned once for an annotator, whatever first round they have it in."""
    roles = [Role.ANNOTATOR, Role.LEAD] if project.open_lead else [Role.ANNOTATOR]
    members = Membership.objects.filter(project=project, role__in=roles, left_at=None).order_by("pk")
    round_ = open_round(project=project, now=now)
    return sum(extend_plan(member=member, project=project, round_=round_, now=now) for member in members)


def extend_plan(*, member: Membership, project: Project, round_: Round, now: datetime) -> int:
    """One annotator's part of `extend_panel`, in one transaction that other plans of the round wait for.

    The round is locked without its key, which what a report of a problem refers to: that waits for nothing here, while
    this may wait for it."""
    with transaction.atomic():
        Round.objects.select_for_update(no_key=True).get(pk=round_.pk)
        items = queries.plannable_items(project.pk, member.pk)
        order, sequence = queries.last_place(member.pk, round_.pk)
        placed = panel(
            items,
            languages=member.languages,
            seed=project.seed,
            code=member.code,
            first_order=order,
            first_sequence=sequence,
        )
        for start in range(0, len(placed), BATCH):  # rows are far larger than places: never all of them at once
            Assignment.objects.bulk_create(
                Assignment(annotator=member, item_id=one.item, round=round_, order=one.order, sequence=one.sequence)
                for one in placed[start : start + BATCH]
            )
        if not has_open(member, round_):
            open_next(annotator_id=member.pk, round_id=round_.pk, ended_id=None, now=None)
    return len(placed)


def has_open(member: Membership, round_: Round) -> bool:
    """Whether a plan has an open item that stays open until this transaction ends.

    A submit under way may be ending it, and cannot see what is planned here: wait for it first, then look again. A
    submit that comes later waits for this transaction and opens what was planned in it."""
    open_ = Assignment.objects.filter(annotator=member, round=round_, state=Assignment.State.OPEN)
    list(open_.select_for_update(no_key=True).values_list("pk"))
    return open_.exists()


def first_locked():
    plan = Assignment.objects.filter(annotator=place("annotator"), round=place("round"))
    locked = plan.filter(state=Assignment.State.LOCKED)
    ended_order = Subquery(plan.filter(pk=place("ended")).values("order"))
    ahead = plan.filter(state=Assignment.State.OPEN, order__gt=ended_order)
    first = Subquery(locked.filter(~Exists(ahead)).order_by("order").values("pk")[:1])
    fields = {"state": Assignment.State.OPEN, "first_shown_at": place("now", DateTimeField())}
    return locked.filter(pk=first), fields


OPEN_NEXT = PreparedUpdate(first_locked)


def open_next(*, annotator_id: int, round_id: int, ended_id: int | None, now: datetime | None) -> None:
    """Open the first locked assignment of a plan. `now` says that it is shown in the same answer.

    Only the end of the item furthest on opens another: one that was given back and ends behind the item that is open
    already must not let the annotator read ahead of it. The claim is conditional, so that two submits at once open two
    items only if both ended one."""
    OPEN_NEXT.count(annotator=annotator_id, round=round_id, ended=ended_id, now=now)


def give_back(*, lead: Person, project: Project, assignment_id: int) -> bool:
    """A lead hands a reported item back to its annotator, draft and all. False when it is with the lead no more."""
    if not lead_queries.led_projects(lead).filter(pk=project.pk).exists():
        raise NotYours
    with transaction.atomic():
        given = Assignment.objects.filter(
            pk=assignment_id,
            annotator__in=Membership.objects.filter(project=project),
            state=Assignment.State.PROBLEM,
        ).update(state=Assignment.State.OPEN, ended_at=None)
        if given:
            Event.objects.create(
                project=project, person=lead, action="problem_given_back", detail={"assignment": assignment_id}
            )
    return bool(given)
