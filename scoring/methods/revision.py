"""Revision: how often a message of another agent puts a wrong answer right, and how often it leads a right one astray.

Agents answer a question independently; then one (receiver) sees something of another (sender) and may revise. Every
event is one direction of one question, in one of four strata by who was right at first. Intervals resample questions
with all their events; differences between conditions are on events that both have.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import Any

import numpy as np

from annotate.traces.base import Problem, gettext_noop
from scoring.methods.records import Field, Record, Records, RecordsRefused, RecordType, Schema, Wrong
from scoring.methods.tables import (
    Asked,
    By,
    Method,
    MethodReport,
    Parameter,
    Plan,
    Row,
    Said,
    Words,
    count_row,
    counted,
    drawing_of,
    drawn,
    without,
)
from scoring.stats.statistic import Floats, Mask, ratio
from scoring.stats.sums import Summed, combined, difference, mean, share

QUESTION = gettext_noop("question")
NO_MESSAGE, ANSWER_ONLY, FULL_TEXT = "no_message", "answer_only", "full_text"
STRATA: dict[str, Words] = {
    "correction": gettext_noop("correction: receiver wrong, sender right"),
    "preservation": gettext_noop("preservation: receiver right, sender wrong"),
    "both_wrong": gettext_noop("both wrong"),
    "both_correct": gettext_noop("both right"),
}
IDENTITIES: dict[str, Words] = {
    "invalid": gettext_noop("Cannot be read"),
    "prior": gettext_noop("The receiver's own first answer"),
    "sender": gettext_noop("The sender's answer"),
    "third": gettext_noop("Another answer"),
}


def _readable_if_right(values: Mapping[str, Any]) -> Iterator[Wrong]:
    if values["correct"] and values["answer"] is None:
        yield Wrong("answer", gettext_noop("An answer, as one that could not be read is not correct."))


def _of_another(values: Mapping[str, Any]) -> Iterator[Wrong]:
    if values["sender"] == values["receiver"]:
        yield Wrong("sender", gettext_noop("Another agent than the receiver."))


ANSWER = Field("answer", "text", "the answer read from the output; null where none could be read", False)
CORRECT = Field("correct", "truth", "the answer is right; false where none could be read")
TERMINATED = Field("terminated", "truth", "the output ended at a limit", False)
WHERE = (
    Field("set", "text", "set of questions"),
    Field("question", "text", "question within its set"),
    Field("model", "text", "model of the agents, where the file holds several", False),
)
SCHEMA = Schema(
    (
        RecordType(
            "set",
            "A set of questions.",
            (
                Field("id", "text", "name of the set"),
                Field("n_evaluated", "whole", "all its questions, for figures of the set", unit="questions", least=1),
            ),
            key=("id",),
        ),
        RecordType(
            "initial",
            "What an agent answered before it saw anything of another.",
            (*WHERE, Field("agent", "text", "name of the agent"), ANSWER, CORRECT, TERMINATED),
            key=("model", "set", "question", "agent"),
            checks=(_readable_if_right,),
        ),
        RecordType(
            "revision",
            "What a receiver answered after it saw something of a sender, or nothing (channel no_message).",
            (
                *WHERE,
                Field("sender", "text", "agent whose message it is"),
                Field("receiver", "text", "agent that revises"),
                Field("channel", "text", "no_message, answer_only, full_text, or the name of another channel"),
                Field("policy", "text", "instruction for the revision"),
                ANSWER,
                CORRECT,
                TERMINATED,
                Field("tokens", "number", "of the revision", False, unit="tokens", least=0),
                Field("calls", "whole", "of models", False, unit="calls", least=0),
            ),
            key=("model", "set", "question", "sender", "receiver", "channel", "policy"),
            checks=(_readable_if_right, _of_another),
        ),
    )
)

PARAMETERS = (
    Parameter("n_resamples_rates", "whole", 2_000, "resamples of questions behind each rate", least=100, most=200_000),
    Parameter("control", "text", NO_MESSAGE, "channel that the others are compared with"),
    Parameter("policy", "text", "critical_evaluation", "policy that the others are compared with"),
)

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


# Statistics of events.


def rate(team: Team, outcomes: Outcomes, *strata: str, kept: Mask | None = None) -> Summed:
    """Correct revised, of the observed events in these strata (all retained events without any)."""
    inside = outcomes.observed & (team.is_stratum(*strata) if strata else team.retained)
    return share(outcomes.correct, inside if kept is None else inside & kept)


def selectivity(team: Team, outcomes: Outcomes, *, kept: Mask | None = None) -> Summed:
    """(CR + PR) / 2: the mean of correction and preservation, 1/2 for who cannot tell right from wrong. No value
    without events of both strata.

    Checked against: golden-numbers.json i-si-*.
    """
    corrected, preserved = (rate(team, outcomes, name, kept=kept) for name in ("correction", "preservation"))
    return combined([corrected, preserved], lambda values: (values[0] + values[1]) / 2)


RATES: tuple[tuple[str, Words, Callable[..., Summed], Words], ...] = (
    ("cr", gettext_noop("Correction rate (CR)"), lambda team, said, **kept: rate(team, said, "correction", **kept),
     gettext_noop("correction events")),
    ("pr", gettext_noop("Preservation rate (PR)"), lambda team, said, **kept: rate(team, said, "preservation", **kept),
     gettext_noop("preservation events")),
    ("si", gettext_noop("Selectivity (CR + PR) / 2"), selectivity, gettext_noop("correction and preservation events")),
    ("bwr", gettext_noop("Recovery where both are wrong (BWR)"),
     lambda team, said, **kept: rate(team, said, "both_wrong", **kept), gettext_noop("events of two wrong agents")),
    ("bcp", gettext_noop("Preservation where both are right (BCP)"),
     lambda team, said, **kept: rate(team, said, "both_correct", **kept), gettext_noop("events of two right agents")),
    ("accuracy", gettext_noop("Right after revision"), rate, gettext_noop("retained events")),
)  # fmt: skip
MAIN = RATES[:3]


def rates(team: Team) -> list[Asked | Row]:
    """All rates of each condition. The accuracy is the mean of the four rates, weighted by their events."""
    rows: list[Asked | Row] = []
    for condition, said in team.outcomes.items():
        by = team.of(condition)
        for stratum_, words in STRATA.items():
            n = int((said.observed & team.is_stratum(stratum_)).sum())
            rows.append(count_row(f"n_{stratum_}", words, n, gettext_noop("events"), by))
        rows.append(
            count_row("n_events", gettext_noop("Retained events"), int((said.observed & team.retained).sum()),
                      gettext_noop("events"), by)
        )  # fmt: skip
        for metric, name, statistic, denominator in RATES:
            rows.append(Asked(metric, name, statistic(team, said), team.clusters, denominator, by))
            if metric == "pr":
                lost = share(~said.correct, said.observed & team.is_stratum("preservation"))
                corruption = gettext_noop("Corruption (1 - PR)")
                rows.append(Asked("corruption", corruption, lost, team.clusters, denominator, by))
        rows.append(_weighted(team, said, by))
    return rows


def _weighted(team: Team, said: Outcomes, by: By) -> Row:
    """The identity that the report checks: prevalence times rate, over the four strata."""
    parts = [rate(team, said, name).figure() for name in STRATA]
    n = sum(one.n_items for one in parts)
    figure = without("empty")
    if n:
        value = sum(one.n_items * (one.value or 0.0) for one in parts) / n
        accuracy = rate(team, said).figure().value
        if accuracy is None or abs(value - accuracy) > 1e-12:
            raise ArithmeticError(f"The four rates give {value}, the events {accuracy}.")
        figure = replace(counted(value), n_items=n, n_ratings=n)
    words = gettext_noop("The same, as the weighted mean of CR, PR, BWR and BCP")
    return Row("accuracy_from_rates", words, figure, gettext_noop("retained events"), by)


# Differences between conditions.


@dataclass(frozen=True)
class Gains:
    """Over paired events: `gains` the control wrong and the channel right, `losses` the other way round."""

    gains: int
    losses: int
    n_events: int

    @property
    def net(self) -> int:
        return self.gains - self.losses


def gains_of(team: Team, control: Outcomes, said: Outcomes) -> Gains:
    both = control.observed & said.observed & team.retained
    won, lost = both & ~control.correct & said.correct, both & control.correct & ~said.correct
    return Gains(int(won.sum()), int(lost.sum()), int(both.sum()))


def gains(team: Team, control: str) -> list[Asked | Row]:
    """Gains, losses and net of each channel against the control, in all four strata."""
    rows: list[Asked | Row] = []
    for condition, said in team.outcomes.items():
        base = team.outcomes.get(replace(condition, channel=control))
        if condition.channel == control or base is None:
            continue
        found, by = gains_of(team, base, said), team.of(condition)
        for metric, name, n in (
            ("gains", gettext_noop("Gains: control wrong, channel right"), found.gains),
            ("losses", gettext_noop("Losses: control right, channel wrong"), found.losses),
            ("net", gettext_noop("Net: gains minus losses"), found.net),
        ):
            row = count_row(metric, name, n, gettext_noop("events of both"), by)
            rows.append(replace(row, figure=counted(n, of=found.n_events)))
        net = difference(rate(team, base), rate(team, said))
        rows.append(
            Asked("net_rate", gettext_noop("Net, of the events"), net, team.clusters, gettext_noop("events of both"),
                  by, "difference", k=float(found.net), n=float(found.n_events))
        )  # fmt: skip
    return rows


def increments(team: Team, control: str, base_policy: str) -> list[Asked | Row]:
    """What a channel adds to selectivity over the control (G), and whether a policy changes that."""
    rows: list[Asked | Row] = []
    pairs = gettext_noop("correction and preservation events of both")
    of_all = gettext_noop("correction and preservation events of all")
    for condition, said in team.outcomes.items():
        base = team.outcomes.get(replace(condition, channel=control))
        if condition.channel == control or base is None:
            continue
        by = team.of(condition)
        added = difference(selectivity(team, base), selectivity(team, said))
        increment = gettext_noop("Communication increment G")
        rows.append(Asked("g", increment, added, team.clusters, pairs, by, "difference"))
        other = [team.outcomes.get(Condition(name, base_policy)) for name in (control, condition.channel)]
        if condition.policy != base_policy and other[0] is not None and other[1] is not None:
            change = _change_of_difference(team, other[0], other[1], base, said)
            name = Said(gettext_noop("G minus G under %(policy)s"), {"policy": base_policy})
            rows.append(Asked("g_policy", name, change, team.clusters, of_all, by, "difference"))
    for policy in team.policies:
        if policy == base_policy:
            continue
        for one, other_ in combinations(team.channels(policy), 2):
            rules, names = (base_policy, policy), (one, other_)
            four = [team.outcomes.get(Condition(name, rule)) for rule in rules for name in names]
            found = [outcome for outcome in four if outcome is not None]
            if len(found) == 4:
                by = (*team.by, (gettext_noop("policy"), policy), (gettext_noop("channels"), f"{other_} - {one}"))
                name = Said(gettext_noop("Channel by policy: difference in selectivity minus that under %(policy)s"),
                            {"policy": base_policy})  # fmt: skip
                change = _change_of_difference(team, *found)
                rows.append(Asked("interaction", name, change, team.clusters, of_all, by, "difference"))
    return rows


def _change_of_difference(team: Team, a0: Outcomes, a1: Outcomes, b0: Outcomes, b1: Outcomes) -> Summed:
    """(b1 - b0) - (a1 - a0) of selectivity, on events that all four have."""
    kept = a0.observed & a1.observed & b0.observed & b1.observed
    parts = [selectivity(team, one, kept=kept) for one in (a0, a1, b0, b1)]
    return combined(parts, lambda values: (values[3] - values[2]) - (values[1] - values[0]))


def contrasts(team: Team) -> list[Asked | Row]:
    """Each pair of channels under one policy: rates, and correct answers as a number."""
    rows: list[Asked | Row] = []
    for policy in team.policies:
        for one, other in combinations(team.channels(policy), 2):
            first, second = team.outcomes[Condition(one, policy)], team.outcomes[Condition(other, policy)]
            by = (*team.by, (gettext_noop("policy"), policy), (gettext_noop("channels"), f"{other} - {one}"))
            for metric, name, statistic, _ in RATES:
                both = first.observed & second.observed
                apart = difference(statistic(team, first, kept=both), statistic(team, second, kept=both))
                rows.append(
                    Asked(f"{metric}_difference", name, apart, team.clusters, gettext_noop("events of both"), by,
                          "difference")
                )  # fmt: skip
            found = gains_of(team, first, second)
            row = count_row("net_difference", gettext_noop("More answers right"), found.net,
                            gettext_noop("retained events of both"), by)  # fmt: skip
            rows.append(replace(row, figure=counted(found.net, of=found.n_events)))
    return rows


def random_delivery(team: Team) -> list[Asked | Row]:
    """Whether sending the answer alone corrects more than sending the full text to some at random, at the same
    preservation. No value where no mixture of full text and no message preserves as much; the mixture is worked out
    again in every resample.

    Checked against: golden-numbers.json i-worked-randomdelivery.
    """
    rows: list[Asked | Row] = []
    for policy in team.policies:
        found = [team.outcomes.get(Condition(name, policy)) for name in (NO_MESSAGE, FULL_TEXT, ANSWER_ONLY)]
        present = [one for one in found if one is not None]
        if len(present) < 3:
            continue
        kept = present[0].observed & present[1].observed & present[2].observed
        parts = [rate(team, one, name, kept=kept) for one in present for name in ("correction", "preservation")]
        by = (*team.by, (gettext_noop("policy"), policy))
        denominator = gettext_noop("correction and preservation events of all three")
        rows += [
            Asked(metric, name, combined(parts, formula, reason="no_mixture"), team.clusters, denominator, by, unit)
            for metric, name, formula, unit in (
                ("mixture", gettext_noop("Share of full texts in the mixture (q)"), _mixture, "share"),
                ("reference_cr", gettext_noop("CR of the mixture"), _cr_of_mixture, "share"),
                ("over_random", gettext_noop("CR of the answer alone minus that of the mixture"),
                 lambda values: values[4] - _cr_of_mixture(values), "difference"),
            )
        ]  # fmt: skip
    return rows


def _mixture(values: Sequence[Floats]) -> Floats:
    _, pr_none, _, pr_full, _, pr_answer = values
    q = ratio(pr_none - pr_answer, pr_none - pr_full)
    return np.where((q >= 0) & (q <= 1), q, np.nan)


def _cr_of_mixture(values: Sequence[Floats]) -> Floats:
    cr_none, _, cr_full, _, _, _ = values
    return cr_none + _mixture(values) * (cr_full - cr_none)


# What else is printed.


def identities(team: Team) -> list[Asked | Row]:
    """Whose answer the revised one is, by stratum; and how often a readable one differs from the receiver's first."""
    rows: list[Asked | Row] = []
    for condition, said in team.outcomes.items():
        by = team.of(condition)
        kinds = np.array([one or "" for one in said.identity], dtype=object)
        for stratum_, words in STRATA.items():
            inside = said.observed & team.is_stratum(stratum_)
            rows += [
                Asked(f"identity_{kind}", name, share(kinds == kind, inside), team.clusters, gettext_noop("events"),
                      (*by, (gettext_noop("stratum"), Said(str(words)))))
                for kind, name in IDENTITIES.items()
            ]  # fmt: skip
        valid = said.observed & team.retained & (kinds != "invalid")
        rows.append(
            Asked("change_rate", gettext_noop("Changed"), share(kinds != "prior", valid), team.clusters,
                  gettext_noop("readable answers"), by)
        )  # fmt: skip
    return rows


