"""Rounds: a lead closes what was labelled blind, which fixes it, and lets people look again, informed of each other.

In an informed round an item goes to those who labelled it. They see its closed answers without names, talk in its
thread, and give a new vote of their own, which is an assignment and an annotation like any other and marked as
informed; the first votes stay what they are.
"""

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext

from annotate import assigning, people, queries, round_queries
from annotate.blind import OpenAssignment
from annotate.errors import NotYours, Refused
from annotate.kinds.base import LabelError, Schema, TaskKind
from annotate.kinds.registry import kind_of
from annotate.models import Assignment, Event, Item, Membership, Person, Phase, Post, Project, Round
from annotate.rules.looking_again import WHICH, is_chosen
from annotate.rules.plans import PlannedItem
from annotate.traces.base import Problem, gettext_noop

RESTS = ("withdraw", "go_on")
"""What becomes of what nobody has submitted when a round is closed: it is taken back, or goes on in another round of
the same purpose."""
PHASES = (Phase.MAIN.value, Phase.PILOT.value)
MAX_POST = 4000


@dataclass(frozen=True, slots=True)
class Opened:
    """A round that was just opened, with how much is in it."""

    number: int
    n_items: int
    n_assignments: int


def close_round(*, lead: Person, project: Project, number: int, rest: str = "withdraw", now: datetime) -> bool:
    """Fix what was said in a round. False where it is closed already; NotYours for who does not lead the project, and
    where it has no such round."""
    with transaction.atomic():
        project = people.lock_led(project, lead)
        round_ = Round.objects.filter(project=project, number=number).first()
        if round_ is None or rest not in RESTS:
            raise NotYours
        if round_.closed_at is not None:
            return False
        n_moved = move_rest(project, round_, now) if rest == "go_on" and not round_.informed else 0
        n_withdrawn = 0
        if not n_moved:
            n_withdrawn = round_.assignments.filter(state__in=assigning.WAITING).count()
            assigning.end_round(round_, now)
        detail = {"round": number, "went_on": n_moved, "withdrawn": n_withdrawn}
        Event.objects.create(project=project, person=lead, action="round_closed", detail=detail)
    return True


def move_rest(project: Project, round_: Round, now: datetime) -> int:
    """Close a round and let what nobody has submitted go on in another of its purpose, drafts and all; how many."""
    Round.objects.select_for_update(no_key=True).get(pk=round_.pk)
    assigning.hold(round_.assignments.filter(state=Assignment.State.OPEN))
    waiting = round_.assignments.filter(state__in=assigning.WAITING)
    if not waiting.exists():
        return 0
    Round.objects.filter(pk=round_.pk).update(closed_at=now)
    return waiting.update(round=assigning.next_round(project, now, purpose=round_.purpose))


def open_informed_round(*, lead: Person, project: Project, which: str, phase: str = "main", now: datetime) -> Opened:
    """Give items of closed rounds once more to those who labelled them. Refused where an informed round is open, where
    the project is closed, and where no such item is there. Who has an item before them blind, in another round, does
    not get it."""
    if which not in WHICH or phase not in PHASES:
        raise Refused(unknown_choice())
    with transaction.atomic():
        project = people.lock_led(project, lead)
        if project.closed_at is not None:
            raise Refused(PROJECT_CLOSED)
        if project.rounds.filter(purpose=Round.Purpose.INFORMED, closed_at=None).exists():
            raise Refused(ONE_IS_OPEN)
        given = chosen_pairs(project, which, phase)
        items = {item.id for some in given.values() for item in some}
        if not items:
            raise Refused(NOTHING_TO_LOOK_AT)
        round_ = assigning.next_round(project, now, purpose=Round.Purpose.INFORMED, informed=True)
        n = sum(assigning.give_again(one, round_, given[one.pk], {}) for one in assigning.labelling_again(given))
        detail = {"round": round_.number, "which": which, "phase": phase, "items": len(items), "assignments": n}
        Event.objects.create(project=project, person=lead, action="round_opened", detail=detail)
    return Opened(round_.number, len(items), n)


