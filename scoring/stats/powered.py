"""A rate or mean of many items from the labels of a few and the verdicts of all: the prediction-powered estimate."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from scoring.stats.intervals import FEW_CLUSTERS, VERY_FEW_CLUSTERS, wilson_interval
from scoring.stats.results import CONFIDENCE, Figure, Interval
from scoring.stats.statistic import Floats, Mask

Picked = Literal["random", "score"]
NO_VARIANCE = 1e-24
"""A variance below this is rounding."""


@dataclass(frozen=True)
class PredictionPowered:
    """`combined` is the estimate; `human_only` knows the labels alone, `judge_only` the verdicts alone and is as biased
    as the judge. `tuning` says how far the verdicts were used, from 0 (not at all) to 1. `labels_saved`: so many more
    labels of people would give as narrow an interval."""

    combined: Figure
    human_only: Figure
    judge_only: Figure
    tuning: float | None
    labels_saved: float | None
    n_labelled: int
    n_verdict_only: int
    picked: Picked


def prediction_powered(
    labels: npt.ArrayLike,
    verdicts: npt.ArrayLike,
    clusters: Sequence[Hashable] | None,
    *,
    unit: str,
    is_rate: bool,
    picked: Picked = "random",
    min_clusters: int = 5,
) -> PredictionPowered:
    """The mean label of all items, had people labelled all of them.

    Parameters
    ----------
    labels : (n_items,) what people said: of a rate 0 to 1 (a share where several were asked), of a mean any number;
        nan where nobody was asked.
    verdicts : (n_items,) the judge's, on the same scale; nan for none. A label without a verdict counts for
        `human_only` alone.
    clusters : the cluster of every item; None where each is its own. Else the variances are of cluster sums, times
        m / (m - 1) for m clusters, and an item labelled and one that is not may share a cluster.
    picked : how items came to be labelled. The estimate takes them for a random part of all, so `score` is refused.

    Returns
    -------
    PredictionPowered: reasons `empty` (nothing labelled), `too_few_items` (one label), `not_random`. Flags:
        `human_only` (no item has a verdict alone, so the estimate is that of people), `judge_constant` (no verdict
        differs from another, likewise).
        An interval of a rate may reach below 0 or above 1; it is not cut.

    Raises
    ------
    ValueError for shapes, infinite numbers, or rates outside 0 to 1.

    Source: Angelopoulos et al. 2023, Science 382, 669-674; power tuning: Angelopoulos, Duchi and Zrnic 2023,
    arXiv:2311.01453.
    Checked against: ppi_py.ppi_mean_ci.
    """
    said, judged = np.asarray(labels, dtype=float), np.asarray(verdicts, dtype=float)
    _check(said, judged, clusters, is_rate=is_rate, picked=picked, min_clusters=min_clusters)
    has_label, has_verdict = ~np.isnan(said), ~np.isnan(judged)
    data = _Data(said, judged, clusters, unit, is_rate, min_clusters)
    both, alone = has_label & has_verdict, has_verdict & ~has_label
    human = data.mean(said, has_label)
    if picked == "score":
        human = _unknown(human, "not_random")
    judge = data.mean(judged, has_verdict)
    left_out = {
        "no_rating": int((~has_label & ~has_verdict).sum()),
        "not_rated": int((has_label & ~has_verdict).sum()),
    }
    combined = _unknown(human, human.reason or "too_few_items")
    tuning: float | None = None
    saved: float | None = None
    if human.reason is None and not alone.any():
        combined, tuning, saved = _human(human, "human_only"), 0.0, 0.0
    elif human.reason is None and both.sum() >= 2:
        parts = _Parts.of(data, both, alone)
        if parts.tuning is None:
            combined, tuning, saved = _human(human, "judge_constant"), 0.0, 0.0
        else:
            tuning = parts.tuning
            value, variance = parts.value(tuning), parts.variance(tuning)
            combined = data.figure(value, variance, both | alone, left_out=left_out, rests_on=(both, alone))
            saved = parts.labels_saved(tuning)
    return PredictionPowered(
        combined=combined,
        human_only=human,
        judge_only=judge,
        tuning=tuning,
        labels_saved=saved,
        n_labelled=int(has_label.sum()),
        n_verdict_only=int(alone.sum()),
        picked=picked,
    )


@dataclass(frozen=True, eq=False)
class _Data:
    said: Floats
    judged: Floats
    clusters: Sequence[Hashable] | None
    unit: str
    is_rate: bool
    min_clusters: int

    def cluster_of(self, used: Mask) -> tuple[npt.NDArray[np.int64], bool]:
        """A number for the cluster of each used item, and whether no two share one."""
        rows = np.flatnonzero(used).tolist()
        if self.clusters is None:
            return np.arange(len(rows)), True
        place: dict[Hashable, int] = {}
        codes = np.array([place.setdefault(self.clusters[row], len(place)) for row in rows], dtype=np.int64)
        return codes, len(place) == len(rows)

    def variance_of_sum(self, parts: Floats, used: Mask) -> float:
        """The variance of the sum of `parts` (one for each used item, 0 in the mean), cluster by cluster."""
        codes, independent = self.cluster_of(used)
        sums = np.bincount(codes, weights=parts)
        m = len(sums)
        return float(sums @ sums) * (1.0 if independent or m < 2 else m / (m - 1))

    def mean(self, values: Floats, used: Mask) -> Figure:
        n = int(used.sum())
        if n < 2:
            reason = "empty" if n == 0 else "too_few_items"
            return Figure(value=None, reason=reason, n_items=n, n_ratings=n, n_raters=1, interval_reason=reason)
        mine = values[used]
        value = float(mine.mean())
        variance = self.variance_of_sum((mine - value) / n, used)
        return self.figure(value, variance, used, n_counted=round(value * n) if value in (0.0, 1.0) else None)

    def figure(
        self,
        value: float,
        variance: float,
        used: Mask,
        *,
        left_out: Mapping[str, int] | None = None,
        n_counted: int | None = None,
        rests_on: tuple[Mask, ...] = (),
    ) -> Figure:
        """With a normal interval. A rate of 0 or 1 among `n_counted` independent items has a Wilson interval. Clusters
        are counted where they are fewest among the items it `rests_on`."""
        _, independent = self.cluster_of(used)
        n, n_clusters = int(used.sum()), min(int(self.cluster_of(one)[0].max()) + 1 for one in rests_on or (used,))
        interval: Interval | None = None
        reason: str | None = None
        flags: tuple[str, ...] = ()
        half = float(ndtri((1 + CONFIDENCE) / 2)) * float(np.sqrt(variance))
        low, high, method = value - half, value + half, "normal"
        if n_clusters < self.min_clusters:
            reason = "too_few_clusters"
        elif variance <= NO_VARIANCE:
            reason = "all_resamples_equal"
            if self.is_rate and independent and n_counted is not None:
                (low, high), reason, method = wilson_interval(n_counted, n), None, "wilson"
        if reason is None:
            interval = Interval(
                low=low,
                high=high,
                level=CONFIDENCE,
                unit=self.unit,
                n_clusters=n_clusters,
                n_resamples=0,
                seed=None,
                share_undefined=0.0,
                method="wilson" if method == "wilson" else "normal",
            )
            flags = _few(n_clusters)
        return Figure(
            value=value,
            reason=None,
            n_items=n,
            n_ratings=n,
            n_raters=1,
            left_out={why: count for why, count in (left_out or {}).items() if count},
            flags=flags,
            interval=interval,
            interval_reason=reason,
            n_clusters=n_clusters,
        )


@dataclass(frozen=True, eq=False)
class _Parts:
    """What one item adds to the deviation of the estimate: `of_labels`, and `of_verdicts` times the tuning."""

    data: _Data
    used: Mask
    n: int
    means: tuple[float, float, float]
    of_labels: Floats
    of_verdicts: Floats
    tuning: float | None

    @classmethod
    def of(cls, data: _Data, both: Mask, alone: Mask) -> _Parts:
        used = both | alone
        n, n_alone = int(both.sum()), int(alone.sum())
        y, f, f_alone = data.said[both], data.judged[both], data.judged[alone]
        of_labels, of_verdicts = np.zeros(len(used)), np.zeros(len(used))
        of_labels[both] = (y - y.mean()) / n
        of_verdicts[both] = -(f - f.mean()) / n
        of_verdicts[alone] = (f_alone - f_alone.mean()) / n_alone
        tuning = _tuning(data, used, y=y, f=f, f_alone=f_alone, a=of_labels[used], b=of_verdicts[used])
        means = float(y.mean()), float(f.mean()), float(f_alone.mean())
        return cls(data, used, n, means, of_labels[used], of_verdicts[used], tuning)

    def value(self, tuning: float) -> float:
        label, verdict, alone = self.means
        return label + tuning * (alone - verdict)

    def variance(self, tuning: float) -> float:
        return self.data.variance_of_sum(self.of_labels + tuning * self.of_verdicts, self.used)

    def labels_saved(self, tuning: float) -> float | None:
        variance = self.variance(tuning)
        return None if variance <= NO_VARIANCE else self.n * (self.variance(0.0) / variance - 1)


def _tuning(data: _Data, used: Mask, *, y: Floats, f: Floats, f_alone: Floats, a: Floats, b: Floats) -> float | None:
    """Where the variance is least: for independent items cov(y, f) / ((1 + n / N) var(f)), with the variance of all
    verdicts together. None where no verdict differs."""
    every = np.concatenate([f, f_alone])
    if np.ptp(every) == 0:
        return None
    codes, independent = data.cluster_of(used)
    if independent:
        together = float(((y - y.mean()) * (f - f.mean())).mean())
        best = together / ((1 + len(f) / len(f_alone)) * float(every.var(ddof=1)))
    else:
        of_labels, of_verdicts = np.bincount(codes, weights=a), np.bincount(codes, weights=b)
        square = float(of_verdicts @ of_verdicts)
        best = -float(of_labels @ of_verdicts) / square if square > NO_VARIANCE else 0.0
    return min(max(best, 0.0), 1.0)


def _human(human: Figure, flag: str) -> Figure:
    return replace(human, flags=(*human.flags, flag))


def _unknown(human: Figure, reason: str) -> Figure:
    n = human.n_items
    return Figure(value=None, reason=reason, n_items=n, n_ratings=n, n_raters=1, interval_reason=reason)


def _few(n_clusters: int) -> tuple[str, ...]:
    if n_clusters < VERY_FEW_CLUSTERS:
        return ("very_few_clusters",)
    return ("few_clusters",) if n_clusters < FEW_CLUSTERS else ()


def _check(
    said: Floats,
    judged: Floats,
    clusters: Sequence[Hashable] | None,
    *,
    is_rate: bool,
    picked: str,
    min_clusters: int,
) -> None:
    if said.ndim != 1 or said.shape != judged.shape:
        raise ValueError(f"labels is {said.shape} and verdicts {judged.shape}; both are (n_items,), of the same items.")
    if clusters is not None and len(clusters) != len(said):
        raise ValueError(f"{len(clusters)} clusters for {len(said)} items; give the cluster of every item.")
    if picked not in ("random", "score"):
        raise ValueError(f"picked is {picked!r}; it is random or score.")
    if min_clusters < 2:
        raise ValueError(f"min_clusters is {min_clusters}; an interval needs at least 2 clusters.")
    for name, values in (("labels", said), ("verdicts", judged)):
        known = values[~np.isnan(values)]
        if np.isinf(known).any():
            raise ValueError(f"{name}[{int(np.flatnonzero(np.isinf(values))[0])}] is infinite; use nan for none.")
        if is_rate and ((known < 0) | (known > 1)).any():
            place = int(np.flatnonzero((values < 0) | (values > 1))[0])
            raise ValueError(f"{name}[{place}] is {values[place]}; of a rate each is from 0 to 1.")
