"""Named reads of labelling: what one's own pages and the services behind them ask. Each says how many statements it
takes; tests pin them. What leads and figures ask is in `lead_queries.py`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import (
    Avg,
    Case,
    CharField,
    Exists,
    F,
    JSONField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    When,
)
from django.db.models.functions import Length, Substr

from annotate.models import (
    Annotation,
    Assigning,
    Assignment,
    File,
    Item,
    Membership,
    Message,
    Phase,
    Post,
    Protocol,
    Round,
    SentBack,
    Settlement,
    SubsetItem,
)
from annotate.prepared import PreparedRead, place
from annotate.rules.plans import PlannedItem

VISIBLE_STATES = [Assignment.State.OPEN, Assignment.State.SUBMITTED]
"""What an annotator may open; locked, withdrawn and reported ones are as if they were not there."""

OWN = Q(state=Assignment.State.SUBMITTED) | Q(state=Assignment.State.OPEN, round__closed_at=None)
"""In a closed round what was submitted can be read, and nothing is open any more."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks a pool for an item: the part they have in the project, and where they are in the pool's order."""

    annotator: int
    code: str
    languages: list
    project: int
    seed: int
    open_phase: str
    cap: int | None
    lease: timedelta
    round: int | None
    block: int | None
    trace: int | None
    n_held: int = 0
    """How many places they take up, where it was looked up and there is a cap."""


@dataclass(frozen=True, slots=True)
class OwnRow:
    """An assignment of one's own with all a page needs, and no private column."""

    id: int
    public_id: str
    annotator_id: int
    order: int
    sequence: int
    state: str
    first_shown_at: datetime | None
    draft: dict | None
    draft_number: int
    project_id: int
    project_slug: str
    title_en: str
    title_zh: str
    kind: str
    settings: dict
    is_synthetic: bool
    open_phase: str
    project_languages: list
    project_closed_at: datetime | None
    round_id: int
    round_number: int
    purpose: str
    informed: bool
    closed_at: datetime | None
    item_id: int
    phase: str
    trace_id: int
    language: str
    anchor: int
    item_text: str | None
    code: str
    languages: list
    seed: int
    assigning: str
    person_cap: int | None
    lease: timedelta
    lease_until: datetime | None
    block: int | None
    recorded_text: str | None
    protocol: int
    label_schema: dict
    last_submitted: str | None
    """The public id of the item one submitted last in any open round, which undo may open again."""
    was_informed: bool
    """Whether one was shown the item in an informed round, this one or another: no label is blind after that."""
    suggestions: list | None
    """Those that the item is shown with; what it keeps to itself is not read."""
    asked: dict | None

    @property
    def asker(self) -> Asker | None:
        """Who asks the pool for another item when this one ends; None for an item of a plan."""
        is_pooled = self.assigning == Assigning.POOL and self.purpose == Round.Purpose.FIRST
        if not is_pooled or self.project_closed_at is not None:
            return None
        return Asker(
            self.annotator_id,
            self.code,
            self.languages,
            self.project_id,
            self.seed,
            self.open_phase,
            self.person_cap,
            self.lease,
            self.round_id,
            self.block,
            self.trace_id,
        )


OWN_COLUMNS = (
    *("pk", "public_id", "annotator", "order", "sequence", "state", "first_shown_at", "draft", "draft_number"),
    *(f"annotator__project{name}" for name in ("", "__slug", "__title_en", "__title_zh", "__kind", "__settings")),
    *("annotator__project__is_synthetic", "annotator__project__open_phase"),
    *("annotator__project__languages", "annotator__project__closed_at"),
    *("round", "round__number", "round__purpose", "round__informed", "round__closed_at"),
    *("item", "item__phase", "item__trace", "item__trace__language", "item__anchor", "item__text"),
    *("annotator__code", "annotator__languages", "annotator__project__seed", "annotator__project__assigning"),
    *("annotator__project__person_cap", "annotator__project__lease", "lease_until", "item__pool__block"),
)
"""All that annotators' pages read of an assignment and what it belongs to. What is not named here is not loaded."""


