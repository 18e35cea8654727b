"""The contract of a task kind: the values kinds, judges and pages share, and what a kind has to give (`TaskKind`).

A kind is pure: it gets traces, texts and labels as values and never a request, a model or a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from annotate.traces.base import Problem, Trace

Schema = Mapping[str, Any]
"""A protocol's label schema; constant for the published kinds."""


# What is shown. `blind.py` renders these and nothing else.


@dataclass(frozen=True, slots=True)
class FileBlock:
    """A file the requester gave."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class MessageBlock:
    """One message of the conversation as the requester saw it."""

    speaker: Literal["you", "agent"]
    text: str


@dataclass(frozen=True, slots=True)
class TextBlock:
    """The text under judgement; span offsets count in its canonical form."""

    text: str


Block = FileBlock | MessageBlock | TextBlock


@dataclass(frozen=True, slots=True)
class Blocks:
    """What an item shows: `context` in reading order, and the one `text` that is judged."""

    context: tuple[FileBlock | MessageBlock, ...]
    text: TextBlock


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a trace is cut into an item: the original index of the judged message."""

    index: int


# What comes back.


@dataclass(frozen=True, slots=True)
class Span:
    """`[start, end)` in code points of the canonical text, with its type and the words it covers."""

    start: int
    end: int
    type: str
    quote: str

    def overlaps(self, other: Span) -> bool:
        """True when both share at least one character."""
        return self.start < other.end and other.start < self.end


class LabelError(ValueError):
    """A label that cannot be accepted; `problems` names every field that is wrong."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(problem.sentence() for problem in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Finding:
    """What a judge hands back about one item: a verdict's parts by name, or the raw answer nobody could read."""

    values: Mapping[str, Any]
    spans: tuple[Span, ...] = ()
    unreadable: str | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """The label several labels make together. `label` is None when they make none."""

    label: Any
    how: Literal["majority", "consensus", "unresolved"]
    is_tie: bool


@dataclass(frozen=True, slots=True)
class Grade:
    """How a label stands beside a known answer: right as a whole, and part by part."""

    is_right: bool
    parts: Mapping[str, bool]


Tie = Literal["exclude"] | tuple[Literal["toward"], Hashable]


@dataclass(frozen=True, slots=True)
class Measure:
    """One projection of a label onto a scale that raters can be compared on.

    `rate` gives one of `categories`, or None for no rating. `tie` says what a tie of the others counts as.
    """

    name: str
    title: str
    level: Literal["nominal", "ordinal", "interval"]
    categories: tuple[Hashable, ...]
    category_titles: tuple[str, ...]
    rate: Callable[[Any], Hashable | None]
    tie: Tie = "exclude"
    min_others: int = 2
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class TaskKind:
    """Everything the rest of the product asks of a kind. Titles are message ids."""

    name: str
    title: str
    schema: Schema
    shows: Literal["requester", "whole"]
    """Which messages the blind door loads for `view`: what the requester saw, or the whole trace."""
    items: Callable[[Trace, Schema], Sequence[Anchor]]
    view: Callable[[Trace, int, Schema], Blocks]
    parse: Callable[[Mapping[str, Any], Schema, str | None], Any]
    """Label from its JSON form, checked against the judged text where given; raises LabelError."""
    load: Callable[[Mapping[str, Any], Schema], Any]
    """Label from the JSON form that is stored: it was checked when it was given and is not again. Fields that are
    `unmeasured` may be absent."""
    dump: Callable[[Any], dict[str, Any]]
    read_form: Callable[[Mapping[str, str]], dict[str, Any]]
    """The JSON form of a label from the fields a page posts; raises LabelError where a field is no JSON."""
    measures: Callable[[Schema], Sequence[Measure]]
    settle: Callable[[Sequence[Any], Schema], Settled]
    same: Callable[[Any, Any], bool]
    distance: Callable[[Any, Any], float]
    grade: Callable[[Any, Any], Grade]
    from_finding: Callable[[Finding, Schema], Any]
    columns: tuple[str, ...]
    rows: Callable[[Any], Sequence[Mapping[str, Any]]]
    form_template: str
    summary_template: str
    guideline_en: str
    guideline_zh: str
    """Markdown that a new project starts from; leads make it theirs."""
    part_titles: Mapping[str, str]
    """What the parts of a grade are called; message ids."""
    script: str = ""
    """Static path of the kind's own script, started from a data attribute of its form."""
    unmeasured: tuple[str, ...] = ()
    """Fields of the JSON form that no measure reads; reports leave them in the database."""
