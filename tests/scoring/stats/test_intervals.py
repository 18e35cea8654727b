import numpy as np
import pytest

from scoring.stats.chance import CohenKappa, FleissKappa, PercentAgreement, distances_of
from scoring.stats.intervals import wilson_interval
from scoring.stats.majority import ShareWithMajority
from scoring.stats.resampling import bootstrap

KAPPA = CohenKappa(distances_of("unweighted", n_categories=2, weight_matrix=None))


def figure(statistic, codes, clusters=None, **options):
    return bootstrap([statistic], np.array(codes), clusters, unit="run", rng=np.random.default_rng(9), **options)[0]


def mixed(n_clusters):
    """Clusters of four items that differ: one or two of their pairs disagree."""
    codes = [[item % 2, item % 2 ^ (item % 3 == 0)] for item in range(n_clusters * 4)]
    return codes, [item // 4 for item in range(len(codes))]


@pytest.mark.parametrize(("n_clusters", "flags"), [(5, ("few_clusters",)), (19, ("few_clusters",)), (20, ())])
def test_few_clusters_are_flagged(n_clusters, flags):
    found = figure(KAPPA, *mixed(n_clusters))

    assert (found.flags, found.interval.n_clusters, found.interval_reason) == (flags, n_clusters, None)
    assert found.interval.low <= found.value <= found.interval.high


def test_fewer_than_five_clusters_have_no_interval():
    found = figure(KAPPA, *mixed(4))

    assert found.value is not None
    assert (found.interval, found.interval_reason, found.n_clusters) == (None, "too_few_clusters", 4)


def test_a_caller_may_allow_two_clusters_and_each_is_flagged():
    found = figure(PercentAgreement(2), *mixed(4), min_clusters=2)

    assert (found.flags, found.interval.n_resamples) == (("very_few_clusters",), 4**4)
    assert figure(PercentAgreement(2), *mixed(5), min_clusters=2).flags == ("few_clusters",)


def test_one_cluster_never_has_an_interval():
    with pytest.raises(ValueError, match="min_clusters is 1; an interval needs at least 2"):
        figure(KAPPA, *mixed(1), min_clusters=1)


def test_many_undefined_resamples_leave_no_interval_and_their_share_is_said():
    """Two positive items in twenty: 0.9^20 = 12 % of the resamples hold one category."""
    codes = [[1, 1], [1, 1]] + [[0, 0]] * 17 + [[0, 1]]

    found = figure(KAPPA, [[1, 1], [1, 1]] + [[0, 0]] * 18)
    disagreeing = figure(KAPPA, codes)

    assert (found.value, found.interval, found.interval_reason) == (1.0, None, "degenerate_resamples")
    assert found.share_undefined == pytest.approx(0.9**20, abs=0.01)
    assert disagreeing.share_undefined == pytest.approx(0.85**20, abs=0.01)
    assert disagreeing.interval.share_undefined == disagreeing.share_undefined > 0


def test_an_undefined_value_has_no_interval_for_the_same_reason():
    found = figure(FleissKappa(2), [[0, 0]] * 20)

    assert (found.value, found.interval, found.interval_reason) == (None, None, "one_category")


@pytest.mark.parametrize(("n_yes", "low", "high"), [(0, 0.0, 0.071348), (50, 1 - 0.071348, 1.0)])
def test_nothing_of_fifty_has_a_score_interval(n_yes, low, high):
    assert wilson_interval(n_yes, 50) == (pytest.approx(low, abs=5e-7), pytest.approx(high, abs=5e-7))


def test_the_score_interval_of_five_of_ten_is_the_printed_one():
    assert wilson_interval(5, 10) == (pytest.approx(0.2366, abs=5e-5), pytest.approx(0.7634, abs=5e-5))


@pytest.mark.parametrize(("pair", "low", "high"), [([0, 1], 0.0, 0.071348), ([0, 0], 0.928652, 1.0)])
def test_equal_resamples_of_independent_items_give_the_score_interval(pair, low, high):
    found = figure(PercentAgreement(2), [pair] * 50)

    assert found.interval.method == "wilson"
    assert (found.interval.low, found.interval.high) == (pytest.approx(low, abs=5e-7), pytest.approx(high, abs=5e-7))


def test_equal_resamples_of_clusters_leave_no_interval():
    found = figure(PercentAgreement(2), [[0, 0]] * 50, [item // 2 for item in range(50)])

    assert (found.value, found.interval, found.interval_reason) == (1.0, None, "all_resamples_equal")


def test_equal_resamples_of_a_chance_corrected_value_leave_no_interval():
    found = figure(FleissKappa(2), [[0, 0], [1, 1]] * 25)

    assert (found.value, found.interval, found.interval_reason) == (1.0, None, "all_resamples_equal")


def test_equal_resamples_between_zero_and_one_leave_no_interval():
    found = figure(PercentAgreement(2), [[0, 0, 1], [1, 0, 1]] * 25)

    assert (found.value, found.interval_reason) == (pytest.approx(1 / 3), "all_resamples_equal")


def test_the_score_interval_counts_the_items_that_were_compared():
    codes = [[0, 0, 0]] * 30 + [[0, 0, 1]] * 30

    found = figure(ShareWithMajority(0, 2, "exclude", 2), codes)

    assert (found.interval.n_clusters, found.left_out) == (30, {"tie": 30})
    assert found.interval.low == pytest.approx(wilson_interval(30, 30)[0])
