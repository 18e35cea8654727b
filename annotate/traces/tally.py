"""What a file was found to hold: counts of everything, and the first problems of each sort with the number of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from annotate.traces.base import Problem, Trace
from annotate.traces.pairing import orphan_results, unanswered_calls

LISTED = 1000
"""So many problems are listed, and the first of every code; more are only counted, so that a wrong file cannot fill the
memory."""


@dataclass
class Tally:
    """`unpaired` counts calls without a result and results without a call; `skipped` what was warned of, by its code:
    mostly what was read but not understood, and kept private or passed over. `problem_codes` has the code of every
    problem that refuses, of the listed ones and the others."""

    traces: int = 0
    messages: int = 0
    calls: int = 0
    paired: int = 0
    unpaired: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    n_problems: int = 0
    problem_codes: set[str] = field(default_factory=set)
    warnings: list[Problem] = field(default_factory=list)

    def traces_in(self, found: Iterable[Trace | Problem]) -> Iterator[Trace]:
        """The traces of a reading, everything counted on the way."""
        for one in found:
            if isinstance(one, Problem):
                self.add_problem(one)
            else:
                self.add_trace(one)
                yield one

    def add_trace(self, trace: Trace) -> None:
        self.traces += 1
        self.messages += len(trace.messages)
        self.calls += sum(len(message.calls) for message in trace.messages)
        self.paired += sum(message.answers is not None for message in trace.messages)
        self.unpaired += len(unanswered_calls(trace.messages)) + len(orphan_results(trace.messages))

    @property
    def n_unlisted(self) -> int:
        """Problems and warnings that were counted and are not listed any more."""
        return self.n_problems + self.skipped.total() - len(self.problems) - len(self.warnings)

    def add_problem(self, problem: Problem) -> None:
        listed, codes = (self.warnings, self.skipped) if problem.warning else (self.problems, self.problem_codes)
        if len(listed) < LISTED or problem.code not in codes:
            listed.append(problem)
        if problem.warning:
            self.skipped[problem.code] += 1
        else:
            self.n_problems += 1
            self.problem_codes.add(problem.code)
