"""The only way annotator-facing code gets an item.

Everything an annotator sees is in a `BlindItem`: built here, field by field, from the blocks of the task kind and from
the annotator's own rows. No model object leaves this file, and what the kind does not show is not even read from the
database. A field that is added to `BlindItem` is a decision about blindness (`tests/guards/test_blindness.py`).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache, partial
from itertools import islice
from operator import attrgetter
from typing import Any

from annotate import queries
from annotate.errors import NotYours
from annotate.kinds.base import Blocks, EntryBlock, FileBlock, MessageBlock, PolicyBlock, Suggestion, TaskKind
from annotate.kinds.registry import kind_of
from annotate.kinds.spine import (
    AROUND,
    MOST_AT_ONCE,
    MOST_CHARACTERS,
    MOST_FOUND,
    MOST_WORDS,
    N_ENTRIES,
    Cut,
    Hit,
    Part,
    WholeTrace,
    cut,
    rows_of,
)
from annotate.models import Assigning, Assignment, Membership, Role, Round
from annotate.rules.light_text import Piece, light, plain
from annotate.rules.looking_again import in_random_order, numbers_of
from annotate.rules.neutral_titles import titles_for_annotators
from annotate.rules.phases import reason_to_wait
from annotate.rules.qualification import PassRule, pass_rule
from annotate.rules.quotes import canonical
from annotate.traces.base import Answered, Call, File, Message, Trace


@dataclass(frozen=True, slots=True)
class ShownFile:
    name: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class ShownMessage:
    speaker: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """The annotator's own way through the plan; counts nothing of anybody else's. In a pool only what was given to them
    so far is counted, as nobody knows what comes."""

    sequence: int
    place: int | None
    n_places: int | None
    order: int
    n_planned: int | None
    minutes_left: int | None


@dataclass(frozen=True, slots=True)
class Feedback:
    """The expected answer of a practice item, told after its submit (docs/decisions/007)."""

    label: dict[str, Any]
    reasons: tuple[str, str]
    is_right: bool
    differing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownSettled:
    """What one's own item was settled to, told in a closed project whose lead allows it; no label where it was left
    unresolved."""

    label: dict[str, Any] | None
    schema: Mapping[str, Any]
    is_same: bool
    differing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EarlierAnswer:
    """An answer of a closed round, without who gave it; `is_own` is one's own."""

    label: dict[str, Any]
    label_schema: Mapping[str, Any]
    is_own: bool


@dataclass(frozen=True, slots=True)
class ThreadPost:
    number: int
    is_own: bool
    text: str


@dataclass(frozen=True, slots=True)
class Thread:
    """What those who have the item in the same informed round say about it. `number` is one's own, of `n`."""

    number: int
    n: int
    posts: tuple[ThreadPost, ...]
    is_open: bool


