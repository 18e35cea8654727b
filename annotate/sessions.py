"""Sessions of browsers: rows that know whose they are, so that people can see and end their own.

A browser's cookie holds the key of its row and nothing else.
"""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends import db
from django.contrib.sessions.middleware import SessionMiddleware
from django.utils import timezone

from annotate.models import Person, Session
from annotate.rules.browsers import browser_in_words

N_CLEARED = 100


class SessionStore(db.SessionStore):
    """Django's store of sessions in the database, on our own table."""

    user_agent = ""

    @classmethod
    def get_model_class(cls):
        return Session

    def _validate_session_key(self, key):
        """What no key of ours can be is not looked up: a cookie may hold what a database refuses to be asked for."""
        return super()._validate_session_key(key) and key.isascii() and key.isalnum()

    def create_model_instance(self, data):
        """Whose session it is comes from what Django keeps in it; browser and beginning are those of its first row."""
        row = super().create_model_instance(data)
        known = Session.objects.filter(pk=row.pk).values("agent", "created_at").first()
        row.person_id = data.get(SESSION_KEY)
        row.agent = known["agent"] if known else browser_in_words(self.user_agent)
        row.created_at = known and known["created_at"]
        return row

    def create(self):
        """Each new row takes a few dead ones with it, so that the table holds the living ones without anybody's
        doing; `clearsessions` removes the rest at once."""
        super().create()
        expired = Session.objects.filter(expire_date__lt=timezone.now()).order_by("expire_date")
        Session.objects.filter(pk__in=list(expired.values_list("pk", flat=True)[:N_CLEARED])).delete()


class BrowserSessionMiddleware(SessionMiddleware):
    """Tells the store which browser asks, for the row of a session that begins."""

    def process_request(self, request):
        super().process_request(request)
        request.session.user_agent = request.headers.get("User-Agent", "")


@dataclass(frozen=True, slots=True)
class OwnSession:
    """A browser in which a person is signed in."""

    agent: str
    signed_in_at: datetime
    is_this: bool


def own_sessions(person: Person, *, this: str | None, now: datetime) -> list[OwnSession]:
    """Where a person is signed in, this browser first, then the newest: one statement."""
    rows = Session.objects.filter(person=person, expire_date__gt=now).order_by("-created_at")
    found = [
        OwnSession(agent, at, key == this) for key, agent, at in rows.values_list("session_key", "agent", "created_at")
    ]
    return sorted(found, key=lambda session: not session.is_this)


def end_sessions(person: Person, *, but: str | None = None) -> int:
    """Sign a person out everywhere, or everywhere but in the browser with this key; returns where that was."""
    return Session.objects.filter(person=person).exclude(pk=but or "").delete()[0]
