"""The members of a JSON object taken by name; whatever is missing or of another type is noted with its pointer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotate.traces.base import Place, Problem, gettext_noop
from annotate.traces.strict_json import pointer_part


@dataclass
class Notes:
    """What comes up while one record is read, over all its objects."""

    place: Place
    problems: list[Problem] = field(default_factory=list)
    objects: list[Fields] = field(default_factory=list)

    def unknown_members(self) -> dict[str, dict[str, Any]]:
        """Members nobody took, by the pointer of their object."""
        rest = {
            fields.pointer: {name: value for name, value in fields.members.items() if name not in fields.taken}
            for fields in self.objects
        }
        return {pointer: members for pointer, members in rest.items() if members}


class Fields:
    """One object of a strict format. A member with a default may be absent; without one (None) it is required."""

    def __init__(self, value: Any, notes: Notes, pointer: str = "") -> None:
        self.notes, self.pointer = notes, pointer
        self.is_object = isinstance(value, dict)
        self.members: dict[str, Any] = value if self.is_object else {}
        self.taken: set[str] = set()
        notes.objects.append(self)
        if not self.is_object:
            notes.problems.append(wrong_type(notes.place, pointer, "object"))

    def at(self, name: str) -> str:
        return self.pointer + pointer_part(name)

    def note(self, name: str, make: Callable[..., Problem], *details: Any) -> None:
        self.notes.problems.append(make(self.notes.place, self.at(name), *details))

    def take(self, name: str, types: tuple[type, ...], said: str, *, is_required: bool) -> Any:
        """The member, or None where there is none of the type."""
        self.taken.add(name)
        if name not in self.members:
            if is_required and self.is_object:
                self.note(name, missing_field)
            return None
        value = self.members[name]
        if not isinstance(value, types) or isinstance(value, bool):
            self.note(name, wrong_type, said)
            return None
        return value

    def text(self, name: str, default: str | None = None, *, blank: bool = True, longest: int | None = None) -> str:
        value = self.take(name, (str,), "text", is_required=default is None)
        if value is None:
            return default or ""
        if not blank and not value.strip():
            self.note(name, empty_value)
        if longest is not None and len(value) > longest:
            self.note(name, too_long, longest)
        return str(value)

    def one_of(self, name: str, allowed: Sequence[str], default: str | None, code: str = "unknown_value") -> str:
        value = self.take(name, (str,), "text", is_required=default is None)
        if value is None:
            return default or ""
        if value not in allowed:
            self.note(name, unknown_value, code, allowed, value)
            return default or ""
        return str(value)

    def whole(self, name: str, default: int, *, low: int, high: int) -> int:
        value = self.take(name, (int, float), "whole number", is_required=False)
        if value is None:
            return default
        if value != int(value):
            self.note(name, wrong_type, "whole number")
        elif not low <= value <= high:
            self.note(name, out_of_range, low, high)
        else:
            return int(value)
        return default

    def entries(self, name: str, *, is_required: bool = False) -> list[Fields]:
        """The objects of a list."""
        values = self.take(name, (list,), "list", is_required=is_required) or []
        return [Fields(value, self.notes, f"{self.at(name)}/{place}") for place, value in enumerate(values)]

    def mapping(self, name: str) -> dict[str, Any]:
        return self.take(name, (dict,), "object", is_required=False) or {}

    def refuse(self, name: str, where: str) -> None:
        """A known member where it has no meaning."""
        self.taken.add(name)
        if name in self.members:
            self.note(name, unexpected_field, where)


def missing_field(place: Place, pointer: str) -> Problem:
    return place.problem(
        "missing_field",
        pointer,
        expected=gettext_noop("This field is required."),
        remedy=gettext_noop("Add it, then import again."),
    )


def wrong_type(place: Place, pointer: str, said: str) -> Problem:
    return place.problem(
        "wrong_type",
        pointer,
        expected=gettext_noop("Expected here: %(type)s."),
        remedy=gettext_noop("Write it in that form; leave an optional field out rather than write null."),
        type=said,
    )


def empty_value(place: Place, pointer: str) -> Problem:
    return place.problem(
        "empty_value",
        pointer,
        expected=gettext_noop("It is empty; at least one character that is not blank is expected."),
        remedy=gettext_noop("Fill it in, or remove the record."),
    )


def too_long(place: Place, pointer: str, longest: int) -> Problem:
    return place.problem(
        "too_long",
        pointer,
        expected=gettext_noop("At most %(longest)s characters."),
        remedy=gettext_noop("Shorten it; long texts belong into messages, files or meta."),
        longest=longest,
    )


def unknown_value(place: Place, pointer: str, code: str, allowed: Sequence[str], found: str) -> Problem:
    return place.problem(
        code,
        pointer,
        expected=gettext_noop("One of: %(allowed)s. Here it is “%(found)s”."),
        remedy=gettext_noop("Write one of these; case counts."),
        allowed=", ".join(allowed),
        found=found[:80],
    )


def out_of_range(place: Place, pointer: str, low: int, high: int) -> Problem:
    return place.problem(
        "out_of_range",
        pointer,
        expected=gettext_noop("A whole number from %(low)s to %(high)s."),
        remedy=gettext_noop("Correct it, or leave the field out."),
        low=low,
        high=high,
    )


def unexpected_field(place: Place, pointer: str, where: str) -> Problem:
    return place.problem(
        "unexpected_field",
        pointer,
        expected=gettext_noop("This field belongs to messages of the roles %(where)s only."),
        remedy=gettext_noop("Remove it, or correct the role."),
        where=where,
    )
