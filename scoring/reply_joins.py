"""The rows of a project of replies as records: labels under one protocol, what the reader and the checker said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from annotate import queries
from annotate.errors import Refused
from annotate.models import Phase, Project
from annotate.traces.base import gettext_noop
from scoring import gap_queries, label_queries, reply_queries, report_queries
from scoring.comparing import unknown_choice
from scoring.label_queries import Labels
from scoring.method_joins import AskedJudge, Joined, Joins, ReportFacts
from scoring.methods.origins import origin_of
from scoring.methods.tables import Said, Words
from scoring.models import Run
from scoring.reply_records import Rows, SaidRow, records
from scoring.reports import runs_of_numbers

READER, CHECKER, COINED = "reader", "checker", "coined"
UNMEASURED = ("comment",)


def gather(project: Project, phase: str, protocol: int | None, runs: Mapping[str, Run | None]) -> Joined:
    labels, chosen, protocols = labels_under(project, phase, protocol)
    said = {name: reply_queries.said_rows(one, phase) if one else [] for name, one in runs.items()}
    rows, notes = with_gaps(rows_of(project, phase, labels, said), project, phase, runs[READER])
    return Joined(records(rows), chosen, protocols, ids_of(labels, said), notes)


def with_gaps(rows: Rows, project: Project, phase: str, reader: Run | None) -> tuple[Rows, tuple[Words, ...]]:
    """What is known of the reader's gaps beside the gaps: categories by the classifier and by people, and where coined
    labels came up first; a few statements, however many gaps."""
    if reader is None:
        return rows, ()
    studies = gap_queries.studies_of(project)
    votes = list(gap_queries.votes_of(studies, reader)) if phase == Phase.MAIN else []
    notes: list[Words] = []
    if votes:
        params = {"projects": ", ".join(study.slug for study in studies)}
        notes.append(Said(gettext_noop("Categories by people: from %(projects)s."), params))
    classifier = gap_queries.classifier_run(project, reader, phase)
    if classifier is None:
        return replace(rows, votes=votes), tuple(notes)
    categories = gap_queries.categories_of(classifier, phase)
    notes.append(Said(gettext_noop("Categories by run %(number)s of the classifier."), {"number": classifier.number}))
    origins = dict(origins_of(rows, categories, notes))
    return replace(rows, votes=votes, categories=categories, origins=origins), tuple(notes)


def origins_of(
    rows: Rows, categories: Mapping[tuple[int, int], str], notes: list[Words]
) -> Iterator[tuple[tuple[int, int], str]]:
    """Of every coined label; a warning where the requester had it first, which a coined label should not be."""
    places = {text.item: (text.trace, text.anchor) for text in rows.texts}
    asked = {said.item: said.values["questions"] for said in rows.judgments if said.values and not said.sample}
    coined: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for (item, number), category in categories.items():
        if category == COINED and item in places and number < len(asked.get(item, ())):
            coined[places[item][0]].append((item, number))
    n_of_requester = 0
    for trace, messages in gap_queries.messages_of(coined):
        for item, number in coined[trace]:
            found = origin_of(messages, places[item][1], asked[item][number]["about"])
            n_of_requester += found.source == "requester"
            yield (item, number), found.source
    if n_of_requester:
        notes.append(
            Said(
                gettext_noop("Coined labels that the requester used first, which should not be: %(n)s."),
                {"n": n_of_requester},
            )
        )


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


def ids_of(labels: Labels, said: Mapping[str, list[SaidRow]]) -> dict[str, str]:
    verdicts = (one.verdict for rows in said.values() for one in rows if one.verdict is not None)
    return {"annotations": runs_of_numbers(labels.annotation.tolist()), "verdicts": runs_of_numbers(verdicts)}


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


def missing_words(facts: ReportFacts) -> Iterator[Words]:
    if facts.run_of(READER) is None:
        yield gettext_noop("No reader has judged this phase yet but as a proof of the wire; its tables are left away.")
    if facts.run_of(CHECKER) is None:
        yield gettext_noop("No checker has judged this phase yet but as a proof of the wire; its table is left away.")


JOINS = Joins(
    version="3",
    gather=gather,
    label_words=label_words,
    missing_words=missing_words,
    others=gap_queries.studies_of,
    judges=(
        AskedJudge(
            READER, "run", gettext_noop("Run of the reader"), gettext_noop("No reader has judged this phase yet.")
        ),
        AskedJudge(CHECKER, "checker_run", gettext_noop("Run of the checker")),
    ),
)
