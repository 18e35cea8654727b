"""How the rows of a project become the records of its method: what a module of joins gives, and where it is found.

A method names its module (`Method.joins`), which has a `JOINS`. All else of a report is the same for every method and
stands in `method_reports.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from annotate import lead_queries
from annotate.models import Project
from scoring.methods.tables import Method, Words
from scoring.models import Run


@dataclass(frozen=True, slots=True)
class AskedJudge:
    """A judge whose run a report rests on. `field` asks for one of its runs; `title` says so on the page, and `nudge`,
    if anything, what there is to say while it has judged nothing; message ids."""

    name: str
    field: str
    title: str
    nudge: str = ""


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """A run that the report rests on. `n_left` of its jobs wait still, `n_dead` were given up."""

    number: int
    judge: str
    version: str
    n_samples: int
    model: str
    n_left: int
    n_dead: int


@dataclass(frozen=True, slots=True)
class NamedRun:
    """The run of a judge that the report rests on, if there is one."""

    judge: str
    run: JudgedBy | None


@dataclass(frozen=True, slots=True)
class ReportFacts:
    """What the report rests on; `protocols` are the numbers of those with labels in the phase."""

    phase: str
    is_synthetic: bool
    open_lead: bool
    protocol: int | None
    protocols: tuple[int, ...]
    partial: tuple[lead_queries.Partial, ...]
    n_problems: int
    judges: tuple[NamedRun, ...]

    def run_of(self, judge: str) -> JudgedBy | None:
        return next((one.run for one in self.judges if one.judge == judge), None)


@dataclass(frozen=True, slots=True)
class Joined:
    """The rows of a project as records. `protocol` is the one that the labels were given under, None where they are of
    several or there are none; `ids` name the rows, as `reports.numbers_of` reads them; `notes` are said of them."""

    records: Iterable[Mapping[str, Any]]
    protocol: int | None
    protocols: tuple[int, ...]
    ids: Mapping[str, str]
    notes: tuple[Words, ...] = ()


def no_others(project: Project) -> list[Project]:
    return []


@dataclass(frozen=True, slots=True)
class Joins:
    """What is different from method to method. `version` is raised where the same rows are to give other records.
    `gather` gets the phase, the number of a protocol or None, and the run of each judge by its name."""

    version: str
    gather: Callable[[Project, str, int | None, Mapping[str, Run | None]], Joined]
    label_words: Callable[[ReportFacts], Iterator[Words]]
    """What is said of the labels."""
    missing_words: Callable[[ReportFacts], Iterator[Words]]
    """What is said where judges have judged nothing."""
    judges: tuple[AskedJudge, ...] = ()
    others: Callable[[Project], list[Project]] = no_others
    """Further projects whose labels enter the report."""


def joins_of(method: Method) -> Joins:
    found: Joins = import_module(f"scoring.{method.joins}").JOINS
    return found
