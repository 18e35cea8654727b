"""The contract of a task kind: the values kinds, judges and pages share, and what a kind has to give (`TaskKind`).

A kind is pure: it gets traces, texts and labels as values and never a request, a model or a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from annotate.rules.lanes import MarkType
from annotate.traces.base import Problem, Trace, gettext_noop

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
    read_form: Callable[[Mapping[str, str], Schema], dict[str, Any]]
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
    """The fields of an answer. It gets `values`, a label's JSON form or a part of it, `spans_json` and `schema`."""
    summary_template: str
    """A label in words. It gets `values` and the `schema` that they were given under."""
    guideline_en: str
    guideline_zh: str
    """Markdown that a new project starts from; leads make it theirs."""
    part_titles: Callable[[Schema], Mapping[str, str]]
    """What the parts of a grade are called; message ids."""
    script: str = ""
    """Static path of the kind's own script, started from a data attribute of its form."""
    unmeasured: tuple[str, ...] = ()
    """Fields of the JSON form that no measure reads; reports leave them in the database."""
    text_title: str = gettext_noop("The reply")
    """What the judged text is called above it; a message id."""
    keys_template: str = ""
    """The kind's own keys in the list of keys. It gets `schema`."""
    page_title: str = ""
    """What the page is called on which one answers, where that is not `title`; a message id."""
    mark_types: Callable[[Schema], Mapping[str, MarkType]] | None = None
    """How the types of marks in a schema look where several people's stand in one text. None where each has a style of
    its own name."""

    # Kinds whose schema leads make on a page. `schema` is then what a new project begins with. Such a schema is never
    # changed: another one is part of the next protocol.
    check_schema: Callable[[Mapping[str, Any], Schema | None], Schema] | None = None
    """A schema in its stored form from what somebody wrote as JSON, beside the newest of the project, if any; raises
    LabelError. None where the kind has one schema for good."""
    read_schema: Callable[[Mapping[str, str], Schema | None], Schema] | None = None
    """The same from the fields of the page."""
    edit_schema: Callable[[Mapping[str, str] | None, Schema], Any] | None = None
    """What the page shows, given to `schema_template` as `editor`: what was posted with what its field `do` asks for
    done, else the schema. Whatever was typed is in it."""
    draft_schema: Callable[[Mapping[str, str]], Schema] | None = None
    """A schema from what was posted, complete or not, for the preview of the form."""
    schema_template: str = ""
    schema_script: str = ""
    """Static path of a script of that page."""
    describe_schema: str = ""
    """A template that shows a `schema` to leads."""

    def looks(self, schemas: Sequence[Schema]) -> dict[str, MarkType]:
        """Of all types of marks in these schemas, the newest last. What only an older one has may need a style or a
        letter that is taken by then, and gets none of its own."""
        found: dict[str, MarkType] = {}
        if self.mark_types is None:
            return found
        for schema in reversed(schemas):
            styles, letters = {one.style for one in found.values()}, {one.letter for one in found.values()}
            for type, look in self.mark_types(schema).items():
                style = OTHER_STYLE if look.style in styles else look.style
                letter = "" if look.letter in letters else look.letter
                found.setdefault(type, replace(look, style=style, letter=letter))
        return found


OTHER_STYLE = "other"
"""Of a type that is in use no more."""
