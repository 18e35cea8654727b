"""Revision: how often a message of another agent puts a wrong answer right, and how often it leads a right one astray.

Agents answer a question independently; then one (receiver) sees something of another (sender) and may revise. Every
event is one direction of one question, in one of four strata by who was right at first. Intervals resample questions
with all their events; differences between conditions are on events that both have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from annotate.traces.base import gettext_noop
from scoring.methods.records import Records
from scoring.methods.revision_answers import identities, usage, whole_set
from scoring.methods.revision_differences import contrasts, gains, increments, random_delivery
from scoring.methods.revision_rates import directions, rates, sensitivity
from scoring.methods.revision_schema import NO_MESSAGE, SCHEMA
from scoring.methods.revision_teams import Team, teams
from scoring.methods.tables import Asked, Method, MethodReport, Parameter, Plan, Row, Words, drawing_of, drawn

QUESTION = gettext_noop("question")
TITLE = gettext_noop("Revision after a message")
NOTES: tuple[Words, ...] = (
    gettext_noop("Figures hold for the channel and policy that each row names, under the interface of these records."),
    gettext_noop("That intervals of two rates overlap says nothing about their difference: see the paired tables."),
    gettext_noop("Intervals do not cover what another seed of the generation would have given."),
)
PARAMETERS = (
    Parameter("n_resamples_rates", "whole", 2_000, "resamples of questions behind each rate", least=100, most=200_000),
    Parameter("control", "text", NO_MESSAGE, "channel that the others are compared with"),
    Parameter("policy", "text", "critical_evaluation", "policy that the others are compared with"),
)
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


METHOD = Method("revision", TITLE, SCHEMA, report, PARAMETERS)
