"""The report of a project's method: its rows become records, the method's tables are worked out of them, and the report
is kept until a label, a verdict or an event has come since. Page, command and API show the same one."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.utils import timezone

from annotate import lead_queries
from annotate.errors import Refused
from annotate.models import Project, Work
from annotate.traces.base import Problem, gettext_noop
from scoring import report_queries
from scoring.comparing import unknown_choice
from scoring.method_joins import AskedJudge, Joins, JudgedBy, NamedRun, ReportFacts, joins_of
from scoring.methods.kept import kept, report_from
from scoring.methods.records import RecordsRefused, records_of
from scoring.methods.tables import MAX_SEED, BadSetting, Method, MethodReport, Said, Words, method_of_kind
from scoring.models import Report, Run
from scoring.queries import jobs_by_state
from scoring.reports import hash_of, keep, keep_up
from scoring.stats.results import plain, restored

VERSION = "2"
"""Of every report: raise it where the same records are to give others, and no older report is shown. That of its joins
stands beside it."""
JUDGES = ("reader", "checker", "jury")
"""What JSON always has a field for; null where the method has no such judge, or it has judged nothing."""


@dataclass(frozen=True, slots=True)
class ShownMethod:
    """A kept report, and the row that has it."""

    row: Report
    report: MethodReport
    is_new: bool


def shown_method(
    project: Project,
    *,
    phase: str = "main",
    protocol: int | None = None,
    run: int | None = None,
    checker_run: int | None = None,
    given: Mapping[str, Any] | None = None,
) -> ShownMethod:
    """The kept report of these settings if nothing has come since, else a new one. Without numbers it is of the labels
    that the method compares by itself, and of the newest runs of its judges with verdicts of the phase. Refused for a
    kind without a method, and for a protocol, a run or a parameter that is not there."""
    method = method_of_kind(project.kind)
    if method is None:
        raise Refused(NO_METHOD)
    joins = joins_of(method)
    settings = settings_of(method, project, given or {})
    judges = judges_of(project, phase, joins, {"run": run, "checker_run": checker_run})
    asked = {"phase": phase, "protocol": protocol, "judges": plain({name: told for name, (_, told) in judges.items()})}
    version = f"{VERSION}.{joins.version}"
    key = hash_of({"method": method.name, "asked": asked, "settings": plain(settings), "version": version})
    row = report_queries.stored_reports(project, Report.Kind.METHOD, key).first()
    entering = [project, *joins.others(project)]
    if row is not None and (same := report_queries.marks_of_all_since(entering, row.seen)):
        keep_up(row, same)
        return ShownMethod(row, report_from(row.payload), is_new=False)
    # before any row is read: what commits in between is seen the next time
    marks = report_queries.marks_of_all(entering)
    joined = joins.gather(project, phase, protocol, {name: one for name, (one, _) in judges.items()})
    facts = ReportFacts(
        phase=phase,
        is_synthetic=project.is_synthetic,
        open_lead=project.open_lead,
        protocol=joined.protocol,
        protocols=joined.protocols,
        partial=tuple(lead_queries.partial_raters(project, phase=phase)),
        n_problems=report_queries.n_problems(project, phase=phase, wanted={}),
        judges=tuple(NamedRun(name, told) for name, (_, told) in judges.items()),
    )
    report = computed(method, joined.records, settings)
    report = replace(report, notes=(*facts_in_words(facts, joins), *joined.notes, *report.notes))
    row = Report(
        project=project,
        kind=Report.Kind.METHOD,
        settings={"asked": asked, "facts": plain(facts), "settings": plain(settings)},
        settings_hash=key,
        seen=marks,
        ids=dict(joined.ids),
        payload=kept(report),
        version=version,
        computed_at=timezone.now(),
    )
    keep(row)
    return ShownMethod(row, report_from(row.payload), is_new=True)


def as_plain(shown: ShownMethod) -> dict[str, Any]:
    """The report as JSON, in English, with what it rests on."""
    row = shown.row
    facts = plain(restored(ReportFacts, row.settings["facts"]))  # in the order of its fields
    partial = [
        {"rater": one["code"], "n_submitted": one["n_submitted"], "n_given": one["n_given"]}
        for one in facts.pop("partial")
    ]
    facts |= {**dict.fromkeys(JUDGES), **{one["judge"]: one["run"] for one in facts.pop("judges")}}
    head = {"project": row.project.slug, "report": row.pk, **facts, "partial_raters": partial}
    return {**head, **shown.report.as_dict()}


def computed(method: Method, rows: Iterable[Mapping[str, Any]], settings: Mapping[str, Any]) -> MethodReport:
    """The tables of these records and nothing else."""
    try:
        return method.of(records_of(rows, method.schema), settings)
    except RecordsRefused as error:
        raise Refused(error.problems[0]) from error


def settings_of(method: Method, project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter; the seed is the project's unless one is given."""
    try:
        return method.settings({"seed": project.seed % (MAX_SEED + 1), **given})
    except BadSetting as error:
        raise Refused(error.problem) from error


