"""What the models of the jury agree on in each trajectory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from scoring.methods.redundancy_read import Study, cuts, triplets
from scoring.methods.tables import By
from scoring.stats.groups import Triplet
from scoring.stats.statistic import Mask


@dataclass(frozen=True)
class Consensus:
    """`retained` (enough jurors gave one and the same set), `empty` (and that set is), `no_agreement`, or
    `too_few_covered`."""

    outcome: str
    steps: tuple[Triplet, ...] = ()


def consensus(sets: Sequence[Sequence[Triplet]], agreeing: int = 2) -> Consensus:
    """What jurors agree on, from the set of each that covered the trajectory. Evidence order plays no part. Where
    different sets are given equally often, there is no agreement."""
    if len(sets) < agreeing:
        return Consensus("too_few_covered")
    times = Counter(frozenset(one) for one in sets).most_common()
    found, n = times[0]
    if n < agreeing or (len(times) > 1 and times[1][1] == n):
        return Consensus("no_agreement")
    in_order = tuple(sorted(found, key=lambda one: (one.step, one.type, one.evidence)))
    return Consensus("retained", in_order) if found else Consensus("empty")


@dataclass(frozen=True, eq=False)
class Jury:
    """The trajectories with gold of experts that the jury saw, with what each juror named there (None: not covered).
    Gold that is the jury's own says nothing of the jury."""

    study: Study
    names: tuple[str, ...]
    jurors: tuple[str, ...]
    said: Mapping[str, Mapping[str, list[Triplet] | None]]
    agreed: Mapping[str, Consensus]

    @classmethod
    def of(cls, study: Study) -> Jury:
        said: dict[str, dict[str, list[Triplet] | None]] = defaultdict(dict)
        for one in study.records["jury"]:
            said[one["trajectory"]][one["juror"]] = triplets(one["steps"]) if one["covered"] else None
        names = tuple(name for name in study.scored if name in said and name not in study.by_jury)
        agreed = {
            name: consensus([one for one in said[name].values() if one is not None], study.settings["agreeing_jurors"])
            for name in names
        }
        jurors = tuple(sorted({juror for name in names for juror in said[name]}))
        return cls(study, names, jurors, said, agreed)

    @property
    def retained(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if self.agreed[name].outcome == "retained")

    def gold(self, names: Iterable[str]) -> list[list[Triplet]]:
        return [self.study.gold[name] for name in names]

    def domains(self, names: Sequence[str]) -> list[tuple[By, Mask]]:
        return cuts({"domain": [self.study.trajectories[name]["domain"] for name in names]}, len(names))
