"""The form of an upload. What the service refuses is said at the field it names."""

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.errors import Refused
from annotate.models import Phase
from annotate.traces.sniff import readers


class UploadForm(forms.Form):
    """A trace file and how to read it."""

    file = forms.FileField(
        required=False,  # the service says what is missing, to this form as to scripts
        allow_empty_file=True,
        label=_("Trace file"),
        help_text=_("All of it comes in, or nothing and a list of what is wrong with it."),
    )
    phase = forms.ChoiceField(
        choices=Phase.choices,
        widget=forms.RadioSelect,
        label=_("Phase"),
        help_text=_(
            "What its items are for: practice with known answers, a pilot to try the guideline, or the main phase, "
            "whose labels are the result."
        ),
    )
    format = forms.ChoiceField(
        label=_("Format"),
        help_text=_("It is told by the content; name it only where that goes wrong."),
    )
    skip_bad = forms.BooleanField(
        required=False,
        label=_("Leave out bad records"),
        help_text=_("The rest comes in; what was left out is listed in the report of the import."),
    )
    replace_nul = forms.BooleanField(
        required=False,
        label=_("Show NUL characters"),
        help_text=_(
            "The character U+0000, which cannot be stored, becomes U+2400, a visible one, and refuses nothing."
        ),
    )

    def __init__(self, *args, **kwargs):
        super().__init__(*args, initial={"phase": Phase.MAIN.value, "format": "auto"}, **kwargs)
        named = [(name, f"{reader.TITLE} ({name})") for name, reader in readers().items()]
        self.fields["format"].choices = [("auto", _("told by the content")), *named]

    def refuse(self, refusal: Refused) -> None:
        said = refusal.problem.as_dict(gettext)
        self.add_error(said["field"] or None, f"{said['expected']} {said['remedy']}")
