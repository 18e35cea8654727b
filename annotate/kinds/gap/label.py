"""The label of one gap: which category what the reader missed belongs to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotate.kinds.base import LabelError, Schema
from annotate.traces.base import Problem, first_problems, gettext_noop
from annotate.traces.strict_json import pointer_part

CATEGORIES = ("pointer", "coined", "term", "background")
SCHEMA: Schema = {"categories": list(CATEGORIES)}
FIELDS = {"category", "comment"}
UNMEASURED = ("comment",)
MAX_COMMENT = 4000
MAX_NAME = 80
"""How much of the name of an unknown field comes back."""


@dataclass(frozen=True, slots=True)
class GapLabel:
    category: str
    comment: str = ""


def parse(data: Mapping[str, Any], schema: Schema, text: str | None) -> GapLabel:
    """A label from its JSON form; the text says nothing about it."""
    unknown = sorted(set(data) - FIELDS)
    problems = [*first_problems(map(unknown_field, unknown), len(unknown)), *field_problems(data)]
    if problems:
        raise LabelError(*problems)
    return load(data, schema)


def load(data: Mapping[str, Any], schema: Schema) -> GapLabel:
    """A label as it was stored; nothing is checked."""
    return GapLabel(data["category"], data.get("comment", ""))


def dump(label: GapLabel) -> dict[str, Any]:
    return {"category": label.category, "comment": label.comment}


def field_problems(data: Mapping[str, Any]) -> list[Problem]:
    problems = []
    category, comment = data.get("category"), data.get("comment", "")
    if category in (None, ""):
        problems.append(
            Problem(
                code="missing_field",
                field="category",
                expected=gettext_noop("No category is chosen."),
                remedy=gettext_noop("Choose one of the four (keys 1 to 4)."),
            )
        )
    elif not isinstance(category, str) or category not in CATEGORIES:
        problems.append(
            Problem(
                code="unknown_label",
                field="category",
                expected=gettext_noop("One of: %(allowed)s."),
                remedy=gettext_noop("Choose one of these; case counts."),
                params={"allowed": ", ".join(CATEGORIES)},
            )
        )
    if not isinstance(comment, str):
        problems.append(
            Problem(
                code="wrong_type",
                field="comment",
                expected=gettext_noop("Expected here: %(expected)s."),
                remedy=gettext_noop("Send it in that form."),
                params={"expected": "text"},
            )
        )
    elif len(comment) > MAX_COMMENT:
        problems.append(
            Problem(
                code="too_many",
                field="comment",
                expected=gettext_noop("At most %(limit)s."),
                remedy=gettext_noop("Shorten it."),
                params={"limit": MAX_COMMENT},
            )
        )
    return problems


def unknown_field(name: str) -> Problem:
    return Problem(
        code="unknown_field",
        field=name[:MAX_NAME],
        pointer=pointer_part(name),
        expected=gettext_noop("A label has the fields %(fields)s."),
        remedy=gettext_noop("Leave the other out."),
        params={"fields": ", ".join(sorted(FIELDS))},
    )
