"""What items ended with, and the gold sets that were sealed of it."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotate.models.item import Item
from annotate.models.project import Person, Project, Protocol


class Settlement(models.Model):
    """The label an item ended with, and how. A known answer of a practice item is one with how = known.

    A reviewer's is never edited: a correction adds another, one is current. `rests_on` names the annotations they had
    before them, `verdict_seen_at` is when who settled first saw what the judge says, and `after_verdict` that they had
    seen it before they settled."""

    class How(models.TextChoices):
        MAJORITY = "majority", _("majority")
        CONSENSUS = "consensus", _("consensus")
        REVIEWER = "reviewer", _("reviewer")
        KNOWN = "known", _("known")
        UNRESOLVED = "unresolved", _("unresolved")

    class Cause(models.TextChoices):
        GUIDELINE = "guideline", _("gap in the guideline")
        SLIP = "slip", _("slip")
        AMBIGUOUS = "ambiguous", _("truly ambiguous")
        BAD_ITEM = "bad_item", _("bad item")

    class Confidence(models.TextChoices):
        HIGH = "high", _("sure")
        MEDIUM = "medium", _("fairly sure")
        LOW = "low", _("unsure")

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="settlements")
    label = models.JSONField(null=True, blank=True)
    how = models.CharField(max_length=10, choices=How)
    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.PROTECT)
    protocol = models.ForeignKey(
        Protocol, null=True, blank=True, on_delete=models.PROTECT, related_name="settlements"
    )
    key = models.CharField(max_length=64, blank=True)
    reason_en = models.TextField(blank=True)
    reason_zh = models.TextField(blank=True)
    cause = models.CharField(max_length=20, blank=True, choices=Cause)
    confidence = models.CharField(max_length=20, blank=True, choices=Confidence)
    note = models.TextField(blank=True)
    rests_on = models.JSONField(default=list)
    verdict_seen_at = models.DateTimeField(null=True, blank=True)
    after_verdict = models.BooleanField(default=False)
    is_current = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item"], condition=Q(is_current=True), name="settlement_one_current"),
            models.UniqueConstraint(fields=["item", "key"], condition=~Q(key=""), name="settlement_key_once"),
            models.CheckConstraint(
                condition=Q(cause__in=["", "guideline", "slip", "ambiguous", "bad_item"]), name="settlement_cause_known"
            ),
            models.CheckConstraint(
                condition=Q(confidence__in=["", "high", "medium", "low"]), name="settlement_confidence_known"
            ),
            models.CheckConstraint(
                condition=Q(how="unresolved", label__isnull=True) | (~Q(how="unresolved") & Q(label__isnull=False)),
                name="settlement_has_a_label",
            ),
        ]

    def __str__(self):
        return f"{self.how} of item {self.item_id}"


class Release(models.Model):
    """A sealed, numbered gold set. The database refuses to change or remove it, and its items. One by the rule `jury`
    has the labels of models, and is nobody's gold but theirs (`made_by`).

    `content_hash` is over what `releasing.py` says of items, labels, rule and protocol; `manifest` is the text of
    release.json, with what lies outside the hash: number, time, people, agreement. One that was imported keeps the
    text it came with."""

    class Rule(models.TextChoices):
        MAJORITY = "majority", _("majority")
        CONSENSUS = "consensus", _("consensus")
        REVIEWED = "reviewed", _("reviewed")
        JURY = "jury", _("jury of models")

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="releases")
    number = models.PositiveIntegerField()
    rule = models.CharField(max_length=10, choices=Rule)
    protocol = models.ForeignKey(Protocol, on_delete=models.PROTECT, related_name="releases")
    content_hash = models.CharField(max_length=64)
    manifest = models.TextField()
    n_items = models.PositiveIntegerField()
    is_imported = models.BooleanField(default=False)
    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.PROTECT)
    sealed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="release_number_once"),
            models.CheckConstraint(
                condition=Q(rule__in=["majority", "consensus", "reviewed", "jury"]), name="release_rule_known"
            ),
        ]

    def __str__(self):
        return f"release {self.number} of {self.project_id}"

    @property
    def made_by(self) -> str:
        """Whose labels they are: `people`, or a `jury` of models."""
        return "jury" if self.rule == self.Rule.JURY else "people"


class ReleaseItem(models.Model):
    """An item of a release with the label it ended with; None where the votes made none. `item_hash` is of what was
    judged, so that the item is found again elsewhere; `rests_on` names the labels behind it by public codes, or in
    a release by a jury the runs of its jurors."""

    class How(models.TextChoices):
        MAJORITY = "majority", _("majority")
        CONSENSUS = "consensus", _("consensus")
        REVIEWER = "reviewer", _("reviewer")
        UNRESOLVED = "unresolved", _("unresolved")
        JURY = "jury", _("jury of models")

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="items")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="release_items")
    position = models.PositiveIntegerField()
    item_hash = models.CharField(max_length=64)
    label = models.JSONField(null=True, blank=True)
    how = models.CharField(max_length=10, choices=How)
    is_tie = models.BooleanField(default=False)
    rests_on = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["release", "item"], name="release_item_once"),
            models.UniqueConstraint(fields=["release", "position"], name="release_position_once"),
            models.CheckConstraint(
                condition=Q(how__in=["majority", "consensus", "reviewer", "unresolved", "jury"]),
                name="release_item_how_known",
            ),
            models.CheckConstraint(
                condition=Q(how="unresolved", label__isnull=True) | (~Q(how="unresolved") & Q(label__isnull=False)),
                name="release_item_has_a_label",
            ),
        ]

    def __str__(self):
        return f"item {self.item_id} in release {self.release_id}"
