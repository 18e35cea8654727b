"""What models are asked: the prompts in their versions, and every call with what came back."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotate.models import Item, Person, Project
from scoring.models.judging import Run


class Prompt(models.Model):
    """One version of a prompt's text in one language. It is never edited; another text is the next number. Number 1 is
    the text that the product brings along."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="prompts")
    key = models.CharField(max_length=40)
    language = models.CharField(max_length=8)
    number = models.PositiveIntegerField()
    text = models.TextField()
    sha256 = models.CharField(max_length=64)
    examples = models.JSONField(default=list, blank=True)
    """Numbers of the items that it uses as examples; no trial judges them by it."""
    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.PROTECT, related_name="prompts")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "key", "language", "number"], name="prompt_number_once"),
            models.CheckConstraint(condition=Q(language__in=["en", "zh"]), name="prompt_language_known"),
        ]

    def __str__(self):
        return f"{self.key} {self.language} {self.number}"


class Call(models.Model):
    """One question of a judgment to a model. It is written before it is sent, and its answer as it came before anybody
    reads it. Tries that the endpoint turned away are tries of the same call (`n_tries`), not further ones."""

    class State(models.TextChoices):
        STORED = "stored", _("not sent")
        SENT = "sent", _("under way")
        ANSWERED = "answered", _("answered")
        FAILED = "failed", _("ended without an answer")

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="calls")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="calls")
    sample = models.PositiveSmallIntegerField(default=0)
    step = models.CharField(max_length=40)
    attempt = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.STORED)
    n_tries = models.PositiveIntegerField(default=0)
    n_lost = models.PositiveIntegerField(default=0)
    """Tries whose end nobody saw; they may have been charged."""
    tokens_expected = models.PositiveIntegerField(default=0)
    """The most that a try is reckoned to take, for the run's cap."""
    tokens_in = models.PositiveIntegerField(null=True, blank=True)
    tokens_out = models.PositiveIntegerField(null=True, blank=True)
    cost = models.DecimalField(max_digits=14, decimal_places=8, null=True, blank=True)
    latency_ms = models.PositiveIntegerField(null=True, blank=True)
    cut = models.BooleanField(default=False)
    refused = models.BooleanField(default=False)
    is_tool_call = models.BooleanField(default=False)
    prompt = models.ForeignKey(Prompt, null=True, blank=True, on_delete=models.PROTECT, related_name="calls")
    """None where a judge sends a chat without any text of its own."""
    copied_from = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="copies")
    """The call whose recorded answer this one uses again: nothing was sent."""
    request_hash = models.CharField(max_length=64, db_index=True)
    request_id = models.CharField(max_length=200, blank=True)
    error = models.JSONField(null=True, blank=True)
    """Why the last try failed, as a problem."""
    stored_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    request = models.JSONField(default=dict)
    response = models.TextField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "item", "sample", "step", "attempt"], name="call_once"),
            models.CheckConstraint(
                condition=Q(state__in=["stored", "sent", "answered", "failed"]), name="call_state_known"
            ),
            models.CheckConstraint(
                condition=~Q(state="answered") | Q(response__isnull=False, answered_at__isnull=False),
                name="call_answered_has_answer",
            ),
            models.CheckConstraint(
                condition=~Q(state="sent") | Q(sent_at__isnull=False, n_tries__gt=0), name="call_sent_has_time"
            ),
            models.CheckConstraint(condition=Q(attempt__gte=1), name="call_attempt_from_one"),
        ]
        indexes = [
            models.Index(
                fields=["run", "state", "n_tries", "n_lost", "tokens_expected", "tokens_in", "tokens_out", "cost"],
                name="call_sums",
            ),
            models.Index(fields=["run", "-sent_at"], name="call_last_sent"),
        ]

    def __str__(self):
        return f"{self.step} {self.attempt} of run {self.run_id} on item {self.item_id}"
