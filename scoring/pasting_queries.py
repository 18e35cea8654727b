"""Named reads of questions that wait for a person to bring their answers."""

from dataclasses import dataclass

from django.db.models import QuerySet

from scoring.asking import message_text
from scoring.models import Call, Endpoint, Run


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question as a person takes it to a model of their choice; `messages` by role and text."""

    call: int
    item: int
    step: str
    attempt: int
    messages: tuple[tuple[str, str], ...]


def waiting_calls(run: Run) -> QuerySet[Call]:
    """Questions of a run whose answers are pasted, in the order in which they were asked."""
    waiting = Call.objects.filter(run=run, state=Call.State.STORED, run__endpoint__provider=Endpoint.Provider.PASTED)
    return waiting.order_by("pk")


def open_questions(run: Run, *, limit: int) -> list[OpenQuestion]:
    rows = waiting_calls(run).values_list("pk", "item", "step", "attempt", "request")[:limit]
    return [
        OpenQuestion(pk, item, step, attempt, tuple((one["role"], message_text(one)) for one in request["messages"]))
        for pk, item, step, attempt, request in rows
    ]


def waiting_call(run: Run, call_id: int) -> Call | None:
    return waiting_calls(run).select_related("run__project").filter(pk=call_id).first() if call_id < 2**63 else None


def has_answer(run: Run, call_id: int) -> bool:
    """Whether the question is one of the run that somebody has answered."""
    if call_id >= 2**63:
        return False
    return Call.objects.filter(run=run, pk=call_id, state=Call.State.ANSWERED).exists()
