"""Named reads for leads and for the figures. Each says how many statements it takes; tests pin them. What one's own
labelling pages read is in `queries.py`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import BigIntegerField, Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce

from annotate.models import (
    Annotation,
    Assignment,
    Event,
    ImportBatch,
    Invite,
    Item,
    Membership,
    Phase,
    Post,
    Project,
    Protocol,
    Role,
    Round,
    Settlement,
    Trace,
    Work,
)
from annotate.rules.next_steps import PhaseCounts
from annotate.rules.plans import PHASES, PlannedItem


def led_projects(person) -> QuerySet[Project]:
    """Projects in which the person is a lead now."""
    return Project.objects.filter(
        memberships__person=person, memberships__role=Role.LEAD, memberships__left_at=None
    ).order_by("slug")


def member_progress(project: Project) -> QuerySet[Membership]:
    """The members of a project with the numbers of their assignments by state: one statement."""
    counts = {
        f"n_{state}": Count("assignments", filter=Q(assignments__state=state))
        for state in (Assignment.State.SUBMITTED, Assignment.State.PROBLEM)
    }
    members = Membership.objects.filter(project=project).select_related("person")
    return members.annotate(n_assigned=Count("assignments"), **counts).order_by("role", "code")


def batches_of(project: Project) -> QuerySet[ImportBatch]:
    """The imports of a project, newest first."""
    return ImportBatch.objects.filter(project=project).exclude(state=ImportBatch.State.STAGED).order_by("-pk")


def n_problems(project: Project, *, phase: str) -> int:
    """Assignments of a phase that ended in a reported problem in a blind round."""
    return Assignment.objects.filter(
        item__project=project, item__phase=phase, state=Assignment.State.PROBLEM, round__purpose__in=RATING_ROUNDS
    ).count()


RATING_ROUNDS = (Round.Purpose.FIRST, Round.Purpose.PROTOCOL)
"""Rounds whose uninformed labels enter human agreement, each under the protocol it was given under."""


def labelled_under_older(project: Project, protocol: int) -> dict[int, list[PlannedItem]]:
    """By member, the items of the main phase whose newest label of theirs has a protocol below this number: one
    statement."""
    rows = (
        Annotation.objects.filter(
            assignment__item__project=project,
            assignment__item__phase=Phase.MAIN,
            assignment__state=Assignment.State.SUBMITTED,
            assignment__round__purpose__in=RATING_ROUNDS,
            assignment__annotator__left_at=None,
            is_current=True,
        )
        .values_list(
            *("assignment__annotator", "assignment__annotator__languages"),
            *(f"assignment__item{name}" for name in ("", "__trace", "__anchor", "__phase", "__trace__language")),
        )
        .annotate(newest=Max("protocol__number"))
    )
    found: dict[int, list[PlannedItem]] = {}
    for member, languages, *item, newest in rows.order_by().iterator(chunk_size=5000):
        planned = PlannedItem(*item)
        if newest < protocol and planned.language in ("", *languages):
            found.setdefault(member, []).append(planned)
    return found


@dataclass(frozen=True, slots=True)
class Partial:
    """A rater who left: how many labels they gave of those they were asked for; an item that a new protocol opened
    again counts again."""

    code: str
    n_submitted: int
    n_given: int


def partial_raters(project: Project, *, phase: str = "", round: int | None = None) -> list[Partial]:
    """Members who left before all they were given in a phase, or in all of them, was labelled: one statement."""
    return [one for one in of_who_left(project, phase=phase, round=round).values() if one.n_submitted < one.n_given]


def of_who_left(project: Project, *, phase: str = "", round: int | None = None) -> dict[int, Partial]:
    """By member who left, what they labelled and had been given in the rounds that human agreement is read from: one
    statement. What was withdrawn had been given where they read its language; of rounds that a new protocol opened only
    the last one still asked for anything, of earlier ones only labels count. `round` looks at one alone."""
    newest = Round.objects.filter(project=project, purpose=Round.Purpose.PROTOCOL).order_by("-number").values("pk")[:1]
    first = Q(round__purpose=Round.Purpose.FIRST)
    asked = first | Q(round=Subquery(newest))
    submitted = Q(state=Assignment.State.SUBMITTED, round__purpose__in=RATING_ROUNDS)
    counted = asked | submitted if round is None else Q(round__number=round)
    rows = Assignment.objects.filter(counted, annotator__project=project, annotator__left_at__isnull=False)
    rows = rows.filter(item__phase=phase) if phase else rows
    groups = rows.values_list(
        *("annotator", "annotator__code", "annotator__languages", "item__trace__language", "state"),
        Q(lease_until__isnull=False),
    ).annotate(n=Count("pk"))
    found: dict[int, Partial] = {}
    for member, code, languages, language, state, leased, n in groups.order_by("annotator__code"):
        if state == Assignment.State.WITHDRAWN and (leased or language not in ("", *languages)):
            continue
        before = found.get(member, Partial(code, 0, 0))
        n_submitted = before.n_submitted + (n if state == Assignment.State.SUBMITTED else 0)
        found[member] = Partial(code, n_submitted, before.n_given + n)
    return found


@dataclass(frozen=True, slots=True)
class ProblemReport:
    assignment_id: int
    item: int
    source: str
    code: str
    text: str
    at: datetime


def problem_reports(project: Project) -> list[ProblemReport]:
    """Reported problems whose assignment is still ended by them, newest first: one statement. Of an item that was given
    back and reported again the last report counts."""
    assignment = Assignment.objects.filter(
        annotator=OuterRef("author"), item=OuterRef("item"), round=OuterRef("round"), state=Assignment.State.PROBLEM
    )
    later = Post.objects.filter(
        **{name: OuterRef(name) for name in ("author", "item", "round", "purpose")}, pk__gt=OuterRef("pk")
    )
    rows = (
        Post.objects.filter(~Exists(later), item__project=project, purpose=Post.Purpose.PROBLEM)
        .annotate(assignment=Subquery(assignment.values("pk")[:1]))
        .filter(assignment__isnull=False)
        .order_by("-pk")
        .values_list("assignment", "item", "item__trace__source_id", "author__code", "text", "created_at")
    )
    return [ProblemReport(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class ListedItem:
    """An item in the lead's list. `n_submitted` counts the people who labelled it in a blind round, `has_known` says
    whether it has a known answer."""

    id: int
    source: str
    anchor: int
    phase: str
    language: str
    cluster: str
    n_submitted: int
    has_known: bool


def listed_items(
    project: Project, *, phase: str = "", after: int = 0, after_practice: bool = False, limit: int
) -> list[ListedItem]:
    """A page of the visible items in the order they came in, behind the one with the id `after`; with `after_practice`
    those of later phases that have a known answer: one statement."""
    known = Settlement.objects.filter(item=OuterRef("pk"), how=Settlement.How.KNOWN, is_current=True)
    submitted = Assignment.objects.filter(
        item=OuterRef("pk"), state=Assignment.State.SUBMITTED, round__purpose__in=RATING_ROUNDS
    ).order_by()
    items = Item.objects.filter(project=project, trace__is_staged=False, pk__gt=after)
    if phase:
        items = items.filter(phase=phase)
    if after_practice:
        items = items.filter(Exists(known)).exclude(phase=Phase.PRACTICE)
    rows = items.order_by("pk").values_list(
        *("pk", "trace__source_id", "anchor", "phase", "trace__language", "cluster"),
        Coalesce(Subquery(submitted.values("item").annotate(n=Count("annotator", distinct=True)).values("n")), 0),
        Exists(known),
    )
    return [ListedItem(*row) for row in rows[:limit]]


def has_traces(project: Project) -> bool:
    """Whether a project has traces, or a file on its way in that will bring some: at most two statements."""
    on_its_way = ImportBatch.objects.filter(project=project, state=ImportBatch.State.STAGED)
    return Trace.objects.filter(project=project).exists() or on_its_way.exists()


@dataclass(frozen=True, slots=True)
class LanguageUse:
    """How many traces are in a language, and how many members who have not left read it."""

    n_traces: int
    n_members: int


def use_of_language(project: Project, language: str) -> LanguageUse:
    """Two statements. Languages of members are lists, which the databases search differently; members are few."""
    read = Membership.objects.filter(project=project, left_at=None).values_list("languages", flat=True)
    return LanguageUse(
        n_traces=Trace.objects.filter(project=project, language=language).count(),
        n_members=sum(language in languages for languages in read),
    )


def n_labels_of_leads(project: Project) -> int:
    """Assignments that leads have submitted."""
    return Assignment.objects.filter(
        annotator__project=project, annotator__role=Role.LEAD, state=Assignment.State.SUBMITTED
    ).count()


WAS_SHOWN = Q(first_shown_at__isnull=False) | Q(state__in=[Assignment.State.SUBMITTED, Assignment.State.PROBLEM])


def n_shown(project: Project, *, phases: list[str]) -> int:
    """Items of these phases that were shown to somebody."""
    shown = Assignment.objects.filter(WAS_SHOWN, item__project=project, item__phase__in=phases)
    return shown.values("item").distinct().count()


def phase_counts(project: Project) -> list[PhaseCounts]:
    """How far each phase is, in their order: two statements."""
    known = Settlement.objects.filter(item=OuterRef("pk"), how=Settlement.How.KNOWN, is_current=True)
    items = Item.objects.filter(project=project, is_planned=True).exclude(trace__is_staged=True)
    by_phase = items.order_by().values("phase").annotate(n=Count("pk"), known=Count("pk", filter=Exists(known)))
    found = {row["phase"]: row for row in by_phase}
    done = {row.pop("item__phase"): row for row in counts_of_assignments(project)}
    return [
        PhaseCounts(
            phase,
            n_items=found[phase]["n"] if phase in found else 0,
            n_known=found[phase]["known"] if phase in found else 0,
            **done.get(phase, {}),
        )
        for phase in PHASES
    ]


def counts_of_assignments(project: Project) -> QuerySet:
    """By phase, what there is to label blind, what was, and what was on show. Withdrawn ones count as shown only."""
    state, waiting = Assignment.State, [Assignment.State.LOCKED, Assignment.State.OPEN]
    given = Assignment.objects.filter(item__project=project, round__purpose__in=RATING_ROUNDS).order_by()
    return given.values("item__phase").annotate(
        n_planned=Count("pk", filter=~Q(state=state.WITHDRAWN)),
        n_submitted=Count("pk", filter=Q(state=state.SUBMITTED)),
        n_problems=Count("pk", filter=Q(state=state.PROBLEM)),
        n_behind=Count("annotator", distinct=True, filter=Q(state__in=waiting)),
        n_shown=Count("pk", filter=WAS_SHOWN),
    )


@dataclass(frozen=True, slots=True)
class ProtocolRow:
    """A protocol with who opened it and how many current labels were given under it."""

    number: int
    guideline_en: str
    guideline_zh: str
    change_note: str
    at: datetime
    by: str
    n_labels: int
    label_schema: dict


def protocol_rows(project: Project) -> list[ProtocolRow]:
    """The protocols of a project, newest first: two statements. Who opened one stands in the log."""
    opened = Event.objects.filter(project=project, action__in=["project_created", "protocol_opened"])
    people = {detail.get("number", 1): name for detail, name in opened.values_list("detail", "person__username")}
    labels = (
        Annotation.objects.filter(
            protocol=OuterRef("pk"), is_current=True, assignment__state=Assignment.State.SUBMITTED
        )
        .order_by()
        .values("protocol")
    )
    rows = Protocol.objects.filter(project=project).annotate(n=Subquery(labels.annotate(n=Count("pk")).values("n")))
    return [
        ProtocolRow(
            row.number,
            row.guideline_en,
            row.guideline_zh,
            row.change_note,
            row.created_at,
            people.get(row.number) or "",
            row.n or 0,
            row.label_schema,
        )
        for row in rows.order_by("-number")
    ]


def n_under_older(project: Project, newest: int) -> int:
    """How many (person, item) pairs of the main phase have no label under the newest protocol and wait for none: one
    statement that reads each label once."""
    waits = Assignment.objects.filter(
        annotator=OuterRef("assignment__annotator"),
        item=OuterRef("assignment__item"),
        round__purpose=Round.Purpose.PROTOCOL,
        round__closed_at=None,
        state__in=[Assignment.State.LOCKED, Assignment.State.OPEN, Assignment.State.PROBLEM],
    )
    pairs = (
        Annotation.objects.filter(
            ~Exists(waits),
            assignment__item__project=project,
            assignment__item__phase=Phase.MAIN,
            assignment__state=Assignment.State.SUBMITTED,
            assignment__round__purpose__in=RATING_ROUNDS,
            assignment__annotator__left_at=None,
            is_current=True,
        )
        .order_by()
        .values("assignment__annotator", "assignment__item")
    )
    return pairs.annotate(last=Max("protocol__number")).filter(last__lt=newest).count()


def events_of(project: Project, *, action: str = "", before: int | None = None) -> QuerySet[Event]:
    """The log of a project, newest first, with the names of people: one statement for a page of it."""
    events = Event.objects.filter(project=project).select_related("person").order_by("-pk")
    events = events.filter(action=action) if action else events
    return events if before is None else events.filter(pk__lt=before)


def people_of(project: Project) -> QuerySet[Membership]:
    """The members as in `member_progress` and how many of their assignments are withdrawn, who left last: one
    statement."""
    withdrawn = Count("assignments", filter=Q(assignments__state=Assignment.State.WITHDRAWN))
    members = member_progress(project).annotate(n_withdrawn=withdrawn)
    return members.order_by(F("left_at").asc(nulls_first=True), "role", "pk")


def people_and_given(project: Project) -> list[tuple[Membership, int]]:
    """The members as in `people_of`, each with how many assignments they were given: of who left as `of_who_left`
    counts them, of others all that is not withdrawn: two statements."""
    left = of_who_left(project)
    return [
        (member, (left[member.pk].n_given if member.pk in left else 0) if member.left_at else n_not_withdrawn(member))
        for member in people_of(project)
    ]


def n_not_withdrawn(member) -> int:
    return member.n_assigned - member.n_withdrawn


def invites_of(project: Project) -> QuerySet[Invite]:
    """The links to a project, newest first, with who made and who used them: one statement."""
    return Invite.objects.filter(project=project).select_related("created_by", "spent_by").order_by("-pk")


IMPORTS = "import_traces"
"""The kind of the jobs that import uploaded files."""


@dataclass(frozen=True, slots=True)
class ListedImport:
    """An import in the lead's list: an upload with its job, or a file that a command brought in, which has none."""

    at: datetime
    file_name: str
    phase: str
    state: str
    percent: int
    n_new: int | None
    n_items: int | None
    n_problems: int | None
    work_id: int | None = None

    @property
    def phase_words(self) -> str:
        return phase_words(self.phase)


