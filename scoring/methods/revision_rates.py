"""How often a revised answer is right in each stratum and condition, by direction, and without what was cut off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.revision_teams import STRATA, Outcomes, Team
from scoring.methods.tables import Asked, By, Row, Said, Words, count_row, counted, without
from scoring.stats.statistic import Mask
from scoring.stats.sums import Summed, combined, share


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
