"""Items that were drawn for single annotators: some for all of them, the others for one each."""

from django.db import models

from annotate.models.item import Item
from annotate.models.project import Membership


class SubsetItem(models.Model):
    """One item of what was drawn for one annotator. A common one is drawn for all of them, which nobody is told."""

    annotator = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="subset", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="subsets")
    is_common = models.BooleanField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["annotator", "item"], name="subset_item_once"),
            models.UniqueConstraint(
                fields=["item"], condition=models.Q(is_common=False), name="subset_item_unique_has_one_annotator"
            ),
        ]

    def __str__(self):
        return f"item {self.item_id} for {self.annotator_id}"
