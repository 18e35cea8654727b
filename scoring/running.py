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
from dataclasses import asdict, dataclass, field, replace
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
from scoring import call_queries, calling, material, point_queries, queries
from scoring.asking import ASKED_KIND, BAD_CAP, DRIVER_BROKE_DOWN, ENDPOINT_CHANGED, NO_CAP, NO_PRICES, Cap
from scoring.judges.base import ENDPOINT_FIELDS, JudgeSpec, Reads, SettingsError, no_endpoint, no_such_run
from scoring.judges.registry import judge_called, judges_for
from scoring.models import Call, Endpoint, Judge, Points, Run, Verdict

KIND = "verdict"
DRIVER, ASKED = "asking", work.driven(ASKED_KIND)
"""The job that drives a run whose judge asks a model (`driving.py`), and the jobs of its items."""
BEHIND_PEOPLE = 10
DRIVER_ATTEMPTS = 10
"""So often a driver may end without having got anything done."""
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


@dataclass(frozen=True, slots=True)
class Asking:
    """How a judge is to ask: where, and under which cap. `prompts` are numbers of versions by key and language;
    the newest without."""

    endpoint: Endpoint | str
    """A row, or the name of one in use."""
    cap: Cap = field(default_factory=Cap)
    reuse: bool = True
    prompts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


# Started, held, called off


def start_run(
    *,
    person: Person | None,
    project: Project,
    judge: str,
    phases: Sequence[str] = ("main",),
    settings: Mapping[str, Any] | None = None,
    n_samples: int = 1,
    items: Sequence[int] | None = None,
    points: int | None = None,
    asking: Asking | None = None,
    said: Mapping[int, Mapping[str, Any]] | None = None,
) -> Run:
    """Let a judge judge every item of these phases, in the background; with `items` only those of them; with the number
    of `points` the replies of these, whatever their phases. `person` is None on the command line. `asking` says how a
    judge that asks a model does so; `said` is what one that brings it has to say, by item, and goes with each job.

    Refused for a judge, phases, points or settings that do not go, where there is nothing to judge, without a cap where
    a model is asked, and where a judge that works on points has run over them under these settings; NotYours for who
    does not lead the project."""
    spec = judge_for(project, judge)
    if spec.brings != (said is not None):
        raise Refused(SAID_ELSEWHERE)
    asking = asking_for(spec, project, asking)
    complete = settings_for(spec, with_endpoint(settings or {}, asking))
    earlier = check_earlier(spec, project, complete)
    complete = material.completed(spec, project, complete)
    check_samples(n_samples)
    over = points_for(spec, project, points)
    phases, items = judged_by(project, phases, items, over, only_succeeded=spec.only_succeeded)
    items = material.to_judge(spec, project, complete, items)
    refuse_second(project, spec, complete, over)
    group = WorkGroup.objects.create(key=f"verdicts {secrets.token_hex(16)}", state=WorkGroup.State.HELD)
    kind = ASKED if spec.asks else KIND
    payloads = {
        f"{kind}:{group.pk}:{item}:{sample}": {"item": item, "sample": sample, **brought(said, item)}
        for item in items
        for sample in range(n_samples)
    }
    jobs = work.jobs_of_group(
        kind=kind, group=group, payloads=payloads, priority=BEHIND_PEOPLE, project=project, person=person
    )
    with transaction.atomic():
        project = people.lock_people(project) if person is None else people.lock_led(project, person)
        refuse_second(project, spec, complete, over)
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
            points=over,
            group=group,
            person=person,
            **{"is_proof": any(one.is_proof for one in earlier), **asked_by(spec, project, asking, n_samples)},
        )
        WorkGroup.objects.filter(pk=group.pk).update(state=WorkGroup.State.OPEN)
        work.add_many(jobs)
        if asking is not None:
            go_on(run)
        detail = {"run": run.number, "judge": spec.name, "phases": list(phases), "items": len(items)}
        Event.objects.create(project=project, person=person, action="run_started", detail=detail)
    return run


def brought(said: Mapping[int, Mapping[str, Any]] | None, item: int) -> dict[str, Any]:
    """What the job of an item carries beside it, so that it is as safe as the job."""
    return {"said": dict(said[item])} if said is not None and item in said else {}


def pause_run(*, person: Person | None, run: Run) -> bool:
    """Let no further item be begun. False where there is nothing to hold."""
    return change(run, "run_paused", person, [WorkGroup.State.OPEN], WorkGroup.State.HELD)


