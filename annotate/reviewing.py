"""What reviewers do: look at what people disagree on, settle it, send it back. They see answers without names, in an
order of their own, and nothing of what a judge says."""

import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db import transaction
from django.utils.crypto import constant_time_compare, salted_hmac

from annotate import assigning, blind, people, queries, review_queries, work
from annotate.blind import BlindItem
from annotate.errors import AnswersChanged, NotYours, Refused, SettledMeanwhile
from annotate.kinds.base import LabelError, Measure, Schema, SetMeasure, TaskKind, parsed
from annotate.kinds.registry import kind_of
from annotate.models import (
    Disagreement,
    Event,
    Item,
    Membership,
    Person,
    Project,
    Role,
    SentBack,
    Settlement,
)
from annotate.review_queries import BlindLabel, Changed, Disputed, GivenAnswer, QueueRow, Stored
from annotate.rules.disagreement import how_far_apart
from annotate.rules.plans import shuffled
from annotate.rules.votes import last_of_each
from annotate.traces.base import Problem, gettext_noop

AT_ONCE = 500
"""Items whose labels are compared while somebody waits for the queue; a job does the others."""
KIND = "disagreements"
MAX_WORDS = 2000
SALT = "annotate.reviewing"


# Who may


def part_of(person: Person, slug: str) -> Membership:
    """One's part as a reviewer or a lead; NotYours for anybody else."""
    part = review_queries.part_in(person, slug)
    if part is None:
        raise NotYours
    return part


def may_settle(part: Membership) -> bool:
    """Reviewers do. A lead sees what the judge says and who answered, so they settle only where leads label too, which
    every report and data card says."""
    return part.role == Role.REVIEWER or part.project.open_lead


# The queue


def refresh_queue(project: Project) -> int:
    """Work out anew how far apart labels are where they changed, of as many items as one can wait for; returns how many
    are left to a job. Safe to run by two at once."""
    changed = sorted(review_queries.changed_items(project), key=attrgetter("last_annotation"))
    compare(project, changed[:AT_ONCE])
    left = changed[AT_ONCE:]
    if left:
        key = f"{KIND}:{project.pk}:{left[-1].last_annotation}"  # one job, until somebody answers again
        with transaction.atomic():
            work.add_work(kind=KIND, key=key, payload={}, lane=f"{KIND}:{project.pk}", project=project)
    return len(left)


@work.handles(KIND)
def refresh_all(job: work.Job) -> dict[str, Any]:
    """What an opening of the queue left to do."""
    project = Project.objects.get(pk=job.row.project_id)
    changed = review_queries.changed_items(project)
    for begin in range(0, len(changed), AT_ONCE):
        compare(project, changed[begin : begin + AT_ONCE])
        job.progress(min(begin + AT_ONCE, len(changed)), len(changed))
    return {"n_items": len(changed)}


def compare(project: Project, changed: Sequence[Changed]) -> None:
    """Three statements, however many labels the items have."""
    if not changed:
        return
    seen = {one.item: one for one in changed}
    protocols = queries.protocols_of(project.pk)
    labels = groupby(review_queries.labels_to_compare(project, list(seen)), key=attrgetter("item"))
    kind, rows = kind_of(project.kind), []
    schemas = {one.number: one.label_schema or kind.schema for one in protocols}
    for item, given in labels:
        apart = apart_of(kind, list(given), schemas)
        rows.append(
            Disagreement(
                item_id=item,
                project=project,
                weight=apart.weight,
                by_measure=apart.by_measure,
                n_labels=seen[item].n_labels,
                last_annotation=seen[item].last_annotation,
            )
        )
    Disagreement.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["item"],
        update_fields=["weight", "by_measure", "n_labels", "last_annotation"],
    )


def apart_of(kind: TaskKind, given: Sequence[BlindLabel], schemas: Mapping[int, Schema]):
    """Of the label that counts of each annotator. Those that were given under other labels than the newest of them
    cannot be compared with it and are left out; another guideline alone leaves nothing out."""
    counting = last_of_each(given)
    schema = schemas[max(one.protocol for one in counting)]
    labels = [kind.load(one.label, schema) for one in counting if schemas[one.protocol] == schema]
    return how_far_apart(labels, kind.measures(schema), kind.distance, kind.sets(schema))


