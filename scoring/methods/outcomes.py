"""Outcomes of experience replays as files bring them: records of the type `outcome` alone (docs/records.md), as JSON
lines or as a table with the fields as its columns. A file is read whole or refused with everything that is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from annotate.traces.base import Place, Problem, gettext_noop
from annotate.traces.documents import Document
from scoring.methods.records import AS_SCHEMA, RecordsRefused, RecordType, Schema, Wrong, read_records
from scoring.methods.redundancy_schema import SCHEMA as EVERY

OUTCOME = "outcome"
LONGEST = {"domain": 80, "task": 255, "condition": 80}
WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
NUMBER = re.compile(r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?(?:[eE][+-]?[0-9]{1,3})?")
TRUTHS = {"true": True, "1": True, "false": False, "0": False}
AS_FILE = gettext_noop("Correct it as docs/records.md says, then bring the whole file again.")

Key = tuple[str, str, int, str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run of a task; `place` is where its file has it."""

    domain: str
    task: str
    repeat: int
    condition: str
    success: bool
    tokens: float
    place: Place

    @property
    def key(self) -> Key:
        return self.domain, self.task, self.repeat, self.condition


@dataclass(frozen=True, slots=True)
class OutcomeFile:
    """`about` is what the file says of itself."""

    outcomes: tuple[Outcome, ...]
    about: str = ""
    is_synthetic: bool = False


def too_long(values: Mapping[str, Any]) -> Iterator[Wrong]:
    for name, most in LONGEST.items():
        if len(values[name]) > most:
            yield Wrong(name, gettext_noop("At most %(most)s characters."), params={"most": most})


def outcome_type() -> RecordType:
    (found,) = (one for one in EVERY.types if one.name == OUTCOME)
    return replace(found, checks=(*found.checks, too_long))


TYPE = outcome_type()
SCHEMA = Schema((TYPE,))
KINDS = {one.name: one.kind for one in TYPE.fields}


def read_outcomes(documents: Iterable[Document | Problem]) -> OutcomeFile:
    """RecordsRefused with every problem of the file."""
    try:
        records = read_records(map(as_record, documents), SCHEMA)
        if not records[OUTCOME]:
            raise RecordsRefused([NO_OUTCOMES])
    except RecordsRefused as error:
        raise RecordsRefused([remedied(one) for one in error.problems]) from None
    return OutcomeFile(
        tuple(Outcome(**{name: one[name] for name in KINDS}, place=one.place) for one in records[OUTCOME]),
        about="\n".join(one["text"] for one in records["about"]),
        is_synthetic=any(one["synthetic"] for one in records["about"]),
    )


def as_record(document: Document | Problem) -> Document | Problem:
    """A record without its type is an outcome; so is a row of a table, whose cells are texts."""
    if isinstance(document, Problem) or not isinstance(document.value, Mapping):
        return document
    value = dict(document.value)
    if "record" not in value and all(isinstance(one, str) for one in value.values()):
        value = {name: of_cell(KINDS.get(name, "text"), cell) for name, cell in value.items()}
    return replace(document, value={"record": OUTCOME, **value})


def of_cell(kind: str, cell: str) -> Any:
    """What a cell says; the cell itself where it is not of its kind, so that it is refused as such."""
    said = cell.strip()
    if not said:
        return None
    if kind == "whole" and WHOLE.fullmatch(said):
        return int(said)
    if kind == "number" and NUMBER.fullmatch(said):
        return float(said)
    if kind == "truth":
        return TRUTHS.get(said.lower(), said)
    return said


def remedied(problem: Problem) -> Problem:
    return replace(problem, remedy=AS_FILE) if problem.remedy == AS_SCHEMA else problem


NO_OUTCOMES = Problem(
    code="no_outcomes",
    expected=gettext_noop("At least one outcome; there is none."),
    remedy=AS_SCHEMA,
)


def against(
    known: Mapping[Key, tuple[bool, float]], outcomes: Iterable[Outcome]
) -> tuple[list[Outcome], list[Problem]]:
    """Those that are not known yet, and what contradicts what is: the same run with another end."""
    new: list[Outcome] = []
    problems: list[Problem] = []
    for one in outcomes:
        there = known.get(one.key)
        if there is None:
            new.append(one)
            continue
        for name, said, kept in zip(("success", "tokens"), (one.success, one.tokens), there, strict=True):
            if said != kept:
                problems.append(contradicts(one, name, plain(kept)))
    return new, problems


def plain(value: float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if value == int(value) else str(value)


def contradicts(one: Outcome, name: str, kept: str) -> Problem:
    return one.place.problem(
        "contradicts",
        f"/{name}",
        expected=gettext_noop(
            "%(kept)s, as brought in earlier for %(domain)s, task %(task)s, repeat %(repeat)s, condition %(condition)s."
        ),
        remedy=gettext_noop("Correct the file, or give runs made anew another number of repeat."),
        kept=kept,
        domain=one.domain,
        task=one.task,
        repeat=one.repeat,
        condition=one.condition,
    )
