"""An interval for a statistic that was asked for by its name: which params ask for one, and the resamples they mean."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from scoring.stats.given import Given, Params, clusters_of
from scoring.stats.intervals import Sampling
from scoring.stats.registry import BadParams
from scoring.stats.resampling import ENUMERATED, Asked, Clusters, ClusterSums, Resamples, draws, group_items, resample
from scoring.stats.results import Figure
from scoring.stats.statistic import Statistic

DRAWN = ("cluster_of", "seed", "n_resamples", "min_clusters", "unit", "mode")
"""Params that ask for an interval."""



@dataclass(frozen=True)
class Draw:
    """How an interval is to be made."""

    clusters: tuple[Hashable, ...] | None
    unit: str
    seed: int
    n_resamples: int
    min_clusters: int
    mode: str

    @classmethod
    def of(cls, found: Given, params: Params) -> Draw | None:
        """None where no interval is asked for."""
        is_wanted = any(name in params for name in DRAWN)
        clusters = clusters_of(found, params.take("cluster_of", None))
        draw = cls(
            clusters=None if clusters is None else tuple(clusters),
            unit=str(params.take("unit", "item" if clusters is None else "cluster")),
            seed=params.whole("seed", 1, least=0),
            n_resamples=params.whole("n_resamples", 10_000, least=1),
            min_clusters=params.whole("min_clusters", 5, least=2),
            mode=params.one_of("mode", ("auto", "exact", "drawn"), "auto"),
        )
        return draw if is_wanted else None

    def interval(self, statistic: Statistic, found: Given, figure: Figure) -> Figure:
        """The figure with its interval, or the reason why it has none."""
        groups = _groups(found, self.clusters)
        if self.mode == "exact" and groups.n_clusters > ENUMERATED:
            raise BadParams(f"All resamples can be counted up to {ENUMERATED} clusters; here are {groups.n_clusters}.")
        rng = np.random.Generator(np.random.PCG64(self.seed))
        if self.mode == "drawn" and groups.n_clusters:
            resamples = _drawn(Asked([statistic], found.codes), groups, rng, self.n_resamples)
        else:
            resamples = resample([statistic], found.codes, groups, rng=rng, n_resamples=self.n_resamples)
        sampling = Sampling(
            unit=self.unit, min_clusters=self.min_clusters, seed=self.seed, independent=groups.independent
        )
        return resamples.with_interval(figure, 0, sampling, is_share=statistic.is_share)


def _groups(found: Given, clusters: tuple[Hashable, ...] | None) -> Clusters:
    if found.items is not None:
        return group_items(found.codes, clusters)
    rows = np.flatnonzero((found.codes >= 0).any(axis=1) & (found.times > 0))
    return Clusters(order=rows, starts=np.arange(len(rows)), times=found.times[rows], independent=True)


def _drawn(asked: Asked, groups: Clusters, rng: np.random.Generator, n_resamples: int) -> Resamples:
    """Resamples by drawing, also of so few clusters that all could be counted."""
    sums = ClusterSums.of(asked, groups)
    blocks = draws(groups.times, rng=rng, n_resamples=n_resamples, n_features=sums.sums.shape[1])
    values = np.concatenate([np.stack(list(sums.values_of(counts @ sums.sums))) for counts in blocks], axis=1)
    repeats = np.ones(n_resamples, dtype=np.int64)
    return Resamples(values=values, repeats=repeats, n_clusters=sums.n_comparable(groups.times), enumerated=False)