def resume_run(*, person: Person | None, run: Run, cap: Cap | None = None) -> bool:
    """Let it go on where it stopped, with a cap under another one than before."""
    caps = {} if cap is None else caps_of(checked_cap(cap, run.endpoint))
    return change(run, "run_resumed", person, [WorkGroup.State.HELD], WorkGroup.State.OPEN, held_for=None, **caps)


def hold_run(*, run: Run, problem: Problem) -> bool:
    """Let no further item be begun, because something is wrong for all of them; the run says what."""
    with transaction.atomic():
        held = WorkGroup.objects.filter(pk=run.group_id, state=WorkGroup.State.OPEN).update(state=WorkGroup.State.HELD)
        if held:
            Run.objects.filter(pk=run.pk).update(held_for=asdict(problem))
            detail = {"run": run.number, "code": problem.code}
            Event.objects.create(project=run.project, person=None, action="run_held", detail=detail)
    return bool(held)


def cancel_run(*, person: Person | None, run: Run) -> bool:
    """For good; what is judged by then stays."""
    return change(
        run, "run_cancelled", person, [WorkGroup.State.OPEN, WorkGroup.State.HELD], WorkGroup.State.CANCELLED
    )


def change(run: Run, action: str, person: Person | None, before: list[str], after: str, **values: Any) -> bool:
    """One small write, however many jobs are left; `values` are the run's own."""
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
            if values:
                Run.objects.filter(pk=run.pk).update(**values)
            if after == WorkGroup.State.OPEN and run.endpoint_id:
                go_on(run)
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
            if run.endpoint_id:
                go_on(run)
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
    finding, label = say(run, item, job.row.payload.get("said"))
    record(run, item, job.row.payload["sample"], finding, label, job)
    if queries.is_through(run.group_id):
        end_run(run)


def record(
    run: Run, item: queries.JudgedItem, sample: int, finding: Finding, label: dict[str, Any] | None, job: work.Job
) -> None:
    """The verdict, and with it the end of its job under the newest claim."""
    verdict = Verdict(
        run=run,
        item_id=item.id,
        sample=sample,
        label=label,
        finding=stored(finding),
        is_unreadable=finding.unreadable is not None,
    )
    with transaction.atomic():
        job.finish({})  # nobody else writes for this job any more
        if not queries.has_verdict(verdict):
            verdict.save(force_insert=True)


@lru_cache(maxsize=16)
def run_of_group(group_id: int, key: str) -> Run:
    """What a run is never changes; how far it is stands in its jobs. The key is random, so it is of this database."""
    return Run.objects.select_related("judge", "project", "group").get(group=group_id)


def say(
    run: Run, item: queries.JudgedItem, said: Mapping[str, Any] | None = None
) -> tuple[Finding, dict[str, Any] | None]:
    """What the judge says of an item, and that as a label of the kind in the form it is stored."""
    spec = same_judge(run)
    finding = spec.step(view_of(run, spec, item, said), run.judge.settings)
    if not isinstance(finding, Finding):
        raise JobFailed(ASKS_FOR_EVER)
    return finding, label_of(run, item, finding)


def view_of(run: Run, spec: JudgeSpec, item: queries.JudgedItem, said: Mapping[str, Any] | None = None) -> Any:
    """What the judge may see of an item, and what was brought in of it."""
    return seen_by(spec, run.project, run.judge.settings, trace_of(run, item), item, said)


def seen_by(
    spec: JudgeSpec,
    project: Project,
    settings: Mapping[str, Any],
    trace: base.Trace,
    item: queries.JudgedItem,
    said: Mapping[str, Any] | None = None,
) -> Any:
    """An item as a judge sees it under complete settings; JobFailed where an earlier run that it builds on has nothing
    of it, or it needs more than there is."""
    beside = project.settings.get("text_beside_calls", "private")
    given: dict[str, Any] = {"said": said} if spec.brings else {}
    if spec.reads is not None:
        given["earlier"] = found_earlier(spec.reads, project, settings, item)
    if spec.takes:
        given["material"] = material.material_of(spec, project.pk, settings, item.id)
    return spec.view(trace, item.anchor, beside, **given)


def found_earlier(reads: Reads, project: Project, settings: Mapping[str, Any], item: queries.JudgedItem) -> Any:
    """What the earlier run, or each of several, found of an item."""
    wanted = settings[reads.setting]
    if wanted is None and reads.is_optional:
        return None
    if reads.several:
        found = queries.found_by_each(project.pk, wanted, item.id)
        return tuple(found.get(number) for number in wanted)
    earlier = queries.found_by(project.pk, wanted, item.id)
    if earlier is None:
        raise JobFailed(reads.missing)
    return earlier