def whole_set(team: Team) -> list[Asked | Row]:
    """What the accuracy would be over all directions of the whole set, under two assumptions. Points, no intervals."""
    if team.n_evaluated is None:
        return []
    rows: list[Asked | Row] = []
    per_question = len({(sender, receiver) for _, sender, receiver in team.events})  # 6 for three agents
    total = per_question * team.n_evaluated
    directions = gettext_noop("directions of the whole set")
    n_retained_questions = len({event[0] for event, kept in zip(team.events, team.retained, strict=True) if kept})
    unseen_right = per_question * (team.n_evaluated - n_retained_questions)
    for condition, said in team.outcomes.items():
        by = team.of(condition)
        seen = said.observed & team.retained
        all_right = share(said.correct, said.observed & ~team.retained).figure()
        rows += [
            count_row("directions", gettext_noop("Directions"), total, directions, by),
            count_row("directions_observed", gettext_noop("Observed"), int(seen.sum()), directions, by),
            count_row("directions_unobserved", gettext_noop("Not observed"), total - int(seen.sum()), directions, by),
        ]
        n_right, n_unseen = int((said.correct & seen).sum()), total - int(seen.sum())
        one: float | None = None
        if all_right.value is not None:
            one = (n_right + all_right.value * n_unseen) / total
        mixed = team.is_stratum("correction", "preservation")
        kept = int((team.receiver_right & team.retained & ~mixed).sum()) + unseen_right
        lacking = int((mixed & ~said.observed).sum())
        other = None if lacking else (int((said.correct & mixed).sum()) + kept) / total
        rows += [
            Row("whole_set_as_observed", gettext_noop("Right, if the others are as the observed all-right directions"),
                _point(one, total), directions, by),
            Row("whole_set_as_before", gettext_noop("Right, if outside the mixed strata nothing changes"),
                _point(other, total, lacking), directions, by),
        ]  # fmt: skip
    return rows


