"""A lead's pages of endpoints: the list, one of them with what may be changed, and trying it."""

from django.http import Http404
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate.errors import NotYours, Refused
from annotate.models import Project
from annotate.views.project import led_project, title_of
from scoring import endpoints
from scoring.endpoint_forms import EndpointForm
from scoring.endpoint_keys import is_set
from scoring.endpoint_queries import archived_endpoints_of, endpoint_in_use, endpoints_of
from scoring.endpoints import Tried
from scoring.models import Endpoint

N_ARCHIVED = 25
LONGEST_SHOWN = 2000


@require_safe
def list_endpoints(request, project):
    """Those in use, and the last ones that were archived."""
    project = led_project(request, project)
    context = {
        "project": project,
        "title": title_of(project),
        "endpoints": endpoints_of(project),
        "archived": archived_endpoints_of(project)[:N_ARCHIVED],
    }
    return render(request, "scoring/list_endpoints.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new_endpoint(request, project):
    project = led_project(request, project)
    form = EndpointForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            made = endpoints.make_endpoint(
                person=request.user, project=project, values=form.values(), key=form.cleaned_data["key"]
            )
            return redirect("scoring:show_endpoint", project=project.slug, endpoint_id=made.pk)
        except NotYours:
            raise Http404 from None
        except Refused as refusal:
            form.refuse(refusal)
    context = {"project": project, "title": title_of(project), "form": form}
    return render(request, "scoring/new_endpoint.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def show_endpoint(request, project, endpoint_id):
    """One endpoint: what it is set to, which is changed by a post."""
    endpoint = endpoint_of(request, project, endpoint_id)
    form = EndpointForm(request.POST if request.method == "POST" else None, endpoint=endpoint)
    if form.is_bound and form.is_valid():
        try:
            endpoints.change_endpoint(
                person=request.user, endpoint=endpoint, values=form.values(), key=form.cleaned_data["key"]
            )
            return redirect("scoring:show_endpoint", project=endpoint.project.slug, endpoint_id=endpoint.pk)
        except NotYours:
            raise Http404 from None
        except Refused as refusal:
            form.refuse(refusal)
    context = page_of(endpoint.project, endpoint, form)
    return render(request, "scoring/show_endpoint.html", context, status=422 if form.errors else 200)


def endpoint_of(request, project, endpoint_id: int) -> Endpoint:
    project = led_project(request, project)
    endpoint = endpoint_in_use(project, endpoint_id)
    if endpoint is None:
        raise Http404
    endpoint.project = project
    return endpoint


def page_of(project: Project, endpoint: Endpoint, form: EndpointForm, tried: Tried | None = None) -> dict[str, object]:
    return {
        "project": project,
        "title": title_of(project),
        "endpoint": endpoint,
        "form": form,
        "key_words": key_words(endpoint),
        "can_be_tried": endpoint.provider == Endpoint.Provider.OPENAI,
        "is_pasted": endpoint.provider == Endpoint.Provider.PASTED,
        "tried": tried,
        "problem": tried and tried.problem and tried.problem.as_dict(gettext),
        "answer": tried and tried.reply and tried.reply.text[:LONGEST_SHOWN],
    }


def key_words(endpoint: Endpoint) -> str:
    """How it stands with the key, of which nothing is told."""
    if endpoint.key_source == Endpoint.KeySource.STORED:
        return gettext("A key is stored, encrypted.")
    if endpoint.key_source == Endpoint.KeySource.NONE:
        return gettext("No key is sent.")
    if is_set(endpoint.key_variable):
        return gettext("%(variable)s is set on this server.") % {"variable": endpoint.key_variable}
    return gettext("%(variable)s is not set on this server.") % {"variable": endpoint.key_variable}


@require_POST
def archive_endpoint(request, project, endpoint_id):
    """For good; what was asked there stays."""
    endpoint = endpoint_of(request, project, endpoint_id)
    try:
        endpoints.archive_endpoint(person=request.user, endpoint=endpoint, now=timezone.now())
    except NotYours:
        raise Http404 from None
    return redirect("scoring:list_endpoints", project=endpoint.project.slug)


@require_POST
def try_endpoint(request, project, endpoint_id):
    """One small question, and what came of it."""
    endpoint = endpoint_of(request, project, endpoint_id)
    try:
        tried = endpoints.try_endpoint(person=request.user, endpoint=endpoint)
    except NotYours:
        raise Http404 from None
    if request.htmx:
        context = page_of(endpoint.project, endpoint, None, tried)
        return render(request, "scoring/_tried.html", context)
    context = page_of(endpoint.project, endpoint, EndpointForm(endpoint=endpoint), tried)
    return render(request, "scoring/show_endpoint.html", context)
