"""Rows of a project as the records of the method of redundant steps: trajectories, what rules pointed to in them, what
experts said in each round, and what each trajectory ended with.

Pure joins: the rows come from `redundancy_queries.py`, and `records` gives one JSON object a record, as
`docs/records.md` has them. Experts are their public codes, the task of a trajectory is its cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Json = dict[str, Any]
TRIPLET = ("step", "type", "evidence")
CANNOT = "cannot_annotate"
CLASSIFICATION, RETRIEVAL, DETECTION = "classification", "retrieval", "detection"


@dataclass(frozen=True, slots=True)
class ItemRow:
    """A trajectory. `suggestions` are None where no rule was asked."""

    item: int
    cluster: str
    domain: str
    model: str
    n_messages: int
    suggestions: Sequence[Mapping[str, Any]] | None
    is_shown: bool
    is_waiting: bool
    """Somebody has still to label it blind."""
    tokens: Mapping[int, float] | None = None
    """Of each message of the agent, by its index; None where one of them is not known."""


class RoundRow(NamedTuple):
    number: int
    is_first: bool
    informed: bool


class LabelRow(NamedTuple):
    """What an expert said in a round of the project."""

    annotation: int
    item: int
    rater: str
    round: int
    informed: bool
    protocol: int
    label: Mapping[str, Any]

    @property
    def says_something(self) -> bool:
        return bool(self.label["outcome"] != CANNOT)


@dataclass(frozen=True, slots=True)
class Ended:
    """What a trajectory ended with; without steps it is not resolved."""

    steps: Sequence[Mapping[str, Any]] | None


class JurorRow(NamedTuple):
    """What a model of the jury found in a trajectory; None where it does not cover it."""

    item: int
    juror: str
    steps: Sequence[Mapping[str, Any]] | None


class DetectorRow(NamedTuple):
    """What a detector answered about a trajectory; None where nobody could read it."""

    item: int
    detector: str
    variant: str
    setting: str
    answers: Sequence[Mapping[str, Any]] | None
    cost: float | None


@dataclass(frozen=True, slots=True)
class Rows:
    """Everything of a project that its report rests on. `rounds` are numbered as `numbered` does; `agreed` are the
    steps that the jury agreed on, none of them among these too; `exemplars` were shown to a judge as examples."""

    items: Sequence[ItemRow]
    labels: Sequence[LabelRow]
    rounds: Mapping[int, int]
    ends: Mapping[int, Ended]
    jurors: Sequence[JurorRow] = ()
    agreed: Mapping[int, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    detectors: Sequence[DetectorRow] = ()
    exemplars: frozenset[int] = frozenset()

    def gold_of(self, item: int) -> set[tuple[int, ...]]:
        """The steps that a trajectory ended with, by experts or else by the jury."""
        end = self.ends.get(item)
        steps = self.agreed.get(item, ()) if end is None else end.steps or ()
        return {tuple(sorted(one["step"])) for one in steps}


def numbered(rounds: Iterable[RoundRow]) -> dict[int, int]:
    """The rounds of a project as those of the method: all first ones are round 1, as one goes on in another; the others
    follow in their order."""
    found: dict[int, int] = {}
    last = 1
    for one in sorted(rounds):
        last += not one.is_first
        found[one.number] = 1 if one.is_first else last
    return found


def comparable(labels: Iterable[LabelRow], rounds: Mapping[int, int], protocol: int | None = None) -> list[LabelRow]:
    """One label of a trajectory, expert and round, those of each trajectory and round under one protocol: the newest
    there, or this one. Labels under different guidelines are not compared."""
    chosen = [one for one in labels if protocol in (None, one.protocol)]
    newest: dict[tuple[int, int], int] = {}
    for one in chosen:
        key = (one.item, rounds[one.round])
        newest[key] = max(one.protocol, newest.get(key, 0))
    last = {
        (one.item, one.rater, rounds[one.round]): one
        for one in sorted(chosen, key=lambda one: (one.round, one.annotation))
        if one.protocol == newest[one.item, rounds[one.round]]
    }
    return [last[key] for key in sorted(last)]


def last_of_each(labels: Iterable[LabelRow]) -> dict[int, list[LabelRow]]:
    """By trajectory, what each expert said last, whatever the round."""
    last = {(one.item, one.rater): one for one in sorted(labels, key=lambda one: (one.round, one.annotation))}
    found: dict[int, list[LabelRow]] = {}
    for item, rater in sorted(last):
        found.setdefault(item, []).append(last[item, rater])
    return found


def records(rows: Rows) -> Iterator[Json]:
    """Every record, in an order of its own: that of items, experts and rounds, whatever the database gave first."""
    items = sorted(rows.items, key=lambda one: one.item)
    yield from (trajectory(one, rows.ends.get(one.item), one.item in rows.exemplars) for one in items)
    yield from (suggested(one) for one in items if one.suggestions is not None)
    known = {one.item for one in items}
    for one in rows.labels:
        if one.item in known and one.says_something:
            yield expert(one, rows.rounds[one.round])
    for item in sorted(known & rows.ends.keys()):
        steps = rows.ends[item].steps
        if steps is not None:
            yield gold(item, steps, "experts")
    yield from (gold(item, rows.agreed[item], "jury") for item in sorted(known & rows.agreed.keys() - rows.ends.keys()))
    yield from (juror(one) for one in sorted(rows.jurors, key=lambda one: one[:2]) if one.item in known)
    for detected in sorted(rows.detectors, key=lambda one: one[:4]):
        if detected.item in known:
            yield detector(detected, rows.gold_of(detected.item))


def gold(item: int, steps: Iterable[Mapping[str, Any]], provenance: str) -> Json:
    head = {"record": "gold", "trajectory": str(item), "provenance": provenance}
    return {**head, "steps": list(map(triplet, steps))}


def juror(row: JurorRow) -> Json:
    head = {"record": "jury", "trajectory": str(row.item), "juror": row.juror, "covered": row.steps is not None}
    return head if row.steps is None else {**head, "steps": list(map(triplet, row.steps))}


def detector(row: DetectorRow, of_gold: set[tuple[int, ...]]) -> Json:
    """Answers about steps that are no gold any more are left out."""
    told: Json = {"record": "detector", "trajectory": str(row.item), "detector": row.detector, "setting": row.setting}
    told |= {"variant": row.variant} if row.variant else {}
    told |= {} if row.cost is None else {"cost": row.cost}
    if row.answers is None:
        return {**told, "failed": True}
    answers = [one for one in row.answers if row.setting == DETECTION or tuple(sorted(one["step"])) in of_gold]
    fields = {DETECTION: (*TRIPLET, "confidence"), RETRIEVAL: TRIPLET}.get(row.setting, ("step", "type"))
    return {**told, "answers": [{name: one[name] for name in fields if one.get(name) is not None} for one in answers]}


def n_no_gold(rows: Rows) -> int:
    """Answers about given steps that are left out, as the steps are no gold any more."""
    given = (one for one in rows.detectors if one.setting != DETECTION)
    return sum(
        tuple(sorted(answer["step"])) not in rows.gold_of(one.item) for one in given for answer in one.answers or ()
    )


def trajectory(row: ItemRow, end: Ended | None, is_exemplar: bool = False) -> Json:
    told: Json = {"task": row.cluster, "model": row.model}
    if is_exemplar:
        told["exemplar"] = True
    if end is not None and end.steps is None:
        told["state"] = "unresolved"
    if row.suggestions is not None:
        told["suggestions"] = "shown" if row.is_shown else "left_off"
    head = {"record": "trajectory", "id": str(row.item), "domain": row.domain or "-", "n_steps": row.n_messages}
    return {**head, **{name: value for name, value in told.items() if value}, **counted(row, end)}


def counted(row: ItemRow, end: Ended | None) -> Json:
    """The tokens of the agent's messages, in all and, once the trajectory has ended with steps, of those with a
    redundant call."""
    if row.tokens is None:
        return {}
    total = {"tokens_total": sum(row.tokens.values())}
    if end is None or end.steps is None:
        return total
    named = {index for one in end.steps for index in one["step"]}
    return {"tokens_redundant": sum(row.tokens[index] for index in named & row.tokens.keys()), **total}


def suggested(row: ItemRow) -> Json:
    steps = [{**triplet(one), "rules": list(one.get("rules", ()))} for one in row.suggestions or ()]
    return {"record": "suggested", "trajectory": str(row.item), "steps": steps}


def expert(row: LabelRow, number: int) -> Json:
    return {
        "record": "expert",
        "trajectory": str(row.item),
        "expert": row.rater,
        "round": number,
        "informed": row.informed,
        "steps": list(map(triplet, row.label.get("steps", ()))),
        "decisions": [{"step": one["step"], "decision": one["decision"]} for one in row.label.get("decisions", ())],
    }


def triplet(step: Mapping[str, Any]) -> Json:
    return {name: step[name] for name in TRIPLET}
