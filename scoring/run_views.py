"""A lead's pages of judges: starting a run, how far it is, and what became of it."""

from collections.abc import Mapping
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
from scoring import (
    call_queries,
    endpoint_queries,
    estimating,
    experience,
    jury_sealing,
    point_queries,
    queries,
    running,
)
from scoring.asking import Cap, proposed_cap
from scoring.judges.base import JudgeSpec
from scoring.judges.registry import all_judges, judges_for
from scoring.models import Call, Endpoint, Run
from scoring.predictions import KIND, predicts
from scoring.run_forms import asked_fields, cap_from, chosen_from, query_of
from scoring.running import Asking, RunProgress

N_RUNS, N_DEAD, MOST_POINTS = 25, 50, 100
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
        "judges": [judge for judge in judges_for(project.kind) if not judge.brings],
        "endpoints": list(endpoint_queries.endpoints_of(project)),
        "phases": Phase.choices,
        "brings": any(judge.brings for judge in judges_for(project.kind)),
        "has_experience": project.kind == experience.KIND,
        "chosen": chosen or {"judge": "", "endpoint": "", "phases": [Phase.MAIN]},
        "runs": [listed(run, progress[run.pk]) for run in runs[:N_RUNS]],
        "newer": page - 1 if page > 1 else None,
        "older": page + 1 if len(runs) > N_RUNS else None,
        "problem": problem and problem.as_dict(gettext),
    }


@require_POST
def start_run(request, project):
    """Every item of the chosen phases gets a verdict, in the background. Where a model is to be asked, the next page
    says first what that will take, and asks for a cap; where a judge has settings of its own it asks for them."""
    project = led_project(request, project)
    chosen = chosen_from(request.POST)
    spec = all_judges().get(chosen["judge"])
    asks = spec is not None and spec.asks
    is_planned = ("cap_calls" if asks else "planned") in request.POST
    if spec is not None and (asks or spec.fields) and not is_planned:
        return redirect(f"{reverse('scoring:plan_run', args=[project.slug])}?{query_of(chosen)}")
    try:
        asking = Asking(chosen["endpoint"], cap_from(request.POST), chosen["reuse"]) if asks else None
        run = running.start_run(
            person=request.user,
            project=project,
            judge=chosen["judge"],
            phases=chosen["phases"],
            settings=chosen["settings"],
            points=chosen["points"],
            n_samples=chosen["n_samples"],
            asking=asking,
        )
    except NotYours:
        raise Http404 from None
    except Refused as refusal:
        if asks or (spec is not None and refusal.problem.field in asked_for(spec)):
            return planned(request, project, chosen, refusal.problem, request.POST)
        context = runs_page(project, problem=refusal.problem, chosen=chosen)
        return render(request, "scoring/list_runs.html", context, status=422)
    return redirect("scoring:show_run", project=project.slug, number=run.number)


@require_safe
def plan_run(request, project):
    """What a run that asks a model will take, before anything is sent; for another judge its settings."""
    project = led_project(request, project)
    if "judge" not in request.GET:
        return redirect("scoring:list_runs", project=project.slug)
    return planned(request, project, chosen_from(request.GET))


def planned(request, project, chosen, problem=None, posted: Mapping[str, str] | None = None) -> HttpResponse:
    """The page with the estimate and the caps; what does not go is said above the form that it was chosen in."""
    estimate, spec = None, all_judges().get(chosen["judge"])
    asks = spec is None or spec.asks
    try:
        if asks:
            estimate = estimating.estimate_run(person=request.user, project=project, **chosen)
    except NotYours:
        raise Http404 from None
    except Refused as refusal:
        if spec is None or refusal.problem.field not in asked_for(spec):
            context = runs_page(project, problem=refusal.problem, chosen=chosen)
            return render(request, "scoring/list_runs.html", context, status=422)
        problem = refusal.problem
    names = ("cap_calls", "cap_tokens", "cap_cost")
    proposed = {"cap_calls": proposed_cap(estimate)} if estimate else {}
    caps = {name: posted.get(name, "") for name in names} if posted else proposed
    titles = dict(Phase.choices)
    context = {
        "project": project,
        "title": title_of(project),
        "spec": spec,
        "asks": asks,
        "fields": asked_fields(spec, chosen) if spec else [],
        "points": points_to_choose(project, spec) if spec else None,
        "chosen": chosen,
        "phases": ", ".join(str(titles[phase]) for phase in chosen["phases"]),
        "estimate": estimate,
        "caps": caps,
        "most_samples": running.MOST_SAMPLES,
        "problem": problem and problem.as_dict(gettext),
    }
    return render(request, "scoring/plan_run.html", context, status=422 if problem else 200)