def label_of(run: Run, item: queries.JudgedItem, finding: Finding) -> dict[str, Any] | None:
    """A finding as a label of the kind in the form it is stored; one that nobody could have given breaks down here."""
    kind = kind_of(run.project.kind)
    schema = queries.newest_schema(run.project_id) or kind.schema
    label = kind.from_finding(finding, schema)
    if label is None:
        return None
    data = kind.dump(label)
    trace = trace_of(run, item)
    shown = partial(kind.view, trace, item.anchor, schema)
    parsed(kind, data, schema, text=judged_text(trace, item.anchor), shown=shown)
    return data


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
    """The whole trace as the item is judged in it."""
    key = (run.group.key, item.trace)
    if getattr(LAST_READ, "key", None) != key:
        LAST_READ.trace, LAST_READ.key = queries.whole_trace(item.trace), key
    return with_own_text(LAST_READ.trace, item)


def with_own_text(trace: base.Trace, item: queries.JudgedItem) -> base.Trace:
    """The trace; where the item brings its own text, that text stands at the anchor."""
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


def problem_of(data: Mapping[str, Any]) -> Problem:
    """A problem as it was stored."""
    return Problem(**data)


def end_run(run: Run) -> None:
    Run.objects.filter(pk=run.pk, ended_at=None).update(ended_at=Now())


@work.tidies
def end_runs() -> int:
    """Note the end of runs whose last job was given up, or whose worker died just behind it; nothing is removed."""
    for run in queries.runs_to_end():
        end_run(run)
    return 0


# Runs that ask a model


def asking_for(spec: JudgeSpec, project: Project, asking: Asking | None) -> Asking | None:
    """With the row of its endpoint, and a cap that can be kept; None for a judge that asks nobody."""
    if not spec.asks:
        if asking is not None:
            raise Refused(ASKS_NOBODY)
        return None
    if asking is None:
        raise Refused(no_endpoint())
    endpoint = endpoint_of(project, asking.endpoint)
    return replace(asking, endpoint=endpoint, cap=checked_cap(asking.cap, endpoint))


def endpoint_of(project: Project, given: Endpoint | str) -> Endpoint:
    if isinstance(given, str) and not given.isprintable():
        raise Refused(no_endpoint())
    in_use = Endpoint.objects.filter(project=project, archived_at=None)
    mine = in_use.filter(name=given) if isinstance(given, str) else in_use.filter(pk=given.pk)
    endpoint = mine.first()
    if endpoint is None:
        raise Refused(no_endpoint())
    return endpoint


def checked_cap(cap: Cap, endpoint: Endpoint | None) -> Cap:
    if not cap.is_there():
        raise Refused(NO_CAP)
    if any(value is not None and value <= 0 for value in (cap.calls, cap.tokens, cap.cost)):
        raise Refused(BAD_CAP)
    too_large = (cap.calls or 0) >= 2**31 or (cap.tokens or 0) >= 2**62 or (cap.cost or 0) >= 10**8
    if too_large:
        raise Refused(BAD_CAP)
    if cap.cost is not None and endpoint is not None and None in (endpoint.price_in, endpoint.price_out):
        raise Refused(NO_PRICES)
    return cap


def settings_of(endpoint: Endpoint) -> dict[str, Any]:
    """What of an endpoint may change an answer."""
    return {name: getattr(endpoint, name) for name in ENDPOINT_FIELDS}


def with_endpoint(settings: Mapping[str, Any], asking: Asking | None) -> dict[str, Any]:
    if asking is None or not isinstance(asking.endpoint, Endpoint):
        return dict(settings)
    return {**settings, "endpoint": settings_of(asking.endpoint)}


def caps_of(cap: Cap) -> dict[str, Any]:
    return {"cap_calls": cap.calls, "cap_tokens": cap.tokens, "cap_cost": cap.cost}


def asked_by(spec: JudgeSpec, project: Project, asking: Asking | None, n_samples: int) -> dict[str, Any]:
    """What a run says of how it asks. Samples are independent: recorded answers are for runs of one alone."""
    if asking is None:
        return {}
    versions = calling.prompts_for(project, spec.prompts, asking.prompts)
    return {
        "endpoint": asking.endpoint,
        "is_proof": asking.endpoint.is_proof,
        "reuse": asking.reuse and n_samples == 1,
        "prompts": versions,
        **caps_of(asking.cap),
    }


