"""The rows of a project of redundant steps as records: what was said in every round, and what it comes to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotate.errors import Refused
from annotate.kinds.registry import kind_of
from annotate.models import Project
from annotate.traces.base import gettext_noop
from scoring import experience_queries, redundancy_queries, report_queries
from scoring.comparing import Schemas, schemas_of, unknown_choice
from scoring.method_joins import AskedJudge, Joined, Joins, ReportFacts
from scoring.methods.tables import Said, Words
from scoring.models import Run
from scoring.redundancy_records import (
    CLASSIFICATION,
    DETECTION,
    RETRIEVAL,
    DetectorRow,
    Ended,
    JurorRow,
    LabelRow,
    RoundRow,
    Rows,
    comparable,
    last_of_each,
    n_no_gold,
    numbered,
    records,
)
from scoring.reports import runs_of_numbers


def gather(project: Project, phase: str, protocol: int | None, runs: Mapping[str, Run | None]) -> Joined:
    """Nine statements, however many rows; one more where files count tokens, a few where judges have said
    something."""
    schemas = schemas_of(project)
    if protocol is not None and protocol not in schemas:
        raise Refused(unknown_choice("protocol", map(str, sorted(schemas))))
    items = redundancy_queries.item_rows(project, phase)
    rounds = redundancy_queries.round_rows(project)
    every = redundancy_queries.label_rows(project, phase)
    settled = redundancy_queries.settled_rows(project, phase, protocol)
    order = numbered(rounds)
    labels = comparable(every, order, protocol)
    given = labels if protocol is not None else every
    waiting = {one.item for one in items if one.is_waiting}
    ends = {**made(project, schemas, given, waiting), **settled}
    there = tuple(sorted({one.protocol for one in every}))
    under = {one.protocol for one in given}
    judged = judged_rows(project, phase, runs[JURY])
    rows = Rows(items, labels, order, ends, judged.jurors, judged.agreed, judged.detectors, judged.exemplars)
    notes = [*words_of_rows(labels, rounds, order), *words_of_judges(judged, rows)]
    return Joined(
        records=[*records(rows), *experience_queries.outcome_records(project)],
        protocol=under.pop() if len(under) == 1 else None,
        protocols=there,
        ids={"annotations": runs_of_numbers({one.annotation for one in [*labels, *given]}), "verdicts": ""},
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True)
class Judged:
    """What judges found, with the runs that it is from."""

    jurors: Sequence[JurorRow] = ()
    agreed: Mapping[int, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    detectors: Sequence[DetectorRow] = ()
    exemplars: frozenset[int] = frozenset()
    runs: Sequence[NamedJudge] = ()


@dataclass(frozen=True, slots=True)
class NamedJudge:
    """A run under the name that its tables have. `variant` and `setting` are those of detectors, empty for jurors."""

    run: Run
    name: str
    variant: str = ""
    setting: str = ""


def judged_rows(project: Project, phase: str, jury: Run | None) -> Judged:
    """Of a jury its three jurors, and of every detector the newest run with each setting and variant."""
    numbers = jury.judge.settings["runs"] if jury else []
    jurors = jurors_named(redundancy_queries.runs_numbered(project, numbers)) if numbers else []
    detectors = detectors_among(report_queries.runs_with_verdicts(project, phase=phase))
    used = [*jurors, *detectors]
    if not used:
        return Judged()
    ids = [one.run.pk for one in used]
    said = redundancy_queries.said_rows([*ids, *([jury.pk] if jury else [])], phase)
    lost = redundancy_queries.given_up(ids)
    costs = redundancy_queries.costs_of([one.run.pk for one in detectors])
    by_run: dict[int, dict[int, Mapping[str, Any] | None]] = defaultdict(dict)
    for run, item in lost:
        by_run[run][item] = None
    for one in said:
        by_run[one.run][one.item] = one.values
    agreed = by_run[jury.pk] if jury else {}
    return Judged(
        jurors=[
            JurorRow(item, one.name, None if values is None else values["steps"])
            for one in jurors
            for item, values in by_run[one.run.pk].items()
        ],
        agreed={item: values["steps"] for item, values in agreed.items() if values and "steps" in values},
        detectors=[
            DetectorRow(item, one.name, one.variant, one.setting, answers_in(values), costs.get((one.run.pk, item)))
            for one in detectors
            for item, values in by_run[one.run.pk].items()
        ],
        exemplars=frozenset(item for one in used for item in one.run.judge.settings.get("examples") or ()),
        runs=used,
    )


def answers_in(values: Mapping[str, Any] | None) -> Any:
    return None if values is None else values.get("steps", values.get("answers"))


def jurors_named(runs: Sequence[Run]) -> list[NamedJudge]:
    """By their models; where one is there twice, with the number of the run."""
    models = Counter(model_of(run) for run in runs)
    return [
        NamedJudge(run, model_of(run) if models[model_of(run)] == 1 else f"{model_of(run)} ({run.number})")
        for run in runs
    ]


def detectors_among(runs: Iterable[Run]) -> list[NamedJudge]:
    """From runs, newest first, the newest of each detector, variant and setting; of those made elsewhere too."""
    found: dict[tuple[str, str, str], NamedJudge] = {}
    for run in runs:
        told = run.judge.settings
        name, setting = model_of(run), SETTINGS.get(run.judge.name, "")
        if run.judge.name == IMPORTED:
            name, setting = told["system"], told["setting"]
        if setting:
            variant = told.get("variant") or ""
            found.setdefault((name, variant, setting), NamedJudge(run, name, variant, setting))
    return [found[key] for key in sorted(found)]


def model_of(run: Run) -> str:
    endpoint = run.judge.settings.get("endpoint") or {}
    return str(endpoint.get("model") or run.judge.name)


def words_of_judges(judged: Judged, rows: Rows) -> Iterator[Words]:
    for one in judged.runs:
        params = {"number": one.run.number, "name": one.name, "judge": one.run.judge.name, "variant": one.variant}
        if one.variant:
            yield Said(gettext_noop("Run %(number)s: %(name)s as %(judge)s, variant %(variant)s."), params)
        else:
            yield Said(gettext_noop("Run %(number)s: %(name)s as %(judge)s."), params)
    if n := n_no_gold(rows):
        text = gettext_noop("Answers about given steps that are no gold any more, and so are left out: %(n)s.")
        yield Said(text, {"n": n})


def made(
    project: Project, schemas: Schemas, labels: Iterable[LabelRow], waiting: set[int]
) -> dict[int, Ended]:
    """What the last blind labels of all experts make together, as the kind settles and a release does; of one expert it
    is theirs. Nothing yet of what somebody has still to label."""
    kind = kind_of(project.kind)
    ends = {}
    for item, given in last_of_each(one for one in labels if not one.informed).items():
        if item in waiting:
            continue
        said = [kind.load(one.label, schemas[one.protocol]) for one in given]
        settled = kind.settle(said, schemas[max(one.protocol for one in given)])
        ends[item] = Ended(None if settled.label is None else kind.dump(settled.label)["steps"])
    return ends


def words_of_rows(labels: Sequence[LabelRow], rounds: Sequence[RoundRow], order: Mapping[int, int]) -> Iterator[Words]:
    if not labels:
        return
    used = {one.round for one in labels}
    for one in rounds:
        if one.number in used and order[one.number] != one.number:
            params = {"round": order[one.number], "number": one.number}
            yield Said(gettext_noop("Round %(round)s holds round %(number)s of the project."), params)
    silent = sum(not one.says_something for one in labels)
    if silent:
        text = gettext_noop("Labels that say that a trajectory cannot be annotated, and so are left out: %(n)s.")
        yield Said(text, {"n": silent})
    yield gettext_noop(
        "Gold is what reviewers settled, else what the blind labels of all experts make together, as in a release by "
        "review, once nobody has still to give one."
    )


def label_words(facts: ReportFacts) -> Iterator[Words]:
    if not facts.protocols:
        yield gettext_noop("Nobody has labelled this phase yet; the tables of people are left away.")
        return
    numbers = ", ".join(map(str, facts.protocols if facts.protocol is None else (facts.protocol,)))
    yield Said(
        gettext_noop(
            "Labels of people: every round by itself, protocol %(numbers)s; left out: %(n)s reported problems."
        ),
        {"numbers": numbers, "n": facts.n_problems},
    )
    if facts.protocol is None:
        yield gettext_noop("Of a trajectory and round only labels under its newest protocol are compared.")


def missing_words(facts: ReportFacts) -> Iterator[Words]:
    yield from ()


JURY, IMPORTED = "jury", "imported"
SETTINGS = {"stepcls": CLASSIFICATION, "evidenceret": RETRIEVAL, "stepdet": DETECTION}

JOINS = Joins(
    version="3",
    gather=gather,
    label_words=label_words,
    missing_words=missing_words,
    judges=(AskedJudge(JURY, "run", gettext_noop("Run of the jury")),),
)