def asked_for(spec: JudgeSpec) -> set[str]:
    """What the page of the estimate asks for itself."""
    return {field.name for field in spec.fields} | ({"points"} if spec.works_on == "points" else set())


def points_to_choose(project: Project, spec: JudgeSpec) -> list[tuple[int, int]] | None:
    """Numbers of points and of their replies; None for a judge that works on items."""
    if spec.works_on == "items":
        return None
    return [(points.number, len(points.items)) for points in point_queries.points_of(project)[:MOST_POINTS]]


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
        "dead": dead_rows(run, dead[:N_DEAD]),
        "has_predictions": project.kind == KIND and predicts(run) and not run.is_proof,
        "has_more_dead": len(dead) > N_DEAD,
        "settings": list(settings_shown(run.judge.settings)),
        "can_be_sealed": progress.state == "done" and jury_sealing.can_be_sealed(run),
        **(asked_of(run) if run.endpoint_id else {}),
    }


def settings_shown(settings):
    """Those of an endpoint one by one, under its own names."""
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from ((f"{name}: {part}", shown(one)) for part, one in value.items() if one not in ("", None))
        elif value not in ([], "", None):
            yield name, shown(value)


def asked_of(run: Run) -> dict[str, object]:
    """What a run has asked so far: two statements, however many calls there are."""
    asked = call_queries.asked_by([run.pk])[run.pk]
    ids = [row for languages in run.prompts.values() for row in languages.values()]
    return {
        "asked": asked,
        "caps": Cap(run.cap_calls, run.cap_tokens, run.cap_cost),
        "held_for": running.problem_of(run.held_for).as_dict(gettext) if run.held_for else None,
        "is_over_cap": bool(run.held_for) and run.held_for["code"] == "cap_reached",
        "is_pasted": run.endpoint.provider == Endpoint.Provider.PASTED,
        "prompts": call_queries.prompts_of(run.project, ids),
    }


def dead_rows(run: Run, dead) -> list[tuple[queries.DeadJob, str]]:
    """What was given up with its reason, which of a call is what the endpoint said."""
    failed = call_queries.failed_calls(run, [job.item for job in dead]) if run.endpoint_id and dead else {}
    return [(job, sentence_of(job, failed.get(job.item))) for job in dead]


def sentence_of(job: queries.DeadJob, call: Call | None) -> str:
    if call is None or job.sentence != running.CALL_FAILED or not call.error:
        return gettext(job.sentence)
    problem = running.problem_of(call.error).as_dict(gettext)
    return f"{problem['expected']} {problem['remedy']}"


def shown(value) -> str:
    """A setting as it is read: names of a list by commas."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def turned(request, project, number, act, **options) -> HttpResponse:
    """Do it if it still goes; the page then says how things stand."""
    project = led_project(request, project)
    run, problem = run_called(project, number), None
    try:
        act(person=request.user, run=run, **{name: read() for name, read in options.items()})
    except NotYours:
        raise Http404 from None
    except Refused as refusal:
        problem = refusal.problem
    if request.htmx or problem:
        run = run_called(project, number)
        context = {**page_of(project, run), "is_piece": request.htmx, "problem": problem and problem.as_dict(gettext)}
        template = "scoring/_run.html" if request.htmx else "scoring/show_run.html"
        return render(request, template, context, status=422 if problem else 200)
    return redirect(reverse("scoring:show_run", args=[project.slug, number]))


@require_POST
def pause_run(request, project, number):
    return turned(request, project, number, running.pause_run)


@require_POST
def resume_run(request, project, number):
    """With a cap under that one from now on."""
    options = {"cap": lambda: cap_from(request.POST)} if "cap_calls" in request.POST else {}
    return turned(request, project, number, running.resume_run, **options)


@require_POST
def cancel_run(request, project, number):
    return turned(request, project, number, running.cancel_run)


@require_POST
def try_run_again(request, project, number):
    """What was given up waits for a worker again."""
    return turned(request, project, number, running.try_again)
