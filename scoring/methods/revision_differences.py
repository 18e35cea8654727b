"""Differences between conditions, on events that both have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.revision_rates import RATES, rate, selectivity
from scoring.methods.revision_schema import ANSWER_ONLY, FULL_TEXT, NO_MESSAGE
from scoring.methods.revision_teams import Condition, Outcomes, Team
from scoring.methods.tables import Asked, Row, Said, count_row, counted
from scoring.stats.statistic import Floats, ratio
from scoring.stats.sums import Summed, combined, difference


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