@dataclass(frozen=True, slots=True)
class Informed:
    """What an informed round tells: one's own earlier answer first, the others in random order."""

    answers: tuple[EarlierAnswer, ...]
    thread: Thread


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """What an item asks of its own: a reader's question, and the words it is about between those around them."""

    question: str
    type: str
    start: int
    end: int
    before: tuple[Piece, ...]
    words: tuple[Piece, ...]
    behind: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class BlindItem:
    """One item as its annotator may see it. `label_schema` is that of the form, from the newest protocol; `own_schema`
    that of the protocol which the stored answer was given under. `progress` is None where a lead looks at it in no
    plan."""

    public_id: str
    project_slug: str
    project_titles: tuple[str, str]
    is_synthetic: bool
    is_closed: bool
    kind: TaskKind
    phase: str
    language: str
    files: tuple[ShownFile, ...]
    messages: tuple[ShownMessage, ...]
    pieces: tuple[Piece, ...]
    question: ShownQuestion | None
    trace: WholeTrace | None = field(compare=False)
    """Where the kind shows the whole trace, its parts, each read when it is asked for."""
    whole: Callable[[], Blocks] = field(compare=False)
    """All that the item shows at once, which no page asks for."""
    suggestions: tuple[Suggestion, ...]
    was_shown: bool
    is_submitted: bool
    may_correct: bool
    undo_id: str | None
    submitted_at: datetime | None
    number: int
    label: dict[str, Any] | None
    draft: dict[str, Any] | None
    draft_number: int
    protocol: int
    label_schema: Mapping[str, Any]
    own_schema: Mapping[str, Any]
    progress: Progress | None
    lease_minutes: int | None
    """How long an open item from a pool is kept for one after each sign of work."""
    feedback: Feedback | None
    sent_back: str
    """The reviewer's reason, to whom the item was sent back."""
    settled: ShownSettled | None
    informed: Informed | None

    @property
    def text(self) -> str:
        """The canonical text that is judged; its pieces hold every character of it."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def entries(self) -> tuple[EntryBlock, ...]:
        """Every message, at its original index, where the kind shows the whole trace."""
        return self.whole().entries

    @property
    def policies(self) -> tuple[str, ...]:
        return tuple(canonical(block.text) for block in self.whole().context if isinstance(block, PolicyBlock))

    def shown(self) -> Blocks:
        """What the label of a lead or a reviewer is checked against: they are asked about no suggestion."""
        return Blocks((), None, self.entries)


@dataclass(frozen=True, slots=True)
class OpenAssignment:
    """What an action on one's own assignment needs: the kind, and the text that spans must quote."""

    id: int
    public_id: str
    annotator_id: int
    project_id: int
    project_slug: str
    round_id: int
    is_round_open: bool
    informed: bool
    has_thread: bool
    phase: str
    is_submitted: bool
    is_last_submitted: bool
    pass_rule: PassRule | None
    first_shown_at: datetime | None
    kind: TaskKind
    text: str
    asker: queries.Asker | None
    """Who asks the pool for what comes next; None for an item of a plan."""
    shown: Callable[[], Blocks] = field(compare=False)
    """What the item shows, read only for a kind whose labels are checked against it."""


def open_assignment(person, public_id) -> OpenAssignment:
    """One's own open or submitted assignment; NotYours for any other, and for what cannot be begun yet."""
    row = own_row(person, public_id)
    if waits_for(row):
        raise NotYours
    return OpenAssignment(
        id=row.id,
        public_id=row.public_id,
        annotator_id=row.annotator_id,
        project_id=row.project_id,
        project_slug=row.project_slug,
        round_id=row.round_id,
        is_round_open=row.closed_at is None,
        informed=row.informed or row.was_informed,
        has_thread=row.purpose == Round.Purpose.INFORMED,
        phase=row.phase,
        is_submitted=row.state == Assignment.State.SUBMITTED,
        is_last_submitted=row.public_id == row.last_submitted,
        pass_rule=pass_rule(row.settings),
        first_shown_at=row.first_shown_at,
        kind=kind_of(row.kind),
        text=judged_text(row),
        asker=row.asker,
        shown=partial(blocks_of, row, kind_of(row.kind)),
    )


def show_item(person, public_id) -> BlindItem:
    """One's own item at its own address, open or submitted; NotYours also while it cannot be begun yet."""
    row = own_row(person, public_id)
    if waits_for(row):
        raise NotYours
    return blind_item(row)


def next_item(person, project_slug) -> BlindItem | None:
    """The first open item of one's plan in this project, or None when there is nothing to do (`standing` says why)."""
    row = next((row for row in queries.first_open(person, project_slug) if not waits_for(row)), None)
    return None if row is None else blind_item(row)


def waits_for(row: queries.OwnRow) -> str:
    """Why an open item cannot be begun yet, "" where it can. What has once been shown stays open."""
    if row.state != Assignment.State.OPEN or row.first_shown_at is not None:
        return ""
    is_ready = row.phase != "practice" or queries.practice_is_ready(row.project_id, row.project_languages)
    return reason_to_wait(row.phase, open_phase=row.open_phase, practice_is_ready=is_ready)


def standing(person, project_slug, *, own: "OwnProject | None" = None) -> str:
    """What one is told where no item is shown: "ready", "done", "paused", "practice_not_ready" or "phase_not_open"; all
    of it about the project's state and one's own plan. NotYours where one has no part in the project, which `own` says
    where it is known."""
    if (own or own_project(person, project_slug)).is_paused:
        return "paused"
    reasons = [waits_for(row) for row in queries.first_open(person, project_slug)]
    return "done" if not reasons else "ready" if "" in reasons else reasons[0]


