"""Named reads. Each says how many statements it takes; tests pin them."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Avg, Count, Exists, Max, OuterRef, Q, QuerySet, Subquery

from annotate.models import (
    Annotation,
    Assignment,
    File,
    ImportBatch,
    Item,
    Membership,
    Message,
    Post,
    Project,
    Protocol,
    Role,
    Round,
)
from annotate.rules.plans import PlannedItem

VISIBLE_STATES = [Assignment.State.OPEN, Assignment.State.SUBMITTED]
"""What an annotator may open; locked, withdrawn and reported ones are as if they were not there."""

OWN = Q(state=Assignment.State.SUBMITTED) | Q(state=Assignment.State.OPEN, round__closed_at=None)
"""In a closed round what was submitted can be read, and nothing is open any more."""

PAGE_COLUMNS = [
    *("public_id", "state", "order", "sequence", "first_shown_at", "draft", "draft_number"),
    *("annotator__project__slug", "annotator__project__title_en", "annotator__project__title_zh"),
    *("annotator__project__kind", "annotator__project__settings", "annotator__project__is_synthetic"),
    *("item__anchor", "item__text", "item__phase", "item__trace__language"),
    *("round__informed", "round__closed_at"),
]
"""All that annotators' pages read of an assignment and what it belongs to. What is not named here is not loaded."""


def own_assignments(person) -> QuerySet[Assignment]:
    """The person's own visible assignments with all a page needs and no private column: one statement."""
    judged = Message.objects.filter(trace=OuterRef("item__trace"), index=OuterRef("item__anchor"))
    return (
        Assignment.objects.filter(OWN, annotator__person=person, annotator__left_at=None, annotator__paused_at=None)
        .select_related("annotator__project", "item__trace", "round")
        .only(*PAGE_COLUMNS)
        .annotate(recorded_text=Subquery(judged.values("text")[:1]))
    )


def open_assignments(person, project_slug) -> QuerySet[Assignment]:
    """Open ones of one project in reading order."""
    mine = own_assignments(person).filter(annotator__project__slug=project_slug)
    return mine.filter(state=Assignment.State.OPEN).order_by("order")


def messages_shown(trace_id, *, up_to, requester_only) -> QuerySet[Message]:
    """Messages before and at `up_to`; private ones are not even read where the kind shows the requester's view."""
    messages = Message.objects.filter(trace=trace_id, index__lte=up_to)
    return (messages.filter(seen_by=Message.SeenBy.REQUESTER) if requester_only else messages).order_by("index")


def files_shown(trace_id, *, up_to) -> QuerySet[File]:
    return File.objects.filter(trace=trace_id, available_from__lt=up_to).order_by("position")


def protocols_of(project_id) -> list[Protocol]:
    """All protocols of a project without their guidelines, newest first: one statement."""
    return list(Protocol.objects.filter(project=project_id).defer("guideline_en", "guideline_zh").order_by("-number"))


@dataclass(frozen=True, slots=True)
class Pace:
    """How far one is in one's plan, one's own mean active time over the last answers in seconds, and the public id of
    the last item one submitted (which undo may open again)."""

    n_planned: int
    n_in_trace: int
    place_in_trace: int
    n_sequences: int
    seconds: float | None
    last_submitted: str | None


def pace_of(assignment: Assignment) -> Pace:
    """One statement; every part reads a bounded number of index entries, so it costs the same at any size of plan."""
    mine = Assignment.objects.filter(annotator=assignment.annotator_id, round=assignment.round_id)
    last = mine.order_by("-order")
    siblings = mine.filter(sequence=assignment.sequence)
    submitted = mine.filter(state=Assignment.State.SUBMITTED)
    recent = (
        Annotation.objects.filter(
            assignment__annotator=assignment.annotator_id,
            assignment__round=assignment.round_id,
            assignment__order__lt=assignment.order,
            assignment__order__gte=assignment.order - 20,
            is_current=True,
        )
        .order_by()
        .values("assignment__annotator")
    )
    row = (
        Assignment.objects.filter(pk=assignment.pk)
        .annotate(
            last_order=Subquery(last.values("order")[:1]),
            last_sequence=Subquery(last.values("sequence")[:1]),
            first_here=Subquery(siblings.order_by("order").values("order")[:1]),
            last_here=Subquery(siblings.order_by("-order").values("order")[:1]),
            mean_active=Subquery(recent.annotate(mean=Avg("active_ms")).values("mean")),
            last_submitted=Subquery(submitted.order_by("-ended_at", "-order").values("public_id")[:1]),
        )
        .values_list("last_order", "last_sequence", "first_here", "last_here", "mean_active", "last_submitted")
        .get()
    )
    last_order, last_sequence, first_here, last_here, mean_active, last_submitted = row
    return Pace(
        n_planned=last_order + 1,
        n_in_trace=last_here - first_here + 1,
        place_in_trace=assignment.order - first_here + 1,
        n_sequences=last_sequence,
        seconds=None if mean_active is None else float(mean_active) / 1000,
        last_submitted=last_submitted,
    )


def current_annotation(assignment_id) -> Annotation | None:
    return Annotation.objects.filter(assignment=assignment_id, is_current=True).select_related("protocol").first()


