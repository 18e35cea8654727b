"""What is counted in a faster way is what the features of the items add up to."""

import numpy as np
import pytest

from scoring.stats import chance, resampling
from scoring.stats.chance import CohenKappa, FleissKappa, distances_of
from scoring.stats.resampling import Asked, ClusterSums, bootstrap, group_items
from scoring.stats.statistic import Statistic, category_counts
from tests.scoring.stats.metrics import AGAINST_MAJORITY, METRICS

ALL = METRICS | AGAINST_MAJORITY


def table(seed=0, n=300, r=5, q=4, gaps=0.2):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, q, size=(n, r))
    codes[rng.random((n, r)) < gaps] = -1
    return codes, np.repeat(np.arange(n // 10), 10).tolist()


@pytest.mark.parametrize("metric", ALL.values(), ids=ALL)
@pytest.mark.parametrize("together", [True, False])
def test_sums_of_clusters_are_those_of_the_features(metric, together):
    codes, clusters = table()
    statistic = metric.make(4)
    groups = group_items(codes, clusters if together else None)

    found = ClusterSums.of(Asked([statistic], codes), groups)

    features = statistic.features(codes[groups.order]).astype(float)
    assert np.array_equal(found.sums[:, found.places[0]], groups.sums(features))


@pytest.mark.parametrize("metric", ALL.values(), ids=ALL)
def test_the_values_of_resamples_are_those_of_the_formula(metric):
    codes, clusters = table(1)
    statistic = metric.make(4)
    groups = group_items(codes, clusters)
    sums = groups.sums(statistic.features(codes[groups.order]).astype(float))
    counts = np.vstack([np.eye(30), np.random.default_rng(0).multinomial(30, [1 / 30] * 30, size=200)])
    rows = counts @ sums

    alone = statistic.values_alone(np.asfortranarray(rows))

    assert alone == pytest.approx(statistic.formula(rows).value, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("weights", ["unweighted", "linear", "quadratic", "matrix"])
@pytest.mark.parametrize("seed", range(4))
def test_a_kappa_from_tables_is_that_from_features(weights, seed):
    codes, _ = table(seed, n=40, r=2, gaps=0.4)
    matrix = 1 + np.arange(16).reshape(4, 4) / 7
    np.fill_diagonal(matrix, 0)
    kappa = CohenKappa(distances_of(weights, n_categories=4, weight_matrix=matrix))
    times = np.random.default_rng(seed).integers(1, 5, size=40)

    by_table, by_features = kappa.point(codes, times), super(CohenKappa, kappa).point(codes, times)

    for name in ("value", "observed", "expected"):
        assert getattr(by_table, name) == pytest.approx(getattr(by_features, name), abs=1e-12, nan_ok=True)
    assert kappa.figure(np.repeat(codes, times, axis=0)).n_items == kappa.figure(codes, times).n_items


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", [np.int8, np.int64])
def test_fleiss_by_columns_is_fleiss_by_items(order, kind, monkeypatch):
    monkeypatch.setattr(chance, "LARGE", 1)
    monkeypatch.setattr(chance, "LOOKED_AT", 64)
    for seed in range(4):
        codes = np.array(table(seed, gaps=0)[0], dtype=kind, order=order)
        for options in (("item_mean", "include", False), ("pooled", "drop", True)):
            statistic = FleissKappa(4, *options)
            fast, slow = statistic.figure(codes), super(FleissKappa, statistic).figure(codes)

            assert fast.value == pytest.approx(slow.value, abs=1e-12)
            assert (fast.observed, fast.expected) == pytest.approx((slow.observed, slow.expected), abs=1e-12)
            assert (fast.n_items, fast.n_ratings, fast.n_raters, fast.left_out, fast.reason) == (
                slow.n_items,
                slow.n_ratings,
                slow.n_raters,
                slow.left_out,
                slow.reason,
            )


def test_fleiss_by_columns_knows_one_category_and_leaves_gaps_to_the_other_way(monkeypatch):
    monkeypatch.setattr(chance, "LARGE", 1)
    one, gaps = np.full((20, 3), 2), np.full((20, 3), 2)
    gaps[19, 2] = -1

    assert FleissKappa(4).figure(one) == Statistic.figure(FleissKappa(4), one)
    assert FleissKappa(4).figure(gaps) == Statistic.figure(FleissKappa(4), gaps)


@pytest.mark.parametrize(("setting", "value"), [("EXACT_IN_FLOAT32", 0), ("ONE_THREAD", 2**10), ("BLOCK_CELLS", 2**10)])
def test_how_resamples_are_multiplied_plays_no_part(setting, value, monkeypatch):
    codes, clusters = table(2)
    statistics = [METRICS[name].make(4) for name in ("cohen", "cohen_quadratic", "fleiss", "alpha_nominal")]

    def intervals():
        rng = np.random.Generator(np.random.PCG64(1))
        return [one.interval for one in bootstrap(statistics, codes, clusters, unit="u", rng=rng, n_resamples=2000)]

    before = intervals()
    monkeypatch.setattr(resampling, setting, value)

    for one, other in zip(before, intervals(), strict=True):
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-12)


@pytest.mark.parametrize(("r", "q"), [(300, 3), (3, 200)])
def test_categories_are_counted_beyond_a_byte(r, q):
    codes = np.random.default_rng(0).integers(-1, q, size=(20, r))

    expected = [[int((row == category).sum()) for category in range(q)] for row in codes]

    assert category_counts(codes, q).tolist() == expected