def preview_informed(project: Project, phase: str) -> dict[str, int]:
    """How many items an informed round would have by each choice."""
    found = dict.fromkeys(WHICH, 0)
    raters = round_queries.raters_in_closed_rounds(project, phase)
    same = kind_of(project.kind).same
    for _, labels in labels_by_item(project, phase):
        for which in WHICH:
            found[which] += is_chosen(which, labels, raters=raters, same=same)
    return found


def chosen_pairs(project: Project, which: str, phase: str) -> dict[int, list[PlannedItem]]:
    """By member, the items they get."""
    raters = round_queries.raters_in_closed_rounds(project, phase)
    members = {one.pk: one for one in Membership.objects.filter(pk__in=raters).select_related("project")}
    able = {pk: one for pk, one in members.items() if assigning.labels_in(one, project)}
    same, blind = kind_of(project.kind).same, round_queries.asked_blind(project)
    whose = {
        item: [member for member in labels if member in able and (member, item) not in blind]
        for item, labels in labels_by_item(project, phase)
        if is_chosen(which, labels, raters=raters, same=same)
    }
    items = Item.objects.filter(project=project, phase=phase, is_planned=True).select_related("trace")
    found: dict[int, list[PlannedItem]] = {}
    for item in items.order_by("pk").iterator(chunk_size=500):
        for member in whose.get(item.pk, ()):
            if assigning.reads(able[member], item):
                found.setdefault(member, []).append(assigning.planned(item))
    return found


def labels_by_item(project: Project, phase: str) -> Iterator[tuple[int, dict[int, Any]]]:
    """What each member said last of an item in a round that is closed."""
    kind = kind_of(project.kind)
    schemas = {one.number: one.label_schema or kind.schema for one in queries.protocols_of(project.pk)}
    for item, rows in groupby(round_queries.said_in_closed_rounds(project, phase), lambda row: row.item):
        last = {row.member: row for row in rows}
        yield item, {member: kind.load(row.label, schemas[row.protocol]) for member, row in last.items()}


def reopen_label_type(*, lead: Person, project: Project, measure: str, category: str, now: datetime) -> int:
    """Give people once more, under the newest protocol, what they themselves labelled so; as
    `assigning.reopen_for_protocol` does with everything. Refused for what no label can say."""
    kind = kind_of(project.kind)
    schemas = {one.number: one.label_schema or kind.schema for one in queries.protocols_of(project.pk)}
    tests = {number: test_of(kind, schema, measure, category) for number, schema in schemas.items()}
    if not any(tests.values()):
        raise Refused(NO_SUCH_TYPE)
    last: dict[tuple[int, int], bool] = {}
    for row in round_queries.newest_labels(project):
        says_so = tests[row.protocol]
        last[row.member, row.item] = says_so is not None and says_so(kind.load(row.label, schemas[row.protocol]))
    only: dict[int, set[int]] = {}
    for (member, item), is_so in last.items():
        if is_so:
            only.setdefault(member, set()).add(item)
    return assigning.reopen_for_protocol(lead=lead, project=project, now=now, only=only)


def test_of(kind: TaskKind, schema: Schema, name: str, category: str) -> Callable[[Any], bool] | None:
    """Whether a label says this on the measure, or names it among others; None where no label of the schema can."""
    for one in kind.measures(schema):
        if one.name == name and category in map(str, one.categories):
            return partial(is_rated, one.rate, category)
    for named in kind.sets(schema):
        if named.name == name and category in map(str, named.categories):
            return partial(is_named, named.named, category)
    return None


def is_rated(rate: Callable[[Any], Hashable | None], category: str, label: Any) -> bool:
    said = rate(label)
    return said is not None and str(said) == category


def is_named(named: Callable[[Any], Collection[Hashable]], category: str, label: Any) -> bool:
    return category in map(str, named(label))


# The thread of an item, and gaps in the guideline


