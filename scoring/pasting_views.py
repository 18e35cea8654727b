"""The page on which a lead answers a run's questions by hand."""

from django.http import Http404
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from annotate.errors import NotYours, Refused
from annotate.views.project import led_project, title_of
from scoring import pasting, queries
from scoring.models import Endpoint, Run
from scoring.pasting_queries import has_answer, open_questions, waiting_call, waiting_calls

N_QUESTIONS = 5


@require_safe
def list_questions(request, project, number):
    """The first questions that wait for an answer."""
    run = pasted_run(request, project, number)
    return render(request, "scoring/list_questions.html", page_of(run))


def pasted_run(request, project, number: int) -> Run:
    """NotYours and runs whose answers are not pasted are the one 404."""
    project = led_project(request, project)
    run = queries.runs_of(project).select_related("endpoint").filter(number=number).first() if number < 2**31 else None
    if run is None or run.endpoint is None or run.endpoint.provider != Endpoint.Provider.PASTED:
        raise Http404
    run.project = project
    return run


def page_of(run: Run, **more: object) -> dict[str, object]:
    return {
        "project": run.project,
        "title": title_of(run.project),
        "run": run,
        "endpoint": run.endpoint,
        "questions": open_questions(run, limit=N_QUESTIONS),
        "n_waiting": waiting_calls(run).count(),
        **more,
    }


@require_POST
def paste_answer(request, project, number, call_id):
    """The answer that was posted, for the question it belongs to. One that has an answer by now keeps that."""
    run = pasted_run(request, project, number)
    call = waiting_call(run, call_id)
    if call is None:
        if not has_answer(run, call_id):
            raise Http404
        return redirect("scoring:list_questions", project=run.project.slug, number=run.number)
    text = request.POST.get("text", "")
    try:
        pasting.paste_answer(person=request.user, call=call, text=text, cut="cut" in request.POST)
    except NotYours:
        raise Http404 from None
    except Refused as refusal:
        problem = refusal.problem.as_dict(gettext)
        context = page_of(run, problem=problem, refused=call.pk, typed=text)
        return render(request, "scoring/list_questions.html", context, status=422)
    return redirect("scoring:list_questions", project=run.project.slug, number=run.number)
