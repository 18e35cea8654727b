"""The data set: its trajectories and redundant steps, in all and by what they are broken down by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.redundancy_read import TYPE_WORDS, Study, cuts
from scoring.methods.redundancy_schema import TYPES
from scoring.methods.tables import Asked, By, Grid, Plan, Row, Words, count_row, counted, without
from scoring.stats.sums import Summed, mean, share


def dataset(study: Study) -> list[Plan | Grid]:
    """How many trajectories and steps there are, and what each mean is a mean of."""
    every = list(study.trajectories)
    n = len(every)
    state = [study.trajectories[name]["state"] for name in every]
    pool = set(study.pool)
    in_pool = np.array([name in pool for name in every], dtype=bool)
    n_steps = np.array([len(study.gold.get(name, ())) for name in every], dtype=float)
    unresolved, dropped = (np.array([one == what for one in state], dtype=bool) for what in ("unresolved", "dropped"))
    by_jury = np.array([name in study.by_jury for name in every], dtype=bool)
    is_gold = in_pool & (n_steps > 0)
    has_jury = bool(dropped.any() or study.records["jury"])
    clusters = study.clusters(every)
    rows: list[Row] = []
    asked: list[Asked] = []
    for by, inside in cuts(study.columns(every), n):
        rows += [
            count_row(metric, name, int((inside & mask).sum()), gettext_noop("trajectories"), by)
            for metric, name, mask in (
                ("trajectories", gettext_noop("Trajectories"), np.ones(n, dtype=bool)),
                ("unresolved", gettext_noop("Unresolved by the experts"), unresolved),
                ("dropped", gettext_noop("Dropped: the jury did not agree"), dropped),
                ("pool", gettext_noop("Pool: validated, with or without redundant steps"), in_pool),
                ("empty", gettext_noop("Pool without a redundant step"), in_pool & ~is_gold),
                ("gold", gettext_noop("Gold: with redundant steps"), is_gold),
            )
        ]
        total = float(n_steps[inside & in_pool].sum())
        rows.append(count_row("steps", gettext_noop("Redundant steps"), total, gettext_noop("gold trajectories"), by))
        annotated = inside & ~dropped & ~by_jury
        decided = inside & ~unresolved & ((by_jury if by_jury.any() else in_pool) | dropped)
        parts: list[tuple[str, Words, Summed, Words]] = [
            ("unresolved_share", gettext_noop("Unresolved"), share(unresolved, annotated),
             gettext_noop("trajectories the experts annotated")),
            ("kept_share", gettext_noop("Kept by the jury"), share(~dropped, decided),
             gettext_noop("trajectories kept or dropped")),
            ("steps_per_gold", gettext_noop("Redundant steps per gold trajectory"), mean(n_steps, inside & is_gold),
             gettext_noop("gold trajectories")),
            ("steps_per_pool", gettext_noop("Redundant steps per trajectory of the pool"),
             mean(n_steps, inside & in_pool), gettext_noop("trajectories of the pool")),
        ]  # fmt: skip
        asked += [
            Asked(metric, name, one, clusters, denominator, by, "share" if one.is_share else "mean")
            for metric, name, one, denominator in parts
            if one.counted.any() and (metric != "kept_share" or has_jury)
        ]
        if by and by[0][0] == "split":
            rows += [
                _plain_share(metric, name, int(mask[inside].sum()), int(mask.sum()), denominator, by)
                for metric, name, mask, denominator in (
                    ("share_of_gold", gettext_noop("Share of gold"), is_gold, gettext_noop("gold trajectories")),
                    ("share_of_pool", gettext_noop("Share of the pool"), in_pool,
                     gettext_noop("trajectories of the pool")),
                )
            ]  # fmt: skip
            rows.append(
                _plain_share(
                    "share_of_steps", gettext_noop("Share of steps"), int(total), int(n_steps[in_pool].sum()),
                    gettext_noop("redundant steps"), by,
                )
            )  # fmt: skip
    asked += _type_shares(study)
    return [Plan("dataset", gettext_noop("Data set"), (*rows, *asked))] if n else []


def _type_shares(study: Study) -> list[Asked]:
    steps = [(name, one) for name in study.pool for one in study.gold[name]]
    names = [name for name, _ in steps]
    types = np.array([one.type for _, one in steps], dtype=object)
    return [
        Asked(
            f"type_{kind.lower()}", TYPE_WORDS[kind], share(types == kind, inside), study.clusters(names),
            gettext_noop("redundant steps"), by,
        )
        for by, inside in cuts(study.columns(names), len(names))
        for kind in TYPES
        if steps
    ]  # fmt: skip


def _plain_share(metric: str, name: Words, k: int, n: int, denominator: Words, by: By) -> Row:
    """What part of the data something is: no sample of anything, so without an interval."""
    figure = replace(counted(k / n), n_items=n, n_ratings=n) if n else without("empty")
    return Row(metric, name, figure, denominator, by, "share", k, n)
