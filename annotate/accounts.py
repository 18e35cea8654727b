"""What people do with their own account: settings, password, sessions, and the end of it. Each function is one action
in one transaction. Passwords are checked and hashed outside of them, as nobody may wait for that."""

import secrets
from datetime import datetime, timedelta

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import get_language

from annotate import people, sessions
from annotate.errors import Refused
from annotate.models import Event, Invite, Membership, Person, Project, Role, Token
from annotate.setting_up import hash_of
from annotate.traces.base import Problem, gettext_noop

LINK_DAYS = 1
Purpose = Invite.Purpose


def change_preferences(*, person: Person, interface_language: str, time_zone: str) -> None:
    """How pages are shown to this person; without a zone, times are those of whatever browser they use."""
    with transaction.atomic():
        person.interface_language = interface_language
        person.time_zone = time_zone
        person.save(update_fields=["interface_language", "time_zone"])
        Event.objects.create(person=person, action="preferences_changed")


def change_password(*, person: Person, password: str, session_key: str | None, now: datetime) -> bool:
    """Set a new password and sign the person out everywhere but in this session. `person` is as they were when the old
    password was checked: False where it was changed since."""
    before, person.password = person.password, make_password(password)
    with transaction.atomic():
        if not Person.objects.filter(pk=person.pk, password=before).update(password=person.password):
            return False
        n_ended = sessions.end_sessions(person, but=session_key)
        end_links(person, now)
        Event.objects.create(person=person, action="password_changed", detail={"sessions_ended": n_ended})
    return True


def sign_out_elsewhere(*, person: Person, session_key: str | None) -> int:
    """End every session of this person but this one; returns how many that were."""
    with transaction.atomic():
        n_ended = sessions.end_sessions(person, but=session_key)
        Event.objects.create(person=person, action="signed_out_elsewhere", detail={"sessions_ended": n_ended})
    return n_ended


# A forgotten password


def make_password_link(*, person: Person, now: datetime) -> str:
    """The secret of a link with which this person sets a new password, once. Links made for them before die. Refused
    for an account that nobody can sign in to."""
    if not person.is_active or not person.has_usable_password():
        raise Refused(cannot_sign_in(person.username))
    secret = secrets.token_urlsafe(32)
    with transaction.atomic():
        end_links(person, now)
        link = Invite.objects.create(
            token_hash=hash_of(secret),
            purpose=Purpose.PASSWORD,
            person=person,
            expires_at=now + timedelta(days=LINK_DAYS),
        )
        Event.objects.create(action="password_link_made", detail={"person": person.pk, "invite": link.pk})
    return secret


def cannot_sign_in(username: str) -> Problem:
    return Problem(
        code="no_password",
        field="name",
        expected=gettext_noop("Nobody can sign in with the account %(person)s: it is closed, or made up for a demo."),
        remedy=gettext_noop("Invite the person again; they make a new account."),
        params={"person": username},
    )


def end_links(person: Person, now: datetime) -> None:
    links = Invite.objects.filter(purpose=Purpose.PASSWORD, person=person, spent_at=None, revoked_at=None)
    links.update(revoked_at=now)


def good_links(secret: str, now: datetime) -> QuerySet[Invite]:
    """The link with this secret, while it is good. Without a join: so the UPDATE that spends it finds no row where
    another one was first."""
    links = Invite.objects.filter(token_hash=hash_of(secret), purpose=Purpose.PASSWORD)
    return links.filter(spent_at=None, revoked_at=None, expires_at__gt=now)


def person_of_link(secret: str, *, now: datetime) -> Person | None:
    """Whose password a link sets; None where it works no more or never did. Looking spends nothing."""
    link = good_links(secret, now).select_related("person").first()
    return link.person if link and link.person.is_active else None


def set_password_by_link(*, secret: str, password: str, now: datetime) -> Person | None:
    """Spend the link for a new password, which signs the person out everywhere. None where it works no more."""
    hashed = make_password(password)
    with transaction.atomic():
        if not good_links(secret, now).update(spent_at=now, spent_by=F("person")):
            return None
        link = Invite.objects.select_related("person").get(token_hash=hash_of(secret))
        Person.objects.filter(pk=link.person_id).update(password=hashed)
        n_ended = sessions.end_sessions(link.person)
        detail = {"invite": link.pk, "sessions_ended": n_ended}
        Event.objects.create(person=link.person, action="password_set_by_link", detail=detail)
    return link.person


# The end of an account


def deactivate(*, person: Person, now: datetime) -> None:
    """Close the account for good. Labels stay under the codes that the person had; items they have not submitted are
    withdrawn, and nothing is left by which they can get in or be known. Refused for the last lead of a project."""
    with transaction.atomic():
        leave_projects(person, now)
        sessions.end_sessions(person)
        Token.objects.filter(person=person, revoked_at=None).update(revoked_at=now)
        end_links(person, now)
        person.set_unusable_password()
        person.username = f"closed-{secrets.token_hex(8)}"
        person.is_active = person.may_create_projects = False
        person.interface_language = person.time_zone = ""
        person.last_login = None
        person.save()
        Event.objects.create(person=person, action="account_closed")


def leave_projects(person: Person, now: datetime) -> None:
    """End every part of a person; Refused where that would leave a project without a lead. Projects are locked in their
    order, so that two who leave at once cannot wait for each other."""
    parts = list(Membership.objects.filter(person=person, left_at=None).order_by("project"))
    for member in parts:
        member.project = people.lock_people(Project(pk=member.project_id))
    alone = [member.project for member in parts if member.role == Role.LEAD and not people.others_lead(member)]
    if alone:
        raise Refused(last_lead(alone))
    Invite.objects.filter(created_by=person, spent_at=None, revoked_at=None).update(revoked_at=now)
    for member in parts:
        people.change(member, "member_left", by=person, now=now, left_at=now)


def last_lead(projects: list[Project]) -> Problem:
    titles = [project.title_zh if get_language() == "zh-hans" else project.title_en for project in projects]
    return Problem(
        code="last_lead",
        field="password",
        expected=gettext_noop("A project has a lead, and you are the last one of: %(projects)s."),
        remedy=gettext_noop("Invite another lead there first."),
        params={"projects": ", ".join(titles)},
    )
