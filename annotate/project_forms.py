"""Forms of a lead's pages about a project. What a service refuses is said at the field it names."""

import secrets
from collections.abc import Iterable

from django import forms
from django.http import QueryDict
from django.utils.text import slugify
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate import setting_up
from annotate.errors import Refused
from annotate.kinds.base import Schema
from annotate.kinds.registry import all_kinds, kind_of
from annotate.models import Phase, Project
from annotate.rules.vendor_names import vendor_names

LANGUAGES = [("en", _("English")), ("zh", _("Chinese"))]


class NamesConfirmed(forms.Form):
    """Texts that annotators read: where one newly names a model or a vendor, its writer has to tick that it may."""

    read_by_annotators: Iterable[str] = ()
    more_texts: Iterable[str] = ()
    more_before: Iterable[str] = ()
    """Texts that are no fields of the form, as they are to be and as they were."""
    confirm_names = forms.CharField(required=False)
    """The names as they were shown beside the box, so that the tick says yes to these and no others."""

    def clean(self):
        data = super().clean()
        was = [*(str(self.initial.get(field, "")) for field in self.read_by_annotators), *self.more_before]
        now = [*(data.get(field) or "" for field in self.read_by_annotators), *self.more_texts]
        before = {name for text in was for name in vendor_names(text)}
        found = (name for text in now for name in vendor_names(text))
        names = [name for name in dict.fromkeys(found) if name not in before]
        self.names = ", ".join(names)
        if self.names and data.get("confirm_names") != self.names:
            self.add_error("confirm_names", _("Take the name out, or tick that it may stay."))
        return data

    def refuse(self, refusal: Refused) -> None:
        """Say what a service refused at its field, or above the form where it has none of that name."""
        said = refusal.problem.as_dict(gettext)
        field = said["field"] if said["field"] in self.fields else None
        self.add_error(field, f"{said['expected']} {said['remedy']}")


class ProjectForm(NamesConfirmed):
    """What can be changed of a project at any time."""

    read_by_annotators = ("title_en", "title_zh")
    title_en = forms.CharField(
        required=False,
        max_length=setting_up.MAX_TITLE,
        label=_("Title in English"),
        help_text=_("Annotators read it; where one title is left empty the other stands for it."),
    )
    title_zh = forms.CharField(required=False, max_length=setting_up.MAX_TITLE, label=_("Title in Chinese"))
    languages = forms.MultipleChoiceField(
        choices=LANGUAGES,
        widget=forms.CheckboxSelectMultiple,
        label=_("Languages of the traces"),
        help_text=_("Each annotator is given what is in the languages they read."),
    )
    show = forms.ChoiceField(
        choices=[
            ("light", _("light: headings bold, code and tables monospaced, every character in its place")),
            ("plain", _("plain: the text as it was received, without any styling")),
        ],
        widget=forms.RadioSelect,
        label=_("How replies are shown"),
        help_text=_("The same for everybody; better left alone once people have begun to read."),
    )
    text_beside_calls = forms.ChoiceField(
        choices=[
            ("private", _("private: the requester did not see it, so annotators do not either")),
            ("visible", _("visible: the requester saw it like any other message")),
        ],
        widget=forms.RadioSelect,
        label=_("Text that the agent wrote beside a tool call"),
        help_text=_("Decided for good when the first trace comes in."),
    )
    open_lead = forms.BooleanField(
        required=False,
        label=_("Leads label too (open lead)"),
        help_text=_("They get a plan of their own, although they see more than annotators; every report says so."),
    )
    assigning = forms.ChoiceField(
        required=False,
        choices=[
            ("panel", _("panel: everybody gets every item they read, in an order of their own")),
            ("pool", _("pool: who asks gets the next item, until each item has its labels")),
            ("subsets", _("subsets: some traces are everybody's, others one person's, as you draw them")),
            ("pairs", _("pairs: five people read one of two versions of each point, as you draw them")),
        ],
        widget=forms.RadioSelect,
        label=_("Who gets which item"),
        help_text=_("Can be changed until the first item was given. Practice is done by everybody in any case."),
    )
    overlap = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=setting_up.MAX_OVERLAP,
        label=_("Pool: labels an item"),
        help_text=_("So many people label each item, never more. Agreement needs two."),
    )
    person_cap = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=setting_up.MAX_CAP,
        label=_("Pool: most items a person"),
        help_text=_("Left empty, one may go on as long as there are items. Practice does not count."),
    )
    lease_minutes = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=setting_up.MAX_LEASE,
        label=_("Pool: minutes an item is kept"),
        help_text=_(
            "It begins anew while its reader works. Then somebody else may get the item; what was typed is kept."
        ),
    )

    def clean(self):
        data = super().clean()
        titles = [data.get(name) for name in ("title_en", "title_zh")]
        if not any(titles) and "title_en" not in self.errors and "title_zh" not in self.errors:
            self.add_error("title_en", _("A project has a title in at least one language."))
        data["title_en"], data["title_zh"] = titles[0] or titles[1], titles[1] or titles[0]
        for name in ("assigning", "overlap", "lease_minutes"):
            if name not in self.errors:
                data[name] = data.get(name) or self.initial.get(name) or setting_up.POOL_DEFAULTS[name]
        return data


