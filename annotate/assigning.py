"""Who sees which item next. Plans only write assignments; the rules are in `rules/plans.py`."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import DateTimeField, Exists, F, Max, QuerySet, Subquery
from django.db.models.functions import Coalesce, Now

from annotate import lead_queries, pool_queries, pools, queries
from annotate.errors import NotYours, Refused
from annotate.models import (
    Annotation,
    Assigning,
    Assignment,
    Event,
    Item,
    Membership,
    Person,
    PoolItem,
    Project,
    Role,
    Round,
)
from annotate.prepared import PreparedInsert, PreparedUpdate, place
from annotate.rules.plans import PHASES, Placed, PlannedItem, panel
from annotate.traces.base import Problem, gettext_noop

WAITING = [Assignment.State.LOCKED, Assignment.State.OPEN]
WITHDRAWN = Assignment.State.WITHDRAWN
BATCH = 500
AT_ONCE = 100
"""Assignments written in one transaction; on SQLite nobody else writes meanwhile."""


def open_round(*, project: Project, now: datetime) -> Round:
    """The open first round of a project, made when there is none yet."""
    found = Round.objects.filter(project=project, purpose=Round.Purpose.FIRST, closed_at=None).first()
    return found or Round.objects.create(
        project=project, number=Round.objects.filter(project=project).count() + 1, purpose="first", opened_at=now
    )


def extend_panel(
    *, project: Project, now: datetime, stand_back: Callable[[float], object] = lambda seconds: None
) -> int:
    """Give every annotator the items they read and do not have yet, after what they have, or the pool what is not in it
    yet; returns how many.

    Safe to run again: an item is planned once for an annotator, whatever first round they have it in. A closed project
    gives nobody anything."""
    how, closed_at = Project.objects.values_list("assigning", "closed_at").get(pk=project.pk)
    if closed_at is not None:
        return 0
    if how == Assigning.POOL:
        open_round(project=project, now=now)
        return pools.fill(project=project, stand_back=stand_back)
    roles = [Role.ANNOTATOR, Role.LEAD] if project.open_lead else [Role.ANNOTATOR]
    members = Membership.objects.filter(project=project, role__in=roles, left_at=None).select_related("project")
    round_ = open_round(project=project, now=now)
    return sum(
        extend_plan(member=member, project=project, round_=round_, now=now, stand_back=stand_back)
        for member in members.order_by("pk")
    )


def is_pool(project: Project) -> bool:
    """Whether who asks is given the next item, as the project is by now."""
    return Project.objects.filter(pk=project.pk, assigning=Assigning.POOL).exists()


def extend_plan(
    *,
    member: Membership,
    project: Project,
    round_: Round,
    now: datetime,
    stand_back: Callable[[float], object] = lambda seconds: None,
) -> int:
    """One annotator's part of `extend_panel`, in short transactions: what is submitted meanwhile waits for one of them,
    and `stand_back`, told how long it took, may leave time for others. Nothing is planned for who has left by then;
    where another plan of theirs was written meanwhile it begins anew."""
    n_placed = 0
    while True:
        member = Membership.objects.select_related("project").get(pk=member.pk)
        first = queries.last_place(member.pk, round_.pk)  # before the items: what comes between shows by its place
        items = queries.plannable_items(project.pk, member.pk)
        if n_removed := make_room(member, round_, items):
            n_placed -= n_removed
            continue
        placed = places_of(member, first, items, code=member.code)
        n_written = 0
        for part in parts_of(placed):
            began = time.monotonic()
            n_in_part = write_places(member, round_, part)
            stand_back(time.monotonic() - began)
            if not n_in_part:
                break  # the plan is another by now: where later parts begin, its end may be by chance
            n_written += n_in_part
        n_placed += n_written
        if n_written == len(placed) or not labels_in(member, member.project):
            return n_placed


def make_room(member: Membership, round_: Round, items: Sequence[PlannedItem]) -> int:
    """Take items of later phases that were never shown out of a plan into which earlier ones come, so that all are
    planned anew in the order of phases, whatever order their files came in. Returns how many there were."""
    readable = [PHASES.index(item.phase) for item in items if item.language in ("", *member.languages)]
    later = PHASES[min(readable) + 1 :] if readable else ()
    untouched = Assignment.objects.filter(state__in=WAITING, first_shown_at=None, draft__isnull=True)
    waiting = untouched.filter(annotator=member, round=round_, item__phase__in=later)
    if not later or not waiting.exists():
        return 0
    with transaction.atomic():
        Round.objects.select_for_update(no_key=True).get(pk=round_.pk)
        hold_open(member, round_)
        n_removed, _ = waiting.delete()
    return n_removed


def parts_of(placed: Sequence[Placed]) -> Iterator[Sequence[Placed]]:
    """About so many places as are written at once, cut between collaborations; one empty part of an empty plan."""
    start = 0
    for end in range(1, len(placed) + 1):
        is_last = end == len(placed)
        if is_last or (end - start >= AT_ONCE and placed[end].sequence != placed[end - 1].sequence):
            yield placed[start:end]
            start = end
    if not placed:
        yield placed


def write_places(member: Membership, round_: Round, placed: Sequence[Placed]) -> int:
    """Write a part of a plan down and open its first item where none is open; returns how many, 0 where the member or
    their plan is another by now.

    The round is locked without its key, which what a report of a problem refers to: that waits for nothing here, while
    this may wait for it."""
    inserts = list(inserts_of(member, round_, placed))
    with transaction.atomic():
        Round.objects.select_for_update(no_key=True).get(pk=round_.pk)
        found = Membership.objects.select_related("project").get(pk=member.pk)
        is_same = found.languages == member.languages and labels_in(found, found.project)
        mine = Assignment.objects.filter(annotator=member, round=round_).order_by("-order")
        last = mine.values_list("order", flat=True).first()  # by the index: the lock is held for a moment only
        if not is_same or (placed and (-1 if last is None else last) + 1 != placed[0].order):
            return 0
        items = [one.item for one in placed]
        if Assignment.objects.filter(annotator=member, round=round_, item__in=items).exists():
            return 0  # planned meanwhile, and what was planned before them taken out
        for insert in inserts:
            insert.execute()
        if not hold_open(member, round_):
            open_next(annotator_id=member.pk, round_id=round_.pk, ended_id=None, now=None)
    return len(placed)


def places_of(member: Membership, first: tuple[int, int], items: Iterable[PlannedItem], *, code: str) -> list[Placed]:
    """The places of these items from the first free order and sequence on; the seed and `code` decide their order."""
    return panel(
        items,
        languages=member.languages,
        seed=member.project.seed,
        code=code,
        first_order=first[0],
        first_sequence=first[1],
    )


def inserts_of(member: Membership, round_: Round, placed: Sequence[Placed]) -> Iterator[PreparedInsert]:
    for start in range(0, len(placed), BATCH):  # rows are far larger than places: never all of them at once
        yield PreparedInsert(
            [
                Assignment(annotator=member, item_id=one.item, round=round_, order=one.order, sequence=one.sequence)
                for one in placed[start : start + BATCH]
            ]
        )


def hold_open(member: Membership, round_: Round) -> bool:
    """Whether a plan has an open item, which then stays open until this transaction ends.

    A submit under way may be ending it, and cannot see what is planned here: wait for it first, then look again, and
    hold what it opened. A submit that comes later waits for this transaction and opens what was planned in it."""
    return bool(hold(Assignment.objects.filter(annotator=member, round=round_, state=Assignment.State.OPEN)))


def hold(open_: QuerySet[Assignment]) -> list[int]:
    """Lock these assignments, and those that take their place while it waits for them."""
    held: list[int] = []
    while held != (now_open := list(in_order_of_plans(open_).values_list("pk", flat=True))):
        list(in_order_of_plans(open_).select_for_update(no_key=True).values_list("pk"))
        held = now_open
    return held


def in_order_of_plans(open_: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """By keys, SQLite would read all of a round for the few that are open."""
    return open_.order_by("annotator", "order")


def labels_in(member: Membership, project: Project) -> bool:
    """Whether this member is somebody who gets a plan: an annotator, or a lead where leads label too."""
    is_one = member.role == Role.ANNOTATOR or (member.role == Role.LEAD and project.open_lead)
    return is_one and member.left_at is None


def fit_plan(*, member: Membership, now: datetime) -> None:
    """Make one member's plan fit who they are now; what they submitted or reported stays as it is.

    Who left, or reads a language no more, has the items of it withdrawn, and back when they return; who reads more or
    has come to label gets what is missing. Drafts are kept with their rows. What they have from a pool goes back to
    it, as others wait for it."""
    project = member.project
    if project.closed_at is not None:
        return
    with transaction.atomic():
        first = open_round(project=project, now=now)
        rounds = list(Round.objects.select_for_update(no_key=True).filter(project=project, closed_at=None))
        is_labelling, is_asked = labels_in(member, project), is_pool(project)
        for round_ in rounds:
            hold_open(member, round_)
            mine = Assignment.objects.filter(annotator=member, round=round_)
            waiting = mine.filter(state__in=WAITING)
            if is_asked and round_.purpose == Round.Purpose.FIRST:
                unread = Item.objects.exclude(trace__language__in=["", *member.languages])
                pools.give_up(waiting.filter(item__in=unread) if is_labelling else waiting)
                continue
            if not is_labelling:
                waiting.update(state=WITHDRAWN)
                continue
            readable = Item.objects.filter(project=project, trace__language__in=["", *member.languages])
            waiting.exclude(item__in=readable).update(state=WITHDRAWN)
            back = {"state": Assignment.State.LOCKED, "first_shown_at": None}
            mine.filter(state=WITHDRAWN, item__in=readable).update(**back)
            if not mine.filter(state=Assignment.State.OPEN).exists():
                open_next(annotator_id=member.pk, round_id=round_.pk, ended_id=None, now=None)
        if is_labelling and not is_asked:
            extend_plan(member=member, project=project, round_=first, now=now)


def reopen_for_protocol(
    *, lead: Person, project: Project, now: datetime, only: Mapping[int, Collection[int]] | None = None
) -> int:
    """Give the items of the main phase that were labelled under an older protocol once more to those who labelled them,
    in a round of its own; returns how many assignments that adds. Labels stay with the protocol they were given under.

    Everybody gets all of their own again, or with `only` these of their own, which are chosen by what they said
    themselves, so that being asked again says nothing about what others answered. Safe to
    run again: what waits in the round already is not given twice, and only a label of the round itself that is older by
    now closes it for another, to which what was typed moves along."""
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if not lead_queries.led_projects(lead).filter(pk=project.pk).exists():
            raise NotYours
        if Project.objects.filter(pk=project.pk, closed_at__isnull=False).exists():
            return 0
        newest = project.protocols.order_by("-number").first()
        older = lead_queries.labelled_under_older(project, newest.number)
        if only is not None:
            older = {pk: [item for item in items if item.id in only.get(pk, ())] for pk, items in older.items()}
        round_ = project.rounds.filter(purpose=Round.Purpose.PROTOCOL, closed_at=None).first()
        states = pairs_in(round_)
        drafts: dict[tuple[int, int], Assignment] = {}
        asked_again = ((member, item.id) for member, items in older.items() for item in items)
        if any(states.get(pair) == Assignment.State.SUBMITTED for pair in asked_again):
            drafts = end_round(round_, now)
            round_, states = None, {}
        missing = {
            member: items
            for member in older
            if (items := [item for item in older[member] if states.get((member, item.id)) in (None, WITHDRAWN)])
        }
        if not missing:
            return 0
        round_ = round_ or next_round(project, now)
        n_given = sum(give_again(member, round_, missing[member.pk], drafts) for member in labelling_again(missing))
        detail = {"protocol": newest.number, "round": round_.number, "assignments": n_given}
        Event.objects.create(project=project, person=lead, action="items_reopened", detail=detail)
    return n_given


def take_plans_away(project: Project, *, phase: str = "") -> None:
    """Remove what is planned and was never shown, as part of the caller's transaction, so that it may be given another
    way; of all phases or of one. Refused where anything of it was given."""
    list(Round.objects.select_for_update(no_key=True).filter(project=project, closed_at=None).values_list("pk"))
    waiting = Assignment.objects.filter(round__project=project, state__in=WAITING)
    if phase:
        waiting = waiting.filter(item__phase=phase)
    hold(waiting.filter(state=Assignment.State.OPEN))
    if pool_queries.was_given(project, phase=phase):
        raise Refused(GIVEN_ALREADY)
    waiting.delete()


def add_overlap(*, project: Project, items: Sequence[int], n: int, at_most: int) -> int:
    """Let so many more people have each of these items, up to `at_most` in all, as part of the caller's transaction;
    how many items get more. Only a pool has places to add: a panel gives everybody everything. The pool gives an item
    to nobody who has had it, and each at its own place among the others, so that none stands out."""
    project = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if project.closed_at is not None or not is_pool(project):
        return 0
    full = PoolItem.objects.filter(project=project, item__in=items, queue=None)
    waiting = list(full.values_list("pk", flat=True))
    n_more = pools.add_places(items, n=n, at_most=at_most)
    PoolItem.objects.filter(pk__in=waiting, queue__isnull=False).update(queue=F("block"))
    return n_more


def pairs_in(round_: Round | None) -> dict[tuple[int, int], str]:
    """The state of each member and item of a round."""
    if round_ is None:
        return {}
    rows = round_.assignments.values_list("annotator", "item", "state")
    return {(member, item): state for member, item, state in rows}


def labelling_again(missing: Mapping[int, Sequence[PlannedItem]]) -> QuerySet[Membership]:
    return Membership.objects.filter(pk__in=missing, left_at=None).select_related("project").order_by("pk")


def next_round(
    project: Project, now: datetime, *, purpose: str = Round.Purpose.PROTOCOL, informed: bool = False
) -> Round:
    number = project.rounds.aggregate(last=Max("number"))["last"] + 1
    return Round.objects.create(project=project, number=number, purpose=purpose, informed=informed, opened_at=now)


def give_again(
    member: Membership,
    round_: Round,
    items: Sequence[PlannedItem],
    drafts: Mapping[tuple[int, int], Assignment],
) -> int:
    """Plan these items for a member in the round, with the drafts they had of them; withdrawn ones come back."""
    hold_open(member, round_)
    mine = Assignment.objects.filter(annotator=member, round=round_)
    back = set(mine.filter(state=WITHDRAWN).values_list("item", flat=True)) & {item.id for item in items}
    mine.filter(state=WITHDRAWN, item__in=back).update(state=Assignment.State.LOCKED, first_shown_at=None)
    first, items = queries.last_place(member.pk, round_.pk), [item for item in items if item.id not in back]
    placed = places_of(member, first, items, code=f"{member.code}/round {round_.number}")
    for insert in inserts_of(member, round_, placed):
        insert.execute()
    for one in placed:
        if old := drafts.get((member.pk, one.item)):
            kept = {"draft": old.draft, "draft_number": old.draft_number, "draft_saved_at": old.draft_saved_at}
            mine.filter(item=one.item).update(**kept)
    if not mine.filter(state=Assignment.State.OPEN).exists():
        open_next(annotator_id=member.pk, round_id=round_.pk, ended_id=None, now=None)
    return len(placed) + len(back)


def give_for_another_look(*, project: Project, annotations: Sequence[int], now: datetime) -> list[int]:
    """Give the item of these annotations once more to those who gave them, in the informed round of what is sent back;
    returns the new assignments. The caller holds the project. Refused where nobody of them can be given it."""
    given = Annotation.objects.filter(pk__in=annotations).select_related("assignment__item__trace")
    rows = {one.assignment.annotator_id: one.assignment.item for one in given}
    members = Membership.objects.filter(pk__in=rows).select_related("project").order_by("pk")
    able = [one for one in members if labels_in(one, project) and reads(one, rows[one.pk])]
    if project.closed_at or not able:
        raise Refused(NOBODY_TO_SEND_TO)
    round_ = project.rounds.filter(purpose=Round.Purpose.SENT_BACK, closed_at=None).first()
    states = pairs_in(round_)
    held = {states.get((one.pk, rows[one.pk].pk)) for one in able} - {None, WITHDRAWN}
    if round_ is not None and held == {Assignment.State.SUBMITTED} and not set(states.values()) & set(WAITING):
        end_round(round_, now)
        round_, held = None, set()
    if held:
        raise Refused(SENT_BACK_ALREADY)
    round_ = round_ or next_round(project, now, purpose=Round.Purpose.SENT_BACK, informed=True)
    for one in able:
        give_again(one, round_, [planned(rows[one.pk])], {})
    items = {item.pk for item in rows.values()}
    mine = Assignment.objects.filter(round=round_, annotator__in=able, item__in=items).order_by("pk")
    return list(mine.values_list("pk", flat=True))


def reads(member: Membership, item: Item) -> bool:
    return not item.trace.language or item.trace.language in member.languages


def planned(item: Item) -> PlannedItem:
    return PlannedItem(item.pk, item.trace_id, item.anchor, item.phase, item.trace.language)


def close_rounds(*, project: Project, now: datetime) -> None:
    """Close whatever is open; what nobody has submitted is withdrawn."""
    for round_ in project.rounds.filter(closed_at=None).order_by("pk"):
        end_round(round_, now)


def end_round(round_: Round, now: datetime) -> dict[tuple[int, int], Assignment]:
    """Close a round; what nobody has submitted in it is withdrawn. Returns those with a draft, by member and item."""
    Round.objects.select_for_update(no_key=True).get(pk=round_.pk)
    hold(round_.assignments.filter(state=Assignment.State.OPEN))
    waiting = round_.assignments.filter(state__in=WAITING)
    drafts = {(row.annotator_id, row.item_id): row for row in waiting.filter(draft__isnull=False)}
    pools.give_up(waiting.filter(lease_until__isnull=False))
    waiting.update(state=WITHDRAWN)
    Round.objects.filter(pk=round_.pk).update(closed_at=now)
    return drafts


def first_locked():
    ended_in = Assignment.objects.filter(pk=place("ended")).values("round")  # it may go on in another round by now
    plan = Assignment.objects.filter(
        annotator=place("annotator"), round=Coalesce(Subquery(ended_in), place("round"))
    )
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
    """A lead hands a reported item back to its annotator, draft and all. False when it is with the lead no more;
    Refused where its annotator could not be shown it."""
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if not lead_queries.led_projects(lead).filter(pk=project.pk).exists():
            raise NotYours
        reported = Assignment.objects.filter(
            pk=assignment_id, annotator__project=project, state=Assignment.State.PROBLEM
        )
        row = reported.select_related("round", "annotator__project", "item__trace").first()
        if row is None:
            return False
        language = row.item.trace.language
        is_read = not language or language in row.annotator.languages
        if row.round.closed_at or not is_read or not labels_in(row.annotator, row.annotator.project):
            raise Refused(CANNOT_BE_GIVEN)
        is_leased = row.round.purpose == Round.Purpose.FIRST and is_pool(project)
        Assignment.objects.filter(pk=row.pk, state=Assignment.State.PROBLEM).update(
            state=Assignment.State.OPEN,
            ended_at=None,
            lease_until=Now() + row.annotator.project.lease if is_leased else None,
        )
        Event.objects.create(
            project=project, person=lead, action="problem_given_back", detail={"assignment": assignment_id}
        )
    return True


GIVEN_ALREADY = Problem(
    code="in_use",
    field="assigning",
    expected=gettext_noop(
        "How items are given can be changed until the first one was given to somebody. Since then, who has read what, "
        "in which order, rests on it."
    ),
    remedy=gettext_noop("Leave it as it is, or make another project for the other way."),
)
NOBODY_TO_SEND_TO = Problem(
    code="nobody_to_give_to",
    field="names",
    expected=gettext_noop(
        "Somebody whose answer is chosen, who has a part in the project still and reads the language; and a project "
        "that is not closed."
    ),
    remedy=gettext_noop("Settle it without them."),
)
SENT_BACK_ALREADY = Problem(
    code="sent_back_already",
    field="names",
    expected=gettext_noop("Somebody who does not have the item back already; others still work on what was sent back."),
    remedy=gettext_noop("Choose others, wait until all is answered, or settle it as it is."),
)
CANNOT_BE_GIVEN = Problem(
    code="nobody_to_give_to",
    field="problem",
    expected=gettext_noop("Its annotator has left or reads the language no more, or the round of the item is closed."),
    remedy=gettext_noop("It stays reported and counts as left out."),
)
