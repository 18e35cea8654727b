"""Experts against each other before any discussion: sets, steps and types that differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.redundancy_read import Study
from scoring.methods.redundancy_schema import TYPES
from scoring.methods.tables import Asked, By, Grid, Plan, coded, count_row
from scoring.stats.chance import CohenKappa
from scoring.stats.groups import Triplet, triplet_agreement
from scoring.stats.sums import combined, share


def experts(study: Study) -> list[Plan | Grid]:
    """What the experts found alike before they talked. Later rounds are not independent, so only the first counts."""
    said = study.answers.get(1, {})
    if not said:
        return []
    people = sorted({expert for found in said.values() for expert in found})
    common = [name for name, found in said.items() if len(found) > 1]
    rows = [
        count_row("annotated", gettext_noop("Annotated trajectories"), len(said), gettext_noop("trajectories")),
        count_row("common", gettext_noop("Annotated by several experts"), len(common), gettext_noop("trajectories")),
        *(
            count_row(
                "annotated_by", gettext_noop("Annotated by one expert"),
                sum(expert in found for found in said.values()),
                gettext_noop("trajectories"), ((gettext_noop("expert"), expert),),
            )
            for expert in people
        ),
    ]  # fmt: skip
    unequal = [len({frozenset(steps) for steps in said[name].values()}) > 1 for name in common]
    steps = [(name, kind) for name in common for kind in step_disagreements(said[name])]
    kinds = np.array([kind for _, kind in steps], dtype=object)
    clusters, of_step = study.clusters(common), study.clusters(name for name, _ in steps)
    asked = [
        Asked("trajectory_disagreement", gettext_noop("Experts' sets differ"), share(unequal), clusters,
              gettext_noop("trajectories of several experts")),
        Asked("step_disagreement", gettext_noop("Experts' triplets differ"), share(kinds != "same"), of_step,
              gettext_noop("steps that any expert named")),
        Asked("severe_disagreement", gettext_noop("Severe: step or type differs"), share(kinds == "severe"), of_step,
              gettext_noop("steps that any expert named")),
        Asked("minor_disagreement", gettext_noop("Minor: only the evidence differs"), share(kinds == "minor"), of_step,
              gettext_noop("steps that any expert named")),
    ]  # fmt: skip
    f1s = []
    for one, other in combinations(people, 2):
        by = ((gettext_noop("experts"), f"{one}, {other}"),)
        first, second = ([said[name].get(expert) for name in common] for expert in (one, other))
        f1s.append(triplet_agreement(first, second, by="step", stat="f1"))
        asked.append(Asked("pair_f1", gettext_noop("F1 of the steps they named"), f1s[-1], clusters,
                           gettext_noop("steps that either named"), by, "mean"))  # fmt: skip
        asked.append(_kappa_of_types(study, common, first, second, by))
    if f1s:
        mean_f1 = combined(f1s, lambda values: np.asarray(np.mean(values, axis=0), dtype=float))
        asked.insert(4, Asked("mean_pair_f1", gettext_noop("Mean F1 of pairs of experts"), mean_f1, clusters,
                              gettext_noop("pairs of experts"), unit="mean"))  # fmt: skip
    title = gettext_noop("Experts before any discussion (round 1)")
    return [Plan("experts", title, (*rows, *asked))]


def step_disagreements(found: Mapping[str, Sequence[Triplet]]) -> list[str]:
    """For every step that any expert named: `same` triplet of all, `severe` (someone did not name the step, or types
    differ) or `minor` (evidence differs only)."""
    by_step: dict[tuple[int, ...], list[Triplet]] = defaultdict(list)
    for steps in found.values():
        for one in steps:
            by_step[one.step].append(one)
    return [
        "severe"
        if len(same) < len(found) or len({one.type for one in same}) > 1
        else ("same" if len(set(same)) == 1 else "minor")
        for same in by_step.values()
    ]


def _kappa_of_types(
    study: Study,
    names: Sequence[str],
    one: Sequence[list[Triplet] | None],
    other: Sequence[list[Triplet] | None],
    by: By,
) -> Asked:
    """Of steps that both named."""
    matched = [
        (name, a.type, b.type)
        for name, first, second in zip(names, one, other, strict=True)
        for a in first or ()
        for b in second or ()
        if a.step == b.step
    ]
    codes = np.array([[TYPES.index(a), TYPES.index(b)] for _, a, b in matched], dtype=np.int64).reshape(-1, 2)
    statistic, figure = coded(CohenKappa(1.0 - np.eye(len(TYPES))), codes)
    return Asked(
        "pair_type_kappa", gettext_noop("Kappa of the types"), statistic,
        study.clusters(name for name, _, _ in matched), gettext_noop("steps that both named"), by, "kappa",
        point=figure,
    )  # fmt: skip
