"""The people of a project: who has a part, what becomes of it, and links that give one."""

from dataclasses import replace

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from rest_framework import serializers

from annotate import inviting, lead_queries, people
from annotate.api.fields import Choice, Flag, Many, Moment, Text, Whole
from annotate.api.operations import LEADS, operation
from annotate.api.pages import PageQuery, page_of, page_serializer
from annotate.api.project import led_project
from annotate.api.reading import read_body
from annotate.errors import NotYours, Refused
from annotate.models import Membership, Role
from annotate.traces.base import Problem, gettext_noop


class MemberSerializer(serializers.Serializer):
    code = serializers.CharField(help_text="The one that figures and exports show.")
    name = serializers.CharField(source="person.username")
    role = serializers.ChoiceField(Role.values)
    languages = serializers.ListField(child=serializers.CharField())
    paused_at = Moment(allow_null=True)
    left_at = Moment(allow_null=True)
    n_assigned = serializers.IntegerField()
    n_submitted = serializers.IntegerField()
    n_problem = serializers.IntegerField()
    n_withdrawn = serializers.IntegerField()


class InviteSerializer(serializers.Serializer):
    """A link that gives one person a part. Its secret is told here and never again."""

    secret = serializers.CharField()
    address = serializers.CharField()
    role = serializers.ChoiceField(Role.values)
    languages = serializers.ListField(child=serializers.CharField())
    note = serializers.CharField()
    expires_at = Moment()


class InviteBody(serializers.Serializer):
    role = Choice(Role.values)
    languages = Many(child=Text(), default=list, help_text="What they read; an annotator's has at least one.")
    note = Text(allow_blank=True, default="", max_length=inviting.MAX_NOTE)
    days = Whole(min_value=1, max_value=inviting.MAX_DAYS, default=inviting.INVITE_DAYS)


class MemberBody(serializers.Serializer):
    """What is not there stays as it is."""

    languages = Many(child=Text(), required=False)
    paused = Flag(required=False)
    left = Flag(required=False)
    knowingly = Flag(default=False, help_text="Needed to end one's own part.")


@operation(
    "GET",
    audience=LEADS,
    summary="Who has a part in it",
    query=PageQuery,
    answers={200: page_serializer(MemberSerializer)},
)
def list_people(request, project, query):
    project = led_project(request, project)

    def fetch(behind, limit):
        return lead_queries.people_of(project).filter(pk__gt=behind or 0).order_by("pk")[:limit]

    return page_of(fetch, query, name=f"people {project.slug}")


@operation(
    "PATCH",
    audience=LEADS,
    summary="Change somebody's part: languages, pause, end",
    body=MemberBody,
    answers={200: MemberSerializer},
)
def change_member(request, project, code):
    """All of it or nothing: what cannot be so is refused, what is so already stays. Who left keeps their labels in
    every figure, and may be brought back."""
    body = read_body(MemberBody, request.data)
    project = led_project(request, project)
    member = project.memberships.filter(code=code).first()
    if member is None:
        raise NotYours
    who = {"project": project, "member_id": member.pk, "by": request.user, "now": timezone.now()}
    with transaction.atomic():
        if body.get("left") is False:
            people.bring_back_member(**who)
        if "languages" in body:
            people.set_languages(languages=body["languages"], **who)
        if "paused" in body:
            (people.pause_member if body["paused"] else people.resume_member)(**who)
        if body.get("left"):
            people.retire_member(knowingly=body["knowingly"], **who)
        refuse_unchanged(project.memberships.get(pk=member.pk), body)
    return lead_queries.people_of(project).get(pk=member.pk)


def refuse_unchanged(member: Membership, body) -> None:
    """Refused where something that was asked for is not so now, as for some people it cannot be."""
    if "languages" in body and set(body["languages"]) != set(member.languages):
        raise Refused(replace(HAS_LEFT, field="languages"))
    if "paused" in body and body["paused"] != (member.paused_at is not None):
        raise Refused(replace(HAS_LEFT, field="paused") if member.role == Role.ANNOTATOR else NO_ANNOTATOR)


HAS_LEFT = Problem(
    code="has_left",
    expected=gettext_noop("Somebody who has a part in the project; this person has left."),
    remedy=gettext_noop("Send “left”: false along with it, which brings them back."),
)
NO_ANNOTATOR = Problem(
    code="wrong_role",
    field="paused",
    expected=gettext_noop("An annotator; nobody else can be paused."),
    remedy=gettext_noop("Leave it out."),
)


@operation(
    "POST", audience=LEADS, summary="Make a link that gives a part", body=InviteBody, answers={201: InviteSerializer}
)
def make_invite(request, project):
    """The link works once, until it expires. Its secret is in this answer and nowhere else."""
    body = read_body(InviteBody, request.data)
    invite, secret = inviting.make_invite(
        project=led_project(request, project), by=request.user, now=timezone.now(), **body
    )
    names = ("role", "languages", "note", "expires_at")
    address = request.build_absolute_uri(reverse("annotate:join_project", args=[secret]))
    return {"secret": secret, "address": address, **{name: getattr(invite, name) for name in names}}
