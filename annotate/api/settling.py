"""The reviewer's side of the API: the queue of disagreements and one item to settle, as on their pages: answers by
letters, nothing of a judge. Leads look on."""

from django.utils import timezone
from rest_framework import serializers

from annotate import review_queries, reviewing
from annotate.api.errors import BadRequest
from annotate.api.fields import Choice, Digits, Many, Moment, Named, Text, Whole
from annotate.api.operations import REVIEWERS, Answer, operation
from annotate.api.reading import Query, read_body
from annotate.api.shown import FileSerializer, KeyText, MessageSerializer, PiecesField
from annotate.forms import KEY, MAX_NUMBER, refuse_unstorable
from annotate.models import Settlement
from annotate.traces.base import Problem, gettext_noop

USUAL, MOST = 100, 500


class DisagreementSerializer(serializers.Serializer):
    """An item of the queue."""

    id = serializers.CharField(source="public_id")
    phase = serializers.ChoiceField([phase.value for phase in review_queries.PHASES])
    language = serializers.CharField()
    weight = serializers.FloatField(help_text="How far apart its labels are, from 0 to 1.")
    differing = serializers.ListField(
        child=serializers.CharField(), help_text="Measures that differ; `elsewhere` where none does."
    )
    n_labels = serializers.IntegerField()
    state = serializers.ChoiceField([state for state in review_queries.STATES if state != "all"])


class QueueSerializer(serializers.Serializer):
    """A page of the queue, what matters most first. `next` is the `first` of the page behind."""

    rows = DisagreementSerializer(many=True)
    next = serializers.IntegerField(allow_null=True)
    n_left = serializers.IntegerField(help_text="Items with new answers that are still being compared.")


class AnswerSerializer(serializers.Serializer):
    """What somebody said, under a letter of this item alone."""

    name = serializers.CharField(help_text="To be sent to adopt it.")
    label = serializers.DictField()
    protocol = serializers.IntegerField()
    is_again = serializers.BooleanField(help_text="Given later and informed: no vote.")
    differs = serializers.BooleanField(help_text="Whether most others differ.")


class StoredSerializer(serializers.Serializer):
    """A settlement; the number counts those of the item."""

    number = serializers.IntegerField()
    label = serializers.DictField(allow_null=True, help_text="Null where it was left unresolved.")
    cause = serializers.CharField()
    confidence = serializers.CharField()
    note = serializers.CharField()
    at = Moment()
    is_own = serializers.BooleanField()
    is_current = serializers.BooleanField()
    after_verdict = serializers.BooleanField(help_text="Stored after its reviewer saw what a judge says.")


class CardSerializer(serializers.Serializer):
    """One item as its annotators saw it, with their answers and what was stored."""

    id = serializers.CharField(source="public_id")
    kind = serializers.CharField(source="item.kind.name")
    phase = serializers.CharField(source="item.phase")
    language = serializers.CharField(source="item.language")
    files = FileSerializer(source="item.files", many=True)
    messages = MessageSerializer(source="item.messages", many=True)
    text = PiecesField(source="item.pieces", help_text="What is judged. Spans count its code points from 0.")
    protocol = serializers.IntegerField(source="item.protocol")
    label_schema = serializers.DictField(source="schema")
    answers = AnswerSerializer(many=True)
    settlements = StoredSerializer(source="stored", many=True)
    base = serializers.IntegerField(help_text="The number of the last settlement. To be sent back.")
    seen = serializers.CharField(help_text="Stands for these answers. To be sent back.")
    n_waiting = serializers.IntegerField(help_text="People it was sent back to who have not answered again.")
    may_settle = serializers.BooleanField()


class SettledSerializer(serializers.Serializer):
    """The word that it is stored; the same key always gets the same one."""

    key = serializers.CharField()
    number = serializers.IntegerField()
    at = Moment(source="created_at")


class QueueQuery(Query):
    state = serializers.ChoiceField(review_queries.STATES, default="open")
    phase = serializers.ChoiceField([phase.value for phase in review_queries.PHASES], required=False)
    measure = Text(required=False, help_text="Items that differ in this measure.")
    limit = Digits(min_value=1, max_value=MOST, default=USUAL)
    first = Digits(min_value=0, max_value=10**9, default=0)


