"""What is to be done in the background, and the audit trail of what was done."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotate.models.project import Person, Project


class WorkGroup(models.Model):
    """Jobs that are held, let go on or called off together, by one small write however many they are."""

    class State(models.TextChoices):
        OPEN = "open", _("open")
        HELD = "held", _("held")
        CANCELLED = "cancelled", _("cancelled")

    key = models.CharField(max_length=80, unique=True)
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=["open", "held", "cancelled"]), name="work_group_state_known")
        ]

    def __str__(self):
        return self.key


class Work(models.Model):
    """A job of any app, written with its cause. Jobs of one lane run one at a time. `attempts` is also the number of
    the claim: who finishes has to hold the newest one. Of what can be claimed the lowest `priority` comes first."""

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        DEAD = "dead", _("given up")

    kind = models.CharField(max_length=40)
    key = models.CharField(max_length=120, unique=True)
    lane = models.CharField(max_length=80, blank=True)
    group = models.ForeignKey(WorkGroup, null=True, blank=True, on_delete=models.PROTECT, related_name="jobs")
    priority = models.PositiveSmallIntegerField(default=0)
    payload = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    max_attempts = models.PositiveIntegerField(default=3)
    not_before = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    n_done = models.PositiveBigIntegerField(default=0)
    n_total = models.PositiveBigIntegerField(null=True, blank=True)
    result = models.JSONField(null=True, blank=True)
    error = models.TextField(blank=True)
    project = models.ForeignKey(Project, null=True, blank=True, on_delete=models.PROTECT, related_name="work")
    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.PROTECT, related_name="work")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["lane"], condition=Q(state="running") & ~Q(lane=""), name="work_one_running_per_lane"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running", "done", "dead"]), name="work_state_known"
            ),
        ]
        indexes = [
            models.Index(fields=["state", "lease_until"], name="work_to_claim"),
            models.Index(fields=["project", "kind"], name="work_of_project"),
            models.Index(fields=["group", "state"], name="work_of_group"),
            models.Index(
                fields=["priority", "id"], condition=Q(state__in=["waiting", "running"]), name="work_unfinished"
            ),
        ]

    def __str__(self):
        return f"{self.kind} {self.key}"


class Event(models.Model):
    """What happened, by whom, in the order of the ids. The database refuses to change or remove a row."""

    project = models.ForeignKey(Project, null=True, blank=True, on_delete=models.PROTECT, related_name="events")
    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.PROTECT)
    action = models.CharField(max_length=60)
    detail = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self):
        return self.action
