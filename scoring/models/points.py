"""Reply points: the places of collaborations whose replies are written anew."""

from django.db import models

from annotate.models import Person, Project


class Points(models.Model):
    """Replies as they were chosen once, for every writing condition of a study. They are never edited; another choice
    is the next number. `items` are {item, class, order}, the class `priority` or `random`."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="points")
    number = models.PositiveIntegerField()
    seed = models.PositiveBigIntegerField()
    quota = models.PositiveIntegerField()
    items = models.JSONField(default=list)
    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="points_number_once"),
            models.CheckConstraint(condition=models.Q(quota__gte=1), name="points_quota_from_one"),
        ]

    def __str__(self):
        return f"points {self.number} of {self.project_id}"
