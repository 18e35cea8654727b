"""Tokens: keys to the API that one makes for oneself. A token opens one project, in the part one has there now."""

import re
import secrets
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotate.errors import NotYours, Refused
from annotate.models import Event, Membership, Person, Project, Token
from annotate.setting_up import hash_of
from annotate.traces.base import Problem, gettext_noop

MAX_TOKEN_NAME = 100
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def make_token(*, person: Person, project: Project, name: str) -> tuple[Token, str]:
    """A new token and its secret, which is stored hashed and told once; NotYours without a part in the project."""
    check_name(name)
    secret = secrets.token_urlsafe(32)
    with transaction.atomic():
        member = Membership.objects.filter(person=person, project=project, left_at=None).first()
        if member is None:
            raise NotYours
        token = Token.objects.create(
            person=person, project=project, role=member.role, name=name.strip(), token_hash=hash_of(secret)
        )
        note(token, "token_made")
    return token, secret


def check_name(name: str) -> None:
    if not name.strip():
        raise Refused(
            Problem(
                code="missing_field",
                field="name",
                expected=gettext_noop("This field is required."),
                remedy=gettext_noop("Say what the token is for, to know it again."),
            )
        )
    if len(name.strip()) > MAX_TOKEN_NAME or CONTROLS.search(name):
        raise Refused(
            Problem(
                code="wrong_type",
                field="name",
                expected=gettext_noop("A name of at most %(limit)s characters, on one line."),
                remedy=gettext_noop("Choose another name."),
                params={"limit": MAX_TOKEN_NAME},
            )
        )


def find_token(secret: str) -> Token | None:
    """The token of this secret, with its person and project, while it opens anything: not revoked, its person active,
    and their part in the project still the one it was made for. Looked up at every request: one statement."""
    tokens = Token.objects.filter(part(), token_hash=hash_of(secret), revoked_at=None, person__is_active=True)
    return tokens.select_related("person", "project").first()


def part() -> Exists:
    """The part that a token was made for, while its person has it."""
    same = {name: OuterRef(name) for name in ("person", "project", "role")}
    return Exists(Membership.objects.filter(**same, left_at=None))


def revoke_token(*, person: Person, token_id: int, now: datetime) -> None:
    """End one's own token at once and for good; NotYours for any other. A second time changes nothing."""
    mine = Token.objects.filter(pk=token_id, person=person).select_related("project", "person")
    with transaction.atomic():
        token = mine.first()
        if token is None:
            raise NotYours
        if mine.filter(revoked_at=None).update(revoked_at=now):
            note(token, "token_revoked")


def note(token: Token, action: str) -> None:
    detail = {"token": token.pk, "role": token.role}
    Event.objects.create(project=token.project, person=token.person, action=action, detail=detail)


def own_tokens(person: Person) -> QuerySet[Token]:
    """One's own tokens that are not revoked, newest first; `opens` says whether one still has the part it was made
    for. One statement."""
    mine = Token.objects.filter(person=person, revoked_at=None).annotate(opens=part())
    return mine.select_related("project").order_by("-pk")
