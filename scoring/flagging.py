"""Leads say that a question of the reader, or the quote that answers it, is wrong, and take that back. No verdict and
no figure changes by it."""

from django.db import transaction

from annotate import people
from annotate.errors import NotYours, Refused
from annotate.models import Event, Person, Project
from annotate.traces.base import Problem, gettext_noop
from scoring import item_queries
from scoring.models import Flag, Verdict

MOST_NOTE = 2000


def flag_question(
    *, person: Person, project: Project, item: int, run: int, sample: int, place: int, what: str, note: str = ""
) -> Flag:
    """Once for a question and once for its quote; a second time changes the note. NotYours for who does not lead the
    project, and for a question that is not there; Refused for a note that does not go."""
    if len(note) > MOST_NOTE or "\x00" in note:
        raise Refused(BAD_NOTE)
    with transaction.atomic():
        verdict = verdict_to_flag(project, person, item=item, run=run, sample=sample, place=place, what=what)
        flag, _ = Flag.objects.update_or_create(
            verdict=verdict, place=place, what=what, defaults={"note": note.strip(), "person": person}
        )
        detail = asked_at(item, run, place, what)
        Event.objects.create(project=project, person=person, action="question_flagged", detail=detail)
    return flag


def take_back(
    *, person: Person, project: Project, item: int, run: int, sample: int, place: int, what: str
) -> bool:
    """False where there is nothing to take back."""
    with transaction.atomic():
        verdict = verdict_to_flag(project, person, item=item, run=run, sample=sample, place=place, what=what)
        n, _ = Flag.objects.filter(verdict=verdict, place=place, what=what).delete()
        if n:
            detail = asked_at(item, run, place, what)
            Event.objects.create(project=project, person=person, action="flag_taken_back", detail=detail)
    return bool(n)


def verdict_to_flag(
    project: Project, person: Person, *, item: int, run: int, sample: int, place: int, what: str
) -> Verdict:
    people.lock_led(project, person)
    verdict = item_queries.reading_verdict(project, item, run=run, sample=sample)
    asked = (verdict.finding.get("values") or {}).get("questions") or () if verdict else ()
    if verdict is None or not 0 <= place < len(asked) or what not in Flag.What.values:
        raise NotYours
    return verdict


def asked_at(item: int, run: int, place: int, what: str) -> dict[str, object]:
    return {"item": item, "run": run, "place": place, "what": what}


BAD_NOTE = Problem(
    code="too_many",
    field="note",
    expected=gettext_noop("At most %(limit)s characters that can be stored."),
    remedy=gettext_noop("Shorten it."),
    params={"limit": MOST_NOTE},
)
