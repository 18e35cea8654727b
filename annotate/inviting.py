"""Links that give one person a part in a project. A lead makes them; the part and the spending of the link are one
transaction. Only a hash of the secret is stored, so a link is told once."""

import secrets
import unicodedata
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from annotate import assigning, people, setting_up
from annotate.errors import NotYours, Refused
from annotate.models import Event, Invite, Membership, Person, Project, Role
from annotate.traces.base import Problem, gettext_noop

INVITE_DAYS = 7
MAX_DAYS = 60
MAX_NOTE = 200


def make_invite(
    *,
    project: Project,
    role: str,
    languages: Iterable[str],
    note: str,
    by: Person | None,
    now: datetime,
    days: int = INVITE_DAYS,
) -> tuple[Invite, str]:
    """A link and its secret, which is told here and never again. Without languages a reviewer or lead has those of the
    project; an annotator's are said."""
    secret = secrets.token_urlsafe(32)
    with transaction.atomic():
        project = people.lock_people(project) if by is None else people.lock_led(project, by)
        setting_up.check_choice("role", role, Role.values)
        check_note(note)
        check_days(days)
        languages = list(languages) or (project.languages if role != Role.ANNOTATOR else [])
        invite = Invite.objects.create(
            token_hash=setting_up.hash_of(secret),
            purpose=Invite.Purpose.PROJECT,
            project=project,
            role=role,
            languages=people.languages_in(project, languages),
            note=note,
            created_by=by,
            expires_at=now + timedelta(days=days),
        )
        detail = {"invite": invite.pk, "role": role, "days": days}
        Event.objects.create(project=project, person=by, action="invite_made", detail=detail)
    return invite, secret


NO_PART_OF_A_LINE = {"Cc", "Cs", "Zl", "Zp"}
"""Control characters, halves of characters, separators of lines."""


def check_note(note: str) -> None:
    if len(note) > MAX_NOTE or any(unicodedata.category(letter) in NO_PART_OF_A_LINE for letter in note):
        raise Refused(
            Problem(
                code="too_many",
                field="note",
                expected=gettext_noop("A note of one line and at most %(limit)s characters."),
                remedy=gettext_noop("Shorten it."),
                params={"limit": MAX_NOTE},
            )
        )


def check_days(days: int) -> None:
    if not 1 <= days <= MAX_DAYS:
        raise Refused(
            Problem(
                code="too_many",
                field="days",
                expected=gettext_noop("A whole number from %(low)s to %(high)s."),
                remedy=gettext_noop("Choose one of these."),
                params={"low": 1, "high": MAX_DAYS},
            )
        )


def open_invites(now: datetime) -> QuerySet[Invite]:
    """Links to a project that nobody used, took back or waited too long with."""
    return Invite.objects.filter(purpose=Invite.Purpose.PROJECT, spent_at=None, revoked_at=None, expires_at__gt=now)


def find_invite(secret: str, now: datetime) -> Invite | None:
    """The link with this secret, None where it does not work any more or never did. Looking spends nothing."""
    found = open_invites(now).filter(token_hash=setting_up.hash_of(secret))
    return found.select_related("project").first()


def why_not(person: Person, project: Project) -> Problem | None:
    """Why this person cannot join by a link, None where they can: one person has one part, and an ended one is for a
    lead to give back."""
    member = Membership.objects.filter(project=project, person=person).first()
    if member is None:
        return None
    return HAS_A_PART if member.left_at is None else HAS_LEFT


def join_project(*, secret: str, person: Person, now: datetime) -> Membership | None:
    """Spend the link for somebody who is signed in. None where it does not work any more; Refused for who has a part in
    the project or had one, and then the link stays good."""
    with transaction.atomic():
        invite = spend(secret, now)
        return None if invite is None else take_part(invite, person, now)


def join_with_new_account(*, secret: str, username: str, password: str, now: datetime) -> Membership | None:
    """Spend the link for a new account, which is made with it. None where the link does not work any more."""
    person = Person(username=username)
    person.set_password(password)  # takes its time, so it is done before others have to wait for this transaction
    with transaction.atomic():
        invite = spend(secret, now)
        if invite is None:
            return None
        try:
            with transaction.atomic():
                person.save(force_insert=True)
        except IntegrityError:
            raise Refused(NAME_TAKEN) from None
        return take_part(invite, person, now)


NAME_TAKEN = Problem(
    code="duplicate_id",
    field="username",
    expected=gettext_noop("This name is taken. Choose another."),
    remedy="",
)


def spend(secret: str, now: datetime) -> Invite | None:
    """Claim the link; of two who use it at once, one gets it. The people of its project are locked before the link, as
    whoever retires its maker does, so that these two cannot wait for each other."""
    invite = find_invite(secret, now)
    if invite is None:
        return None
    invite.project = people.lock_people(invite.project)
    return invite if open_invites(now).filter(pk=invite.pk).update(spent_at=now) else None


def take_part(invite: Invite, person: Person, now: datetime) -> Membership:
    """The part that a claimed link gives, with its plan; its languages are those that the project still has."""
    project = invite.project
    if (problem := why_not(person, project)) is not None:
        raise Refused(problem)
    languages = tuple(language for language in project.languages if language in invite.languages)
    if not languages:
        raise Refused(NO_LANGUAGE)
    member = setting_up.place_of(project, person, invite.role, "", languages)
    Invite.objects.filter(pk=invite.pk).update(spent_by=person)
    detail = {"code": member.code, "role": member.role, "invite": invite.pk}
    Event.objects.create(project=project, person=person, action="member_joined", detail=detail)
    assigning.fit_plan(member=member, now=now)
    return member


HAS_A_PART = Problem(
    code="duplicate_id",
    field="person",
    expected=gettext_noop("You have a part in this project already."),
    remedy=gettext_noop("The link is still good for somebody else."),
)
NO_LANGUAGE = Problem(
    code="no_language",
    field="languages",
    expected=gettext_noop("The project does not have the languages of this invitation any more."),
    remedy=gettext_noop("Ask a lead for a new one."),
)
HAS_LEFT = Problem(
    code="has_left",
    field="person",
    expected=gettext_noop("You had a part in this project, which has ended."),
    remedy=gettext_noop("Ask a lead to bring you back; a link cannot."),
)


def revoke_invite(*, project: Project, invite_id: int, by: Person, now: datetime) -> bool:
    """Take a link back. False where it was used or taken back before; NotYours where the project has no such link."""
    links = Invite.objects.filter(pk=invite_id, project=project)
    with transaction.atomic():
        people.lock_led(project, by)
        revoked = links.filter(spent_at=None, revoked_at=None).update(revoked_at=now)
        if revoked:
            Event.objects.create(project=project, person=by, action="invite_revoked", detail={"invite": invite_id})
    if not revoked and not links.exists():
        raise NotYours
    return bool(revoked)
