"""Known answers: a lead says what the label of an item is, and for practice why, in both languages. Those of later
phases are mixed in unmarked and never told."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from annotate import people
from annotate.errors import NotYours, Refused
from annotate.kinds.base import LabelError
from annotate.models import Event, Item, Person, Phase, Project, Settlement
from annotate.traces.base import Problem, gettext_noop


@dataclass(frozen=True, slots=True)
class Known:
    """A checked label in its JSON form, and why it is the right one."""

    label: dict[str, Any]
    reason_en: str
    reason_zh: str


def settle_known(*, lead: Person, project: Project, item_id: int, known: Known, now: datetime) -> None:
    """Store the known answer of an item; an earlier one is kept beside it, no longer current. NotYours where the person
    leads no such project or it has no such item, LabelError where a practice item lacks a reason, Refused where a
    reviewer has settled the item."""
    missing = [name for name in ("reason_en", "reason_zh") if not getattr(known, name)]
    with transaction.atomic():
        people.lock_led(project, lead)
        item = Item.objects.select_for_update(no_key=True).filter(pk=item_id, project=project).first()
        if missing and (item is None or item.phase == Phase.PRACTICE):
            raise LabelError(*map(reason_missing, missing))
        if item is None:
            raise NotYours
        current = Settlement.objects.filter(item=item_id, is_current=True)
        if current.exclude(how=Settlement.How.KNOWN).exists():
            raise Refused(SETTLED_ALREADY)
        Settlement.objects.filter(item=item_id, is_current=True).update(is_current=False)
        Settlement.objects.create(
            item_id=item_id,
            label=known.label,
            how=Settlement.How.KNOWN,
            person=lead,
            reason_en=known.reason_en,
            reason_zh=known.reason_zh,
        )
        Event.objects.create(project=project, person=lead, action="known_answer_given", detail={"item": item_id})


SETTLED_ALREADY = Problem(
    code="settled_already",
    field="label",
    expected=gettext_noop("An item that no reviewer has settled; this one is."),
    remedy=gettext_noop("Choose another item."),
)


def reason_missing(field: str) -> Problem:
    return Problem(
        code="missing_field",
        field=field,
        expected=gettext_noop("Annotators are told why, each in the language of their interface."),
        remedy=gettext_noop("Write the reason in English and in Chinese."),
    )
