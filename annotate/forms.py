"""What a posted answer carries beside the label: key, protocol, numbers, times. And the forms of accounts."""

import re
import zoneinfo
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.password_validation import validate_password
from django.utils.translation import gettext_lazy as _

from annotate.kinds.base import Blocks, LabelError, TaskKind, parsed
from annotate.labeling import NewAnnotation, Timing
from annotate.models import Person
from annotate.queries import NumberedSchema
from annotate.tokens import MAX_TOKEN_NAME
from annotate.traces.base import Problem, gettext_noop

KEY = re.compile(r"[A-Za-z0-9_-]{16,64}")
MAX_REASON = 2000
MIN_PASSWORD = settings.PASSWORD_MIN_LENGTH
MAX_DRAFT_CHARACTERS = 400_000
MAX_NUMBER = 2**31 - 1
"""What PostgreSQL keeps in a column of whole numbers."""


def read_annotation(
    post: Mapping[str, str],
    *,
    kind: TaskKind,
    text: str,
    shown: Callable[[], Blocks],
    protocols: list[NumberedSchema],
) -> NewAnnotation:
    """The answer in a post; LabelError names every field that is wrong."""
    by_number = {str(protocol.number): protocol for protocol in protocols}
    protocol = by_number.get(post.get("protocol", ""))
    if protocol is None:
        raise LabelError(broken_page("protocol"))
    return new_annotation(
        data=kind.read_form(post, protocol.label_schema or kind.schema),
        protocol=protocol,
        number=whole_number(post, "number", most=MAX_NUMBER),
        draft_number=whole_number(post, "draft_number", most=MAX_NUMBER),
        timing=Timing(*(whole_number(post, name) for name in ("raw_ms", "active_ms", "hidden_ms"))),
        reason=post.get("reason", "").strip()[:MAX_REASON],
        kind=kind,
        text=text,
        shown=shown,
    )


def new_annotation(
    *,
    data: Mapping[str, Any],
    protocol: NumberedSchema,
    number: int,
    draft_number: int,
    timing: Timing,
    reason: str,
    kind: TaskKind,
    text: str,
    shown: Callable[[], Blocks],
) -> NewAnnotation:
    """An answer whose label came in its JSON form, from a page or from a script, checked against what its item
    shows."""
    refuse_unstorable({**data, "reason": reason})
    label = parsed(kind, data, protocol.label_schema or kind.schema, text=text, shown=shown)
    return NewAnnotation(
        label=kind.dump(label),
        protocol=protocol,
        number=number,
        draft_number=draft_number,
        timing=timing,
        reason=reason,
    )


def read_key(post: Mapping[str, str]) -> str:
    """The client's key of an answer; LabelError when the page sent none."""
    key = post.get("key", "")
    if not KEY.fullmatch(key):
        raise LabelError(broken_page("key"))
    return key


def whole_number(post: Mapping[str, str], name: str, *, most: int = 10**15) -> int:
    """A number of the page's own; a missing one is 0, anything else but digits is refused."""
    value = post.get(name) or "0"
    if not value.isascii() or not value.isdecimal() or len(value) > 15 or int(value) > most:
        raise LabelError(broken_page(name))
    return int(value)


def refuse_unstorable(fields: Mapping[str, Any]) -> None:
    """U+0000 and lone surrogates cannot be stored on every database, so neither is taken on any; the field that holds
    one is named."""
    texts = ((field, text) for field, value in fields.items() for text in strings_in([field, value]))
    for name, text in texts:
        if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
            raise LabelError(
                Problem(
                    code="nul_character" if "\x00" in text else "lone_surrogate",
                    field=name,
                    expected=gettext_noop("The text holds a character that cannot be stored."),
                    remedy=gettext_noop("Remove it; it is invisible and may have come with a pasted text."),
                )
            )


def strings_in(value: Any) -> list[str]:
    """Every text in a JSON value, however deep."""
    found, waiting = [], [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part, Mapping):
            waiting += [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple):
            waiting += part
    return found


