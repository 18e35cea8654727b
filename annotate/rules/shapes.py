"""Whether a JSON value has the form that is written down for it, field by field; nothing unknown, nothing missing.

A shape is `str`, `int`, `bool` or `dict` (any object), a tuple of the texts that are allowed, `Maybe(shape)` where null
may stand, `Later(shape)` of a field that older files do not have, `Hash` for a SHA-256, `[shape]` for a list, or an
object of shapes by field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from annotate.traces.base import Place, Problem, gettext_noop

HASH = re.compile(r"[0-9a-f]{64}")
MOST = 2**53 - 1
"""What every reader of JSON takes for the same whole number."""


@dataclass(frozen=True, slots=True)
class Maybe:
    shape: Any


@dataclass(frozen=True, slots=True)
class Later:
    """Of a field that older files do not have."""

    shape: Any


@dataclass(frozen=True, slots=True)
class Hash:
    """A SHA-256 in hexadecimal digits."""


NAMES = {str: "text", int: "whole number", bool: "true, false", dict: "object"}


def shape_problems(value: Any, shape: Any, place: Place, pointer: str = "") -> Iterator[Problem]:
    """Everything in which a value differs from a shape."""
    if isinstance(shape, Maybe):
        if value is not None:
            yield from shape_problems(value, shape.shape, place, pointer)
    elif isinstance(shape, Later):
        yield from shape_problems(value, shape.shape, place, pointer)
    elif isinstance(shape, dict):
        yield from object_problems(value, shape, place, pointer)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield wrong_type(place, pointer, "list")
            return
        for number, one in enumerate(value):
            yield from shape_problems(one, shape[0], place, f"{pointer}/{number}")
    elif isinstance(shape, tuple):
        if value not in shape:
            yield unknown_value(place, pointer, shape)
    elif isinstance(shape, Hash):
        if not isinstance(value, str) or not HASH.fullmatch(value):
            yield wrong_type(place, pointer, "SHA-256")
    elif type(value) is not shape or (shape is int and not 0 <= value <= MOST):
        yield wrong_type(place, pointer, NAMES[shape])


def object_problems(value: Any, shape: dict[str, Any], place: Place, pointer: str) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield wrong_type(place, pointer, "object")
        return
    for name in sorted(set(value) - set(shape)):
        yield place.problem(
            "unknown_field",
            f"{pointer}/{name[:80]}",
            expected=gettext_noop("The fields here are: %(fields)s."),
            remedy=gettext_noop("Use the folder as it was exported."),
            fields=", ".join(shape),
        )
    for name, inner in shape.items():
        if name not in value:
            if isinstance(inner, Later):
                continue
            yield place.problem(
                "missing_field",
                f"{pointer}/{name}",
                expected=gettext_noop("This field is required."),
                remedy=gettext_noop("Use the folder as it was exported."),
            )
        else:
            yield from shape_problems(value[name], inner, place, f"{pointer}/{name}")


def wrong_type(place: Place, pointer: str, expected: str) -> Problem:
    return place.problem(
        "wrong_type",
        pointer,
        expected=gettext_noop("Expected here: %(form)s."),
        remedy=gettext_noop("Use the folder as it was exported."),
        form=expected,
    )


def unknown_value(place: Place, pointer: str, allowed: tuple[str, ...]) -> Problem:
    return place.problem(
        "unknown_value",
        pointer,
        expected=gettext_noop("One of: %(allowed)s."),
        remedy=gettext_noop("Use the folder as it was exported."),
        allowed=", ".join(allowed),
    )
