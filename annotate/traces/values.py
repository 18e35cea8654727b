"""A JSON value as what a reader expects there: what is something else counts as nothing, or becomes its JSON text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def as_object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []


def as_id(value: Any) -> str:
    """A text as it is, nothing as an empty one, any other value as its JSON."""
    return "" if value is None else value if isinstance(value, str) else as_json(value)


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
