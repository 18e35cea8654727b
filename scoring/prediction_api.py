"""Predictions of jury and detectors against the gold, over the API."""

from rest_framework import serializers

from annotate.api.errors import BadRequest
from annotate.api.fields import Digits, Switch, Text
from annotate.api.operations import LEADS, operation
from annotate.api.pages import PageQuery, page_of, page_serializer
from annotate.api.project import led_project
from annotate.errors import NotYours, Refused
from scoring.comparing import PHASES
from scoring.methods.redundancy_schema import TYPES
from scoring.prediction_matches import STATES
from scoring.predictions import KIND, Asked, predictions

MOST = 2**31 - 1
FILTERS = ("run", "release", "phase", "state", "type", "domain", "jury_gold")


class PredictionQuery(PageQuery):
    run = Digits(required=False, min_value=1, max_value=MOST, help_text="Of a judge; the newest without.")
    release = Digits(required=False, min_value=1, max_value=MOST, help_text="The gold; the report's without.")
    phase = serializers.ChoiceField(PHASES, default="main")
    state = serializers.ChoiceField(tuple(STATES), required=False, help_text="How it stands to the gold.")
    type = serializers.ChoiceField(TYPES, required=False, help_text="Of the prediction or of the gold.")
    domain = Text(required=False)
    jury_gold = Switch(default=False, help_text="What a jury agreed on is gold where experts ended nothing.")


class PredictionSerializer(serializers.Serializer):
    """A prediction against the gold, or a gold step that was missed."""

    item = serializers.IntegerField()
    trace = serializers.CharField()
    domain = serializers.CharField()
    provenance = serializers.CharField(allow_null=True, help_text="Whose the gold is: experts or jury.")
    state = serializers.ChoiceField(tuple(STATES))
    step = serializers.ListField(child=serializers.IntegerField(), allow_null=True, help_text="Message indexes.")
    rank = serializers.IntegerField(allow_null=True, help_text="By confidence, from 1.")
    type = serializers.CharField(allow_null=True)
    gold_type = serializers.CharField(allow_null=True)
    same_type = serializers.BooleanField(allow_null=True)
    evidence = serializers.ListField(child=serializers.IntegerField(), allow_null=True)
    gold_evidence = serializers.ListField(child=serializers.IntegerField(), allow_null=True)
    same_evidence = serializers.BooleanField(allow_null=True)
    confidence = serializers.FloatField(allow_null=True)


@operation(
    "GET",
    audience=LEADS,
    summary="The predictions of a run against the gold",
    query=PredictionQuery,
    answers={200: page_serializer(PredictionSerializer)},
)
def list_predictions(request, project, query):
    """Of projects of redundant steps; by item, and within one as the judge has them."""
    project = led_project(request, project)
    if project.kind != KIND:
        raise NotYours
    asked = Asked(**{name: query[name] for name in FILTERS if name in query})
    try:
        rows = predictions(project, asked).rows
    except Refused as refusal:
        raise BadRequest(refusal.problem) from None

    def fetch(behind, limit):
        start = behind or 0
        return [Row(one) for one in rows[start : start + limit]]

    return page_of(fetch, query, name=f"predictions {project.slug} {asked}")


class Row:
    """A prediction under the number that pages go on from."""

    def __init__(self, prediction):
        self.__dict__.update(prediction.as_dict())
        self.id = prediction.id
