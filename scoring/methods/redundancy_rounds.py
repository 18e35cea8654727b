"""How far experts name the same, round by round, and which types they take for each other."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.redundancy_read import TYPE_WORDS, Answers, Study, cuts
from scoring.methods.redundancy_schema import TYPES
from scoring.methods.tables import Asked, Grid, Plan, Row, Said, Words, coded, count_row
from scoring.stats.chance import CohenKappa
from scoring.stats.groups import Named, Triplet, agreement_of
from scoring.stats.set_panel import SetStat, common, mean_of, slim
from scoring.stats.statistic import Mask
from scoring.stats.sums import Summed, share

Sets = Sequence[Set[Hashable] | None]
Match = tuple[int, str, str]
"""Of a step that two experts named: the place of its trajectory, and the type that each gave it."""


@dataclass(frozen=True)
class Part:
    """What of their triplets is compared."""

    metric: str
    name: Words
    of: Callable[[Triplet], Hashable]
    stat: SetStat = "f1"


PARTS = (
    Part("location_f1", gettext_noop("F1 of the steps"), lambda one: one.step),
    Part("type_f1", gettext_noop("F1 of the steps with their types"), lambda one: (one.step, one.type)),
    Part("evidence_f1", gettext_noop("F1 of the steps with their evidence"), lambda one: (one.step, one.evidence)),
    Part("triplet_f1", gettext_noop("F1 of whole triplets"), lambda one: one),
    Part("set_equal", gettext_noop("Equal sets of triplets"), lambda one: one, "exact"),
)
ROUND = gettext_noop("round")
SEVERAL = gettext_noop("trajectories of several experts")
PAIRS = gettext_noop("pairs of experts")


def rounds(study: Study) -> list[Plan | Grid]:
    """Of each round what was said in it, means over pairs of experts. What stands after it counts, of every trajectory,
    the last that each expert said up to then."""
    said = study.answers
    rows: list[Asked | Row] = []
    standing: dict[str, dict[str, list[Triplet]]] = {}
    for number, answers in said.items():
        for name, found in answers.items():
            standing.setdefault(name, {}).update(found)
        rows += rows_of_round(study, (ROUND, str(number)), answers, standing)
    if not rows:
        return []
    notes: list[Words] = [gettext_noop("Means over pairs of experts; where both found nothing there is no F1.")]
    informed = sorted({one["round"] or 1 for one in study.records["expert"] if one["informed"]})
    if informed:
        text = gettext_noop("Informed, so no agreement of independent labels: round %(numbers)s.")
        notes.append(Said(text, {"numbers": ", ".join(map(str, informed))}))
    return [Plan("rounds", gettext_noop("Experts, round by round"), rows, tuple(notes))]


def rows_of_round(
    study: Study, at: tuple[str, str], answers: Answers, standing: Answers
) -> Iterator[Asked | Row]:
    names = [name for name, found in answers.items() if len(found) > 1]
    people = sorted({expert for name in names for expert in answers[name]})
    columns = [[answers[name].get(expert) for name in names] for expert in people]
    means = [mean_of_part(part, columns) for part in PARTS]
    silent = np.array([not any(answers[name].values()) for name in names], dtype=bool)
    clusters = study.clusters(names)
    for by, inside in cuts(domains(study, names), len(names)):
        by = (at, *by)
        yield count_row("compared", gettext_noop("Trajectories of several experts"), int(inside.sum()), SEVERAL, by)
        for part, mean in zip(PARTS, means, strict=True):
            if mean is not None:
                left_out = {} if part.stat == "exact" else {"both_empty": int((inside & silent).sum())}
                unit = "share" if part.stat == "exact" else "mean"
                yield Asked(part.metric, part.name, only(mean, inside, left_out), clusters, PAIRS, by, unit)
    kappas = [kappa_of(matched(*pair), len(names)) for pair in combinations(columns, 2)]
    if kappas:
        name = gettext_noop("Kappa of the types, on steps that both named")
        yield Asked("type_kappa", name, mean_of(kappas), clusters, PAIRS, (at,), "kappa")
    yield from rows_after(study, at, standing)


def rows_after(study: Study, at: tuple[str, str], standing: Answers) -> Iterator[Asked]:
    """How many trajectories still differ, of all that several experts have annotated by then."""
    names = [name for name, found in standing.items() if len(found) > 1]
    differ = np.array([len({frozenset(one) for one in standing[name].values()}) > 1 for name in names], dtype=bool)
    clusters = study.clusters(names)
    for by, inside in cuts(domains(study, names), len(names)):
        yield Asked("differ_after", gettext_noop("Sets still differ after the round"), share(differ, inside), clusters,
                    SEVERAL, (at, *by))  # fmt: skip


def domains(study: Study, names: Sequence[str]) -> dict[str, list[str | None]]:
    return {gettext_noop("domain"): [study.trajectories[name]["domain"] for name in names]}


def mean_of_part(part: Part, columns: Sequence[Sequence[list[Triplet] | None]]) -> Summed | None:
    """Over all pairs of experts; None where there is no pair."""
    sets = [[None if one is None else frozenset(map(part.of, one)) for one in column] for column in columns]
    pairs = [of_pair(one, other, part.stat) for one, other in combinations(sets, 2)]
    return mean_of(pairs) if pairs else None


def of_pair(one: Sets, other: Sets, stat: SetStat) -> Summed:
    named = Named.of(one, other, common)
    return slim(agreement_of(named, stat=stat), named, stat)


def only(summed: Summed, inside: Mask, left_out: Mapping[str, int]) -> Summed:
    """The same statistic of some of its items."""
    return replace(summed, features=np.where(inside[:, None], summed.features, 0.0), left_out=left_out)


def matched(one: Sequence[list[Triplet] | None], other: Sequence[list[Triplet] | None]) -> list[Match]:
    """The steps that both named."""
    found = []
    for place, (first, second) in enumerate(zip(one, other, strict=True)):
        types = {triplet.step: triplet.type for triplet in second or ()}
        found += [(place, each.type, types[each.step]) for each in first or () if each.step in types]
    return found


def kappa_of(matches: Sequence[Match], n_items: int) -> Summed:
    """Of the types on these steps, as sums over trajectories."""
    codes = np.array([[TYPES.index(a), TYPES.index(b)] for _, a, b in matches], dtype=np.int64).reshape(-1, 2)
    statistic, figure = coded(CohenKappa(1.0 - np.eye(len(TYPES))), codes)
    features = np.zeros((n_items, statistic.features.shape[1]))
    np.add.at(features, np.array([place for place, _, _ in matches], dtype=np.int64), statistic.features)
    features[:, 0] = features[:, 0] > 0
    return replace(statistic, features=features, reason=figure.reason or "empty")


def confusion(study: Study) -> list[Plan | Grid]:
    """Before any discussion. Each pair of experts counts, who comes first by name in the rows."""
    answers = study.answers.get(1, {})
    counts = np.zeros((len(TYPES), len(TYPES)), dtype=int)
    for found in answers.values():
        for one, other in combinations(sorted(found), 2):
            for _, a, b in matched([found[one]], [found[other]]):
                counts[TYPES.index(a), TYPES.index(b)] += 1
    if not counts.any():
        return []
    names = tuple(TYPE_WORDS[kind] for kind in TYPES)
    title = gettext_noop("Types that two experts gave a step that both named (round 1)")
    first, second = gettext_noop("first expert of the pair"), gettext_noop("second expert")
    rows = tuple(tuple(row) for row in counts.tolist())
    return [Grid("type_confusion", title, first, second, names, names, rows)]
