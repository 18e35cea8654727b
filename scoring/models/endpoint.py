"""Where models are asked: an address, a model and how it is asked, as a project uses them."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotate.models import Project

KEY_VARIABLES = "SIGHTLINE_LLM_KEY"
"""How the environment variables begin that a lead may name: no other secret of the server can be sent anywhere."""


class Endpoint(models.Model):
    """A model that judges can ask. What of it may change an answer is copied into a judge's settings when a run starts
    (`endpoints.settings_of`), so an endpoint that was changed is no longer the one that an older run asks."""

    class Provider(models.TextChoices):
        OPENAI = "openai", _("a server that answers as the OpenAI API does")
        PASTED = "pasted", _("a person who pastes the answers")
        RECORDED = "recorded", _("answers that were recorded")

    class KeySource(models.TextChoices):
        NONE = "none", _("no key")
        ENVIRONMENT = "environment", _("an environment variable of the server")
        STORED = "stored", _("stored here, encrypted")

    class ThinkingForm(models.TextChoices):
        """Servers agree on no field for it."""

        EFFORT = "reasoning_effort", "reasoning_effort"
        TEMPLATE = "chat_template_kwargs", "chat_template_kwargs.enable_thinking"
        ENABLE = "enable_thinking", "enable_thinking"
        TYPE = "thinking", "thinking.type"

    class LimitField(models.TextChoices):
        OLDER = "max_tokens", "max_tokens"
        NEWER = "max_completion_tokens", "max_completion_tokens"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="endpoints")
    name = models.CharField(max_length=60)
    provider = models.CharField(max_length=10, choices=Provider, default=Provider.OPENAI)
    address = models.CharField(max_length=300, blank=True)
    model = models.CharField(max_length=120, blank=True)
    temperature = models.FloatField(null=True, blank=True, default=0.0)
    max_output_tokens = models.PositiveIntegerField(default=3000)
    limit_field = models.CharField(max_length=30, choices=LimitField, default=LimitField.OLDER)
    thinking = models.BooleanField(null=True, blank=True)
    thinking_form = models.CharField(max_length=30, choices=ThinkingForm, default=ThinkingForm.EFFORT)
    seed = models.BigIntegerField(null=True, blank=True)
    knows_schema = models.BooleanField(default=False)
    key_source = models.CharField(max_length=12, choices=KeySource, default=KeySource.NONE)
    key_variable = models.CharField(max_length=100, blank=True)
    key_sealed = models.TextField(blank=True)
    price_in = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    price_out = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    is_proof = models.BooleanField(default=False)
    """Its model proves that the way to a model works, and nothing else: what it says is in no report."""
    concurrency = models.PositiveSmallIntegerField(default=4)
    per_minute = models.PositiveIntegerField(default=60)
    deadline_seconds = models.PositiveIntegerField(default=120)
    most_bytes = models.PositiveIntegerField(default=2_000_000)
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "name"], condition=Q(archived_at=None), name="endpoint_name_once_in_use"
            ),
            models.CheckConstraint(
                condition=Q(provider__in=["openai", "pasted", "recorded"]), name="endpoint_provider_known"
            ),
            models.CheckConstraint(
                condition=Q(provider="pasted") | ~Q(address=""), name="endpoint_has_an_address_or_is_pasted"
            ),
            models.CheckConstraint(
                condition=Q(key_source="none", key_variable="", key_sealed="")
                | (Q(key_source="environment", key_variable__startswith=KEY_VARIABLES, key_sealed=""))
                | (Q(key_source="stored", key_variable="") & ~Q(key_sealed="")),
                name="endpoint_key_as_its_source_says",
            ),
            models.CheckConstraint(
                condition=Q(max_output_tokens__gte=1, concurrency__gte=1, per_minute__gte=1)
                & Q(deadline_seconds__gte=1, most_bytes__gte=1),
                name="endpoint_limits_are_there",
            ),
        ]

    def __str__(self):
        return self.name
