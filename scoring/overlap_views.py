"""The rule for more people while agreement is low: set on the page of agreement, where a project has a pool."""

import math
import re

from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from annotate.errors import Refused
from annotate.models import Project
from annotate.traces.base import gettext_noop
from annotate.views.label import own
from annotate.views.project import led_project, title_of
from scoring import comparing, overlap
from scoring.overlap import OverlapRule

NUMBER = re.compile(r"[0-9]{0,9}(\.[0-9]{0,9})?")
EACH_WORDS = {
    "item": gettext_noop("of the item: the share of its pairs of labels that are equal"),
    "project": gettext_noop("of the whole project: Krippendorff's alpha"),
}


@require_POST
@own
def set_overlap_rule(request, project):
    project = led_project(request, project)
    typed = {name: request.POST.get(name, "").strip() for name in ("measure", "under", "at_most", "each")}
    rule = None
    if request.POST.get("do") != "end":
        rule = OverlapRule(
            measure=typed["measure"],
            under=number_in(typed["under"]),
            at_most=int(typed["at_most"]) if typed["at_most"].isascii() and typed["at_most"].isdecimal() else 0,
            each=typed["each"],
        )
    try:
        overlap.set_overlap_rule(lead=request.user, project=project, rule=rule, now=timezone.now())
    except Refused as refusal:
        context = {"project": project, "title": title_of(project), **card(project), **typed}
        context["refused"] = refusal.problem.as_dict(gettext)
        return render(request, "scoring/overlap_refused.html", context, status=422)
    return redirect("scoring:show_agreement", project=project.slug)


def number_in(text: str) -> float:
    return float(text) if NUMBER.fullmatch(text) and text not in ("", ".") else math.nan


def card(project: Project) -> dict[str, object]:
    """What the card of the rule shows; nothing of the items that it opens."""
    if not overlap.has_pool(project):
        return {}
    rule = overlap.rule_of(project)
    measures = comparing.chosen_measures(project, comparing.schemas_of(project), None)
    return {
        "has_pool": True,
        "rule": rule,
        "measures_of_rule": [(one.name, gettext(one.title)) for one in measures],
        "ways": [(each, gettext(EACH_WORDS[each])) for each in overlap.EACH],
        "measure": rule.measure if rule else "",
        "under": rule.under if rule else "",
        "at_most": rule.at_most if rule else "",
        "each": rule.each if rule else "item",
        "job": overlap.job_of(project) if rule else None,
    }
