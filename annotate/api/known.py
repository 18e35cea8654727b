"""Known answers as JSON: labels that were made elsewhere, in the form that the method of the kind has for them."""

from dataclasses import replace

from rest_framework import serializers

from annotate import known_files
from annotate.api.fields import Named, Text, Whole
from annotate.api.operations import LEADS, operation
from annotate.api.project import led_project
from annotate.api.reading import read_body
from annotate.kinds.base import LabelError


class BroughtSerializer(serializers.Serializer):
    n_known = serializers.IntegerField(help_text="Labels that became known answers.")
    n_had_known = serializers.IntegerField(help_text="Items that had one already, which stays.")


class ByTrace(Named):
    """As many as a body holds."""

    max_length = 100_000


class KnownBody(serializers.Serializer):
    labels = ByTrace(help_text="By the id that a trace had in its file, in the form of the kind.")
    base = Whole(min_value=0, max_value=1, default=0, help_text="The number of the first message in these labels.")
    name = Text(default="API", max_length=200, help_text="Of where they come from; it is kept with each.")


@operation("POST", audience=LEADS, summary="Bring known answers in", body=KnownBody, answers={201: BroughtSerializer})
def bring_known(request, project):
    """All of them or none. Of items of practice the name is the reason that annotators are told."""
    body, project = read_body(KnownBody, request.data), led_project(request, project)
    try:
        return known_files.bring_known(
            lead=request.user, project=project, data=body["labels"], file_name=body["name"], base=body["base"]
        )
    except LabelError as error:
        raise LabelError(*map(in_the_labels, error.problems)) from None


def in_the_labels(problem):
    return replace(problem, pointer=f"/labels{problem.pointer or ''}")
