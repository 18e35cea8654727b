"""What is judged: each text is an item; alternatives of one text share a point and differ in the private arm."""

from django.db import models
from django.db.models import Q

from annotate.models.project import Phase, Project
from annotate.models.trace import Trace


class Item(models.Model):
    """One thing shown for judgement. `text` is set only where it was written for the item, else the trace has it.
    `suggestions` are what the rules of its kind found when it was made; those that are not shown tell afterwards how
    far the shown ones move labels. `asked` is what the item asks beside its text, where its kind asks another thing of
    each. One that is not planned is there for judges alone, until it is."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="items")
    trace = models.ForeignKey(Trace, null=True, blank=True, on_delete=models.CASCADE, related_name="items")
    anchor = models.PositiveIntegerField(null=True, blank=True)
    text = models.TextField(null=True, blank=True)
    cluster = models.CharField(max_length=255)
    point = models.CharField(max_length=64, null=True, blank=True)
    arm = models.CharField(max_length=64, blank=True)
    phase = models.CharField(max_length=10, choices=Phase, default=Phase.MAIN)
    suggestions = models.JSONField(null=True, blank=True)
    suggestions_shown = models.BooleanField(default=True)
    asked = models.JSONField(null=True, blank=True)
    origin = models.JSONField(null=True, blank=True)
    is_planned = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["trace", "anchor"], condition=Q(text=None), name="item_one_per_recorded_anchor"
            ),
            models.UniqueConstraint(
                fields=["project", "point", "arm"], condition=Q(point__isnull=False), name="item_one_per_point_and_arm"
            ),
            models.CheckConstraint(condition=Q(trace__isnull=False) | Q(text__isnull=False), name="item_has_a_text"),
            models.CheckConstraint(condition=Q(phase__in=Phase.values), name="item_phase_known"),
        ]
        indexes = [models.Index(fields=["project", "phase"], name="item_of_phase")]

    def __str__(self):
        return f"item {self.pk}"
