"""Subsets as JSON: what can be drawn from, and drawing who reads what."""

from django.utils import timezone
from rest_framework import serializers

from annotate import subsets
from annotate.api.fields import Flag, Many, Text, Whole
from annotate.api.operations import LEADS, operation
from annotate.api.project import led_project
from annotate.api.reading import read_body


class AreaSerializer(serializers.Serializer):
    """Traces of the main phase of one area."""

    name = serializers.CharField(allow_blank=True)
    n = serializers.IntegerField()
    n_successful = serializers.IntegerField(help_text="Their files say that the run succeeded.")
    n_common = serializers.IntegerField(help_text="Drawn for everybody.")


class SubsetSerializer(serializers.Serializer):
    """What was drawn for somebody, in items."""

    code = serializers.CharField()
    n_common = serializers.IntegerField()
    n_unique = serializers.IntegerField()


class SubsetsSerializer(serializers.Serializer):
    n = serializers.IntegerField(help_text="Traces of the main phase.")
    n_successful = serializers.IntegerField()
    n_common = serializers.IntegerField()
    areas = AreaSerializer(many=True)
    subsets = SubsetSerializer(many=True)


class SubsetsBody(serializers.Serializer):
    n_common = Whole(min_value=0, max_value=subsets.MAX_RUNS, help_text="Traces for everybody, by area in proportion.")
    n_unique = Whole(min_value=0, max_value=subsets.MAX_RUNS, help_text="Traces for each alone.")
    people = Many(child=Text(), required=False, help_text="Codes; without them all who label.")
    only_successful = Flag(default=False, help_text="Of the traces whose file says that the run succeeded.")


@operation("GET", audience=LEADS, summary="What subsets are drawn from, and what was drawn",
           answers={200: SubsetsSerializer})
def show_subsets(request, project):
    return subsets.standing(led_project(request, project))


@operation("PUT", audience=LEADS, summary="Draw who reads what", body=SubsetsBody, answers={200: SubsetsSerializer})
def draw_subsets(request, project):
    """In a project whose items are given by subsets. Again takes the place of what was drawn, until something of the
    main phase was shown to somebody."""
    body, project = read_body(SubsetsBody, request.data), led_project(request, project)
    codes = body.pop("people", None)
    subsets.draw_subsets(lead=request.user, project=project, codes=codes, now=timezone.now(), **body)
    return subsets.standing(project)
