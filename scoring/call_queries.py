"""Named reads of what models were asked: prompts in their versions, calls, and their sums."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Avg, Count, F, Max, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Now

from annotate.models import Project, Work
from annotate.prepared import PreparedRead, place
from scoring.asking import ASKED_KIND
from scoring.models import Call, Endpoint, Judge, Prompt, Run

State = Call.State
TAKEN = Coalesce(F("tokens_in") + F("tokens_out"), F("tokens_expected"))
"""What an answered call took; where the endpoint did not say, the most that was reckoned with."""


# Prompts


def newest_prompts(project: Project, keys: Iterable[str]) -> dict[tuple[str, str], Prompt]:
    """By key and language: two statements, however many versions there are."""
    rows = Prompt.objects.filter(project=project, key__in=list(keys))
    newest = rows.values("key", "language").annotate(newest=Max("pk")).values_list("newest", flat=True)
    return {(row.key, row.language): row for row in Prompt.objects.filter(pk__in=list(newest.order_by()))}


def prompt_numbered(project: Project, key: str, language: str, number: int) -> Prompt | None:
    return Prompt.objects.filter(project=project, key=key, language=language, number=number).first()


def prompts_of(project: Project, ids: Iterable[int]) -> list[Prompt]:
    return list(Prompt.objects.filter(project=project, pk__in=list(ids)).order_by("key", "language"))


# Calls of a judgment


def calls_of_judgment(run: Run, item: int, sample: int) -> list[Call]:
    """In the order in which they were asked."""
    return list(Call.objects.filter(run=run, item=item, sample=sample).order_by("pk"))


def recorded_answer(run: Run, call: Call) -> Call | None:
    """The newest answer in the project to an equal request of an equal endpoint, which was itself no copy."""
    same = Call.objects.filter(
        request_hash=call.request_hash,
        attempt=call.attempt,
        sample=call.sample,
        state=State.ANSWERED,
        copied_from=None,
        run__project=run.project_id,
    ).exclude(run=run)
    address = run.judge.settings["endpoint"]["address"]
    return same.filter(run__judge__settings__endpoint__address=address).order_by("-pk").first()


def hashes_with_answers(project: Project, hashes: Iterable[str], address: str) -> set[str]:
    """Of these requests, which have a recorded answer to a first attempt."""
    calls = Call.objects.filter(
        run__project=project, request_hash__in=list(hashes), state=State.ANSWERED, attempt=1, copied_from=None
    ).filter(run__judge__settings__endpoint__address=address)
    return set(calls.values_list("request_hash", flat=True))


def open_calls(run: Run) -> QuerySet[Call]:
    """Questions that wait for somebody to paste their answers, oldest first."""
    return Call.objects.filter(run=run, state=State.STORED).order_by("pk")


def failed_calls(run: Run, items: Iterable[int]) -> dict[int, Call]:
    """By item the newest that no other try follows."""
    calls = Call.objects.filter(run=run, item__in=list(items), state=State.FAILED).order_by("pk").defer("request")
    return {call.item_id: call for call in calls}


# Sums


@dataclass(frozen=True, slots=True)
class Asked:
    """What a run asked so far. `n_calls` are answered ones that were paid, `n_copied` answers that were recorded
    before, `n_requests` all that was sent, `n_lost` those of them whose end nobody saw. `cost` is None where the
    endpoint has no prices."""

    n_calls: int = 0
    n_copied: int = 0
    n_waiting: int = 0
    n_under_way: int = 0
    n_failed: int = 0
    n_requests: int = 0
    n_lost: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_reckoned: int = 0
    """Of what was answered, with the most that may have been taken where the endpoint did not say."""
    tokens_lost: int = 0
    cost: Decimal | None = None


def asked_by(runs: Iterable[int]) -> dict[int, Asked]:
    """By run: one statement, answered from an index."""
    runs = list(runs)
    rows = (
        Call.objects.filter(run__in=runs)
        .values("run", "state")
        .annotate(
            n=Count("pk"),
            n_sent=Count("pk", filter=Q(n_tries__gt=0)),
            requests=Sum("n_tries"),
            lost=Sum("n_lost"),
            lost_tokens=Sum(F("n_lost") * F("tokens_expected")),
            sum_in=Sum("tokens_in"),
            sum_out=Sum("tokens_out"),
            taken=Sum(TAKEN, filter=Q(n_tries__gt=0)),
            money=Sum("cost"),
        )
        .order_by()
    )
    by_state: dict[int, dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        by_state[row["run"]][row["state"]] = row
    return {run: summed(by_state[run]) for run in runs}


def summed(states: dict[str, dict[str, Any]]) -> Asked:
    answered = states.get(State.ANSWERED, {})
    costs = [row["money"] for row in states.values() if row["money"] is not None]
    return Asked(
        n_calls=answered.get("n_sent", 0),
        n_copied=answered.get("n", 0) - answered.get("n_sent", 0),
        n_waiting=states.get(State.STORED, {}).get("n", 0),
        n_under_way=states.get(State.SENT, {}).get("n", 0),
        n_failed=states.get(State.FAILED, {}).get("n", 0),
        n_requests=sum(row["requests"] for row in states.values()),
        n_lost=sum(row["lost"] for row in states.values()),
        tokens_in=answered.get("sum_in") or 0,
        tokens_out=answered.get("sum_out") or 0,
        tokens_reckoned=answered.get("taken") or 0,
        tokens_lost=sum(row["lost_tokens"] or 0 for row in states.values()),
        cost=sum(costs, Decimal(0)) if costs else None,
    )


def seconds_since_last_request(endpoint: Endpoint) -> float | None:
    """By the database's clock, over all runs; None where nothing was sent yet."""
    row = (
        Call.objects.filter(run__endpoint=endpoint, sent_at__isnull=False)
        .order_by("-sent_at")
        .annotate(now=Now())
        .values_list("sent_at", "now")
        .first()
    )
    return None if row is None else (row[1] - row[0]).total_seconds()