def own_assignments() -> QuerySet:
    """A person's own visible assignments in reading order, with the text that is judged and the newest protocol."""
    newest = Protocol.objects.filter(project=OuterRef("annotator__project")).order_by("-number")
    judged = Message.objects.filter(trace=OuterRef("item__trace"), index=OuterRef("item__anchor"))
    done = Assignment.objects.filter(
        annotator=OuterRef("annotator"), round__closed_at=None, state=Assignment.State.SUBMITTED
    )
    informed = Assignment.objects.filter(
        annotator=OuterRef("annotator"),
        item=OuterRef("item"),
        round__informed=True,
        first_shown_at__isnull=False,
    )
    return (
        Assignment.objects.filter(
            OWN, annotator__person=place("person"), annotator__left_at=None, annotator__paused_at=None
        )
        .order_by("order")
        .values_list(
            *OWN_COLUMNS,
            Subquery(judged.values("text")[:1]),
            Subquery(newest.values("number")[:1]),
            Subquery(newest.values("label_schema")[:1]),
            Subquery(done.order_by("-ended_at", "-pk").values("public_id")[:1]),
            Exists(informed),
            suggestions_shown_with("item__"),
            "item__asked",
        )
    )


def suggestions_shown_with(item: str = "") -> Case:
    return Case(When(**{f"{item}suggestions_shown": True, "then": F(f"{item}suggestions")}), output_field=JSONField())


OWN_BY_ADDRESS = PreparedRead(lambda: own_assignments().filter(public_id=place("public_id", CharField()))[:1])
N_OPEN = 5
FIRST_OPEN = PreparedRead(
    lambda: own_assignments().filter(
        annotator__project__slug=place("slug", CharField()), state=Assignment.State.OPEN
    ).order_by("round__number", "order")[:N_OPEN]
)


def own_assignment(person, public_id) -> OwnRow | None:
    """The person's own visible assignment at this address: one statement."""
    row = OWN_BY_ADDRESS.row(person=person.pk, public_id=public_id)
    return OwnRow(*row) if row else None


def first_open(person, project_slug) -> list[OwnRow]:
    """The first open assignments of one project, earlier rounds first, in reading order; there is one in a round, and
    few more where items were given back: one statement."""
    return [OwnRow(*row) for row in FIRST_OPEN.rows(person=person.pk, slug=project_slug)]


def previewed_row(project_id, item_id, *, protocol: int | None = None) -> OwnRow | None:
    """A visible item of a project in the form of an assignment that nobody has, under this protocol or the newest: one
    statement."""
    newest = Protocol.objects.filter(project=OuterRef("project")).order_by("-number")
    newest = newest if protocol is None else newest.filter(number=protocol)
    judged = Message.objects.filter(trace=OuterRef("trace"), index=OuterRef("anchor"))
    row = (
        Item.objects.filter(pk=item_id, project=project_id, trace__is_staged=False)
        .annotate(
            recorded_text=Subquery(judged.values("text")[:1]),
            protocol=Subquery(newest.values("number")[:1]),
            label_schema=Subquery(newest.values("label_schema")[:1]),
        )
        .select_related("project", "trace")
        .first()
    )
    if row is None:
        return None
    project = row.project
    return OwnRow(
        **{"id": 0, "public_id": "", "annotator_id": 0, "order": 0, "sequence": 0, "state": ""},
        **{"first_shown_at": None, "draft": None, "draft_number": 0, "project_id": project.pk},
        **{name: getattr(project, name) for name in ("title_en", "title_zh", "kind", "settings", "is_synthetic")},
        **{"project_slug": project.slug, "open_phase": project.open_phase, "project_languages": project.languages},
        **{"project_closed_at": None},
        **{"round_id": 0, "round_number": 0, "purpose": "", "informed": False, "closed_at": None},
        **{"item_id": row.pk, "phase": row.phase},
        **{"trace_id": row.trace_id, "language": row.trace.language, "anchor": row.anchor, "item_text": row.text},
        **{"code": "", "languages": [], "seed": 0, "assigning": project.assigning, "person_cap": None},
        **{"lease": project.lease, "lease_until": None, "block": None},
        **{name: getattr(row, name) for name in ("recorded_text", "protocol", "label_schema")},
        last_submitted=None,
        was_informed=False,
        suggestions=row.suggestions if row.suggestions_shown else None,
        asked=row.asked,
    )