def phase_words(phase: str) -> str:
    return Phase(phase).label if phase in Phase.values else ""


def listed_imports(project: Project, *, first: int, limit: int) -> list[ListedImport]:
    """A page of the imports of a project, newest first: at most four statements."""
    jobs = Work.objects.filter(project=project, kind=IMPORTS).order_by()
    own_job = jobs.annotate(batch=batch_id()).filter(batch=OuterRef("pk"))
    alone = ImportBatch.objects.filter(~Exists(own_job), project=project).exclude(state=ImportBatch.State.STAGED)
    both = jobs.values_list("created_at", "id", Value(True)).union(
        alone.order_by().values_list("created_at", "id", Value(False)), all=True
    )
    places = [(pk, bool(is_job)) for _, pk, is_job in both.order_by("-created_at", "-id")[first : first + limit]]
    own = jobs.annotate(batch=batch_id()).filter(pk__in=[pk for pk, is_job in places if is_job])
    rows = {row.pk: row for row in own}
    wanted = {row.batch for row in rows.values()} | {pk for pk, is_job in places if not is_job}
    batches = {batch.pk: batch for batch in ImportBatch.objects.filter(pk__in=wanted - {None}, project=project)}
    return [of_job(rows[pk], batches) if is_job else of_batch(batches[pk]) for pk, is_job in places]


