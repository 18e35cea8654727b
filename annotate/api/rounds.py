"""The lead's rounds as JSON: which there are, closing one, opening an informed one, the gaps that people met in the
guideline, and the rule by which known answers pause somebody."""

from django.utils import timezone
from rest_framework import serializers

from annotate import qualifying, round_queries, rounds
from annotate.api.fields import Choice, Digits, Moment, Whole
from annotate.api.operations import LEADS, operation
from annotate.api.pages import PageQuery, page_of, page_serializer
from annotate.api.project import led_project
from annotate.api.reading import Query, read_body
from annotate.errors import NotYours
from annotate.models import Round
from annotate.rules.looking_again import WHICH
from annotate.rules.qualification import LEAST_LAST, MOST_LAST


class RoundSerializer(serializers.Serializer):
    number = serializers.IntegerField()
    purpose = serializers.ChoiceField(Round.Purpose.values)
    informed = serializers.BooleanField(help_text="Its answers are no votes.")
    opened_at = Moment()
    closed_at = Moment(allow_null=True)
    n_items = serializers.IntegerField()
    n_people = serializers.IntegerField()
    n_given = serializers.IntegerField()
    n_done = serializers.IntegerField()
    n_waiting = serializers.IntegerField()
    n_posts = serializers.IntegerField(help_text="In its threads.")


class WhichSerializer(serializers.Serializer):
    """How many items an informed round would have by each choice."""

    all = serializers.IntegerField(help_text="What at least two people labelled.")
    common = serializers.IntegerField(help_text="What everybody labelled.")
    disagreeing = serializers.IntegerField(help_text="What people labelled differently.")


class RoundsSerializer(serializers.Serializer):
    """The rounds in their order, all of them."""

    rows = RoundSerializer(many=True)
    to_look_at = WhichSerializer(help_text="Items of closed rounds.")


class OpenedSerializer(serializers.Serializer):
    number = serializers.IntegerField()
    n_items = serializers.IntegerField()
    n_assignments = serializers.IntegerField()


class GapSerializer(serializers.Serializer):
    """What somebody could not decide by the guideline."""

    id = serializers.IntegerField()
    item = serializers.IntegerField()
    source = serializers.CharField(help_text="The id its trace had in its file.")
    anchor = serializers.IntegerField(allow_null=True)
    code = serializers.CharField(help_text="Of the member who met it.")
    protocol = serializers.IntegerField(allow_null=True)
    text = serializers.CharField()
    at = Moment()


class SettledGapSerializer(serializers.Serializer):
    """An item whose reviewer says that people differed because the guideline leaves it open."""

    id = serializers.IntegerField()
    item = serializers.IntegerField()
    source = serializers.CharField(help_text="The id its trace had in its file.")
    anchor = serializers.IntegerField(allow_null=True)
    protocol = serializers.IntegerField(allow_null=True)
    note = serializers.CharField()
    at = Moment()


class StandingSerializer(serializers.Serializer):
    """How somebody did with known answers, of the last ones that the rule looks at."""

    code = serializers.CharField()
    n_right = serializers.IntegerField()
    n = serializers.IntegerField()
    is_paused = serializers.BooleanField()


class PassRuleSerializer(serializers.Serializer):
    """Of the last `last` known answers `percent` in a hundred have to be right; null in both without a rule."""

    last = serializers.IntegerField(allow_null=True)
    percent = serializers.IntegerField(allow_null=True)
    standings = StandingSerializer(many=True)


class RoundsQuery(Query):
    phase = serializers.ChoiceField(rounds.PHASES, default="main", help_text="Of the items to look at again.")


class GapsQuery(PageQuery):
    protocol = Digits(
        required=False, min_value=1, max_value=2**31 - 1, help_text="Those met in this one; in any without."
    )


class OpenBody(serializers.Serializer):
    which = Choice(WHICH)
    phase = Choice(rounds.PHASES, default="main")


