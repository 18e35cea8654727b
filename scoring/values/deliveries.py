"""How a report reaches an agent: inline with head and tail, as an index, by search, or by its length; and two
instructions. What is delivered follows from the report and the condition alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from scoring.values.sections import Heading, index_text, line_starts, lines_between, sections

Kind = Literal["report", "report_part", "index", "search_hits", "own_file", "other"]
REPORT_FILE = "result.out"
MOST_INLINE = 100_000
MOST_HITS = 50
MARKER = "\n[middle of the report left out: {n} characters and more]\n"
MARKED = re.compile(r"^\[middle of the report left out: \d+ characters and more\]$", re.MULTILINE)

REPORT_INSTRUCTION = (
    "The values in the main report are authoritative and are printed at the precision of the options. "
    "Take the values that you need from the main report. "
    "Do not answer from selected-output files."
)
ROUND_INSTRUCTION = (
    "Some values may be printed with more digits than the options have. "
    "Round such a value correctly to the digits of the options. "
    "Do not truncate it."
)


@dataclass(frozen=True, slots=True)
class Condition:
    """One way of delivery. `way` is what follows a successful execution; None for the two without tools."""

    key: str
    way: Literal["inline", "index", "search", "by_length"] | None
    instruction: str = ""

    @property
    def has_tools(self) -> bool:
        return self.way is not None


CONDITIONS: dict[str, Condition] = {
    one.key: one
    for one in (
        Condition("raw100k", "inline"),
        Condition("toc", "index"),
        Condition("grep", "search"),
        Condition("hybrid", "by_length"),
        Condition("toc_report", "index", REPORT_INSTRUCTION),
        Condition("toc_round", "index", ROUND_INSTRUCTION),
        Condition("direct", None),
        Condition("cot", None),
    )
}


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a tool gives back, and what it is for the localiser."""

    text: str
    kind: Kind


def executed(
    condition: Condition,
    ok: bool,
    report: str,
    headings: Sequence[Heading],
    extra_files: Mapping[str, str],
    error: str = "",
    most: int = MOST_INLINE,
) -> Delivery:
    """The result of an execution. A failed one brings its error and no report."""
    head = metadata(ok, report, extra_files)
    if not ok:
        return Delivery(instructed(condition, head + error), "other")
    if condition.way == "inline" or (condition.way == "by_length" and len(report) <= most):
        return Delivery(instructed(condition, head + inline(report, most)), "report")
    if condition.way in ("index", "by_length"):
        return Delivery(instructed(condition, head + index_text(sections(report, headings))), "index")
    return Delivery(instructed(condition, head), "other")


def metadata(ok: bool, report: str, extra_files: Mapping[str, str]) -> str:
    names = ", ".join([REPORT_FILE, *sorted(extra_files)])
    return (
        f"ok: {'true' if ok else 'false'}\n"
        f"{REPORT_FILE}: {len(report)} characters, {len(line_starts(report))} lines\n"
        f"files: {names}\n"
    )


def inline(report: str, most: int = MOST_INLINE) -> str:
    """The report, or its head and tail with a line between them that says what is left out: as long as is allowed
    then, and never longer."""
    if len(report) <= most:
        return report
    marker = MARKER.format(n=len(report) - most)
    head = most // 2
    tail = most - head - len(marker)
    if tail <= 0:
        return report[:most]
    return report[:head] + marker + report[-tail:]


def instructed(condition: Condition, text: str) -> str:
    """A result of a tool as the condition gives it: its instruction stands below each."""
    return f"{text}\n{condition.instruction}" if condition.instruction else text


def without_instruction(condition_key: str, text: str) -> str:
    condition = CONDITIONS.get(condition_key)
    return text.removesuffix(f"\n{condition.instruction}") if condition and condition.instruction else text


def read_report(condition: Condition, report: str, first: int | None = None, last: int | None = None) -> Delivery:
    """The lines that were asked for, letter for letter, as far as a result may be long."""
    text = report if first is None and last is None else lines_between(report, first or 1, last or len(report))
    return Delivery(instructed(condition, inline(text)), "report_part")


def searched(condition: Condition, hits: Sequence[tuple[int, str]], n_all: int) -> Delivery:
    """Hits of a search, each with its line number, below how many there are and how many of them are shown."""
    lines = [f"{n_all} hits, {len(hits)} shown", *(f"{number}: {line}" for number, line in hits)]
    return Delivery(instructed(condition, inline("\n".join(lines))), "search_hits")


def search(report: str, pattern: str, most: int = MOST_HITS) -> tuple[list[tuple[int, str]], int]:
    """The first lines that a pattern is found in, by number, and how many there are. A pattern can take for ever: only
    a child with bounds runs this for agents (`searching.py`)."""
    found_by = re.compile(pattern)
    hits = [(number, line) for number, line in enumerate(report.split("\n"), 1) if found_by.search(line)]
    return hits[:most], len(hits)
