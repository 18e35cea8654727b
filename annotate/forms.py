"""What a posted answer carries beside the label: key, protocol, numbers, times. And the two account forms."""

import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.utils.translation import gettext_lazy as _

from annotate.kinds.base import LabelError, TaskKind
from annotate.labeling import NewAnnotation, Timing
from annotate.models import Person
from annotate.queries import NumberedSchema
from annotate.traces.base import Problem, gettext_noop

KEY = re.compile(r"[A-Za-z0-9_-]{16,64}")
MAX_REASON = 2000
MIN_PASSWORD = settings.PASSWORD_MIN_LENGTH
MAX_DRAFT_CHARACTERS = 400_000
MAX_NUMBER = 2**31 - 1
"""What PostgreSQL keeps in a column of whole numbers."""


def read_annotation(
    post: Mapping[str, str], *, kind: TaskKind, text: str, protocols: list[NumberedSchema]
) -> NewAnnotation:
    """The answer in a post; LabelError names every field that is wrong."""
    by_number = {str(protocol.number): protocol for protocol in protocols}
    protocol = by_number.get(post.get("protocol", ""))
    if protocol is None:
        raise LabelError(broken_page("protocol"))
    data = kind.read_form(post)
    refuse_unstorable({**data, "reason": post.get("reason", "")})
    label = kind.parse(data, protocol.label_schema or kind.schema, text)
    timing = Timing(*(whole_number(post, name) for name in ("raw_ms", "active_ms", "hidden_ms")))
    return NewAnnotation(
        label=kind.dump(label),
        protocol=protocol,
        number=whole_number(post, "number", most=MAX_NUMBER),
        draft_number=whole_number(post, "draft_number", most=MAX_NUMBER),
        timing=timing,
        reason=post.get("reason", "").strip()[:MAX_REASON],
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
        if len(self.cleaned_data["password"]) < MIN_PASSWORD:
            raise forms.ValidationError(_("A password has at least %(n)s characters."), params={"n": MIN_PASSWORD})
        validate_password(self.cleaned_data["password"], Person(username=self.cleaned_data.get("username", "")))
        return self.cleaned_data["password"]