def _point(value: float | None, n: int, lacking: int = 0) -> Any:
    if value is None:
        return without("not_observed", n_items=n, left_out={"not_observed": lacking} if lacking else {})
    return replace(counted(value), n_items=n, n_ratings=n)


def directions(team: Team) -> list[Asked | Row]:
    """Each ordered pair of agents. The rows share questions and answers, so they are no replications of each other."""
    rows: list[Asked | Row] = []
    for condition, said in team.outcomes.items():
        for sender, receiver in sorted({(sender, receiver) for _, sender, receiver in team.events}):
            inside = np.array([(one, other) == (sender, receiver) for _, one, other in team.events], dtype=bool)
            by = (*team.of(condition), (gettext_noop("direction"), f"{sender} > {receiver}"))
            rows.append(
                Asked("direction", gettext_noop("Right after revision"),
                      share(said.correct, said.observed & team.retained & inside), team.clusters,
                      gettext_noop("retained events"), by)
            )  # fmt: skip
    return rows


def sensitivity(team: Team) -> list[Asked | Row]:
    """The main rates without events that ended at a limit in any condition of the policy, and without questions whose
    first answers did."""
    rows: list[Asked | Row] = []
    ways: tuple[tuple[str, Words], ...] = (
        ("events", gettext_noop("without events cut off in any channel")),
        ("questions", gettext_noop("without questions whose first answers were cut off")),
    )
    for policy in team.policies:
        of_policy = {one: said for one, said in team.outcomes.items() if one.policy == policy}
        masks = {
            "events": ~np.any([said.terminated for said in of_policy.values()], axis=0),
            "questions": ~team.cut_off,
        }
        for condition, said in of_policy.items():
            for way, words in ways:
                if masks[way].all():
                    continue
                by = (*team.of(condition), (gettext_noop("sensitivity"), Said(str(words))))
                for name, of_stratum in list(STRATA.items())[:2]:
                    events = said.observed & team.is_stratum(name)
                    rows += [
                        count_row(f"n_{name}_before", of_stratum, int(events.sum()), gettext_noop("events before"), by),
                        count_row(f"n_{name}_after", of_stratum, int((events & masks[way]).sum()),
                                  gettext_noop("events after"), by),
                    ]  # fmt: skip
                rows += [
                    Asked(metric, name, statistic(team, said, kept=masks[way]), team.clusters, denominator, by)
                    for metric, name, statistic, denominator in MAIN
                ]
    return rows


