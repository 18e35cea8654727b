"""The contract of a task kind: the values kinds, judges and pages share, and what a kind has to give (`TaskKind`).

A kind is pure: it gets traces, texts and labels as values and never a request, a model or a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from annotate.rules.lanes import MarkType
from annotate.traces.base import Problem, Role, Side, Trace, gettext_noop

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


@dataclass(frozen=True, slots=True)
class PolicyBlock:
    """The rules that the agent worked under."""

    text: str


@dataclass(frozen=True, slots=True)
class CallBlock:
    """One tool call of a message. `number` counts the calls of the trace from 1, in place of the source's own id;
    `result` is the original index of the message that answers it, which need not be the next one."""

    number: int
    name: str
    arguments: str
    result: int | None


@dataclass(frozen=True, slots=True)
class EntryBlock:
    """One message of a trace that is shown whole, at its original index. `answers` is the number of the call whose
    result it is, `called_at` the index of the message that called, `tool` the name of the tool."""

    index: int
    role: Role
    side: Side
    text: str
    calls: tuple[CallBlock, ...] = ()
    answers: int | None = None
    called_at: int | None = None
    tool: str = ""


@dataclass(frozen=True, slots=True)
class QuestionBlock:
    """What an item asks of its own beside its text: a reader's question of a type about the words `[start, end)` of the
    text."""

    question: str
    type: str
    start: int
    end: int


Suggestion = Mapping[str, Any]
"""What a rule of the kind found in a trace, as JSON that is stored with the item."""

Block = FileBlock | MessageBlock | TextBlock | PolicyBlock | EntryBlock


@dataclass(frozen=True, slots=True)
class Blocks:
    """What an item shows: `context` in reading order and the one `text` that is judged; or, where the whole trace is
    judged, its `entries` and no text. `suggestions` are those stored with the item, None where none is asked about."""

    context: tuple[FileBlock | MessageBlock | PolicyBlock, ...]
    text: TextBlock | None
    entries: tuple[EntryBlock, ...] = ()
    suggestions: tuple[Suggestion, ...] | None = None


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a trace is cut into an item: the original index of the judged message, the last one where all are."""

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
class AlignedPart:
    """One field of what a label says of a thing: its title and its words, which are message ids, and whether another
    label says something else."""

    title: str
    words: str
    is_apart: bool
    is_typed: bool = False
    """Whether the words are an annotator's own and no message id."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """One thing that labels name, as a line of a table: what each label says of it, None where one does not name it.
    `index` is where it stands in the trace; `grade` says how far they differ, a message id, "" where they do not."""

    name: str
    index: int
    grade: str
    cells: tuple[tuple[AlignedPart, ...] | None, ...]


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


def nothing_named(label: Any) -> Collection[Hashable]:
    return ()


@dataclass(frozen=True, slots=True)
class SetMeasure:
    """One projection of a label onto a set of things that raters name, from no list that is there beforehand. Two
    raters are compared by what both named: `stat` is the F1 of their sets over all items, or the share of items where
    their sets are the same. `rate` gives an empty set where nothing was found, None for no rating."""

    name: str
    title: str
    rate: Callable[[Any], frozenset[Hashable] | None]
    stat: Literal["f1", "exact"] = "f1"
    categories: tuple[Hashable, ...] = ()
    category_titles: tuple[str, ...] = ()
    named: Callable[[Any], Collection[Hashable]] = nothing_named
    """Which of its categories a label names: leads may have what somebody labelled so looked at again."""


def no_label(marks: Sequence[Mapping[str, Any]], shown: Blocks) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Exchange:
    """Labels in the form that the method of a kind has for them, for those that were made elsewhere or go there. They
    go by the id that the source of a trace gives it, so only a kind with one item for each trace has such a form."""

    title: str
    """What one such file holds; a message id."""
    read: Callable[[Any, Mapping[str, Blocks], int], Mapping[str, Any]]
    """Labels by trace from the JSON of a file whose indexes count from 0 or 1, checked against what their items show;
    LabelError with everything that is wrong, at its place in the file."""
    write: Callable[[Mapping[str, Any]], Any]
    """The JSON of these labels."""
    files: Mapping[str, Callable[[Any], bool]]
    """Files of a release in this form, by name, with which of its labels are in each."""
    from_marks: Callable[[Sequence[Mapping[str, Any]], Blocks], Any | None] = no_label
    """The label that the marks which came with a trace mean (`annotate/traces/labels_form.py`); None where they mean
    none, or not all of them do."""


def no_sets(schema: Schema) -> Sequence[SetMeasure]:
    return ()


@dataclass(frozen=True, slots=True)
class TaskKind:
    """Everything the rest of the product asks of a kind. Titles are message ids."""

    name: str
    title: str
    schema: Schema
    shows: Literal["requester", "whole", "text"]
    """Which messages the blind door loads for `view`: what the requester saw, the whole trace, or none beside the text
    that was written for the item."""
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
    """The fields of an answer. It gets `values`, a label's JSON form or a part of it, `spans_json`, `schema` and the
    `suggestions` that are asked about."""
    summary_template: str
    """A label in words. It gets `values` and the `schema` that they were given under; on a page with a whole trace also
    its `spine`: what says `data-names` is marked there, and what says `data-from` leads there."""
    guideline_en: str
    guideline_zh: str
    """Markdown that a new project starts from; leads make it theirs."""
    part_titles: Callable[[Schema], Mapping[str, str]]
    """What the parts of a grade are called; message ids."""
    script: str = ""
    """Static path of the kind's own script, started from a data attribute of its form."""
    unmeasured: tuple[str, ...] = ()
    """Fields of the JSON form that no measure reads; reports leave them in the database."""
    sets: Callable[[Schema], Sequence[SetMeasure]] = no_sets
    """What is compared beside the measures where labels name things that are on no scale."""
    align: Callable[[Sequence[Any], Schema], Sequence[Aligned]] | None = None
    """Labels side by side, thing by thing that they name; None where their summaries say it."""
    check: Callable[[Any, Schema, Blocks], None] | None = None
    """Raises LabelError where a label says what cannot be of the trace that its item shows; None where `parse` sees all
    there is to see. What labels name beside `suggestions` is looked at only where they are not None."""
    suggest: Callable[[Trace, Schema], Sequence[Suggestion]] | None = None
    """What rules find in a trace when its item is made: pure, and the same for every judge that uses them."""
    ask: Callable[[Mapping[str, Any]], QuestionBlock] | None = None
    """What an item asks of its own, from how it is stored with it. Items of such a kind are published from another
    project, and no trace is cut into them."""
    exchange: Exchange | None = None
    """The form that the method has for labels, where it has one."""
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


def parsed(
    kind: TaskKind, data: Mapping[str, Any], schema: Schema, *, text: str, shown: Callable[[], Blocks]
) -> Any:
    """A label from its JSON form, checked against all that its item shows; what that is, is read only where the kind
    asks for it. LabelError where it cannot be."""
    label = kind.parse(data, schema, text)
    if kind.check is not None:
        kind.check(label, schema, shown())
    return label
