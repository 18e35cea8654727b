"""The trajectories and gold steps of a file of records, and what tables of them are broken down by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.records import Record, Records
from scoring.methods.redundancy_schema import JURY
from scoring.methods.tables import BadSetting, By, Said, Words
from scoring.stats.groups import Triplet, triplet
from scoring.stats.statistic import Mask

TASK, TRAJECTORY = gettext_noop("task"), gettext_noop("trajectory")
TYPE_WORDS: dict[str, Words] = {
    "ABN": gettext_noop("abnormal step"),
    "DUP": gettext_noop("duplicated step"),
    "INC": gettext_noop("incorrect step"),
    "EXP": gettext_noop("exploratory step"),
}


Answers = Mapping[str, Mapping[str, list[Triplet]]]
"""By trajectory and expert, the steps they named."""


@dataclass(frozen=True, eq=False)
class Study:
    """The records, read. `pool` are the trajectories with gold that nobody left open or dropped, `scored` those of them
    that were no example; `gold` are the triplets of each, `by_jury` names those whose gold is a
    jury's."""

    records: Records
    settings: Mapping[str, Any]
    trajectories: Mapping[str, Record]
    gold: Mapping[str, list[Triplet]]
    by_jury: frozenset[str]
    pool: tuple[str, ...]
    scored: tuple[str, ...]
    bins: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, records: Records, settings: Mapping[str, Any]) -> Study:
        trajectories = {one["id"]: one for one in records["trajectory"]}
        given = [one for one in records["gold"] if settings["jury_gold"] or one["provenance"] != JURY]
        gold = {one["trajectory"]: triplets(one["steps"]) for one in given}
        by_jury = frozenset(one["trajectory"] for one in given if one["provenance"] == JURY)
        pool = tuple(name for name, one in trajectories.items() if name in gold and not one["state"])
        scored = tuple(
            name for name in pool if settings["score_exemplars"] or not trajectories[name]["exemplar"]
        )
        return cls(records, settings, trajectories, gold, by_jury, pool, scored, length_bins(settings["length_bins"]))

    @cached_property
    def answers(self) -> dict[int, Answers]:
        """What experts said in each round, in the order of the rounds."""
        said: dict[int, dict[str, dict[str, list[Triplet]]]] = defaultdict(lambda: defaultdict(dict))
        for record in self.records["expert"]:
            said[record["round"] or 1][record["trajectory"]][record["expert"]] = triplets(record["steps"])
        return {number: said[number] for number in sorted(said)}

    def cluster(self, name: str) -> Hashable:
        one = self.trajectories[name]
        if self.settings["cluster"] == "trajectory" or one["task"] is None:
            return ("trajectory", name)
        return (one["domain"], one["task"])

    @cached_property
    def cluster_of(self) -> dict[str, Hashable]:
        return {name: self.cluster(name) for name in self.trajectories}

    def clusters(self, names: Iterable[str]) -> list[Hashable]:
        cluster_of = self.cluster_of
        return [cluster_of[name] for name in names]

    def columns(self, names: Sequence[str]) -> dict[str, list[str | None]]:
        """What a table of these trajectories is broken down by."""
        rows = [self.trajectories[name] for name in names]
        by: dict[str, list[str | None]] = {
            gettext_noop("domain"): [one["domain"] for one in rows],
            gettext_noop("agent model"): [one["model"] for one in rows],
            gettext_noop("split"): [one["split"] for one in rows],
            gettext_noop("length"): [self.bin_of(one["n_steps"]) for one in rows],
        }
        if self.by_jury:
            by[gettext_noop("provenance of gold")] = [self.provenance(name) for name in names]
        return by

    def provenance(self, name: str) -> str | None:
        """Whose the gold of a trajectory is; None where it has none."""
        if name not in self.gold:
            return None
        return "jury" if name in self.by_jury else "experts"

    def bin_of(self, n_steps: int | None) -> str | None:
        fitting = (bin for bin in self.bins if n_steps is not None and bin[0] <= n_steps <= bin[1])
        return next((f"{low}-{high}" for low, high in fitting), None)


def triplets(steps: Iterable[Mapping[str, Any]]) -> list[Triplet]:
    return [triplet(one["step"], one["type"], one["evidence"]) for one in steps]


def length_bins(text: str) -> tuple[tuple[int, int], ...]:
    """`8-30,31-53` as pairs of ends; BadSetting where that is no list of bins."""
    bins = []
    for part in text.replace(" ", "").split(","):
        low, dash, high = part.partition("-")
        if not (dash and low.isdecimal() and high.isdecimal() and int(low) <= int(high)):
            expected = Said(gettext_noop("Ends of bins such as 8-30, with commas between bins."))
            raise BadSetting("bad_parameter", "length_bins", expected)
        bins.append((int(low), int(high)))
    return tuple(bins)


def cuts(columns: Mapping[str, Sequence[str | None]], n: int) -> list[tuple[By, Mask]]:
    """All items, then those of each value of each column that has several; items without a value are in no cut."""
    found: list[tuple[By, Mask]] = [((), np.ones(n, dtype=bool))]
    for name, values in columns.items():
        different = sorted({one for one in values if one is not None}, key=_length_order)
        if len(different) > 1 or (different and None in values):
            found += [(((name, value),), np.array([one == value for one in values])) for value in different]
    return found


def _length_order(value: str) -> tuple[int, str]:
    """Bins in the order of their ends, names as texts."""
    low = value.partition("-")[0]
    return (int(low) if low.isdecimal() else -1, value)
