"""Runs of judges over the API: the list, starting one, how far it is, and holding or calling it off."""

from decimal import Decimal

from django.urls import reverse
from django.utils.translation import gettext
from rest_framework import serializers

from annotate.api.fields import Choice, Digits, Flag, Many, Moment, Named, Switch, Text, Whole
from annotate.api.operations import LEADS, Answer, ProblemSerializer, operation
from annotate.api.pages import Page, PageQuery, page_of, page_serializer
from annotate.api.project import led_project
from annotate.api.reading import Query, read_body
from annotate.errors import NotYours, Refused
from annotate.models import Phase
from annotate.traces.base import Problem, gettext_noop
from scoring import call_queries, estimating, queries, running
from scoring.asking import Cap
from scoring.running import Asking

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


class AskedSerializer(serializers.Serializer):
    """What a run asked its model so far."""

    n_calls = serializers.IntegerField(help_text="Answered ones.")
    n_copied = serializers.IntegerField(help_text="Recorded answers to equal questions that were used again.")
    n_waiting = serializers.IntegerField()
    n_under_way = serializers.IntegerField()
    n_failed = serializers.IntegerField()
    n_requests = serializers.IntegerField(help_text="All that was sent; the cap on calls counts these.")
    n_lost = serializers.IntegerField(help_text="Requests whose end nobody saw; they may have been charged.")
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True, help_text="By the prices of the endpoint.")


class EstimateSerializer(serializers.Serializer):
    """What a run that asks would take; calls and tokens are reckoned from the first questions about some items."""

    n_judgments = serializers.IntegerField()
    n_looked_at = serializers.IntegerField(help_text="Items whose first question was put into words.")
    n_calls = serializers.IntegerField()
    n_stored = serializers.IntegerField(help_text="First questions with a recorded answer, in proportion.")
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True)
    is_measured = serializers.BooleanField(help_text="By earlier runs of this judge with this model.")


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
    endpoint = serializers.CharField(source="endpoint.name", default=None, allow_null=True)
    points = serializers.IntegerField(
        source="points.number", default=None, allow_null=True, help_text="Reply points that it was started over."
    )
    prompts = serializers.DictField(help_text="Versions by key and language.")
    reuse = serializers.BooleanField()
    is_proof = serializers.BooleanField(help_text="A proof of the wire: its verdicts are in no report.")
    cap_calls = serializers.IntegerField(allow_null=True)
    cap_tokens = serializers.IntegerField(allow_null=True)
    cap_cost = serializers.FloatField(allow_null=True)
    held_for = ProblemSerializer(allow_null=True, help_text="Why it was held without anybody asking for it.")
    asked = AskedSerializer(allow_null=True)


class Amount(serializers.FloatField):
    """A sum of money."""

    said = "number"

    def to_internal_value(self, data):
        if type(data) not in (int, float):
            self.fail("invalid")
        return Decimal(str(super().to_internal_value(data)))


class CapBody(serializers.Serializer):
    """Runs that ask a model have one bound at least."""

    cap_calls = Whole(required=False, default=None, min_value=1, max_value=2**31 - 1, help_text="Most requests.")
    cap_tokens = Whole(required=False, default=None, min_value=1, max_value=2**53, help_text="Most, in and out.")
    cap_cost = Amount(required=False, default=None, min_value=0, max_value=10**7, help_text="Most cost.")


class StartBody(CapBody):
    judge = Text(max_length=40)
    phases = Many(child=Choice(Phase.values), required=False, default=["main"], allow_empty=False)
    settings = Named(required=False, default=dict, help_text="Those of the judge; its own without.")
    n_samples = Whole(required=False, default=1, min_value=1, max_value=running.MOST_SAMPLES)
    points = Whole(
        required=False,
        default=None,
        min_value=1,
        max_value=2**31 - 1,
        help_text="Number of reply points, judged in place of phases.",
    )
    endpoint = Text(required=False, default=None, max_length=60, help_text="Its name; for judges that ask a model.")
    reuse = Flag(required=False, default=True, help_text="Use recorded answers to equal questions.")
    prompts = Named(
        required=False,
        default=dict,
        child=Named(child=Whole(min_value=1, max_value=2**31 - 1)),
        help_text="Numbers of versions by key and language; the newest without.",
    )


class EstimateQuery(Query):
    judge = Text(max_length=40)
    endpoint = Text(max_length=60)
    phase = Choice(Phase.values, required=False, default="main")
    n_samples = Digits(required=False, default=1, min_value=1, max_value=running.MOST_SAMPLES)
    reuse = Switch(required=False, default=True)
    points = Digits(required=False, default=None, min_value=1, max_value=2**31 - 1, help_text="In place of a phase.")


class TurnBody(CapBody):
    """With `running` a bound may come along, and the run goes on under it."""

    state = Choice(list(TURNS), help_text="`running` resumes one that is paused.")


def run_called(request, project, number):
    found = queries.runs_of(led_project(request, project)).filter(number=number).first() if number < 2**31 else None
    if found is None:
        raise NotYours
    return found


def with_progress(runs):
    progress = running.progress_of(runs)
    asked = call_queries.asked_by([run.pk for run in runs if run.endpoint_id])
    for run in runs:
        run.progress, run.asked = progress[run.pk], asked.get(run.pk)
        if run.held_for:
            run.held_for = running.problem_of(run.held_for).as_dict(gettext)
    return runs


def asking_of(body):
    """How a run is to ask, from what a body says of it; None where it says nothing."""
    endpoint, cap, reuse, prompts = body.pop("endpoint"), cap_of(body), body.pop("reuse"), body.pop("prompts")
    is_said = endpoint is not None or cap.is_there() or prompts
    return Asking(endpoint or "", cap, reuse, prompts) if is_said else None


def cap_of(body):
    return Cap(*(body.pop(name) for name in ("cap_calls", "cap_tokens", "cap_cost")))


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
    run = running.start_run(person=request.user, project=project, asking=asking_of(body), **body)
    address = reverse("scoring:api_run", args=[project.slug, run.number])
    return Answer(with_progress([run])[0], 201, {"Location": address})


@operation(
    "GET",
    audience=LEADS,
    summary="What a run of a judge that asks a model would take",
    query=EstimateQuery,
    answers={200: EstimateSerializer},
    refusals=(422,),
)
def estimate_run(request, project, query):
    """Nothing is sent or written."""
    project = led_project(request, project)
    values = {**query, "phases": [query["phase"]]}
    del values["phase"]
    return estimating.estimate_run(person=request.user, project=project, **values)


@operation("GET", audience=LEADS, summary="How far a run is", answers={200: RunSerializer})
def show_run(request, project, number):
    return with_progress([run_called(request, project, number)])[0]


@operation(
    "PATCH", audience=LEADS, summary="Pause, resume or call off a run", body=TurnBody, answers={200: RunSerializer}
)
def change_run(request, project, number):
    """What is judged by then stays. 422 for a run that is through or was called off."""
    run, body = run_called(request, project, number), read_body(TurnBody, request.data)
    state, cap = body["state"], cap_of(body)
    more = {"cap": cap} if cap.is_there() and state == "running" else {}
    is_turned = TURNS[state](person=request.user, run=run, **more)
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
