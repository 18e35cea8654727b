"""Known answers as a qualification: who gets too many of them wrong is paused, and a lead lets them go on.

The rule looks at practice items and at known ones that are mixed unmarked into later phases, like any other item there.
A pause is told in the same fixed words whoever set it and whatever for."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from annotate import people, queries
from annotate.blind import OpenAssignment
from annotate.errors import Refused
from annotate.kinds.registry import kind_of
from annotate.models import Event, Membership, Person, Project, Role
from annotate.rules.qualification import LEAST_LAST, MOST_LAST, PassRule, pass_rule
from annotate.traces.base import Problem, gettext_noop


def set_rule(*, lead: Person, project: Project, last: int, percent: int, now: datetime) -> None:
    """Say from when on somebody is paused; `last` 0 ends the rule. It looks at answers that are given from now on, and
    at earlier ones with them. NotYours for who does not lead the project, Refused for numbers that are none."""
    if last and not (LEAST_LAST <= last <= MOST_LAST and 1 <= percent <= 100):
        raise Refused(OUT_OF_RANGE)
    new = {"known_last": last, "known_percent": percent if last else 0}
    with transaction.atomic():
        project = people.lock_led(project, lead)
        if new == {name: project.settings.get(name, 0) for name in new}:
            return
        project.settings |= new
        project.save(update_fields=["settings"])
        detail = {"last": last, "percent": new["known_percent"]}
        Event.objects.create(project=project, person=lead, action="pass_rule_set", detail=detail)


def pause_if_failed(assignment: OpenAssignment, now: datetime) -> bool:
    """Pause the annotator where what they just answered had a known answer and they missed too many of those. Part of
    the caller's transaction; nothing of it is told but the pause."""
    rule = assignment.pass_rule
    if rule is None or assignment.informed:
        return False
    rows = queries.known_answered(assignment.annotator_id, limit=rule.last)
    if not rows or rows[0].assignment != assignment.id:
        return False
    rights = [is_right(assignment.kind, row) for row in rows]
    if not rule.is_failed(rights):
        return False
    member = Membership.objects.filter(pk=assignment.annotator_id, role=Role.ANNOTATOR, paused_at=None)
    if not member.update(paused_at=now):
        return False
    code = Membership.objects.values_list("code", flat=True).get(pk=assignment.annotator_id)
    detail = {"code": code, "right": sum(rights), "of": len(rights)}
    project = Project.objects.get(pk=assignment.project_id)
    Event.objects.create(project=project, action="member_paused_by_rule", detail=detail)
    return True


def is_right(kind, row: queries.KnownAnswered) -> bool:
    schema = row.label_schema or kind.schema
    return bool(kind.grade(kind.load(row.label, schema), kind.load(row.known, schema)).is_right)


@dataclass(frozen=True, slots=True)
class Standing:
    """How many known answers a member has met, of the last ones that the rule looks at."""

    code: str
    n_right: int
    n: int
    is_paused: bool


def standings(project: Project) -> list[Standing]:
    """Of every annotator who answered a known item and has not left; without a rule of all their answers."""
    kind, rule = kind_of(project.kind), pass_rule(project.settings)
    members = Membership.objects.filter(project=project, role=Role.ANNOTATOR, left_at=None).order_by("code")
    answered = queries.known_answered_in(project.pk)
    found = []
    for member in members:
        rows = answered.get(member.pk, [])[: rule.last if rule else None]
        if rows:
            n_right = sum(is_right(kind, row) for row in rows)
            found.append(Standing(member.code, n_right, len(rows), member.paused_at is not None))
    return found


def rule_of(project: Project) -> PassRule | None:
    return pass_rule(project.settings)


OUT_OF_RANGE = Problem(
    code="out_of_range",
    field="known_last",
    expected=gettext_noop("From 1 to 1000 items, and from 1 to 100 in a hundred; or no items for no rule."),
    remedy=gettext_noop("Correct the numbers."),
)
