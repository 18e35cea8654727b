"""Labels that were made elsewhere, in the form of a kind's own method, become known answers of the items they are
about: all of a file or none, with everything that is wrong named."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from django.db import transaction

from annotate import blind, lead_queries, people
from annotate.errors import NotYours, Refused
from annotate.kinds.base import Blocks, Exchange, LabelError
from annotate.kinds.registry import kind_of
from annotate.lead_queries import SourceItem
from annotate.models import Event, Person, Project, Settlement
from annotate.traces.base import Problem, first_problems, gettext_noop
from annotate.traces.strict_json import pointer_part

AT_ONCE = 50
"""Trajectories that are held at once, however many a file names."""
MAX_NAME = 80
BASES = (0, 1)


@dataclass(frozen=True, slots=True)
class Brought:
    """How many labels became known answers, how many items had one already, which stays, and of how many traces the
    marks that came with them mean no label."""

    n_known: int
    n_had_known: int
    n_unfit: int = 0


def bring_known(
    *, lead: Person | None, project: Project, data: Any, file_name: str, base: int = 0
) -> Brought:
    """The labels of a file, whose indexes count from 0 or from 1. Nobody in particular (None) is the command line.
    NotYours for who does not lead the project, Refused where its kind has no such form, LabelError with what is wrong,
    in the numbers of the file."""
    refuse_stranger(project, lead)
    exchange = exchange_of(project)
    if base not in BASES:
        raise Refused(unknown_base())
    if not isinstance(data, Mapping):
        exchange.read(data, {}, base)
        raise Refused(NO_FORM)
    found: list[tuple[SourceItem, Any]] = []
    problems: list[Problem] = []
    for part in parts_of(data):
        labels, wrong = read_part(project, exchange, part, base)
        found += labels
        problems += wrong
    if problems:
        raise LabelError(*first_problems(problems))
    return store(lead, project, found, file_name)


def bring_marked(*, lead: Person | None, project: Project) -> Brought:
    """The same of the marks that came with the traces, where the kind can say which label they mean."""
    refuse_stranger(project, lead)
    exchange, found, n_unfit = exchange_of(project), [], 0
    for item, marks in lead_queries.marked_items(project):
        label = exchange.from_marks(marks, shown_of(project, item.item))
        n_unfit += label is None
        if label is not None:
            found.append((item, label))
    return replace(store(lead, project, found, "labels of the traces"), n_unfit=n_unfit)


def refuse_stranger(project: Project, lead: Person | None) -> None:
    """Looked at before the work, and again behind the lock."""
    if lead is not None and not lead_queries.led_projects(lead).filter(pk=project.pk).exists():
        raise NotYours


def exchange_of(project: Project) -> Exchange:
    exchange = kind_of(project.kind).exchange
    if exchange is None:
        raise Refused(NO_FORM)
    return exchange


def parts_of(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    names = iter(data)
    while part := list(islice(names, AT_ONCE)):
        yield {name: data[name] for name in part}


def read_part(
    project: Project, exchange: Exchange, part: Mapping[str, Any], base: int
) -> tuple[list[tuple[SourceItem, Any]], list[Problem]]:
    items = lead_queries.items_by_source(project, list(part))
    problems = [several(name) for name, these in items.items() if len(these) > 1]
    problems += [settled(name) for name, (one, *_) in items.items() if one.is_settled]
    shown = {name: shown_of(project, one.item) for name, (one, *_) in items.items()}
    try:
        labels = exchange.read(part, shown, base)
    except LabelError as error:
        return [], [*problems, *error.problems]
    return [(items[name][0], label) for name, label in labels.items()], problems


def shown_of(project: Project, item: int) -> Blocks:
    """What a label of the item is checked against."""
    found = blind.preview_item(project.pk, item)
    return found.shown() if found else Blocks((), None)


def store(
    lead: Person | None, project: Project, found: Sequence[tuple[SourceItem, Any]], file_name: str
) -> Brought:
    kind, place = kind_of(project.kind), {"file": file_name[-255:]}
    with transaction.atomic():
        project = people.lock_people(project) if lead is None else people.lock_led(project, lead)
        have = lead_queries.with_current_settlement([item.item for item, _ in found])
        new = [
            Settlement(
                item_id=item.item,
                label=kind.dump(label),
                how=Settlement.How.KNOWN,
                person=lead,
                reason_en=KNOWN_EN % place,
                reason_zh=KNOWN_ZH % place,
            )
            for item, label in found
            if item.item not in have
        ]
        Settlement.objects.bulk_create(new, batch_size=500)
        brought = Brought(len(new), len(found) - len(new))
        if new:
            detail = {**place, "n_known": brought.n_known, "n_had_known": brought.n_had_known}
            Event.objects.create(project=project, person=lead, action="known_answers_brought", detail=detail)
    return brought


KNOWN_EN = "The label of this trace in the file %(file)s."
KNOWN_ZH = "这是文件 %(file)s 中该轨迹的标签。"
"""Kept with the answer in both languages, whoever reads it."""


NO_FORM = Problem(
    code="no_exchange",
    field="labels",
    expected=gettext_noop("A project whose kind has a form for labels made elsewhere."),
    remedy=gettext_noop("Give the known answers one by one."),
)


def unknown_base() -> Problem:
    return Problem(
        code="unknown_value",
        field="base",
        expected=gettext_noop("One of: %(allowed)s."),
        remedy=gettext_noop("Say which number the first message of the file has."),
        params={"allowed": ", ".join(map(str, BASES))},
    )


def several(name: str) -> Problem:
    return Problem(
        code="several_trajectories",
        field=name[:MAX_NAME],
        pointer=pointer_part(name),
        expected=gettext_noop("One trace of the project with this id; there are several, of other formats."),
        remedy=gettext_noop("Give this known answer on its page."),
    )


def settled(name: str) -> Problem:
    return Problem(
        code="settled_already",
        field=name[:MAX_NAME],
        pointer=pointer_part(name),
        expected=gettext_noop("An item that no reviewer has settled; this one is."),
        remedy=gettext_noop("Leave it out of the file."),
    )
