"""The lead's pages of rounds: which there are and how far they are, closing one, opening an informed one, and the gaps
that people met in the guideline."""

from django.http import Http404
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from annotate import round_queries, rounds
from annotate.errors import Refused
from annotate.models import Phase, Project
from annotate.rules.looking_again import WHICH
from annotate.traces.base import gettext_noop
from annotate.views.label import own
from annotate.views.project import led_project, title_of

WHICH_WORDS = {
    "all": gettext_noop("all that at least two people labelled"),
    "common": gettext_noop("those that everybody labelled"),
    "disagreeing": gettext_noop("those that people labelled differently"),
}


@require_safe
def show_rounds(request, project):
    project = led_project(request, project)
    return render(request, "annotate/show_rounds.html", page_of(project, phase_in(request.GET)))


def phase_in(query) -> str:
    phase = query.get("phase", "main")
    if phase not in rounds.PHASES:
        raise Http404
    return phase


def page_of(project: Project, phase: str) -> dict[str, object]:
    rows = round_queries.round_rows(project)
    n_items = rounds.preview_informed(project, phase)
    return {
        "project": project,
        "title": title_of(project),
        "rows": rows,
        "phase": phase,
        "phases": [(value, name) for value, name in Phase.choices if value in rounds.PHASES],
        "choices": [(which, gettext(WHICH_WORDS[which]), n_items[which]) for which in WHICH],
        "is_open": any(row.purpose == "informed" and row.closed_at is None for row in rows),
        "n_blind_closed": sum(not row.informed and row.closed_at is not None for row in rows),
    }


@require_POST
@own
def close_round(request, project, number):
    project = led_project(request, project)
    rest = "go_on" if request.POST.get("rest") == "go_on" else "withdraw"
    if number < 2**31:
        rounds.close_round(lead=request.user, project=project, number=number, rest=rest, now=timezone.now())
    return redirect("annotate:show_rounds", project=project.slug)


@require_POST
@own
def open_round(request, project):
    """An informed round over what was chosen."""
    project = led_project(request, project)
    which, phase = request.POST.get("which", ""), request.POST.get("phase", "")
    try:
        rounds.open_informed_round(lead=request.user, project=project, which=which, phase=phase, now=timezone.now())
    except Refused as refusal:
        shown = page_of(project, phase if phase in rounds.PHASES else "main")
        context = {**shown, "problem": refusal.problem.as_dict(gettext)}
        return render(request, "annotate/show_rounds.html", context, status=422)
    return redirect("annotate:show_rounds", project=project.slug)


@require_safe
def list_gaps(request, project):
    """What people could not decide by the guideline, of one protocol or of all."""
    project = led_project(request, project)
    counts, asked = round_queries.gaps_by_protocol(project), request.GET.get("protocol", "")
    chosen = next((number for number in counts if str(number) == asked), None)
    if asked and chosen is None:
        raise Http404
    context = {
        "project": project,
        "title": title_of(project),
        "counts": counts,
        "chosen": chosen,
        "gaps": round_queries.gaps_of(project, protocol=chosen, limit=MOST_GAPS),
        "causes": round_queries.settled_for_gaps(project, limit=MOST_GAPS),
        "most": MOST_GAPS,
    }
    return render(request, "annotate/list_gaps.html", context)


MOST_GAPS = 500