def preview_item(project_id: int, item_id: int, *, protocol: int | None = None) -> BlindItem | None:
    """An item exactly as its annotators see it, under this protocol or the newest, for a lead or a reviewer; None where
    the project has no such item."""
    row = queries.previewed_row(project_id, item_id, protocol=protocol)
    return None if row is None else blind_item(row)


def stored_number(person, public_id) -> int:
    """The number of one's own current annotation of an item, 0 where there is none."""
    row = queries.own_assignment(person, public_id)
    own = queries.current_annotation(row.id) if row else None
    return own.number if own else 0


def reported_project(person, public_id) -> str:
    """The project of an item one has reported as a problem; NotYours for any other. A report that is sent twice is
    answered like the first."""
    slug = queries.reported_in(person, public_id)
    if slug is None:
        raise NotYours
    return slug


def own_row(person, public_id) -> queries.OwnRow:
    row = queries.own_assignment(person, public_id)
    if row is None:
        raise NotYours
    return row


def blind_item(row: queries.OwnRow) -> BlindItem:
    """The allow-list: every field that leaves the server for an annotator is named here."""
    kind = kind_of(row.kind)
    schema = row.label_schema or kind.schema
    whole = cache(partial(blocks_of, row, kind))
    trace = trace_of(row, kind)
    blocks = Blocks((), None) if trace else whole()
    render = plain if row.settings.get("show") == "plain" else light
    is_submitted = row.state == Assignment.State.SUBMITTED
    own = queries.current_annotation(row.id) if is_submitted else None
    own_schema = (own.protocol.label_schema if own else None) or schema
    pace = queries.pace_of(row) if row.id and row.asker is None else None
    return BlindItem(
        public_id=row.public_id,
        project_slug=row.project_slug,
        project_titles=titles_for_annotators(row.assigning, (row.title_en, row.title_zh)),
        is_synthetic=row.is_synthetic,
        is_closed=row.project_closed_at is not None,
        kind=kind,
        phase=row.phase,
        language=row.language,
        files=tuple(ShownFile(b.name, render(canonical(b.text))) for b in blocks.context if isinstance(b, FileBlock)),
        messages=tuple(
            ShownMessage(b.speaker, render(canonical(b.text))) for b in blocks.context if isinstance(b, MessageBlock)
        ),
        pieces=pieces_of(blocks, kind, render),
        question=question_of(row, kind),
        trace=trace,
        whole=whole,
        suggestions=tuple(row.suggestions or ()) if kind.suggest else (),
        was_shown=row.first_shown_at is not None,
        is_submitted=is_submitted,
        may_correct=is_submitted and row.closed_at is None,
        undo_id=row.last_submitted,
        submitted_at=own.submitted_at if own else None,
        number=own.number if own else 0,
        label=own.label if own else None,
        draft=row.draft,
        draft_number=row.draft_number,
        protocol=row.protocol,
        label_schema=schema,
        own_schema=own_schema,
        progress=progress_of(row, pace) if row.id else None,
        lease_minutes=None if row.lease_until is None else round(row.lease / timedelta(minutes=1)),
        feedback=feedback_of(row, kind.load(own.label, own_schema), kind) if own and row.phase == "practice" else None,
        sent_back=queries.sent_back_reason(row.id) if row.informed else "",
        settled=settled_of(row, own.label, own_schema, kind) if own and tells_settled(row) else None,
        informed=informed_of(row, kind) if row.purpose == Round.Purpose.INFORMED else None,
    )


def pieces_of(blocks: Blocks, kind: TaskKind, render: Callable[[str], tuple[Piece, ...]]) -> tuple[Piece, ...]:
    """The judged text; where words of it are pointed at, as it is written, since a window cuts through any markup."""
    if blocks.text is None:
        return ()
    return (plain if kind.ask else render)(canonical(blocks.text.text))


