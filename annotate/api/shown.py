"""What annotators are sent, and may send, field by field: the allow-list of the API. It gets a `BlindItem` and values,
never a row; a field that is added here is a decision about blindness (`tests/guards/test_blindness.py`)."""

from django.utils.translation import gettext
from rest_framework import serializers

from annotate.api.fields import Digits, Moment, Named, Text, Whole
from annotate.api.reading import Query
from annotate.forms import KEY, MAX_NUMBER, MAX_REASON
from annotate.rounds import MAX_POST

MAX_MILLISECONDS = 10**15 - 1
MAX_PROBLEM = 2000
STANDINGS = ("ready", "done", "paused", "practice_not_ready", "phase_not_open", "nothing_free", "cap_reached")


class PiecesField(serializers.CharField):
    """A text that was cut into styled pieces, whole again: the canonical text in which offsets count."""

    def to_representation(self, value):
        return "".join(piece.text for piece in value)


class InEnglish(serializers.CharField):
    """The first of two texts."""

    def to_representation(self, value):
        return value[0]


class InChinese(serializers.CharField):
    """The second of two texts."""

    def to_representation(self, value):
        return value[1]


class KeyText(Text):
    said = "16 to 64 of A-Z a-z 0-9 _ -"

    def to_internal_value(self, data):
        if not isinstance(data, str) or not KEY.fullmatch(data):
            self.fail("invalid")
        return data


class OwnProjectSerializer(serializers.Serializer):
    slug = serializers.CharField()
    title_en = InEnglish(source="titles")
    title_zh = InChinese(source="titles")
    role = serializers.CharField()
    may_label = serializers.BooleanField(help_text="Whether items are given to one in this part.")
    is_paused = serializers.BooleanField()
    is_synthetic = serializers.BooleanField(help_text="A demo, whose other labels are no people's.")


class OwnProjectsSerializer(serializers.Serializer):
    rows = OwnProjectSerializer(many=True)


class FileSerializer(serializers.Serializer):
    name = serializers.CharField()
    text = PiecesField(source="pieces")


class MessageSerializer(serializers.Serializer):
    speaker = serializers.ChoiceField(["you", "agent"], help_text="`you` is the requester.")
    text = PiecesField(source="pieces")


class CallSerializer(serializers.Serializer):
    number = serializers.IntegerField(help_text="Calls are counted through the trace, from 1.")
    name = serializers.CharField()
    arguments = serializers.CharField(help_text="As the agent wrote them, mostly JSON.")
    result = serializers.IntegerField(allow_null=True, help_text="The index of the message that answers it.")


class EntrySerializer(serializers.Serializer):
    """A message of a trace that is shown whole. A call and its result are one step, `[called_at, index]`."""

    index = serializers.IntegerField(help_text="Where it stands in the trace, from 0.")
    role = serializers.CharField()
    side = serializers.CharField(help_text="Whose doing it is: `agent` or `user`.")
    text = serializers.CharField()
    calls = CallSerializer(many=True)
    answers = serializers.IntegerField(allow_null=True, help_text="The number of the call whose result it is.")
    called_at = serializers.IntegerField(allow_null=True, help_text="The index of the message that called.")
    tool = serializers.CharField(help_text="That was called.")


class QuestionSerializer(serializers.Serializer):
    """What an item asks of its own: a reader's question about words of `text`."""

    question = serializers.CharField()
    type = serializers.CharField(help_text="`definition`, `reference` or `background`.")
    start = serializers.IntegerField(help_text="Code points of `text`, from 0.")
    end = serializers.IntegerField()


class DraftSerializer(serializers.Serializer):
    """What was typed so far: the fields as the page's form holds them, each a text."""

    number = serializers.IntegerField()
    draft_number = serializers.IntegerField()
    fields = serializers.DictField(child=serializers.CharField())


