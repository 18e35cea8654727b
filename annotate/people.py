"""What becomes of the people of a project: they pause, leave, come back, read other languages. Each change is one
transaction that leaves their plan fitting who they are now; what they submitted stays whatever happens."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction

from annotate import assigning, lead_queries
from annotate.errors import NotYours, Refused
from annotate.models import Event, Invite, Membership, Person, Project, Role
from annotate.traces.base import Problem, gettext_noop


def lock_people(project: Project) -> Project:
    """The project as it is now; who else changes its people waits for the end of this transaction, who refers to the
    project does not."""
    return Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def lock_led(project: Project, by: Person) -> Project:
    """The project as it is now and stays until this transaction ends, so that its leads change it one after the other;
    NotYours for who does not lead it. That is looked at behind the lock: who is retired while they wait for it changes
    nothing any more."""
    project = lock_people(project)
    if not lead_queries.led_projects(by).filter(pk=project.pk).exists():
        raise NotYours
    return project


def member_to_change(project: Project, member_id: int, by: Person) -> Membership:
    """The member as they are now and stay until this transaction ends; NotYours for who does not lead the project."""
    project = lock_led(project, by)
    member = Membership.objects.filter(project=project, pk=member_id).select_related("person").first()
    if member is None:
        raise NotYours
    member.project = project
    return member


def change(member: Membership, action: str, *, by: Person, now: datetime, **values: Any) -> bool:
    """Write the values down, say so in the events and fit the plan."""
    for name, value in values.items():
        setattr(member, name, value)
    member.save(update_fields=list(values))
    detail = {"code": member.code, **{name: value for name, value in values.items() if name == "languages"}}
    Event.objects.create(project=member.project, person=by, action=action, detail=detail)
    assigning.fit_plan(member=member, now=now)
    return True


def retire_member(*, project: Project, member_id: int, by: Person, now: datetime, knowingly: bool = False) -> bool:
    """End a part: the labels stay, what was not submitted is withdrawn, links of theirs that nobody used work no more.
    False where it has ended already. Refused for the last lead, and for one's own part unless `knowingly`."""
    with transaction.atomic():
        member = member_to_change(project, member_id, by)
        if member.left_at is not None:
            return False
        if member.role == Role.LEAD and not others_lead(member):
            raise Refused(LAST_LEAD)
        if member.person_id == by.pk and not knowingly:
            raise Refused(OWN_PART)
        links = Invite.objects.filter(project=project, created_by=member.person, spent_at=None, revoked_at=None)
        links.update(revoked_at=now)
        return change(member, "member_retired", by=by, now=now, left_at=now)


def others_lead(member: Membership) -> bool:
    """Whether somebody else leads the project who can sign in."""
    leads = Membership.objects.filter(project=member.project, role=Role.LEAD, left_at=None, person__is_active=True)
    return leads.exclude(pk=member.pk).exists()


LAST_LEAD = Problem(
    code="last_lead",
    field="member",
    expected=gettext_noop("A project has a lead; this is the last one."),
    remedy=gettext_noop("Invite another lead first."),
)
OWN_PART = Problem(
    code="own_part",
    field="knowingly",
    expected=gettext_noop("This is your own part; without it you cannot open the project any more."),
    remedy=gettext_noop("Tick that you know this, if it is what you want."),
)


def bring_back_member(*, project: Project, member_id: int, by: Person, now: datetime) -> bool:
    """Who left has their part again, and what was withdrawn. False for who has not left."""
    with transaction.atomic():
        member = member_to_change(project, member_id, by)
        if member.left_at is None:
            return False
        if not member.person.is_active:
            raise Refused(NO_ACCOUNT)
        return change(member, "member_brought_back", by=by, now=now, left_at=None, paused_at=None)


NO_ACCOUNT = Problem(
    code="no_account",
    field="member",
    expected=gettext_noop("The account behind this part is closed, so nobody can sign in with it."),
    remedy=gettext_noop("Invite the person again; they make a new account."),
)


def pause_member(*, project: Project, member_id: int, by: Person, now: datetime) -> bool:
    """An annotator is shown no item until they are resumed. False where there is nothing to pause."""
    with transaction.atomic():
        member = member_to_change(project, member_id, by)
        if member.role != Role.ANNOTATOR or member.left_at is not None or member.paused_at is not None:
            return False
        return change(member, "member_paused", by=by, now=now, paused_at=now)


def resume_member(*, project: Project, member_id: int, by: Person, now: datetime) -> bool:
    """A paused annotator goes on where they were; known answers from before count no more for the pass rule. False for
    who is not paused."""
    with transaction.atomic():
        member = member_to_change(project, member_id, by)
        if member.left_at is not None or member.paused_at is None:
            return False
        return change(member, "member_resumed", by=by, now=now, paused_at=None, qualifies_from=now)


def set_languages(*, project: Project, member_id: int, languages: Iterable[str], by: Person, now: datetime) -> bool:
    """Say which languages of the project a member reads; items in others are withdrawn, in new ones added. False where
    nothing changes, and for who has left."""
    with transaction.atomic():
        member = member_to_change(project, member_id, by)
        chosen = languages_in(member.project, languages)
        if member.left_at is not None or member.languages == chosen:
            return False
        return change(member, "member_languages_set", by=by, now=now, languages=chosen)


def languages_in(project: Project, languages: Iterable[str]) -> list[str]:
    """These languages in the order of the project's; Refused where one is none of them, or there is none at all."""
    wanted = set(languages)
    if not wanted or wanted - set(project.languages):
        raise Refused(
            Problem(
                code="unknown_value",
                field="languages",
                expected=gettext_noop("At least one language of the project: %(allowed)s."),
                remedy=gettext_noop("Choose what this person reads."),
                params={"allowed": ", ".join(project.languages)},
            )
        )
    return [language for language in project.languages if language in wanted]