def go_on(run: Run) -> None:
    """Write the job that drives the run, as part of the caller's transaction. One too many finds nothing to do."""
    work.add_work(
        kind=DRIVER,
        key=f"{DRIVER}:{run.pk}:{secrets.token_hex(12)}",
        payload={"run": run.pk},
        lane=f"endpoint {run.endpoint_id}",
        project=run.project,
        priority=BEHIND_PEOPLE - 1,
        max_attempts=DRIVER_ATTEMPTS,
    )


def answers_came(run: Run, calls: Iterable[Call]) -> None:
    """Let the items go on whose answers a person has brought; as part of the caller's transaction."""
    keys = [f"{ASKED}:{run.group_id}:{call.item_id}:{call.sample}" for call in calls]
    Work.objects.filter(key__in=keys, state=Work.State.WAITING).update(not_before=None)
    go_on(run)


def run_that_asks(run_id: int) -> Run:
    return Run.objects.select_related("judge", "project", "group", "endpoint").get(pk=run_id)


def endpoint_problem(run: Run) -> Problem | None:
    """Whether the endpoint is still the one that the run began with."""
    assert run.endpoint is not None
    is_same = hash_of(settings_of(run.endpoint)) == hash_of(run.judge.settings["endpoint"])
    return None if is_same and run.endpoint.archived_at is None else ENDPOINT_CHANGED


@work.tidies
def drive_on() -> int:
    """See to it that every run that asks has its driver. One whose driver was given up is held, and says so."""
    for run in call_queries.runs_without_driver(DRIVER):
        last = Work.objects.filter(kind=DRIVER, payload__run=run.pk).order_by("-pk").first()
        if last is not None and last.state == Work.State.DEAD:
            hold_run(run=run, problem=DRIVER_BROKE_DOWN)
        else:
            with transaction.atomic():
                go_on(run)
    return 0


# What goes


def check_samples(n_samples: int) -> None:
    if not 1 <= n_samples <= MOST_SAMPLES:
        raise Refused(BAD_SAMPLES)


def chosen_items(project: Project, phases: Sequence[str], chosen: Sequence[int] | None) -> list[int]:
    """The items to judge, in the order in which each trace is read once."""
    those = queries.items_to_judge(project, phases)
    if chosen is not None:
        wanted = set(chosen)
        those = [item for item in those if item in wanted]
    if not those:
        raise Refused(NOTHING_TO_JUDGE)
    return those


def without_failed(project: Project, items: Sequence[int]) -> list[int]:
    """Those of traces whose file does not say that the run failed."""
    failed = queries.items_of_failed_runs(project)
    left = [item for item in items if item not in failed]
    if not left:
        raise Refused(ALL_FAILED)
    return left


def points_for(spec: JudgeSpec, project: Project, number: int | None) -> Points | None:
    """The points of this number; Refused where there are none, or none are named and the judge works on nothing
    else."""
    if number is None:
        if spec.works_on == "points":
            raise Refused(NO_POINTS)
        return None
    found = point_queries.points_numbered(project, number)
    if found is None:
        raise Refused(UNKNOWN_POINTS)
    return found


def judged_by(
    project: Project,
    phases: Sequence[str],
    items: Sequence[int] | None,
    points: Points | None,
    *,
    only_succeeded: bool = False,
) -> tuple[tuple[str, ...], list[int]]:
    """The phases and items of a run: those of the points, if there are any; without those of runs that failed where
    that is asked."""
    if points is None:
        phases = known_phases(phases)
        chosen = chosen_items(project, phases, items)
        return phases, without_failed(project, chosen) if only_succeeded else chosen
    rows = [row for row in point_queries.items_of_points(points) if items is None or row[0] in set(items)]
    if not rows:
        raise Refused(NOTHING_TO_JUDGE)
    return known_phases(list({phase for _, phase in rows})), [item for item, _ in rows]


def refuse_second(project: Project, spec: JudgeSpec, settings: Mapping[str, Any], points: Points | None) -> None:
    """A condition is run once over the same points: texts written twice would stand for one another."""
    if spec.works_on != "points":
        return
    same = Run.objects.filter(project=project, judge__name=spec.name, points=points)
    same = same.filter(judge__settings_hash=hash_of(settings)).exclude(group__state=WorkGroup.State.CANCELLED)
    if same.exists():
        raise Refused(CONDITION_RUN_ALREADY)


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