def usage(team: Team) -> list[Asked | Row]:
    """Logged tokens and calls."""
    rows: list[Asked | Row] = []
    for condition, said in team.outcomes.items():
        for metric, name, values, unit in (
            ("tokens", gettext_noop("Tokens per revision"), said.tokens, "tokens"),
            ("calls", gettext_noop("Calls per revision"), said.calls, "mean"),
        ):
            known = ~np.isnan(values)
            if known.any():
                statistic = mean(np.where(known, values, 0.0), known)
                denominator = gettext_noop("revisions that log it")
                rows.append(Asked(metric, name, statistic, team.clusters, denominator, team.of(condition), unit))
    return rows


PER_RATE = (
    ("rates", gettext_noop("Correction and preservation"), rates, ()),
    ("identity", gettext_noop("Whose answer the revised one is"), identities,
     (gettext_noop("A match is no proof that the answer was adopted. Answers, programs too, compare as texts."),)),
    ("directions", gettext_noop("Directions"), directions,
     (gettext_noop("The directions share questions and answers, so they are no replications of each other."),)),
    ("sensitivity", gettext_noop("Without what was cut off"), sensitivity, ()),
    ("whole_set", gettext_noop("Estimates for the whole set"), whole_set,
     (gettext_noop("Point estimates under the assumption that each row names."),)),
    ("usage", gettext_noop("Tokens and calls"), usage, (gettext_noop("Not comparable across channels."),)),
)  # fmt: skip