def has_posted(
    *, annotator: Person, assignment_id: str, key: str, purpose: str = "thread", project: str | None = None
) -> bool:
    """Whether a post of this key on an item of one's own is stored, in any project or in this one, whatever has become
    of the item since."""
    mine = Post.objects.filter(author__person=annotator, key=key, purpose=purpose)
    if project is not None:
        mine = mine.filter(author__project__slug=project)
    own = {"item__assignments__public_id": assignment_id, "item__assignments__annotator": F("author")}
    return mine.filter(**own).exists()


def post_in_thread(*, assignment: OpenAssignment, key: str, text: str) -> None:
    """Say something to the others who have the item in the same informed round. NotYours in any other round and once it
    is closed."""
    if not assignment.has_thread or not assignment.is_round_open:
        raise NotYours
    store_post(assignment, key, text, Post.Purpose.THREAD)


def report_gap(*, assignment: OpenAssignment, key: str, text: str, protocol: str = "") -> None:
    """Tell the lead what the guideline leaves open, of the protocol that was shown or the newest; the item stays what
    it is, with or without a label."""
    protocols = queries.protocols_of(assignment.project_id)
    shown = next((one for one in protocols if str(one.number) == protocol), protocols[0])
    store_post(assignment, key, text, Post.Purpose.GAP, protocol_id=shown.id)


def store_post(assignment: OpenAssignment, key: str, text: str, purpose: str, **more: Any) -> None:
    """Once for a key: sent twice at the same moment it is stored once and told as stored to both. LabelError for a key
    that another post of theirs has."""
    row = Assignment.objects.get(pk=assignment.id)
    given = {"item_id": row.item_id, "round_id": row.round_id, "purpose": purpose, "text": text, **more}
    try:
        with transaction.atomic():
            Post.objects.create(author_id=row.annotator_id, key=key, **given)
    except IntegrityError:
        mine = Post.objects.filter(author=row.annotator_id, key=key)
        stored = mine.values_list("item", "purpose").first()
        if stored is None:
            raise
        if stored != (row.item_id, purpose):
            raise LabelError(KEY_TAKEN) from None


def change_note_of(project: Project, *, gap: Sequence[int], settled: Sequence[int]) -> str:
    """The note that a protocol begins with which is written because of these gaps: those met while labelling, by the
    ids of their posts, and those that reviewers name, by the ids of their settlements."""
    met = [(one.item, one.text) for one in round_queries.gaps_of(project) if one.id in set(gap)]
    named = [(one.item, one.note) for one in round_queries.settled_for_gaps(project) if one.id in set(settled)]
    lines = [gettext("Item %(item)s: %(text)s") % {"item": item, "text": text} for item, text in reversed(met + named)]
    return "\n".join(lines)


def unknown_choice() -> Problem:
    return Problem(
        code="unknown_choice",
        field="which",
        expected=gettext_noop("Which items people look at again: %(allowed)s; and the phase that they are of."),
        remedy=gettext_noop("Choose one of these."),
        params={"allowed": ", ".join(WHICH)},
    )


KEY_TAKEN = Problem(
    code="key_taken",
    field="key",
    expected=gettext_noop("A key of its own for each post; this one stands for another."),
    remedy=gettext_noop("Send it again with a new key."),
)
NO_SUCH_TYPE = Problem(
    code="unknown_category",
    field="label",
    expected=gettext_noop("What a label of this project can say."),
    remedy=gettext_noop("Choose one of the list, or all of them."),
)
PROJECT_CLOSED = Problem(
    code="project_closed",
    field="which",
    expected=gettext_noop("A project that is not closed; this one takes no label any more."),
    remedy=gettext_noop("Look at what its rounds came to."),
)
ONE_IS_OPEN = Problem(
    code="round_open",
    field="which",
    expected=gettext_noop("One informed round at a time; another is open."),
    remedy=gettext_noop("Close it first; what was said in it then stands beside the earlier answers."),
)
NOTHING_TO_LOOK_AT = Problem(
    code="nothing_to_look_at",
    field="which",
    expected=gettext_noop("Items of a closed round that at least two people labelled and that fit the choice."),
    remedy=gettext_noop("Close the round in which they were labelled, or choose others."),
)
