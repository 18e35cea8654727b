"""Blind pairs: five people read the default or the rewrite of drawn points, each one version of a point, and nobody is
told that there are two.

It is drawn once. What was drawn stays as it is whoever comes later: who reads what, and how often, is the design.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from annotate import assigning, pair_queries, people
from annotate.errors import Refused
from annotate.models import Assigning, Assignment, Event, Item, Membership, PairsDraw, Person, Project
from annotate.rules.neutral_titles import tells_the_study
from annotate.rules.pairs import (
    N_SLOTS,
    Chosen,
    Collaboration,
    Reading,
    Wanted,
    draw,
    not_five,
    plans,
    readings,
    slots_of,
)
from annotate.traces.base import Problem, gettext_noop

KIND = "reply"
MAX_POINTS = 100_000
BATCH = 500
AS_IT_FOLLOWS = Wanted()
TOLD = 6


@dataclass(frozen=True, slots=True)
class Part:
    """Collaborations of one area and language with points that have both versions."""

    area: str
    language: str
    n: int
    n_models: int
    n_points: int


@dataclass(frozen=True, slots=True)
class DrawnHere:
    """What was drawn, but who reads which version."""

    seed: int
    codes: Sequence[str]
    n_collaborations: int
    n_points: int
    taken_over: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Standing:
    """What can be drawn from, who may read, and what was drawn."""

    parts: Sequence[Part]
    annotators: Sequence[Membership]
    drawn: DrawnHere | None


def standing(project: Project) -> Standing:
    """Four statements."""
    parts: dict[tuple[str, str], list[Collaboration]] = defaultdict(list)
    for one in pair_queries.there_to_draw(project).collaborations:
        parts[one.area, one.language].append(one)
    drawn = pair_queries.draw_of(project)
    return Standing(
        [
            Part(*place, len(some), len({one.model for one in some}), sum(len(one.points) for one in some))
            for place, some in sorted(parts.items())
        ],
        pair_queries.annotators_of(project),
        None
        if drawn is None
        else DrawnHere(
            drawn.seed,
            drawn.asked.get("codes", []),
            len(drawn.collaborations),
            sum(len(one["points"]) for one in drawn.collaborations),
            drawn.asked.get("taken_over", []),
        ),
    )


def draw_pairs(
    *,
    lead: Person | None,
    project: Project,
    seed: int,
    codes: Sequence[str] | None = None,
    wanted: Wanted = AS_IT_FOLLOWS,
    now: datetime,
) -> PairsDraw:
    """Draw collaborations and points, plan who reads which version of them, and let them begin; `lead` is None on the
    command line, `codes` are of the five where more people annotate. Refused where it was drawn, where somebody has
    something of the project already, and where what is there cannot hold what is asked for, which is named."""
    with transaction.atomic():
        project = people.lock_people(project) if lead is None else people.lock_led(project, lead)
        if project.closed_at is not None or project.assigning != Assigning.PAIRS or project.kind != KIND:
            raise Refused(NO_PAIRS_HERE)
        check_name(project.slug)
        if pair_queries.draw_of(project) is not None or pair_queries.is_planned(project):
            raise Refused(DRAWN_ALREADY)
        there = pair_queries.there_to_draw(project)
        if there.without_default:
            raise Refused(no_default(there.without_default))
        five = chosen(pair_queries.annotators_of(project), codes)
        check_five(five, project.languages)
        drawn = draw(there.collaborations, languages=project.languages, seed=seed, wanted=wanted)
        if isinstance(drawn, Problem):
            raise Refused(drawn)
        slots = slots_of(drawn, list(five), seed)
        if isinstance(slots, Problem):
            raise Refused(slots)
        planned = plans(list(readings(drawn, slots)), seed)
        write_plans(project, five, planned, there.items, now)
        made = PairsDraw.objects.create(
            project=project,
            seed=seed,
            asked={**asdict(wanted), "codes": sorted(five)},
            collaborations=told(drawn, slots),
            person=lead,
            drawn_at=now,
        )
        n_points = sum(len(one.points) for one in drawn)
        detail = {"seed": seed, "collaborations": len(drawn), "points": n_points, "codes": sorted(five)}
        Event.objects.create(project=project, person=lead, action="pairs_drawn", detail=detail)
    return made


def check_name(slug: str) -> None:
    """The name of a project stands in the addresses that its annotators see."""
    if word := tells_the_study(slug):
        raise Refused(tells_too_much(word))


def chosen(members: Sequence[Membership], codes: Sequence[str] | None) -> dict[str, Membership]:
    """Those with these codes, or all; refused where a code is none of theirs."""
    by_code = {one.code: one for one in members}
    if unknown := [code for code in codes or () if code not in by_code]:
        raise Refused(unknown_code(unknown[0], list(by_code)))
    return {code: one for code, one in by_code.items() if codes is None or code in codes}


def check_five(five: Mapping[str, Membership], languages: Sequence[str]) -> None:
    """Every one of them reads everything, or a version would have too few."""
    if len(five) != N_SLOTS:
        raise Refused(not_five(list(five)))
    for code, member in five.items():
        if missing := [language for language in languages if language not in member.languages]:
            raise Refused(does_not_read(code, missing[0]))


def write_plans(
    project: Project,
    five: Mapping[str, Membership],
    planned: Mapping[str, Sequence[Reading]],
    items: Mapping[tuple[str, str], int],
    now: datetime,
) -> None:
    """The chosen items are planned from now on, and everybody's first one is open."""
    round_ = assigning.open_round(project=project, now=now)
    rows = [
        Assignment(
            annotator=five[code],
            item_id=items[one.point, one.version],
            round=round_,
            point=one.point,
            order=one.order,
            sequence=one.sequence,
        )
        for code, plan in planned.items()
        for one in plan
    ]
    pks = sorted({row.item_id for row in rows})
    for start in range(0, len(pks), BATCH):
        Item.objects.filter(pk__in=pks[start : start + BATCH]).update(is_planned=True)
    Assignment.objects.bulk_create(rows, batch_size=BATCH)
    for member in five.values():
        assigning.open_next(annotator_id=member.pk, round_id=round_.pk, ended_id=None, now=None)