def usual_of(project: Project, judge: str, model: str) -> tuple[float, float] | None:
    """Calls a judgment and tokens an answer in earlier runs of a judge with a model; None where there were too few."""
    judges = Judge.objects.filter(project=project, name=judge, settings__endpoint__model=model)
    calls = Call.objects.filter(run__judge__in=judges, state=State.ANSWERED)
    sums = calls.aggregate(n=Count("pk"), out=Avg("tokens_out"))
    n_judgments = calls.values("run", "item", "sample").distinct().count()
    if n_judgments < LEAST_JUDGMENTS or sums["out"] is None:
        return None
    return sums["n"] / n_judgments, float(sums["out"])


LEAST_JUDGMENTS = 20


# Jobs of a run


NEXT_DUE = PreparedRead(
    lambda: (
        Work.objects.filter(group=place("group"), kind=ASKED_KIND, state=Work.State.WAITING)
        .order_by(F("not_before").asc(nulls_first=True))
        .annotate(now=Now())
        .values_list("not_before", "now")[:1]
    )
)


def seconds_to_next_job(group: int) -> float | None:
    """Until the next waiting job of a run is due; None where none waits."""
    row = NEXT_DUE.row(group=group)
    if row is None:
        return None
    return 0.0 if row[0] is None else max((row[0] - row[1]).total_seconds(), 0.0)


def runs_without_driver(kind: str) -> list[Run]:
    """Runs that ask and have jobs that are due, but none that drives them: what nothing but a lost row explains."""
    due = Work.objects.filter(kind=ASKED_KIND, state=Work.State.WAITING).filter(
        Q(not_before=None) | Q(not_before__lte=Now())
    )
    driven = Work.objects.filter(kind=kind, state__in=[Work.State.WAITING, Work.State.RUNNING])
    groups = due.filter(group__state="open").values_list("group", flat=True).distinct().order_by()
    has_driver = driven.values_list("payload__run", flat=True)
    runs = Run.objects.filter(group__in=list(groups)).select_related("endpoint", "project", "group", "judge")
    busy = set(has_driver)
    return [run for run in runs if run.pk not in busy]


