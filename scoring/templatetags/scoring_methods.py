"""Whether projects of a task kind have the report of a method, for the parts of a project that pages list."""

from django import template

from scoring.methods.tables import method_of_kind

register = template.Library()


@register.filter
def has_method(kind: str) -> bool:
    return method_of_kind(kind) is not None
