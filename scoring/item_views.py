"""What was said of one item, side by side: people by their codes, the judge beside them. For leads only."""

import json
from dataclasses import dataclass

from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_safe

from annotate.errors import Refused
from annotate.kinds.base import Schema
from annotate.models import Phase, Project
from annotate.rules.lanes import Mark, laned
from annotate.views.items import entries_address, looked_at
from annotate.views.label import start_in, trace_shown
from annotate.views.project import led_project, title_of
from scoring import comparing, item_queries
from scoring.compared_items import compared_items
from scoring.compared_views import figure_in, list_filters, query_of
from scoring.comparing import Schemas
from scoring.item_queries import GivenLabel, SaidOfItem
from scoring.judges.registry import all_judges
from scoring.views import filters_in

STEPS = ("previous", "next")
LISTS = {
    "errors": gettext_noop("Against the record, or not in it"),
    "omissions": gettext_noop("Results left out"),
    "downplayed": gettext_noop("Problems hidden or softened"),
}
"""What a checker lists."""


@dataclass(frozen=True, slots=True)
class ShownLabel:
    """A label under the name that its marks carry."""

    who: str
    given: GivenLabel
    schema: Schema

    @property
    def is_corrected(self) -> bool:
        return self.given.number > 1


@dataclass(frozen=True, slots=True)
class ShownVerdict:
    judge: str
    said: SaidOfItem

    @property
    def values(self) -> list[tuple[str, str]]:
        """What the judge found, as it is stored; questions and lists are shown by themselves."""
        return [
            (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
            for name, value in self.said.values.items()
            if name != "questions" and name not in LISTS
        ]

    @property
    def is_reading(self) -> bool:
        return self.said.judge == item_queries.READER

    @property
    def lists(self) -> list[tuple[str, list[str]]]:
        """What a checker lists, by what it is."""
        return [(gettext(title), self.said.values[name]) for name, title in LISTS.items() if name in self.said.values]


@require_safe
def show_item(request, project, item_id):
    """The text once with everybody's marks under it, then the labels side by side, the verdicts, the times. An address
    with filters is that of an item of such a list, and a step in it leads to the item before or after it."""
    project = led_project(request, project)
    item = looked_at(project, item_id)
    if request.GET.get("go"):
        return redirect(step_in_list(project, item_id, request.GET))
    facts = item_queries.item_facts(project, item_id)
    if facts is None:
        raise Http404
    schemas = comparing.schemas_of(project)
    labels = named(item_queries.labels_of_item(item_id), schemas)
    verdicts = [ShownVerdict(judge_title(one.judge), one) for one in item_queries.verdicts_of_item(item_id)]
    marks = [mark for one in labels for mark in marks_of(one.who, one.given.label.get("spans") or ())]
    labelled = [one for one in verdicts if one.said.label]
    marks += [mark for one in labelled[:1] for mark in marks_of(gettext("judge"), one.said.spans)]
    context = {
        "project": project,
        "title": title_of(project),
        "item": item,
        "facts": facts,
        "phase_words": Phase(facts.phase).label,
        "reply": laned(item.pieces, marks, item.kind.looks([schemas[number] for number in sorted(schemas)])),
        **trace_shown(item, entries_address(project, item_id), start_in(request.GET)),
        "who": list(dict.fromkeys(mark.who for mark in marks)),
        "labels": labels,
        "problems": item_queries.problems_of_item(item_id),
        "verdict": verdicts[0] if verdicts else None,
        "other_verdicts": verdicts[1:],
        "ways": ways_on(project, facts, request.GET),
    }
    return render(request, "scoring/show_item.html", context)


def named(labels: list[GivenLabel], schemas: Schemas) -> list[ShownLabel]:
    """By code, each with the schema it was given under; whoever labelled the item in a later round too has its number
    behind it there."""
    seen: set[str] = set()
    found = []
    for one in labels:
        who = f"{one.code}/{one.round}" if one.code in seen else one.code
        found.append(ShownLabel(who, one, schemas[one.protocol]))
        seen.add(one.code)
    return found


def marks_of(who: str, spans) -> list[Mark]:
    return [Mark(span["start"], span["end"], span["type"], who) for span in spans]


def judge_title(name: str) -> str:
    """A judge that this version has no more goes by its name."""
    spec = all_judges().get(name)
    return gettext(spec.title) if spec else name


def ways_on(project: Project, facts: item_queries.ItemFacts, query) -> dict[str, str]:
    """Where one goes from here: to the items before and after this one and back to the list one came from. Which items
    are in the list of a figure is only worked out for who takes a step in it."""
    if "measure" in query:
        asked = query_of(filters_in(query), figure_in(query))
        listed = reverse("scoring:list_compared_items", args=[project.slug]) + asked
        return {**{step: f"{asked}&go={step}" for step in STEPS}, "list": listed}
    ids = zip(STEPS, (facts.before, facts.after), strict=True)
    return {
        **{step: reverse("scoring:show_item", args=[project.slug, one]) for step, one in ids if one},
        "list": reverse("annotate:list_items", args=[project.slug]),
    }


def step_in_list(project: Project, item_id: int, query) -> str:
    """The address of the item before or after this one in the list of a figure; at its end the list, which also says
    what is wrong with an address that asks for none."""
    filters, figure = list_filters(project, query), figure_in(query)
    if query["go"] not in STEPS:
        raise Http404
    asked = query_of(filters, figure)
    place = {"after": item_id} if query["go"] == "next" else {"before": item_id}
    try:
        found = compared_items(project, **filters.as_dict(), **figure, **place, limit=1).rows
    except Refused:
        found = ()
    if found:
        return reverse("scoring:show_item", args=[project.slug, found[0].item]) + asked
    return reverse("scoring:list_compared_items", args=[project.slug]) + asked