@dataclass(frozen=True, slots=True)
class Queue:
    """A page of what is to be settled. `measures` are names and titles to filter by; `n_left` items have new answers
    that a job has still to compare."""

    rows: list[QueueRow]
    counts: dict[str, int]
    measures: dict[str, str]
    n_left: int


def show_queue(
    *, part: Membership, state: str, phase: str = "", measure: str = "", first: int = 0, limit: int
) -> Queue:
    """What matters most first, after what has changed was worked in."""
    project = part.project
    n_left = refresh_queue(project)
    kind = kind_of(project.kind)
    schemas = [one.label_schema or kind.schema for one in reversed(queries.protocols_of(project.pk))]
    return Queue(
        rows=review_queries.queue_rows(
            project, state=state, phase=phase, measure=measure, first=first, limit=limit
        ),
        counts=review_queries.queue_counts(project),
        measures={
            one.name: one.title for schema in schemas for one in (*kind.measures(schema), *kind.sets(schema))
        },
        n_left=n_left,
    )


# One item


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody said, under a letter that means somebody else on every other item and page of another reviewer.
    `name` is the letter, and behind it which of their answers it is where there are several."""

    name: str
    alias: str
    label: dict[str, Any]
    schema: Schema
    protocol: int
    is_again: bool
    differs: bool
    id: int


@dataclass(frozen=True, slots=True)
class Cell:
    """What one answer says on a measure; `is_apart` where most say something else, or nothing has a majority."""

    title: str
    is_apart: bool


@dataclass(frozen=True, slots=True)
class Compared:
    """A measure over all answers."""

    name: str
    title: str
    cells: tuple[Cell, ...]

    @property
    def differs(self) -> bool:
        return any(cell.is_apart for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Card:
    """An item to settle: as its annotators saw it, their answers, and what was stored. `base` is the number of the last
    settlement and `seen` stands for these very answers; both go back with what is decided."""

    public_id: str
    item: BlindItem
    schema: Schema
    answers: tuple[Answer, ...]
    compared: tuple[Compared, ...]
    stored: tuple[Stored, ...]
    base: int
    seen: str
    n_waiting: int
    may_settle: bool
    item_id: int

    @property
    def current(self) -> Stored | None:
        return next((one for one in self.stored if one.is_current), None)

    @property
    def is_own(self) -> bool:
        """Whether the one who looks has stored a settlement of their own, and so may see what the judge says."""
        return any(one.is_own for one in self.stored)


def open_card(*, part: Membership, public_id: str) -> Card:
    """NotYours where the queue has no such item."""
    project = part.project
    disputed = review_queries.disputed_item(project, public_id)
    if disputed is None:
        raise NotYours
    given = review_queries.answers_of(disputed.item)
    newest = max((one.protocol for one in given if one.is_blind), default=None)
    item = blind.preview_item(project.pk, disputed.item, protocol=newest)
    if item is None:
        raise NotYours
    answers = named_answers(part, disputed, given, item)
    stored = review_queries.settlements_of(disputed.item, part.person)
    return Card(
        public_id=public_id,
        item=item,
        schema=item.label_schema,
        answers=answers,
        compared=compared(item.kind, answers, item.label_schema),
        stored=tuple(stored),
        base=len(stored),
        seen=seen_token(public_id, given),
        n_waiting=review_queries.waiting_for(disputed.item),
        may_settle=may_settle(part),
        item_id=disputed.item,
    )


def seen_token(public_id: str, given: Sequence[GivenAnswer]) -> str:
    """Stands for a set of answers without saying anything of them."""
    ids = "/".join(str(one.id) for one in sorted(given, key=attrgetter("id")))
    return salted_hmac(SALT, f"{public_id}/{ids}", algorithm="sha256").hexdigest()[:32]


def named_answers(
    part: Membership, disputed: Disputed, given: Sequence[GivenAnswer], item: BlindItem
) -> tuple[Answer, ...]:
    """Blind answers in the order of their letters, then those that came after them."""
    members = sorted({one.member for one in given})
    order = shuffled(members, part.project.seed, f"settling/{part.pk}/{disputed.public_id}")
    letters = {member: letter_of(place) for place, member in enumerate(order)}
    blind_ones = {one.member: one for one in given if one.is_blind}  # the last of each counts
    counting = {one.id for one in blind_ones.values()}
    found: list[Answer] = []
    for member in order:
        own = [one for one in given if one.member == member and (one.id in counting or not one.is_blind)]
        found += [
            Answer(
                name=letters[member] if place == 1 else f"{letters[member]}/{place}",
                alias=letters[member],
                label=one.label,
                schema=one.schema or item.kind.schema,
                protocol=one.protocol,
                is_again=not one.is_blind,
                differs=False,
                id=one.id,
            )
            for place, one in enumerate(own, 1)
        ]
    found.sort(key=attrgetter("is_again"))
    return tuple(replace(one, differs=is_apart(one, found, item.kind)) for one in found)


def letter_of(place: int) -> str:
    letters = string.ascii_uppercase
    return letters[place] if place < len(letters) else f"{letters[place % 26]}{place // 26}"


def is_apart(one: Answer, answers: Sequence[Answer], kind: TaskKind) -> bool:
    """Whether more than half of the other answers are not the same as this one."""
    label = kind.load(one.label, one.schema)
    others = [kind.load(other.label, other.schema) for other in answers if other is not one]
    same = [kind.same(label, other) for other in others]
    return bool(same) and 2 * sum(same) < len(same)


def compared(kind: TaskKind, answers: Sequence[Answer], schema: Schema) -> tuple[Compared, ...]:
    """What the answers say on each measure; one that was given under other labels says nothing here."""
    labels = [kind.load(one.label, schema) if one.schema == schema else None for one in answers]
    return tuple(compared_on(measure, labels) for measure in (*kind.measures(schema), *kind.sets(schema)))


def compared_on(measure: Measure | SetMeasure, labels: Sequence[Any]) -> Compared:
    rated = [None if label is None else measure.rate(label) for label in labels]
    counts = Counter(rating for rating in rated if rating is not None)
    most = [rating for rating, n in counts.items() if 2 * n > counts.total()]
    cells = tuple(
        Cell(words_of_rating(measure, rating) if rating is not None else "", rating is not None and rating not in most)
        for rating in rated
    )
    return Compared(measure.name, measure.title, cells)


def words_of_rating(measure: Measure | SetMeasure, rating: Any) -> str:
    """The title of a category; of a set how much it holds."""
    if isinstance(measure, SetMeasure):
        return str(len(rating))
    titles = dict(zip(measure.categories, measure.category_titles, strict=True))
    return str(titles.get(rating, rating))


# Settling


@dataclass(frozen=True, slots=True)
class Decision:
    """What a reviewer decided: the answer they adopt by its name, a label of their own, or neither, which marks the
    item as unresolved."""

    adopted: str = ""
    label: Mapping[str, Any] | None = None
    cause: str = ""
    confidence: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Settled:
    """The word that a settlement is stored; the same key always gets the same one."""

    key: str
    number: int
    public_id: str
    created_at: datetime


def find_settled(*, reviewer: Person, slug: str, public_id: str, key: str) -> Settled | None:
    """What is stored under this key already, whatever has become of the item since."""
    part = part_of(reviewer, slug)
    disputed = review_queries.disputed_item(part.project, public_id)
    if disputed is None:
        raise NotYours
    return receipt_of(Settlement.objects.filter(item=disputed.item, person=reviewer, key=key).first(), public_id)


def receipt_of(row: Settlement | None, public_id: str) -> Settled | None:
    if row is None:
        return None
    before = Settlement.objects.filter(item=row.item_id, pk__lte=row.pk).exclude(how=Settlement.How.KNOWN)
    return Settled(row.key, before.count(), public_id, row.created_at)


def settle_item(
    *, reviewer: Person, slug: str, public_id: str, key: str, base: int, seen: str, decision: Decision
) -> Settled:
    """Store what an item ends with; what was stored before stays beside it, no longer current. LabelError names every
    field that is wrong; SettledMeanwhile and AnswersChanged where it is not what the reviewer looked at any more."""
    with transaction.atomic():
        part = part_of(reviewer, slug)
        card = locked_card(part, public_id)
        mine = Settlement.objects.filter(item=card.item_id, person=reviewer)
        if known := receipt_of(mine.filter(key=key).first(), public_id):
            return known
        if not card.may_settle:
            raise NotYours
        if base != card.base:
            raise SettledMeanwhile
        if not constant_time_compare(seen, card.seen):
            raise AnswersChanged
        label, adopted = checked(card, decision)
        after_verdict = mine.filter(verdict_seen_at__isnull=False).exists()
        Settlement.objects.filter(item=card.item_id, is_current=True).update(is_current=False)
        row = Settlement.objects.create(
            item_id=card.item_id,
            label=label,
            how=Settlement.How.UNRESOLVED if label is None else Settlement.How.REVIEWER,
            person=reviewer,
            protocol=part.project.protocols.get(number=card.item.protocol),
            key=key,
            cause=decision.cause,
            confidence=decision.confidence,
            note=decision.note,
            rests_on=[{"annotation": one.id, "adopted": one.id == adopted} for one in card.answers],
            after_verdict=after_verdict,
        )
        detail = {"item": card.item_id, "settlement": row.pk, "how": row.how, "cause": row.cause}
        Event.objects.create(project=part.project, person=reviewer, action="item_settled", detail=detail)
    return Settled(key, card.base + 1, public_id, row.created_at)


def locked_card(part: Membership, public_id: str) -> Card:
    """The item is locked first, so that of two reviewers the second sees what the first stored."""
    disputed = review_queries.disputed_item(part.project, public_id)
    if disputed is None:
        raise NotYours
    Item.objects.select_for_update(no_key=True).get(pk=disputed.item)
    return open_card(part=part, public_id=public_id)


def checked(card: Card, decision: Decision) -> tuple[dict[str, Any] | None, int | None]:
    """The label and the annotation it was taken from, if any; LabelError where something is missing or wrong."""
    problems = list(missing(decision))
    adopted = next((one for one in card.answers if one.name == decision.adopted), None)
    if decision.adopted and adopted is None:
        problems.append(UNKNOWN_ANSWER)
    if adopted is not None and adopted.schema != card.schema:
        problems.append(OTHER_LABELS)
    if problems:
        raise LabelError(*problems)
    if adopted is not None:
        return adopted.label, adopted.id
    if decision.label is None:
        return None, None
    kind = card.item.kind
    label = parsed(kind, decision.label, card.schema, text=card.item.text, shown=card.item.shown)
    return kind.dump(label), None


def missing(decision: Decision):
    if decision.cause not in Settlement.Cause.values:
        yield CAUSE_MISSING
    if decision.confidence not in Settlement.Confidence.values:
        yield CONFIDENCE_MISSING
    if len(decision.note) > MAX_WORDS:
        yield too_long("note")


# Sending back


def send_back(
    *,
    reviewer: Person,
    slug: str,
    public_id: str,
    key: str,
    seen: str,
    names: Sequence[str],
    reason: str,
    now: datetime,
) -> int:
    """Give an item once more to those whose answers these are, with the reason, in the round of what is sent back; what
    they answer then is informed. Returns to how many. The same key sends nothing twice."""
    with transaction.atomic():
        part = part_of(reviewer, slug)
        project = people.lock_people(part.project)
        card = locked_card(part, public_id)
        sent = SentBack.objects.filter(person=reviewer, key=key, assignment__item=card.item_id).count()
        if sent:
            return sent
        if not card.may_settle:
            raise NotYours
        if not constant_time_compare(seen, card.seen):
            raise AnswersChanged
        check_reason(reason)
        if not set(names) <= {one.name for one in card.answers}:
            raise Refused(UNKNOWN_NAME)
        ids = [one.id for one in card.answers if one.name in names]
        assignments = assigning.give_for_another_look(project=project, annotations=ids, now=now)
        SentBack.objects.filter(assignment__in=assignments).delete()  # of before somebody left and came back
        SentBack.objects.bulk_create(
            SentBack(assignment_id=one, person=reviewer, key=key, reason=reason, created_at=now) for one in assignments
        )
        detail = {"item": card.item_id, "assignments": len(assignments)}
        Event.objects.create(project=project, person=reviewer, action="item_sent_back", detail=detail)
    return len(assignments)


def check_reason(reason: str) -> None:
    if not reason:
        raise Refused(SENT_WITHOUT_REASON)
    if len(reason) > MAX_WORDS:
        raise Refused(too_long("reason"))


# What the judge says


def uncover_verdict(*, person: Person, slug: str, public_id: str, now: datetime) -> Card:
    """The item, for a page that shows what a judge says beside what this person has stored of it; NotYours before. That
    they have seen it is kept, so that what they store later says so."""
    part = part_of(person, slug)
    card = open_card(part=part, public_id=public_id)
    if not card.is_own:
        raise NotYours
    mine = Settlement.objects.filter(item=card.item_id, person=person, verdict_seen_at=None)
    if mine.update(verdict_seen_at=now):
        detail = {"item": card.item_id}
        Event.objects.create(project=part.project, person=person, action="verdict_uncovered", detail=detail)
    return card


# The end


def close_project(*, lead: Person, project: Project, show_settled: bool, knowingly: bool, now: datetime) -> bool:
    """End all labelling of a project for good: rounds are closed, what nobody submitted is withdrawn. Only then, and
    where `show_settled` says so, people see what their items were settled to. False where it is closed already."""
    with transaction.atomic():
        project = people.lock_led(project, lead)
        if project.closed_at is not None:
            return False
        if not knowingly:
            raise Refused(CLOSED_FOR_GOOD)
        assigning.close_rounds(project=project, now=now)
        project.closed_at = now
        project.settings |= {"show_settled": show_settled}
        project.save(update_fields=["closed_at", "settings"])
        detail = {"show_settled": show_settled}
        Event.objects.create(project=project, person=lead, action="project_closed", detail=detail)
    return True


# What is refused

CAUSE_MISSING = Problem(
    code="missing_field",
    field="cause",
    expected=gettext_noop("Say why people disagreed; gaps in the guideline end up in the next protocol."),
    remedy=gettext_noop("Choose one of the four."),
)
CONFIDENCE_MISSING = Problem(
    code="missing_field",
    field="confidence",
    expected=gettext_noop("Say how sure you are."),
    remedy=gettext_noop("Choose one of the three."),
)
UNKNOWN_ANSWER = Problem(
    code="unknown_value",
    field="answer",
    expected=gettext_noop("One of the answers on the page, one of your own, or unresolved."),
    remedy=gettext_noop("Choose one of them."),
)
OTHER_LABELS = Problem(
    code="unknown_label",
    field="answer",
    expected=gettext_noop("This answer was given under labels that the question has no more."),
    remedy=gettext_noop("Choose another, or write one."),
)
UNKNOWN_NAME = Problem(
    code="unknown_value",
    field="names",
    expected=gettext_noop("Answers of this item, by the letters that it shows them under."),
    remedy=gettext_noop("Choose one of them."),
)
SENT_WITHOUT_REASON = Problem(
    code="missing_field",
    field="reason",
    expected=gettext_noop("Who gets the item again is told why."),
    remedy=gettext_noop("Write the reason."),
)
CLOSED_FOR_GOOD = Problem(
    code="missing_field",
    field="knowingly",
    expected=gettext_noop("A closed project takes no label any more, and cannot be opened again."),
    remedy=gettext_noop("Tick that you know this, if it is what you want."),
)


def too_long(field: str) -> Problem:
    return Problem(
        code="too_many",
        field=field,
        expected=gettext_noop("At most %(limit)s."),
        remedy=gettext_noop("Shorten it."),
        params={"limit": MAX_WORDS},
    )
