"""What people do: rounds, assignments, annotations, posts."""

import secrets

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotate.models.item import Item
from annotate.models.project import Membership, Project, Protocol


def new_public_id():
    """A random address; nothing about item, order or time can be read from it."""
    return secrets.token_urlsafe(15)


class Round(models.Model):
    """One pass over items; the first is blind, later ones say whether they are informed."""

    class Purpose(models.TextChoices):
        FIRST = "first", _("first")
        INFORMED = "informed", _("informed")
        SENT_BACK = "sent_back", _("sent back")
        PROTOCOL = "protocol", _("new protocol")

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="rounds")
    number = models.PositiveIntegerField()
    purpose = models.CharField(max_length=10, choices=Purpose)
    informed = models.BooleanField(default=False)
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="round_number_unique"),
            models.UniqueConstraint(
                fields=["project", "purpose"], condition=Q(closed_at=None), name="round_one_open_per_purpose"
            ),
            models.CheckConstraint(
                condition=Q(purpose__in=["first", "informed", "sent_back", "protocol"]), name="round_purpose_known"
            ),
        ]

    def __str__(self):
        return f"round {self.number}"


class Assignment(models.Model):
    """One annotator is to see one item in one round. `order` counts through their plan, `sequence` the traces in it."""

    class State(models.TextChoices):
        LOCKED = "locked", _("not yet open")
        OPEN = "open", _("open")
        SUBMITTED = "submitted", _("submitted")
        PROBLEM = "problem", _("problem reported")
        WITHDRAWN = "withdrawn", _("withdrawn")

    public_id = models.CharField(max_length=30, unique=True, default=new_public_id)
    annotator = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="assignments")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="assignments")
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="assignments")
    point = models.CharField(max_length=64, null=True, blank=True)
    order = models.PositiveIntegerField()
    sequence = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.LOCKED)
    lease_until = models.DateTimeField(null=True, blank=True)
    first_shown_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    draft = models.JSONField(null=True, blank=True)
    draft_number = models.PositiveIntegerField(default=0)
    draft_saved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["annotator", "item", "round"], name="assignment_once_per_round"),
            models.UniqueConstraint(
                fields=["annotator", "point", "round"],
                condition=Q(point__isnull=False),
                name="assignment_one_arm_of_a_point",
            ),
            models.UniqueConstraint(fields=["annotator", "round", "order"], name="assignment_order_unique"),
            models.CheckConstraint(
                condition=Q(state__in=["locked", "open", "submitted", "problem", "withdrawn"]),
                name="assignment_state_known",
            ),
        ]
        indexes = [
            models.Index(fields=["annotator", "state", "round", "order"], name="assignment_next"),
            models.Index(fields=["annotator", "round", "sequence", "order"], name="assignment_in_trace"),
            models.Index(fields=["annotator", "state", "ended_at"], name="assignment_last_of_all"),
            models.Index(
                fields=["round", "state", "lease_until"],
                condition=Q(lease_until__isnull=False),
                name="assignment_leased",
            ),
        ]

    def __str__(self):
        return self.public_id


class Annotation(models.Model):
    """What came back for an assignment. Never edited: a correction adds the next number, one is current."""

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="annotations")
    number = models.PositiveIntegerField(default=1)
    key = models.CharField(max_length=64)
    protocol = models.ForeignKey(Protocol, on_delete=models.PROTECT, related_name="annotations")
    label = models.JSONField()
    reason = models.TextField(blank=True)
    informed = models.BooleanField(default=False)
    raw_ms = models.PositiveBigIntegerField(null=True, blank=True)
    active_ms = models.PositiveBigIntegerField(null=True, blank=True)
    hidden_ms = models.PositiveBigIntegerField(null=True, blank=True)
    submitted_at = models.DateTimeField()
    is_current = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "key"], name="annotation_key_once"),
            models.UniqueConstraint(fields=["assignment", "number"], name="annotation_number_once"),
            models.UniqueConstraint(
                fields=["assignment"], condition=Q(is_current=True), name="annotation_one_current"
            ),
            models.CheckConstraint(condition=Q(number__gte=1), name="annotation_number_from_one"),
            models.CheckConstraint(condition=~Q(key=""), name="annotation_has_a_key"),
        ]

    def __str__(self):
        return f"annotation {self.number} of {self.assignment_id}"


class Post(models.Model):
    """Words about an item: a reported problem, the thread of an informed round, a gap that somebody met in the
    guideline of `protocol`. Those that may be sent twice carry the client's key."""

    class Purpose(models.TextChoices):
        PROBLEM = "problem", _("problem")
        THREAD = "thread", _("thread")
        GAP = "gap", _("gap in the guideline")

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="posts")
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="posts")
    author = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="posts")
    purpose = models.CharField(max_length=10, choices=Purpose)
    key = models.CharField(max_length=64, blank=True, default="")
    protocol = models.ForeignKey(Protocol, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(purpose__in=["problem", "thread", "gap"]), name="post_purpose_known"),
            models.UniqueConstraint(fields=["author", "key"], condition=~Q(key=""), name="post_key_once"),
        ]

    def __str__(self):
        return f"post {self.pk}"