def batch_id() -> Cast:
    """The batch that a job of an import noted down."""
    return Cast(KeyTextTransform("batch", "result"), BigIntegerField())


def of_job(row: Work, batches: dict[int, ImportBatch]) -> ListedImport:
    batch = batches.get(row.batch) if row.state == Work.State.DONE else None
    if batch is not None:
        return of_batch(batch, at=row.created_at, work_id=row.pk)
    name, phase = row.payload.get("file_name", ""), row.payload.get("phase", "")
    percent = 100 * row.n_done // row.n_total if row.n_total else 0
    return ListedImport(row.created_at, name, phase, row.state, percent, None, None, None, row.pk)


def of_batch(batch: ImportBatch, *, at: datetime | None = None, work_id: int | None = None) -> ListedImport:
    counts = [batch.counts.get(name) for name in ("new", "items", "n_problems")]
    return ListedImport(at or batch.created_at, batch.file_name, batch.phase, batch.state, 100, *counts, work_id)


def import_job(project: Project, work_id: int) -> Work | None:
    """The job of an upload: one statement."""
    return Work.objects.filter(pk=work_id, project=project, kind=IMPORTS).first()


def batch_of_job(job: Work) -> ImportBatch | None:
    """What the job of an upload made of its file so far: at most one statement."""
    batch = (job.result or {}).get("batch")
    return ImportBatch.objects.filter(pk=batch, project=job.project_id).first() if batch else None