def practice_is_ready(project_id, languages) -> bool:
    """Whether every practice item that anybody may be given has a known answer: one statement."""
    known = Settlement.objects.filter(item=OuterRef("pk"), how=Settlement.How.KNOWN, is_current=True)
    practice = Item.objects.filter(
        **{"project": project_id, "phase": Phase.PRACTICE, "is_planned": True},
        **{"trace__is_staged": False, "trace__language__in": ["", *languages]},
    )
    return not practice.filter(~Exists(known)).exists()


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """What a lead says the label of a practice item is, and why."""

    label: dict
    reason_en: str
    reason_zh: str


def known_answer(item_id) -> KnownAnswer | None:
    """One statement."""
    row = Settlement.objects.filter(item=item_id, how=Settlement.How.KNOWN, is_current=True)
    found = row.values_list("label", "reason_en", "reason_zh").first()
    return KnownAnswer(*found) if found else None


@dataclass(frozen=True, slots=True)
class KnownAnswered:
    """A first answer to an item with a known answer, beside that; the schema is the newest, as of the known one."""

    annotator: int
    assignment: int
    label: dict
    known: dict
    label_schema: dict


def known_answers_given() -> QuerySet:
    """Newest first. What came before somebody's last pause ended counts no more."""
    known = Settlement.objects.filter(item=OuterRef("assignment__item"), how=Settlement.How.KNOWN, is_current=True)
    return (
        Annotation.objects.filter(
            Exists(known),
            Q(assignment__annotator__qualifies_from=None)
            | Q(submitted_at__gt=F("assignment__annotator__qualifies_from")),
            assignment__state=Assignment.State.SUBMITTED,
            assignment__round__informed=False,
            is_current=True,
            informed=False,
        )
        .order_by("-submitted_at", "-pk")
        .values_list(
            *("assignment__annotator", "assignment", "label"),
            Subquery(known.values("label")[:1]),
            "protocol__label_schema",
        )
    )


def known_answered(annotator_id, *, limit) -> list[KnownAnswered]:
    """The last ones of one annotator: one statement."""
    rows = known_answers_given().filter(assignment__annotator=annotator_id)[:limit]
    return [KnownAnswered(*row) for row in rows]


def known_answered_in(project_id) -> dict[int, list[KnownAnswered]]:
    """All of a project by annotator: one statement."""
    found: dict[int, list[KnownAnswered]] = {}
    for row in known_answers_given().filter(assignment__annotator__project=project_id):
        found.setdefault(row[0], []).append(KnownAnswered(*row))
    return found


def sent_back_reason(assignment_id) -> str:
    """What a reviewer wrote when they sent this very assignment's item back, "" for any other: one statement."""
    return SentBack.objects.filter(assignment=assignment_id).values_list("reason", flat=True).first() or ""


@dataclass(frozen=True, slots=True)
class SettledTo:
    """What an item ended with; no label where it was left unresolved."""

    item: int
    label: dict | None
    label_schema: dict


def settled_to(items) -> dict[int, SettledTo]:
    """What reviewers settled these items to, of those they settled: one statement."""
    rows = Settlement.objects.filter(item__in=items, is_current=True).exclude(how=Settlement.How.KNOWN)
    found = rows.values_list("item", "label", "protocol__label_schema")
    return {item: SettledTo(item, label, schema or {}) for item, label, schema in found}


