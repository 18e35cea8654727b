"""The lead's page of a project: what it holds, who works on it, problems that were reported."""

from django.http import Http404
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.views.decorators.http import require_POST, require_safe

from annotate import assigning, lead_queries
from annotate.models import Project


def led_project(request, slug) -> Project:
    """A project the person leads; the one 404 for any other."""
    project = lead_queries.led_projects(request.user).filter(slug=slug).first()
    if project is None:
        raise Http404
    return project


@require_safe
def show_project(request, project):
    project = led_project(request, project)
    context = {
        "project": project,
        "title": project.title_zh if get_language() == "zh-hans" else project.title_en,
        "members": lead_queries.member_progress(project),
        "batches": lead_queries.batches_of(project),
        "problems": lead_queries.problem_reports(project),
    }
    return render(request, "annotate/show_project.html", context)


@require_POST
def give_back(request, project, assignment_id):
    project = led_project(request, project)
    assigning.give_back(lead=request.user, project=project, assignment_id=assignment_id)
    return redirect("annotate:show_project", project=project.slug)