def report(records: Records, settings: Mapping[str, Any]) -> MethodReport:
    found = teams(records)
    control, policy = settings["control"], settings["policy"]
    paired: tuple[tuple[str, Words, Callable[[Team], list[Asked | Row]], tuple[Words, ...]], ...] = (
        ("gains", gettext_noop("Gains and losses against the control"), lambda team: gains(team, control), ()),
        ("increments", gettext_noop("What a channel adds"), lambda team: increments(team, control, policy), ()),
        ("contrasts", gettext_noop("Channels against each other"), contrasts, ()),
        ("random_delivery", gettext_noop("The answer alone against random delivery of full texts"), random_delivery,
         (gettext_noop("The mixture sends full texts to some at random, so that it preserves as much."),)),
    )  # fmt: skip
    of_rates, of_differences = (
        [Plan(name, title, [row for team in found for row in rows(team)], notes) for name, title, rows, notes in kind]
        for kind in (PER_RATE, paired)
    )
    tables = (
        *drawn(of_rates, drawing_of({**settings, "n_resamples": settings["n_resamples_rates"]}, QUESTION)),
        *drawn(of_differences, drawing_of(settings, QUESTION)),
    )
    return MethodReport("revision", TITLE, settings, tables, NOTES)


TITLE = gettext_noop("Revision after a message")
NOTES: tuple[Words, ...] = (
    gettext_noop("Figures hold for the channel and policy that each row names, under the interface of these records."),
    gettext_noop("That intervals of two rates overlap says nothing about their difference: see the paired tables."),
    gettext_noop("Intervals do not cover what another seed of the generation would have given."),
)
METHOD = Method("revision", TITLE, SCHEMA, report, PARAMETERS)
