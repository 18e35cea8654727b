"""A label: the answers to the parts of a question, its notes and its marks.

    {"answers": {PART: LABEL | [LABEL, ...] | NUMBER}, "notes": {PART: TEXT}, "spans": [{start, end, type, quote}]}

Only parts that are asked have an answer; a part with several labels that is asked has a list, which may be empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotate.kinds.base import LabelError, Schema, Span
from annotate.kinds.choice.question import Part, Question, is_asked, question_of
from annotate.rules.quotes import slice_matches
from annotate.traces.base import Problem, first_problems, gettext_noop
from annotate.traces.strict_json import pointer_part

FIELDS = {"answers", "notes", "spans"}
SPAN_FIELDS = {"start", "end", "type", "quote"}
UNMEASURED = ("notes",)
MAX_SPANS = 500
MAX_NOTE = 4000
MAX_NAME = 80
"""How much of a name that nobody knows comes back."""

Value = str | tuple[str, ...] | int


@dataclass(frozen=True, slots=True)
class Answer:
    """What a part was answered with. `place` is where an ordered answer stands between its ends, from 0 to 1."""

    part: str
    value: Value
    place: float | None = None


@dataclass(frozen=True, slots=True)
class ChoiceLabel:
    answers: tuple[Answer, ...]
    spans: tuple[Span, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()

    def value(self, part: str) -> Value | None:
        return next((answer.value for answer in self.answers if answer.part == part), None)


def parse(data: Mapping[str, Any], schema: Schema, text: str | None) -> ChoiceLabel:
    """A label from its JSON form. `text` is the canonical text the spans must quote; None trusts what was stored."""
    question = question_of(schema)
    found = [*unknown_fields(data), *form_problems(data)]
    if found:
        raise LabelError(*found)
    answers, notes, spans = data.get("answers", {}), data.get("notes", {}), data.get("spans", [])
    problems = [
        *unknown_parts(answers, notes, question),
        *(problem for part in question.parts for problem in part_problems(part, answers, notes)),
        *first_problems(span_problems(spans, question, answers, text)),
    ]
    if not problems:
        problems += missing_marks(question, answers, spans)
    if problems:
        raise LabelError(*problems)
    return load(data, schema)


def load(data: Mapping[str, Any], schema: Schema) -> ChoiceLabel:
    """A label as it was stored; nothing is checked. What the schema does not have is kept as it is."""
    question = question_of(schema)
    order = {part.id: place for place, part in enumerate(question.parts)}

    def placed(entry: tuple[str, Any]) -> tuple[int, str]:
        return order.get(entry[0], len(order)), entry[0]

    answers = tuple(
        answer_of(part, value, question.part(part)) for part, value in sorted(data["answers"].items(), key=placed)
    )
    notes = tuple(sorted(((part, text) for part, text in data.get("notes", {}).items() if text), key=placed))
    types = {label.id: place for place, label in enumerate(question.mark_types)}
    spans = {Span(one["start"], one["end"], one["type"], one["quote"]) for one in data.get("spans", ())}
    ordered = sorted(spans, key=lambda span: (span.start, span.end, types.get(span.type, len(types)), span.type))
    return ChoiceLabel(answers, tuple(ordered), notes)


def answer_of(id: str, value: Any, part: Part | None) -> Answer:
    """Several labels stand in the order of the part."""
    if isinstance(value, list):
        order = {label: place for place, label in enumerate(part.label_ids)} if part else {}
        return Answer(id, tuple(sorted(set(value), key=lambda label: (order.get(label, len(order)), label))))
    return Answer(id, value, part.place(value) if part else None)


def dump(label: ChoiceLabel) -> dict[str, Any]:
    return {
        "answers": {
            one.part: list(one.value) if isinstance(one.value, tuple) else one.value for one in label.answers
        },
        "notes": dict(label.notes),
        "spans": [
            {"start": span.start, "end": span.end, "type": span.type, "quote": span.quote} for span in label.spans
        ],
    }


# What can be wrong with one


def unknown_fields(data: Mapping[str, Any]) -> list[Problem]:
    unknown = sorted(set(data) - FIELDS)
    return first_problems((unknown_name(name, pointer_part(name), FIELDS) for name in unknown), len(unknown))


def unknown_name(name: str, pointer: str, allowed: set[str]) -> Problem:
    return Problem(
        code="unknown_field",
        field=name[:MAX_NAME],
        pointer=pointer,
        expected=gettext_noop("Fields that there are here: %(fields)s."),
        remedy=gettext_noop("Leave the other out."),
        params={"fields": ", ".join(sorted(allowed)) or "–"},
    )


def form_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    if not isinstance(data.get("answers"), Mapping):
        yield wrong_type("answers", "object")
    if not isinstance(data.get("notes", {}), Mapping):
        yield wrong_type("notes", "object")
    spans = data.get("spans", [])
    if not isinstance(spans, list):
        yield wrong_type("spans", "list")
    elif len(spans) > MAX_SPANS:
        yield too_many("spans", MAX_SPANS)


def unknown_parts(answers: Mapping[str, Any], notes: Mapping[str, Any], question: Question) -> list[Problem]:
    asked = {part.id for part in question.parts if part.type not in ("note", "marks")}
    noted = {part.id for part in question.parts if part.type == "note"}
    found = [(name, f"/answers{pointer_part(name)}", asked) for name in answers if name not in asked]
    found += [(name, f"/notes{pointer_part(name)}", noted) for name in notes if name not in noted]
    return first_problems((unknown_name(*one) for one in found), len(found))


def part_problems(part: Part, answers: Mapping[str, Any], notes: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with the answer of one part, or that it has none."""
    if part.type == "marks":
        return
    given = notes if part.type == "note" else answers
    pointer = f"/{'notes' if part.type == 'note' else 'answers'}{pointer_part(part.id)}"
    if not is_asked(part, answers):
        if part.id in given:
            yield not_asked(part, pointer)
    elif part.id in given:
        yield from value_problems(part, given[part.id], pointer)
    elif part.required or part.type == "several":
        yield missing(part, pointer)


