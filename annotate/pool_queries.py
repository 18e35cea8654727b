"""Named reads of pools: what an ask looks through, and how far a pool is. Each says how many statements it takes; tests
pin them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from django.db.models import Case, CharField, Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce, Now

from annotate.models import (
    Assigning,
    Assignment,
    Item,
    Membership,
    Phase,
    PoolItem,
    Project,
    Role,
    Round,
    Settlement,
)
from annotate.prepared import PreparedRead, place
from annotate.queries import Asker
from annotate.rules.plans import PlannedItem
from annotate.rules.pools import PHASE_SPAN, Candidate, phase_of

State = Assignment.State
HOLDING = (State.OPEN, State.SUBMITTED, State.PROBLEM)
"""What takes up a place: an answer, an item that is being read, and one that waits for the lead."""
LAPSED = Q(state=State.WITHDRAWN, lease_until__isnull=False)
"""Given by a pool and taken back again."""
N_CANDIDATES = 400


def askers() -> QuerySet:
    mine = Assignment.objects.filter(annotator=OuterRef("pk"))
    first = Round.objects.filter(project=OuterRef("project"), purpose=Round.Purpose.FIRST, closed_at=None)
    last = mine.filter(round__purpose=Round.Purpose.FIRST, round__closed_at=None).order_by("-order")
    n_held = held(mine).order_by().values("annotator").annotate(n=Count("pk")).values("n")
    return Membership.objects.filter(
        Q(role=Role.ANNOTATOR) | Q(role=Role.LEAD, project__open_lead=True),
        person=place("person"),
        project__slug=place("slug", CharField()),
        project__assigning=Assigning.POOL,
        project__closed_at=None,
        left_at=None,
        paused_at=None,
    ).values_list(
        *("pk", "code", "languages", "project", "project__seed", "project__open_phase"),
        *("project__person_cap", "project__lease"),
        Subquery(first.values("pk")[:1]),
        Subquery(last.values("item__pool__block")[:1]),
        Subquery(last.values("item__trace")[:1]),
        Case(When(project__person_cap=None, then=Value(0)), default=Coalesce(Subquery(n_held), 0)),
    )


def held(mine: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """What takes up places that a cap counts: practice does not."""
    return mine.filter(round__purpose=Round.Purpose.FIRST, state__in=HOLDING).exclude(item__phase=Phase.PRACTICE)


ASKER = PreparedRead(askers)


def asker_in(person, project_slug) -> Asker | None:
    """The person's part in a pool, None where they have none that labels: one statement."""
    row = ASKER.row(person=person.pk, slug=project_slug)
    return Asker(*row) if row else None


@dataclass(frozen=True, slots=True)
class Ask:
    """What there is for somebody who asks, and what decides whether they are given it."""

    candidates: Sequence[Candidate] = ()
    last_order: int = -1
    last_sequence: int = 0
    last_trace: int | None = None
    practice_is_ready: bool = True
    has_expired: bool = False
    n_held: int = 0


def free_for(n_languages: int) -> QuerySet[PoolItem]:
    """Items with a free place that the asker reads and has not had, nor anything behind them in their trace. What they
    had is looked up item by item (PostgreSQL would join all of it, did this ask for its existence), so that it costs
    the same however much that is."""
    had = Assignment.objects.filter(annotator=place("annotator"), item=OuterRef("item")).filter(
        ~(LAPSED & Q(item=OuterRef(OuterRef("item"))))
    )
    from_here = PoolItem.objects.filter(Exists(had), trace=OuterRef("trace"), anchor__gte=OuterRef("anchor"))
    reads = Q(language="")
    for number in range(n_languages):
        reads |= Q(language=place(f"language{number}", CharField()))
    pooled = PoolItem.objects.alias(had=Subquery(from_here.values("pk")[:1]))
    return pooled.filter(reads, project=place("project"), queue__isnull=False, had__isnull=True)


@cache
def asking(n_languages: int, has_cap: bool) -> PreparedRead:
    """The first block that has something: what came back and earlier phases, then from where one is on, then what lies
    behind in this phase, then later phases; and the block one is in, for the rest of a trace."""

    def build() -> QuerySet:
        free, mine = free_for(n_languages), Assignment.objects.filter(annotator=place("annotator"))
        in_round = mine.filter(round=place("round"))
        last, lapsed = in_round.order_by("-order"), in_round.filter(LAPSED, item=OuterRef("item"))
        known = Settlement.objects.filter(item=OuterRef("item"), how=Settlement.How.KNOWN, is_current=True)
        practice = PoolItem.objects.filter(project=place("project"), queue__lt=PHASE_SPAN)
        expired = Assignment.objects.filter(round=place("round"), state=State.OPEN, lease_until__lt=Now())
        ranges = (
            Q(queue__lte=place("floor")),
            Q(queue__gte=place("block"), queue__lt=place("ceiling")),
            Q(queue__gt=place("floor"), queue__lt=place("block")),
            Q(),
        )
        first = (Subquery(free.filter(one).order_by("queue").values("queue")[:1]) for one in ranges)
        return (
            free.filter(queue__in=[Coalesce(*first), place("block"), place("floor")])
            .filter(~Exists(in_round.filter(state=State.OPEN)))
            .values_list(
                *("item", "trace", "anchor", "block", "queue", "places"),
                Subquery(lapsed.values("pk")[:1]),
                Subquery(last.values("order")[:1]),
                Subquery(last.values("sequence")[:1]),
                Subquery(last.values("item__trace")[:1]),
                ~Exists(practice.filter(~Exists(known))),
                Exists(expired),
                Subquery(held(mine).order_by().values("annotator").annotate(n=Count("pk")).values("n"))
                if has_cap
                else Value(0),
            )[:N_CANDIDATES]
        )

    return PreparedRead(build)


