"""What annotator templates need beside Django's own tags."""

from django import template
from django.utils.translation import get_language, gettext

register = template.Library()


@register.filter
def in_language(titles: tuple[str, str]) -> str:
    """The title in the interface language, of an (en, zh) pair."""
    return titles[1] if get_language() == "zh-hans" else titles[0]


@register.filter
def translated(message: str) -> str:
    """A message id that pure code marked for translation."""
    return gettext(message) if message else ""
