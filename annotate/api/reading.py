"""Bodies and queries are read strictly: valid JSON, known names only, no value turned into another type. Whatever is
wrong is named with its JSON pointer."""

from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from rest_framework import serializers
from rest_framework.parsers import BaseParser

from annotate.api.errors import BadRequest, sent_again, too_large
from annotate.traces.base import MOST_PROBLEMS, Place, Problem, first_problems, gettext_noop
from annotate.traces.strict_json import Caps, parse, pointer_part

MAX_BODY_BYTES = 1024 * 1024
"""Above a label with every mark there may be, and above two guidelines of the longest, each letter of them escaped."""
MAX_NESTING = 20
CAPS = Caps(
    line_bytes=MAX_BODY_BYTES, string_characters=MAX_BODY_BYTES, nesting=MAX_NESTING, problems=MOST_PROBLEMS + 1
)
MAX_SHOWN = 80
"""How much of a name that nobody knows comes back."""


class StrictJson(BaseParser):
    """A JSON body as the importer reads a record: no key twice, no NaN, no text that cannot be stored."""

    media_type = "application/json"

    def parse(self, stream, media_type=None, parser_context=None):
        raw = stream.read(MAX_BODY_BYTES + 1)
        if len(raw) > MAX_BODY_BYTES:
            raise BadRequest(too_large(MAX_BODY_BYTES), status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        found = parse(raw, Place(), caps=CAPS)
        if found.problems:
            raise BadRequest(*first_problems(map(sent_again, found.problems)))
        return found.value


class Query(serializers.Serializer):
    """The names that may stand behind the question mark; none, unless a subclass has some."""


def read_body(body: type[serializers.Serializer], data: Any) -> dict[str, Any]:
    """The checked fields of a JSON body; BadRequest names the fields that are unknown, or else wrong."""
    if not isinstance(data, Mapping):
        raise BadRequest(wrong_type("", "object"))
    known = body().fields
    if unknown := sorted(set(data) - set(known)):
        raise BadRequest(*unknown_fields(unknown, known))
    return checked(body, data, status=HTTPStatus.UNPROCESSABLE_ENTITY)


def read_query(query: type[Query], params) -> dict[str, Any]:
    """The checked values of a query string. A name that nobody knows is refused alike, whatever it says."""
    known = query().fields
    if unknown := sorted(set(params) - set(known)):
        raise BadRequest(*first_problems((unknown_filter(name, known) for name in unknown), len(unknown)))
    if twice := [name for name in params if len(params.getlist(name)) > 1]:
        raise BadRequest(*first_problems(map(given_twice, twice), len(twice)))
    return checked(query, params.dict(), status=HTTPStatus.BAD_REQUEST)


def checked(serializer: type[serializers.Serializer], data: Any, *, status: int) -> dict[str, Any]:
    filled = serializer(data=data)
    try:
        return dict(filled.run_validation(data))
    except serializers.ValidationError as error:
        found = first_problems(problems_of(filled, error.get_full_details()))
        raise BadRequest(*found, status=status) from None


def problems_of(field: serializers.Field, details: Any, pointer: str = "") -> Iterator[Problem]:
    """What REST framework found wrong, in our words."""
    if isinstance(details, list):
        yield from (problem_of(field, one["code"], pointer) for one in details)
        return
    for name, inner in details.items():
        yield from problems_of(inside(field, name), inner, pointer + pointer_part(str(name)))


def inside(field: serializers.Field, name: str) -> serializers.Field:
    return field.fields[name] if isinstance(field, serializers.Serializer) else getattr(field, "child", field)


def problem_of(field: serializers.Field, code: str, pointer: str) -> Problem:
    name = next((part for part in reversed(pointer.split("/")) if not part.isdecimal()), "")
    if code == "required":
        return missing_field(name, pointer)
    if code == "blank":
        return empty_value(name, pointer)
    if isinstance(field, serializers.ChoiceField):
        return unknown_value(name, pointer, list(field.choices))
    if code in UNSTORABLE:
        return unstorable(name, pointer, UNSTORABLE[code])
    if code in ("min_value", "max_value"):
        return out_of_range(name, pointer, field.min_value, field.max_value)
    if code == "max_length":
        return too_many(name, pointer, field.max_length)
    return wrong_type(name, field.said, pointer)


UNSTORABLE = {"null_characters_not_allowed": "nul_character", "surrogate_characters_not_allowed": "lone_surrogate"}
"""What REST framework calls the characters that not every database keeps, and what we call them."""


def unstorable(field: str, pointer: str, code: str) -> Problem:
    return Problem(
        code=code,
        field=field,
        pointer=pointer,
        expected=gettext_noop("The text holds a character that cannot be stored."),
        remedy=gettext_noop("Remove it; it is invisible and may have come with a pasted text."),
    )


def unknown_fields(names: list[str], known: Iterable[str]) -> list[Problem]:
    return first_problems((unknown_field(name, known) for name in names), len(names))


def unknown_field(name: str, known: Iterable[str]) -> Problem:
    return Problem(
        code="unknown_field",
        field=name[:MAX_SHOWN],
        expected=gettext_noop("The fields of this body are: %(fields)s."),
        remedy=gettext_noop("Leave the other out."),
        params={"fields": ", ".join(known)},
    )


def unknown_filter(name: str, known: Mapping[str, Any]) -> Problem:
    return Problem(
        code="unknown_filter",
        field=name[:MAX_SHOWN],
        expected=gettext_noop("Names that may stand behind the question mark here: %(allowed)s."),
        remedy=gettext_noop("Leave the other out."),
        params={"allowed": ", ".join(known) or "–"},
    )


def given_twice(name: str) -> Problem:
    return Problem(
        code="duplicate_key",
        field=name,
        expected=gettext_noop("Every name once behind the question mark."),
        remedy=gettext_noop("Leave the other out."),
    )


def missing_field(field: str, pointer: str) -> Problem:
    return Problem(
        code="missing_field",
        field=field,
        pointer=pointer,
        expected=gettext_noop("This field is required."),
        remedy=gettext_noop("Fill it in."),
    )


def empty_value(field: str, pointer: str) -> Problem:
    return Problem(
        code="empty_value",
        field=field,
        pointer=pointer,
        expected=gettext_noop("It is empty; at least one character that is not blank is expected."),
        remedy=gettext_noop("Fill it in."),
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


def unknown_value(field: str, pointer: str, allowed: list[str]) -> Problem:
    return Problem(
        code="unknown_value",
        field=field,
        pointer=pointer,
        expected=gettext_noop("One of: %(allowed)s."),
        remedy=gettext_noop("Choose one of these; case counts."),
        params={"allowed": ", ".join(allowed)},
    )


def out_of_range(field: str, pointer: str, low: int, high: int) -> Problem:
    return Problem(
        code="out_of_range",
        field=field,
        pointer=pointer,
        expected=gettext_noop("A whole number from %(low)s to %(high)s."),
        remedy=gettext_noop("Correct it, or leave the field out."),
        params={"low": low, "high": high},
    )


def too_many(field: str, pointer: str, limit: int) -> Problem:
    return Problem(
        code="too_many",
        field=field,
        pointer=pointer,
        expected=gettext_noop("At most %(limit)s."),
        remedy=gettext_noop("Shorten it."),
        params={"limit": limit},
    )
