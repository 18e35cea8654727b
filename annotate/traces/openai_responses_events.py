"""The events of a streamed response, of which the last holds all that those before it said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from annotate.traces.base import Problem
from annotate.traces.documents import Document
from annotate.traces.values import as_object
from annotate.traces.warned import passed_over

LAST = frozenset({"response.completed", "response.incomplete", "response.failed"})
MEMBERS = ("response", "sequence_number", "output_index", "item_id")


def is_event(value: Any) -> bool:
    there = as_object(value)
    kind = there.get("type")
    return isinstance(kind, str) and kind.startswith("response.") and any(name in there for name in MEMBERS)


class Stream:
    """The response that is under way: as it was sent first, with the items that are done since."""

    def __init__(self) -> None:
        self.begun: Document | None = None
        self.items: list[Any] = []

    def add(self, event: Document) -> Iterator[Document | Problem]:
        """The whole response once it ends; every other event is counted."""
        value = event.value
        response = value.get("response")
        if value["type"] in LAST and isinstance(response, dict):
            self.begun, self.items = None, []
            yield replace(event, value=response)
            return
        if value["type"] == "response.created":
            yield from self.left()
        if isinstance(response, dict):
            self.begun = replace(event, value=response)
        if value["type"] == "response.output_item.done":
            self.begun = self.begun or replace(event, value={"object": "response"})
            self.items.append(value.get("item"))
        yield passed_over(event.place, "repeated_record", "", value["type"])

    def left(self) -> Iterator[Document]:
        """A response that was cut off, as far as its items were done."""
        begun, items, self.begun, self.items = self.begun, self.items, None, []
        if begun is not None:
            yield replace(begun, value={**begun.value, "output": items or begun.value.get("output") or []})
