"""What a release says, byte for byte: the canonical line of every item, and the hash over all of them.

Nothing in it depends on ids of rows, on the order in which things came in, on the clock or on a machine: the same
labels of the same items sealed twice, or elsewhere, make the same bytes. docs/releases.md writes the format down.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.rules.quotes import canonical

CONTENT = "sightline-release-content/1"
ENDS_A_LINE = str.maketrans({"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})
"""What some programs take for the end of a line; JSON may write it escaped, and means the same."""
JUDGED = frozenset({"judge", "judges", "run", "runs"})


def canonical_line(value: object) -> str:
    """JSON in one spelling: keys sorted, no blanks, every character as itself."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text if text.isascii() else text.translate(ENDS_A_LINE)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def text_hash(text: str, asked: Mapping[str, Any] | None = None) -> str:
    """Of the text that was judged, in the form in which offsets count, and of what was asked about it where its kind
    asks another thing of each item."""
    said = canonical(text)
    return digest(said if asked is None else f"{said}\n{canonical_line(asked)}")


@dataclass(frozen=True, slots=True)
class Source:
    """Where an item comes from. The first five say what was judged, the others how it is grouped."""

    format: str
    id: str
    trace_hash: str
    anchor: int | None
    text_hash: str
    cluster: str
    area: str
    language: str

    def item_hash(self) -> str:
        """The same wherever the same text of the same run is judged."""
        return digest(canonical_line([self.format, self.id, self.trace_hash, self.anchor, self.text_hash]))

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Vote:
    """One annotator's label, by public names only."""

    annotator: str
    round: int
    number: int
    protocol: int
    label: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The label an item ends with, None where the votes make none, how it came about, and the votes."""

    label: Mapping[str, Any] | None
    how: str
    is_tie: bool
    rests_on: Sequence[Mapping[str, Any]]


def row_of(source: Source, item_hash: str, outcome: Outcome) -> dict[str, Any]:
    """One item of a release, as `labels.jsonl` has it."""
    return {
        "item_hash": item_hash,
        "source": source.as_dict(),
        "label": outcome.label,
        "how": outcome.how,
        "is_tie": outcome.is_tie,
        "rests_on": list(outcome.rests_on),
    }


def header(*, kind: str, rule: str, protocol_hash: str) -> dict[str, str]:
    """What all items of a release have in common, and is sealed with them."""
    return {"format": CONTENT, "kind": kind, "rule": rule, "protocol_hash": protocol_hash}


def protocol_hash(guideline_en: str, guideline_zh: str, label_schema: Mapping[str, Any]) -> str:
    """Of what a protocol says; its number belongs to one project alone."""
    said = {"guideline_en": guideline_en, "guideline_zh": guideline_zh, "label_schema": dict(label_schema)}
    return digest(canonical_line(said))


class ContentHash:
    """SHA-256 over the line of the header and the lines of the items, each with its line feed."""

    def __init__(self, head: Mapping[str, str]) -> None:
        self.sum = hashlib.sha256(canonical_line(head).encode() + b"\n")

    def add(self, line: bytes) -> None:
        """A line of `labels.jsonl`, line feed included."""
        self.sum.update(line)

    def hexdigest(self) -> str:
        return self.sum.hexdigest()


def without_judges(value: Any) -> Any:
    """Figures as they were computed, without those of automated raters: a release is what people said."""
    if isinstance(value, Mapping):
        return {key: without_judges(one) for key, one in value.items() if key not in JUDGED}
    if isinstance(value, list | tuple):
        return [without_judges(one) for one in value]
    return value
