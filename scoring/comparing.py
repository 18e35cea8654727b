"""The bridge from rows to statistics: labels become one ratings table per measure, the table becomes a report.

It knows no task kind: what is compared is said by the kind's measures.
"""

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotate import lead_queries, queries
from annotate.errors import Refused
from annotate.kinds.base import Measure, Schema, SetMeasure, TaskKind
from annotate.kinds.registry import kind_of
from annotate.models import Project
from annotate.traces.base import Problem, gettext_noop
from scoring import label_queries, report_queries
from scoring.label_queries import Labels
from scoring.models import Run
from scoring.report_queries import SAMPLE, VerdictRow
from scoring.stats.answers import Drawing, answers
from scoring.stats.judge import JudgeAgreement, JudgeQuestion, Verdicts
from scoring.stats.panel import PanelQuestion, panel_agreement
from scoring.stats.panel_results import PanelAgreement
from scoring.stats.ratings import DuplicateRating, Ratings, RatingsError, Records, ratings_from_triples
from scoring.stats.results import plain, restored
from scoring.stats.set_panel import SetAgreement, SetQuestion, set_agreements

N_RESAMPLES = 10_000
PHASES = ("main", "pilot")
"""Practice never enters a figure; the pilot does on request and is no result."""
CLUSTER = gettext_noop("collaboration or repeated task")
ITEM = gettext_noop("item")
MOST_NAMED = 20
"""How many allowed values a refusal names."""


Schemas = dict[int, Schema]
"""The label schema of every protocol, by its number."""


@dataclass(frozen=True, slots=True)
class MeasureReport:
    """The agreement of one measure in one phase: of people, and of a judge with their majority."""

    measure: Measure
    panel: PanelAgreement
    judge: JudgeAgreement | None


@dataclass(frozen=True, slots=True)
class SetReport:
    """The agreement of people on a measure of sets, by its name, and of a judge with each of them. `title` is a message
    id."""

    measure: str
    title: str
    agreement: SetAgreement
    judge: SetAgreement | None = None


@dataclass(frozen=True, slots=True)
class ProtocolLabels:
    """How many ratings of a phase were given under a protocol: one of a rater and item."""

    protocol: int
    n_labels: int


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """The run whose verdicts are compared; of several samples the one with this number."""

    number: int
    judge: str
    version: str
    n_samples: int
    sample: int = SAMPLE


