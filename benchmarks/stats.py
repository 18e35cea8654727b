"""How much faster the statistics are than the libraries people use: `.venv/bin/python benchmarks/stats.py`.

Four jobs, each done by the library and by us in turn, in one process; the best of the rounds counts for both. A library
that would take minutes is timed for a few calls, and the rest is reckoned from those. Beside each stands its floor, the
random numbers alone or one reading of the ratings, and how far we are from it; last, whether memory hangs on the number
of draws. Needs `requirements-check.txt`: `./run setup --extra check`.
"""

import argparse
import json
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

import krippendorff
import numpy as np
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_statsmodels

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scoring.stats.agreement import fleiss_kappa
from scoring.stats.alpha import alpha_of
from scoring.stats.chance import CohenKappa, FleissKappa, distances_of
from scoring.stats.resampling import bootstrap, draws, group_items

N_DRAWS = 10_000
SOME_DRAWS, MORE_DRAWS, MEMORY_RATIO = 100_000, 400_000, 1.5
SEED = 1


@dataclass(frozen=True)
class Job:
    """`theirs` is done `calls` times for what `ours` does once, and timed for `timed` of them. `floor` is what
    nobody can do without."""

    name: str
    library: str
    at_least: float
    theirs: Callable[[], object]
    ours: Callable[[], object]
    floor: Callable[[], object]
    calls: int = 1
    timed: int = 1


@dataclass(frozen=True)
class Figure:
    name: str
    library: str
    ratio: float
    at_least: float
    ours_ms: float
    theirs_ms: float
    floor_ms: float
    times_floor: float

    @property
    def is_met(self) -> bool:
        return self.ratio >= self.at_least

    def __str__(self) -> str:
        return (
            f"{self.name:70} {self.ratio:8.0f} times {self.library} (>= {self.at_least:g}) "
            f"{'met' if self.is_met else 'NOT MET':8} {self.ours_ms:.2f} ms to {self.theirs_ms:,.0f} ms; "
            f"floor {self.floor_ms:.2f} ms, {self.times_floor:.1f} times that"
        )


