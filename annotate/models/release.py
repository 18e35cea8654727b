"""What items ended with. Sealed releases will join this file."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotate.models.item import Item
from annotate.models.project import Person


class Settlement(models.Model):
    """The label an item ended with, and how. A known answer of a practice item is one with how = known."""

    class How(models.TextChoices):
        MAJORITY = "majority", _("majority")
        CONSENSUS = "consensus", _("consensus")
        REVIEWER = "reviewer", _("reviewer")
        KNOWN = "known", _("known")
        UNRESOLVED = "unresolved", _("unresolved")

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="settlements")
    label = models.JSONField(null=True, blank=True)
    how = models.CharField(max_length=10, choices=How)
    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.PROTECT)
    reason_en = models.TextField(blank=True)
    reason_zh = models.TextField(blank=True)
    cause = models.CharField(max_length=20, blank=True)
    confidence = models.CharField(max_length=20, blank=True)
    rests_on = models.JSONField(default=list)
    is_current = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item"], condition=Q(is_current=True), name="settlement_one_current"),
            models.CheckConstraint(
                condition=Q(how="unresolved", label__isnull=True) | (~Q(how="unresolved") & Q(label__isnull=False)),
                name="settlement_has_a_label",
            ),
        ]

    def __str__(self):
        return f"{self.how} of item {self.item_id}"
