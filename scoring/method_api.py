"""The report of a project's method as JSON: the same as the page, the command and the file."""

from rest_framework import serializers

from annotate.api.errors import BadRequest
from annotate.api.fields import Digits
from annotate.api.operations import LEADS, operation
from annotate.api.project import led_project
from annotate.api.reading import Query
from annotate.errors import Refused
from scoring.api import PartialRaterSerializer
from scoring.comparing import PHASES
from scoring.method_paragraph import report_json
from scoring.method_reports import shown_method

HIGHEST = 2**31 - 1


class MethodQuery(Query):
    phase = serializers.ChoiceField(PHASES, default="main", help_text="The pilot is no result.")
    protocol = Digits(
        required=False, min_value=1, max_value=HIGHEST, help_text="The newest that has labels without."
    )
    run = Digits(
        required=False,
        min_value=1,
        max_value=HIGHEST,
        help_text="Of the reader, or of the jury; its newest of the phase without.",
    )
    checker_run = Digits(
        required=False, min_value=1, max_value=HIGHEST, help_text="Of the checker; its newest of the phase without."
    )


class JudgedBySerializer(serializers.Serializer):
    """A run that the report rests on."""

    number = serializers.IntegerField()
    judge = serializers.CharField()
    version = serializers.CharField()
    n_samples = serializers.IntegerField()
    model = serializers.CharField(allow_blank=True)
    n_left = serializers.IntegerField(help_text="Verdicts that are waited for.")
    n_dead = serializers.IntegerField(help_text="Given up; they count as errors.")


class MethodTableSerializer(serializers.Serializer):
    """Figures that stand together in `rows`; a table of counts has `counts` with names of rows and columns instead."""

    name = serializers.CharField()
    title = serializers.CharField()
    notes = serializers.ListField(child=serializers.CharField())
    rows = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="Figures with their intervals, or the reason why there is none.",
    )
    rows_are = serializers.CharField(required=False)
    columns_are = serializers.CharField(required=False)
    row_names = serializers.ListField(child=serializers.CharField(), required=False)
    column_names = serializers.ListField(child=serializers.CharField(), required=False)
    counts = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()), required=False)


class MethodReportSerializer(serializers.Serializer):
    """Every table of the method of the project's kind that its labels and verdicts can fill."""

    project = serializers.CharField()
    report = serializers.IntegerField(help_text="Number of the kept report.")
    phase = serializers.ChoiceField(PHASES)
    is_synthetic = serializers.BooleanField()
    open_lead = serializers.BooleanField()
    protocol = serializers.IntegerField(allow_null=True)
    protocols = serializers.ListField(child=serializers.IntegerField())
    n_problems = serializers.IntegerField(help_text="Items that were reported as a problem and are left out.")
    partial_raters = PartialRaterSerializer(many=True)
    reader = JudgedBySerializer(allow_null=True)
    checker = JudgedBySerializer(allow_null=True)
    jury = JudgedBySerializer(allow_null=True)
    method = serializers.CharField()
    title = serializers.CharField()
    settings = serializers.DictField(help_text="Every parameter in force.")
    n_records = serializers.DictField(child=serializers.IntegerField())
    notes = serializers.ListField(child=serializers.CharField())
    tables = MethodTableSerializer(many=True)
    paragraphs = serializers.DictField(
        child=serializers.CharField(), help_text="For the methods section of a paper, by language."
    )


@operation(
    "GET",
    audience=LEADS,
    summary="The tables of the project's method",
    query=MethodQuery,
    answers={200: MethodReportSerializer},
    refusals=(409,),
)
def show_method_report(request, project, query):
    """409 for a kind without a method, and where the stored rows make no records."""
    try:
        return report_json(shown_method(led_project(request, project), **query))
    except Refused as refusal:
        status = 400 if refusal.problem.field in query else 409
        raise BadRequest(refusal.problem, status=status) from None