# What it rests on


def judges_of(
    project: Project, phase: str, joins: Joins, wanted: Mapping[str, int | None]
) -> dict[str, tuple[Run | None, JudgedBy | None]]:
    """Of each judge of the method the run that was asked for, or the newest with verdicts of the phase: two statements.
    Refused where a run is asked for of a judge that the method has not."""
    fields = {one.field for one in joins.judges}
    for field, number in wanted.items():
        if number is not None and field not in fields:
            raise Refused(unknown_choice(field, []))
    if not joins.judges:
        return {}
    runs = report_queries.runs_with_verdicts(project, phase=phase)
    chosen = {one.name: run_among(runs, one, wanted[one.field]) for one in joins.judges}
    jobs = jobs_by_state(run.group_id for run in chosen.values() if run)
    return {judge: (run, run and told_of(run, jobs[run.group_id])) for judge, run in chosen.items()}


def run_among(runs: list[Run], judge: AskedJudge, number: int | None) -> Run | None:
    own = [run for run in runs if run.judge.name == judge.name]
    if number is None:
        return own[0] if own else None
    found = next((run for run in own if run.number == number), None)
    if found is None:
        raise Refused(unknown_choice(judge.field, [str(run.number) for run in own]))
    return found


def told_of(run: Run, jobs: Mapping[str, int]) -> JudgedBy:
    endpoint = run.judge.settings.get("endpoint") or {}
    return JudgedBy(
        number=run.number,
        judge=run.judge.name,
        version=run.version,
        n_samples=run.n_samples,
        model=str(endpoint.get("model") or ""),
        n_left=jobs.get(Work.State.WAITING, 0) + jobs.get(Work.State.RUNNING, 0),
        n_dead=jobs.get(Work.State.DEAD, 0),
    )


# In words


def facts_in_words(facts: ReportFacts, joins: Joins) -> Iterator[Words]:
    """What stands above the tables."""
    if facts.is_synthetic:
        yield gettext_noop("Demo: these figures rest on synthetic labels. They say nothing about people.")
    if facts.phase != "main":
        yield gettext_noop("Pilot, not a result.")
    yield from joins.label_words(facts)
    for one in facts.partial:
        yield Said(
            gettext_noop("%(rater)s left and is partial: %(n_submitted)s of %(n_given)s labels given."),
            {"rater": one.code, "n_submitted": one.n_submitted, "n_given": one.n_given},
        )
    for named in facts.judges:
        yield from run_words(named.run)
    yield from joins.missing_words(facts)
    if facts.open_lead:
        yield gettext_noop("A lead labels in this project (open lead).")


def run_words(told: JudgedBy | None) -> Iterator[Words]:
    if told is None:
        return
    params = plain(told)
    if told.model:
        yield Said(gettext_noop("Run %(number)s of the judge %(judge)s, version %(version)s, model %(model)s."), params)
    else:
        yield Said(gettext_noop("Run %(number)s of the judge %(judge)s, version %(version)s."), params)
    if told.n_left:
        yield Said(gettext_noop("Run %(number)s is not through: %(n_left)s verdicts are missing."), params)
    if told.n_dead:
        yield Said(gettext_noop("Run %(number)s gave up %(n_dead)s verdicts; they count as errors."), params)


NO_METHOD = Problem(
    code="no_method",
    field="project",
    expected=gettext_noop("A project of a kind that this method is of."),
    remedy=gettext_noop("Look at its agreement instead."),
)