def own_labels(assignments) -> dict[int, tuple[dict, dict]]:
    """The current label of each of these assignments and the label schema it was given under: one statement."""
    rows = Annotation.objects.filter(assignment__in=assignments, is_current=True)
    found = rows.values_list("assignment", "label", "protocol__label_schema")
    return {assignment: (label, schema) for assignment, label, schema in found}


@dataclass(frozen=True, slots=True)
class SaidEarlier:
    """Somebody's last label of an item in a closed round, by the random address of their assignment."""

    member: int
    address: str
    label: dict
    label_schema: dict


def said_earlier(row: OwnRow) -> list[SaidEarlier]:
    """Of the item of an assignment, in the closed rounds before its own: one statement."""
    said = Annotation.objects.filter(
        assignment__item=row.item_id,
        assignment__state=Assignment.State.SUBMITTED,
        assignment__round__closed_at__isnull=False,
        assignment__round__number__lt=row.round_number,
        is_current=True,
    ).order_by("assignment__round__number")
    values = said.values_list(
        "assignment__annotator", "assignment__public_id", "label", "protocol__label_schema"
    )
    return list({member: SaidEarlier(member, *rest) for member, *rest in values}.values())


def people_of_thread(row: OwnRow) -> dict[int, str]:
    """The addresses of an item's assignments in a round, by member: one statement."""
    rows = Assignment.objects.filter(item=row.item_id, round=row.round_id)
    return dict(rows.values_list("annotator", "public_id"))


def thread_of(row: OwnRow) -> list[tuple[int, str]]:
    """What was said about an item in a round, first post first, each with its member: one statement."""
    posts = Post.objects.filter(item=row.item_id, round=row.round_id, purpose=Post.Purpose.THREAD)
    return list(posts.order_by("pk").values_list("author", "text"))


@dataclass(frozen=True, slots=True)
class ShownMessage:
    index: int
    role: str
    text: str
    session: int
    side: str
    calls: list
    answers_index: int | None
    answers_call: int | None


def messages_before() -> QuerySet:
    messages = Message.objects.filter(trace=place("trace"), index__lte=place("up_to")).order_by("index")
    return messages.values_list(
        "index", "role", "text", "session", "side", "calls", "answers_index", "answers_call"
    )


EVERY_MESSAGE = PreparedRead(messages_before)
SEEN_MESSAGES = PreparedRead(lambda: messages_before().filter(seen_by=Message.SeenBy.REQUESTER))


def messages_shown(trace_id, *, up_to, requester_only) -> list[ShownMessage]:
    """Messages before and at `up_to`; private ones are not even read where the kind shows the requester's view."""
    messages = SEEN_MESSAGES if requester_only else EVERY_MESSAGE
    return [ShownMessage(*row) for row in messages.rows(trace=trace_id, up_to=up_to)]


@dataclass(frozen=True, slots=True)
class CutMessage:
    """A message with the beginning of its text, and how long the whole text is."""

    index: int
    role: str
    text: str
    session: int
    side: str
    calls: list
    answers_index: int | None
    answers_call: int | None
    n_characters: int


def cut_messages(trace_id, *, up_to, most: int) -> QuerySet:
    """Messages of a trace before and at `up_to`, of each text at most this many characters."""
    rows = Message.objects.filter(trace=trace_id, index__lte=up_to).order_by("index")
    return rows.values_list(
        *("index", "role", Substr("text", 1, most), "session", "side", "calls", "answers_index", "answers_call"),
        Length("text"),
    )


def messages_from(trace_id, start: int, *, up_to: int, limit: int, most: int) -> list[CutMessage]:
    """One statement."""
    rows = cut_messages(trace_id, up_to=up_to, most=most).filter(index__gte=start)[:limit]
    return [CutMessage(*row) for row in rows]


