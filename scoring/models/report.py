"""Figures that were computed, with what they rest on."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from annotate.models import Project


class Report(models.Model):
    """Figures that were computed, with what they rest on: `settings` say what was asked, `ids` which rows it was asked
    of (runs of ids as text, by table), `seen` how the fresh report is told from one that newer labels have overtaken.
    The same settings and ids give the same `payload`."""

    class Kind(models.TextChoices):
        AGREEMENT = "agreement", _("agreement")
        METHOD = "method", _("method")

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="reports")
    kind = models.CharField(max_length=20, choices=Kind)
    settings = models.JSONField(default=dict)
    settings_hash = models.CharField(max_length=64)
    seen = models.JSONField(default=dict)
    ids = models.JSONField(default=dict)
    payload = models.JSONField(default=dict)
    version = models.CharField(max_length=40)
    computed_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["project", "settings_hash", "-id"], name="report_newest")]

    def __str__(self):
        return f"{self.kind} report {self.pk}"
