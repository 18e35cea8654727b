"""One conversation out of several snapshots of it.

Programs that watch an agent write down every request to its model: the whole conversation so far and what the model
answered. So the same messages stand in the record many times, and calls of other agents stand between them. `merged`
puts each message into the result once. A snapshot that says again what a line of messages holds extends that line;
messages are the same where speaker, text and calls are, whatever their ids and the spaces around them. System messages
do not count for that: prompts change from step to step. A snapshot whose first messages were cut away is found by its
overlap with the end of a line; one that has no request at all (it begins with an answer or a result) goes on where its
line stopped; one that leaves its line half way is a line of its own from there on.

The main line is the one nearest to the requester (`ranks`), of these the longest, of these the last. The other lines,
sub-agents and attempts given up, are kept as `other` where they happened.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from annotate.traces.base import Message

LOOKED_AT = 200
"""Of the lines that hold a snapshot's first message so many of the newest are compared with it, and of the lines that
begin like another so many of the longest."""
Key = tuple[str, str, tuple[tuple[str, str], ...]]
"""What makes a message the same as one of another snapshot."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A message and where it was found: the number of its snapshot, and its place there."""

    message: Message
    snapshot: int
    place: int

    @property
    def source(self) -> tuple[int, int]:
        return self.snapshot, self.place


@dataclass(frozen=True, slots=True)
class Merged:
    """`messages` count from 0. `sources` say for each where it came from, as (snapshot, place in it), so that pointers
    and extras are found again. `n_new` says for each snapshot how many messages it alone brought: 0 is a repetition."""

    messages: tuple[Message, ...]
    sources: tuple[tuple[int, int], ...]
    n_new: tuple[int, ...]
    n_main: int
    """How many of the messages are of the main line."""


@dataclass(eq=False)
class Line:
    """Messages that followed each other. `keys` are those that count for the comparison, without system messages."""

    rank: int
    entries: list[Entry] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    places: dict[Key, list[int]] = field(default_factory=dict)
    """Where each key stands among the keys."""
    systems: set[str] = field(default_factory=set)
    touched: int = 0

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)
        if entry.message.role == "system":
            self.systems.add(entry.message.text)
            return
        key = key_of(entry.message)
        self.places.setdefault(key, []).append(len(self.keys))
        self.keys.append(key)

    def up_to(self, n_keys: int) -> list[Entry]:
        """The entries that hold the first keys, and the system messages before the last of them."""
        kept: list[Entry] = []
        n_found = 0
        for entry in self.entries:
            if n_found == n_keys:
                break
            n_found += entry.message.role != "system"
            kept.append(entry)
        return kept


class Lines:
    """All lines so far, found by what is in them."""

    def __init__(self) -> None:
        self.all: list[Line] = []
        self.holding: dict[Key, dict[int, Line]] = {}
        """By a key the lines that hold it."""
        self.touched: dict[int, list[tuple[int, Line]]] = {}
        """By rank the lines as they were touched; those at the end that were touched again, or of another rank, go."""

    def add(self, line: Line) -> None:
        self.all.append(line)
        self.note(line, 0)

    def note(self, line: Line, n_known: int) -> None:
        """The line has more keys than the first so many."""
        for key in line.keys[n_known:]:
            self.holding.setdefault(key, {})[id(line)] = line

    def touch(self, line: Line, number: int) -> None:
        line.touched = number
        self.touched.setdefault(line.rank, []).append((number, line))

    def newest(self, rank: int) -> Line | None:
        """The line of this rank that was touched last, else of the lowest rank."""
        for one in (rank, *sorted(self.touched)):
            lines = self.touched.get(one, [])
            while lines and (lines[-1][1].touched, lines[-1][1].rank) != (lines[-1][0], one):
                lines.pop()
            if lines:
                return lines[-1][1]
        return None

    def with_key(self, key: Key) -> list[Line]:
        return list(islice(reversed(self.holding.get(key, {}).values()), LOOKED_AT))


@dataclass(frozen=True, slots=True)
class Fit:
    """How a snapshot goes on with a line: its messages from `begins` on follow the first `keeps` of the line."""

    keeps: int
    begins: int
    goes_on: bool
    """False where the line went another way after that."""


def merged(
    snapshots: Sequence[Sequence[Message]], *, ranks: Sequence[int] = (), names: Sequence[str] = ()
) -> Merged:
    """`snapshots` come in the order in which they ended. `ranks` say how far each is from the requester (0 is the agent
    they speak to), `names` which agent speaks in it; both may be left out."""
    found_lines = Lines()
    for number, snapshot in enumerate(snapshots):
        place(number, snapshot, ranks[number] if ranks else 0, found_lines)
    if not found_lines.all:
        return Merged((), (), (0,) * len(snapshots), 0)
    lines = without_shortened(found_lines.all)
    main = max(lines, key=lambda line: (-line.rank, len(line.keys), line.touched))
    entries = main.entries
    kept = {entry.source for entry in entries}
    others = []
    for line in (line for line in lines if line is not main):
        mine = [entry for entry in line.entries if entry.source not in kept]
        kept.update(entry.source for entry in mine)
        others.append([as_other(entry, names[entry.snapshot] if names else "") for entry in mine])
    found = interleaved(entries, others)
    n_new = [0] * len(snapshots)
    for entry in found:
        n_new[entry.snapshot] += 1
    return Merged(
        messages=tuple(replace(entry.message, index=index) for index, entry in enumerate(found)),
        sources=tuple(entry.source for entry in found),
        n_new=tuple(n_new),
        n_main=len(entries),
    )


