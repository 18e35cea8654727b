"""The fields a page posts, as the JSON form of a label; and titles in the language of the page."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.functional import lazy
from django.utils.translation import get_language

from annotate.kinds.base import OTHER_STYLE, LabelError, Measure, Schema
from annotate.kinds.choice import measures, settle
from annotate.kinds.choice.label import wrong_type
from annotate.kinds.choice.question import Label, Part, Title, is_asked, question_of
from annotate.rules.lanes import MarkType


def read_form(post: Mapping[str, str], schema: Schema) -> dict[str, Any]:
    """`one.PART`, `scale.PART` and `note.PART` are a field each, `several.PART.LABEL` a tick box, `spans` a JSON list.
    A part that is not asked beside the other answers is left out, and so are its marks: without script its fields are
    on the page all the same."""
    try:
        spans = json.loads(post.get("spans") or "[]")
    except (ValueError, RecursionError):
        raise LabelError(wrong_type("spans", "JSON")) from None
    answers: dict[str, Any] = {}
    notes: dict[str, str] = {}
    silent: set[str] = set()
    for part in question_of(schema).parts:
        if not is_asked(part, answers):
            silent |= set(part.label_ids) if part.type == "marks" else set()
        elif part.type == "note":
            if text := post.get(f"note.{part.id}", "").replace("\r\n", "\n"):
                notes[part.id] = text
        elif (value := answer_in(post, part)) is not None:
            answers[part.id] = value
    if isinstance(spans, list) and silent:
        spans = [one for one in spans if not (isinstance(one, dict) and one.get("type") in silent)]
    return {"answers": answers, "notes": notes, "spans": spans}


def answer_in(post: Mapping[str, str], part: Part) -> Any:
    """None where the part was not answered."""
    if part.type == "one":
        return post.get(f"one.{part.id}") or None
    if part.type == "several":
        return [label for label in part.label_ids if post.get(f"several.{part.id}.{label}") == "on"]
    if part.type == "scale":
        text = post.get(f"scale.{part.id}", "").strip()
        digits = text.removeprefix("-")
        is_number = digits.isascii() and digits.isdecimal() and len(digits) < 6
        return (int(text) if is_number else text) if text else None
    return None


def in_language(title: Title, otherwise: str) -> str:
    return title.said(get_language() or "en") or otherwise


say = lazy(in_language, str)
"""The title in the language of whoever reads it, told when it is read."""


def read_measures(schema: Schema) -> Sequence[Measure]:
    return measures.measures(schema, say)


def letter_of(label: Label) -> str:
    return label.key or in_language(label.title, label.id)[:1]


def mark_types(schema: Schema) -> Mapping[str, MarkType]:
    """Those in use, then those that were removed."""
    question = question_of(schema)
    slots = question.slots
    in_use = {
        one.id: MarkType(say(one.title, one.id), str(slots[one.id]), letter_of(one))
        for one in question.mark_types
    }
    removed = {one.id: MarkType(say(one.title, one.id), OTHER_STYLE) for one in question.removed}
    return removed | in_use


def part_titles(schema: Schema) -> Mapping[str, str]:
    return settle.part_titles(schema, say)