class SettlementBody(serializers.Serializer):
    """`answer` adopts, `label` is one of your own, neither leaves the item unresolved."""

    key = KeyText(min_length=16, max_length=64, help_text="Made by you; the same one when you send it again.")
    base = Whole(min_value=0, max_value=MAX_NUMBER)
    seen = Text(max_length=64)
    answer = Text(required=False, max_length=20)
    label = Named(required=False, help_text="By the item's `label_schema`.")
    cause = Choice(Settlement.Cause.values)
    confidence = Choice(Settlement.Confidence.values)
    note = Text(allow_blank=True, default="", max_length=reviewing.MAX_WORDS)


class SendBackBody(serializers.Serializer):
    key = KeyText(min_length=16, max_length=64, help_text="Made by you; the same one when you send it again.")
    seen = Text(max_length=64)
    names = Many(child=Text(max_length=20), allow_empty=False, help_text="Of the answers whose people get it again.")
    reason = Text(
        max_length=reviewing.MAX_WORDS, trim_whitespace=True, help_text="For these people, and for nobody else."
    )


class SentBackSerializer(serializers.Serializer):
    """The word that it is sent back; the same key always gets the same one and sends nothing twice."""

    key = serializers.CharField()
    n_people = serializers.IntegerField()


@operation(
    "GET", audience=REVIEWERS, summary="What people disagree on", query=QueueQuery, answers={200: QueueSerializer}
)
def list_disagreements(request, project, query):
    part = reviewing.part_of(request.user, project)
    limit, first = query.pop("limit"), query.pop("first")
    queue = reviewing.show_queue(part=part, first=first, limit=limit + 1, **query)
    more = len(queue.rows) > limit
    return {"rows": queue.rows[:limit], "next": first + limit if more else None, "n_left": queue.n_left}


@operation("GET", audience=REVIEWERS, summary="One item to settle", answers={200: CardSerializer})
def show_disagreement(request, project, disagreement_id):
    return reviewing.open_card(part=reviewing.part_of(request.user, project), public_id=disagreement_id)


@operation(
    "POST",
    audience=REVIEWERS,
    summary="Settle an item",
    body=SettlementBody,
    answers={201: SettledSerializer, 200: SettledSerializer},
    refusals=(409,),
)
def settle_item(request, project, disagreement_id):
    """201 when it is stored, 200 when one of this key was stored before. 409 where somebody settled it, or an answer
    changed, since it was read."""
    known = known_settlement(request, project, disagreement_id)
    if known is not None:
        return Answer(known, 200)
    body = read_body(SettlementBody, request.data)
    if "answer" in body and "label" in body:
        raise BadRequest(ONE_OF_BOTH, status=422)
    refuse_unstorable(body.get("label") or {})
    decision = reviewing.Decision(
        adopted=body.get("answer", ""),
        label=body.get("label"),
        **{name: body[name] for name in ("cause", "confidence", "note")},
    )
    return reviewing.settle_item(
        reviewer=request.user,
        slug=project,
        public_id=disagreement_id,
        decision=decision,
        **{name: body[name] for name in ("key", "base", "seen")},
    )


@operation(
    "POST",
    audience=REVIEWERS,
    summary="Send an item back to those whose answers these are",
    body=SendBackBody,
    answers={200: SentBackSerializer},
    refusals=(409,),
)
def send_back(request, project, disagreement_id):
    """They get it once more, informed of the reason. 409 where an answer changed since it was read."""
    body = read_body(SendBackBody, request.data)
    n = reviewing.send_back(
        reviewer=request.user, slug=project, public_id=disagreement_id, now=timezone.now(), **body
    )
    return {"key": body["key"], "n_people": n}


def known_settlement(request, project, disagreement_id):
    """What is stored under this key; None without one, and without a key that can be read."""
    key = request.data.get("key") if isinstance(request.data, dict) else None
    if not isinstance(key, str) or not KEY.fullmatch(key):
        return None
    return reviewing.find_settled(reviewer=request.user, slug=project, public_id=disagreement_id, key=key)


ONE_OF_BOTH = Problem(
    code="unknown_field",
    field="label",
    pointer="/label",
    expected=gettext_noop("One of: %(allowed)s."),
    remedy=gettext_noop("Leave the other out."),
    params={"allowed": "answer, label"},
)