def question_of(row: queries.OwnRow, kind: TaskKind) -> ShownQuestion | None:
    """What the item asks of its own, with the words that are meant."""
    if kind.ask is None or row.asked is None:
        return None
    asked, text = kind.ask(row.asked), judged_text(row)
    start, end = max(0, asked.start), min(len(text), asked.end)
    parts = (plain(part) for part in (text[:start], text[start:end], text[end:]))
    return ShownQuestion(asked.question, asked.type, start, end, *parts)


def informed_of(row: queries.OwnRow, kind: TaskKind) -> Informed:
    """What an informed round tells of an item; only `blind_item` asks, and only for an assignment of such a round."""
    said = {one.address: one for one in queries.said_earlier(row)}
    order = in_random_order(said, seen_from=row.public_id)
    order.sort(key=lambda address: said[address].member != row.annotator_id)
    addresses = queries.people_of_thread(row)
    numbers = numbers_of(addresses.values())
    return Informed(
        answers=tuple(
            EarlierAnswer(one.label, one.label_schema or kind.schema, one.member == row.annotator_id)
            for one in map(said.__getitem__, order)
        ),
        thread=Thread(
            number=numbers[row.public_id],
            n=len(numbers),
            posts=tuple(
                ThreadPost(numbers[addresses[member]], member == row.annotator_id, text)
                for member, text in queries.thread_of(row)
            ),
            is_open=row.closed_at is None,
        ),
    )


def tells_settled(row: queries.OwnRow) -> bool:
    """Only after all labelling has ended for good, and where a lead said so then."""
    is_told = row.project_closed_at is not None and row.settings.get("show_settled") is True
    return is_told and row.phase != "practice"


def settled_of(row: queries.OwnRow, label: dict[str, Any], schema, kind: TaskKind) -> ShownSettled | None:
    """What one's own submitted item was settled to; only `blind_item` asks."""
    settled = queries.settled_to([row.item_id]).get(row.item_id)
    return None if settled is None else shown_settled(label, schema, settled, kind)


def shown_settled(label: dict[str, Any], schema, settled: queries.SettledTo, kind: TaskKind) -> ShownSettled:
    theirs = settled.label_schema or kind.schema
    if settled.label is None:
        return ShownSettled(None, theirs, is_same=False, differing=())
    own, end = kind.load(label, schema), kind.load(settled.label, theirs)
    titles = kind.part_titles(theirs)
    parts = () if kind.same(own, end) else kind.grade(own, end).parts.items()
    differing = tuple(titles.get(part, part) for part, is_right in parts if not is_right)
    return ShownSettled(settled.label, theirs, kind.same(own, end), differing)


def feedback_of(row: queries.OwnRow, label: Any, kind: TaskKind) -> Feedback | None:
    """The expected answer beside one's own; only `blind_item` asks, and only for a submitted practice item."""
    known = queries.known_answer(row.item_id)
    if known is None:
        return None
    schema = row.label_schema or kind.schema
    grade, titles = kind.grade(label, kind.load(known.label, schema)), kind.part_titles(schema)
    differing = tuple(titles.get(part, part) for part, is_right in grade.parts.items() if not is_right)
    return Feedback(known.label, (known.reason_en, known.reason_zh), grade.is_right, differing)


def blocks_of(row: queries.OwnRow, kind: TaskKind) -> Blocks:
    """What an item shows, with the suggestions that were stored with it, where its kind makes any."""
    blocks = kind.view(visible_trace(row, kind), row.anchor, row.label_schema or kind.schema)
    return replace(blocks, suggestions=tuple(row.suggestions or ())) if kind.suggest else blocks


def own_trace(person, public_id) -> WholeTrace:
    """Of one's own item that shows its whole trace, as `show_item`; NotYours for any other."""
    row = own_row(person, public_id)
    trace = None if waits_for(row) else trace_of(row, kind_of(row.kind))
    if trace is None:
        raise NotYours
    return trace


def previewed_trace(project_id: int, item_id: int) -> WholeTrace | None:
    """The same for a lead or a reviewer; None where the project has no such item."""
    row = queries.previewed_row(project_id, item_id)
    return None if row is None else trace_of(row, kind_of(row.kind))


def trace_of(row: queries.OwnRow, kind: TaskKind) -> WholeTrace | None:
    if kind.shows != "whole":
        return None
    return WholeTrace(
        part=partial(part_of, row, kind), text=partial(text_of, row), find=partial(found_in, row), language=row.language
    )


