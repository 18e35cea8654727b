"""What redundancy costs in tokens, and what a workflow without the steps saves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.records import Record
from scoring.methods.redundancy_read import TASK, Study
from scoring.methods.tables import Asked, By, Grid, Plan, Row, count_row, drawing_of, rows_of
from scoring.stats.correlation import pearson, spearman
from scoring.stats.statistic import Floats, ratio
from scoring.stats.sums import Summed, ratio_of_sums, share


def costs(study: Study) -> list[Plan | Grid]:
    """Whether runs of one task with more redundant tokens are longer: after the mean of the task is taken off both."""
    settings = {**study.settings, "n_resamples": study.settings["n_resamples_costs"]}
    drawing = drawing_of(settings, TASK)
    every = [study.trajectories[name] for name in study.pool]
    known = [one for one in every if one["tokens_redundant"] is not None and one["tokens_total"] is not None]
    rows: list[Row] = []
    asked: list[Asked] = []
    for domain in sorted({one["domain"] for one in known}):
        runs = [one for one in known if one["domain"] == domain]
        by: By = (("domain", domain),)
        used, total = ([float(one[name]) for one in runs] for name in ("tokens_redundant", "tokens_total"))
        tasks = [(one["domain"], one["task"] or one["id"]) for one in runs]
        denominator = gettext_noop("trajectories of tasks with several")
        rows += [
            Row("cost_pearson", gettext_noop("Pearson's r of redundant and all tokens"),
                pearson(used, total, groups=tasks, drawing=drawing), denominator, by, "kappa"),
            Row("cost_spearman", gettext_noop("Spearman's rho of redundant and all tokens"),
                spearman(used, total, groups=tasks, drawing=drawing), denominator, by, "kappa"),
        ]  # fmt: skip
        asked.append(
            Asked("token_share", gettext_noop("Tokens of messages with a redundant call"), ratio_of_sums(used, total),
                  tasks, gettext_noop("tokens of agent messages"), by, k=sum(used), n=sum(total))
        )  # fmt: skip
    rows += rows_of(asked, drawing)
    return [Plan("costs", gettext_noop("Cost of redundancy"), tuple(rows))] if rows else []


def experiences(study: Study) -> list[Plan | Grid]:
    """What tasks cost and whether they succeed with a workflow in the context, against none."""
    outcomes, baseline = study.records["outcome"], study.settings["baseline"]
    conditions = sorted({one["condition"] for one in outcomes}, key=lambda name: (name != baseline, name))
    domains = sorted({one["domain"] for one in outcomes})
    rows: list[Row] = []
    asked: list[Asked] = []
    for domain in [*domains, None] if len(domains) > 1 else domains:
        runs = [one for one in outcomes if domain in (None, one["domain"])]
        cell = {name: [one for one in runs if one["condition"] == name] for name in conditions}
        n_base = sum(one["success"] for one in cell.get(baseline, ()))
        for name in conditions:
            of_domain: By = (("domain", domain),) if domain else ()
            by: By = (*of_domain, (gettext_noop("experience"), name))
            n_done = sum(one["success"] for one in cell[name])
            tokens = sum(one["tokens"] for one in cell[name])
            rows += [
                count_row("runs", gettext_noop("Runs"), len(cell[name]), gettext_noop("runs"), by),
                count_row("tokens", gettext_noop("Tokens of the agent"), tokens, gettext_noop("runs"), by),
            ]
            asked.append(
                Asked("success", gettext_noop("Done"), share([one["success"] for one in cell[name]]),
                      [(one["domain"], one["task"]) for one in cell[name]], gettext_noop("runs"), by)
            )  # fmt: skip
            if name == baseline or baseline not in cell:
                continue
            rows.append(
                count_row("success_difference", gettext_noop("Runs done more than without"), n_done - n_base,
                          gettext_noop("runs"), by)
            )  # fmt: skip
            asked.append(_token_reduction([*cell[baseline], *cell[name]], baseline, by))
    if not asked:
        return []
    note = gettext_noop("Tokens saved compare means per run: sums, where both have as many runs. Negative is more.")
    return [Plan("experience", gettext_noop("Experience replays"), (*rows, *asked), (note,))]


def _token_reduction(runs: Sequence[Record], baseline: str, by: By) -> Asked:
    """(T_none - T_cond) / T_none."""
    is_base = np.array([one["condition"] == baseline for one in runs], dtype=bool)
    tokens = np.array([one["tokens"] for one in runs], dtype=float)
    features = np.column_stack(
        [np.ones(len(runs)), is_base, np.where(is_base, tokens, 0.0), ~is_base, np.where(is_base, 0.0, tokens)]
    ).astype(float)

    def saved(sums: Floats) -> Floats:
        without_, with_ = ratio(sums[:, 2], sums[:, 1]), ratio(sums[:, 4], sums[:, 3])
        return ratio(without_ - with_, np.nan_to_num(without_))

    before, after = float(features[:, 2].sum()), float(features[:, 4].sum())
    return Asked(
        "token_reduction", gettext_noop("Tokens saved"), Summed(features, saved),
        [(one["domain"], one["task"]) for one in runs], gettext_noop("tokens without an experience"), by,
        k=before - after if 2 * int(is_base.sum()) == len(runs) else None, n=before,
    )  # fmt: skip