def is_behind_another(job: Work) -> bool:
    """Whether another job of the same lane runs: one statement."""
    return Work.objects.filter(lane=job.lane, state=Work.State.RUNNING).exclude(lane="").exclude(pk=job.pk).exists()


@dataclass(frozen=True, slots=True)
class SourceItem:
    """An item by the id its trace had in its file. `is_settled` says that a reviewer has settled it."""

    item: int
    source: str
    is_settled: bool


def items_of_sources(project: Project) -> QuerySet[Item]:
    settled = Settlement.objects.filter(item=OuterRef("pk"), is_current=True).exclude(how=Settlement.How.KNOWN)
    items = Item.objects.filter(project=project, trace__is_staged=False).order_by("pk")
    return items.annotate(is_settled=Exists(settled))


def items_by_source(project: Project, sources: Sequence[str]) -> dict[str, list[SourceItem]]:
    """The visible items of these traces, of any phase: one statement."""
    rows = items_of_sources(project).filter(trace__source_id__in=sources)
    found: dict[str, list[SourceItem]] = {}
    for pk, source, is_settled in rows.values_list("pk", "trace__source_id", "is_settled"):
        found.setdefault(source, []).append(SourceItem(pk, source, is_settled))
    return found


def marked_items(project: Project) -> list[tuple[SourceItem, list]]:
    """The visible items whose traces came with marks of others, and the marks; those that a reviewer has settled are
    left out: one statement."""
    rows = items_of_sources(project).filter(is_settled=False, trace__metadata__has_key="labels")
    values = rows.values_list("pk", "trace__source_id", "is_settled", "trace__metadata__labels")
    return [(SourceItem(*row), marks) for *row, marks in values if isinstance(marks, list)]


def with_current_settlement(items: Sequence[int]) -> set[int]:
    """Which of these items have a known answer or were settled: a statement for every 500."""
    found: set[int] = set()
    for start in range(0, len(items), 500):
        rows = Settlement.objects.filter(item__in=items[start : start + 500], is_current=True)
        found.update(rows.values_list("item", flat=True))
    return found