class CloseRoundBody(serializers.Serializer):
    state = Choice(["closed"])
    rest = Choice(
        rounds.RESTS, default="go_on", help_text="What nobody has submitted; of an informed round it is withdrawn."
    )


class PassRuleBody(serializers.Serializer):
    """Null in both ends the rule."""

    last = Whole(min_value=LEAST_LAST, max_value=MOST_LAST, allow_null=True)
    percent = Whole(min_value=1, max_value=100, allow_null=True)


@operation("GET", audience=LEADS, summary="The rounds", query=RoundsQuery, answers={200: RoundsSerializer})
def list_rounds(request, project, query):
    project = led_project(request, project)
    return {
        "rows": round_queries.round_rows(project),
        "to_look_at": rounds.preview_informed(project, query["phase"]),
    }


@operation("POST", audience=LEADS, summary="Open an informed round", body=OpenBody, answers={201: OpenedSerializer})
def open_round(request, project):
    """Items of closed rounds go once more to those who labelled them. One informed round at a time."""
    project, body = led_project(request, project), read_body(OpenBody, request.data)
    return rounds.open_informed_round(lead=request.user, project=project, now=timezone.now(), **body)


def round_called(project, number):
    found = next((one for one in round_queries.round_rows(project) if one.number == number), None)
    if found is None:
        raise NotYours
    return found


@operation("GET", audience=LEADS, summary="One round", answers={200: RoundSerializer})
def show_round(request, project, number):
    return round_called(led_project(request, project), number)


@operation("PATCH", audience=LEADS, summary="Close a round", body=CloseRoundBody, answers={200: RoundSerializer})
def close_round(request, project, number):
    """What was said in it is fixed for good. One that is closed already stays as it is."""
    project, body = led_project(request, project), read_body(CloseRoundBody, request.data)
    known = round_called(project, number).number
    rounds.close_round(lead=request.user, project=project, number=known, rest=body["rest"], now=timezone.now())
    return round_called(project, known)


@operation(
    "GET",
    audience=LEADS,
    summary="Gaps in the guideline that annotators met, newest first",
    query=GapsQuery,
    answers={200: page_serializer(GapSerializer)},
)
def list_gaps(request, project, query):
    project, protocol = led_project(request, project), query.get("protocol")

    def fetch(behind, limit):
        return round_queries.gaps_of(project, protocol=protocol, before=behind, limit=limit)

    return page_of(fetch, query, name=f"gaps {project.slug} {protocol}")


@operation(
    "GET",
    audience=LEADS,
    summary="Gaps in the guideline that reviewers name as the cause, newest first",
    query=PageQuery,
    answers={200: page_serializer(SettledGapSerializer)},
)
def list_settled_gaps(request, project, query):
    project = led_project(request, project)

    def fetch(behind, limit):
        return round_queries.settled_for_gaps(project, before=behind, limit=limit)

    return page_of(fetch, query, name=f"settled gaps {project.slug}")


@operation("GET", audience=LEADS, summary="When known answers pause somebody", answers={200: PassRuleSerializer})
def show_pass_rule(request, project):
    return rule_shown(led_project(request, project))


@operation(
    "PUT",
    audience=LEADS,
    summary="Say when known answers pause somebody",
    body=PassRuleBody,
    answers={200: PassRuleSerializer},
)
def set_pass_rule(request, project):
    """It looks at answers that are given from now on, and at earlier ones with them. Null in both ends the rule."""
    project, body = led_project(request, project), read_body(PassRuleBody, request.data)
    is_none = body["last"] is None and body["percent"] is None
    numbers = {name: 0 if is_none else -1 if number is None else number for name, number in body.items()}
    qualifying.set_rule(lead=request.user, project=project, now=timezone.now(), **numbers)
    return rule_shown(led_project(request, project.slug))


def rule_shown(project):
    rule = qualifying.rule_of(project)
    return {
        "last": rule and rule.last,
        "percent": rule and rule.percent,
        "standings": qualifying.standings(project),
    }
