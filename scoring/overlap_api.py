"""The rule for more people while agreement is low, over the API."""

from django.utils import timezone
from rest_framework import serializers

from annotate.api.fields import Choice, Number, Text, Whole
from annotate.api.operations import LEADS, operation
from annotate.api.project import led_project
from annotate.api.reading import read_body
from scoring import overlap
from scoring.overlap import EACH, LEAST_LABELS, MOST_PLACES, OverlapRule

NONE = {"measure": "", "under": 0.0, "at_most": 0, "each": ""}


class OverlapRuleSerializer(serializers.Serializer):
    """Items of a pool get one more place, up to `at_most`, while agreement on a measure is under `under`; null in all
    without a rule."""

    measure = serializers.CharField(allow_null=True)
    under = serializers.FloatField(allow_null=True)
    at_most = serializers.IntegerField(allow_null=True)
    each = serializers.ChoiceField(EACH, allow_null=True, help_text="Whose agreement: the item's or the project's.")


class OverlapRuleBody(serializers.Serializer):
    """Null in all ends the rule."""

    measure = Text(allow_null=True, max_length=200)
    under = Number(allow_null=True, help_text="Above 0 and up to 1.")
    at_most = Whole(min_value=LEAST_LABELS, max_value=MOST_PLACES, allow_null=True)
    each = Choice(EACH, allow_null=True)


@operation(
    "GET", audience=LEADS, summary="When a pool's items get more people", answers={200: OverlapRuleSerializer}
)
def show_overlap_rule(request, project):
    return rule_shown(led_project(request, project))


@operation(
    "PUT",
    audience=LEADS,
    summary="Say when a pool's items get more people",
    body=OverlapRuleBody,
    answers={200: OverlapRuleSerializer},
)
def set_overlap_rule(request, project):
    """Looked at every few minutes from then on. Null in all ends the rule."""
    project, body = led_project(request, project), read_body(OverlapRuleBody, request.data)
    said = {name: value for name, value in body.items() if value is not None}
    rule = OverlapRule(**{**NONE, **said}) if said else None
    overlap.set_overlap_rule(lead=request.user, project=project, rule=rule, now=timezone.now())
    return rule_shown(led_project(request, project.slug))


def rule_shown(project):
    return overlap.rule_of(project) or dict.fromkeys(NONE)