def value_problems(part: Part, value: Any, pointer: str) -> Iterator[Problem]:
    if part.type == "note":
        if not isinstance(value, str):
            yield wrong_type(part.id, "text", pointer)
        elif len(value) > MAX_NOTE:
            yield too_many(part.id, MAX_NOTE, pointer)
    elif part.type == "scale":
        if type(value) is not int:
            yield wrong_type(part.id, "whole number", pointer)
        elif not part.lowest <= value <= part.highest:
            yield off_the_scale(part, pointer)
    elif part.type == "several":
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            yield wrong_type(part.id, "list of texts", pointer)
        elif unknown := [one for one in value if one not in part.label_ids]:
            yield unknown_label(part.id, part.label_ids, pointer, unknown[0])
        elif part.required and not value:
            yield missing(part, pointer)
    elif value not in part.label_ids:
        yield unknown_label(part.id, part.label_ids, pointer, value)


def span_problems(
    data: list[Any], question: Question, answers: Mapping[str, Any], text: str | None
) -> Iterator[Problem]:
    homes = {label.id: part for part in question.parts if part.type == "marks" for label in part.labels}
    for place, entry in enumerate(data):
        if found := span_problem(entry, f"/spans/{place}", homes, answers, text):
            yield found


def span_problem(
    entry: Any, pointer: str, homes: Mapping[str, Part], answers: Mapping[str, Any], text: str | None
) -> Problem | None:
    if not isinstance(entry, Mapping):
        return wrong_type("spans", "object", pointer)
    if unknown := set(entry) - SPAN_FIELDS:
        return unknown_name(min(unknown), pointer + pointer_part(min(unknown)), SPAN_FIELDS)
    for name in ("start", "end"):
        if type(entry.get(name)) is not int:
            return wrong_type(name, "whole number", f"{pointer}/{name}")
    if not isinstance(entry.get("quote"), str):
        return wrong_type("quote", "text", f"{pointer}/quote")
    if not isinstance(entry.get("type"), str) or entry["type"] not in homes:
        return unknown_label("type", tuple(homes), f"{pointer}/type", entry.get("type"))
    if not is_asked(homes[entry["type"]], answers):
        return not_asked(homes[entry["type"]], pointer)
    return place_problem(entry, pointer, text)


