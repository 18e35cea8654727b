"""A lead's page of experience replays: the workflows that runs have written, to be saved, and outcomes to bring in."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from annotate.errors import NotYours, Refused
from annotate.models import Project
from annotate.views.project import led_project, title_of
from scoring import experience, experience_queries
from scoring.judges.workflow import CONDITIONS
from scoring.methods.records import RecordsRefused

N_BATCHES = 50
LONGEST_NAME = 200


@require_safe
def show_experience(request, project):
    """Workflows by run, outcomes by file, and the form that brings more."""
    return render(request, "scoring/show_experience.html", page_of(led_replays(request, project)))


def led_replays(request, slug: str) -> Project:
    """The project, if it is of the kind that has such a page."""
    project = led_project(request, slug)
    if project.kind != experience.KIND:
        raise Http404
    return project


def page_of(project: Project, **more: object) -> dict[str, object]:
    return {
        "project": project,
        "title": title_of(project),
        "runs": [
            {"one": one, "condition": CONDITIONS.get(one.run.judge.settings.get("condition"), "")}
            for one in experience_queries.workflow_runs(project)
        ],
        "batches": experience_queries.batches_of(project)[:N_BATCHES],
        **more,
    }


@require_safe
def workflows_file(request, project, number):
    """The workflows of a run, one JSON object a line."""
    project = led_replays(request, project)
    try:
        run = experience.workflow_run(project, number)
    except Refused:
        raise Http404 from None
    response = HttpResponse("".join(experience.workflow_lines(run)), content_type="application/jsonl; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-workflows-{run.number}.jsonl"'
    return response


@require_POST
def import_outcomes(request, project):
    """The text that was pasted, whole or not at all."""
    project = led_replays(request, project)
    name = request.POST.get("name", "").replace("\0", "").strip()[:LONGEST_NAME] or gettext("a pasted text")
    try:
        brought = experience.import_outcomes(
            person=request.user,
            project=project,
            documents=experience.in_text(request.POST.get("outcomes", ""), name),
            file_name=name,
        )
    except NotYours:
        raise Http404 from None
    except RecordsRefused as error:
        said = [one.as_dict(gettext) for one in error.problems]
        return render(
            request,
            "scoring/show_experience.html",
            page_of(project, pasted=request.POST, problems=said),
            status=422,
        )
    return render(request, "scoring/show_experience.html", page_of(project, brought=brought))
