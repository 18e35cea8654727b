"""The lead's side of the API: the pages of a project as JSON. Whatever it does is a service."""

from dataclasses import replace

from django.db import transaction
from django.utils import timezone
from rest_framework import serializers

from annotate import lead_queries, people, pools, reviewing, setting_up
from annotate.api.fields import Choice, Flag, Many, Moment, Named, Text, Whole
from annotate.api.operations import LEADS, operation
from annotate.api.pages import PageQuery, page_of, page_serializer
from annotate.api.reading import read_body
from annotate.errors import NotYours, Refused
from annotate.kinds.base import LabelError
from annotate.models import Phase, Project


class ProjectSerializer(serializers.Serializer):
    slug = serializers.CharField()
    title_en = serializers.CharField()
    title_zh = serializers.CharField()
    kind = serializers.CharField()
    languages = serializers.ListField(child=serializers.CharField())
    seed = serializers.IntegerField()
    show = serializers.CharField(source="settings.show", default=setting_up.SETTINGS["show"][0])
    text_beside_calls = serializers.CharField(
        source="settings.text_beside_calls", default=setting_up.SETTINGS["text_beside_calls"][0]
    )
    open_lead = serializers.BooleanField(help_text="Leads label too, which every report says.")
    assigning = serializers.ChoiceField(
        setting_up.ASSIGNING,
        help_text="A panel gives everybody all items, a pool the next to who asks, subsets and pairs what was drawn.",
    )
    overlap = serializers.IntegerField(help_text="Of a pool: so many people label an item.")
    person_cap = serializers.IntegerField(allow_null=True, help_text="Of a pool: at most so many items a person.")
    lease_minutes = serializers.SerializerMethodField(help_text="Of a pool: so long an item is kept for who has it.")
    suggestions_off = serializers.IntegerField(
        help_text="So many in a hundred of the items that come in are shown without what rules suggest."
    )
    open_phase = serializers.ChoiceField(Phase.values, help_text="The furthest phase that may be begun.")
    closed_at = Moment(allow_null=True, help_text="All labelling has ended then, for good.")
    show_settled = serializers.BooleanField(
        source="settings.show_settled", default=False, help_text="Of a closed one: people see what was settled."
    )
    is_synthetic = serializers.BooleanField()
    created_at = Moment()

    def get_lease_minutes(self, project) -> int:
        return pools.minutes(project.lease)


class ListedItemSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    source = serializers.CharField(help_text="The id its trace had in its file.")
    anchor = serializers.IntegerField(help_text="The judged message's index in the trace.")
    phase = serializers.ChoiceField(Phase.values)
    language = serializers.CharField()
    cluster = serializers.CharField()
    n_submitted = serializers.IntegerField()
    has_known = serializers.BooleanField(help_text="Whether it has a known answer.")


class ProtocolSerializer(serializers.Serializer):
    number = serializers.IntegerField()
    guideline_en = serializers.CharField(help_text="Markdown.")
    guideline_zh = serializers.CharField(help_text="Markdown.")
    label_schema = serializers.DictField(help_text="What a label may say; the kind says how.")
    change_note = serializers.CharField()
    created_at = Moment()


class EventSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    at = Moment(source="created_at")
    person = serializers.CharField(source="person.username", allow_null=True)
    action = serializers.CharField()
    detail = serializers.DictField()


class ProjectBody(serializers.Serializer):
    """What is not there stays as it is."""

    title_en = Text(required=False, max_length=setting_up.MAX_TITLE)
    title_zh = Text(required=False, max_length=setting_up.MAX_TITLE)
    languages = Many(child=Text(), required=False)
    show = Choice(setting_up.SETTINGS["show"], required=False)
    text_beside_calls = Choice(setting_up.SETTINGS["text_beside_calls"], required=False)
    open_lead = Flag(required=False)
    assigning = Choice(setting_up.ASSIGNING, required=False, help_text="Until anything was given.")
    overlap = Whole(min_value=1, max_value=setting_up.MAX_OVERLAP, required=False)
    person_cap = Whole(min_value=1, max_value=setting_up.MAX_CAP, required=False, allow_null=True)
    lease_minutes = Whole(min_value=1, max_value=setting_up.MAX_LEASE, required=False)
    suggestions_off = Whole(min_value=0, max_value=setting_up.MAX_SUGGESTIONS_OFF, required=False)
    open_phase = Choice(Phase.values, required=False)