def last_submitted_id(annotator_id, round_id) -> int | None:
    """The assignment that undo may open again."""
    return (
        Assignment.objects.filter(annotator=annotator_id, round=round_id, state=Assignment.State.SUBMITTED)
        .order_by("-ended_at", "-order")
        .values_list("pk", flat=True)
        .first()
    )


def active_memberships(person) -> QuerySet[Membership]:
    """Where the person may work now. For a condition on assignments: `annotator__in` keeps an UPDATE to one table, so
    that PostgreSQL checks all of its conditions again on a row it had to wait for; with a join it would not."""
    return Membership.objects.filter(person=person, left_at=None, paused_at=None)


def memberships_of(person) -> QuerySet[Membership]:
    return Membership.objects.filter(person=person, left_at=None).select_related("project").order_by("project__slug")


def plannable_items(project_id, membership_id) -> list[PlannedItem]:
    """Visible items of a project that this member has in no first round yet, an earlier one that was closed included: a
    second first label of a person would be a second rating of one rater."""
    has_it = Assignment.objects.filter(
        item=OuterRef("pk"), annotator=membership_id, round__purpose=Round.Purpose.FIRST
    )
    rows = Item.objects.filter(~Exists(has_it), project=project_id, trace__is_staged=False).values_list(
        "pk", "trace_id", "anchor", "phase", "trace__language"
    )
    return [PlannedItem(*row) for row in rows.iterator(chunk_size=5000)]


def last_place(membership_id, round_id) -> tuple[int, int]:
    """The first free order and sequence of a member's plan."""
    row = Assignment.objects.filter(annotator=membership_id, round=round_id).aggregate(
        order=Max("order"), sequence=Max("sequence")
    )
    return (-1 if row["order"] is None else row["order"]) + 1, (row["sequence"] or 0) + 1


@dataclass(frozen=True, slots=True)
class Rated:
    """One current label of one round-one, uninformed annotation, as the bridge to the statistics reads it."""

    item: int
    rater: str
    cluster: str
    label: dict
    protocol: int
    phase: str


def rated_rows(project: Project, *, phase: str) -> list[Rated]:
    """Labels of a phase that enter human agreement: submitted in a first round, not informed, current: one statement.
    Settled, known and suggested rows live in other tables and cannot join; what an annotator said of an item with a
    known answer is a label like any other."""
    rows = (
        Annotation.objects.filter(
            assignment__item__project=project,
            assignment__item__phase=phase,
            assignment__state=Assignment.State.SUBMITTED,
            assignment__round__purpose=Round.Purpose.FIRST,
            is_current=True,
            informed=False,
        )
        .order_by("assignment__item", "assignment__annotator__code")
        .values_list(
            "assignment__item_id",
            "assignment__annotator__code",
            "assignment__item__cluster",
            "label",
            "protocol__number",
            "assignment__item__phase",
        )
    )
    return [Rated(*row) for row in rows.iterator(chunk_size=5000)]


@dataclass(frozen=True, slots=True)
class ProblemReport:
    assignment_id: int
    item: int
    source: str
    code: str
    text: str
    at: datetime


def problem_reports(project: Project) -> list[ProblemReport]:
    """Reported problems whose assignment is still ended by them, newest first: one statement."""
    assignment = Assignment.objects.filter(
        annotator=OuterRef("author"), item=OuterRef("item"), round=OuterRef("round"), state=Assignment.State.PROBLEM
    )
    rows = (
        Post.objects.filter(item__project=project, purpose=Post.Purpose.PROBLEM)
        .annotate(assignment=Subquery(assignment.values("pk")[:1]))
        .filter(assignment__isnull=False)
        .order_by("-pk")
        .values_list("assignment", "item", "item__trace__source_id", "author__code", "text", "created_at")
    )
    return [ProblemReport(*row) for row in rows]


def own_submitted(person, project_slug, *, before: int | None) -> QuerySet[Assignment]:
    """The person's submitted assignments of one project, last in the plan first, those before an order if given."""
    mine = Assignment.objects.filter(
        annotator__person=person,
        annotator__project__slug=project_slug,
        annotator__left_at=None,
        annotator__paused_at=None,
        state=Assignment.State.SUBMITTED,
    )
    return (mine if before is None else mine.filter(order__lt=before)).order_by("-order")


def guideline_for(person, project_slug) -> Protocol | None:
    """The newest protocol of a project the person belongs to."""
    mine = Protocol.objects.filter(
        project__slug=project_slug, project__memberships__person=person, project__memberships__left_at=None
    )
    return mine.order_by("-number").first()


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
    """Assignments of a phase that ended in a reported problem."""
    return Assignment.objects.filter(
        item__project=project, item__phase=phase, state=Assignment.State.PROBLEM
    ).count()


def reported_in(person, public_id) -> str | None:
    """The slug of the project in which the person ended this item by reporting a problem."""
    mine = Assignment.objects.filter(
        public_id=public_id,
        annotator__person=person,
        annotator__left_at=None,
        annotator__paused_at=None,
        state=Assignment.State.PROBLEM,
    )
    return mine.values_list("annotator__project__slug", flat=True).first()
