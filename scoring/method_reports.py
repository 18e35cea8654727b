"""The report of a project's method: its rows become records, the method's tables are worked out of them, and the report
is kept until a label, a verdict or an event has come since. Page, command and API show the same one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.utils import timezone

from annotate import lead_queries, queries
from annotate.errors import Refused
from annotate.models import Project, Work
from annotate.traces.base import Problem, gettext_noop
from scoring import label_queries, reply_queries, report_queries
from scoring.comparing import unknown_choice
from scoring.label_queries import Labels
from scoring.methods.kept import kept, report_from
from scoring.methods.records import RecordsRefused, records_of
from scoring.methods.tables import MAX_SEED, BadSetting, Method, MethodReport, Said, Words, method_of_kind
from scoring.models import Report, Run
from scoring.queries import jobs_by_state
from scoring.reply_records import Rows, SaidRow, records
from scoring.reports import hash_of, keep, keep_up, runs_of_numbers
from scoring.stats.results import plain, restored

VERSION = "1"
"""Of the joins: raise it where the same rows are to give other records, and no older report is shown."""
READER, CHECKER = "reader", "checker"
UNMEASURED = ("comment",)


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """A run that the report rests on. `n_left` of its jobs wait still, `n_dead` were given up."""

    number: int
    judge: str
    version: str
    n_samples: int
    model: str
    n_left: int
    n_dead: int


@dataclass(frozen=True, slots=True)
class ReportFacts:
    """What the report rests on; `protocols` are the numbers of those with labels in the phase."""

    phase: str
    is_synthetic: bool
    open_lead: bool
    protocol: int | None
    protocols: tuple[int, ...]
    partial: tuple[lead_queries.Partial, ...]
    n_problems: int
    reader: JudgedBy | None
    checker: JudgedBy | None


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
    """The kept report of these settings if nothing has come since, else a new one. Without numbers those of the newest
    protocol with labels and of the newest runs of reader and checker with verdicts of the phase. Refused for a kind
    without a method, and for a protocol, a run or a parameter that is not there."""
    method = method_of_kind(project.kind)
    if method is None:
        raise Refused(NO_METHOD)
    settings = settings_of(method, project, given or {})
    judges = judges_of(project, phase, {READER: run, CHECKER: checker_run})
    asked = {"phase": phase, "protocol": protocol, "judges": plain({name: told for name, (_, told) in judges.items()})}
    key = hash_of({"method": method.name, "asked": asked, "settings": plain(settings), "version": VERSION})
    row = report_queries.stored_reports(project, Report.Kind.METHOD, key).first()
    if row is not None and (same := report_queries.marks_since(project, row.seen)):
        keep_up(row, same)
        return ShownMethod(row, report_from(row.payload), is_new=False)
    marks = report_queries.marks(project)  # before any row is read: what commits in between is seen the next time
    labels, chosen, protocols = labels_under(project, phase, protocol)
    facts = ReportFacts(
        phase=phase,
        is_synthetic=project.is_synthetic,
        open_lead=project.open_lead,
        protocol=chosen,
        protocols=protocols,
        partial=tuple(lead_queries.partial_raters(project, phase=phase)),
        n_problems=report_queries.n_problems(project, phase=phase, wanted={}),
        reader=judges[READER][1],
        checker=judges[CHECKER][1],
    )
    said = {name: reply_queries.said_rows(one, phase) if one else [] for name, (one, _) in judges.items()}
    report = computed(method, rows_of(project, phase, labels, said), settings)
    report = replace(report, notes=(*facts_in_words(project, facts), *report.notes))
    row = Report(
        project=project,
        kind=Report.Kind.METHOD,
        settings={"asked": asked, "facts": plain(facts), "settings": plain(settings)},
        settings_hash=key,
        seen=marks,
        ids=ids_of(labels, said),
        payload=kept(report),
        version=VERSION,
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
    head = {"project": row.project.slug, "report": row.pk, **facts, "partial_raters": partial}
    return {**head, **shown.report.as_dict()}


def rows_of(project: Project, phase: str, labels: Labels, said: Mapping[str, list[SaidRow]]) -> Rows:
    """Five statements, however many rows."""
    return Rows(
        traces=reply_queries.trace_rows(project, phase),
        texts=reply_queries.text_rows(project, phase),
        steps=reply_queries.step_rows(project, phase),
        labels=reply_queries.label_rows(project, labels),
        judgments=said[READER],
        checks=[one for one in said[CHECKER] if one.sample == report_queries.SAMPLE],
    )


def computed(method: Method, rows: Rows, settings: Mapping[str, Any]) -> MethodReport:
    """The tables of these rows and nothing else."""
    try:
        return method.of(records_of(records(rows), method.schema), settings)
    except RecordsRefused as error:
        raise Refused(error.problems[0]) from error


def settings_of(method: Method, project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter; the seed is the project's unless one is given."""
    try:
        return method.settings({"seed": project.seed % (MAX_SEED + 1), **given})
    except BadSetting as error:
        raise Refused(error.problem) from error


