"""Named reads around gaps: what a reader found, and what people said of gaps that were published. Each is one statement
unless it says otherwise."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db.models import Exists, OuterRef

from annotate import models
from annotate.models import Item, Project
from annotate.rules.quotes import canonical
from annotate.traces.base import Message
from scoring import label_queries, reply_queries, report_queries
from scoring.methods.replies_schema import CATEGORIES
from scoring.models import Run, Verdict
from scoring.queries import message_value
from scoring.reply_records import VoteRow

KIND, CLASSIFIER = "gap", "classifier"
COMMENT = ("comment",)
PART = 2000


@dataclass(frozen=True, slots=True)
class FoundGap:
    """A gap of a verdict: question `number` of those that the reader asked about an item. `text` is the canonical
    text of the item; `start` and `end` are None where the words are not in it."""

    item: int
    number: int
    question: str
    type: str
    start: int | None
    end: int | None
    trace: int
    anchor: int
    text: str


def classifier_run(project: Project, reader: Run, phase: str) -> Run | None:
    """The newest run of the classifier that worked on the gaps of this run of the reader."""
    verdicts = Verdict.objects.filter(run=OuterRef("pk"), item__phase=phase)
    runs = Run.objects.filter(
        Exists(verdicts),
        project=project,
        is_proof=False,
        judge__name=CLASSIFIER,
        judge__settings__reader_run=reader.number,
    )
    return runs.order_by("-number").first()


def categories_of(classifier: Run, phase: str) -> dict[tuple[int, int], str]:
    """By item and question, those that could be read."""
    verdicts = Verdict.objects.filter(run=classifier, sample=report_queries.SAMPLE, item__phase=phase)
    return {
        (item, gap["question"]): gap["category"]
        for item, finding in verdicts.order_by("item").values_list("item", "finding").iterator(chunk_size=PART)
        for gap in (finding.get("values") or {}).get("gaps", ())
        if gap["category"] in CATEGORIES
    }


def messages_of(traces: Collection[int]) -> Iterator[tuple[int, list[Message]]]:
    """All messages of these traces, private ones too, trace by trace."""
    columns = ("trace_id", "index", "role", "text", "session", "side", "calls", "answers_index", "answers_call")
    rows = models.Message.objects.filter(trace__in=list(traces)).order_by("trace", "index").values_list(*columns)
    for trace, those in groupby(rows.iterator(chunk_size=PART), key=itemgetter(0)):
        yield trace, [message_value((*row[1:], "", "")) for row in those]


@dataclass(frozen=True, slots=True)
class GapTrace:
    """The trace that gaps are of, as far as a copy of it needs."""

    source_id: str
    cluster: str
    area: str
    language: str
    model: str


def run_called(project: Project, number: int) -> Run | None:
    return Run.objects.filter(project=project, number=number).select_related("judge", "project").first()


def found_gaps(run: Run, phase: str) -> Iterator[FoundGap]:
    """The gaps of the first judgment of each item of a phase, by trace, anchor, item and question."""
    verdicts = Verdict.objects.filter(
        run=run, sample=report_queries.SAMPLE, is_unreadable=False, item__phase=phase, item__trace__is_staged=False
    )
    rows = verdicts.annotate(judged=reply_queries.judged_text("item__")).order_by(
        "item__trace", "item__anchor", "item"
    )
    columns = ("item", "item__trace", "item__anchor", "judged", "finding")
    for item, trace, anchor, text, finding in rows.values_list(*columns).iterator(chunk_size=PART):
        for number, asked in enumerate((finding.get("values") or {}).get("questions", ())):
            if asked["is_gap"]:
                place = (asked.get("start"), asked.get("end"))
                yield FoundGap(
                    item, number, asked["question"], asked["type"], *place, trace, anchor or 0, canonical(text or "")
                )


def gap_traces(project: Project, phase: str) -> dict[int, GapTrace]:
    """By id, those that have an item of the phase: two statements."""
    rows = reply_queries.trace_rows(project, phase)
    clusters = dict(reply_queries.items_of(project, phase).values_list("trace", "cluster"))
    return {
        row.id: GapTrace(row.source, clusters.get(row.id, row.source), row.area, row.language, row.model)
        for row in rows
    }


def studies_of(project: Project) -> list[Project]:
    """The projects of gaps that got theirs from this one."""
    items = Item.objects.filter(project__kind=KIND, origin__project=project.pk)
    return list(Project.objects.filter(pk__in=items.values("project")).order_by("pk"))


def votes_of(studies: list[Project], run: Run) -> Iterator[VoteRow]:
    """Current blind labels of the main phase, of gaps that this run found; several statements a study."""
    for study in studies:
        origins = Item.objects.filter(project=study, origin__run=run.pk).values_list("pk", "origin")
        places = {pk: (origin["item"], origin["question"]) for pk, origin in origins}
        labels = label_queries.rated_labels(study, phase="main", leave=COMMENT).last_of_each()
        for item, rater, label in zip(
            labels.item.tolist(), labels.rater.tolist(), labels.label.tolist(), strict=True
        ):
            if item in places:
                yield VoteRow(*places[item], labels.raters[rater], category_in(labels.texts[label]))


def category_in(text: str) -> str:
    said: dict[str, Any] = json.loads(text)
    return str(said["category"])