class FeedbackSerializer(serializers.Serializer):
    """The expected answer of a practice item, told after one's own."""

    label = serializers.DictField()
    reason_en = InEnglish(source="reasons")
    reason_zh = InChinese(source="reasons")
    is_right = serializers.BooleanField()
    differing = serializers.SerializerMethodField(help_text="What differs, in words.")

    def get_differing(self, feedback) -> list[str]:
        return [gettext(title) for title in feedback.differing]


class ShownSettledSerializer(serializers.Serializer):
    """What the item was settled to; there in a closed project whose lead allows it."""

    label = serializers.DictField(allow_null=True, help_text="Null where it was left unresolved.")
    label_schema = serializers.DictField(source="schema", help_text="Of the protocol that it was settled under.")
    is_same = serializers.BooleanField(help_text="Whether it is the same as your answer.")
    differing = serializers.SerializerMethodField(help_text="What differs, in words.")

    def get_differing(self, settled) -> list[str]:
        return [gettext(title) for title in settled.differing]


class EarlierAnswerSerializer(serializers.Serializer):
    """An answer of a closed round, without who gave it."""

    label = serializers.DictField()
    label_schema = serializers.DictField(help_text="Of the protocol that it was given under.")
    is_own = serializers.BooleanField()


class ThreadPostSerializer(serializers.Serializer):
    number = serializers.IntegerField(help_text="Who says it: Annotator 1 to n of this item.")
    is_own = serializers.BooleanField()
    text = serializers.CharField()


class ThreadSerializer(serializers.Serializer):
    """What those who have the item in the same informed round say about it, first post first."""

    number = serializers.IntegerField(help_text="Your own.")
    n = serializers.IntegerField()
    is_open = serializers.BooleanField()
    posts = ThreadPostSerializer(many=True)


class InformedSerializer(serializers.Serializer):
    """What an informed round tells: your own earlier answer first, the others in random order."""

    answers = EarlierAnswerSerializer(many=True)
    thread = ThreadSerializer()


class ProgressSerializer(serializers.Serializer):
    """One's own way through the plan. A pool gives one item at a time, so that how many come is not known."""

    sequence = serializers.IntegerField(help_text="The collaboration, counted from 1.")
    place = serializers.IntegerField(allow_null=True, help_text="The item's place in it.")
    n_places = serializers.IntegerField(allow_null=True)
    order = serializers.IntegerField(help_text="The item's place in the whole plan.")
    n_planned = serializers.IntegerField(allow_null=True)
    minutes_left = serializers.IntegerField(allow_null=True)


class ItemSerializer(serializers.Serializer):
    """One item as its annotator may see it: all that there is to be had of it."""

    public_id = serializers.CharField()
    project = serializers.CharField(source="project_slug")
    kind = serializers.CharField(source="kind.name")
    phase = serializers.CharField()
    language = serializers.CharField(help_text="Of the text; empty where it is not known.")
    files = FileSerializer(many=True)
    messages = MessageSerializer(many=True)
    text = PiecesField(source="pieces", help_text="What is judged. Spans count its code points from 0.")
    question = QuestionSerializer(allow_null=True, help_text="Where each item asks a thing of its own; else null.")
    policies = serializers.ListField(
        child=serializers.CharField(), help_text="The rules the agent worked under, where the whole trace is judged."
    )
    entries = EntrySerializer(many=True, help_text="Every message, where the whole trace is judged; else none.")
    suggestions = serializers.ListField(
        child=serializers.DictField(), help_text="What rules found; a label decides each. None where nothing is asked."
    )
    label_schema = serializers.DictField(help_text="What a label may say, of `protocol`.")
    protocol = serializers.IntegerField(help_text="To be sent with the answer.")
    number = serializers.IntegerField(help_text="Of one's stored answer, 0 without one. To be sent with the answer.")
    is_submitted = serializers.BooleanField()
    submitted_at = Moment(allow_null=True)
    label = serializers.DictField(allow_null=True, help_text="One's stored answer.")
    draft = DraftSerializer(allow_null=True)
    draft_number = serializers.IntegerField(help_text="The next draft has a higher one.")
    lease_minutes = serializers.IntegerField(
        allow_null=True, help_text="An item from a pool is kept for you so long after each draft or look at it."
    )
    feedback = FeedbackSerializer(allow_null=True)
    sent_back = serializers.CharField(help_text="Why a reviewer sent it back to you; empty for any other.")
    settled = ShownSettledSerializer(allow_null=True)
    informed = InformedSerializer(allow_null=True)
    progress = ProgressSerializer()


