"""Projects and people come to be. Each function is one action in one transaction."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction

from annotate import assigning
from annotate.errors import Refused
from annotate.kinds.registry import all_kinds
from annotate.models import Event, Invite, Membership, Person, Project, Protocol, Role
from annotate.traces.base import Problem, gettext_noop

SET_UP_DAYS = 7
LANGUAGES = ("en", "zh")
SETTINGS = {"text_beside_calls": "private", "show": "light"}


@dataclass(frozen=True, slots=True)
class NewProject:
    """What a project needs to begin."""

    slug: str
    title_en: str
    title_zh: str
    seed: int
    kind: str = "reply"
    languages: tuple[str, ...] = LANGUAGES
    is_synthetic: bool = False


def create_project(*, new: NewProject, by: Person | None, now: datetime) -> Project:
    """A project with the kind's own protocol as its first, and its first round; Refused when the slug is taken or the
    kind unknown."""
    kind = all_kinds().get(new.kind)
    if kind is None:
        raise Refused(
            Problem(
                code="unknown_kind",
                field="kind",
                expected=gettext_noop("One of: %(allowed)s."),
                remedy=gettext_noop("Choose one of these; case counts."),
                params={"allowed": ", ".join(sorted(all_kinds()))},
            )
        )
    try:
        with transaction.atomic():
            project = Project.objects.create(
                slug=new.slug,
                title_en=new.title_en,
                title_zh=new.title_zh,
                kind=new.kind,
                languages=list(new.languages),
                seed=new.seed,
                settings=dict(SETTINGS),
                is_synthetic=new.is_synthetic,
            )
            Protocol.objects.create(
                project=project,
                number=1,
                guideline_en=kind.guideline_en,
                guideline_zh=kind.guideline_zh,
                label_schema=dict(kind.schema),
            )
            assigning.open_round(project=project, now=now)
            Event.objects.create(project=project, person=by, action="project_created", detail={"slug": new.slug})
    except IntegrityError:
        raise Refused(
            Problem(
                code="duplicate_id",
                field="slug",
                expected=gettext_noop("There is a project %(slug)s already."),
                remedy=gettext_noop("Choose another name."),
                params={"slug": new.slug},
            )
        ) from None
    return project


def add_member(
    *,
    project: Project,
    person: Person,
    role: str,
    code: str = "",
    languages: tuple[str, ...] = LANGUAGES,
    by: Person | None,
    now: datetime,
) -> Membership:
    """Give a person a part in a project, and an annotator their plan. A person has one part only."""
    with transaction.atomic():
        member = place_of(project, person, role, code, languages)
        detail = {"code": member.code, "role": role}
        Event.objects.create(project=project, person=by, action="member_added", detail=detail)
        if role == Role.ANNOTATOR:
            round_ = assigning.open_round(project=project, now=now)
            assigning.extend_plan(member=member, project=project, round_=round_, now=now)
    return member


def place_of(project: Project, person: Person, role: str, code: str, languages: tuple[str, ...]) -> Membership:
    """The new membership; Refused where the person or the code is in the project already."""
    n_before = Membership.objects.filter(project=project, role=role).count()
    try:
        with transaction.atomic():
            return Membership.objects.create(
                project=project,
                person=person,
                role=role,
                code=code or f"{role[0]}{n_before + 1}",
                languages=list(languages),
            )
    except IntegrityError:
        raise Refused(
            Problem(
                code="duplicate_id",
                field="person",
                expected=gettext_noop("%(person)s has a part in this project already, or the code is taken."),
                remedy=gettext_noop("One person has one part in a project."),
                params={"person": person.username},
            )
        ) from None


def hash_of(secret: str) -> str:
    """How a link's secret is stored: it is long and random, so a plain hash suffices."""
    return hashlib.sha256(secret.encode()).hexdigest()


def first_lead_secret(*, now: datetime) -> str | None:
    """The secret of a new set-up link while there is nobody who may create projects, else None. Older links die."""
    if Person.objects.filter(may_create_projects=True).exists():
        return None
    secret = secrets.token_urlsafe(32)
    with transaction.atomic():
        Invite.objects.filter(purpose=Invite.Purpose.SET_UP, spent_at=None).update(expires_at=now)
        Invite.objects.create(
            token_hash=hash_of(secret), purpose=Invite.Purpose.SET_UP, expires_at=now + timedelta(days=SET_UP_DAYS)
        )
    return secret


def find_set_up(secret: str, *, now: datetime) -> Invite | None:
    """An unspent set-up link that has not expired."""
    return Invite.objects.filter(
        token_hash=hash_of(secret), purpose=Invite.Purpose.SET_UP, spent_at=None, expires_at__gt=now
    ).first()


def set_up_first_lead(*, secret: str, username: str, password: str, now: datetime) -> Person | None:
    """Spend the link and make the account, both or neither. None where the link is spent or expired by now."""
    with transaction.atomic():
        link = Invite.objects.filter(
            token_hash=hash_of(secret), purpose=Invite.Purpose.SET_UP, spent_at=None, expires_at__gt=now
        )
        if not link.update(spent_at=now):
            return None
        person = Person.objects.create_person(username, password, may_create_projects=True)
        Event.objects.create(person=person, action="first_lead_set_up")
    return person
