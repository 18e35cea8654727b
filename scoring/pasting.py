"""Answers that a person brings: a run without a server is gone through by hand, question by question."""

from django.db import transaction

from annotate import people
from annotate.errors import Refused
from annotate.models import Event, Person, WorkGroup
from annotate.traces.base import Problem, gettext_noop
from scoring import calling, llm, running
from scoring.models import Call

LONGEST_ANSWER = 200_000


def paste_answer(*, person: Person, call: Call, text: str, cut: bool = False) -> bool:
    """Record an answer as if a server had given it, and let the run go on; what its judge cannot read it asks for once
    more. False where there is one already or the run was called off; NotYours for who does not lead the project."""
    text = llm.storable(text)
    if not text.strip() or len(text) > LONGEST_ANSWER:
        raise Refused(BAD_ANSWER)
    run = call.run
    with transaction.atomic():
        people.lock_led(run.project, person)
        if WorkGroup.objects.filter(pk=run.group_id, state=WorkGroup.State.CANCELLED).exists():
            return False
        if not calling.record_by_hand(person=person, call=call, text=text, cut=cut):
            return False
        running.answers_came(run, [call])
        detail = {"run": run.number, "item": call.item_id, "step": call.step, "attempt": call.attempt}
        Event.objects.create(project=run.project, person=person, action="answer_pasted", detail=detail)
    return True


BAD_ANSWER = Problem(
    code="bad_answer",
    field="text",
    expected=gettext_noop("The model's answer, of 1 to %(longest)s characters."),
    remedy=gettext_noop("Paste it whole, as it came."),
    params={"longest": LONGEST_ANSWER},
)
