"""Runs of judges over the API: the list, starting one, how far it is, and holding or calling it off."""

from django.urls import reverse
from rest_framework import serializers

from annotate.api.fields import Choice, Many, Moment, Named, Text, Whole
from annotate.api.operations import LEADS, Answer, operation
from annotate.api.pages import Page, PageQuery, page_of, page_serializer
from annotate.api.project import led_project
from annotate.api.reading import read_body
from annotate.errors import NotYours, Refused
from annotate.models import Phase
from annotate.traces.base import Problem, gettext_noop
from scoring import queries, running

STATES = ("running", "paused", "cancelled", "done")
TURNS = {"paused": running.pause_run, "running": running.resume_run, "cancelled": running.cancel_run}
"""What a script may ask a run to be, and who does it."""


class RunProgressSerializer(serializers.Serializer):
    """Counts jobs, one an item and sample; answers that could not be read are done."""

    state = serializers.ChoiceField(STATES)
    n_items = serializers.IntegerField()
    n_done = serializers.IntegerField()
    n_unreadable = serializers.IntegerField()
    n_dead = serializers.IntegerField(help_text="Given up; no verdict.")
    n_left = serializers.IntegerField()


class RunSerializer(serializers.Serializer):
    number = serializers.IntegerField()
    judge = serializers.CharField(source="judge.name")
    version = serializers.CharField(help_text="Of the judge's code.")
    settings = serializers.DictField(source="judge.settings")
    phases = serializers.ListField(child=serializers.ChoiceField(Phase.values))
    n_samples = serializers.IntegerField()
    started_at = Moment()
    ended_at = Moment(allow_null=True)
    progress = RunProgressSerializer()


class StartBody(serializers.Serializer):
    judge = Text(max_length=40)
    phases = Many(child=Choice(Phase.values), required=False, default=["main"], allow_empty=False)
    settings = Named(required=False, default=dict, help_text="Those of the judge; its own without.")
    n_samples = Whole(required=False, default=1, min_value=1, max_value=running.MOST_SAMPLES)


class TurnBody(serializers.Serializer):
    state = Choice(list(TURNS), help_text="`running` resumes one that is paused.")


def run_called(request, project, number):
    found = queries.runs_of(led_project(request, project)).filter(number=number).first() if number < 2**31 else None
    if found is None:
        raise NotYours
    return found


def with_progress(runs):
    progress = running.progress_of(runs)
    for run in runs:
        run.progress = progress[run.pk]
    return runs


@operation(
    "GET",
    audience=LEADS,
    summary="Runs of judges, newest first",
    query=PageQuery,
    answers={200: page_serializer(RunSerializer)},
)
def list_runs(request, project, query):
    project = led_project(request, project)

    def fetch(behind, limit):
        rows = queries.runs_of(project)
        return (rows if behind is None else rows.filter(pk__lt=behind))[:limit]

    page = page_of(fetch, query, name=f"runs {project.slug}")
    return Page(with_progress(page.rows), page.next)


@operation("POST", audience=LEADS, summary="Start a run of a judge", body=StartBody, answers={201: RunSerializer})
def start_run(request, project):
    """Every item of the phases is judged in the background; the answer says where to look how far it is."""
    project, body = led_project(request, project), read_body(StartBody, request.data)
    run = running.start_run(person=request.user, project=project, **body)
    address = reverse("scoring:api_run", args=[project.slug, run.number])
    return Answer(with_progress([run])[0], 201, {"Location": address})


@operation("GET", audience=LEADS, summary="How far a run is", answers={200: RunSerializer})
def show_run(request, project, number):
    return with_progress([run_called(request, project, number)])[0]


@operation(
    "PATCH", audience=LEADS, summary="Pause, resume or call off a run", body=TurnBody, answers={200: RunSerializer}
)
def change_run(request, project, number):
    """What is judged by then stays. 422 for a run that is through or was called off."""
    run, state = run_called(request, project, number), read_body(TurnBody, request.data)["state"]
    is_turned = TURNS[state](person=request.user, run=run)
    run = with_progress([run_called(request, project, number)])[0]
    if not is_turned and run.progress.state != state:
        raise Refused(IS_OVER)
    return run


IS_OVER = Problem(
    code="is_over",
    field="state",
    expected=gettext_noop("A run that is not through yet and was not called off."),
    remedy=gettext_noop("Start another run."),
)
