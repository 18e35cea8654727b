"""Traces of a file become rows that nobody sees yet; `importing.py` shows them all at once, or removes them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from annotate.kinds.registry import kind_of
from annotate.models import File, ImportBatch, Item, Message, Phase, Project, Trace
from annotate.rules.left_off import is_left_off
from annotate.rules.requester_view import TextBesideCalls, seen_by_requester, visible_texts
from annotate.rules.vendor_names import vendor_names
from annotate.traces import base
from annotate.traces.base import Problem, gettext_noop
from annotate.traces.identity import canonical_json, content_hash, n_characters
from annotate.traces.reading import WHOLE_FILE
from annotate.traces.tally import Tally


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item that a published text or question becomes, at a message of its trace (`anchor`). `text` is set where it
    was written for the item, `asked` where its kind asks another thing of each; `point` and `arm` where it is one of
    several texts of a point. `arm` and `origin` are private. One that is not planned is there for judges alone."""

    anchor: int
    text: str | None = None
    asked: Mapping[str, Any] | None = None
    point: str | None = None
    arm: str = ""
    origin: Mapping[str, Any] | None = None
    phase: str = Phase.MAIN
    is_planned: bool = True

    def same_as(self) -> tuple[object, ...]:
        """What makes it the same item of a trace again."""
        asked = None if self.asked is None else canonical_json(self.asked)
        return self.anchor, self.text, asked, self.point, self.arm


CHUNK_TRACES = 20
CHUNK_CHARACTERS = 120_000
"""So much is written at once: on SQLite nobody else writes meanwhile, which should not last longer than a submit."""
NAMES_TOLD, PLACES_TOLD = 5, 10
"""A warning of names that give a model away tells no more of them, and of the places where they stand."""
NEVER_SKIPPED = WHOLE_FILE | {"import_interrupted", "published_only"}


class Overtaken(Exception):
    """A later import of the same project took this one for a killed one, and removed its rows."""


def chunks(traces: Iterable[base.Trace]) -> Iterator[list[base.Trace]]:
    """A bounded number of traces and characters at a time, so that a write is short and memory does not grow; all of
    one format, of which an archive may hold several."""
    waiting: list[base.Trace] = []
    n_waiting = 0
    for trace in traces:
        if waiting and waiting[0].format != trace.format:
            yield waiting
            waiting, n_waiting = [], 0
        waiting.append(trace)
        n_waiting += n_characters(trace)
        if len(waiting) == CHUNK_TRACES or n_waiting > CHUNK_CHARACTERS:
            yield waiting
            waiting, n_waiting = [], 0
    if waiting:
        yield waiting


