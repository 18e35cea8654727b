"""Named reads that only reports need: the verdicts of a run, what filters allow, and how far the tables have
grown. Each is one statement unless it says otherwise."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.db.models import Count, Exists, ExpressionWrapper, F, Max, Model, OuterRef, Q, QuerySet, TextField

from annotate.lead_queries import RATING_ROUNDS
from annotate.models import Annotation, Assignment, Event, Item, Post, Project, Round
from scoring.judges.registry import gives_labels
from scoring.label_queries import WithoutFields
from scoring.models import Report, Run, Verdict

SAMPLE = 0
"""Where a run asked several times, its first answer is compared."""
PLACES = {"language": "trace__language", "area": "trace__area", "cluster": "cluster"}
"""Filters on items, and where an item has what they ask for."""


def runs_with_verdicts(project: Project, *, phase: str) -> list[Run]:
    """Runs that said something of a phase, newest first; none of a trial of prompts, which judges a few items only, and
    no proof of the wire, which is no result."""
    verdicts = Verdict.objects.filter(run=OuterRef("pk"), item__phase=phase, sample=SAMPLE)
    runs = Run.objects.filter(Exists(verdicts), project=project, is_proof=False, trial_as_old=None, trial_as_new=None)
    return list(runs.select_related("judge").order_by("-number"))


def runs_to_compare(project: Project, *, phase: str) -> list[Run]:
    """Those of them whose verdicts are labels: one statement."""
    runs = runs_with_verdicts(project, phase=phase)
    return [run for run in runs if gives_labels(run.judge.name, run.judge.settings)]


class VerdictRow(NamedTuple):
    """What a run said of an item. `label` is JSON, None where it is none."""

    id: int
    item: int
    label: str | None
    is_unreadable: int


def verdict_rows(
    run: Run,
    *,
    phase: str,
    wanted: Mapping[str, str],
    leave: Sequence[str] = (),
    among: tuple[int, int] | None = None,
) -> list[VerdictRow]:
    """By item; `among` names the ends of a range of ids, `leave` the fields of a label that are not wanted."""
    rows = Verdict.objects.filter(run=run, sample=SAMPLE, item__phase=phase, **of_items(wanted, "item__"))
    rows = rows.filter(pk__range=among) if among else rows
    truth = ExpressionWrapper(F("is_unreadable"), TextField())  # as it comes: converting each costs as much as reading
    found = rows.order_by("item").values_list("pk", "item", WithoutFields(F("label"), leave), truth)
    return list(map(VerdictRow._make, found.iterator(chunk_size=5000)))


def of_items(wanted: Mapping[str, str], before: str = "") -> dict[str, str]:
    """Filters as conditions on items."""
    return {before + PLACES[name]: value for name, value in wanted.items()}


def items_where(project: Project, *, phase: str, wanted: Mapping[str, str]) -> list[int]:
    return list(Item.objects.filter(project=project, phase=phase, **of_items(wanted)).values_list("pk", flat=True))


def values_of(project: Project, name: str, *, phase: str, most: int | None = None) -> list[str]:
    """What items of a phase have where a filter looks, in order; with `most` no more than so many, which then are the
    first that were met and not the first in order."""
    items = Item.objects.filter(project=project, phase=phase, **{f"{PLACES[name]}__gt": ""}).order_by()
    return sorted(items.values_list(PLACES[name], flat=True).distinct()[:most])


class NumberedRound(NamedTuple):
    number: int
    purpose: str
    informed: bool

    @property
    def name(self) -> str:
        return str(Round.Purpose(self.purpose).label)


def rounds_of(project: Project) -> list[NumberedRound]:
    """In their order."""
    rows = Round.objects.filter(project=project).order_by("number").values_list("number", "purpose", "informed")
    return list(map(NumberedRound._make, rows))


def n_problems(project: Project, *, phase: str, wanted: Mapping[str, str], round: int | None = None) -> int:
    """Assignments of the wanted items that ended in a reported problem, in blind rounds or in this one."""
    problems = Assignment.objects.filter(annotator__project=project, state=Assignment.State.PROBLEM)  # by its index
    in_round = {"round__purpose__in": RATING_ROUNDS} if round is None else {"round__number": round}
    problems = problems.filter(**in_round)
    return problems.filter(item__phase=phase, **of_items(wanted, "item__")).count()


def sources_of(items: list[int]) -> dict[int, tuple[str, int | None]]:
    """Where items came from: the name of the trace in its source, and the message."""
    rows = Item.objects.filter(pk__in=items).values_list("pk", "trace__source_id", "anchor")
    return {pk: (source or "", anchor) for pk, source, anchor in rows}


# Whether anything has come since


TAIL = 1000
"""How many ids below the newest are counted again: a transaction that began earlier may commit a lower id later."""


def growing() -> dict[str, tuple[type[Model], str]]:
    """The tables that figures rest on, and where their rows have their project: nothing in them changes without a new
    row in one of them."""
    return {
        "annotations": (Annotation, "assignment__annotator__project"),
        "posts": (Post, "author__project"),
        "events": (Event, "project"),
        "verdicts": (Verdict, "run__project"),
    }


Marks = dict[str, list[int]]
"""By table the newest id there is, of any project, and how many rows of this project stand from `TAIL` below it on."""


def marks(project: Project) -> Marks:
    """As of now: two statements a table."""
    tables = growing().items()
    newest = {name: model.objects.aggregate(newest=Max("pk"))["newest"] or 0 for name, (model, _) in tables}
    return {name: [newest[name], n] for name, (n, _) in behind(project, newest).items()}


def marks_since(project: Project, seen: Mapping[str, list[int]]) -> Marks | None:
    """The marks of now where the project has no row that those seen did not count; None where it has. One statement a
    table over the rows since and the tail before them, so its cost does not grow with the project."""
    found = behind(project, {name: mark[0] for name, mark in seen.items()})
    if any(n != seen[name][1] for name, (n, _) in found.items()):
        return None
    if all(newest - seen[name][0] <= TAIL for name, (_, newest) in found.items()):
        return dict(seen)
    return marks(project)  # other projects have grown: the next look need not walk over it all again


def marks_of_all(projects: Sequence[Project]) -> Marks:
    """Those of the first under the names of the tables, those of the others under their own id before it."""
    first, *others = projects
    found = marks(first)
    for other in others:
        found |= {f"{other.pk}/{name}": mark for name, mark in marks(other).items()}
    return found


def marks_of_all_since(projects: Sequence[Project], seen: Mapping[str, list[int]]) -> Marks | None:
    """None where any of them has something that those seen did not count, or they are other projects by now."""
    first, *others = projects
    if len(seen) != len(growing()) * len(projects):
        return None
    found = marks_since(first, {name: seen[name] for name in growing()})
    for other in others:
        names = [f"{other.pk}/{name}" for name in growing()]
        if found is None or any(name not in seen for name in names):
            return None
        theirs = marks_since(other, {name: seen[f"{other.pk}/{name}"] for name in growing()})
        if theirs is None:
            return None
        found |= {f"{other.pk}/{name}": mark for name, mark in theirs.items()}
    return found


def behind(project: Project, newest: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Of each table, from `TAIL` below these ids on: how many rows are of the project, and the newest id of all."""
    found = {}
    for name, (model, path) in growing().items():
        rows = model.objects.filter(pk__gt=newest[name] - TAIL)
        ours = Count("pk", filter=Q(**{path: project.pk}))
        values = rows.aggregate(n=ours, newest=Max("pk"))
        found[name] = (values["n"], values["newest"] or newest[name])
    return found


def stored_reports(project: Project, kind: str, settings_hash: str) -> QuerySet[Report]:
    """Newest first, without the ids, which are as long as there are labels."""
    rows = Report.objects.filter(project=project, kind=kind, settings_hash=settings_hash)
    return rows.defer("ids").order_by("-pk")
