"""The rows of a project of redundant steps as records: what was said in every round, and what it comes to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from annotate.errors import Refused
from annotate.kinds.registry import kind_of
from annotate.models import Project
from annotate.traces.base import gettext_noop
from scoring import experience_queries, redundancy_queries
from scoring.comparing import Schemas, schemas_of, unknown_choice
from scoring.method_joins import Joined, Joins, ReportFacts
from scoring.methods.tables import Said, Words
from scoring.models import Run
from scoring.redundancy_records import Ended, LabelRow, RoundRow, Rows, comparable, last_of_each, numbered, records
from scoring.reports import runs_of_numbers


def gather(project: Project, phase: str, protocol: int | None, runs: Mapping[str, Run | None]) -> Joined:
    """Nine statements, however many rows; ten where files count tokens."""
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
    return Joined(
        records=[*records(Rows(items, labels, order, ends)), *experience_queries.outcome_records(project)],
        protocol=under.pop() if len(under) == 1 else None,
        protocols=there,
        ids={"annotations": runs_of_numbers({one.annotation for one in [*labels, *given]}), "verdicts": ""},
        notes=tuple(words_of_rows(labels, rounds, order)),
    )


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


JOINS = Joins(version="2", gather=gather, label_words=label_words, missing_words=missing_words)
