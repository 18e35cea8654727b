"""The sections of a report: an index of it that an agent can read instead, and where the report repeats its input.

Sections follow each other without a gap, so that their characters add up to the report's. Lines end at a line feed and
are numbered from 1.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

BEFORE = "(before the first heading)"
MOST_INDEX_CHARACTERS = 60_000
LEFT_OUT = "(sections of the third level are left out of this index)"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading from its first character on; level 0 is for the text that has none."""

    start: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Section:
    level: int
    title: str
    first: int
    last: int
    start: int
    characters: int

    @property
    def end(self) -> int:
        return self.start + self.characters


Headings = Callable[[str], Sequence[Heading]]
"""The heading rule of a simulator: its headings in the order of the report."""


def heading_rule(states: str) -> Headings:
    """Boxes between two rules, states that a line at the margin names (a pattern), and ruled titles in them. Every line
    is looked at once, however it is made."""
    found_by = re.compile(rf"^(?:-{{3,}}|(?P<state>{states}))[^\n]*$", re.MULTILINE)

    def headings(report: str) -> list[Heading]:
        found, boxed = [], 0
        for one in found_by.finditer(report):
            if one.start() < boxed:
                continue
            if one["state"] is not None:
                found.append(Heading(one.start(), 2, " ".join(one.group().split())))
                continue
            ruled = one.group().rstrip()
            title = ruled.strip("-")
            box = None if title else _box(report, one.end() + 1)
            if box:
                boxed, title = box
                found.append(Heading(one.start(), 1, title))
            elif ruled.endswith("---") and any(map(str.isalpha, title)):
                found.append(Heading(one.start(), 3, title.strip()))
        return found

    return headings


def _box(report: str, start: int) -> tuple[int, str] | None:
    """Where the box below an upper rule ends, and its title, where the lines from here on make one."""
    end = report.find("\n", start)
    if end < 0:
        return None
    title = report[start:end].strip()
    lower = report.find("\n", end + 1)
    rule = report[end + 1 : lower if lower >= 0 else len(report)].rstrip()
    is_box = title.strip("- \t") and rule.startswith("---") and not rule.strip("-")
    return (end + 1 + len(rule), title) if is_box else None


def sections(report: str, headings: Sequence[Heading]) -> list[Section]:
    """The report by its headings, the text before the first one among them."""
    if not report:
        return []
    if not headings or headings[0].start:
        headings = [Heading(0, 0, BEFORE), *headings]
    found, line = [], 1
    for heading, end in zip(headings, [*(one.start for one in headings[1:]), len(report)], strict=True):
        n_lines = report.count("\n", heading.start, end) + (end == len(report))
        found.append(
            Section(heading.level, heading.title, line, line + n_lines - 1, heading.start, end - heading.start)
        )
        line += n_lines
    return found


def index_text(found: Sequence[Section], most: int = MOST_INDEX_CHARACTERS) -> str:
    """A line for each section: `FIRST-LAST (CHARACTERS) TITLE`, indented by level. A long one goes without the third
    level, and says so; where that is too long still, it ends where it must, and says that."""
    whole = _lines(found)
    if len(whole) <= most:
        return whole
    short = "\n".join((LEFT_OUT, _lines(section for section in found if section.level < 3)))
    if len(short) <= most:
        return short
    return short[: short.rfind("\n", 0, most - len(ENDS_HERE))] + ENDS_HERE


ENDS_HERE = "\n(the index ends here; read or search the report for more)"


def _lines(found: Iterable[Section]) -> str:
    return "\n".join(
        f"{one.first}-{one.last} ({one.characters}) {'  ' * max(one.level - 1, 0)}{one.title}" for one in found
    )


def spans(report: str, headings: Sequence[Heading], is_echo: Callable[[str], bool]) -> list[tuple[int, int]]:
    """The sections whose title says that they repeat the input, from character to character."""
    starts = [*(one.start for one in headings), len(report)]
    return [(one.start, end) for one, end in zip(headings, starts[1:], strict=True) if is_echo(one.title)]


def within(place: int, found: Sequence[tuple[int, int]]) -> bool:
    at = bisect_right(found, (place, float("inf"))) - 1
    return at >= 0 and place < found[at][1]


def line_starts(report: str) -> list[int]:
    return [0, *(one.end() for one in re.finditer("\n", report))]


def lines_between(report: str, first: int, last: int) -> str:
    """The characters of these lines, their line ends among them, and nothing where there are none."""
    starts = line_starts(report)
    first = max(first, 1)
    if last < first or first > len(starts):
        return ""
    return report[starts[first - 1] : starts[last] if last < len(starts) else len(report)]