def key_of(message: Message) -> Key:
    calls = tuple((call.name, canonical(call.arguments)) for call in message.calls)
    return (message.role, message.text.strip(), calls)


def canonical(arguments: str) -> str:
    """The same for an object and for its text, however it is spaced."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments


def place(number: int, snapshot: Sequence[Message], rank: int, lines: Lines) -> None:
    """Puts a snapshot on the line that it shares most with, or makes it a line of its own."""
    keys = [key_of(message) for message in snapshot if message.role != "system"]
    has_request = bool(keys) and keys[0][0] not in ("assistant", "tool")
    near = lines.with_key(keys[0]) if keys else []
    fits = [(fit, line) for line in near if (fit := fit_of(line, keys, has_request))]
    if fits:
        fit, line = max(fits, key=lambda one: (one[0].begins, one[0].goes_on, one[1].touched))
    elif not has_request and (newest := lines.newest(rank)):
        line, fit = newest, Fit(len(newest.keys), 0, goes_on=True)
    else:
        line, fit = Line(rank), Fit(0, 0, goes_on=True)
        lines.add(line)
    if fit.keeps < len(line.keys):
        line = branch(line, fit.keeps, rank)
        lines.add(line)
    line.rank = min(rank, line.rank)
    lines.touch(line, number)
    n_known = len(line.keys)
    extend(line, [Entry(message, number, index) for index, message in enumerate(snapshot)], fit.begins)
    lines.note(line, n_known)


def branch(line: Line, n_keys: int, rank: int) -> Line:
    """A line that begins like another."""
    new = Line(rank)
    for entry in line.up_to(n_keys):
        new.add(entry)
    return new


def without_shortened(lines: Sequence[Line]) -> list[Line]:
    """A line with the beginning and the end of another, but fewer steps between, is the same told shorter."""
    kept: dict[Key | None, list[Line]] = {}
    left_out: set[int] = set()
    for line in sorted(lines, key=lambda line: -len(line.keys)):
        begun = kept.setdefault(line.keys[0] if line.keys else None, [])
        longer = next((one for one in begun[:LOOKED_AT] if is_shortened(line.keys, one.keys)), None)
        if longer is None:
            begun.append(line)
        else:
            left_out.add(id(line))
            longer.rank = min(longer.rank, line.rank)
    return [line for line in lines if id(line) not in left_out]


def is_shortened(keys: Sequence[Key], longer: Sequence[Key]) -> bool:
    same = n_same(keys, longer)
    n_rest = len(keys) - same
    return same > 0 and list(keys[same:]) == list(longer[len(longer) - n_rest :])


def extend(line: Line, entries: Sequence[Entry], begins: int) -> None:
    """Adds what is new. A system message that the line does not have yet waits until the results before it are in, so
    that calls and their results stay together."""
    seen: set[str] = set()
    waiting: list[Entry] = []
    n_keys = 0
    for entry in entries:
        if entry.message.role == "system":
            waiting += [] if entry.message.text in seen or entry.message.text in line.systems else [entry]
            seen.add(entry.message.text)
            continue
        n_keys += 1
        if n_keys <= begins:
            continue
        if entry.message.role != "tool":
            for system in waiting:
                line.add(system)
            waiting = []
        line.add(entry)
    for system in waiting:
        line.add(system)


def fit_of(held: Line, keys: Sequence[Key], has_request: bool) -> Fit | None:
    line = held.keys
    if not line or not keys:
        return None
    same = n_same(line, keys)
    if same == len(line) or (same == len(keys) and has_request):
        return Fit(len(line), same, goes_on=True)
    for begins in sorted({same, 0}, reverse=True):
        met = overlap(held, keys, begins, has_request)
        if met is not None:
            return Fit(len(line), met, goes_on=True)
    if not same or not any(key[0] == "user" for key in line[:same]):
        return None
    return Fit(same, same, goes_on=False)


def n_same(one: Sequence[Key], other: Sequence[Key], start: int = 0, begins: int = 0) -> int:
    """How many are the same, from a place in each on."""
    n_most = min(len(one) - start, len(other) - begins)
    return next((number for number in range(n_most) if one[start + number] != other[begins + number]), n_most)


def overlap(held: Line, keys: Sequence[Key], begins: int, has_request: bool) -> int | None:
    """Where the snapshot's part from `begins` on leaves the end of the line, or the snapshot's own end inside it."""
    if begins >= len(keys):
        return None
    line = held.keys
    for start in held.places.get(keys[begins], ()):
        n_met = n_same(line, keys, start, begins)
        if start + n_met == len(line) or (has_request and begins + n_met == len(keys)):
            return begins + n_met
    return None


def as_other(entry: Entry, name: str) -> Entry:
    """A message of a line that the requester takes no part in. Results stay results, so that calls keep theirs."""
    message = entry.message
    if message.role == "tool":
        return entry
    return replace(entry, message=replace(message, role="other", name=(name or message.name or message.role)[:255]))


def interleaved(main: Sequence[Entry], others: Sequence[Sequence[Entry]]) -> list[Entry]:
    """All lines as they happened. What is said between a call and its result comes after the result."""
    blocks = [*blocks_of(main), *(block for line in others for block in blocks_of(line))]
    return [entry for block in sorted(blocks, key=lambda block: block[0].snapshot) for entry in block]


def blocks_of(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """Each message with the results that follow it."""
    block: list[Entry] = []
    for entry in entries:
        if block and entry.message.role != "tool":
            yield block
            block = []
        block.append(entry)
    if block:
        yield block
