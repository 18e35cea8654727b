"""Runs of judges: started, held, called off, and the one loop over their items, which are work rows
(docs/decisions/010).

A verdict is written in the transaction that finishes its job under the newest claim. So whatever is killed, and when,
an item ends with one verdict, or with a job that was given up and says so.
"""

import hashlib
import json
import secrets
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, Literal

from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Now

from annotate import people, waking, work
from annotate.errors import JobFailed, Refused
from annotate.kinds.base import Finding, parsed
from annotate.kinds.registry import kind_of
from annotate.models import Event, Person, Phase, Project, Work, WorkGroup
from annotate.rules.quotes import canonical
from annotate.traces import base
from annotate.traces.base import Problem, gettext_noop
from scoring import queries
from scoring.judges.base import JudgeSpec, SettingsError
from scoring.judges.registry import judge_called, judges_for
from scoring.models import Judge, Run, Verdict

KIND = "verdict"
BEHIND_PEOPLE = 10
MOST_SAMPLES = 100

RunState = Literal["running", "paused", "cancelled", "done"]


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far a run is. `n_items` counts jobs: one of an item and sample; unreadable ones are done."""

    state: RunState
    n_items: int
    n_done: int
    n_unreadable: int
    n_dead: int
    n_left: int


# Started, held, called off


def start_run(
    *,
    person: Person | None,
    project: Project,
    judge: str,
    phases: Sequence[str] = ("main",),
    settings: Mapping[str, Any] | None = None,
    n_samples: int = 1,
) -> Run:
    """Let a judge judge every item of these phases, in the background. `person` is None on the command line.

    Refused for a judge, phases or settings that do not go, and where there is nothing to judge; NotYours for who does
    not lead the project."""
    spec = judge_for(project, judge)
    complete = settings_for(spec, settings or {})
    phases = known_phases(phases)
    if not 1 <= n_samples <= MOST_SAMPLES:
        raise Refused(BAD_SAMPLES)
    items = queries.items_to_judge(project, phases)
    if not items:
        raise Refused(NOTHING_TO_JUDGE)
    group = WorkGroup.objects.create(key=f"verdicts {secrets.token_hex(16)}", state=WorkGroup.State.HELD)
    payloads = {
        f"{KIND}:{group.pk}:{item}:{sample}": {"item": item, "sample": sample}
        for item in items
        for sample in range(n_samples)
    }
    jobs = work.jobs_of_group(
        kind=KIND, group=group, payloads=payloads, priority=BEHIND_PEOPLE, project=project, person=person
    )
    with transaction.atomic():
        project = people.lock_people(project) if person is None else people.lock_led(project, person)
        row, _ = Judge.objects.get_or_create(
            project=project, name=spec.name, settings_hash=hash_of(complete), defaults={"settings": complete}
        )
        last = Run.objects.filter(project=project).aggregate(last=Max("number"))["last"] or 0
        run = Run.objects.create(
            judge=row,
            project=project,
            number=last + 1,
            version=spec.version,
            phases=list(phases),
            n_items=len(items),
            n_samples=n_samples,
            group=group,
            person=person,
        )
        WorkGroup.objects.filter(pk=group.pk).update(state=WorkGroup.State.OPEN)
        work.add_many(jobs)
        detail = {"run": run.number, "judge": spec.name, "phases": list(phases), "items": len(items)}
        Event.objects.create(project=project, person=person, action="run_started", detail=detail)
    return run


def pause_run(*, person: Person | None, run: Run) -> bool:
    """Let no further item be begun. False where there is nothing to hold."""
    return change(run, "run_paused", person, [WorkGroup.State.OPEN], WorkGroup.State.HELD)


def resume_run(*, person: Person | None, run: Run) -> bool:
    return change(run, "run_resumed", person, [WorkGroup.State.HELD], WorkGroup.State.OPEN)


def cancel_run(*, person: Person | None, run: Run) -> bool:
    """For good; what is judged by then stays."""
    return change(
        run, "run_cancelled", person, [WorkGroup.State.OPEN, WorkGroup.State.HELD], WorkGroup.State.CANCELLED
    )


def change(run: Run, action: str, person: Person | None, before: list[str], after: str) -> bool:
    """One small write, however many jobs are left."""
    with transaction.atomic():
        if person is None:
            people.lock_people(run.project)
        else:
            people.lock_led(run.project, person)
        if queries.is_through(run.group_id):
            return False
        turned = WorkGroup.objects.filter(pk=run.group_id, state__in=before).update(state=after)
        if turned:
            Event.objects.create(project=run.project, person=person, action=action, detail={"run": run.number})
            if after == WorkGroup.State.CANCELLED:
                Run.objects.filter(pk=run.pk, ended_at=None).update(ended_at=Now())
            transaction.on_commit(waking.wake, robust=True)
    return bool(turned)


def try_again(*, person: Person | None, run: Run) -> int:
    """Let what was given up be tried again; how many jobs. None of a run that was called off."""
    with transaction.atomic():
        if person is None:
            people.lock_people(run.project)
        else:
            people.lock_led(run.project, person)
        if WorkGroup.objects.filter(pk=run.group_id, state=WorkGroup.State.CANCELLED).exists():
            return 0
        n = work.revive_group(run.group)
        if n:
            Run.objects.filter(pk=run.pk).update(ended_at=None)
            detail = {"run": run.number, "jobs": n}
            Event.objects.create(project=run.project, person=person, action="run_tried_again", detail=detail)
    return n


def run_progress(run: Run) -> RunProgress:
    """How far a run is by now."""
    return progress_of([run])[run.pk]


def progress_of(runs: Sequence[Run]) -> dict[int, RunProgress]:
    """By run: three statements, however many runs."""
    counts = queries.jobs_by_state([run.group_id for run in runs])
    states = dict(WorkGroup.objects.filter(pk__in=list(counts)).values_list("pk", "state"))
    unreadable = queries.unreadable_of(run.pk for run in runs)
    return {
        run.pk: progress(states[run.group_id], counts[run.group_id], n_unreadable=unreadable[run.pk]) for run in runs
    }


def progress(group: str, jobs: Counter[str], *, n_unreadable: int) -> RunProgress:
    n_left = jobs[Work.State.WAITING] + jobs[Work.State.RUNNING]
    return RunProgress(
        state=state_of(group, n_left),
        n_items=sum(jobs.values()),
        n_done=jobs[Work.State.DONE],
        n_unreadable=n_unreadable,
        n_dead=jobs[Work.State.DEAD],
        n_left=n_left,
    )


def state_of(group: str, n_left: int) -> RunState:
    if group == WorkGroup.State.CANCELLED:
        return "cancelled"
    if not n_left:
        return "done"
    return "paused" if group == WorkGroup.State.HELD else "running"


# One item


LAST_READ = threading.local()
"""The trace this thread read last: items of a trace come one after the other."""


@work.handles(KIND)
def judge_item(job: work.Job) -> None:
    """Judge an item outside any transaction, then record what was said and finish the job at once."""
    run = run_of_group(job.row.group_id, job.row.group.key)
    item = queries.judged_item(job.row.payload["item"])
    if item is None:
        raise JobFailed(ITEM_IS_GONE)
    finding, label = say(run, item)
    verdict = Verdict(
        run=run,
        item_id=item.id,
        sample=job.row.payload["sample"],
        label=label,
        finding=stored(finding),
        is_unreadable=finding.unreadable is not None,
    )
    with transaction.atomic():
        job.finish({})  # nobody else writes for this job any more
        if not queries.has_verdict(verdict):
            verdict.save(force_insert=True)
    if queries.is_through(run.group_id):
        end_run(run)


@lru_cache(maxsize=16)
def run_of_group(group_id: int, key: str) -> Run:
    """What a run is never changes; how far it is stands in its jobs. The key is random, so it is of this database."""
    return Run.objects.select_related("judge", "project", "group").get(group=group_id)


def say(run: Run, item: queries.JudgedItem) -> tuple[Finding, dict[str, Any] | None]:
    """What the judge says of an item, and that as a label of the kind in the form it is stored."""
    spec = same_judge(run)
    kind = kind_of(run.project.kind)
    trace = trace_of(run, item)
    beside = run.project.settings.get("text_beside_calls", "private")
    finding = spec.step(spec.view(trace, item.anchor, beside), run.judge.settings)
    schema = queries.newest_schema(run.project_id) or kind.schema
    label = kind.from_finding(finding, schema)
    if label is None:
        return finding, None
    data = kind.dump(label)
    shown = partial(kind.view, trace, item.anchor, schema)
    parsed(kind, data, schema, text=judged_text(trace, item.anchor), shown=shown)  # breaks where nobody could say it
    return finding, data


def same_judge(run: Run) -> JudgeSpec:
    """The judge as it was when the run began; JobFailed where its code is another by now."""
    try:
        spec = judge_called(run.judge.name)
    except KeyError:
        raise JobFailed(JUDGE_IS_GONE) from None
    if spec.version != run.version:
        raise JobFailed(JUDGE_IS_ANOTHER)
    return spec


def trace_of(run: Run, item: queries.JudgedItem) -> base.Trace:
    """The whole trace; where the item brings its own text, that text stands at the anchor."""
    key = (run.group.key, item.trace)
    if getattr(LAST_READ, "key", None) != key:
        LAST_READ.trace, LAST_READ.key = queries.whole_trace(item.trace), key
    trace: base.Trace = LAST_READ.trace
    if item.text is None:
        return trace
    return replace(trace, messages=tuple(with_text(message, item) for message in trace.messages))


def with_text(message: base.Message, item: queries.JudgedItem) -> base.Message:
    return replace(message, text=item.text) if message.index == item.anchor and item.text is not None else message


def judged_text(trace: base.Trace, anchor: int) -> str:
    return canonical(next(message.text for message in trace.messages if message.index == anchor))


def stored(finding: Finding) -> dict[str, Any]:
    spans = [{"start": one.start, "end": one.end, "type": one.type, "quote": one.quote} for one in finding.spans]
    data: dict[str, Any] = {"values": dict(finding.values), "spans": spans}
    return data if finding.unreadable is None else {**data, "unreadable": finding.unreadable}


def end_run(run: Run) -> None:
    Run.objects.filter(pk=run.pk, ended_at=None).update(ended_at=Now())


@work.tidies
def end_runs() -> int:
    """Note the end of runs whose last job was given up, or whose worker died just behind it; nothing is removed."""
    for run in queries.runs_to_end():
        end_run(run)
    return 0


# What goes


def judge_for(project: Project, name: str) -> JudgeSpec:
    """The judge of this name, if it judges the project's kind; Refused names those that do."""
    those = {spec.name: spec for spec in judges_for(project.kind)}
    if name not in those:
        raise Refused(unknown_judge(those))
    return those[name]


