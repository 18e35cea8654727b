"""The label of one reply: usable or not, whether it states a result, and what stopped the reading where."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotate.kinds.base import LabelError, Schema, Span
from annotate.rules.quotes import slice_matches
from annotate.traces.base import Problem, first_problems, gettext_noop
from annotate.traces.strict_json import pointer_part

READABLE, NEEDS_INFORMATION, UNREPAIRABLE = LABELS = ("readable", "needs_information", "unrepairable_or_no_answer")
SPAN_TYPES = ("definition", "reference", "background")
SCHEMA: Schema = {"labels": list(LABELS), "span_types": list(SPAN_TYPES)}
FIELDS = {"label", "states_no_result", "spans", "comment"}
SPAN_FIELDS = {"start", "end", "type", "quote"}
UNMEASURED = ("spans", "comment")

MAX_SPANS = 500
"""Far above what a reader marks in one reply; bounds what one answer may cost."""
MAX_COMMENT = 4000
MAX_NAME = 80
"""How much of the name of an unknown field comes back."""


@dataclass(frozen=True, slots=True)
class ReplyLabel:
    label: str
    states_no_result: bool = False
    spans: tuple[Span, ...] = ()
    comment: str = ""

    @property
    def fails(self) -> bool:
        return self.label != READABLE


def parse(data: Mapping[str, Any], schema: Schema, text: str | None) -> ReplyLabel:
    """A label from its JSON form. `text` is the canonical reply the spans must quote; None trusts what was stored."""
    problems = [*unknown_fields(data), *field_problems(data)]
    if problems:
        raise LabelError(*problems)
    spans, problems = parse_spans(data.get("spans", []), text)
    label = ReplyLabel(data["label"], data.get("states_no_result", False), spans, data.get("comment", ""))
    problems = problems or rule_problems(label)  # a mark that was refused is not a missing one
    if problems:
        raise LabelError(*problems)
    return label


def load(data: Mapping[str, Any], schema: Schema) -> ReplyLabel:
    """A label as it was stored; nothing is checked."""
    spans = tuple(Span(one["start"], one["end"], one["type"], one["quote"]) for one in data.get("spans", ()))
    return ReplyLabel(data["label"], data.get("states_no_result", False), spans, data.get("comment", ""))


def dump(label: ReplyLabel) -> dict[str, Any]:
    """The JSON form, spans in the order of their places."""
    return {
        "label": label.label,
        "states_no_result": label.states_no_result,
        "spans": [
            {"start": span.start, "end": span.end, "type": span.type, "quote": span.quote} for span in label.spans
        ],
        "comment": label.comment,
    }


def unknown_fields(data: Mapping[str, Any]) -> list[Problem]:
    unknown = sorted(set(data) - FIELDS)
    return first_problems(map(unknown_field, unknown), len(unknown))


def unknown_field(name: str) -> Problem:
    return Problem(
        code="unknown_field",
        field=name[:MAX_NAME],
        pointer=pointer_part(name),
        expected=gettext_noop("A label has the fields %(fields)s."),
        remedy=gettext_noop("Leave the other out."),
        params={"fields": ", ".join(sorted(FIELDS))},
    )


def field_problems(data: Mapping[str, Any]) -> list[Problem]:
    """Every field that is missing or of another type or value than the kind has."""
    problems = []
    if data.get("label") in (None, ""):
        problems.append(
            Problem(
                code="missing_field",
                field="label",
                expected=gettext_noop("No label is chosen."),
                remedy=gettext_noop("Choose one of the three (keys 1 to 3)."),
            )
        )
    elif data["label"] not in LABELS:
        problems.append(unknown_label("label", LABELS))
    if not isinstance(data.get("states_no_result", False), bool):
        problems.append(wrong_type("states_no_result", "true, false"))
    if not isinstance(data.get("comment", ""), str):
        problems.append(wrong_type("comment", "text"))
    elif len(data.get("comment", "")) > MAX_COMMENT:
        problems.append(too_many("comment", MAX_COMMENT))
    spans = data.get("spans", [])
    if not isinstance(spans, list):
        problems.append(wrong_type("spans", "list"))
    elif len(spans) > MAX_SPANS:
        problems.append(too_many("spans", MAX_SPANS))
    return problems


def rule_problems(label: ReplyLabel) -> list[Problem]:
    """What the parts of a label must be to each other (docs/methods.md, Label rules)."""
    problems = []
    if label.label == READABLE and label.states_no_result:
        problems.append(
            Problem(
                code="readable_without_result",
                field="states_no_result",
                expected=gettext_noop("A reply that states no result or answer is not readable as it is."),
                remedy=gettext_noop("Choose another label, or untick “states no result or answer”."),
            )
        )
    if label.label == READABLE and label.spans:
        problems.append(
            Problem(
                code="spans_on_readable",
                field="spans",
                expected=gettext_noop("A readable reply has no marked passage."),
                remedy=gettext_noop("Remove the marks, or choose another label."),
            )
        )
    if label.label == NEEDS_INFORMATION and not label.spans:
        problems.append(
            Problem(
                code="span_missing",
                field="spans",
                expected=gettext_noop("“Needs information” has to show at least one passage that stopped the reading."),
                remedy=gettext_noop("Mark it in the reply, then choose its type."),
            )
        )
    return problems


def parse_spans(data: list[Any], text: str | None) -> tuple[tuple[Span, ...], list[Problem]]:
    """The spans in order of place, each once; none of them where there is something wrong with any."""
    if problems := first_problems(span_problems(data, text)):
        return (), problems
    spans = {Span(entry["start"], entry["end"], entry["type"], entry["quote"]) for entry in data}
    return tuple(sorted(spans, key=lambda span: (span.start, span.end, SPAN_TYPES.index(span.type)))), []


def span_problems(data: list[Any], text: str | None) -> Iterator[Problem]:
    for place, entry in enumerate(data):
        if found := span_problem(entry, f"/spans/{place}", text):
            yield found


def span_problem(entry: Any, pointer: str, text: str | None) -> Problem | None:
    if not isinstance(entry, Mapping):
        return wrong_type("spans", "object", pointer)
    if unknown := set(entry) - SPAN_FIELDS:
        return unknown_span_field(min(unknown), pointer)
    for name in ("start", "end"):
        if type(entry.get(name)) is not int:
            return wrong_type(name, "whole number", f"{pointer}/{name}")
    if not isinstance(entry.get("quote"), str):
        return wrong_type("quote", "text", f"{pointer}/quote")
    if entry.get("type") not in SPAN_TYPES:
        return unknown_label("type", SPAN_TYPES, f"{pointer}/type")
    return place_problem(entry, pointer, text)


def unknown_span_field(name: str, pointer: str) -> Problem:
    return Problem(
        code="unknown_field",
        field=name[:MAX_NAME],
        pointer=pointer + pointer_part(name),
        expected=gettext_noop("A span has the fields %(fields)s."),
        remedy=gettext_noop("Leave the other out."),
        params={"fields": ", ".join(sorted(SPAN_FIELDS))},
    )


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
            expected=gettext_noop("The quoted words are not the ones at this place of the reply."),
            remedy=gettext_noop("Mark the passage again."),
        )
    return None


def out_of_range(field: str, limit: int, pointer: str) -> Problem:
    return Problem(
        code="span_out_of_range",
        field=field,
        pointer=pointer,
        expected=gettext_noop("Offsets count the code points of the reply from 0; the limit here is %(limit)s."),
        remedy=gettext_noop("Mark the passage again."),
        params={"limit": limit},
    )


def wrong_type(field: str, expected: str, pointer: str | None = None) -> Problem:
    return Problem(
        code="wrong_type",
        field=field,
        pointer=pointer,
        expected=gettext_noop("Expected here: %(expected)s."),
        remedy=gettext_noop("Send it in that form."),
        params={"expected": expected},
    )


def unknown_label(field: str, allowed: tuple[str, ...], pointer: str | None = None) -> Problem:
    return Problem(
        code="unknown_label",
        field=field,
        pointer=pointer,
        expected=gettext_noop("One of: %(allowed)s."),
        remedy=gettext_noop("Choose one of these; case counts."),
        params={"allowed": ", ".join(allowed)},
    )


def too_many(field: str, limit: int) -> Problem:
    return Problem(
        code="too_many",
        field=field,
        expected=gettext_noop("At most %(limit)s."),
        remedy=gettext_noop("Shorten it."),
        params={"limit": limit},
    )
