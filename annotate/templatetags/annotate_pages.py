"""What annotator templates need beside Django's own tags."""

from django import template
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext

register = template.Library()


@register.filter
def in_language(titles: tuple[str, str]) -> str:
    """The title in the interface language, of an (en, zh) pair."""
    return titles[1] if get_language() == "zh-hans" else titles[0]


@register.filter
def translated(message: str) -> str:
    """A message id that pure code marked for translation. What is lazy is said in a language of its own accord: a title
    that a lead has written, which may be a message id by chance."""
    if isinstance(message, Promise):
        return str(message)
    return gettext(message) if message else ""