def check_earlier(spec: JudgeSpec, project: Project, settings: Mapping[str, Any]) -> list[Run]:
    """The runs that the judge builds on. Refused where one is not there, of another judge or settings, or not through;
    and where several were not run alike, or are the same judge twice."""
    if spec.reads is None or (spec.reads.is_optional and settings[spec.reads.setting] is None):
        return []
    name = spec.reads.setting
    numbers = settings[name] if spec.reads.several else [settings[name]]
    runs = [queries.run_numbered(project, number) for number in numbers]
    found = [run for run in runs if run is not None and is_built_on(run, spec.reads)]
    if len(found) < (spec.reads.several or 1):
        raise Refused(no_such_run(name))
    if len({run.judge_id for run in found}) < len(found):
        raise Refused(same_judge_twice(name))
    told = [{one: hash_of({one: run.judge.settings.get(one)}) for one in spec.reads.alike} for run in found]
    differing = [one for one in spec.reads.alike if len({of[one] for of in told}) > 1]
    if differing or len({run.version for run in found}) > 1:
        raise Refused(not_alike(name, differing or ["version"]))
    return found


def is_built_on(run: Run, reads: Reads) -> bool:
    return run.judge.name in reads.judges and has_settings(run, reads.where) and queries.is_through(run.group_id)


def has_settings(run: Run, wanted: Mapping[str, Any]) -> bool:
    return all(name in run.judge.settings and run.judge.settings[name] == value for name, value in wanted.items())


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
def same_judge_twice(name: str) -> Problem:
    return Problem(
        code="same_judge_twice",
        field=name,
        pointer=f"/{name}",
        expected=gettext_noop("Runs of different models or settings; two of these are the same judge."),
        remedy=gettext_noop("Name a run of another model in place of one of them."),
    )


def not_alike(name: str, differing: Sequence[str]) -> Problem:
    return Problem(
        code="not_alike",
        field=name,
        pointer=f"/{name}",
        expected=gettext_noop("Runs that were told the same; these differ in: %(differing)s."),
        remedy=gettext_noop("Name runs with the same settings but for the endpoint."),
        params={"differing": ", ".join(differing)},
    )


SAID_ELSEWHERE = Problem(
    code="said_elsewhere",
    field="judge",
    expected=gettext_noop("A judge that judges by itself; predictions made elsewhere come in from a file."),
    remedy=gettext_noop("Choose another one, or bring a file of predictions in."),
)
NOTHING_TO_JUDGE = Problem(
    code="nothing_to_judge",
    field="phases",
    expected=gettext_noop("Items in these phases; there are none."),
    remedy=gettext_noop("Import traces first, or choose other phases."),
)
ALL_FAILED = Problem(
    code="all_failed",
    field="phases",
    expected=gettext_noop("Items of runs that did not fail; of all in these phases the file says that they did."),
    remedy=gettext_noop("Import runs that succeeded, or choose other phases."),
)
NO_POINTS = Problem(
    code="no_points",
    field="points",
    expected=gettext_noop("The number of reply points: this judge works on nothing else."),
    remedy=gettext_noop("Choose points first, then name them."),
)
UNKNOWN_POINTS = Problem(
    code="unknown_points",
    field="points",
    expected=gettext_noop("The number of reply points that this project has."),
    remedy=gettext_noop("Choose one from the list."),
)
CONDITION_RUN_ALREADY = Problem(
    code="condition_run_already",
    field="points",
    expected=gettext_noop("Settings under which this judge has not run over these points yet."),
    remedy=gettext_noop("Go on with the earlier run, or call it off first."),
)
ASKS_NOBODY = Problem(
    code="asks_nobody",
    field="endpoint",
    expected=gettext_noop("No endpoint and no cap: this judge asks no model."),
    remedy=gettext_noop("Leave them out."),
)
ASKS_FOR_EVER = gettext_noop("The judge asks where it should have its finding. Its code has a fault.")
CALL_FAILED = gettext_noop("The model gave no answer; the question and why are listed with the run.")
TURNED_AWAY = gettext_noop("The endpoint turned the question away for now; it is asked again.")
WAITS_FOR_PASTING = gettext_noop("Waits for somebody to paste the answer.")
ITEM_IS_GONE = gettext_noop("The item is not there any more.")
JUDGE_IS_GONE = gettext_noop("This version of Sightline has no such judge. Start a run of another one.")
JUDGE_IS_ANOTHER = gettext_noop(
    "The judge has changed since the run began, so the rest would be judged otherwise than the first items. Start a "
    "new run."
)


def hash_of(settings: Mapping[str, Any]) -> str:
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
