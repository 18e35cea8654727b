"""What a lead says of somebody who is to join."""

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.inviting import INVITE_DAYS, MAX_DAYS, MAX_NOTE
from annotate.models import Project, Role
from annotate.project_forms import LANGUAGES
from annotate.traces.base import Problem

LANGUAGE_NAMES = dict(LANGUAGES)


def language_choices(project: Project) -> list[tuple[str, str]]:
    return [(language, LANGUAGE_NAMES.get(language, language)) for language in project.languages]


class InviteForm(forms.Form):
    """A part, for whom it is, and how long the link works."""

    role = forms.ChoiceField(label=_("Part"), choices=Role.choices, initial=Role.ANNOTATOR)
    languages = forms.MultipleChoiceField(label=_("Reads"), widget=forms.CheckboxSelectMultiple)
    note = forms.CharField(
        label=_("Note, for leads only"),
        required=False,
        max_length=MAX_NOTE,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    days = forms.IntegerField(label=_("Days it works"), min_value=1, max_value=MAX_DAYS, initial=INVITE_DAYS)

    def __init__(self, *args, project: Project, **options):
        super().__init__(*args, initial={"languages": project.languages}, **options)
        self.fields["languages"].choices = language_choices(project)

    def refuse(self, problem: Problem) -> None:
        """Say at its field what the service refused."""
        said = problem.as_dict(gettext)
        self.add_error(said["field"], f"{said['expected']} {said['remedy']}")
