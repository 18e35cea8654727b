"""What reviewers work from: how far apart the labels of an item are, and what was sent back to whom."""

from django.db import models
from django.db.models import Q

from annotate.models.item import Item
from annotate.models.labor import Assignment, new_public_id
from annotate.models.project import Person, Project


class Disagreement(models.Model):
    """How far apart the blind labels of an item are: worked out of them whenever they have changed, so that a queue of
    any length is one read. `by_measure` holds the measures on which they differ; `n_labels` and `last_annotation` say
    of which labels it was. Reviewers know an item by the public id."""

    item = models.OneToOneField(Item, on_delete=models.CASCADE, related_name="disagreement")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="disagreements")
    public_id = models.CharField(max_length=30, unique=True, default=new_public_id)
    weight = models.FloatField()
    by_measure = models.JSONField(default=dict)
    n_labels = models.PositiveIntegerField()
    last_annotation = models.PositiveBigIntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(weight__gte=0, weight__lte=1), name="disagreement_weight_is_a_share")
        ]
        indexes = [models.Index(fields=["project", "-weight", "item"], name="disagreement_queue")]

    def __str__(self):
        return f"disagreement about item {self.item_id}"


class SentBack(models.Model):
    """Why a reviewer sent an item back, for the one person who has the assignment."""

    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="sent_back")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="+")
    key = models.CharField(max_length=64)
    reason = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="sent_back_has_a_reason"),
        ]
        indexes = [models.Index(fields=["key"], name="sent_back_key")]

    def __str__(self):
        return f"assignment {self.assignment_id} sent back"
