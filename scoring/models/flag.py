"""What leads think of the questions of a reader."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotate.models import Person
from scoring.models.judging import Verdict


class Flag(models.Model):
    """A lead's word that a question of a verdict, or the quote that answers it, is wrong. It changes no verdict and no
    figure. `place` is that of the question in its Finding, from 0."""

    class What(models.TextChoices):
        QUESTION = "question", _("question")
        QUOTE = "quote", _("quote")

    verdict = models.ForeignKey(Verdict, on_delete=models.PROTECT, related_name="flags")
    place = models.PositiveSmallIntegerField()
    what = models.CharField(max_length=10, choices=What)
    note = models.TextField(blank=True)
    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["verdict", "place", "what"], name="flag_once"),
            models.CheckConstraint(condition=Q(what__in=["question", "quote"]), name="flag_what_known"),
        ]

    def __str__(self):
        return f"{self.what} {self.place} of verdict {self.verdict_id}"
