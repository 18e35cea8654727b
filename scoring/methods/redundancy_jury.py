"""The jury against the experts: what became of each trajectory, and the steps that either named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from typing import Any, Literal

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.redundancy_consensus import Jury
from scoring.methods.redundancy_reachable import f1_of_experts
from scoring.methods.redundancy_read import TYPE_WORDS, Study
from scoring.methods.redundancy_schema import TYPES
from scoring.methods.tables import Asked, By, Grid, Plan, Row, Said, Words, count_row
from scoring.stats.groups import Named, Stat, Triplet, agreement_of, common
from scoring.stats.statistic import Mask
from scoring.stats.sums import Summed, share

OUTCOMES: dict[str, Words] = {
    "retained": gettext_noop("Retained"),
    "no_agreement": gettext_noop("Dropped: no two jurors agree"),
    "too_few_covered": gettext_noop("Dropped: too few jurors covered it"),
    "empty": gettext_noop("Dropped: the jurors agree on no step"),
}

Level = Literal["step", "step_type", "message"]
LEVELS: dict[Level, Callable[[Sequence[Triplet]], Sequence[Hashable]]] = {
    "step": lambda steps: [one.step for one in steps],
    "step_type": lambda steps: [(one.step, one.type) for one in steps],
    "message": lambda steps: list({index for one in steps for index in one.step}),
}


def jury(study: Study) -> list[Plan | Grid]:
    """All tables of the jury against the experts."""
    seen = Jury.of(study)
    if not seen.names:
        return []
    every = seen.names
    sides = Sides.of(every, seen.gold(every), [seen.agreed[name].steps for name in every])
    is_retained = np.array([seen.agreed[name].outcome == "retained" for name in every], dtype=bool)
    scopes = [(gettext_noop("retained"), is_retained), (gettext_noop("all"), np.ones(len(every), dtype=bool))]
    asked: list[Asked] = []
    for word, scope in scopes:
        of_scope = sides.where(scope)
        for by, inside in seen.domains(of_scope.names):
            asked += _groups(study, of_scope.where(inside), ((gettext_noop("scope"), Said(word)), *by))
    tables: list[Plan | Grid] = [
        Plan("jury_outcomes", gettext_noop("What became of each trajectory"), tuple(_outcomes(seen))),
        Plan("jury_groups", gettext_noop("Jury against experts"), (*asked, f1_of_experts(study))),
        *_matched(seen),
        Plan("jury_consensus", gettext_noop("Expert steps that jurors named too"), tuple(_levels(seen))),
        Plan("jurors", gettext_noop("Each juror, and pairs of them"), tuple(_jurors(seen))),
    ]
    return tables


def _where(values: Sequence[Any], inside: Mask) -> list[Any]:
    return [one for one, is_in in zip(values, inside.tolist(), strict=True) if is_in]


@dataclass(frozen=True, eq=False)
class Sides:
    """What experts and a jury or juror named on the same trajectories, counted by level. Equal steps match as often as
    both have them, a message counts once."""

    names: Sequence[str]
    levels: Mapping[Level, Named]

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        gold: Sequence[Sequence[Triplet]],
        predicted: Sequence[Sequence[Triplet]],
        levels: Iterable[Level] = ("step", "step_type", "message"),
    ) -> Sides:
        counted = {
            level: Named.of([LEVELS[level](one) for one in gold], [LEVELS[level](one) for one in predicted], _row)
            for level in levels
        }
        return cls(names, counted)

    def where(self, inside: Mask) -> Sides:
        return Sides(
            _where(self.names, inside),
            {
                level: Named(**{one.name: getattr(named, one.name)[inside] for one in fields(Named)})
                for level, named in self.levels.items()
            },
        )


def _row(gold: Sequence[Hashable], predicted: Sequence[Hashable]) -> tuple[float, float, float, float, bool]:
    """As `groups.common`, without counting where nothing comes twice."""
    one, other = set(gold), set(predicted)
    if len(one) < len(gold) or len(other) < len(predicted):
        return common(Counter(gold), Counter(predicted))
    n_both = len(one & other)
    return len(one), len(other), n_both, n_both, one == other


def _groups(study: Study, sides: Sides, by: By, *, whole: bool = True) -> list[Asked]:
    """Precision, recall and F1 of steps named, over all and by trajectory."""
    clusters = study.clusters(sides.names)

    def micro(metric: str, name: Words, level: Level, stat: Stat, denominator: Words) -> Asked:
        statistic = agreement_of(sides.levels[level], stat=stat)
        k, n = _counts(statistic, stat)
        return Asked(metric, name, statistic, clusters, denominator, by, "mean" if stat == "f1" else "share", k=k, n=n)

    def macro(metric: str, name: Words, level: Level) -> Asked:
        statistic = agreement_of(sides.levels[level], stat="recall", aggregate="macro")
        return Asked(metric, name, statistic, clusters, gettext_noop("trajectories with expert steps"), by)

    rows = [
        micro("group_precision", gettext_noop("Precision of steps"), "step", "precision", gettext_noop("jury steps")),
        micro("group_recall", gettext_noop("Recall of steps"), "step", "recall", gettext_noop("expert steps")),
        micro("group_recall_type", gettext_noop("Recall of steps with their type"), "step_type", "recall",
              gettext_noop("expert steps")),
        micro("group_f1", gettext_noop("F1 of steps"), "step", "f1", gettext_noop("steps of either")),
    ]  # fmt: skip
    if not whole:
        return rows
    return [
        *rows,
        macro("partial_type", gettext_noop("Mean recall by trajectory, steps with their type"), "step_type"),
        macro("partial_step", gettext_noop("Mean recall by trajectory, steps"), "step"),
        micro("message_precision", gettext_noop("Precision of messages"), "message", "precision",
              gettext_noop("jury messages")),
        micro("message_recall", gettext_noop("Recall of messages"), "message", "recall",
              gettext_noop("expert messages")),
    ]  # fmt: skip


def _counts(statistic: Summed, stat: Stat) -> tuple[float | None, float | None]:
    """The counts behind a share of `groups.agreement_of`: its rows are counted, reference, predicted, found, right."""
    _, n_reference, n_predicted, found, right = statistic.features.sum(axis=0).tolist()
    if stat == "precision":
        return right, n_predicted
    return (found, n_reference) if stat == "recall" else (None, None)


def _outcomes(seen: Jury) -> Sequence[Asked | Row]:
    """They add up to the pool. A trajectory without expert steps should come out empty."""
    rows = []
    has_steps = {True: gettext_noop("with expert steps"), False: gettext_noop("without expert steps")}
    of_gold = [bool(one) for one in seen.gold(seen.names)]
    outcome = [seen.agreed[name].outcome for name in seen.names]
    for some, word in has_steps.items():
        by = ((gettext_noop("trajectories"), Said(word)),)
        n = of_gold.count(some)
        rows.append(count_row("jury_pool", gettext_noop("Given to the jury"), n, gettext_noop("trajectories"), by))
        for kind, name in OUTCOMES.items():
            n = sum(one == kind and yes is some for one, yes in zip(outcome, of_gold, strict=True))
            rows.append(count_row(f"jury_{kind}", name, n, gettext_noop("trajectories"), by))
    dropped = sum(one != "retained" and yes for one, yes in zip(outcome, of_gold, strict=True))
    rows.append(
        count_row("jury_dropped", gettext_noop("Dropped, for any reason"), dropped, gettext_noop("trajectories"),
                  ((gettext_noop("trajectories"), Said(has_steps[True])),))
    )  # fmt: skip
    clusters = seen.study.clusters(seen.names)
    kinds = np.array(outcome, dtype=object)
    asked = [
        Asked("retained_share", gettext_noop("Retained"), share(kinds == "retained"), clusters,
              gettext_noop("trajectories given to the jury")),
        Asked("true_negative", gettext_noop("Rightly found empty"), share(kinds == "empty", ~np.array(of_gold)),
              clusters,
              gettext_noop("trajectories without expert steps")),
    ]  # fmt: skip
    return [*rows, *asked]


def _matched(seen: Jury) -> list[Plan | Grid]:
    """Types and evidence of steps that experts and jury both named."""
    pairs = [
        (name, gold, found)
        for name in seen.retained
        for gold in seen.study.gold[name]
        for found in [next((one for one in seen.agreed[name].steps if one.step == gold.step), None)]
        if found is not None
    ]
    clusters = seen.study.clusters(name for name, _, _ in pairs)
    same_type = np.array([gold.type == found.type for _, gold, found in pairs], dtype=bool)
    same_evidence = np.array([gold.evidence == found.evidence for _, gold, found in pairs], dtype=bool)
    is_joint = np.array([len(gold.evidence) > 2 for _, gold, _ in pairs], dtype=bool)
    matched = gettext_noop("steps that both named")
    asked = [
        Asked("type_accuracy", gettext_noop("Same type"), share(same_type), clusters, matched),
        Asked("evidence_agreement", gettext_noop("Same evidence"), share(same_evidence), clusters, matched),
        Asked("evidence_agreement_single", gettext_noop("Same evidence, where the experts' is no joint evidence"),
              share(same_evidence, ~is_joint), clusters, gettext_noop("steps that both named, without joint evidence")),
    ]  # fmt: skip
    rows: list[Asked | Row] = [
        count_row("matched", gettext_noop("Steps that both named"), len(pairs), gettext_noop("steps")),
        *asked,
    ]
    counts = Counter((gold.type, found.type) for _, gold, found in pairs)
    grid = Grid(
        "jury_types",
        gettext_noop("Types of steps that both named"),
        gettext_noop("experts"),
        gettext_noop("jury"),
        tuple(TYPE_WORDS[kind] for kind in TYPES),
        tuple(TYPE_WORDS[kind] for kind in TYPES),
        tuple(tuple(counts[row, column] for column in TYPES) for row in TYPES),
    )
    return [Plan("jury_matched", gettext_noop("Type and evidence of steps that both named"), tuple(rows)), grid]


def _levels(seen: Jury) -> Sequence[Asked | Row]:
    """Of the expert steps, how many at least 1, 2, ... jurors named as the expert did."""
    steps = [(name, one) for name in seen.names for one in seen.study.gold[name]]
    levels: dict[str, tuple[Words, Callable[[Triplet], Hashable]]] = {
        "step": (gettext_noop("The step, by at least %(m)s"), lambda one: one.step),
        "step_type": (gettext_noop("Step and type, by at least %(m)s"), lambda one: (one.step, one.type)),
        "triplet": (gettext_noop("Step, type and evidence, by at least %(m)s"), lambda one: one),
    }
    names = [name for name, _ in steps]
    clusters = seen.study.clusters(names)
    asked = []
    for level, (words, key) in levels.items():
        keys = {
            (name, juror): {key(one) for one in found or ()}
            for name in seen.names
            for juror, found in seen.said[name].items()
        }
        n_same = np.array([sum(key(one) in keys[name, juror] for juror in seen.said[name]) for name, one in steps])
        asked += [
            Asked(f"consensus_{level}_{m}", Said(str(words), {"m": m}), share(n_same >= m, inside), clusters,
                  gettext_noop("expert steps"), by)
            for by, inside in seen.domains(names)
            for m in range(1, len(seen.jurors) + 1)
        ]  # fmt: skip
    return asked


def _jurors(seen: Jury) -> Sequence[Asked | Row]:
    study, asked = seen.study, []
    clusters = study.clusters(seen.names)
    for juror in seen.jurors:
        by: By = ((gettext_noop("juror"), juror),)
        found = [seen.said[name].get(juror) for name in seen.names]
        covered = np.array([one is not None for one in found])
        asked.append(
            Asked("covered", gettext_noop("Covered"), share(covered), clusters,
                  gettext_noop("trajectories given to the jury"), by)
        )  # fmt: skip
        names = _where(seen.names, covered)
        sides = Sides.of(names, seen.gold(names), _where(found, covered), ("step", "step_type"))
        asked += _groups(study, sides, by, whole=False)
    for one, other in combinations(seen.jurors, 2):
        pairs = [(seen.said[name].get(one), seen.said[name].get(other)) for name in seen.names]
        both = np.array([a is not None and b is not None for a, b in pairs])
        equal = [set(a or ()) == set(b or ()) for a, b in pairs]
        asked.append(
            Asked("coincidence", gettext_noop("Equal sets"), share(equal, both), clusters,
                  gettext_noop("trajectories that both covered"), ((gettext_noop("jurors"), f"{one}, {other}"),))
        )  # fmt: skip
    return asked
