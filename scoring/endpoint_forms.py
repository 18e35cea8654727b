"""What a lead says of an endpoint. The service decides what goes; a refusal stands at its field."""

from dataclasses import asdict

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.errors import Refused
from scoring.endpoint_keys import LONGEST_KEY
from scoring.endpoints import LONGEST_MODEL, LONGEST_NAME, EndpointValues, values_of
from scoring.llm_addresses import LONGEST_ADDRESS
from scoring.models import Endpoint

THINKING = (("", _("as the server has it")), ("no", _("without thinking")), ("yes", _("with thinking")))
WORDS = {None: "", False: "no", True: "yes"}


def text(label, most, *, required=False, hint="", **attributes):
    attributes = {"autocomplete": "off", "spellcheck": "false", **attributes}
    return forms.CharField(
        label=label, required=required, max_length=most, help_text=hint, widget=forms.TextInput(attrs=attributes)
    )


class EndpointForm(forms.Form):
    """Everything that an endpoint holds, and a key that is never shown again."""

    name = text(_("Name"), LONGEST_NAME, required=True, hint=_("It stands in runs and reports."))
    provider = forms.ChoiceField(label=_("Answers come from"), choices=Endpoint.Provider.choices)
    address = text(
        _("Address"),
        LONGEST_ADDRESS,
        hint=_("Such as https://host.example/v1; of a recording its name. Leave it empty where a person pastes."),
    )
    model = text(_("Model"), LONGEST_MODEL, required=True, hint=_("Its name, as the server knows it."))
    temperature = forms.FloatField(
        label=_("Temperature"), required=False, help_text=_("Empty: as the server has it.")
    )
    max_output_tokens = forms.IntegerField(label=_("Most tokens of an answer"))
    limit_field = forms.ChoiceField(
        label=_("Name of that limit in requests"),
        choices=Endpoint.LimitField.choices,
        help_text=_("Some servers only know the newer one."),
    )
    thinking = forms.ChoiceField(label=_("Thinking"), choices=THINKING, required=False)
    thinking_form = forms.ChoiceField(
        label=_("Field that says so"),
        choices=Endpoint.ThinkingForm.choices,
        help_text=_("Servers differ in it; the documentation of yours names one of these."),
    )
    seed = forms.IntegerField(label=_("Seed"), required=False, help_text=_("Empty: none is sent."))
    knows_schema = forms.BooleanField(
        label=_("The server takes a JSON schema for answers"),
        required=False,
        help_text=_("Answers then have the right form more often; they are checked all the same."),
    )
    key_source = forms.ChoiceField(label=_("Key"), choices=Endpoint.KeySource.choices)
    key_variable = text(
        _("Environment variable"),
        100,
        hint=_("Begins with SIGHTLINE_LLM_KEY. The operator of this server sets it, and may say for which hosts."),
    )
    key = forms.CharField(
        label=_("Key to store"),
        required=False,
        max_length=LONGEST_KEY,
        help_text=_("It is stored encrypted and never shown. Empty keeps the one that is stored."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    price_in = forms.DecimalField(
        label=_("Price of a million tokens asked"),
        required=False,
        max_digits=12,
        decimal_places=4,
        help_text=_("In any currency. Without prices a run counts tokens and no cost."),
    )
    price_out = forms.DecimalField(
        label=_("Price of a million tokens answered"), required=False, max_digits=12, decimal_places=4
    )
    is_proof = forms.BooleanField(
        label=_("A proof of the wire only"),
        required=False,
        help_text=_("For a small model that shows that the way works: what it says is marked, and in no report."),
    )
    concurrency = forms.IntegerField(label=_("Questions at once"))
    per_minute = forms.IntegerField(label=_("Questions a minute"))
    deadline_seconds = forms.IntegerField(label=_("Seconds for an answer"))
    most_bytes = forms.IntegerField(label=_("Most bytes of an answer"))

    def __init__(self, *args, endpoint: Endpoint | None = None, **options):
        known = values_of(endpoint) if endpoint else EndpointValues(name="")
        super().__init__(*args, initial={**asdict(known), "thinking": WORDS[known.thinking]}, **options)

    def values(self) -> EndpointValues:
        data = {name: value for name, value in self.cleaned_data.items() if name != "key"}
        thinking = {word: value for value, word in WORDS.items()}[data["thinking"]]
        return EndpointValues(**{**data, "thinking": thinking})

    def refuse(self, refusal: Refused) -> None:
        """Say what the service refused at its field, or above the form where it has none of that name."""
        said = refusal.problem.as_dict(gettext)
        self.add_error(said["field"] if said["field"] in self.fields else None, f"{said['expected']} {said['remedy']}")
