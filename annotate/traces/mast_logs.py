"""Logs as lines: which lines are one record, and who speaks in it.

A record is a line that begins one and the lines after it up to the next; its text is all of them, joined by line ends,
so that no line is lost. HyperAgent and MetaGPT write a logger's head; MA-ToT writes headings, and a rule of asterisks
that ends a record. What stands before the first head is a record of its own. The first head decides whose log it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Record:
    """Lines from number `line` on (the first is 0), and their speaker, empty where the log does not name one."""

    line: int
    lines: tuple[str, ...]
    speaker: str = ""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@dataclass(frozen=True, slots=True)
class Log:
    """How one program writes its log: lines that begin a record, lines that end one, and who speaks in a record."""

    head: re.Pattern[str]
    speaker: Callable[[Sequence[str]], str]
    end: re.Pattern[str] | None = None

    def is_first(self, lines: Sequence[str], number: int) -> bool:
        ends_before = self.end is not None and number > 0 and self.end.fullmatch(lines[number - 1]) is not None
        return ends_before or self.head.match(lines[number]) is not None


RESPONSE = re.compile(r"([A-Z][\w-]{0,80})'s Response:")
REPORT = re.compile(r"([A-Z][\w-]{0,80}->[A-Z][\w-]{0,80}):")
ACTOR = re.compile(r"([^:\n(]{1,80}\([^:\n)]{1,80}\)):")
VERIFIER = re.compile(r"Verifier response:\s*")
FINAL = re.compile(r"Final Answer:[ \t]*(\S.*)")


def hyperagent_speaker(lines: Sequence[str]) -> str:
    """The agent, with whom it reports to where the log says so; the program for its own lines."""
    head = HYPERAGENT.head.match(lines[0])
    if head is None:
        return ""
    said = RESPONSE.match(lines[0], head.end()) or REPORT.match(lines[0], head.end())
    return said[1] if said else "HyperAgent"


def metagpt_speaker(lines: Sequence[str]) -> str:
    head = METAGPT.head.match(lines[0])
    if head is None:
        return ""
    actor = ACTOR.match(lines[0], head.end())
    return actor[1] if actor else "MetaGPT"


def ma_tot_speaker(lines: Sequence[str]) -> str:
    """A reasoner by its heading, the verifier by its second line, a round by its number, the program by nothing."""
    if heading := MA_TOT.head.match(lines[0]):
        return heading[1] or heading[2]
    return "Verifier" if any(VERIFIER.fullmatch(line) for line in lines[1:2]) else ""


HYPERAGENT = Log(re.compile(r"HyperAgent_\S{1,200} - [A-Z]+ - "), hyperagent_speaker)
METAGPT = Log(re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? \| [A-Z]+ +\| \S{1,200} - "), metagpt_speaker)
MA_TOT = Log(
    re.compile(r"(?:\s*#{5,} (Round \d{1,6}) #{5,}|\*{5} (.{1,80}) output: \*{5})\s*$"),
    ma_tot_speaker,
    end=re.compile(r"\*{20,}\s*"),
)


def log_of(lines: Sequence[str]) -> Log | None:
    """Whose log it is, by the first line that begins a record of any."""
    logs = (HYPERAGENT, METAGPT, MA_TOT)
    return next((log for line in lines for log in logs if log.head.match(line)), None)


def records(lines: Sequence[str], log: Log | None) -> Iterator[Record]:
    """Every line in one record, in order; all in one where the log is not known."""
    first = 0
    for number in range(1, len(lines) + 1):
        if number == len(lines) or (log is not None and log.is_first(lines, number)):
            held = tuple(lines[first:number])
            yield Record(first, held, log.speaker(held) if log else "")
            first = number


def final_answer(last: Record) -> str:
    """The answer that MA-ToT prints in the last record of its log, which is no agent's."""
    found = [match[1] for line in last.lines if (match := FINAL.search(line))] if not last.speaker else []
    return found[-1] if found else ""