class Staging:
    """One file on its way in, and what was counted so far."""

    def __init__(self, batch: ImportBatch, phase: str) -> None:
        self.batch, self.project, self.phase, self.skip_bad = batch, batch.project, phase, batch.skip_bad
        self.kind = kind_of(self.project.kind)
        protocol = self.project.protocols.order_by("-number").first()
        self.schema = protocol.label_schema if protocol else self.kind.schema
        self.text_beside_calls = self.project.settings.get("text_beside_calls", "private")
        self.tally = Tally()
        self.n_new = self.n_present = self.n_items = 0

    @property
    def is_refused(self) -> bool:
        """Once a record refuses the file nothing more is written; reading goes on, to name every problem."""
        whole = NEVER_SKIPPED & self.tally.problem_codes
        return bool(whole) or (self.tally.n_problems > 0 and not (self.skip_bad and self.n_new + self.n_present))

    def stage(self, traces: Sequence[base.Trace]) -> None:
        hashes = {trace.source_id: content_hash(trace) for trace in traces}
        known = self.known(traces)
        for trace in traces:
            if known.get(trace.source_id, hashes[trace.source_id]) != hashes[trace.source_id]:
                self.tally.add_problem(other_content(trace, known[trace.source_id], hashes[trace.source_id]))
        new = [trace for trace in traces if trace.source_id not in known]
        for trace in new:
            if found := names_in(trace, self.text_beside_calls):
                self.tally.add_problem(names_a_model(trace, found))
            if trace.language and trace.language not in self.project.languages:
                self.tally.add_problem(language_not_read(trace, self.project.languages))
        self.n_present += sum(known.get(trace.source_id) == hashes[trace.source_id] for trace in traces)
        if self.skip_bad or not self.tally.n_problems:
            self.write(new, hashes)

    def known(self, traces: Sequence[base.Trace]) -> dict[str, str]:
        """Content hashes of those that the project has already."""
        return dict(
            Trace.objects.filter(
                project=self.project,
                format=traces[0].format,
                source_id__in=[trace.source_id for trace in traces],
                is_staged=False,
            ).values_list("source_id", "content_hash")
        )

    def write(self, traces: Sequence[base.Trace], hashes: dict[str, str]) -> None:
        rows = [self.trace_row(trace, hashes[trace.source_id]) for trace in traces]
        messages = [self.message_row(row, m) for row, t in zip(rows, traces, strict=True) for m in t.messages]
        files = [row for parent, trace in zip(rows, traces, strict=True) for row in file_rows(parent, trace)]
        items = [row for parent, trace in zip(rows, traces, strict=True) for row in self.item_rows(parent, trace)]
        with transaction.atomic():
            if not ImportBatch.objects.select_for_update().filter(pk=self.batch.pk, state="staged").first():
                raise Overtaken
            Trace.objects.bulk_create(rows)
            Message.objects.bulk_create(messages)
            File.objects.bulk_create(files)
            Item.objects.bulk_create(items)
        self.n_new += len(rows)
        self.n_items += len(items)

    def trace_row(self, trace: base.Trace, hash_: str) -> Trace:
        return Trace(
            project=self.project,
            batch=self.batch,
            source_id=trace.source_id,
            format=trace.format,
            content_hash=hash_,
            cluster=trace.cluster or trace.source_id,
            area=trace.area,
            language=trace.language,
            metadata=dict(trace.metadata),
        )

    def message_row(self, row: Trace, message: base.Message) -> Message:
        is_seen = seen_by_requester(message, self.text_beside_calls)
        return Message(
            trace=row,
            index=message.index,
            session=message.session,
            role=message.role,
            side=message.side,
            seen_by=Message.SeenBy.REQUESTER if is_seen else Message.SeenBy.AGENT,
            text=message.text,
            calls=[{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.calls],
            answers_index=message.answers.index if message.answers else None,
            answers_call=message.answers.call if message.answers else None,
            answers_id=message.answers_id,
            name=message.name,
        )

    def item_rows(self, row: Trace, trace: base.Trace) -> list[Item]:
        anchors = self.kind.items(trace, self.schema)
        found = self.kind.suggest(trace, self.schema) if anchors and self.kind.suggest else None
        is_off = is_left_off(
            self.project.suggestions_off, seed=self.project.seed, format=row.format, source_id=row.source_id
        )
        return [
            Item(
                project=self.project,
                trace=row,
                anchor=anchor.index,
                cluster=row.cluster,
                phase=self.phase,
                suggestions=None if found is None else [dict(one) for one in found],
                suggestions_shown=found is None or self.phase == Phase.PRACTICE or not is_off,
            )
            for anchor in anchors
        ]


def published_row(project: Project, trace: Trace, new: NewItem) -> Item:
    return Item(
        project=project,
        trace=trace,
        anchor=new.anchor,
        text=new.text,
        cluster=trace.cluster,
        point=new.point,
        arm=new.arm,
        phase=new.phase,
        asked=None if new.asked is None else dict(new.asked),
        origin=None if new.origin is None else dict(new.origin),
        is_planned=new.is_planned,
    )


def file_rows(row: Trace, trace: base.Trace) -> list[File]:
    return [
        File(trace=row, position=position, name=file.name, text=file.text, available_from=file.available_from)
        for position, file in enumerate(trace.files)
    ]


def names_in(trace: base.Trace, text_beside_calls: TextBesideCalls) -> dict[str, list[str]]:
    """What gives a model or a vendor away to annotators, by its place. Most traces are cleared as a whole."""
    texts = list(visible_texts(trace, text_beside_calls))
    found: dict[str, list[str]] = {}
    if vendor_names("\n".join(text for _, text in texts)):
        for place, text in texts:
            if names := vendor_names(text):
                found.setdefault(place, []).extend(names)
    return found


def names_a_model(trace: base.Trace, found: dict[str, list[str]]) -> Problem:
    names = list(dict.fromkeys(name for names in found.values() for name in names))
    return trace.place.problem(
        "names_a_model",
        expected=gettext_noop(
            "Visible text that gives away no model and no vendor; in trace “%(id)s” it names %(names)s "
            "(messages or files: %(places)s)."
        ),
        remedy=gettext_noop("Nothing, if that is meant; annotators read it as it is."),
        warning=True,
        id=trace.source_id,
        names=listed(names, NAMES_TOLD),
        places=listed(list(found), PLACES_TOLD),
    )


def language_not_read(trace: base.Trace, languages: Sequence[str]) -> Problem:
    return trace.place.problem(
        "language_not_read",
        expected=gettext_noop(
            "A language of the project (%(allowed)s); trace “%(id)s” is in “%(language)s”, so it is planned for nobody."
        ),
        remedy=gettext_noop("Add the language to the project and to what its people read, if that is meant."),
        warning=True,
        id=trace.source_id,
        language=trace.language,
        allowed=", ".join(languages),
    )


def listed(words: Sequence[str], most: int) -> str:
    """The first of them, each cut to what a line can hold."""
    return ", ".join([word[:80] for word in words[:most]] + ["…"] * (len(words) > most))


def other_content(trace: base.Trace, old: str, new: str) -> Problem:
    return trace.place.problem(
        "duplicate_id",
        "/id",
        expected=gettext_noop(
            "The trace “%(id)s” with the content it was imported with (SHA-256 %(old)s); here its content is %(new)s."
        ),
        remedy=gettext_noop("Give another run another id, or remove the record."),
        id=trace.source_id,
        old=old,
        new=new,
    )
