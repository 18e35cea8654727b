"""A lead's page for what judges found: gaps go to people who categorise them, written texts into a blind comparison."""

import re

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from annotate import lead_queries
from annotate.errors import NotYours, Refused
from annotate.models import Project
from annotate.views.label import own
from annotate.views.project import led_project, title_of
from scoring import gap_queries, publishing, publishing_texts, queries

WHOLE = re.compile(r"[0-9]{1,9}")
SLUG = re.compile(r"[A-Za-z0-9_-]{1,300}")
SOURCE_KIND = "reply"
N_RUNS = 100
"""So many of the newest runs can be chosen from on the page; commands and the API take any."""


def source_project(request, slug) -> Project:
    """A project of replies that the person leads; the one 404 for any other."""
    project = led_project(request, slug)
    if project.kind != SOURCE_KIND:
        raise Http404
    return project


@require_safe
def show_publishing(request, project):
    """What can be published, and into which projects."""
    project = source_project(request, project)
    return render(request, "scoring/show_publishing.html", page_of(request, project))


def page_of(request, project: Project) -> dict[str, object]:
    runs = list(queries.runs_of(project)[:N_RUNS])
    led = [one for one in lead_queries.led_projects(request.user).order_by("slug") if one.closed_at is None]
    return {
        "project": project,
        "title": title_of(project),
        "readers": [run for run in runs if run.judge.name == publishing.READER],
        "writers": [named(run) for run in runs if run.judge.name in publishing_texts.JUDGES],
        "gap_projects": [one for one in led if one.kind == gap_queries.KIND],
        "text_projects": [one for one in led if one.kind == publishing_texts.KIND and one.pk != project.pk],
        "usual": publishing.USUAL,
        "typed": {"n": str(publishing.USUAL), "seed": "", "run": "", "target": "", "runs": []},
    }


def named(run) -> dict[str, object]:
    """A run that wrote texts, with the condition that it wrote under."""
    return {"number": run.number, "condition": publishing_texts.condition_of(run)}


def whole_in(text: str) -> int:
    return int(text) if WHOLE.fullmatch(text) else -1


def target_in(request) -> Project:
    """The chosen project, which the person leads; the one 404 for any other."""
    slug = request.POST.get("target", "")
    if not SLUG.fullmatch(slug):
        raise Http404  # no project is called so, and a database may not even be asked for it
    return led_project(request, slug)


def published(request, project: Project, which: str, publish) -> HttpResponse:
    """Do it, and say on the page what became of it; publishing again adds nothing, so a page that is sent again does
    no harm."""
    post = request.POST
    typed = {name: post.get(name, "").strip()[:40] for name in ("n", "seed", "run", "target")}
    context = {**page_of(request, project), "which": which, "typed": {**typed, "runs": post.getlist("runs")}}
    try:
        done = publish(target_in(request))
        context |= {"done": done, "warnings": [one.as_dict(gettext) for one in getattr(done, "warnings", ())]}
    except NotYours:
        raise Http404 from None
    except Refused as refusal:
        context["problem"] = refusal.problem.as_dict(gettext)
        return render(request, "scoring/show_publishing.html", context, status=422)
    return render(request, "scoring/show_publishing.html", context)


@require_POST
@own
def publish_gaps(request, project):
    """A sample of a reader's gaps becomes items of a project of gap categories."""
    project, post = source_project(request, project), request.POST
    seed = post.get("seed", "").strip()

    def publish(target):
        return publishing.publish_gaps(
            person=request.user,
            source=project,
            target=target,
            run=whole_in(post.get("run", "")),
            n=whole_in(post.get("n", "").strip()),
            seed=whole_in(seed) if WHOLE.fullmatch(seed) else None,
            now=timezone.now(),
        )

    return published(request, project, "gaps", publish)


@require_POST
@own
def publish_texts(request, project):
    """What runs of the writer and the rewriter wrote becomes items of another project, which nobody is to read yet."""
    project = source_project(request, project)
    numbers = [whole_in(one) for one in request.POST.getlist("runs")]

    def publish(target):
        return publishing_texts.publish_texts(
            person=request.user, source=project, target=target, runs=numbers, now=timezone.now()
        )

    return published(request, project, "texts", publish)