def settings_for(spec: JudgeSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return spec.read_settings(given)
    except SettingsError as error:
        raise Refused(error.problems[0]) from error


def known_phases(phases: Sequence[str]) -> tuple[str, ...]:
    """In the order of the phases, each once."""
    if not phases or set(phases) - set(Phase.values):
        raise Refused(
            Problem(
                code="unknown_phase",
                field="phases",
                expected=gettext_noop("One or more of: %(allowed)s."),
                remedy=gettext_noop("Choose one of these; case counts."),
                params={"allowed": ", ".join(Phase.values)},
            )
        )
    return tuple(phase for phase in Phase.values if phase in phases)


def unknown_judge(those: Iterable[str]) -> Problem:
    return Problem(
        code="unknown_judge",
        field="judge",
        expected=gettext_noop("A judge of this project's kind: %(allowed)s."),
        remedy=gettext_noop("Choose one of these; case counts."),
        params={"allowed": ", ".join(those) or "-"},
    )


BAD_SAMPLES = Problem(
    code="bad_number",
    field="n_samples",
    expected=gettext_noop("A whole number from 1 to %(most)s."),
    remedy=gettext_noop("Choose one; a judge that asks no model says the same each time."),
    params={"most": MOST_SAMPLES},
)
NOTHING_TO_JUDGE = Problem(
    code="nothing_to_judge",
    field="phases",
    expected=gettext_noop("Items in these phases; there are none."),
    remedy=gettext_noop("Import traces first, or choose other phases."),
)
ITEM_IS_GONE = gettext_noop("The item is not there any more.")
JUDGE_IS_GONE = gettext_noop("This version of Sightline has no such judge. Start a run of another one.")
JUDGE_IS_ANOTHER = gettext_noop(
    "The judge has changed since the run began, so the rest would be judged otherwise than the first items. Start a "
    "new run."
)


def hash_of(settings: Mapping[str, Any]) -> str:
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
