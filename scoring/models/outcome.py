"""What agents did with a workflow in their context, or without one, as it was brought in from elsewhere."""

from django.db import models
from django.db.models import Q

from annotate.models import Person, Project


class OutcomeBatch(models.Model):
    """One file of outcomes, kept whole. `about` is what the file says of itself."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="outcome_batches")
    file_name = models.CharField(max_length=255)
    about = models.TextField(blank=True)
    is_synthetic = models.BooleanField(default=False)
    n_outcomes = models.PositiveIntegerField()
    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self):
        return f"{self.file_name} of {self.project_id}"


class Outcome(models.Model):
    """One run of a task under a condition, as docs/records.md has it. Never edited."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="outcomes")
    batch = models.ForeignKey(OutcomeBatch, on_delete=models.PROTECT, related_name="outcomes")
    domain = models.CharField(max_length=80)
    task = models.CharField(max_length=255)
    repeat = models.PositiveBigIntegerField()
    condition = models.CharField(max_length=80)
    success = models.BooleanField()
    tokens = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "domain", "task", "repeat", "condition"], name="outcome_once"
            ),
            models.CheckConstraint(condition=Q(tokens__gte=0), name="outcome_tokens_from_zero"),
        ]

    def __str__(self):
        return f"{self.domain} {self.task} {self.repeat} {self.condition}"
