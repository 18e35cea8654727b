"""Which steps detectors find by themselves: precision among their most confident predictions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotate.traces.base import gettext_noop
from scoring.methods.redundancy_detectors import System, against_reference, answers_in
from scoring.methods.redundancy_reachable import reachable
from scoring.methods.redundancy_read import Study, cuts, triplets
from scoring.methods.redundancy_schema import TYPES
from scoring.methods.tables import Asked, By, Grid, Plan, Row, Said, Words, count_row
from scoring.stats.groups import Triplet
from scoring.stats.statistic import Floats, Mask
from scoring.stats.sums import Summed, mean, ratio_of_sums

TOPS = (1, 5, 10)
READINGS: dict[str, tuple[str, str]] = {
    "": (gettext_noop("Prec@%(k)s"), gettext_noop("Mean of Prec@1, 5, 10")),
    "_ties": (
        gettext_noop("Prec@%(k)s, ties in random order"),
        gettext_noop("Mean of Prec@1, 5, 10, ties in random order"),
    ),
    "_by_gold": (
        gettext_noop("Prec@%(k)s, where n are gold steps"),
        gettext_noop("Mean of Prec@1, 5, 10, where n are gold steps"),
    ),
    "_by_predictions": (
        gettext_noop("Prec@%(k)s, where n are predictions"),
        gettext_noop("Mean of Prec@1, 5, 10, where n are predictions"),
    ),
}
"""By what stands behind the name of the measure; that which the settings name has nothing there, and the other reading
of n in min(K, n) stands beside it."""
Precision = Callable[..., float]
WIDE_SPREAD = 0.01
"""Precision under the order of the model and under random orders of ties that differ by more is worth a note."""


@dataclass(frozen=True)
class Ranked:
    """The predictions of one trajectory from most to least confident, one for each step; `hits` says which are gold.
    `n_dropped` predicted a step a second time."""

    hits: tuple[bool, ...]
    confidence: tuple[float, ...]
    types: tuple[str, ...] = ()
    n_dropped: int = 0

    @classmethod
    def of(cls, answers: Iterable[Mapping[str, Any]], gold: Sequence[Triplet]) -> Ranked:
        in_order = sorted(answers, key=lambda one: -one["confidence"])  # stable: ties keep the model's own order
        first: dict[tuple[int, ...], tuple[Triplet, float]] = {}
        for one in in_order:
            first.setdefault(tuple(sorted(one["step"])), (triplets([one])[0], float(one["confidence"])))
        right = set(gold)
        return cls(
            tuple(one in right for one, _ in first.values()),
            tuple(confidence for _, confidence in first.values()),
            tuple(one.type for one, _ in first.values()),
            len(in_order) - len(first),
        )


def precision_at(ranked: Ranked, k: int, *, n: int | None = None) -> float:
    """Hits among the first k, over min(k, n); 0 without predictions. `n` counts predictions unless it is given.

    Checked against: golden-numbers.json r-predk-worked-*.
    """
    below = min(k, len(ranked.hits) if n is None else n)
    return sum(ranked.hits[:k]) / below if below else 0.0


def precision_at_ties(ranked: Ranked, k: int, *, n: int | None = None) -> float:
    """The mean of `precision_at` over all orders of predictions with equal confidence."""
    below = min(k, len(ranked.hits) if n is None else n)
    expected, place = 0.0, 0
    while place < min(k, len(ranked.hits)):
        end = place
        while end < len(ranked.hits) and ranked.confidence[end] == ranked.confidence[place]:
            end += 1
        expected += sum(ranked.hits[place:end]) * min(1.0, (k - place) / (end - place))
        place = end
    return expected / below if below else 0.0


def detection(study: Study) -> list[Plan | Grid]:
    """Prec@K: the mean over trajectories with gold steps. A failed call predicts nothing and scores 0."""
    names = [name for name in study.scored if study.gold[name]]
    clusters, columns = study.clusters(names), study.columns(names)
    denominator = gettext_noop("trajectories with gold steps")
    by_gold = study.settings["precision_of"] == "gold"
    other_reading = "_by_predictions" if by_gold else "_by_gold"
    asked: list[Asked] = []
    rows: list[Row] = []
    whole: dict[System, Summed] = {}
    notes: list[Words] = []
    for system, records in answers_in(study, "detection").items():
        ranked = [
            Ranked.of((records[name]["answers"] if name in records else None) or (), study.gold[name]) for name in names
        ]
        counts_missing = study.settings["missing_answers"] == "wrong"
        is_asked = np.array([counts_missing or name in records for name in names], dtype=bool)
        n_gold = [len(study.gold[name]) for name in names]
        n_predicted = [len(one.hits) for one in ranked]
        n, n_other = (n_gold, n_predicted) if by_gold else (n_predicted, n_gold)
        rank: dict[str, tuple[Precision, Sequence[int]]] = {
            "": (precision_at, n), "_ties": (precision_at_ties, n), other_reading: (precision_at, n_other),
        }  # fmt: skip
        at = {
            suffix: np.array(
                [[of(one, k, n=below) for k in TOPS] for one, below in zip(ranked, of_each, strict=True)], dtype=float
            ).reshape(-1, len(TOPS))
            for suffix, (of, of_each) in rank.items()
        }
        whole[system] = mean(at[""][:, 0], is_asked)
        for by, inside in cuts(columns, len(names)):
            asked += _precisions(at[""], is_asked & inside, clusters, (*system.by, *by), "")
        asked += _precisions(at["_ties"], is_asked, clusters, system.by, "_ties")
        asked += _precisions(at[other_reading], is_asked, clusters, system.by, other_reading)
        asked += _precisions_of_types(ranked, is_asked, clusters, system.by)
        gaps = np.abs(at[""] - at["_ties"])
        wide = [k for k, (a, b) in zip(TOPS, zip(at[""].T, at["_ties"].T, strict=True), strict=True)
                if is_asked.any() and abs((a - b)[is_asked].mean()) > WIDE_SPREAD]  # fmt: skip
        if wide and gaps.any():
            notes.append(
                Said(
                    gettext_noop(
                        "%(detector)s: the order of equally confident predictions moves Prec@%(k)s by more than 1 pp."
                    ),
                    {"detector": system.name, "k": ", ".join(map(str, wide))},
                )
            )
        failed = sum(name not in records or bool(records[name]["failed"]) for name in names)
        rows += [
            count_row("detection_failed", gettext_noop("Without an answer that can be read"), failed, denominator,
                      system.by),
            count_row("detection_repeated", gettext_noop("Predictions of a step named before, dropped"),
                      sum(one.n_dropped for one in ranked), gettext_noop("predictions"), system.by),
        ]  # fmt: skip
    asked += against_reference(study, "prec_at_1_difference", whole, clusters, denominator)
    if not asked:
        return []
    title = gettext_noop("Steps found (StepDet)")
    table = Plan("stepdet", title, (*asked, reachable(study, "stepdet"), *rows), tuple(notes))
    return [table]


def _precisions(values: Floats, counts: Mask, clusters: Sequence[Hashable], by: By, suffix: str) -> list[Asked]:
    """Prec@1, 5 and 10 and their mean."""
    denominator = gettext_noop("trajectories with gold steps")
    name, of_mean = READINGS[suffix]
    return [
        *(
            Asked(
                f"prec_at_{k}{suffix}", Said(name, {"k": k}), mean(of_k, counts), clusters, denominator, by,
                k=float(of_k[counts].sum()), n=float(counts.sum()),
            )
            for k, of_k in zip(TOPS, values.T, strict=True)
        ),
        Asked(f"prec_mean{suffix}", of_mean, mean(values.mean(axis=1), counts), clusters, denominator, by),
    ]  # fmt: skip


def _precisions_of_types(
    ranked: Sequence[Ranked], counts: Mask, clusters: Sequence[Hashable], by: By
) -> list[Asked]:
    """By type, how many predictions of it are gold."""
    n_of_each = np.array([len(one.hits) for one in ranked], dtype=np.int64)
    place_of = np.repeat(np.arange(len(ranked)), n_of_each)
    types = np.array([kind for one in ranked for kind in one.types], dtype=object)
    hits = np.array([hit for one in ranked for hit in one.hits], dtype=bool)
    asked = []
    for kind in TYPES:
        is_kind = types == kind
        right, predicted = (
            np.bincount(place_of[among], minlength=len(ranked)) for among in (is_kind & hits, is_kind)
        )
        asked.append(
            Asked(
                "stepdet_type_precision", gettext_noop("Right among predictions of the type"),
                ratio_of_sums(right, predicted, counts, reason="predicted_empty"), clusters,
                gettext_noop("predictions"), (*by, (gettext_noop("type"), kind)), k=float(right[counts].sum()),
                n=float(predicted[counts].sum()),
            )
        )  # fmt: skip
    return asked
