"""The bridge from rows to statistics: labels become one ratings table per measure, the table becomes a report.

It knows no task kind: what is compared is said by the kind's measures.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from annotate import lead_queries, queries
from annotate.errors import Refused
from annotate.kinds.base import Measure
from annotate.kinds.registry import kind_of
from annotate.models import Project
from annotate.traces.base import Problem, gettext_noop
from scoring.stats.panel import panel_agreement
from scoring.stats.panel_results import PanelAgreement
from scoring.stats.ratings import DuplicateRating, RatingsError, ratings_from_triples

N_RESAMPLES = 10_000
PHASES = ("main", "pilot")
"""Practice never enters a figure; the pilot does on request and is no result."""
CLUSTER = gettext_noop("collaboration or repeated task")
ITEM = gettext_noop("item")


@dataclass(frozen=True, slots=True)
class MeasureReport:
    """The agreement of one measure in one phase."""

    measure: Measure
    panel: PanelAgreement


@dataclass(frozen=True, slots=True)
class ProtocolLabels:
    """How many ratings of a phase were given under a protocol: one of a rater and item."""

    protocol: int
    n_labels: int


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

    def as_dict(self) -> dict[str, Any]:
        return {
            "project": self.project,
            "phase": self.phase,
            "is_synthetic": self.is_synthetic,
            "is_result": self.is_result,
            "open_lead": self.open_lead,
            "protocol": self.protocol,
            "protocols": [{"protocol": one.protocol, "n_labels": one.n_labels} for one in self.protocols],
            "partial_raters": [
                {"rater": one.code, "n_submitted": one.n_submitted, "n_given": one.n_given} for one in self.partial
            ],
            "left_out": {"problem_reported": self.n_problems},
            "measures": [
                {"measure": report.measure.name, "agreement": report.panel.as_dict()} for report in self.measures
            ],
        }


def agreement_report(
    project: Project, *, phase: str = "main", measure: str | None = None, protocol: int | None = None
) -> AgreementReport:
    """Human agreement of uninformed labels under one protocol, the newest that has labels where none is named; Refused
    for a measure or a protocol that is not there. The number of statements is fixed."""
    kind = kind_of(project.kind)
    schemas = {protocol.number: protocol.label_schema or kind.schema for protocol in queries.protocols_of(project.pk)}
    measures = kind.measures(schemas[max(schemas)])
    chosen = [one for one in measures if measure in (None, one.name)]
    if not chosen:
        raise Refused(unknown_measure(measure, measures))
    every = lead_queries.rated_rows(project, phase=phase)
    if protocol is not None and protocol not in schemas:
        raise Refused(unknown_protocol(schemas))
    under = {
        number: last_of_each([row for row in every if row.protocol == number])
        for number in sorted({row.protocol for row in every})
    }
    chosen_protocol = max(under, default=None) if protocol is None else protocol
    rows = under.get(chosen_protocol, [])
    labels = [kind.parse(row.label, schemas[row.protocol], None) for row in rows]
    return AgreementReport(
        project=project.slug,
        phase=phase,
        is_synthetic=project.is_synthetic,
        is_result=phase == "main",
        open_lead=project.open_lead,
        protocol=chosen_protocol,
        protocols=tuple(ProtocolLabels(number, len(of_it)) for number, of_it in under.items()),
        partial=tuple(lead_queries.partial_raters(project, phase=phase)),
        n_problems=lead_queries.n_problems(project, phase=phase),
        measures=tuple(MeasureReport(one, measure_agreement(one, rows, labels, project.seed)) for one in chosen),
    )


def last_of_each(rows: Sequence[lead_queries.Rated]) -> list[lead_queries.Rated]:
    """One row of a rater and item: where a new protocol opened the item again, the label of that round."""
    found: list[lead_queries.Rated] = []
    for row in rows:
        is_same = bool(found) and (found[-1].item, found[-1].rater) == (row.item, row.rater)
        if is_same and row.round_purpose == "protocol":
            found.pop()
        found.append(row)
    return found


def measure_agreement(
    measure: Measure, rows: Sequence[lead_queries.Rated], labels: Sequence, seed: int
) -> PanelAgreement:
    """One measure's table and everything computed from it; Refused where the rows make no table."""
    triples = [(row.item, row.rater, measure.rate(label)) for row, label in zip(rows, labels, strict=True)]
    try:
        ratings = ratings_from_triples(triples, measure.categories)
    except RatingsError as error:
        raise Refused(no_table(error, measure)) from error
    cluster_of = {row.item: row.cluster for row in rows}
    return panel_agreement(
        ratings,
        [cluster_of[item] for item in ratings.items],
        level=measure.level,
        tie=measure.tie,
        min_others=measure.min_others,
        unit=CLUSTER,
        seed=seed,
        n_resamples=N_RESAMPLES,
    )


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


def unknown_measure(name: str | None, measures: Sequence[Measure]) -> Problem:
    return Problem(
        code="unknown_measure",
        field="measure",
        expected=gettext_noop("One of: %(allowed)s."),
        remedy=gettext_noop("Choose one of these; case counts."),
        params={"allowed": ", ".join(one.name for one in measures)},
    )


def unknown_protocol(numbers: Iterable[int]) -> Problem:
    return Problem(
        code="unknown_protocol",
        field="protocol",
        expected=gettext_noop("One of: %(allowed)s."),
        remedy=gettext_noop("Choose one of these; case counts."),
        params={"allowed": ", ".join(map(str, sorted(numbers)))},
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