def part_of(row: queries.OwnRow, kind: TaskKind, start: int) -> Part:
    """Three statements, however long the trace and its texts are. The kind sees the messages of the part and those
    they are tied to."""
    limits = {"up_to": row.anchor, "most": MOST_CHARACTERS + 1}
    start = min(max(0, start), row.anchor)
    shown = queries.messages_from(row.trace_id, start, limit=N_ENTRIES, **limits)
    tied = queries.messages_tied_to(shown, row.trace_id, **limits)
    policies = queries.policies_before(row.trace_id, N_ENTRIES, **limits)
    messages = sorted([*shown, *tied], key=attrgetter("index"))
    first, last = (shown[0].index, shown[-1].index) if shown else (start, row.anchor)
    trace = Trace("", "", tuple(message_value(one, whole=True) for one in messages), language=row.language)
    entries = kind.view(trace, row.anchor, row.label_schema or kind.schema).entries
    lengths = {one.index: one.n_characters for one in messages}
    return Part(
        rows=rows_of(entries, range(first, last + 1), lengths),
        first=first,
        last=last,
        end=row.anchor,
        policies=tuple((one.index, cut(one.text, one.n_characters)) for one in policies),
    )


def text_of(row: queries.OwnRow, index: int, call: int | None, start: int) -> Cut | None:
    """One statement."""
    found = queries.text_from(row.trace_id, index, start, up_to=row.anchor, most=MOST_AT_ONCE)
    if found is None:
        return None
    text, n_characters, calls = found
    if call is not None:
        if call >= len(calls):
            return None
        whole = calls[call]["arguments"]
        text, n_characters = whole[start : start + MOST_AT_ONCE], len(whole)
    return cut(text, n_characters, start=start, most=MOST_AT_ONCE) if start <= n_characters else None


def found_in(row: queries.OwnRow, words: str) -> tuple[Hit, ...]:
    """Where these words stand in a text, the name of a tool or its arguments, whatever their case; the first of each
    message. One statement, and the trace is never held as a whole."""
    words = words[:MOST_WORDS].strip()
    if not words:
        return ()
    sought = re.compile(re.escape(words), re.IGNORECASE)
    hits = (hit_in(sought, message) for message in queries.texts_of_trace(row.trace_id, up_to=row.anchor))
    return tuple(islice((hit for hit in hits if hit), MOST_FOUND))


def hit_in(sought: re.Pattern[str], message: tuple[int, str, list]) -> Hit | None:
    index, text, calls = message
    for place in (text, *(f"{call['name']} {call['arguments']}" for call in calls)):
        if found := sought.search(place):
            start, end = found.span()
            return Hit(index, place[max(0, start - AROUND) : start], found[0], place[end : end + AROUND])
    return None


def visible_trace(row: queries.OwnRow, kind: TaskKind) -> Trace:
    """The trace with only what the kind shows; where the item brings its own text, that text stands at the anchor."""
    anchor = row.anchor
    if kind.shows == "text":
        own = Message(index=anchor, role="assistant", text=row.item_text or "")
        return Trace(source_id="", format="", messages=(own,), language=row.language)
    shown = queries.messages_shown(row.trace_id, up_to=anchor, requester_only=kind.shows == "requester")
    messages = [message_value(message, whole=kind.shows == "whole") for message in shown]
    if row.item_text is not None:
        messages = [message for message in messages if message.index != anchor]
        messages.append(Message(index=anchor, role="assistant", text=row.item_text))
    files = queries.files_shown(row.trace_id, up_to=anchor)
    return Trace(
        source_id="",
        format="",
        messages=tuple(messages),
        files=tuple(File(file.name, file.text, file.available_from) for file in files),
        language=row.language,
    )


def message_value(row, *, whole: bool = False) -> Message:
    """Text and speaker only. Calls, and which of them a result answers, are handed on where the requester made them or
    the whole trace is shown, without the vendor's ids."""
    is_open = whole or row.side == "user"
    calls = row.calls if is_open else []
    answers = Answered(row.answers_index, row.answers_call) if is_open and row.answers_index is not None else None
    return Message(
        index=row.index,
        role=row.role,
        text=row.text,
        session=row.session,
        side=row.side,
        calls=tuple(Call("", call["name"], call["arguments"]) for call in calls),
        answers=answers,
    )


