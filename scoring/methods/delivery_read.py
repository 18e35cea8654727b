"""The items of a file of records with the runs of each, and means over items, which all weigh the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.records import Record, Records
from scoring.methods.tables import By
from scoring.stats.shapley import Stages
from scoring.stats.statistic import Floats, Mask, ratio
from scoring.stats.sums import Summed, mean

ITEM, SETUP = gettext_noop("item"), gettext_noop("setup")
CONDITIONS = ("direct", "cot", "raw100k", "toc", "grep", "hybrid", "toc_report", "toc_round")


@dataclass(frozen=True, eq=False)
class Study:
    """The items that are not excluded, in the order of the file, with the runs of each model and condition by item."""

    settings: Mapping[str, Any]
    items: tuple[Record, ...]
    place: Mapping[str, int]
    runs: Mapping[tuple[str, str], list[Record]]

    @classmethod
    def of(cls, records: Records, settings: Mapping[str, Any]) -> Study:
        items = tuple(one for one in records["item"] if one["excluded"] is None)
        place = {one["id"]: number for number, one in enumerate(items)}
        runs: dict[tuple[str, str], list[Record]] = defaultdict(list)
        for one in records["run"]:
            if one["item"] in place:
                runs[one["model"], one["condition"]].append(one)
        return cls(settings, items, place, {key: runs[key] for key in sorted(runs, key=by_condition)})

    @property
    def models(self) -> list[str]:
        return list(dict.fromkeys(model for model, _ in self.runs))

    @property
    def names(self) -> list[Hashable]:
        return [one["id"] for one in self.items]

    @property
    def setups(self) -> list[Hashable]:
        """An item without a setup is one of its own."""
        return [("item", one["id"]) if one["setup"] is None else ("setup", one["setup"]) for one in self.items]

    @property
    def is_numeric(self) -> Mask:
        return np.array([one["kind"] == "numeric" for one in self.items], dtype=bool)

    def conditions(self, model: str) -> list[str]:
        return [condition for one, condition in self.runs if one == model]

    def clusters_of(self, runs: Sequence[Record]) -> list[Hashable]:
        return [one["item"] for one in runs]

    def item_means(self, runs: Sequence[Record], value: Callable[[Record], float | None]) -> Floats:
        """(n_items,) the mean over the runs of each item; nan where none has a value."""
        total, n = np.zeros(len(self.items)), np.zeros(len(self.items))
        for one in runs:
            known = value(one)
            if known is not None:
                total[self.place[one["item"]]] += known
                n[self.place[one["item"]]] += 1
        return ratio(total, n)

    def stages(self, runs: Sequence[Record]) -> Stages:
        """Of numeric items; nan where no run of the item was judged."""
        numeric = self.is_numeric
        judged = [one for one in runs if one["built"] is not None and numeric[self.place[one["item"]]]]
        return Stages.of(
            self.item_means(judged, lambda one: one["built"]),
            self.item_means(judged, lambda one: one["exposed"]),
            self.item_means(judged, lambda one: one["exposed"] and one["correct"]),
            self.item_means(judged, lambda one: one["correct"]),
        )


def by_condition(key: tuple[str, str]) -> tuple[str, int, str]:
    """By model, then the conditions that are known, then others by name: the same in every file."""
    model, condition = key
    return (model, CONDITIONS.index(condition) if condition in CONDITIONS else len(CONDITIONS), condition)


def is_correct(run: Record) -> float:
    return float(run["correct"])


def is_unreadable(run: Record) -> bool:
    return run["answer_parse"] in ("none", "refusal")


def of_means(values: Floats, inside: Mask | None = None, *, among: Mask | None = None) -> Summed:
    """The mean of item means; items without a run are left out and counted, of those in question (`among`)."""
    known = ~np.isnan(values)
    asked = np.ones(len(values), dtype=bool) if among is None else among
    base = known & asked if inside is None else known & asked & inside
    return mean(np.where(base, values, 0.0), base, left_out={"not_observed": int((asked & ~known).sum())})


def counts_of(
    runs: Sequence[Record], yes: Callable[[Record], Any], base: Callable[[Record], Any] | None = None
) -> tuple[float | None, float | None]:
    """The runs behind a share whose items weigh the same: so many of so many, where items have equally many runs."""
    if len(set(Counter(one["item"] for one in runs).values())) != 1:
        return None, None
    of = [one for one in runs if base is None or base(one)]
    return float(sum(bool(yes(one)) for one in of)), float(len(of))


def model_by(model: str, condition: str | None = None) -> By:
    named: By = ((gettext_noop("model"), model),)
    return named if condition is None else (*named, (gettext_noop("condition"), condition))