def messages_tied_to(messages: Sequence[CutMessage], trace_id, *, up_to: int, most: int) -> list[CutMessage]:
    """The calls that these answer and the results of their own calls, where they are elsewhere in the trace: one
    statement."""
    there = {one.index for one in messages}
    callers = {one.answers_index for one in messages if one.answers_index is not None} - there
    called = [one.index for one in messages if one.calls]
    tied = Q(index__in=callers) | Q(answers_index__in=called)
    rows = cut_messages(trace_id, up_to=up_to, most=most).filter(tied)
    return [CutMessage(*row) for row in rows if row[0] not in there]


def policies_before(trace_id, end: int, *, up_to: int, most: int) -> list[CutMessage]:
    """What the agent was told first of all: one statement."""
    rows = cut_messages(trace_id, up_to=up_to, most=most).filter(index__lt=end, role="system")
    return [CutMessage(*row) for row in rows]


def text_from(trace_id, index: int, start: int, *, up_to: int, most: int) -> tuple[str, int, list] | None:
    """A part of a message's text, how long the whole is, and its calls: one statement."""
    rows = Message.objects.filter(trace=trace_id, index=index, index__lte=up_to)
    return rows.values_list(Substr("text", start + 1, most), Length("text"), "calls").first()


def texts_of_trace(trace_id, *, up_to) -> Iterator[tuple[int, str, list]]:
    """Every message with its text and calls, in their order, a few at a time: one statement."""
    rows = Message.objects.filter(trace=trace_id, index__lte=up_to).order_by("index")
    return rows.values_list("index", "text", "calls").iterator(chunk_size=200)


@dataclass(frozen=True, slots=True)
class ShownFile:
    name: str
    text: str
    available_from: int


FILES = PreparedRead(
    lambda: (
        File.objects.filter(trace=place("trace"), available_from__lt=place("up_to"))
        .order_by("position")
        .values_list("name", "text", "available_from")
    )
)


def files_shown(trace_id, *, up_to) -> list[ShownFile]:
    return [ShownFile(*row) for row in FILES.rows(trace=trace_id, up_to=up_to)]


@dataclass(frozen=True, slots=True)
class NumberedSchema:
    """A protocol without its guidelines."""

    id: int
    number: int
    label_schema: dict


PROTOCOLS = PreparedRead(
    lambda: (
        Protocol.objects.filter(project=place("project"))
        .order_by("-number")
        .values_list("pk", "number", "label_schema")
    )
)


def protocols_of(project_id) -> list[NumberedSchema]:
    """All protocols of a project, newest first: one statement."""
    return [NumberedSchema(*row) for row in PROTOCOLS.rows(project=project_id)]


@dataclass(frozen=True, slots=True)
class Pace:
    """How far one is in one's plan, and one's own mean active time over the last answers in seconds."""

    n_planned: int
    n_in_trace: int
    place_in_trace: int
    seconds: float | None


def paces() -> QuerySet:
    """Every part reads a bounded number of index entries, so it costs the same at any size of plan."""
    mine = Assignment.objects.filter(annotator=place("annotator"), round=place("round"))
    last = mine.order_by("-order")
    siblings = mine.filter(sequence=place("sequence"))
    recent = (
        Annotation.objects.filter(
            assignment__annotator=place("annotator"),
            assignment__round=place("round"),
            assignment__order__lt=place("order"),
            assignment__order__gte=place("order") - 20,
            is_current=True,
        )
        .order_by()
        .values("assignment__annotator")
    )
    return Assignment.objects.filter(pk=place("assignment")).values_list(
        Subquery(last.values("order")[:1]),
        Subquery(siblings.order_by("order").values("order")[:1]),
        Subquery(siblings.order_by("-order").values("order")[:1]),
        Subquery(recent.annotate(mean=Avg("active_ms")).values("mean")),
    )


PACE = PreparedRead(paces)