def main(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    options = parser.parse_args(words)
    rng = np.random.default_rng(SEED)
    figures = []
    for make in (large_fleiss, fleiss_bootstrap, all_kappas, alpha_bootstrap):
        figures.append(measured(make(rng), options.rounds))
        if not options.json:
            print(figures[-1], flush=True)
    memory = memory_ratio(rng)
    is_met = all(one.is_met for one in figures) and memory["ratio"] <= MEMORY_RATIO
    if options.json:
        print(json.dumps({"figures": [asdict(one) | {"met": one.is_met} for one in figures], "memory": memory}))
    else:
        print(
            f"peak memory of the last, {MORE_DRAWS:,} to {SOME_DRAWS:,} draws: {memory['ratio']:.2f} times "
            f"(<= {MEMORY_RATIO:g}), {memory['more_mb']:.0f} to {memory['some_mb']:.0f} MB"
        )
    return int(not is_met)


def measured(job, rounds):
    """Both in turn, so that a busy machine is as busy for one as for the other."""
    theirs, ours, floor = [], [], []
    job.ours()  # what is imported or made once is made
    for _ in range(rounds):
        theirs.append(seconds(lambda: [job.theirs() for _ in range(job.timed)]) * job.calls / job.timed)
        ours += [seconds(job.ours) for _ in range(3)]
        floor.append(seconds(job.floor))
    best = min(ours)
    return Figure(
        name=job.name,
        library=job.library,
        ratio=min(theirs) / best,
        at_least=job.at_least,
        ours_ms=best * 1e3,
        theirs_ms=min(theirs) * 1e3,
        floor_ms=min(floor) * 1e3,
        times_floor=best / min(floor),
    )


def seconds(act):
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


# The jobs


def large_fleiss(rng):
    """A column, which is a rater, lies together in memory, a byte a rating. Statsmodels needs its table of counts."""
    rows = rng.integers(0, 4, size=(1_000_000, 5), dtype=np.int8)
    codes = np.asfortranarray(rows)
    return Job(
        name="Fleiss, 1,000,000 items x 5 raters, 4 categories, no interval",
        library="statsmodels",
        at_least=300,
        theirs=lambda: fleiss_of_statsmodels(aggregate_raters(rows, 4)[0]),
        ours=lambda: fleiss_kappa(codes, n_categories=4),
        floor=codes.max,
    )


def fleiss_bootstrap(rng):
    """Statsmodels is given a table that is ready, so it does no resampling at all."""
    codes = rng.integers(0, 4, size=(300, 5))
    table = aggregate_raters(codes, 4)[0]
    return Job(
        name=f"Fleiss, 300 items x 5 raters in 20 clusters, {N_DRAWS:,} draws",
        library="statsmodels",
        at_least=100,
        theirs=lambda: fleiss_of_statsmodels(table),
        ours=lambda: drawn([FleissKappa(4)], codes, 20),
        floor=lambda: random_numbers(20),
        calls=N_DRAWS,
        timed=300,
    )


def all_kappas(rng):
    """One call of scikit-learn on the whole data for each pair and draw, without its own copying of the drawn items."""
    codes = rng.integers(0, 4, size=(10_000, 20))
    distances = distances_of("unweighted", n_categories=4, weight_matrix=None)
    pairs = [CohenKappa(distances, *pair) for pair in combinations(range(20), 2)]
    first, second = codes[:, 0].copy(), codes[:, 1].copy()
    return Job(
        name=f"all {len(pairs)} kappas, 10,000 items x 20 raters in 200 clusters, {N_DRAWS:,} draws",
        library="scikit-learn",
        at_least=10_000,
        theirs=lambda: cohen_kappa_score(first, second, labels=range(4)),
        ours=lambda: drawn(pairs, codes, 200),
        floor=lambda: random_numbers(200),
        calls=len(pairs) * N_DRAWS,
        timed=10,
    )


def alpha_bootstrap(rng):
    """Krippendorff is given the table of the drawn items, copied for each draw."""
    codes = with_gaps(rng)
    data = np.where(codes < 0, np.nan, codes).astype(float).T
    items = rng.integers(0, 10_000, size=10_000)
    return Job(
        name=f"nominal alpha, 10,000 items x 10 raters, 30 % missing, in 200 clusters, {N_DRAWS:,} draws",
        library="krippendorff",
        at_least=900,
        theirs=lambda: krippendorff.alpha(data[:, items], value_domain=np.arange(5.0), level_of_measurement="nominal"),
        ours=lambda: drawn([alpha_of("nominal", n_categories=5)], codes, 200),
        floor=lambda: random_numbers(200),
        calls=N_DRAWS,
        timed=10,
    )


def with_gaps(rng):
    codes = rng.integers(0, 5, size=(10_000, 10))
    codes[rng.random(codes.shape) < 0.3] = -1
    return codes


def drawn(statistics, codes, n_clusters, n_draws=N_DRAWS):
    clusters = np.repeat(np.arange(n_clusters), len(codes) // n_clusters).tolist()
    rng = np.random.Generator(np.random.PCG64(SEED))
    return bootstrap(statistics, codes, clusters, unit="cluster", rng=rng, n_resamples=n_draws, seed=SEED)


def random_numbers(n_clusters):
    """How often each cluster is drawn: what no bootstrap of clusters can be without."""
    groups = group_items(np.zeros((n_clusters + 1, 1), dtype=np.int64), [*range(n_clusters), 0])
    rng = np.random.Generator(np.random.PCG64(SEED))
    for _ in draws(groups.times, rng=rng, n_resamples=N_DRAWS):
        pass


# Memory


def memory_ratio(rng):
    """The peak above what is there before: more draws add their values, a few numbers each, and no more blocks."""
    codes, statistic = with_gaps(rng), alpha_of("nominal", n_categories=5)
    peaks = {}
    for n_draws in (SOME_DRAWS, MORE_DRAWS):
        tracemalloc.start()
        drawn([statistic], codes, 200, n_draws)
        peaks[n_draws] = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
    return {
        "some_draws": SOME_DRAWS,
        "more_draws": MORE_DRAWS,
        "some_mb": peaks[SOME_DRAWS],
        "more_mb": peaks[MORE_DRAWS],
        "ratio": peaks[MORE_DRAWS] / peaks[SOME_DRAWS],
        "at_most": MEMORY_RATIO,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
