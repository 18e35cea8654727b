"""Where a run lost the value: was it computed, did it reach the agent, was the answer right after that. Decided from
the log of one run and its question, by a rule that has a name, so that verdicts of another rule can be told apart.

Any place of a successful simulation's report or extra files counts as built, and any result that the agent got as
exposure, except where the report repeats its input, and what the agent wrote itself. An index, and results that are
neither report nor file, expose nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeVar

from annotate.traces.base import Problem, gettext_noop
from scoring.values.deliveries import MARKED, REPORT_FILE, without_instruction
from scoring.values.items import ValueItem
from scoring.values.logs import RunLog, Simulation, Step
from scoring.values.numbers import Number, Seen, cut, number, occurrences
from scoring.values.sections import Headings, line_starts, spans, within

RULE = "values-1"
"""The rule that verdicts are made by. One that decides differently gets another name."""
EXPOSING = ("report", "report_part", "search_hits", "own_file")
READ_FROM_FILES = ("own_file", "report_part", "search_hits")
PARTS = ("report", "report_part", "search_hits")
_HITS = re.compile(r"(\d+) hits, \d+ shown")
_HIT = re.compile(r"(\d+): ")
MOST_PLACES = 200
"""So many places are kept in a verdict; all of them count."""

SeenPrecision = Literal["report", "more_digits", "both", "none"]
T = TypeVar("T")
Spans = tuple[tuple[int, int], ...]


class Index:
    """What was found in texts, so that an equal text is read once for a value. It keeps the places and no text, and of
    the latest texts only."""

    def __init__(self, most: int = 2_048) -> None:
        self.most = most
        self.n_read = 0
        self._kept: OrderedDict[tuple[str, ...], Any] = OrderedDict()

    def found(self, key: Number, text: str, name: str) -> tuple[Seen, ...]:
        """The places of a value in a text; `name` is the text's (`name_of`)."""
        return self._of((key.text, name), lambda: self._read(key, text))

    def _read(self, key: Number, text: str) -> tuple[Seen, ...]:
        self.n_read += 1
        return tuple(occurrences(key, text))

    def echoes(self, text: str, name: str, headings: Headings, is_echo: Callable[[str], bool]) -> Spans:
        return self._of(("echoes", name), lambda: tuple(spans(text, headings(text), is_echo)))

    def _of(self, name: tuple[str, ...], read: Callable[[], T]) -> T:
        if name in self._kept:
            self._kept.move_to_end(name)
            known: T = self._kept[name]
            return known
        self._kept[name] = found = read()
        if len(self._kept) > self.most:
            self._kept.popitem(last=False)
        return found