def place_problem(entry: Mapping[str, Any], pointer: str, text: str | None) -> Problem | None:
    start, end = entry["start"], entry["end"]
    if start < 0:
        return out_of_range("start", 0, f"{pointer}/start")
    if end <= start:
        return Problem(
            code="invalid_span",
            field="end",
            pointer=f"{pointer}/end",
            expected=gettext_noop("A span ends after it starts."),
            remedy=gettext_noop("Mark the passage again."),
        )
    if text is None:
        return None
    if end > len(text):
        return out_of_range("end", len(text), f"{pointer}/end")
    if not slice_matches(text, start, end, entry["quote"]):
        return Problem(
            code="quote_mismatch",
            field="quote",
            pointer=f"{pointer}/quote",
            expected=gettext_noop("The quoted words are not the ones at this place of the text."),
            remedy=gettext_noop("Mark the passage again."),
        )
    return None


def missing_marks(question: Question, answers: Mapping[str, Any], spans: list[Any]) -> Iterator[Problem]:
    for part in question.parts:
        is_wanted = part.type == "marks" and part.required and is_asked(part, answers)
        if is_wanted and not any(span["type"] in part.label_ids for span in spans):
            yield Problem(
                code="span_missing",
                field="spans",
                expected=gettext_noop("“%(part)s” has to have at least one marked passage."),
                remedy=gettext_noop("Mark it in the text, then choose its type."),
                params={"part": named(part)},
            )


def named(part: Part) -> str:
    """The title as its lead wrote it, in both languages where there are two: refusals are not told apart by them."""
    return " / ".join(dict.fromkeys(text for text in (part.title.en, part.title.zh) if text)) or part.id


def missing(part: Part, pointer: str) -> Problem:
    return Problem(
        code="missing_field",
        field=part.id,
        pointer=pointer,
        expected=gettext_noop("“%(part)s” has no answer."),
        remedy=gettext_noop("Answer it."),
        params={"part": named(part)},
    )


def not_asked(part: Part, pointer: str) -> Problem:
    return Problem(
        code="not_asked",
        field=part.id,
        pointer=pointer,
        expected=gettext_noop("“%(part)s” is not asked beside the other answers."),
        remedy=gettext_noop("Leave it out."),
        params={"part": named(part)},
    )


def off_the_scale(part: Part, pointer: str) -> Problem:
    return Problem(
        code="out_of_range",
        field=part.id,
        pointer=pointer,
        expected=gettext_noop("“%(part)s” is a whole number from %(lowest)s to %(highest)s."),
        remedy=gettext_noop("Choose one of these."),
        params={"part": named(part), "lowest": part.lowest, "highest": part.highest},
    )


def unknown_label(field: str, allowed: tuple[str, ...], pointer: str, value: Any) -> Problem:
    return Problem(
        code="unknown_label",
        field=field,
        pointer=pointer,
        expected=gettext_noop("One of: %(allowed)s."),
        remedy=gettext_noop("Choose one of these; case counts."),
        params={"allowed": ", ".join(allowed)},
    )


def out_of_range(field: str, limit: int, pointer: str) -> Problem:
    return Problem(
        code="span_out_of_range",
        field=field,
        pointer=pointer,
        expected=gettext_noop("Offsets count the code points of the text from 0; the limit here is %(limit)s."),
        remedy=gettext_noop("Mark the passage again."),
        params={"limit": limit},
    )


def wrong_type(field: str, expected: str, pointer: str | None = None) -> Problem:
    return Problem(
        code="wrong_type",
        field=field,
        pointer=pointer or f"/{field}",
        expected=gettext_noop("Expected here: %(expected)s."),
        remedy=gettext_noop("Send it in that form."),
        params={"expected": expected},
    )


def too_many(field: str, limit: int, pointer: str | None = None) -> Problem:
    return Problem(
        code="too_many",
        field=field,
        pointer=pointer or f"/{field}",
        expected=gettext_noop("At most %(limit)s."),
        remedy=gettext_noop("Shorten it."),
        params={"limit": limit},
    )
