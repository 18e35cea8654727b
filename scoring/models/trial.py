"""Two versions of a prompt on the same items."""

from django.db import models

from annotate.models import Person, Project, Release
from scoring.models.asking import Prompt
from scoring.models.judging import Run


class Trial(models.Model):
    """One version of a prompt beside another, all else equal: two runs over the same sealed items, which neither of
    them uses as examples. What came of it is computed from their verdicts."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="trials")
    number = models.PositiveIntegerField()
    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="trials")
    prompt_old = models.ForeignKey(Prompt, on_delete=models.PROTECT, related_name="trials_beside")
    prompt_new = models.ForeignKey(Prompt, on_delete=models.PROTECT, related_name="trials")
    run_old = models.OneToOneField(Run, on_delete=models.PROTECT, related_name="trial_as_old")
    run_new = models.OneToOneField(Run, on_delete=models.PROTECT, related_name="trial_as_new")
    items = models.JSONField(default=list)
    n_examples = models.PositiveIntegerField(default=0)
    """Items that were drawn and left out, as one of the two has them as examples."""
    seed = models.PositiveBigIntegerField()
    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    started_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="trial_number_once"),
            models.CheckConstraint(
                condition=~models.Q(prompt_old=models.F("prompt_new")), name="trial_of_two_versions"
            ),
        ]

    def __str__(self):
        return f"trial {self.number} of {self.project_id}"