def judged_text(row: queries.OwnRow) -> str:
    """The canonical text that is judged: the item's own, else the recorded one at its anchor."""
    return canonical(row.item_text if row.item_text is not None else row.recorded_text)


def progress_of(row: queries.OwnRow, pace: queries.Pace | None) -> Progress:
    if pace is None:
        return Progress(row.sequence, None, None, row.order + 1, None, None)
    left = pace.n_planned - row.order
    is_over = pace.seconds is None or row.closed_at is not None
    return Progress(
        sequence=row.sequence,
        place=pace.place_in_trace,
        n_places=pace.n_in_trace,
        order=row.order + 1,
        n_planned=pace.n_planned,
        minutes_left=None if is_over else max(1, round(left * pace.seconds / 60)),
    )


@dataclass(frozen=True, slots=True)
class OwnProject:
    """A project on one's first page: its public face and one's own part in it."""

    slug: str
    titles: tuple[str, str]
    role: str
    is_synthetic: bool
    open_lead: bool
    is_paused: bool
    is_pool: bool
    is_closed: bool

    @property
    def may_label(self) -> bool:
        return self.role == Role.ANNOTATOR or (self.role == Role.LEAD and self.open_lead)


def own_titles(member: Membership) -> tuple[str, str]:
    titles = (member.project.title_en, member.project.title_zh)
    return titles_for_annotators(member.project.assigning, titles) if member.role == Role.ANNOTATOR else titles


def own_projects(person) -> list[OwnProject]:
    """The projects one belongs to: one statement."""
    return [
        OwnProject(
            slug=row.project.slug,
            titles=own_titles(row),
            role=row.role,
            is_synthetic=row.project.is_synthetic,
            open_lead=row.project.open_lead,
            is_paused=row.paused_at is not None,
            is_pool=row.project.assigning == Assigning.POOL,
            is_closed=row.project.closed_at is not None,
        )
        for row in queries.memberships_of(person)
    ]


def own_project(person, project_slug) -> OwnProject:
    """One project that one belongs to; NotYours for any other."""
    found = [project for project in own_projects(person) if project.slug == project_slug]
    if not found:
        raise NotYours
    return found[0]


@dataclass(frozen=True, slots=True)
class OwnAnnotation:
    """A line in the list of one's own submitted items."""

    public_id: str
    round: int
    sequence: int
    order: int
    submitted_at: datetime
    settled: ShownSettled | None = None


def own_annotations(person, project_slug, *, before: tuple[int, int] | None, limit: int) -> list[OwnAnnotation]:
    """One's own submitted items, newest in the plan of the newest round first, by pages; `before` is a round and an
    order in it: one statement, and two more where the project tells what it settled."""
    rows = list(queries.own_submitted(person, project_slug, before=before)[:limit])
    settled = settled_beside(rows)
    return [
        OwnAnnotation(row.public_id, row.round.number, row.sequence, row.order, row.ended_at, settled.get(row.pk))
        for row in rows
    ]


def settled_beside(rows) -> dict[int, ShownSettled]:
    """By assignment, what these own items were settled to, where the project is closed and tells it."""
    project = rows[0].annotator.project if rows else None
    if project is None or project.closed_at is None or project.settings.get("show_settled") is not True:
        return {}
    kind, settled = kind_of(project.kind), queries.settled_to([row.item_id for row in rows])
    labels = queries.own_labels([row.pk for row in rows])
    return {
        row.pk: shown_settled(labels[row.pk][0], labels[row.pk][1] or kind.schema, settled[row.item_id], kind)
        for row in rows
        if row.item_id in settled and row.pk in labels
    }


def guideline(person, project_slug, *, number: int | None = None) -> tuple[int, str, str]:
    """Number and both texts of a protocol of a project one belongs to, the newest where no number is given; NotYours
    for any other."""
    protocol = queries.guideline_for(person, project_slug, number=number)
    if protocol is None:
        raise NotYours
    return protocol.number, protocol.guideline_en, protocol.guideline_zh
