"""Reply points over the API: the list, and choosing more."""

import secrets

from django.urls import reverse
from rest_framework import serializers

from annotate.api.fields import Flag, Moment, Whole
from annotate.api.operations import LEADS, Answer, operation
from annotate.api.pages import PageQuery, page_of, page_serializer
from annotate.api.project import led_project
from annotate.api.reading import read_body
from annotate.setting_up import MAX_SEED
from scoring import point_queries, pointing


class PointSerializer(serializers.Serializer):
    item = serializers.IntegerField()
    order = serializers.IntegerField(help_text="From 0.")
    point_class = serializers.ChoiceField(
        ("priority", "random"), help_text="`priority`: behind a compaction, or first in a later session."
    )


class PointsSerializer(serializers.Serializer):
    number = serializers.IntegerField()
    seed = serializers.IntegerField()
    quota = serializers.IntegerField()
    items = PointSerializer(many=True, source="chosen")
    created_at = Moment()


class ChooseBody(serializers.Serializer):
    quota = Whole(required=False, default=8, min_value=1, max_value=2**31 - 1, help_text="Most of a collaboration.")
    n = Whole(required=False, default=None, min_value=1, max_value=2**31 - 1, help_text="Most in all.")
    at_random = Flag(required=False, default=False, help_text="Any `n` of all, without a quota and none first.")
    seed = Whole(required=False, default=None, min_value=0, max_value=MAX_SEED, help_text="A random one without.")


def with_chosen(rows):
    for points in rows:
        points.chosen = [
            {"item": one["item"], "order": one["order"], "point_class": one["class"]} for one in points.items
        ]
    return rows


@operation(
    "GET",
    audience=LEADS,
    summary="Reply points, newest first",
    query=PageQuery,
    answers={200: page_serializer(PointsSerializer)},
)
def list_points(request, project, query):
    project = led_project(request, project)

    def fetch(behind, limit):
        rows = point_queries.points_of(project)
        return with_chosen((rows if behind is None else rows.filter(pk__lt=behind))[:limit])

    return page_of(fetch, query, name=f"points {project.slug}")


@operation("POST", audience=LEADS, summary="Choose reply points", body=ChooseBody, answers={201: PointsSerializer})
def choose_points(request, project):
    """From each collaboration, replies behind a compaction or first in a later session before others at random."""
    project, body = led_project(request, project), read_body(ChooseBody, request.data)
    seed = secrets.randbits(31) if body["seed"] is None else body["seed"]
    points = pointing.choose_points(
        person=request.user, project=project, seed=seed, quota=body["quota"], n=body["n"], at_random=body["at_random"]
    )
    address = reverse("scoring:api_points", args=[project.slug])
    return Answer(with_chosen([points])[0], 201, {"Location": address})