@dataclass(frozen=True, slots=True)
class Facts:
    """What a report says beside its figures, and what was asked of it. `filters` are the items that were wanted,
    `n_filtered` the labels under the protocol that stand on other items."""

    phase: str
    is_synthetic: bool
    open_lead: bool
    protocol: int | None
    protocols: tuple[ProtocolLabels, ...]
    partial: tuple[lead_queries.Partial, ...]
    n_problems: int
    filters: Mapping[str, str]
    n_filtered: int
    run: ComparedRun | None
    round: int | None = None
    is_informed: bool = False


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """All measures of a project in one phase under one protocol, and what was left out before any table was made.
    Labels given under different guidelines are never compared; `protocols` says how many there are of each."""

    project: str
    phase: str
    is_synthetic: bool
    is_result: bool
    open_lead: bool
    protocol: int | None
    protocols: tuple[ProtocolLabels, ...]
    partial: tuple[lead_queries.Partial, ...]
    n_problems: int
    measures: tuple[MeasureReport, ...]
    run: ComparedRun | None
    filters: Mapping[str, str]
    n_filtered: int
    round: int | None = None
    is_informed: bool = False
    sets: tuple[SetReport, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        sets = [plain(one) for one in self.sets]
        return {
            "project": self.project,
            "phase": self.phase,
            "is_synthetic": self.is_synthetic,
            "is_result": self.is_result,
            "open_lead": self.open_lead,
            "round": self.round,
            "is_informed": self.is_informed,
            "protocol": self.protocol,
            "protocols": [{"protocol": one.protocol, "n_labels": one.n_labels} for one in self.protocols],
            "partial_raters": [
                {"rater": one.code, "n_submitted": one.n_submitted, "n_given": one.n_given} for one in self.partial
            ],
            "filters": dict(self.filters),
            "run": plain(self.run),
            "left_out": {"problem_reported": self.n_problems, "filtered": self.n_filtered},
            "measures": [
                {
                    "measure": report.measure.name,
                    "agreement": report.panel.as_dict(),
                    "judge": report.judge.as_dict() if report.judge else None,
                }
                for report in self.measures
            ],
            **({"sets": sets} if sets else {}),
        }


def report_from(payload: Mapping[str, Any], measures: Sequence[Measure]) -> AgreementReport:
    """The report that `as_dict` gave this of; floats as they are there."""
    of_name = {one.name: one for one in measures}
    values = {name: payload[name] for name in ("project", "phase", "is_synthetic", "is_result", "open_lead")}
    return AgreementReport(
        **values,
        protocol=payload["protocol"],
        protocols=tuple(ProtocolLabels(**one) for one in payload["protocols"]),
        partial=tuple(
            lead_queries.Partial(one["rater"], one["n_submitted"], one["n_given"]) for one in payload["partial_raters"]
        ),
        n_problems=payload["left_out"]["problem_reported"],
        measures=tuple(
            MeasureReport(
                of_name[part["measure"]],
                restored(PanelAgreement, part["agreement"]),
                restored(JudgeAgreement | None, part["judge"]),
            )
            for part in payload["measures"]
        ),
        run=restored(ComparedRun | None, payload["run"]),
        filters=payload["filters"],
        n_filtered=payload["left_out"]["filtered"],
        round=payload.get("round"),
        is_informed=payload.get("is_informed", False),
        sets=tuple(
            SetReport(
                part["measure"],
                part["title"],
                restored(SetAgreement, part["agreement"]),
                restored(SetAgreement | None, part["judge"]),
            )
            for part in payload.get("sets", ())
        ),
    )


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a report compares: measures on a scale, and measures of sets."""

    measures: Sequence[Measure]
    sets: Sequence[SetMeasure]


@dataclass(frozen=True, slots=True)
class Gathered:
    """The rows a report is computed from; `verdicts` are empty where no run is compared."""

    facts: Facts
    labels: Labels
    verdicts: Sequence[VerdictRow]


def agreement_report(
    project: Project,
    *,
    phase: str = "main",
    measure: str | None = None,
    protocol: int | None = None,
    language: str | None = None,
    area: str | None = None,
    cluster: str | None = None,
    run: int | None = None,
    round: int | None = None,
) -> AgreementReport:
    """Human agreement of uninformed labels under one protocol, the newest that has labels where none is named, and a
    judge beside it: the newest run with verdicts of the phase where no number is given. A `round` is compared by
    itself, which for an informed one is no agreement of independent labels. Refused for a measure, a protocol, a run, a
    round or a filter that is not there. The number of statements is fixed."""
    schemas = schemas_of(project)
    wanted = {"language": language, "area": area, "cluster": cluster}
    gathered = gather(project, schemas, phase=phase, protocol=protocol, run=run, wanted=wanted, round=round)
    chosen = chosen_of_all(project, schemas, measure, gathered.facts.protocol)
    return computed_report(project, gathered, schemas=schemas, chosen=chosen)


def gather(
    project: Project,
    schemas: Schemas,
    *,
    phase: str,
    protocol: int | None,
    run: int | None,
    wanted: Mapping[str, str | None],
    round: int | None = None,
) -> Gathered:
    """The rows as they are now."""
    chosen_round = None if round is None else round_numbered(project, round)
    filters, leave = checked_filters(project, phase, wanted), kind_of(project.kind).unmeasured
    every = label_queries.rated_labels(project, phase=phase, leave=leave, round=round)
    if protocol is not None and protocol not in schemas:
        raise Refused(unknown_choice("protocol", map(str, sorted(schemas))))
    under = {
        number: every.where(every.protocol == number).last_of_each() for number in np.unique(every.protocol).tolist()
    }
    chosen = max(under, default=None) if protocol is None else protocol
    of_protocol = under.get(chosen) or every.where(every.protocol == -1)
    labels = of_protocol
    if filters:
        items = report_queries.items_where(project, phase=phase, wanted=filters)
        labels = of_protocol.where(np.isin(of_protocol.item, items))
    row_of_run = chosen_run(project, phase, run)
    facts = Facts(
        phase=phase,
        is_synthetic=project.is_synthetic,
        open_lead=project.open_lead,
        protocol=chosen,
        protocols=tuple(ProtocolLabels(number, len(of_it)) for number, of_it in under.items()),
        partial=tuple(lead_queries.partial_raters(project, phase=phase, round=round)),
        n_problems=report_queries.n_problems(project, phase=phase, wanted=filters, round=round),
        filters=filters,
        n_filtered=len(of_protocol) - len(labels),
        run=row_of_run
        and ComparedRun(row_of_run.number, row_of_run.judge.name, row_of_run.version, row_of_run.n_samples),
        round=round,
        is_informed=chosen_round is not None and chosen_round.informed,
    )
    if row_of_run is None:
        return Gathered(facts, labels, [])
    return Gathered(
        facts, labels, report_queries.verdict_rows(row_of_run, phase=phase, wanted=filters, leave=leave)
    )


def computed_report(project: Project, gathered: Gathered, *, schemas: Schemas, chosen: Chosen) -> AgreementReport:
    """The figures of these rows and nothing else."""
    kind, facts, measures = kind_of(project.kind), gathered.facts, chosen.measures
    table = table_of(gathered.labels, kind, schemas)
    panels = [panel_question(one, table) for one in measures]
    judges = [
        judge_question(one, panel.ratings, verdicts)
        for one, panel, verdicts in zip(measures, panels, verdicts_on(measures, gathered, kind, schemas), strict=False)
    ]
    drawing = Drawing(unit=CLUSTER, seed=project.seed, n_resamples=N_RESAMPLES)
    found = answers([*panels, *judges], table.clusters, drawing)
    judged = found[len(panels) :] or [None] * len(measures)
    return AgreementReport(
        project=project.slug,
        phase=facts.phase,
        is_synthetic=facts.is_synthetic,
        is_result=facts.phase == "main" and not facts.is_informed,
        open_lead=facts.open_lead,
        protocol=facts.protocol,
        protocols=facts.protocols,
        partial=facts.partial,
        n_problems=facts.n_problems,
        measures=tuple(
            MeasureReport(one, panel, judge)
            for one, panel, judge in zip(measures, found[: len(panels)], judged, strict=True)
        ),
        run=facts.run,
        filters=facts.filters,
        n_filtered=facts.n_filtered,
        round=facts.round,
        is_informed=facts.is_informed,
        sets=set_reports(chosen.sets, table, drawing, judge_of_sets(chosen.sets, gathered, kind, schemas)),
    )


@dataclass(frozen=True, slots=True)
class Labelled:
    """The rows of a report as records, their different labels, and the cluster of every item."""

    records: Records
    labels: Sequence[Any]
    clusters: Sequence[str]

    def ratings(self, measure: Measure) -> Ratings:
        return self.records.ratings([measure.rate(label) for label in self.labels], measure.categories)

    def named(self, measure: SetMeasure) -> dict[Hashable, list[frozenset[Hashable] | None]]:
        """By rater, what they named on every item."""
        sets, n_items = [measure.rate(label) for label in self.labels], len(self.records.items)
        found: list[list[frozenset[Hashable] | None]] = [[None] * n_items for _ in self.records.raters]
        places = (self.records.rows.tolist(), self.records.columns.tolist(), self.records.which.tolist())
        for row, column, which in zip(*places, strict=True):
            found[column][row] = sets[which]
        return dict(zip(self.records.raters, found, strict=True))


def table_of(labels: Labels, kind: TaskKind, schemas: Schemas) -> Labelled:
    """Every different label is read once."""
    items, rows = np.unique(labels.item, return_inverse=True)
    raters, columns = np.unique(labels.rater, return_inverse=True)
    different, which = np.unique(np.stack([labels.protocol, labels.label]), axis=1, return_inverse=True)
    records = Records(
        items=tuple(items.tolist()),
        raters=tuple(labels.raters[one] for one in raters.tolist()),
        rows=rows,
        columns=columns,
        which=which,
    )
    said = [kind.load(json.loads(labels.texts[text]), schemas[protocol]) for protocol, text in different.T.tolist()]
    return Labelled(records, said, [labels.clusters[item] for item in items.tolist()])


def verdicts_on(measures: Sequence[Measure], gathered: Gathered, kind: TaskKind, schemas: Schemas) -> list[Verdicts]:
    """What the run said on the scale of each measure; nothing where no run is compared."""
    run = gathered.facts.run
    if run is None:
        return []
    newest = schemas[max(schemas)]
    labels = {text: kind.load(json.loads(text), newest) for text in {row.label for row in gathered.verdicts} - {None}}
    unreadable = frozenset(row.item for row in gathered.verdicts if row.is_unreadable)
    found = []
    for measure in measures:
        rated: dict[str | None, Hashable | None] = {None: None}
        rated |= {text: measure.rate(label) for text, label in labels.items()}
        said = {row.item: rated[row.label] for row in gathered.verdicts}
        found.append(Verdicts(run.number, run.judge, said, unreadable))
    return found


def schemas_of(project: Project) -> Schemas:
    """The label schema of every protocol, by its number."""
    kind = kind_of(project.kind)
    return {one.number: one.label_schema or kind.schema for one in queries.protocols_of(project.pk)}


def chosen_of_all(project: Project, schemas: Schemas, measure: str | None, protocol: int | None = None) -> Chosen:
    """The measure of this name, of either sort, or all of the kind; as `chosen_measures`."""
    kind, schema = kind_of(project.kind), schemas.get(protocol or 0) or schemas[max(schemas)]
    sets = [one for one in kind.sets(schema) if measure in (None, one.name)]
    measures = [one for one in kind.measures(schema) if measure in (None, one.name)]
    if not measures and not sets:
        names = [one.name for one in (*kind.measures(schema), *kind.sets(schema))]
        raise Refused(unknown_choice("measure", names))
    return Chosen(measures, sets)


def chosen_measures(
    project: Project, schemas: Schemas, measure: str | None, protocol: int | None = None
) -> list[Measure]:
    """The measure of this name, or all of the kind under this protocol, the newest where none is named; Refused where
    there is none."""
    measures = kind_of(project.kind).measures(schemas.get(protocol or 0) or schemas[max(schemas)])
    chosen = [one for one in measures if measure in (None, one.name)]
    if not chosen:
        raise Refused(unknown_choice("measure", [one.name for one in measures]))
    return chosen


def round_numbered(project: Project, number: int) -> report_queries.NumberedRound:
    rounds = report_queries.rounds_of(project)
    found = next((one for one in rounds if one.number == number), None)
    if found is None:
        raise Refused(unknown_choice("round", [str(one.number) for one in rounds]))
    return found


def chosen_run(project: Project, phase: str, number: int | None) -> Run | None:
    """The run of this number, or the newest with verdicts of the phase, if any."""
    runs = report_queries.runs_to_compare(project, phase=phase)
    if number is None:
        return runs[0] if runs else None
    found = next((run for run in runs if run.number == number), None)
    if found is None:
        raise Refused(unknown_choice("run", [str(run.number) for run in runs]))
    return found


def checked_filters(project: Project, phase: str, wanted: Mapping[str, str | None]) -> dict[str, str]:
    """The filters that were given; Refused for a value that no item of the phase has."""
    filters = {name: value for name, value in wanted.items() if value is not None}
    for name, value in filters.items():
        allowed = report_queries.values_of(project, name, phase=phase)
        if value not in allowed:
            raise Refused(unknown_choice(name, allowed))
    return filters


def panel_question(measure: Measure, table: Labelled) -> PanelQuestion:
    """What is asked of people on one measure; Refused where the rows make no table."""
    try:
        ratings = table.ratings(measure)
    except RatingsError as error:
        raise Refused(no_table(error, measure)) from error
    return PanelQuestion.of(ratings, level=measure.level, tie=measure.tie, min_others=measure.min_others)


JudgeOfSets = tuple[str, Mapping[int, Any]]
"""Who a judge is in a table of sets, and its labels by item."""


def judge_of_sets(
    measures: Sequence[SetMeasure], gathered: Gathered, kind: TaskKind, schemas: Schemas
) -> JudgeOfSets | None:
    run = gathered.facts.run
    if run is None or not measures:
        return None
    newest = schemas[max(schemas)]
    labels = {row.item: row.label for row in gathered.verdicts if row.label is not None}
    return f"{run.judge}, run {run.number}", {
        item: kind.load(json.loads(label), newest) for item, label in labels.items()
    }


def set_reports(
    measures: Sequence[SetMeasure], table: Labelled, drawing: Drawing, judge: JudgeOfSets | None = None
) -> tuple[SetReport, ...]:
    """Everything from one draw."""
    named = [table.named(one) for one in measures]
    questions = [SetQuestion(people, one.stat) for one, people in zip(measures, named, strict=True)]
    if judge is not None:
        name, said = judge
        for one, people in zip(measures, named, strict=True):
            own = [one.rate(said[item]) if item in said else None for item in table.records.items]
            questions.append(SetQuestion({name: own, **people}, one.stat, against=name))
    found = set_agreements(questions, table.clusters, drawing)
    of_judge = found[len(measures) :] or [None] * len(measures)
    return tuple(
        SetReport(one.name, one.title, people, beside)
        for one, people, beside in zip(measures, found[: len(measures)], of_judge, strict=True)
    )


def judge_question(measure: Measure, people: Ratings, verdicts: Verdicts) -> JudgeQuestion:
    try:
        return JudgeQuestion.of(people, verdicts, tie=measure.tie, min_raters=measure.min_others)
    except RatingsError as error:
        raise Refused(no_table(error, measure)) from error


@dataclass(frozen=True, slots=True)
class Table:
    """Ratings that came as a spreadsheet. `cluster_of` is None where no column names clusters; else `unit` is it."""

    triples: list[tuple[str, str, str | None]]
    categories: tuple[Hashable, ...]
    cluster_of: dict[str, str] | None = None
    unit: str = ITEM


def table_agreement(table: Table, *, seed: int) -> PanelAgreement:
    """The same figures for people who have a spreadsheet; without clusters each item is its own."""
    ratings = ratings_from_triples(table.triples, table.categories)
    clusters = None if table.cluster_of is None else [table.cluster_of[str(item)] for item in ratings.items]
    return panel_agreement(
        ratings,
        clusters,
        level="nominal",
        tie="exclude",
        min_others=2,
        unit=table.unit,
        seed=seed,
        n_resamples=N_RESAMPLES,
    )


def unknown_choice(field: str, allowed: Iterable[str]) -> Problem:
    """`field` is one of what a report can be asked for."""
    names = list(allowed)
    listed = names if len(names) <= MOST_NAMED else [*names[:MOST_NAMED], "…"]
    return Problem(
        code=f"unknown_{field}",
        field=field,
        expected=gettext_noop("One of: %(allowed)s.") if names else gettext_noop("None: there is none yet."),
        remedy=gettext_noop("Choose one of these; case counts.") if names else gettext_noop("Leave it out."),
        params={"allowed": ", ".join(listed)},
    )


def no_table(error: RatingsError, measure: Measure) -> Problem:
    """What is wrong with rows of the database that no import or form should have let in."""
    params = {"measure": measure.name, "item": error.item, "rater": error.rater}
    if isinstance(error, DuplicateRating):
        return Problem(
            code=error.code,
            field=measure.name,
            expected=gettext_noop("%(rater)s has a current label of item %(item)s in each of two first rounds."),
            remedy=gettext_noop("One label can be compared; the assignment of the other round has to be withdrawn."),
            params=params,
        )
    return Problem(
        code=error.code,
        field=measure.name,
        expected=gettext_noop("%(rater)s gave item %(item)s a label that the measure %(measure)s does not declare."),
        remedy=gettext_noop("Add it to the categories of the measure, in the kind's folder."),
        params=params,
    )
