"""Experience replays over the API: outcomes that are brought in, and workflows that go out."""

from dataclasses import replace

from rest_framework import serializers

from annotate.api.errors import BadRequest
from annotate.api.fields import Many, Moment, Named, Text
from annotate.api.operations import LEADS, Answer, operation
from annotate.api.pages import PageQuery, page_of, page_serializer
from annotate.api.project import led_project
from annotate.api.reading import read_body
from annotate.errors import NotYours, Refused
from annotate.traces.base import Place
from annotate.traces.documents import Document
from scoring import experience, experience_queries
from scoring.methods.records import RecordsRefused

MOST_OUTCOMES = 10_000


class BatchSerializer(serializers.Serializer):
    """A file of outcomes."""

    id = serializers.IntegerField()
    name = serializers.CharField(source="file_name")
    about = serializers.CharField(help_text="What the file says of itself.")
    is_synthetic = serializers.BooleanField()
    n_outcomes = serializers.IntegerField(help_text="Those that were new.")
    created_at = Moment()


class BroughtInSerializer(serializers.Serializer):
    n_new = serializers.IntegerField()
    n_present = serializers.IntegerField(help_text="There already, just so.")


class OutcomesBody(serializers.Serializer):
    outcomes = Many(
        child=Named(),
        max_length=MOST_OUTCOMES,
        help_text="Objects of `domain`, `task`, `repeat`, `condition`, `success` and `tokens`, as in a file.",
    )
    name = Text(default="API", max_length=200, help_text="Of where they come from.")


class WorkflowSerializer(serializers.Serializer):
    """What a model made of a trajectory."""

    run = serializers.IntegerField()
    item = serializers.IntegerField()
    sample = serializers.IntegerField()
    trajectory = serializers.CharField(help_text="The id that the trace had in its file.")
    domain = serializers.CharField(allow_blank=True)
    task = serializers.CharField(help_text="The cluster of the trace.")
    success = serializers.BooleanField(allow_null=True, help_text="Null where the file does not say.")
    condition = serializers.ChoiceField(("original", "llm", "gold"))
    removed = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField()), help_text="The steps that were taken out."
    )
    n_steps = serializers.IntegerField(help_text="Of the agent, before any was taken out.")
    model = serializers.CharField(allow_blank=True, help_text="That wrote the workflow.")
    workflow = serializers.CharField()


@operation(
    "GET",
    audience=LEADS,
    summary="Files of outcomes, newest first",
    query=PageQuery,
    answers={200: page_serializer(BatchSerializer)},
)
def list_outcomes(request, project, query):
    project = led_replays(request, project)

    def fetch(behind, limit):
        rows = experience_queries.batches_of(project)
        return (rows if behind is None else rows.filter(pk__lt=behind))[:limit]

    return page_of(fetch, query, name=f"outcomes {project.slug}")


@operation(
    "POST", audience=LEADS, summary="Bring outcomes in", body=OutcomesBody, answers={201: BroughtInSerializer}
)
def import_outcomes(request, project):
    """All of them or none. The same ones again add nothing; one that contradicts an earlier one is refused."""
    body, project = read_body(OutcomesBody, request.data), led_replays(request, project)
    documents = [Document(one, Place(prefix=f"/outcomes/{number}")) for number, one in enumerate(body["outcomes"])]
    try:
        brought = experience.import_outcomes(
            person=request.user, project=project, documents=documents, file_name=body["name"]
        )
    except RecordsRefused as error:
        raise BadRequest(*(in_the_body(one) for one in error.problems), status=422) from None
    return Answer(brought, 201)


def in_the_body(problem):
    return problem if problem.pointer else replace(problem, pointer="/outcomes")


@operation(
    "GET",
    audience=LEADS,
    summary="The workflows that a run has written",
    query=PageQuery,
    answers={200: page_serializer(WorkflowSerializer)},
)
def list_workflows(request, project, number, query):
    """In the order in which they were written."""
    project = led_replays(request, project)
    try:
        run = experience.workflow_run(project, number)
    except Refused:
        raise NotYours from None

    def fetch(behind, limit):
        return [Written(one) for one in experience_queries.workflows_of(run, behind=behind or 0, limit=limit)]

    return page_of(fetch, query, name=f"workflows {run.pk}")


class Written:
    """A workflow with the number that pages go on from."""

    def __init__(self, values):
        self.__dict__.update(values)


def led_replays(request, slug):
    project = led_project(request, slug)
    if project.kind != experience.KIND:
        raise NotYours
    return project