class NewProjectForm(ProjectForm):
    """A project that is to be made."""

    read_by_annotators = (*ProjectForm.read_by_annotators, "slug")
    slug = forms.CharField(
        required=False,
        max_length=60,
        label=_("Name in addresses"),
        help_text=_(
            "Letters, digits, hyphens and underscores; it stands in the address of every page, commands call the "
            "project by it, and it stays as it is. Left empty it is made from the English title."
        ),
        widget=forms.TextInput(
            attrs={"data-suggested-from": "id_title_en", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    kind = forms.ChoiceField(
        label=_("What annotators do"),
        help_text=_("Stays as it is."),
        widget=forms.Select(
            attrs={
                **{"hx-post": "", "hx-trigger": "change", "hx-vals": '{"do": "draw"}', "hx-swap": "outerHTML"},
                **{"hx-select": "#labels", "hx-target": "#labels", "hx-select-oob": "#labels-preview"},
            }
        ),
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=setting_up.MAX_SEED,
        label=_("Seed"),
        help_text=_(
            "Every random order comes from this number: the same seed gives the same orders again. One was drawn for "
            "you; it stays as it is."
        ),
    )
    open_phase = forms.ChoiceField(
        choices=Phase.choices,
        widget=forms.RadioSelect,
        label=_("First open phase"),
        help_text=_("How far annotators may go at first. Later phases are opened on the project's page."),
    )

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["kind"].choices = [(name, gettext(kind.title)) for name, kind in sorted(all_kinds().items())]

    def clean_slug(self):
        slug = self.cleaned_data["slug"] or slugify(self.cleaned_data.get("title_en", ""))[:60].strip("-_")
        if not slug:
            raise forms.ValidationError(_("Give the project a name; none can be made without an English title."))
        return slug

    def new_project(self, label_schema: Schema | None = None) -> setting_up.NewProject:
        data = {**self.cleaned_data, "label_schema": label_schema}
        values = {name: data[name] for name in setting_up.NewProject.__dataclass_fields__ if name in data}
        return setting_up.NewProject(**{**values, "languages": tuple(data["languages"])})


def typed_values(post: QueryDict) -> dict[str, object]:
    """What stands in a form of a new project that is drawn again, complete or not."""
    return {name: post.getlist(name) if name == "languages" else post[name] for name in post}


def first_values() -> dict[str, object]:
    """What stands in the form of a new project."""
    return {
        "kind": "reply",
        "languages": list(setting_up.LANGUAGES),
        **{name: allowed[0] for name, allowed in setting_up.SETTINGS.items()},
        **setting_up.POOL_DEFAULTS,
        "open_phase": Phase.PRACTICE.value,
        "seed": secrets.randbelow(2**31),
    }


class SettingsForm(ProjectForm):
    """The settings of a project that is there. What a trace was read with cannot be changed any more."""

    suggestions_off = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=setting_up.MAX_SUGGESTIONS_OFF,
        label=_("Percent of items without suggestions"),
        help_text=_(
            "Drawn at random from the items that come in from now on. The report then says how far suggestions move "
            "the labels; annotators are not told which items these are."
        ),
    )

    def __init__(self, *args, project: Project, has_traces: bool, **kwargs):
        self.old = setting_up.settings_of(project)
        initial = {name: getattr(self.old, name) for name in setting_up.ProjectSettings.__dataclass_fields__}
        super().__init__(*args, initial=initial, **kwargs)
        if has_traces:
            del self.fields["text_beside_calls"]
        if kind_of(project.kind).suggest is None:
            del self.fields["suggestions_off"]

    def settings(self) -> setting_up.ProjectSettings:
        data = {"text_beside_calls": self.old.text_beside_calls, **self.cleaned_data}
        if data.get("suggestions_off") is None:
            data["suggestions_off"] = self.old.suggestions_off
        del data["confirm_names"]
        return setting_up.ProjectSettings(**{**data, "languages": tuple(data["languages"])})


class ProtocolForm(NamesConfirmed):
    """The next protocol: the guideline in both languages and what changed."""

    read_by_annotators = ("guideline_en", "guideline_zh")
    guideline_en = forms.CharField(
        required=False,
        strip=False,
        max_length=setting_up.MAX_GUIDELINE,
        label=_("Guideline in English"),
        widget=forms.Textarea(attrs={"rows": 18, "lang": "en"}),
    )
    guideline_zh = forms.CharField(
        required=False,
        strip=False,
        max_length=setting_up.MAX_GUIDELINE,
        label=_("Guideline in Chinese"),
        widget=forms.Textarea(attrs={"rows": 18, "lang": "zh"}),
    )
    change_note = forms.CharField(
        max_length=setting_up.MAX_CHANGE_NOTE,
        label=_("What changed, and why"),
        help_text=_("For leads: it stands in the list of protocols."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    after = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