def pace_of(assignment: OwnRow) -> Pace:
    """One statement."""
    last_order, first_here, last_here, mean_active = PACE.row(
        assignment=assignment.id,
        annotator=assignment.annotator_id,
        round=assignment.round_id,
        sequence=assignment.sequence,
        order=assignment.order,
    )
    return Pace(
        n_planned=last_order + 1,
        n_in_trace=last_here - first_here + 1,
        place_in_trace=assignment.order - first_here + 1,
        seconds=None if mean_active is None else float(mean_active) / 1000,
    )


def current_annotation(assignment_id) -> Annotation | None:
    return Annotation.objects.filter(assignment=assignment_id, is_current=True).select_related("protocol").first()


def active_memberships(person) -> QuerySet[Membership]:
    """Where the person may work now. For a condition on assignments: `annotator__in` keeps an UPDATE to one table, so
    that PostgreSQL checks all of its conditions again on a row it had to wait for; with a join it would not."""
    return Membership.objects.filter(person=person, left_at=None, paused_at=None)


def memberships_of(person) -> QuerySet[Membership]:
    return Membership.objects.filter(person=person, left_at=None).select_related("project").order_by("project__slug")


def plannable_items(project_id, membership_id) -> list[PlannedItem]:
    """Visible items of a project that this member has in no first round yet, an earlier one that was closed included: a
    second first label of a person would be a second rating of one rater. Where subsets are drawn, of the main phase
    only what was drawn for them; where pairs are, nothing, as their plans are made at once: one statement."""
    has_it = Assignment.objects.filter(
        item=OuterRef("pk"), annotator=membership_id, round__purpose=Round.Purpose.FIRST
    )
    drawn = SubsetItem.objects.filter(item=OuterRef("pk"), annotator=membership_id)
    is_theirs = ~Q(phase=Phase.MAIN) | ~Q(project__assigning=Assigning.SUBSETS) | Exists(drawn)
    is_given = ~Q(project__assigning=Assigning.PAIRS)
    there = Item.objects.filter(is_given, project=project_id, trace__is_staged=False, is_planned=True)
    rows = there.filter(~Exists(has_it), is_theirs).values_list("pk", "trace_id", "anchor", "phase", "trace__language")
    return [PlannedItem(*row) for row in rows.iterator(chunk_size=5000)]


def last_place(membership_id, round_id) -> tuple[int, int]:
    """The first free order and sequence of a member's plan."""
    row = Assignment.objects.filter(annotator=membership_id, round=round_id).aggregate(
        order=Max("order"), sequence=Max("sequence")
    )
    return (-1 if row["order"] is None else row["order"]) + 1, (row["sequence"] or 0) + 1


def own_submitted(person, project_slug, *, before: tuple[int, int] | None) -> QuerySet[Assignment]:
    """The person's submitted assignments of one project with their rounds: last round first, in it last in the plan
    first; those before a place (number of the round, order) if given."""
    mine = Assignment.objects.filter(
        annotator__person=person,
        annotator__project__slug=project_slug,
        annotator__left_at=None,
        annotator__paused_at=None,
        state=Assignment.State.SUBMITTED,
    )
    if before is not None:
        number, order = before
        mine = mine.filter(Q(round__number__lt=number) | Q(round__number=number, order__lt=order))
    return mine.select_related("round", "annotator__project").order_by("-round__number", "-order")


def guideline_for(person, project_slug, *, number: int | None = None) -> Protocol | None:
    """A protocol of a project the person belongs to, the newest where no number is given."""
    mine = Protocol.objects.filter(
        project__slug=project_slug, project__memberships__person=person, project__memberships__left_at=None
    )
    return (mine if number is None else mine.filter(number=number)).order_by("-number").first()


def reported_in(person, public_id) -> str | None:
    """The slug of the project in which the person ended this item by reporting a problem."""
    mine = Assignment.objects.filter(
        public_id=public_id,
        annotator__person=person,
        annotator__left_at=None,
        annotator__paused_at=None,
        state=Assignment.State.PROBLEM,
    )
    return mine.values_list("annotator__project__slug", flat=True).first()
