"""What experts reach against one another, by the measures of detectors: what a detector could be expected to reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.redundancy_read import Answers, Study
from scoring.methods.redundancy_rounds import PARTS, mean_of_part
from scoring.methods.tables import Asked, By, Row, Said, Words, without
from scoring.stats.groups import Triplet
from scoring.stats.set_panel import mean_of
from scoring.stats.sums import Summed, mean, share

EXPERTS = Said(gettext_noop("experts, one against another, round 1"))
OF_DETECTORS: By = ((gettext_noop("detector"), EXPERTS),)
OF_THE_JURY: By = ((gettext_noop("scope"), EXPERTS),)
SHARED_STEPS = gettext_noop("steps that two experts named")
NAMES: dict[str, Words] = {
    "stepcls": gettext_noop("Same type"),
    "evret": gettext_noop("Same type and evidence"),
    "stepdet": gettext_noop("Precision of all steps named (Prec@all, as experts rank nothing)"),
}
DENOMINATORS: dict[str, Words] = {
    "stepcls": SHARED_STEPS,
    "evret": SHARED_STEPS,
    "stepdet": gettext_noop("trajectories in which both experts named steps, mean over ordered pairs of experts"),
}


def reachable(study: Study, table: str) -> Asked | Row:
    """The row of experts for the table of detectors with this name: `stepcls`, `evret` or `stepdet`. Of round 1, where
    nobody knew what others had found."""
    said = study.answers.get(1, {})
    names = [name for name, found in said.items() if len(found) > 1]
    metric, name, denominator = f"{table}_experts", NAMES[table], DENOMINATORS[table]
    if not names:
        return Row(metric, name, without("no_overlap" if said else "empty"), denominator, OF_DETECTORS)
    if table == "stepdet":
        return Asked(metric, name, precision_of_pairs(names, said), study.clusters(names), denominator, OF_DETECTORS)
    matches = list(shared_steps(names, said))
    same = [one == other if table == "evret" else one.type == other.type for _, one, other in matches]
    clusters = study.clusters(name for name, _, _ in matches)
    return Asked(metric, name, share(same), clusters, denominator, OF_DETECTORS)


def f1_of_experts(study: Study) -> Asked | Row:
    """The mean over pairs of experts of the F1 by which the jury is compared with them."""
    said = study.answers.get(1, {})
    names = [name for name, found in said.items() if len(found) > 1]
    people = sorted({expert for name in names for expert in said[name]})
    columns = [[said[name].get(expert) for name in names] for expert in people]
    mean_f1 = mean_of_part(PARTS[0], columns)
    metric, name = "experts_f1", gettext_noop("Mean F1 of pairs of experts")
    denominator = gettext_noop("pairs of experts")
    if mean_f1 is None:
        return Row(metric, name, without("no_overlap" if said else "empty"), denominator, OF_THE_JURY, "mean")
    return Asked(metric, name, mean_f1, study.clusters(names), denominator, OF_THE_JURY, "mean")


def shared_steps(names: Sequence[str], said: Answers) -> Iterator[tuple[str, Triplet, Triplet]]:
    """Every step that two experts named in a trajectory, with what each said of it; of three experts up to three
    times."""
    for name in names:
        for one, other in combinations(sorted(said[name]), 2):
            of_other = {each.step: each for each in said[name][other]}
            yield from ((name, each, of_other[each.step]) for each in said[name][one] if each.step in of_other)


def precision_of_pairs(names: Sequence[str], said: Answers) -> Summed:
    """For each ordered pair of experts the mean, over trajectories in which both named steps, of how many triplets of
    the one are the other's; then the mean over the pairs."""
    people = sorted({expert for name in names for expert in said[name]})
    return mean_of([precision_of_pair(pair, names, said) for pair in permutations(people, 2)])


def precision_of_pair(
    pair: tuple[str, str], names: Sequence[str], said: Mapping[str, Mapping[str, Sequence[Triplet]]]
) -> Summed:
    sides = [tuple(set(said[name].get(expert, ())) for expert in pair) for name in names]
    both = np.array([bool(one and other) for one, other in sides], dtype=bool)
    return mean([len(one & other) / len(one) if one else 0.0 for one, other in sides], both)
