"""A lead's page of reply points: those that were chosen, and choosing more."""

import secrets

from django.http import Http404
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from annotate.errors import NotYours, Refused
from annotate.models import Project
from annotate.traces.base import Problem
from annotate.views.project import led_project, title_of
from scoring import point_queries, pointing
from scoring.models import Points
from scoring.run_forms import WHOLE

N_POINTS = 100
NUMBERS = ("quota", "n", "seed")


@require_safe
def list_points(request, project):
    """Newest first, with the form that chooses more."""
    return render(request, "scoring/list_points.html", page_of(led_project(request, project)))


def page_of(project: Project, posted=None, problem: Problem | None = None) -> dict[str, object]:
    return {
        "project": project,
        "title": title_of(project),
        "rows": [listed(points) for points in point_queries.points_of(project)[:N_POINTS]],
        "said": {name: posted.get(name, "") for name in (*NUMBERS, "at_random")} if posted else {"quota": "8"},
        "problem": problem and problem.as_dict(gettext),
    }


def listed(points: Points) -> dict[str, object]:
    n_prior = sum(one["class"] == "priority" for one in points.items)
    return {"points": points, "n": len(points.items), "n_prior": n_prior, "n_random": len(points.items) - n_prior}


@require_POST
def choose_points(request, project):
    """Draw by the numbers that were posted; by a random seed without one."""
    project = led_project(request, project)
    quota, n, seed = (request.POST.get(name, "").strip() for name in NUMBERS)
    try:
        pointing.choose_points(
            person=request.user,
            project=project,
            seed=whole(seed) if seed else secrets.randbits(31),
            quota=whole(quota),
            n=whole(n) if n else None,
            at_random=request.POST.get("at_random") == "yes",
        )
    except NotYours:
        raise Http404 from None
    except Refused as refusal:
        context = page_of(project, request.POST, refusal.problem)
        return render(request, "scoring/list_points.html", context, status=422)
    return redirect("scoring:list_points", project=project.slug)


def whole(word: str) -> int:
    """The number that was written; -1, which nothing allows, where it is none."""
    return int(word) if WHOLE.fullmatch(word) else -1
