"""The teams in a file of records: their events by stratum, and what came out of each event in each condition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from annotate.traces.base import Problem, gettext_noop
from scoring.methods.records import Record, Records, RecordsRefused
from scoring.methods.revision_schema import ANSWER_ONLY, FULL_TEXT, NO_MESSAGE
from scoring.methods.tables import By, Words
from scoring.stats.statistic import Floats, Mask

STRATA: dict[str, Words] = {
    "correction": gettext_noop("correction: receiver wrong, sender right"),
    "preservation": gettext_noop("preservation: receiver right, sender wrong"),
    "both_wrong": gettext_noop("both wrong"),
    "both_correct": gettext_noop("both right"),
}
Event = tuple[str, str, str]
"""Question, sender, receiver."""


@dataclass(frozen=True)
class Condition:
    channel: str
    policy: str

    @property
    def order(self) -> tuple[str, int, str]:
        """By policy, from no message to more of it, then other channels by name: the same in every file."""
        known = (NO_MESSAGE, ANSWER_ONLY, FULL_TEXT)
        return (self.policy, known.index(self.channel) if self.channel in known else len(known), self.channel)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What came out of every event of a team in one condition: arrays (n_events,). `observed`: there is a revision."""

    observed: Mask
    correct: Mask
    terminated: Mask
    identity: Sequence[str | None]
    tokens: Floats
    calls: Floats


@dataclass(frozen=True, eq=False)
class Team:
    """One team of agents (of one model) on one set: its events, all directions of every question that two or more
    agents answered, and the outcomes by condition.

    `strata` names the stratum of each event; `retained` are the events of questions that at least one agent got wrong.
    """

    model: str | None
    set: str
    n_evaluated: int | None
    events: tuple[Event, ...]
    strata: Sequence[str]
    retained: Mask
    receiver_right: Mask
    cut_off: Mask
    outcomes: Mapping[Condition, Outcomes]

    @property
    def by(self) -> By:
        model: By = ((gettext_noop("model"), self.model),) if self.model else ()
        return (*model, (gettext_noop("set"), self.set))

    @property
    def clusters(self) -> list[Hashable]:
        return [question for question, _, _ in self.events]

    @property
    def policies(self) -> list[str]:
        return list(dict.fromkeys(one.policy for one in self.outcomes))

    def channels(self, policy: str) -> list[str]:
        return [one.channel for one in self.outcomes if one.policy == policy]

    def of(self, condition: Condition) -> By:
        """The break-down of a condition."""
        return (
            *self.by,
            (gettext_noop("policy"), condition.policy),
            (gettext_noop("channel"), condition.channel),
        )

    def is_stratum(self, *names: str) -> Mask:
        return np.array([one in names for one in self.strata], dtype=bool) & self.retained


def stratum(*, receiver_right: bool, sender_right: bool) -> str:
    if receiver_right:
        return "both_correct" if sender_right else "preservation"
    return "correction" if sender_right else "both_wrong"


def identity(answer: str | None, prior: str | None, sender: str | None) -> str:
    """Which answer a revised one is, the first rule that applies: `invalid` (none could be read), `prior`, `sender`,
    else `third`. What could not be read at first is equal to nothing. A match is no proof of adoption."""
    if answer is None:
        return "invalid"
    if prior is not None and answer.strip() == prior.strip():
        return "prior"
    return "sender" if sender is not None and answer.strip() == sender.strip() else "third"


def teams(records: Records) -> list[Team]:
    """RecordsRefused for a revision whose sender or receiver has no answer of its own."""
    initial: dict[tuple[str | None, str], dict[str, dict[str, Record]]] = defaultdict(lambda: defaultdict(dict))
    for one in records["initial"]:
        initial[one["model"], one["set"]][one["question"]][one["agent"]] = one
    revisions: dict[tuple[str | None, str], dict[Condition, dict[Event, Record]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    problems: list[Problem] = []
    for one in records["revision"]:
        known = initial[one["model"], one["set"]][one["question"]]
        problems += [
            one.place.problem(
                "unknown_reference", f"/{name}",
                expected=gettext_noop("An agent with an initial record of the question."),
                remedy=gettext_noop("Add that record, or correct the name."),
            )
            for name in ("sender", "receiver")
            if one[name] not in known
        ]  # fmt: skip
        event = (one["question"], one["sender"], one["receiver"])
        revisions[one["model"], one["set"]][Condition(one["channel"], one["policy"])][event] = one
    if problems:
        raise RecordsRefused(problems)
    evaluated = {one["id"]: one["n_evaluated"] for one in records["set"]}
    return [
        _team(model, name, questions, revisions[model, name], evaluated.get(name))
        for (model, name), questions in sorted(initial.items(), key=lambda one: (one[0][0] or "", one[0][1]))
        if questions
    ]


def _team(
    model: str | None,
    name: str,
    questions: Mapping[str, Mapping[str, Record]],
    revisions: Mapping[Condition, Mapping[Event, Record]],
    n_evaluated: int | None,
) -> Team:
    events = tuple(
        (question, sender, receiver)
        for question, agents in questions.items()
        for sender, receiver in permutations(sorted(agents), 2)
    )
    sides = [(questions[question][receiver], questions[question][sender]) for question, sender, receiver in events]
    some_wrong = {name: not all(one["correct"] for one in agents.values()) for name, agents in questions.items()}
    conditions = sorted(revisions, key=lambda one: one.order)
    cut_off = {name: any(one["terminated"] for one in agents.values()) for name, agents in questions.items()}
    return Team(
        model=model,
        set=name,
        n_evaluated=n_evaluated,
        events=events,
        strata=[stratum(receiver_right=one["correct"], sender_right=other["correct"]) for one, other in sides],
        retained=np.array([some_wrong[question] for question, _, _ in events], dtype=bool),
        receiver_right=np.array([one["correct"] for one, _ in sides], dtype=bool),
        cut_off=np.array([cut_off[question] for question, _, _ in events], dtype=bool),
        outcomes={one: _outcomes(events, sides, revisions[one]) for one in conditions},
    )


def _outcomes(
    events: Sequence[Event], sides: Sequence[tuple[Record, Record]], found: Mapping[Event, Record]
) -> Outcomes:
    said = [found.get(one) for one in events]
    return Outcomes(
        observed=np.array([one is not None for one in said], dtype=bool),
        correct=np.array([one is not None and one["correct"] for one in said], dtype=bool),
        terminated=np.array([one is not None and bool(one["terminated"]) for one in said], dtype=bool),
        identity=[
            None if one is None else identity(one["answer"], prior["answer"], sender["answer"])
            for one, (prior, sender) in zip(said, sides, strict=True)
        ],
        tokens=_logged(said, "tokens"),
        calls=_logged(said, "calls"),
    )


def _logged(said: Sequence[Record | None], name: str) -> Floats:
    """nan where there is no revision or it logs nothing."""
    return np.array([np.nan if one is None or one[name] is None else one[name] for one in said], dtype=float)