def ask(asker: Asker) -> Ask:
    """One statement; a bounded part of the pool."""
    block = asker.block or 0
    floor = phase_of(block) * PHASE_SPAN
    languages = {f"language{number}": language for number, language in enumerate(asker.languages)}
    rows = asking(len(languages), asker.cap is not None).rows(
        annotator=asker.annotator,
        project=asker.project,
        round=asker.round,
        floor=floor,
        block=block,
        ceiling=floor + PHASE_SPAN,
        **languages,
    )
    if not rows:
        return Ask()
    candidates = [Candidate(*row[:7]) for row in rows]
    order, sequence, trace, is_ready, has_expired, n_held = rows[0][7:]
    return Ask(
        candidates,
        -1 if order is None else order,
        sequence or 0,
        trace,
        bool(is_ready),
        bool(has_expired),
        n_held or 0,
    )


def expired(round_id: int | None = None) -> QuerySet[Assignment]:
    """Open items whose lease has ended by the database's clock, in one round or in all that pools give in: closed ones
    too, as an item may be given at the very moment its round is closed."""
    rounds = Round.objects.filter(purpose=Round.Purpose.FIRST, project__assigning=Assigning.POOL)
    chosen = Q(round__in=rounds) if round_id is None else Q(round=round_id)
    return Assignment.objects.filter(chosen, state=State.OPEN, lease_until__lt=Now())


def not_pooled(project_id: int) -> list[PlannedItem]:
    """Visible items of a project that are not in its pool yet: one statement."""
    rows = Item.objects.filter(project=project_id, trace__is_staged=False, is_planned=True, pool=None)
    values = rows.values_list("pk", "trace_id", "anchor", "phase", "trace__language")
    return [PlannedItem(*row) for row in values.iterator(chunk_size=5000)]


def last_blocks(project_id: int) -> dict[int, int]:
    """The furthest block of each phase: one statement."""
    rows = PoolItem.objects.filter(project=project_id).values_list(F("block") / PHASE_SPAN)
    return {int(phase): last for phase, last in rows.annotate(last=Max("block")).order_by()}


def was_given(project: Project, *, phase: str = "") -> bool:
    """Whether anything of a project, or of one phase of it, was shown to somebody, or typed into: one statement."""
    shown = Q(first_shown_at__isnull=False) | Q(draft_number__gt=0) | Q(state__in=[State.SUBMITTED, State.PROBLEM])
    given = Assignment.objects.filter(shown, annotator__project=project)
    return (given.filter(item__phase=phase) if phase else given).exists()


@dataclass(frozen=True, slots=True)
class PoolPhase:
    """How far a phase of a pool is, for its leads. Practice has no places: everybody does it."""

    phase: str
    n_items: int = 0
    n_places: int | None = None
    n_free: int | None = None
    n_full: int = 0
    n_open: int = 0
    n_submitted: int = 0
    n_lapsed: int = 0


def pool_state(project: Project) -> list[PoolPhase]:
    """Phases with items, in their order: two statements."""
    groups = PoolItem.objects.filter(project=project).order_by().values_list("item__phase")
    pooled = {
        phase: (n_items, n_places, n_left, n_full)
        for phase, n_items, n_places, n_left, n_full in groups.annotate(
            n_items=Count("pk"),
            n_places=Sum("places"),
            n_left=Sum("n_free", filter=Q(places__isnull=False)),
            n_full=Count("pk", filter=Q(n_free=0)),
        )
    }
    given = Assignment.objects.filter(item__project=project, round__purpose=Round.Purpose.FIRST).order_by()
    counts = {
        phase: rest
        for phase, *rest in given.values_list("item__phase").annotate(
            open=Count("pk", filter=Q(state=State.OPEN)),
            submitted=Count("pk", filter=Q(state=State.SUBMITTED)),
            lapsed=Count("pk", filter=LAPSED),
        )
    }
    return [PoolPhase(phase, *pooled[phase], *counts.get(phase, ())) for phase in Phase.values if phase in pooled]


def answered_items(project: Project) -> list[int]:
    """Items of the main phase in a pool whose places are all taken and that nobody has before them: one statement."""
    open_ = Assignment.objects.filter(item=OuterRef("item"), state=State.OPEN, round__purpose=Round.Purpose.FIRST)
    full = PoolItem.objects.filter(project=project, item__phase=Phase.MAIN, places__isnull=False, n_free=0)
    return list(full.filter(~Exists(open_)).order_by("item").values_list("item", flat=True))
