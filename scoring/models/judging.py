"""Automated raters, their runs and what they said."""

from django.db import models
from django.db.models import Q

from annotate.models import Item, Person, Project, WorkGroup
from scoring.models.endpoint import Endpoint
from scoring.models.points import Points


class Judge(models.Model):
    """An automated rater with its settings, as a project uses it. What it does stands in `scoring/judges/NAME.py`."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="judges")
    name = models.CharField(max_length=40)
    settings = models.JSONField(default=dict)
    settings_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name", "settings_hash"], name="judge_once_with_its_settings")
        ]

    def __str__(self):
        return self.name


class Run(models.Model):
    """One pass of a judge over the items of some phases. Its jobs are the work rows of `group`: how far it is, whether
    it is held and what was given up stands there. `version` is that of the judge's code."""

    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="runs")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="runs")
    number = models.PositiveIntegerField()
    version = models.CharField(max_length=40)
    phases = models.JSONField(default=list)
    n_items = models.PositiveIntegerField()
    n_samples = models.PositiveSmallIntegerField(default=1)
    group = models.OneToOneField(WorkGroup, on_delete=models.PROTECT, related_name="run")
    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.PROTECT, related_name="runs")
    endpoint = models.ForeignKey(Endpoint, null=True, blank=True, on_delete=models.PROTECT, related_name="runs")
    points = models.ForeignKey(Points, null=True, blank=True, on_delete=models.PROTECT, related_name="runs")
    """The replies that it was started over, in place of phases."""
    is_proof = models.BooleanField(default=False)
    """As its endpoint was when it started: a proof of the wire, whose verdicts are shown as such and in no report."""
    prompts = models.JSONField(default=dict, blank=True)
    reuse = models.BooleanField(default=True)
    """Whether a recorded answer to an equal request is taken in place of a call."""
    cap_calls = models.PositiveIntegerField(null=True, blank=True)
    cap_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    cap_cost = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    held_for = models.JSONField(null=True, blank=True)
    """Why the run was held without anybody asking for it, as a problem; None again once it is resumed."""
    started_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="run_number_once"),
            models.CheckConstraint(
                condition=Q(endpoint=None)
                | Q(cap_calls__isnull=False)
                | Q(cap_tokens__isnull=False)
                | Q(cap_cost__isnull=False),
                name="run_that_asks_has_a_cap",
            ),
        ]

    def __str__(self):
        return f"run {self.number} of {self.project_id}"


class Verdict(models.Model):
    """What a run said of an item, once. `label` is the finding as a label of the kind; None where it is none, as with
    an answer that nobody could read, whose text is kept in `finding`."""

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="verdicts")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="verdicts")
    sample = models.PositiveSmallIntegerField(default=0)
    label = models.JSONField(null=True, blank=True)
    finding = models.JSONField(default=dict)
    is_unreadable = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "item", "sample"], name="verdict_once"),
            models.CheckConstraint(
                condition=Q(is_unreadable=False) | Q(label__isnull=True), name="verdict_unreadable_has_no_label"
            ),
        ]

    def __str__(self):
        return f"verdict of run {self.run_id} on item {self.item_id}"
