"""Overlapping subsets: a lead draws who reads what of the main phase. Practice and pilot are everybody's.

What was drawn stands in rows of its own, and plans are written from it like any other: who leaves and comes back, or
learns a language, has the same subset as before.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from annotate import assigning, people, subset_queries
from annotate.errors import Refused
from annotate.models import Assigning, Event, Item, Membership, Person, Phase, Project, SubsetItem
from annotate.rules.subsets import Candidate, Drawn, TooFew, draw
from annotate.subset_queries import Subset
from annotate.traces.base import Problem, gettext_noop

MAX_RUNS = 100_000
BATCH = 500


@dataclass(frozen=True, slots=True)
class Area:
    """Traces of one area: how many there are, of how many the file says that they succeeded, how many everybody has."""

    name: str
    n: int
    n_successful: int
    n_common: int


@dataclass(frozen=True, slots=True)
class Standing:
    """What can be drawn from, and what was drawn."""

    areas: list[Area]
    subsets: list[Subset]

    @property
    def n(self) -> int:
        return sum(area.n for area in self.areas)

    @property
    def n_successful(self) -> int:
        return sum(area.n_successful for area in self.areas)

    @property
    def n_common(self) -> int:
        return sum(area.n_common for area in self.areas)


def standing(project: Project) -> Standing:
    """Three statements."""
    found, common = subset_queries.traces_to_draw(project), subset_queries.common_by_area(project)
    there = Counter(one.candidate.area for one in found)
    successful = Counter(one.candidate.area for one in found if one.is_successful)
    areas = [Area(name, there[name], successful[name], common.get(name, 0)) for name in sorted(there)]
    return Standing(areas, subset_queries.subsets_of(project))


def who_can_have_one(project: Project) -> list[Membership]:
    """By code: one statement."""
    members = Membership.objects.filter(project=project).select_related("person").order_by("code")
    return [one for one in members if assigning.labels_in(one, project)]


def draw_subsets(
    *,
    lead: Person,
    project: Project,
    n_common: int,
    n_unique: int,
    codes: Sequence[str] | None = None,
    only_successful: bool = False,
    now: datetime,
) -> Drawn:
    """Draw anew who reads what and write the plans; of all who label, or of those with these codes. Refused where the
    project gives items another way or is closed, where something of the main phase was shown to somebody, and where
    there are too few traces for what was asked."""
    with transaction.atomic():
        project = people.lock_led(project, lead)
        if project.closed_at is not None or project.assigning != Assigning.SUBSETS:
            raise Refused(NO_SUBSETS_HERE)
        check_numbers(n_common, n_unique)
        members = chosen(who_can_have_one(project), codes)
        found = subset_queries.traces_to_draw(project)
        candidates = [one.candidate for one in found if one.is_successful or not only_successful]
        if only_successful and not candidates:
            raise Refused(NONE_SUCCESSFUL)
        drawn = drawn_from(candidates, members, n_common=n_common, n_unique=n_unique, seed=project.seed)
        assigning.take_plans_away(project, phase=Phase.MAIN)
        remove(project)
        write_down(drawn, members)
        assigning.extend_panel(project=project, now=now)
        detail = {
            **{"n_common": n_common, "n_unique": n_unique, "only_successful": only_successful},
            "codes": [one.code for one in members],
        }
        Event.objects.create(project=project, person=lead, action="subsets_drawn", detail=detail)
    return drawn


def check_numbers(n_common: int, n_unique: int) -> None:
    for field, n in (("n_common", n_common), ("n_unique", n_unique)):
        if not 0 <= n <= MAX_RUNS:
            raise Refused(out_of_range(field))
    if not n_common + n_unique:
        raise Refused(NOTHING_ASKED)


def chosen(members: Sequence[Membership], codes: Sequence[str] | None) -> list[Membership]:
    """Refused where a code is none of theirs, and where fewer than two are left: nobody would overlap."""
    by_code = {one.code: one for one in members}
    unknown = [code for code in codes or () if code not in by_code]
    if unknown:
        raise Refused(unknown_code(unknown[0], list(by_code)))
    found = [one for one in members if codes is None or one.code in codes]
    if len(found) < 2:
        raise Refused(TOO_FEW_PEOPLE)
    return found


def drawn_from(
    candidates: Sequence[Candidate], members: Sequence[Membership], *, n_common: int, n_unique: int, seed: int
) -> Drawn:
    readers = {one.code: one.languages for one in members}
    drawn = draw(candidates, readers=readers, n_common=n_common, n_unique=n_unique, seed=seed)
    if isinstance(drawn, TooFew):
        raise Refused(too_few(drawn, len(candidates), n_common + n_unique * len(members)))
    return drawn


def remove(project: Project) -> None:
    SubsetItem.objects.filter(item__project=project).delete()


def write_down(drawn: Drawn, members: Sequence[Membership]) -> None:
    whose = {trace: one for one in members for trace in drawn.unique[one.code]}
    common, rows = set(drawn.common), []
    items = Item.objects.filter(project=members[0].project_id, phase=Phase.MAIN, is_planned=True).order_by("pk")
    for item, trace in items.values_list("pk", "trace"):
        if trace in common:
            rows += [SubsetItem(annotator=one, item_id=item, is_common=True) for one in members]
        elif trace in whose:
            rows.append(SubsetItem(annotator=whose[trace], item_id=item, is_common=False))
    SubsetItem.objects.bulk_create(rows, batch_size=BATCH)


NO_SUBSETS_HERE = Problem(
    code="no_subsets",
    field="n_common",
    expected=gettext_noop("An open project whose settings say that items are given by subsets."),
    remedy=gettext_noop("Choose subsets in the settings first; that can be done until the first item was given."),
)
NOTHING_ASKED = Problem(
    code="out_of_range",
    field="n_common",
    expected=gettext_noop("At least one trace, for all or for each."),
    remedy=gettext_noop("Say how many."),
)
TOO_FEW_PEOPLE = Problem(
    code="too_few_people",
    field="people",
    expected=gettext_noop("At least two people who label in this project."),
    remedy=gettext_noop("Choose more, or invite them first."),
)
NONE_SUCCESSFUL = Problem(
    code="none_successful",
    field="only_successful",
    expected=gettext_noop("Traces whose file says that the run succeeded; there are none."),
    remedy=gettext_noop("Draw from all of them, or bring in files that say it."),
)


def out_of_range(field: str) -> Problem:
    return Problem(
        code="out_of_range",
        field=field,
        expected=gettext_noop("A whole number from 0 to %(limit)s."),
        remedy=gettext_noop("Correct it."),
        params={"limit": MAX_RUNS},
    )


def unknown_code(code: str, codes: Sequence[str]) -> Problem:
    return Problem(
        code="unknown_code",
        field="people",
        expected=gettext_noop("Codes of people who label here (%(allowed)s); “%(code)s” is none."),
        remedy=gettext_noop("Correct it."),
        params={"code": code[:40], "allowed": ", ".join(codes)},
    )


def too_few(found: TooFew, n_there: int, n_asked: int) -> Problem:
    if found.code:
        return Problem(
            code="too_few_traces",
            field="n_unique",
            expected=gettext_noop(
                "%(needed)s traces for %(code)s that nobody else has and that they read; %(left)s are left of "
                "%(there)s. All together %(asked)s are asked for."
            ),
            remedy=gettext_noop("Ask for fewer, or bring in more."),
            params={
                **{"needed": found.n_needed, "code": found.code, "left": found.n_there},
                **{"there": n_there, "asked": n_asked},
            },
        )
    return Problem(
        code="too_few_traces",
        field="n_common",
        expected=gettext_noop("%(needed)s traces that everybody reads; there are %(there)s."),
        remedy=gettext_noop("Ask for fewer, or bring in more."),
        params={"needed": found.n_needed, "there": found.n_there},
    )