class NextSerializer(serializers.Serializer):
    """The item to go on with; where there is none, `standing` says why."""

    standing = serializers.ChoiceField(STANDINGS)
    item = ItemSerializer(allow_null=True)


class ReceiptSerializer(serializers.Serializer):
    """The word that an answer is stored; the same key always gets the same one. `item` is there after a practice item:
    it holds the expected answer."""

    key = serializers.CharField()
    number = serializers.IntegerField()
    submitted_at = Moment()
    public_id = serializers.CharField()
    item = ItemSerializer(allow_null=True)


class UndoSerializer(serializers.Serializer):
    """The answer given last, which may be corrected without a reason; nothing where there is none."""

    item = ItemSerializer(allow_null=True)


class SavedSerializer(serializers.Serializer):
    draft_number = serializers.IntegerField()


class ReportedSerializer(serializers.Serializer):
    public_id = serializers.CharField()
    is_reported = serializers.BooleanField()


class PostedSerializer(serializers.Serializer):
    """The word that it is stored; the same key always gets the same one."""

    key = serializers.CharField()


class GuidelineSerializer(serializers.Serializer):
    """A guideline, in Markdown."""

    protocol = serializers.IntegerField()
    guideline_en = serializers.CharField()
    guideline_zh = serializers.CharField()


class DraftBody(serializers.Serializer):
    number = Whole(min_value=0, max_value=MAX_NUMBER, help_text="The stored answer it builds on, 0 without one.")
    draft_number = Whole(min_value=0, max_value=MAX_NUMBER, help_text="Higher than that of any draft before.")
    fields = Named(child=Text(allow_blank=True), help_text="As the page's form holds them.")


class AnswerBody(serializers.Serializer):
    key = KeyText(
        min_length=16,
        max_length=64,
        help_text="Made by you, a new one for each answer; the same one when you send it again.",
    )
    protocol = Whole(min_value=1, max_value=MAX_NUMBER, help_text="As the item said.")
    label = Named(help_text="By the item's `label_schema`.")
    number = Whole(min_value=0, max_value=MAX_NUMBER, default=0, help_text="As the item said; the answer corrected.")
    draft_number = Whole(min_value=0, max_value=MAX_NUMBER, default=0)
    raw_ms = Whole(min_value=0, max_value=MAX_MILLISECONDS, default=0)
    active_ms = Whole(min_value=0, max_value=MAX_MILLISECONDS, default=0)
    hidden_ms = Whole(min_value=0, max_value=MAX_MILLISECONDS, default=0)
    reason = Text(
        allow_blank=True, max_length=MAX_REASON, default="", help_text="Needed for a correction that is no undo."
    )


class ReportBody(serializers.Serializer):
    text = Text(max_length=MAX_PROBLEM, trim_whitespace=True, help_text="What is wrong with the item.")


class PostBody(serializers.Serializer):
    key = KeyText(
        min_length=16, max_length=64, help_text="Made by you, a new one for each post; the same when sent again."
    )
    text = Text(max_length=MAX_POST, trim_whitespace=True)


class GapBody(PostBody):
    protocol = Whole(min_value=1, max_value=MAX_NUMBER, help_text="As the item said.")


class GuidelineQuery(Query):
    protocol = Digits(required=False, min_value=1, max_value=MAX_NUMBER, help_text="The newest without.")
