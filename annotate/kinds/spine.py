"""A trace that is shown whole, as the rows of a page: messages and steps at their original indexes, by parts, each text
cut at its length. A step is one row with its call and its result, wherever the result stands; one that does not follow
its call has a row at its own place too, which is tied to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from annotate.kinds.base import CallBlock, EntryBlock
from annotate.rules.light_text import Piece, plain
from annotate.rules.quotes import canonical
from annotate.traces.base import Role, Side

N_ENTRIES = 60
"""How many messages a part has."""
MOST_CHARACTERS = 1200
"""Of each text in a part; the rest is asked for."""
MOST_AT_ONCE = 60_000
"""Of a long text that is asked for."""
MOST_FOUND = 100
MOST_WORDS = 200
AROUND = 60
"""Characters before and after what was found."""

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Cut:
    """The beginning of a text, or a part of it from `start`."""

    pieces: tuple[Piece, ...]
    n_characters: int
    start: int = 0
    end: int = 0

    @property
    def is_cut(self) -> bool:
        return self.end < self.n_characters


def cut(text: str, n_characters: int, *, start: int = 0, most: int = MOST_CHARACTERS) -> Cut:
    """`text` begins at `start` of a whole one of `n_characters`, and may be longer than what is shown."""
    shown = text[:most]
    return Cut(plain(canonical(shown)), n_characters, start, start + len(shown))


@dataclass(frozen=True, slots=True)
class Row:
    """What one line of the page stands for. `index` is where it stands in the trace. A `step` has its `pair`; so has a
    `result` that stands apart from its call. `call` says which of the calls of its message it is, by its place."""

    what: Literal["message", "step", "call", "result"]
    index: int
    role: Role
    side: Side
    pair: Pair | None = None
    tool: str = ""
    call: int = 0
    called_at: int = 0
    result_at: int | None = None
    n_calls: int = 1
    text: Cut | None = None
    arguments: Cut | None = None

    @property
    def name(self) -> str:
        """As what it is named as evidence: the indexes of a step, or that of a message."""
        return f"{self.pair[0]}-{self.pair[1]}" if self.pair else str(self.index)

    @property
    def place(self) -> int:
        """Which of the calls of its message it is, counted from 1."""
        return self.call + 1

    @property
    def is_far(self) -> bool:
        """Whether the result is further from the call than the other results of the same message let it be."""
        return self.pair is not None and self.pair[1] - self.pair[0] > self.n_calls

    @property
    def text_at(self) -> int:
        """The message that the text is of."""
        return self.index if self.result_at is None else self.result_at


@dataclass(frozen=True, slots=True)
class Part:
    """Neighbouring messages of a trace as rows, `first` to `last` of a trace that ends at `end`."""

    rows: tuple[Row, ...]
    first: int
    last: int
    end: int
    policies: tuple[tuple[int, Cut], ...] = ()
    """The rules that the agent worked under, each with the index of its message."""

    @property
    def before(self) -> int | None:
        """Where the part before this one begins."""
        return max(0, self.first - N_ENTRIES) if self.first > 0 else None

    @property
    def after(self) -> int | None:
        return self.last + 1 if self.last < self.end else None


@dataclass(frozen=True, slots=True)
class Hit:
    """A place at which words were found, with what stands around them."""

    index: int
    before: str
    words: str
    after: str


@dataclass(frozen=True, slots=True)
class WholeTrace:
    """What the door gives of a trace that is shown whole; each is read when it is asked for."""

    part: Callable[[int], Part]
    """The messages from this index on."""
    text: Callable[[int, int | None, int], Cut | None]
    """The text of a message, or the arguments of one of its calls, from a character on; None where there is none."""
    find: Callable[[str], Sequence[Hit]]
    language: str


def rows_of(entries: Sequence[EntryBlock], shown: range, lengths: Mapping[int, int]) -> tuple[Row, ...]:
    """The rows of the messages in `shown`. `entries` are these and those they are tied to; `lengths` says how long each
    text is that is cut already."""
    by_index = {entry.index: entry for entry in entries}
    rows: list[Row] = []
    for entry in entries:
        if entry.index in shown:
            rows += rows_at(entry, by_index, lengths)
    return tuple(rows)


def rows_at(entry: EntryBlock, by_index: Mapping[int, EntryBlock], lengths: Mapping[int, int]) -> list[Row]:
    text = cut(entry.text, lengths.get(entry.index, len(entry.text)))
    if entry.answers is not None:
        return [] if follows_its_call(entry, by_index) else [result_row(entry, text, by_index)]
    rows = [Row("message", entry.index, entry.role, entry.side, text=text)] if entry.text.strip() else []
    rows += [call_row(entry, place, call, by_index, lengths) for place, call in enumerate(entry.calls)]
    return rows or [Row("message", entry.index, entry.role, entry.side, text=text)]


def follows_its_call(entry: EntryBlock, by_index: Mapping[int, EntryBlock]) -> bool:
    """Whether between a call and its result there are only other results of the same message, so that the step's row
    says it all. What is not loaded between them are such results, as far as there are so many calls."""
    caller = by_index.get(entry.called_at if entry.called_at is not None else -1)
    if caller is None or not any(call.number == entry.answers and call.result == entry.index for call in caller.calls):
        return False
    between = [by_index.get(index) for index in range(caller.index + 1, entry.index)]
    return len(between) < len(caller.calls) and all(one is None or one.called_at == caller.index for one in between)


def result_row(entry: EntryBlock, text: Cut, by_index: Mapping[int, EntryBlock]) -> Row:
    caller = by_index.get(entry.index if entry.called_at is None else entry.called_at, entry)
    pair = (min(caller.index, entry.index), max(caller.index, entry.index))
    place = next((place for place, call in enumerate(caller.calls) if call.number == entry.answers), 0)
    return Row(
        "result",
        entry.index,
        entry.role,
        caller.side,
        pair=pair,
        tool=entry.tool,
        call=place,
        called_at=caller.index,
        result_at=entry.index,
        n_calls=len(caller.calls),
        text=text,
    )


def call_row(
    entry: EntryBlock, place: int, call: CallBlock, by_index: Mapping[int, EntryBlock], lengths: Mapping[int, int]
) -> Row:
    result = None if call.result is None else by_index.get(call.result)
    pair = None if call.result is None else (min(entry.index, call.result), max(entry.index, call.result))
    return Row(
        "step" if pair else "call",
        entry.index,
        entry.role,
        entry.side,
        pair=pair,
        tool=call.name,
        call=place,
        called_at=entry.index,
        result_at=call.result,
        n_calls=len(entry.calls),
        text=None if result is None else cut(result.text, lengths.get(result.index, len(result.text))),
        arguments=cut(call.arguments, len(call.arguments)),
    )