class ProtocolBody(serializers.Serializer):
    guideline_en = Text(allow_blank=True, max_length=setting_up.MAX_GUIDELINE)
    guideline_zh = Text(allow_blank=True, max_length=setting_up.MAX_GUIDELINE)
    change_note = Text(max_length=setting_up.MAX_CHANGE_NOTE)
    after = Whole(min_value=1, max_value=2**31 - 1, help_text="The number of the newest protocol you know of.")
    label_schema = Named(required=False, help_text="Where the kind lets leads make it; else it stays as it is.")


class CloseBody(serializers.Serializer):
    show_settled = Flag(help_text="Whether people then see what their items were settled to.")
    knowingly = Flag(default=False, help_text="Needed: nothing can be labelled any more.")


class ItemsQuery(PageQuery):
    phase = serializers.ChoiceField(Phase.values, required=False)


class EventsQuery(PageQuery):
    action = Text(default="", help_text="Events of this action only.")


def led_project(request, slug) -> Project:
    """A project that the person leads now, whatever the token was made for."""
    project = lead_queries.led_projects(request.user).filter(slug=slug).first()
    if project is None:
        raise NotYours
    return project


@operation("GET", audience=LEADS, summary="The project", answers={200: ProjectSerializer})
def show_project(request, project):
    return led_project(request, project)


@operation("PATCH", audience=LEADS, summary="Change the project", body=ProjectBody, answers={200: ProjectSerializer})
def change_project(request, project):
    """All of it or nothing."""
    body = read_body(ProjectBody, request.data)
    phase = body.pop("open_phase", None)
    with transaction.atomic():
        project = people.lock_led(led_project(request, project), request.user)
        if body:
            new = replace(setting_up.settings_of(project), **{**body, **tuples(body)})
            setting_up.update_project(project=project, new=new, by=request.user, now=timezone.now())
        if phase is not None:
            open_phase(request, project, phase)
    return led_project(request, project.slug)


@operation("POST", audience=LEADS, summary="Close the project", body=CloseBody, answers={200: ProjectSerializer})
def close_project(request, project):
    """All labelling ends for good: rounds are closed, what nobody submitted is withdrawn. One that is closed already
    stays as it is."""
    body = read_body(CloseBody, request.data)
    reviewing.close_project(lead=request.user, project=led_project(request, project), now=timezone.now(), **body)
    return led_project(request, project)


def open_phase(request, project, phase):
    try:
        setting_up.open_phase(project=project, phase=phase, by=request.user, now=timezone.now())
    except Refused as refusal:
        raise Refused(replace(refusal.problem, field="open_phase")) from None


def tuples(body):
    return {name: tuple(value) for name, value in body.items() if isinstance(value, list)}


@operation(
    "GET",
    audience=LEADS,
    summary="The items, in the order they came in",
    query=ItemsQuery,
    answers={200: page_serializer(ListedItemSerializer)},
)
def list_items(request, project, query):
    project, phase = led_project(request, project), query.get("phase", "")

    def fetch(behind, limit):
        return lead_queries.listed_items(project, phase=phase, after=behind or 0, limit=limit)

    return page_of(fetch, query, name=f"items {project.slug} {phase}")


@operation(
    "GET",
    audience=LEADS,
    summary="The protocols, newest first",
    query=PageQuery,
    answers={200: page_serializer(ProtocolSerializer)},
)
def list_protocols(request, project, query):
    project = led_project(request, project)

    def fetch(behind, limit):
        protocols = project.protocols.order_by("-pk")
        return (protocols if behind is None else protocols.filter(pk__lt=behind))[:limit]

    return page_of(fetch, query, name=f"protocols {project.slug}")


@operation("POST", audience=LEADS, summary="Open a new protocol", body=ProtocolBody, answers={201: ProtocolSerializer})
def new_protocol(request, project):
    """Labels given from now on are under the new guideline, and figures are split by protocol."""
    body = read_body(ProtocolBody, request.data)
    project = led_project(request, project)
    try:
        return setting_up.new_protocol(project=project, by=request.user, now=timezone.now(), **body)
    except LabelError as error:
        raise LabelError(*map(in_the_schema, error.problems)) from None


def in_the_schema(problem):
    return replace(problem, pointer=f"/label_schema{problem.pointer or ''}")


@operation(
    "GET",
    audience=LEADS,
    summary="The log, newest first",
    query=EventsQuery,
    answers={200: page_serializer(EventSerializer)},
)
def list_events(request, project, query):
    project, action = led_project(request, project), query["action"]

    def fetch(behind, limit):
        return lead_queries.events_of(project, action=action, before=behind)[:limit]

    return page_of(fetch, query, name=f"events {project.slug} {action}")