def told(drawn: Sequence[Chosen], slots: Sequence[Sequence[str]]) -> list[dict[str, object]]:
    return [
        {"trace": one.trace, "points": list(one.points), "slots": list(places)}
        for one, places in zip(drawn, slots, strict=True)
    ]


def take_over(*, lead: Person | None, project: Project, code: str, by_code: str, now: datetime) -> int:
    """Let another annotator read what one of the five has not finished, in their order; how many texts. What was
    submitted or reported stays with who did it, and nothing else of theirs comes back when they do.

    Refused where nothing was drawn, where the other has something of the project already or does not read all of it,
    and where nothing is left."""
    with transaction.atomic():
        project = people.lock_people(project) if lead is None else people.lock_led(project, lead)
        found = pair_queries.draw_of(project)
        if found is None or project.closed_at is not None:
            raise Refused(NOTHING_DRAWN)
        old = pair_queries.reader_called(project, code)
        if old is None:
            raise Refused(unknown_code(code, pair_queries.readers_of(project)))
        free = {one.code: one for one in pair_queries.annotators_of(project) if not one.assignments.exists()}
        if by_code not in free:
            raise Refused(not_free(by_code, list(free)))
        new = free[by_code]
        if missing := [language for language in project.languages if language not in new.languages]:
            raise Refused(does_not_read(by_code, missing[0]))
        round_ = assigning.open_round(project=project, now=now)
        assigning.hold_open(old, round_)
        rest = list(pair_queries.unfinished(old, round_))
        if not rest:
            raise Refused(NOTHING_LEFT)
        Assignment.objects.filter(pk__in=[row.pk for row in rest]).delete()
        sequences = {sequence: number for number, sequence in enumerate(dict.fromkeys(row.sequence for row in rest), 1)}
        Assignment.objects.bulk_create(
            [
                Assignment(
                    annotator=new,
                    item_id=row.item_id,
                    round=round_,
                    point=row.point,
                    order=order,
                    sequence=sequences[row.sequence],
                )
                for order, row in enumerate(rest)
            ],
            batch_size=BATCH,
        )
        assigning.open_next(annotator_id=new.pk, round_id=round_.pk, ended_id=None, now=None)
        change = {"from": code, "to": by_code, "texts": len(rest)}
        found.asked = {**found.asked, "taken_over": [*found.asked.get("taken_over", ()), change]}
        found.save(update_fields=["asked"])
        Event.objects.create(project=project, person=lead, action="pairs_taken_over", detail=change)
    return len(rest)


