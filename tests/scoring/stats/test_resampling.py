import tracemalloc

import numpy as np
import pytest

from scoring.stats import resampling
from scoring.stats.chance import CohenKappa, FleissKappa, PercentAgreement, distances_of
from scoring.stats.ratings import MISSING
from scoring.stats.resampling import all_resamples, bootstrap, draws, group_items, resample
from tests.scoring.stats.metrics import AGAINST_MAJORITY, METRICS

ALL = METRICS | AGAINST_MAJORITY


def table(n_items=40, n_raters=4, q=3, *, seed=5):
    """Raters who agree on most items, with gaps, items of one rating and items of none."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, q, (n_items, 1))
    codes = np.where(rng.random((n_items, n_raters)) < 0.6, base, rng.integers(0, q, (n_items, n_raters)))
    return np.where(rng.random(codes.shape) < 0.25, MISSING, codes)


def copied(codes, clusters, names, counts):
    """The items of each cluster, as many times as it was drawn."""
    drawn = [name for name, n in zip(names, counts, strict=True) for _ in range(int(n))]
    return np.concatenate([codes[[cluster == name for cluster in clusters]] for name in drawn])


@pytest.mark.parametrize("metric", ALL.values(), ids=ALL)
def test_sums_per_cluster_equal_copying_the_drawn_clusters(metric):
    codes, names = table(), [f"c{number}" for number in range(8)]
    clusters = [names[(item * 5) % 7 if item % 3 else 7] for item in range(len(codes))]
    groups, statistic = group_items(codes, clusters), metric.make(3)

    resamples = resample([statistic], codes, groups, rng=np.random.default_rng(11), n_resamples=60)

    counts = np.concatenate(list(draws(groups.times, rng=np.random.default_rng(11), n_resamples=60, n_features=1)))
    for value, drawn in zip(resamples.values[0], counts, strict=True):
        naive = statistic.figure(copied(codes, clusters, names, drawn)).value
        assert (np.isnan(value) and naive is None) or value == pytest.approx(naive, abs=1e-12)


@pytest.mark.parametrize("metric", ALL.values(), ids=ALL)
def test_undefined_resamples_are_those_that_copying_finds_undefined(metric):
    """Skewed labels: many resamples hold one category."""
    codes = np.zeros((16, 3), dtype=int)
    codes[0], codes[1] = [1, 1, 0], [1, 1, 1]
    codes[9:12, 1] = MISSING
    clusters = [item // 2 for item in range(16)]
    groups, statistic = group_items(codes, clusters), metric.make(2)

    resamples = resample([statistic], codes, groups, rng=np.random.default_rng(2), n_resamples=60)

    counts = np.concatenate(list(draws(groups.times, rng=np.random.default_rng(2), n_resamples=60, n_features=1)))
    naive = [statistic.figure(copied(codes, clusters, list(range(8)), drawn)).value for drawn in counts]
    assert np.isnan(resamples.values[0]).tolist() == [value is None for value in naive]
    if metric.one_category is None:
        assert None in naive


def test_items_that_are_their_own_clusters_share_rows_of_equal_ratings():
    codes = np.array([[0, 1], [1, 1], [0, 1], [MISSING, MISSING], [0, 1]])

    groups = group_items(codes, None)

    assert sorted(groups.times.tolist()) == [1, 3]
    assert (groups.n_clusters, groups.independent) == (4, True)
    assert group_items(codes, ["p", "q", "r", "s", "t"]).times.tolist() == groups.times.tolist()
    assert group_items(codes, ["p", "q", "r", "s", "r"]).independent is False


def test_rows_of_many_raters_and_categories_stay_apart():
    """40 columns of 3 categories and no rating have more rows than 64 bits tell apart."""
    codes = np.zeros((40, 40), dtype=int)
    codes[np.arange(40), np.arange(40)] = 2

    assert group_items(np.concatenate([codes, codes]), None).times.tolist() == [2] * 40


@pytest.mark.parametrize("times", [np.ones(30, dtype=int), np.array([200, 100, 3]), np.array([9, 1, 2, 8, 1, 1, 4, 4])])
def test_every_way_of_drawing_draws_as_many_clusters_with_the_right_chances(times):
    m = times.sum()

    counts = np.concatenate(list(draws(times, rng=np.random.default_rng(0), n_resamples=4000)))

    assert counts.shape == (4000, len(times))
    assert (counts.sum(axis=1) == m).all()
    chances = times / m
    deviation = np.sqrt(m * chances * (1 - chances) / 4000)
    assert (np.abs(counts.mean(axis=0) - times) < 5 * deviation).all()
    assert counts.var(axis=0) == pytest.approx(m * chances * (1 - chances), rel=0.15)


def test_all_resamples_are_counted_with_their_orders():
    counts, repeats = all_resamples(np.ones(3, dtype=int))

    found = dict(zip(map(tuple, counts.astype(int).tolist()), repeats.tolist(), strict=True))
    assert (found[3, 0, 0], found[2, 1, 0], found[1, 1, 1]) == (1, 3, 6)
    assert repeats.sum() == 27
    assert all_resamples(np.ones(6, dtype=int))[1].sum() == 6**6


def test_alike_clusters_are_counted_once_for_each():
    """Three clusters, two of them alike, are 27 resamples; the pair is drawn 0 to 3 times in 1, 6, 12 and 8 of them."""
    counts, repeats = all_resamples(np.array([2, 1]))

    found = dict(zip(counts[:, 0].astype(int).tolist(), repeats.tolist(), strict=True))
    assert found == {0: 1, 1: 6, 2: 12, 3: 8}


def test_a_cluster_drawn_twice_counts_twice():
    """Two clusters of one item, one agreeing: the share is 0, 1/2, 1/2 or 1 over the four resamples."""
    codes = np.array([[0, 0], [0, 1]])

    resamples = resample(
        [PercentAgreement(2)], codes, group_items(codes, None), rng=np.random.default_rng(0), n_resamples=9
    )

    found = sorted(zip(resamples.values[0].tolist(), resamples.repeats.tolist(), strict=True))
    assert found == [(0.0, 1), (0.5, 2), (1.0, 1)]
    assert resamples.enumerated


def test_the_order_of_items_and_the_kind_of_cluster_names_move_no_interval():
    codes, clusters = table(60), [f"run {item % 12:02}" for item in range(60)]
    order = np.random.default_rng(1).permutation(60)

    def interval(codes, clusters):
        (figure,) = bootstrap([FleissKappa(3)], codes, clusters, unit="run", rng=np.random.default_rng(4))
        return pytest.approx([figure.interval.low, figure.interval.high], abs=1e-12)

    here = interval(codes, clusters).expected
    assert here == interval(codes[order], [clusters[item] for item in order])
    assert here == interval(codes, [item % 12 + 10 for item in range(60)])


def test_clusters_without_any_rating_are_no_part_of_the_draw():
    codes = table(40)
    more = np.concatenate([codes, np.full((10, 4), MISSING)])
    clusters = [item // 4 for item in range(50)]

    def figure(codes, clusters):
        return bootstrap([FleissKappa(3)], codes, clusters, unit="run", rng=np.random.default_rng(4))[0]

    assert figure(more, clusters).interval == figure(codes, clusters[:40]).interval
    assert figure(more, clusters).n_clusters == 10


def test_only_clusters_that_a_statistic_can_compare_count_for_it():
    """Twenty clusters, but the second rater saw items of three of them."""
    codes = np.array([[item % 2, item % 2 if item < 6 else MISSING, int(item % 3 == 0)] for item in range(40)])
    clusters = [item // 2 for item in range(40)]
    distances = distances_of("unweighted", n_categories=2, weight_matrix=None)
    pairs = [CohenKappa(distances, 0, 1), CohenKappa(distances, 0, 2)]

    few, many = bootstrap(pairs, codes, clusters, unit="run", rng=np.random.default_rng(4))

    assert (few.n_clusters, few.interval, few.interval_reason) == (3, None, "too_few_clusters")
    assert (many.n_clusters, many.interval.n_clusters, many.flags) == (20, 20, ())


def test_clusters_and_items_of_different_number_are_refused():
    with pytest.raises(ValueError, match="3 clusters for 4 items"):
        group_items(np.zeros((4, 2), dtype=int), ["a", "b", "c"])


def test_memory_stays_in_blocks_however_many_resamples_there_are():
    """2,000 clusters and 4,000 resamples would be 64 MB of counts at once."""
    codes, clusters = table(4000), [item // 2 for item in range(4000)]
    groups = group_items(codes, clusters)

    tracemalloc.start()
    resample([FleissKappa(3)], codes, groups, rng=np.random.default_rng(0), n_resamples=4000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 4 * 8 * resampling.BLOCK_CELLS
    blocks = draws(groups.times, rng=np.random.default_rng(0), n_resamples=4000, n_features=10_000)
    assert next(blocks).shape == (resampling.BLOCK_CELLS // 10_000, groups.n_clusters)
