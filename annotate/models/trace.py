"""What was imported. A trace stays staged, and so unseen, until its whole file is in (`importing.py`)."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotate.models.project import Person, Phase, Project


class ImportBatch(models.Model):
    """One file on its way in, and afterwards the record of what became of it."""

    class State(models.TextChoices):
        STAGED = "staged", _("being read")
        VISIBLE = "visible", _("imported")
        REFUSED = "refused", _("refused")

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="batches")
    file_name = models.CharField(max_length=255)
    format = models.CharField(max_length=500, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.STAGED)
    counts = models.JSONField(default=dict)
    problems = models.JSONField(default=list)
    warnings = models.JSONField(default=list)
    phase = models.CharField(max_length=10, choices=Phase, default=Phase.MAIN)
    skip_bad = models.BooleanField(default=False)
    replace_nul = models.BooleanField(default=False)
    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=["staged", "visible", "refused"]), name="batch_state_known")
        ]

    def __str__(self):
        return self.file_name


class Trace(models.Model):
    """One recorded run. `metadata` is private to leads; nothing here but language reaches an annotator."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="traces")
    batch = models.ForeignKey(ImportBatch, on_delete=models.PROTECT, related_name="traces")
    source_id = models.CharField(max_length=255)
    format = models.CharField(max_length=40)
    content_hash = models.CharField(max_length=64)
    cluster = models.CharField(max_length=255)
    area = models.CharField(max_length=255, blank=True)
    language = models.CharField(max_length=10, blank=True)
    metadata = models.JSONField(default=dict)
    is_staged = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "format", "source_id"], condition=Q(is_staged=False), name="trace_identity_unique"
            ),
            models.UniqueConstraint(fields=["batch", "source_id"], name="trace_once_in_batch"),
        ]

    def __str__(self):
        return self.source_id


class Message(models.Model):
    """One entry of a trace at its original index. Whether the requester sees it is decided once, at import."""

    class SeenBy(models.TextChoices):
        REQUESTER = "requester", _("requester and agent")
        AGENT = "agent", _("agent only")

    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="messages")
    index = models.PositiveIntegerField()
    session = models.PositiveIntegerField(default=1)
    role = models.CharField(max_length=10)
    side = models.CharField(max_length=10, default="agent")
    seen_by = models.CharField(max_length=10, choices=SeenBy)
    text = models.TextField(blank=True)
    calls = models.JSONField(default=list)
    answers_index = models.PositiveIntegerField(null=True, blank=True)
    answers_call = models.PositiveIntegerField(null=True, blank=True)
    answers_id = models.CharField(max_length=255, blank=True)
    name = models.CharField(max_length=255, blank=True)

    class Meta:
        ordering = ["index"]
        constraints = [
            models.UniqueConstraint(fields=["trace", "index"], name="message_index_unique"),
            models.CheckConstraint(condition=Q(side__in=["agent", "user"]), name="message_side_known"),
            models.CheckConstraint(condition=Q(seen_by__in=["requester", "agent"]), name="message_seen_by_known"),
            models.CheckConstraint(
                condition=Q(answers_index=None, answers_call=None)
                | Q(answers_index__isnull=False, answers_call__isnull=False),
                name="message_answers_whole",
            ),
        ]

    def __str__(self):
        return f"{self.trace_id} message {self.index}"


class File(models.Model):
    """A file the requester gave."""

    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="files")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=255)
    text = models.TextField(blank=True)
    available_from = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["trace", "position"], name="file_position_unique")]

    def __str__(self):
        return self.name
