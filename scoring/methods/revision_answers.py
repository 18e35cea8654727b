"""Revised answers: whose they are, how many would be right over the whole set, and what they took."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.revision_teams import STRATA, Team
from scoring.methods.tables import Asked, Row, Said, Words, count_row, counted, without
from scoring.stats.sums import mean, share

IDENTITIES: dict[str, Words] = {
    "invalid": gettext_noop("Cannot be read"),
    "prior": gettext_noop("The receiver's own first answer"),
    "sender": gettext_noop("The sender's answer"),
    "third": gettext_noop("Another answer"),
}


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
                  gettext_noop("answers that can be read"), by)
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
