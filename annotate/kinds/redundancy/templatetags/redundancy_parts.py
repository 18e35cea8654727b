"""Parts of a label of redundant steps as its templates show them."""

import json
from typing import Any

from django import template
from django.utils.translation import gettext

from annotate.kinds.redundancy.form import line_of
from annotate.kinds.redundancy.schema import TYPE_TITLES

register = template.Library()


@register.filter
def as_json(value: Any) -> str:
    """A list of a label's JSON form for a field of a form; templates escape it like any text."""
    return json.dumps(value or [], ensure_ascii=False)


@register.filter
def type_title(code: str) -> str:
    return gettext(TYPE_TITLES[code]) if code in TYPE_TITLES else code


@register.filter
def as_line(step: Any) -> str:
    """A step as one types it without script."""
    return line_of(step) if isinstance(step, dict) else ""


@register.filter
def as_lines(steps: Any) -> str:
    return "\n".join(map(as_line, steps or []))


@register.filter
def decided(suggestion: Any, values: Any) -> str:
    """What stands in the form about a suggestion."""
    decisions = (values or {}).get("decisions") or []
    found = (one for one in decisions if isinstance(one, dict) and one.get("step") == suggestion["step"])
    return next((str(one.get("decision", "")) for one in found), "")


@register.filter
def indexes(value: Any) -> str:
    """Pairs as `4-5, 8-9`, a message as its index."""
    found = list(value or [])
    if len(found) == 1:
        return str(found[0])
    return ", ".join(f"{found[place]}-{found[place + 1]}" for place in range(0, len(found) - 1, 2))
