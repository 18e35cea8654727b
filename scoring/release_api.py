"""Releases over the API: sealing one, the list, what one says of itself, and its items by pages."""

import json

from django.urls import reverse
from django.utils import timezone
from rest_framework import serializers

from annotate import release_queries, releasing
from annotate.api.fields import Choice, Flag, Moment, Whole
from annotate.api.operations import LEADS, Answer, operation
from annotate.api.pages import PageQuery, page_of, page_serializer
from annotate.api.project import led_project
from annotate.api.reading import read_body
from annotate.errors import NotYours, Refused
from annotate.rules.release_content import Outcome, row_of
from annotate.rules.release_shape import ALL_HOWS, ALL_RULES, JURY
from scoring import jury_sealing
from scoring.sealing import agreement_to_seal


class ReleaseSerializer(serializers.Serializer):
    number = serializers.IntegerField()
    rule = serializers.ChoiceField(ALL_RULES)
    made_by = serializers.ChoiceField(
        ("people", "jury"), help_text="Whose labels they are: those of a jury are of models and not of people."
    )
    protocol = serializers.IntegerField(source="protocol.number")
    content_hash = serializers.CharField(help_text="SHA-256 of the content; docs/releases.md says over what.")
    n_items = serializers.IntegerField()
    is_imported = serializers.BooleanField(help_text="Whether it was sealed elsewhere.")
    sealed_at = Moment()


class WholeReleaseSerializer(ReleaseSerializer):
    manifest = serializers.DictField(help_text="What release.json says.")


class SourceSerializer(serializers.Serializer):
    """Where an item comes from."""

    format = serializers.CharField()
    id = serializers.CharField()
    trace_hash = serializers.CharField()
    anchor = serializers.IntegerField(allow_null=True)
    text_hash = serializers.CharField()
    cluster = serializers.CharField()
    area = serializers.CharField()
    language = serializers.CharField()


class VoteSerializer(serializers.Serializer):
    """A label that an item's rests on, by public code; in a release by a jury the run of a juror that agrees, and
    nothing else."""

    annotator = serializers.CharField(required=False)
    round = serializers.IntegerField(required=False)
    number = serializers.IntegerField(required=False)
    protocol = serializers.IntegerField(required=False)
    label = serializers.DictField(required=False)
    run = serializers.IntegerField(required=False, help_text="Of a juror.")


class ReleaseItemSerializer(serializers.Serializer):
    """A line of labels.jsonl."""

    item_hash = serializers.CharField()
    source = SourceSerializer()
    label = serializers.DictField(allow_null=True, help_text="Null where the item is unresolved.")
    how = serializers.ChoiceField(ALL_HOWS)
    is_tie = serializers.BooleanField(help_text="Whether the votes tie.")
    rests_on = VoteSerializer(many=True)


class SealBody(serializers.Serializer):
    rule = Choice(ALL_RULES, required=False, default="majority")
    run = Whole(
        required=False, min_value=1, max_value=2**31 - 1, help_text="Of a jury, under the rule “jury” and no other."
    )
    protocol = Whole(required=False, min_value=1, max_value=2**31 - 1, help_text="The newest that has labels without.")
    earlier = Flag(default=False, help_text="Labels under earlier guidelines count where nobody gave one since.")


def release_called(request, project, number):
    found = release_queries.release_numbered(led_project(request, project), number) if number < 2**31 else None
    if found is None:
        raise NotYours
    return found


@operation(
    "GET",
    audience=LEADS,
    summary="The releases, newest first",
    query=PageQuery,
    answers={200: page_serializer(ReleaseSerializer)},
)
def list_releases(request, project, query):
    project = led_project(request, project)

    def fetch(behind, limit):
        rows = release_queries.releases_of(project)
        return (rows if behind is None else rows.filter(pk__lt=behind))[:limit]

    return page_of(fetch, query, name=f"releases {project.slug}")


@operation("POST", audience=LEADS, summary="Seal a release", body=SealBody, answers={201: ReleaseSerializer})
def seal_release(request, project):
    """The labels of the main phase under one protocol, settled by the rule, with their agreement as it is now; under
    the rule `jury` what the jury of a run agrees on, which is of models and not of people."""
    project, body = led_project(request, project), read_body(SealBody, request.data)
    if body["rule"] == JURY or "run" in body:
        release = sealed_jury(request, project, body)
        return Answer(release, 201, {"Location": reverse("scoring:api_release", args=[project.slug, release.number])})
    protocol = releasing.protocol_to_seal(project, body["rule"], body.get("protocol")).number
    release = releasing.seal_release(
        person=request.user,
        project=project,
        rule=body["rule"],
        protocol=protocol,
        earlier=body["earlier"],
        agreement=agreement_to_seal(project, protocol),
        now=timezone.now(),
    )
    return Answer(release, 201, {"Location": reverse("scoring:api_release", args=[project.slug, release.number])})


def sealed_jury(request, project, body):
    if body["rule"] != JURY:
        raise Refused(jury_sealing.ONLY_BY_JURY)
    if "protocol" in body or body["earlier"]:
        raise Refused(jury_sealing.JURY_HAS_ITS_PROTOCOL)
    return jury_sealing.seal_jury(
        person=request.user, project=project, run=body.get("run", 0), now=timezone.now()
    )


@operation("GET", audience=LEADS, summary="A release", answers={200: WholeReleaseSerializer})
def show_release(request, project, number):
    """With everything that its release.json says."""
    release = release_called(request, project, number)
    release.manifest = json.loads(release.manifest)
    return release


@operation(
    "GET",
    audience=LEADS,
    summary="The items of a release, in its order",
    query=PageQuery,
    answers={200: page_serializer(ReleaseItemSerializer)},
)
def list_release_items(request, project, number, query):
    """As the lines of labels.jsonl have them."""
    release = release_called(request, project, number)

    def fetch(behind, limit):
        rows = release_queries.sealed_rows(release, after=-1 if behind is None else behind, limit=limit)
        return [Placed(one) for one in rows]

    return page_of(fetch, query, name=f"release items {release.pk}")


class Placed:
    """A row under the number that pages go on from: its position."""

    def __init__(self, sealed):
        outcome = Outcome(sealed.label, sealed.how, sealed.is_tie, sealed.rests_on)
        self.__dict__.update(row_of(sealed.source, sealed.item_hash, outcome))
        self.id = sealed.position