def remove(project: Project) -> None:
    """Take a draw away, as part of the caller's transaction, which refuses that where anything was given."""
    found = pair_queries.draw_of(project)
    if found is not None:
        points = [point for one in found.collaborations for point in one["points"]]
        Item.objects.filter(project=project, point__in=points).update(is_planned=False)
        found.delete()


NO_PAIRS_HERE = Problem(
    code="no_pairs",
    field="project",
    expected=gettext_noop("An open project of replies whose settings say that items are given by pairs."),
    remedy=gettext_noop("Choose pairs in the settings first; that can be done until the first item was given."),
)
DRAWN_ALREADY = Problem(
    code="drawn_already",
    field="project",
    expected=gettext_noop("A project in which nothing was drawn and nobody has an item yet."),
    remedy=gettext_noop(
        "Keep this draw. Until somebody has read something it can be taken away by another choice in the settings."
    ),
)


NOTHING_DRAWN = Problem(
    code="nothing_drawn",
    field="project",
    expected=gettext_noop("An open project in which pairs were drawn."),
    remedy=gettext_noop("Draw them first."),
)
NOTHING_LEFT = Problem(
    code="nothing_left",
    field="take_over",
    expected=gettext_noop("Somebody who has not finished; of this one nothing is left."),
    remedy=gettext_noop("Name another."),
)


def not_free(code: str, codes: Sequence[str]) -> Problem:
    return Problem(
        code="not_free",
        field="by",
        expected=gettext_noop(
            "Somebody who annotates here and has nothing of the project yet (%(allowed)s); “%(code)s” is no such one."
        ),
        remedy=gettext_noop("Name another, or invite somebody."),
        params={"code": code[:40], "allowed": ", ".join(codes) or "-"},
    )


def out_of_range(name: str, least: int, most: int) -> Problem:
    return Problem(
        code="out_of_range",
        field=name,
        expected=gettext_noop("A whole number from %(least)s to %(limit)s."),
        remedy=gettext_noop("Correct it."),
        params={"least": least, "limit": most},
    )


def tells_too_much(word: str) -> Problem:
    return Problem(
        code="name_tells",
        field="slug",
        expected=gettext_noop(
            "A name that says nothing of two versions, as annotators see it in addresses; “%(word)s” does."
        ),
        remedy=gettext_noop("Make the project under another name."),
        params={"word": word},
    )


def unknown_code(code: str, codes: Sequence[str]) -> Problem:
    return Problem(
        code="unknown_code",
        field="annotators",
        expected=gettext_noop("Codes of people who annotate here (%(allowed)s); “%(code)s” is none."),
        remedy=gettext_noop("Correct it."),
        params={"code": code[:40], "allowed": ", ".join(codes)},
    )


def does_not_read(code: str, language: str) -> Problem:
    return Problem(
        code="does_not_read",
        field="annotators",
        expected=gettext_noop("Five who read every language of the project; %(code)s does not read “%(language)s”."),
        remedy=gettext_noop("Choose another, or correct what they read."),
        params={"code": code, "language": language},
    )


def no_default(points: Sequence[str]) -> Problem:
    return Problem(
        code="no_default",
        field="points",
        expected=gettext_noop("A default text of every point that has a rewrite; %(n)s have none: %(points)s."),
        remedy=gettext_noop("Publish the texts of the run that wrote them."),
        params={"n": len(points), "points": ", ".join(points[:TOLD])},
    )
