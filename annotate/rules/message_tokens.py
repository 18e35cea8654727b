"""How many tokens the agent wrote with each message, as far as the file of a run says so by message. Readers keep what
stood beside a message under its index; here the spellings of vendors are one number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

PLACES = (
    ("usage",),
    ("metrics",),
    ("usage_metadata",),
    ("response_metadata", "token_usage"),
    ("response_metadata", "usage"),
)
WRITTEN = ("completion_tokens", "output_tokens")


class Spoken(NamedTuple):
    """A message of the requester or the agent."""

    at: int
    is_agent: bool
    calls_tools: bool


def counts_of(kept: Any) -> dict[int, float]:
    """By index, the tokens written with each message of which the file says it; `kept` is what a reader kept by
    message."""
    if not isinstance(kept, Mapping):
        return {}
    found = {name: written_with(beside) for name, beside in kept.items() if name.isascii() and name.isdecimal()}
    return {int(name): count for name, count in found.items() if count is not None}


def written_with(beside: Any) -> float | None:
    for place in PLACES:
        there = beside
        for name in place:
            there = there.get(name) if isinstance(there, Mapping) else None
        for name in WRITTEN if isinstance(there, Mapping) else ():
            count = there.get(name)
            if isinstance(count, int | float) and not isinstance(count, bool) and 0 <= count < math.inf:
                return count
    return None


def tokens_of_agent(messages: Iterable[Spoken], counts: Mapping[int, float]) -> dict[int, float] | None:
    """The tokens of every message of the agent; None where that of one is not known. A greeting before the requester
    says anything, without a count or a call, was written by no model and has none."""
    found: dict[int, float] = {}
    has_begun = False
    for one in sorted(messages):
        has_begun = has_begun or not one.is_agent
        if not one.is_agent:
            continue
        if one.at in counts:
            found[one.at] = counts[one.at]
        elif has_begun or one.calls_tools:
            return None
        else:
            found[one.at] = 0
    return found if any(index in counts for index in found) else None
