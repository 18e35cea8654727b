"""A lead's pages of judges: starting a run, how far it is, and what became of it."""

from dataclasses import dataclass
from datetime import timedelta

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from annotate.errors import NotYours, Refused
from annotate.models import Phase, Project
from annotate.traces.base import Problem
from annotate.views.project import led_project, title_of
from scoring import queries, running
from scoring.judges.registry import all_judges, judges_for
from scoring.models import Run
from scoring.running import RunProgress

N_RUNS, N_DEAD = 25, 50
LONG_WAIT = timedelta(minutes=1)
"""A worker begins within seconds; after this the page says that there may be none."""


@dataclass(frozen=True, slots=True)
class ListedRun:
    run: Run
    title: str
    phases: str
    progress: RunProgress


def listed(run: Run, progress: RunProgress) -> ListedRun:
    """A run as pages speak of it; a judge that this version has no more goes by its name."""
    spec = all_judges().get(run.judge.name)
    titles = dict(Phase.choices)
    return ListedRun(
        run=run,
        title=gettext(spec.title) if spec else run.judge.name,
        phases=", ".join(str(titles.get(phase, phase)) for phase in run.phases),
        progress=progress,
    )


@require_safe
def list_runs(request, project):
    """The form that starts one, and every run so far, newest first."""
    project = led_project(request, project)
    page = request.GET.get("page", "1")
    if not (page.isascii() and page.isdecimal() and 0 < len(page) < 7):
        raise Http404
    return render(request, "scoring/list_runs.html", runs_page(project, max(int(page), 1)))


def runs_page(project: Project, page: int = 1, problem: Problem | None = None, chosen=None) -> dict[str, object]:
    runs = list(queries.runs_of(project)[(page - 1) * N_RUNS : page * N_RUNS + 1])
    progress = running.progress_of(runs[:N_RUNS])
    return {
        "project": project,
        "title": title_of(project),
        "judges": judges_for(project.kind),
        "phases": Phase.choices,
        "chosen": chosen or {"judge": "", "phases": [Phase.MAIN]},
        "runs": [listed(run, progress[run.pk]) for run in runs[:N_RUNS]],
        "newer": page - 1 if page > 1 else None,
        "older": page + 1 if len(runs) > N_RUNS else None,
        "problem": problem and problem.as_dict(gettext),
    }


@require_POST
def start_run(request, project):
    """Every item of the chosen phases gets a verdict, in the background."""
    project = led_project(request, project)
    chosen = {"judge": request.POST.get("judge", ""), "phases": request.POST.getlist("phases")}
    try:
        run = running.start_run(person=request.user, project=project, **chosen)
    except NotYours:
        raise Http404 from None
    except Refused as refusal:
        context = runs_page(project, problem=refusal.problem, chosen=chosen)
        return render(request, "scoring/list_runs.html", context, status=422)
    return redirect("scoring:show_run", project=project.slug, number=run.number)


@require_safe
def show_run(request, project, number):
    """How far a run is. A script asks for the piece until it is done."""
    project = led_project(request, project)
    run = run_called(project, number)
    template = "scoring/_run.html" if request.htmx else "scoring/show_run.html"
    return render(request, template, {**page_of(project, run), "is_piece": request.htmx})


def run_called(project: Project, number: int) -> Run:
    run = queries.runs_of(project).filter(number=number).first() if number < 2**31 else None
    if run is None:
        raise Http404
    return run


def page_of(project: Project, run: Run) -> dict[str, object]:
    progress = running.run_progress(run)
    dead = queries.dead_jobs(run, limit=N_DEAD + 1) if progress.n_dead else []
    is_waiting = progress.state == "running" and not progress.n_done and not progress.n_dead
    return {
        "project": project,
        "title": title_of(project),
        "listed": listed(run, progress),
        "run": run,
        "progress": progress,
        "percent": 100 * (progress.n_items - progress.n_left) // progress.n_items if progress.n_items else 0,
        "is_going_on": progress.state == "running",
        "waits_long": is_waiting and timezone.now() - run.started_at > LONG_WAIT,
        "dead": [(job, gettext(job.sentence)) for job in dead[:N_DEAD]],
        "has_more_dead": len(dead) > N_DEAD,
        "settings": [(name, shown(value)) for name, value in run.judge.settings.items() if value not in ([], "", None)],
    }


def shown(value) -> str:
    """A setting as it is read: names of a list by commas."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def turned(request, project, number, act) -> HttpResponse:
    """Do it if it still goes; the page then says how things stand."""
    project = led_project(request, project)
    run = run_called(project, number)
    try:
        act(person=request.user, run=run)
    except NotYours:
        raise Http404 from None
    if request.htmx:
        return render(request, "scoring/_run.html", {**page_of(project, run), "is_piece": True})
    return redirect(reverse("scoring:show_run", args=[project.slug, number]))


@require_POST
def pause_run(request, project, number):
    return turned(request, project, number, running.pause_run)


@require_POST
def resume_run(request, project, number):
    return turned(request, project, number, running.resume_run)


@require_POST
def cancel_run(request, project, number):
    return turned(request, project, number, running.cancel_run)


@require_POST
def try_run_again(request, project, number):
    """What was given up waits for a worker again."""
    return turned(request, project, number, running.try_again)