def name_of(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands: in what a simulation printed, or in what a step delivered."""

    step: int
    file: str
    line: int
    start: int
    text: str
    precision: str


@dataclass(frozen=True, slots=True)
class StageVerdict:
    """`built` and `exposed` are None where nothing is judged: the answer is no number, or the log lacks a report that
    might have held it. `closed` is None outside of built and exposed, `report_skipped` where no execution succeeded,
    `chose_truncated_neighbour` outside of rounding traps, `cause` where the answer is right."""

    run: str
    rule: str
    built: bool | None
    exposed: bool | None
    closed: bool | None
    correct: bool
    answer_parse: str
    executed: bool
    seen_precision: SeenPrecision
    report_part_seen: bool
    report_skipped: bool | None
    trap: bool
    chose_truncated_neighbour: bool | None
    cause: str | None
    built_where: tuple[Place, ...] = ()
    seen_where: tuple[Place, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def seen_steps(self) -> list[int]:
        return sorted({one.step for one in self.seen_where})

    def as_dict(self) -> dict[str, Any]:
        said = asdict(self)
        return {**said, "problems": [one.as_dict() for one in self.problems]}


def localise(
    log: RunLog, item: ValueItem, headings: Headings, is_echo: Callable[[str], bool], index: Index | None = None
) -> StageVerdict:
    """The verdict of a run. `headings` and `is_echo` are the simulator's."""
    reading = _Reading(log, headings, is_echo, index or Index())
    key = item.key_value
    built = reading.built(key) if key else []
    seen = reading.seen(key) if key and built else []
    missing = [one for one in log.simulations if one.success and one.report_text is None]
    is_judged = key is not None and (bool(built) or not missing)
    correct = log.answer_parse == "ok" and log.answer == item.key
    exposed = bool(seen) if is_judged else None
    closed = correct if exposed else None
    executed = any(one.success for one in log.simulations)
    precision = _precision(seen)
    neighbours = truncated_neighbours(item, seen) if precision == "more_digits" else set()
    part_seen = any(reading.is_part(step) for step in log.steps)
    return StageVerdict(
        run=log.id,
        rule=RULE,
        built=bool(built) if is_judged else None,
        exposed=exposed,
        closed=closed,
        correct=correct,
        answer_parse=log.answer_parse,
        executed=executed,
        seen_precision=precision,
        report_part_seen=part_seen,
        report_skipped=not part_seen if executed else None,
        trap=bool(neighbours),
        chose_truncated_neighbour=log.answer in neighbours if neighbours else None,
        cause=None if correct else _cause(bool(built) if is_judged else None, exposed),
        built_where=tuple(built[:MOST_PLACES]),
        seen_where=tuple(_some(seen)),
        problems=tuple(_missing(log, one) for one in missing),
    )


def truncated_neighbours(item: ValueItem, seen: Sequence[Place]) -> set[str]:
    """The options besides the key that a printed value shows when it is cut at the option's last digit and not
    rounded."""
    printed = [one for one in (number(place.text) for place in seen) if one]
    return {
        option.label
        for option in item.options
        if option.label != item.key and option.value
        for one in printed
        if one.exponent < option.value.exponent and cut(one.value, option.value.exponent) == option.value.value
    }


def _some(seen: Sequence[Place]) -> list[Place]:
    """The first places, and of every step at least one."""
    first = {place.step: place for place in reversed(seen)}
    rest = [place for place in seen if first[place.step] is not place]
    return sorted([*first.values(), *rest[:MOST_PLACES]], key=lambda place: (place.step, place.start))


def _precision(seen: Sequence[Place]) -> SeenPrecision:
    found = {one.precision for one in seen}
    if len(found) == 2:
        return "both"
    if not found:
        return "none"
    return "report" if "report" in found else "more_digits"


def _cause(built: bool | None, exposed: bool | None) -> str:
    """The first stage at which a wrong answer went wrong, in the words of the audit."""
    if built is None:
        return "other"
    if not built:
        return "build_failure"
    return "held_value_error" if exposed else "retrieval_channel"


def _missing(log: RunLog, one: Simulation) -> Problem:
    return Problem(
        "report_missing",
        gettext_noop("The report of the simulation of step %(step)s."),
        gettext_noop("Nothing is judged of a run whose value may stand in a report that the log lacks."),
        file=log.id,
        field="report_text",
        params={"step": one.step},
        warning=True,
    )


class _Reading:
    """A log as the rules read it."""

    def __init__(self, log: RunLog, headings: Headings, is_echo: Callable[[str], bool], index: Index) -> None:
        self.log, self.headings, self.is_echo, self.index = log, headings, is_echo, index
        self.own = dict(_own_files(log))
        names = [None if one.report_text is None else name_of(one.report_text) for one in log.simulations]
        self.simulations = tuple(zip(log.simulations, names, strict=True))

    def built(self, key: Number) -> list[Place]:
        places = []
        for one, name in self.simulations:
            if not one.success:
                continue
            report = one.report_text
            if report is not None and name is not None:
                places += [
                    _place(one.step, REPORT_FILE, report, found)
                    for found in self.index.found(key, report, name)
                    if not within(found.start, self._echoes(report, name))
                ]
            for file, text in one.extra_files.items():
                found_in = self.index.found(key, text, name_of(text))
                places += [_place(one.step, file, text, found) for found in found_in]
        return places

    def seen(self, key: Number) -> list[Place]:
        return [place for step in self.log.steps if self._exposes(step) for place in self._seen_in(step, key)]

    def is_part(self, step: Step) -> bool:
        """Whether some of the main report reached the agent in this step."""
        if step.result_kind not in PARTS or step.seq in self.own:
            return False
        hits = _HITS.match(step.result_text) if step.result_kind == "search_hits" else None
        return bool(step.result_text.strip()) and (hits is None or int(hits[1]) > 0)

    def _exposes(self, step: Step) -> bool:
        return step.result_kind in EXPOSING and step.seq not in self.own

    def _seen_in(self, step: Step, key: Number) -> Iterator[Place]:
        text = without_instruction(self.log.condition, step.result_text)
        found = self.index.found(key, text, name_of(text))
        if not found:
            return
        counts = self._counting(step, text)
        for one in found:
            if counts(one):
                file = REPORT_FILE if step.result_kind in PARTS else step.path
                yield _place(step.seq, file, text, one)

    def _counting(self, step: Step, text: str) -> Callable[[Seen], bool]:
        """Which places in a result count: those of the report, as far as it does not repeat its input there."""
        if step.result_kind == "own_file":
            return lambda found: True
        given = [
            (one.report_text, name)
            for one, name in self.simulations
            if one.step <= step.seq and one.report_text is not None and name is not None
        ]
        report, name = given[-1] if given else ("", "")
        if step.result_kind == "search_hits":
            starts = line_starts(report)
            return lambda found: self._counts_in_hits(text, starts, self._echoes(report, name), found)
        pieces = list(_pieces(text, report)) if report else []
        if not pieces:
            echoes = self._echoes(text, name_of(text))
            return lambda found: not within(found.start, echoes)
        return lambda found: any(
            start <= found.start < end and not within(found.start - start + at, self._echoes(report, name))
            for start, end, at in pieces
        )

    @staticmethod
    def _counts_in_hits(text: str, starts: Sequence[int], echoes: Spans, found: Seen) -> bool:
        start = text.rfind("\n", 0, found.start) + 1
        hit = _HIT.match(text, start)
        if hit is None:
            return not _HITS.match(text, start)
        if found.start < hit.end():
            return False
        line = int(hit[1]) - 1
        return line >= len(starts) or not within(starts[line] + found.start - hit.end(), echoes)

    def _echoes(self, text: str, name: str) -> Spans:
        return self.index.echoes(text, name, self.headings, self.is_echo)


def _own_files(log: RunLog) -> Iterator[tuple[int, str]]:
    """The steps that read a file as the agent itself wrote it; one that a simulation wrote since is the simulator's."""
    written: dict[str, str] = {}
    by_step: dict[int, list[Simulation]] = {}
    for one in log.simulations:
        by_step.setdefault(one.step, []).append(one)
    for step in log.steps:
        for one in by_step.get(step.seq, ()):
            for name in (REPORT_FILE, *one.extra_files):
                written.pop(name, None)
        content = step.args.get("content")
        if step.path and isinstance(content, str):
            written[step.path] = content
        elif step.path in written and step.result_kind in READ_FROM_FILES and step.seq not in by_step:
            yield step.seq, step.path


_KNOWN_HEAD = 200


def _pieces(text: str, report: str) -> Iterator[tuple[int, int, int]]:
    """The pieces of a result that are the report's: from where to where in the result, and from where in the report.
    What stands before the report and the line between head and tail are none of it."""
    if not text:
        return
    place = report.find(text)
    if place >= 0:
        yield 0, len(text), place
        return
    start = text.find(report[:_KNOWN_HEAD])
    if start < 0:
        return
    marked = MARKED.search(text, start)
    if marked is None:
        yield start, min(len(text), start + len(report)), 0
        return
    yield start, marked.start(), 0
    tail = text[marked.end() + 1 :]
    if report.endswith(tail):
        yield marked.end() + 1, len(text), len(report) - len(tail)


def _place(step: int, file: str, text: str, found: Seen) -> Place:
    line = text.count("\n", 0, found.start) + 1
    return Place(step, file, line, found.start, found.text, found.precision)


def run_record(log: RunLog, found: StageVerdict, **more: Any) -> Mapping[str, Any]:
    """A run with its verdict as a record of the method's figures. `more` are what the log does not say: headline,
    control, fixed_index, tokens_in."""
    said = {
        "record": "run",
        "id": log.id,
        "item": log.item,
        "model": log.model,
        "condition": log.condition,
        "correct": found.correct,
        "answer_parse": found.answer_parse,
        "built": found.built,
        "exposed": found.exposed,
        "executed": found.executed,
        "report_part_seen": found.report_part_seen,
        "seen_precision": found.seen_precision if found.exposed else None,
        "trap": found.trap,
        "chose_truncated_neighbour": found.chose_truncated_neighbour,
        **more,
    }
    return {name: value for name, value in said.items() if value is not None}
