"""The lead's pages of a project: making one, how far it is, its settings, opening the next phase."""

from django.http import Http404
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language, gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import assigning, lead_queries, pool_queries, pools, setting_up
from annotate.errors import Refused
from annotate.kinds.registry import all_kinds, kind_of
from annotate.models import Assigning, Phase, Project
from annotate.project_forms import NewProjectForm, SettingsForm, first_values, typed_values
from annotate.rules.next_steps import before_opening, may_close_to, next_steps
from annotate.rules.plans import PHASES
from annotate.views.label import own
from annotate.views.label_schemas import is_drawn_again, made_labels, read_names


def led_project(request, slug) -> Project:
    """A project the person leads; the one 404 for any other."""
    project = lead_queries.led_projects(request.user).filter(slug=slug).first()
    if project is None:
        raise Http404
    return project


def title_of(project: Project) -> str:
    return project.title_zh if get_language() == "zh-hans" else project.title_en


def sentence(step) -> str:
    return gettext(step.words) % step.params


@require_http_methods(["GET", "HEAD", "POST"])
def new_project(request):
    """Who may create projects makes one, and leads it."""
    if not request.user.may_create_projects:
        raise Http404
    post = request.POST if request.method == "POST" and request.POST else None
    chosen = first_values()["kind"] if post is None else post.get("kind", "")
    labels = made_labels(all_kinds().get(chosen), post, None)
    if post is not None and (is_drawn_again(post) or (labels is not None and labels.is_new)):
        form = NewProjectForm(initial={**first_values(), **typed_values(post)})
        return render(request, "annotate/new_project.html", {"form": form, "labels": labels})
    form = NewProjectForm(post, initial=first_values())
    read_names(form, labels, None)
    if post is not None and form.is_valid() and (labels is None or labels.schema is not None):
        new = form.new_project(labels and labels.schema)
        try:
            project = setting_up.create_project(new=new, by=request.user, now=timezone.now())
            return redirect("annotate:show_project", project=project.slug)
        except Refused as refusal:
            form.refuse(refusal)
    is_wrong = bool(form.errors or (labels and labels.problems))
    context = {"form": form, "labels": labels}
    return render(request, "annotate/new_project.html", context, status=422 if is_wrong else 200)


@require_safe
def show_project(request, project):
    project = led_project(request, project)
    return render(request, "annotate/show_project.html", overview(project))


def overview(project: Project) -> dict[str, object]:
    """How far a project is, and what its lead does next."""
    phases = lead_queries.phase_counts(project)
    members = lead_queries.people_and_given(project)
    n_annotators = sum(assigning.labels_in(member, project) for member, _ in members)
    steps = next_steps(
        phases, open_phase=project.open_phase, n_annotators=n_annotators, items_are=where_items_come_from(project)
    )
    return {
        "project": project,
        "title": title_of(project),
        "steps": [{"code": step.code, "is_done": step.is_done, "words": sentence(step)} for step in steps],
        "next": next((step.code for step in steps if not step.is_done), None),
        "phases": [phase_row(phases, counts, project.open_phase) for counts in phases],
        "members": members,
        "batches": lead_queries.batches_of(project),
        "problems": lead_queries.problem_reports(project),
        "pool": pool_of(project),
    }


def where_items_come_from(project: Project) -> str:
    if kind_of(project.kind).ask is not None:
        return "published"
    return "drawn" if project.assigning == Assigning.PAIRS else "imported"


def pool_of(project: Project) -> dict[str, object] | None:
    """How far a pool is; None where everybody has a plan."""
    if project.assigning != Assigning.POOL:
        return None
    phases = [{"name": Phase(one.phase).label, "state": one} for one in pool_queries.pool_state(project)]
    return {"phases": phases, "minutes": pools.minutes(project.lease)}


def phase_row(phases, counts, open_phase) -> dict[str, object]:
    """A phase with its counts, and what a lead can do to it: open it, or close what is open beyond it."""
    place, furthest = PHASES.index(counts.phase), PHASES.index(open_phase)
    may_open = place > furthest
    return {
        "counts": counts,
        "name": Phase(counts.phase).label,
        "is_open": place <= furthest,
        "may_open": may_open,
        "may_close": place < furthest and may_close_to(phases, counts.phase),
        "warnings": [sentence(step) for step in before_opening(phases, counts.phase)] if may_open else [],
    }


@require_POST
@own
def open_phase(request, project):
    """Annotators may go as far as the phase that was posted."""
    project = led_project(request, project)
    phase = request.POST.get("phase", "")
    try:
        setting_up.open_phase(project=project, phase=phase, by=request.user, now=timezone.now())
    except Refused as refusal:
        context = {**overview(project), "problem": refusal.problem.as_dict(gettext)}
        return render(request, "annotate/show_project.html", context, status=422)
    return redirect("annotate:show_project", project=project.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@own
def edit_project(request, project):
    """The settings of a project, with what cannot be changed and why."""
    project = led_project(request, project)
    form = SettingsForm(request.POST or None, project=project, has_traces=lead_queries.has_traces(project))
    if request.method == "POST" and form.is_valid():
        try:
            setting_up.update_project(project=project, new=form.settings(), by=request.user, now=timezone.now())
            return redirect("annotate:show_project", project=project.slug)
        except Refused as refusal:
            form.refuse(refusal)
    context = {"project": project, "title": title_of(project), "kind": kind_of(project.kind), "form": form}
    return render(request, "annotate/edit_project.html", context, status=422 if form.errors else 200)


@require_POST
def give_back(request, project, assignment_id):
    project = led_project(request, project)
    try:
        assigning.give_back(lead=request.user, project=project, assignment_id=assignment_id)
    except Refused as refusal:
        context = {**overview(project), "problem": refusal.problem.as_dict(gettext)}
        return render(request, "annotate/show_project.html", context, status=422)
    return redirect("annotate:show_project", project=project.slug)
