"""What the templates of the kind show: the parts of a question with what was said of them, in the language of the
page."""

import json
from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.translation import get_language, gettext

from annotate.kinds.base import OTHER_STYLE
from annotate.kinds.choice.editor import Editor
from annotate.kinds.choice.form import letter_of
from annotate.kinds.choice.question import (
    JUDGED,
    MAX_PARTS,
    MAX_SHOWN_STEPS,
    TYPES,
    Part,
    Question,
    Title,
    question_of,
)

register = template.Library()
Row = dict[str, Any]


def said(title: Title, otherwise: str = "") -> str:
    return title.said(get_language() or "en") or ("…" if otherwise.startswith("+") else otherwise)


def words(part: Part) -> str:
    return said(part.title, part.id)


@register.simple_tag
def choice_form(schema, values) -> list[Row]:
    """The parts as fields, with what is chosen in them."""
    question, values = question_of(schema or {}), values or {}
    answers, notes, slots = values.get("answers") or {}, values.get("notes") or {}, question.slots
    return [field_of(part, question, answers.get(part.id), notes.get(part.id, ""), slots) for part in question.parts]


def field_of(part: Part, question: Question, value: Any, note: str, slots: Mapping[str, int]) -> Row:
    chosen = value if isinstance(value, list) else [value]
    return {
        "id": part.id,
        "type": part.type,
        "title": words(part),
        "help": said(part.help),
        "required": part.required,
        "when": f"{part.when.part}/{part.when.label}" if part.when else "",
        "when_words": condition(part, question),
        "labels": [
            {
                "id": label.id,
                "title": said(label.title, label.id),
                "key": label.key,
                "is_chosen": label.id in chosen,
                "slot": slots.get(label.id),
            }
            for label in part.labels
        ],
        "is_short": 0 < part.highest - part.lowest < MAX_SHOWN_STEPS,
        "numbers": [
            {"value": number, "key": str(number) if part.digits else "", "is_chosen": number in chosen}
            for number in (part.numbers if 0 < part.highest - part.lowest < MAX_SHOWN_STEPS else ())
        ],
        "lowest": part.lowest,
        "highest": part.highest,
        "low": said(part.ends[0]),
        "high": said(part.ends[1]),
        "value": "" if value is None or isinstance(value, list) else value,
        "note": note,
        "key": part.key,
    }


def condition(part: Part, question: Question) -> str:
    """Where the part is asked, in words."""
    of = question.part(part.when.part) if part.when else None
    if of is None or part.when is None:
        return ""
    wanted = part.when.label
    label = next((said(one.title, one.id) for one in of.labels if one.id == wanted), wanted)
    return gettext("where “%(part)s” is “%(value)s”") % {"part": words(of), "value": label}


@register.simple_tag
def choice_types(schema) -> str:
    """How each type of marks looks, as JSON for the script."""
    question = question_of(schema or {})
    slots = question.slots
    return json.dumps(
        {label.id: {"slot": str(slots[label.id]), "letter": letter_of(label)} for label in question.mark_types}
    )


@register.simple_tag
def choice_summary(schema, values) -> Row:
    """A label in words. What the schema does not have, as it was removed since, goes by the title it had, or its id."""
    question, values = question_of(schema or {}), values or {}
    titles = {label.id: said(label.title, label.id) for label in question.removed}
    titles |= {label.id: said(label.title, label.id) for part in question.parts for label in part.labels}
    titles |= {part.id: words(part) for part in question.parts}
    slots = question.slots
    letters = {label.id: letter_of(label) for label in question.mark_types}
    order = {part.id: place for place, part in enumerate(question.parts)}

    def placed(entry):
        return order.get(entry[0], len(order))

    answers = [
        {"title": titles.get(part, part), "value": value_words(value, titles)}
        for part, value in sorted((values.get("answers") or {}).items(), key=placed)
    ]
    notes = [
        {"title": titles.get(part, part), "value": text}
        for part, text in sorted((values.get("notes") or {}).items(), key=placed)
    ]
    spans = [
        {
            "title": titles.get(span["type"], span["type"]),
            "quote": span["quote"],
            "slot": slots.get(span["type"], OTHER_STYLE),
            "letter": letters.get(span["type"], span["type"][:1]),
        }
        for span in values.get("spans") or []
    ]
    return {"answers": answers, "notes": notes, "spans": spans}


def value_words(value: Any, titles: Mapping[str, str]) -> str:
    if isinstance(value, list):
        return gettext(", ").join(titles.get(one, one) for one in value) or gettext("none of them")
    return titles.get(value, value) if isinstance(value, str) else str(value)


@register.simple_tag
def choice_described(schema) -> Row:
    """A question as leads read it."""
    question = question_of(schema or {})
    return {
        "judged": gettext(JUDGED.get(question.judged, question.judged)),
        "parts": [{**described(part), "when": condition(part, question)} for part in question.parts],
        "removed": [{"id": label.id, "title": said(label.title, label.id)} for label in question.removed],
    }


def described(part: Part) -> Row:
    return {
        "id": part.id,
        "type": gettext(TYPES[part.type]),
        "title": words(part),
        "help": said(part.help),
        "required": part.required,
        "ordered": part.ordered,
        "scale": f"{part.lowest} – {part.highest}" if part.type == "scale" else "",
        "labels": [{"id": one.id, "title": said(one.title, one.id), "key": one.key} for one in part.labels],
    }


@register.simple_tag
def choice_fields(editor: Editor) -> Row:
    """The rows of the page on which a question is set up."""
    question = editor.question
    rows = [editor_row(part, place, editor) for place, part in enumerate(question.parts)]
    return {
        "judged": [(name, gettext(title), name == question.judged) for name, title in JUDGED.items()],
        "parts": rows,
        "can_add": len(rows) < MAX_PARTS,
        "types": [(name, gettext(title)) for name, title in TYPES.items()],
        "focus": editor.focus,
        "selects": ",".join(f"#labels-parts-{place}-when" for place, row in enumerate(rows) if place),
    }


def editor_row(part: Part, place: int, editor: Editor) -> Row:
    question = editor.question
    when = f"{part.when.part}/{part.when.label}" if part.when else ""
    lowest, highest = editor.typed.get(part.id, (str(part.lowest), str(part.highest)))
    choices = [
        (f"{other.id}/{label.id}", f"{said(other.title, number_of(n))} = {said(label.title, number_of(m))}")
        for n, other in enumerate(question.parts[:place])
        if other.type in ("one", "several")
        for m, label in enumerate(other.labels)
    ]
    if when and when not in dict(choices):
        choices.append((when, gettext("a label that is not there")))
    return {
        "part": part,
        "place": place,
        "number": place + 1,
        "at": f"parts-{place}",
        "type_words": gettext(TYPES[part.type]),
        "has_labels": part.type in ("one", "several", "marks"),
        "lowest": lowest,
        "highest": highest,
        "when": when,
        "choices": choices,
        "is_first": place == 0,
        "is_last": place == len(question.parts) - 1,
    }


def number_of(place: int) -> str:
    return str(place + 1)
