"""Named reads for leads and for the figures. Each says how many statements it takes; tests pin them. What one's own
labelling pages read is in `queries.py`."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from annotate.models import Annotation, Assignment, ImportBatch, Membership, Post, Project, Role, Round


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
