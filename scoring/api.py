"""The lead's figures as JSON: the same report as the page and the command."""

from rest_framework import serializers

from annotate.api.errors import BadRequest
from annotate.api.fields import Digits, Text
from annotate.api.operations import LEADS, operation
from annotate.api.project import led_project
from annotate.api.reading import Query
from annotate.errors import Refused
from scoring.comparing import PHASES
from scoring.reports import shown_report

OF_THE_QUERY = ("measure", "protocol", "run", "round", "language", "area", "cluster")


class AgreementQuery(Query):
    phase = serializers.ChoiceField(PHASES, default="main", help_text="The pilot is no result.")
    measure = Text(required=False, help_text="One of the kind's measures; all of them without.")
    protocol = Digits(
        required=False, min_value=1, max_value=2**31 - 1, help_text="The newest that has labels without."
    )
    run = Digits(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        help_text="Of a judge; the newest with verdicts of the phase without.",
    )
    round = Digits(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        help_text="One round by itself; informed ones are no agreement of independent labels. All blind ones without.",
    )
    language = Text(required=False, help_text="Only items whose trace has this language.")
    area = Text(required=False, help_text="Only items whose trace has this area.")
    cluster = Text(required=False, help_text="Only items of this cluster.")


class ProtocolLabelsSerializer(serializers.Serializer):
    protocol = serializers.IntegerField()
    n_labels = serializers.IntegerField()


class PartialRaterSerializer(serializers.Serializer):
    """Somebody who left before all was labelled."""

    rater = serializers.CharField()
    n_submitted = serializers.IntegerField()
    n_given = serializers.IntegerField()


class MeasureSerializer(serializers.Serializer):
    measure = serializers.CharField()
    agreement = serializers.DictField(help_text="Figures with their intervals, or the reason why there is none.")
    judge = serializers.DictField(allow_null=True, help_text="The run against the majority of people.")


class SetMeasureSerializer(serializers.Serializer):
    """A measure of what people name from no list: each pair of them by what both named."""

    measure = serializers.CharField()
    title = serializers.CharField()
    agreement = serializers.DictField(help_text="The mean over pairs and each pair, with intervals or a reason.")
    judge = serializers.DictField(allow_null=True, help_text="The run with each annotator.")


class ComparedRunSerializer(serializers.Serializer):
    """The run whose verdicts are compared; of several samples the first."""

    number = serializers.IntegerField()
    judge = serializers.CharField()
    version = serializers.CharField()
    n_samples = serializers.IntegerField()
    sample = serializers.IntegerField()


class AgreementSerializer(serializers.Serializer):
    """Human agreement of one phase under one protocol, and a judge beside it."""

    project = serializers.CharField()
    phase = serializers.ChoiceField(PHASES)
    is_synthetic = serializers.BooleanField()
    is_result = serializers.BooleanField()
    open_lead = serializers.BooleanField()
    round = serializers.IntegerField(allow_null=True)
    is_informed = serializers.BooleanField()
    protocol = serializers.IntegerField(allow_null=True)
    protocols = ProtocolLabelsSerializer(many=True)
    partial_raters = PartialRaterSerializer(many=True)
    filters = serializers.DictField(child=serializers.CharField())
    run = ComparedRunSerializer(allow_null=True)
    left_out = serializers.DictField(child=serializers.IntegerField())
    measures = MeasureSerializer(many=True)
    sets = SetMeasureSerializer(many=True, required=False, help_text="Only of kinds that have such measures.")


@operation(
    "GET",
    audience=LEADS,
    summary="Agreement between people",
    query=AgreementQuery,
    answers={200: AgreementSerializer},
    refusals=(409,),
)
def show_agreement(request, project, query):
    """409 where the stored labels make no table."""
    try:
        return shown_report(led_project(request, project), **query).report.as_dict()
    except Refused as refusal:
        status = 400 if refusal.problem.field in OF_THE_QUERY else 409
        raise BadRequest(refusal.problem, status=status) from None
