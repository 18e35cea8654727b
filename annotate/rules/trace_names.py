"""Where the metadata of a trace names the model that wrote its replies, and its maker's family."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

MODELS = ("metadata__model", "metadata__meta__model", "metadata__info__agent_info__llm")
FAMILIES = ("metadata__family", "metadata__meta__family")
"""As paths of columns: those of our own format, those of most others, those of tau2."""


def name_among(values: Iterable[Any]) -> str:
    """The first that names something; several models of one trace are named together."""
    for value in values:
        names = value if isinstance(value, list) else [value]
        if names and all(isinstance(one, str) and one.strip() for one in names):
            return " + ".join(one.strip() for one in names)
    return ""