# What it rests on


def labels_under(project: Project, phase: str, protocol: int | None) -> tuple[Labels, int | None, tuple[int, ...]]:
    """What enters human agreement under one protocol, the newest that has labels where none is named; with its number
    and the numbers of all that have labels."""
    every = label_queries.rated_labels(project, phase=phase, leave=UNMEASURED)
    there = tuple(sorted({int(one) for one in every.protocol}))
    if protocol is not None:
        known = sorted(one.number for one in queries.protocols_of(project.pk))
        if protocol not in known:
            raise Refused(unknown_choice("protocol", map(str, known)))
    chosen = protocol if protocol is not None else max(there, default=None)
    labels = every.where(every.protocol == (-1 if chosen is None else chosen)).last_of_each()
    return labels, chosen, there


def judges_of(
    project: Project, phase: str, wanted: Mapping[str, int | None]
) -> dict[str, tuple[Run | None, JudgedBy | None]]:
    """Of each judge the run that was asked for, or the newest with verdicts of the phase: two statements."""
    runs = report_queries.runs_with_verdicts(project, phase=phase)
    chosen = {judge: run_among(runs, judge, number) for judge, number in wanted.items()}
    jobs = jobs_by_state(run.group_id for run in chosen.values() if run)
    return {judge: (run, run and told_of(run, jobs[run.group_id])) for judge, run in chosen.items()}


def run_among(runs: list[Run], judge: str, number: int | None) -> Run | None:
    own = [run for run in runs if run.judge.name == judge]
    if number is None:
        return own[0] if own else None
    found = next((run for run in own if run.number == number), None)
    if found is None:
        field = "run" if judge == READER else "checker_run"
        raise Refused(unknown_choice(field, [str(run.number) for run in own]))
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


def ids_of(labels: Labels, said: Mapping[str, list[SaidRow]]) -> dict[str, str]:
    """Which rows it rests on, as `reports.numbers_of` reads them."""
    verdicts = (one.verdict for rows in said.values() for one in rows if one.verdict is not None)
    return {"annotations": runs_of_numbers(labels.annotation.tolist()), "verdicts": runs_of_numbers(verdicts)}


# In words


def facts_in_words(project: Project, facts: ReportFacts) -> Iterator[Words]:
    """What stands above the tables."""
    if facts.is_synthetic:
        yield gettext_noop("Demo: these figures rest on synthetic labels. They say nothing about people.")
    if facts.phase != "main":
        yield gettext_noop("Pilot, not a result.")
    yield from label_words(facts)
    for told in (facts.reader, facts.checker):
        yield from run_words(told)
    if facts.reader is None:
        yield gettext_noop("No reader has judged this phase yet but as a proof of the wire; its tables are left away.")
    if facts.checker is None:
        yield gettext_noop("No checker has judged this phase yet but as a proof of the wire; its table is left away.")
    if facts.open_lead:
        yield gettext_noop("A lead labels in this project (open lead).")


def label_words(facts: ReportFacts) -> Iterator[Words]:
    if facts.protocol is None:
        yield gettext_noop("Nobody has labelled this phase yet; the tables of people are left away.")
        return
    yield Said(
        gettext_noop("Labels of people: blind rounds, protocol %(protocol)s; left out: %(n)s reported problems."),
        {"protocol": facts.protocol, "n": facts.n_problems},
    )
    others = [number for number in facts.protocols if number != facts.protocol]
    if others:
        numbers = ", ".join(map(str, others))
        yield Said(gettext_noop("There are labels under other protocols too: %(numbers)s."), {"numbers": numbers})
    for one in facts.partial:
        yield Said(
            gettext_noop("%(rater)s left and is partial: %(n_submitted)s of %(n_given)s labels given."),
            {"rater": one.code, "n_submitted": one.n_submitted, "n_given": one.n_given},
        )


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
    expected=gettext_noop("A project whose annotators read replies; only that method has a report so far."),
    remedy=gettext_noop("Look at its agreement instead."),
)
