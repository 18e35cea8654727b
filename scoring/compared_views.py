"""The items behind a figure of the agreement page, by pages: what everybody said, and in what that differs."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import Http404
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from annotate.errors import Refused
from annotate.kinds.base import Measure, TaskKind
from annotate.kinds.registry import kind_of
from annotate.models import Project
from annotate.traces.base import gettext_noop
from annotate.views.project import led_project, title_of
from scoring import comparing, item_queries, words
from scoring.agreement_shown import Filters
from scoring.compared_items import JUDGE, MAJORITY, WHYS, ComparedItems, compared_items
from scoring.comparing import Schemas
from scoring.views import filters_in, number_in

FIGURE = ("of", "against", "row", "column", "why")
ANSWERS = {"yes": True, "no": False}
WHY_WORDS = {
    "tie": gettext_noop("people tie"),
    "few": gettext_noop("too few people"),
    "missing": gettext_noop("no label of the judge"),
    "unreadable": gettext_noop("answer of the judge unreadable"),
}
Figure = dict[str, Any]


def figure_in(query) -> Figure:
    """Which figure an address asks about; 404 where it can be none."""
    figure: Figure = {name: query[name] for name in FIGURE if query.get(name)}
    if figure.get("why", WHYS[0]) not in WHYS:
        raise Http404
    if text := query.get("agree"):
        if text not in ANSWERS:
            raise Http404
        figure["agree"] = ANSWERS[text]
    return figure


def list_filters(project: Project, query) -> Filters:
    """The filters in the address of a list, which is of one measure: the kind's first where it names none."""
    filters = filters_in(query)
    if filters.measure is not None:
        return filters
    first = comparing.chosen_measures(project, comparing.schemas_of(project), None, filters.protocol)[0]
    return replace(filters, measure=first.name)


def query_of(filters: Filters, figure: Figure, **more: object) -> str:
    """The address of the list, or of the list with something else asked."""
    asked = {**figure, **more}
    if asked.get("agree") is not None:
        asked["agree"] = "yes" if asked["agree"] else "no"
    return filters.query(**asked)


@require_safe
def list_compared_items(request, project):
    """One page of them; the next one is behind the last item of this one."""
    project = led_project(request, project)
    filters, figure = list_filters(project, request.GET), figure_in(request.GET)
    context = {"project": project, "title": title_of(project), "report_query": filters.query(measure=None)}
    try:
        found = compared_items(project, **filters.as_dict(), **figure, after=number_in(request.GET.get("after", "0")))
    except Refused as refusal:
        context["problem"] = refusal.problem.as_dict(gettext)
        return render(request, "scoring/list_compared_items.html", context, status=409)
    return render(
        request, "scoring/list_compared_items.html", {**context, **page_of(project, filters, figure, found)}
    )


def page_of(project: Project, filters: Filters, figure: Figure, found: ComparedItems) -> dict[str, object]:
    kind, schemas = kind_of(project.kind), comparing.schemas_of(project)
    (measure,) = comparing.chosen_measures(project, schemas, filters.measure, found.protocol)
    titles = kind.part_titles(schemas.get(found.protocol or 0) or schemas[max(schemas)])
    raters = sorted({rater for row in found.rows for rater in row.said})
    items = [row.item for row in found.rows]
    parts = differing_parts(items, found.protocol, kind, schemas, round=filters.round)
    query = query_of(filters, figure)
    return {
        "heading": gettext(measure.title),
        "asked": asked_words(figure, measure),
        "raters": raters,
        "has_judge": filters.run is not None or any(row.judge is not None for row in found.rows),
        "rows": [
            {
                "item": row,
                "said": [said_cell(row.said.get(rater), row.majority, measure) for rater in raters],
                "majority": said_cell(row.majority, None, measure),
                "judge": said_cell(row.judge, row.majority, measure),
                "differing": [gettext(titles.get(part, part)) for part in parts.get(row.item, ())],
            }
            for row in found.rows
        ],
        "n": found.n,
        "query": query,
        "more": found.after and f"{query}&after={found.after}",
        "ways": ways_to_narrow(filters, figure),
    }


@dataclass(frozen=True, slots=True)
class SaidCell:
    """What one of them said of an item, and whether the majority said something else."""

    words: str
    is_other: bool


def said_cell(category: Hashable | None, majority: Hashable | None, measure: Measure) -> SaidCell:
    if category is None:
        return SaidCell("", is_other=False)
    return SaidCell(words.category_words(category, measure), is_other=majority is not None and category != majority)


def differing_parts(
    items: list[int], protocol: int | None, kind: TaskKind, schemas: Schemas, *, round: int | None = None
) -> dict[int, tuple[str, ...]]:
    """By item, the parts of a label in which people differ, those behind the measure and the others."""
    rows = item_queries.compared_labels(items, round=round)
    number = protocol or max((number for _, number, _, _ in rows), default=None)
    labels: dict[int, dict[str, Any]] = {}
    for item, under, code, label in rows:
        if under == number:
            labels.setdefault(item, {})[code] = kind.load(label, schemas[under])
    return {item: different(list(of_item.values()), kind) for item, of_item in labels.items()}


def different(labels: Sequence[Any], kind: TaskKind) -> tuple[str, ...]:
    """A part in which all are like the first, as the kind grades, is one in which they do not differ."""
    first, *others = labels
    grades = [grade for other in others for grade in (kind.grade(other, first), kind.grade(first, other))]
    parts = dict.fromkeys(part for grade in grades for part in grade.parts)
    return tuple(part for part in parts if not all(grade.parts.get(part, True) for grade in grades))


def asked_words(figure: Figure, measure: Measure) -> str:
    """Which items these are: `a1 against the majority; a1: fails; the majority: passes`."""
    named = {MAJORITY: gettext("the majority"), JUDGE: gettext("the judge")}
    of, against = (named.get(figure.get(side), figure.get(side)) for side in ("of", "against"))
    said = []
    if of and against:
        said.append(gettext("%(of)s against %(against)s") % {"of": of, "against": against})
    for side, who in (("row", against), ("column", of or gettext("somebody"))):
        if side in figure:
            said.append(f"{who}: {category_in(figure[side], measure)}")
    if "why" in figure:
        said.append(gettext(WHY_WORDS[figure["why"]]))
    return "; ".join(said) or gettext("all labelled items")


def category_in(name: str, measure: Measure) -> str:
    known = [str(one) for one in measure.categories]
    return words.category_words(name, measure) if name in known else name


def ways_to_narrow(filters: Filters, figure: Figure) -> list[tuple[str, str, bool]]:
    """All of a comparison, where both say the same, where they do not."""
    if "against" not in figure or {"why", "row", "column"} & set(figure):
        return []
    ways = ((None, gettext("all")), (False, gettext("where they differ")), (True, gettext("where they agree")))
    return [
        (name, query_of(filters, figure, agree=agree), figure.get("agree") == agree) for agree, name in ways
    ]