def broken_page(field: str) -> Problem:
    return Problem(
        code="wrong_type",
        field=field,
        expected=gettext_noop("The page sent an answer without what belongs to it."),
        remedy=gettext_noop("Reload the page; what you typed is kept."),
    )


REGIONS = ("Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")


@cache
def zone_names() -> list[str]:
    """The zones there are, as `Region/City`; other spellings of the same are left out."""
    return sorted(name for name in zoneinfo.available_timezones() if name.split("/")[0] in REGIONS and "/" in name)


def time_zones():
    return [("", _("That of the browser")), ("UTC", "UTC"), *((name, name) for name in zone_names())]


class SetUpForm(forms.Form):
    """Name and password of the first lead."""

    username = forms.RegexField(
        r"^[\w.@+-]+$",
        max_length=150,
        label=_("Name to sign in with"),
        widget=forms.TextInput(attrs={"autocomplete": "username"}),
    )
    password = forms.CharField(
        label=_("Password"), strip=False, widget=forms.PasswordInput(attrs={"autocomplete": "new-password"})
    )

    def clean_username(self):
        username = Person.normalize_username(self.cleaned_data["username"])
        if Person.objects.filter(username__iexact=username).exists():
            raise forms.ValidationError(_("This name is taken. Choose another."))
        return username

    def clean_password(self):
        person = Person(username=self.cleaned_data.get("username", ""))
        return good_password(self.cleaned_data["password"], person)


def good_password(password, person):
    """A password that this person may have; ValidationError says what it lacks."""
    if len(password) < MIN_PASSWORD:
        raise forms.ValidationError(_("A password has at least %(n)s characters."), params={"n": MIN_PASSWORD})
    validate_password(password, person)
    return password


def password_field(label, autocomplete):
    attributes = {"autocomplete": autocomplete}
    return forms.CharField(label=label, strip=False, widget=forms.PasswordInput(attrs=attributes))


class NewPasswordForm(forms.Form):
    """A new password, twice, as nobody sees what they type."""

    new_password = password_field(_("New password"), "new-password")
    again = password_field(_("Once more"), "new-password")

    def __init__(self, person, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.person = person

    def clean_new_password(self):
        return good_password(self.cleaned_data["new_password"], self.person)

    def clean(self):
        new, again = self.cleaned_data.get("new_password"), self.cleaned_data.get("again")
        if new and again and new != again:
            self.add_error("again", _("The two differ. Type the new password twice."))
        return self.cleaned_data


class OwnPasswordForm(forms.Form):
    """The password one has. `person` is afterwards whose it is."""

    password = password_field(_("Your password"), "current-password")

    def __init__(self, request, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.request = request

    def clean_password(self):
        self.person = check_own_password(self.request, self.cleaned_data["password"])
        return self.cleaned_data["password"]


class ChangePasswordForm(NewPasswordForm):
    """The password one has, and the new one."""

    password = password_field(_("Your password"), "current-password")
    field_order = ("password", "new_password", "again")

    def __init__(self, request, *args, **kwargs):
        super().__init__(request.user, *args, **kwargs)
        self.request = request

    def clean_password(self):
        self.person = check_own_password(self.request, self.cleaned_data["password"])
        return self.cleaned_data["password"]


def check_own_password(request, password):
    """The person who is signed in, if this is their password. A wrong one is counted as in sign-in, and can lock it."""
    person = authenticate(request, username=request.user.get_username(), password=password)
    if person is None:
        raise forms.ValidationError(_("This is not your password."))
    return person


class PreferencesForm(forms.Form):
    """How pages are shown to oneself."""

    interface_language = forms.ChoiceField(label=_("Language of the interface"), choices=settings.LANGUAGES)
    time_zone = forms.ChoiceField(label=_("Time zone"), required=False, choices=time_zones)


class TokenForm(forms.Form):
    """What a token opens, and what it is for. `parts` are the projects one belongs to, by their names and titles."""

    project = forms.ChoiceField(label=_("Project"))
    name = forms.CharField(
        label=_("What it is for"),
        max_length=MAX_TOKEN_NAME,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args, parts, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["project"].choices = parts
