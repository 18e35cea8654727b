"""Correlations against scipy, fractions, and explicit copying of the drawn clusters."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from scoring.stats.answers import Drawing
from scoring.stats.compute import compute
from scoring.stats.correlation import pearson, pearson_statistic, spearman
from scoring.stats.ratings import UnknownLabel
from scoring.stats.registry import BadParams
from scoring.stats.resampling import draws, group_items
from scoring.stats.sums import with_intervals

BOTH = pytest.mark.parametrize("correlate", [pearson, spearman])


def centred(values, groups):
    """Minus the mean of the group, in fractions."""
    exact = [Fraction(one) for one in values]
    means = {
        group: sum(of := [one for one, other in zip(exact, groups, strict=True) if other == group]) / len(of)
        for group in groups
    }
    return [one - means[group] for one, group in zip(exact, groups, strict=True)]


def mid_ranks(values):
    return [Fraction(sum(other < one for other in values) * 2 + sum(other == one for other in values) + 1, 2)
            for one in values]  # fmt: skip


def r_of(x, y):
    """Pearson's r from fractions, None without variance."""
    x, y = ([one - sum(side) / Fraction(len(side)) for one in side] for side in (x, y))
    xx, yy = sum(one * one for one in x), sum(one * one for one in y)
    if not xx or not yy:
        return None
    return float(sum(a * b for a, b in zip(x, y, strict=True))) / (float(xx) * float(yy)) ** 0.5


def wanted(x, y, groups, *, ranks):
    """By the definition, with those alone in their group left out."""
    kept = [i for i in range(len(x)) if groups is None or groups.count(groups[i]) > 1]
    if len(kept) < 2:
        return None
    names = ["all"] * len(kept) if groups is None else [groups[i] for i in kept]
    x, y = centred([x[i] for i in kept], names), centred([y[i] for i in kept], names)
    return r_of(mid_ranks(x), mid_ranks(y)) if ranks else r_of(x, y)


rows = st.lists(
    st.tuples(st.integers(-4, 4), st.integers(-4, 4), st.sampled_from("abcd")), min_size=0, max_size=12
)


@settings(max_examples=200, deadline=None)
@given(rows=rows, grouped=st.booleans(), scale=st.sampled_from([1.0, 0.1, 1 / 3]), offset=st.sampled_from([0, 7, 1e6]))
def test_both_are_what_their_definitions_say_in_fractions(rows, grouped, scale, offset):
    x, y = [one for one, _, _ in rows], [one for _, one, _ in rows]
    groups = [name for _, _, name in rows] if grouped else None

    for correlate, ranks in ((pearson, False), (spearman, True)):
        found = correlate([scale * one + offset for one in x], [one * scale for one in y], groups=groups)

        value = wanted(x, y, groups, ranks=ranks)
        assert found.value == (None if value is None else pytest.approx(value, abs=1e-8 if offset == 1e6 else 1e-10))


@BOTH
def test_without_groups_it_is_that_of_scipy(correlate):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=60), rng.integers(0, 5, 60).astype(float)

    reference = {pearson: stats.pearsonr, spearman: stats.spearmanr}[correlate](x, y).statistic

    assert correlate(x, y).value == pytest.approx(reference, abs=1e-12)


def test_a_level_of_groups_is_no_correlation():
    # within a and b y falls as x rises; between them both rise
    x, y, groups = [1, 2, 3, 11, 12, 13], [3, 2, 1, 13, 12, 11], list("aaabbb")

    assert pearson(x, y).value > 0.9
    assert pearson(x, y, groups=groups).value == pytest.approx(-1.0)
    assert spearman(x, y, groups=groups).value == pytest.approx(-1.0)


def test_ties_that_centring_splits_by_rounding_share_the_middle_of_their_ranks():
    x, groups = [1, 2, 2, 4, 5, 5, 0.1, 0.2, 0.2], list("aaabbbccc")
    mean_off = np.array([1, 2, 2]) - 5 / 3, np.array([4, 5, 5]) - 14 / 3
    assert mean_off[0][1] != mean_off[1][1]  # both are a third
    y = [5, 1, 2, 6, 3, 4, 9, 8, 7]

    found = spearman(x, y, groups=groups)

    exact = [Fraction(str(one)) for one in x]
    assert found.value == pytest.approx(wanted(exact, y, groups, ranks=True), abs=1e-12)


def test_the_middle_ranks_worked_by_hand():
    # ranks of x 1, 2.5, 2.5, 4; of y 1.5, 1.5, 3, 4: sum of products of what is left without 2.5 is 3.75
    assert spearman([1, 2, 2, 3], [5, 5, 6, 7]).value == pytest.approx((1.5 + 0 + 0 + 2.25) / 4.5)


def test_an_offset_of_a_billion_takes_nothing_away():
    x, y = np.array([0.0, 1, 2, 4]), np.array([1.0, 0, 3, 5])

    assert pearson(x + 1e9, y - 1e9).value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)


@BOTH
@pytest.mark.parametrize(
    ("x", "y", "groups", "reason"),
    [
        ([], [], None, "empty"),
        ([np.nan], [np.nan], None, "empty"),
        ([1.0, np.nan], [np.nan, 1.0], None, "no_overlap"),
        ([1.0], [1.0], None, "too_few_items"),
        ([1.0, 2.0], [1.0, 2.0], ["a", "b"], "too_few_items"),
        ([3.0, 3.0, 3.0], [1.0, 2.0, 3.0], None, "no_variance"),
        ([1.0, 2.0, 3.0], [0.1, 0.1, 0.1], None, "no_variance"),
        ([0.1, 0.1, 0.1, 0.7, 0.7, 0.7], [1, 2, 3, 4, 5, 6], list("aaabbb"), "no_variance"),
    ],
)
def test_degenerate_tables(correlate, x, y, groups, reason):
    found = correlate(x, y, groups=groups, drawing=Drawing(unit="item", seed=1))

    assert (found.value, found.reason, found.interval, found.interval_reason) == (None, reason, None, reason)


@BOTH
def test_who_is_left_out_is_counted(correlate):
    x = [1, 2, np.nan, 4, 5, np.nan, 7]
    y = [2, 1, 3, 4, 7, np.nan, np.nan]

    found = correlate(x, y, groups=["a", "a", "a", "b", "c", "c", "c"])

    assert found.left_out == {"not_in_both": 2, "not_observed": 1, "alone_in_group": 2}
    assert (found.n_items, found.value) == (2, pytest.approx(-1.0))


# Intervals.


def clustered(n_clusters=9, *, seed=1):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_clusters), 3 + np.arange(n_clusters) % 3)
    x = rng.integers(0, 5, len(groups)).astype(float)
    y = x + rng.integers(0, 6, len(groups)) + groups
    return x, y, groups.tolist()


@BOTH
@pytest.mark.parametrize("is_grouped", [True, False])
@pytest.mark.parametrize("n_clusters", [5, 9])
def test_the_interval_is_that_of_copying_the_drawn_clusters(correlate, is_grouped, n_clusters):
    x, y, clusters = clustered(n_clusters)
    groups = clusters if is_grouped else None
    drawing = Drawing(unit="task", seed=4, n_resamples=200)

    found = correlate(x, y, groups=groups, clusters=clusters, drawing=drawing)

    names = group_items(np.arange(len(x))[:, None], clusters)
    if n_clusters == 5:
        counts = [np.bincount(drawn, minlength=5) for drawn in np.indices((5,) * 5).reshape(5, -1).T]
    else:
        rng = np.random.Generator(np.random.PCG64(4))
        counts = list(np.concatenate(list(draws(names.times, rng=rng, n_resamples=200))))
    values = []
    for drawn in counts:
        # a cluster drawn twice is there twice, as two groups or as one: the mean that is taken off is the same
        items = np.concatenate([np.tile(np.flatnonzero(np.array(clusters) == c), int(n)) for c, n in enumerate(drawn)])
        of = None if groups is None else [groups[i] for i in items]
        values.append(correlate(x[items], y[items], groups=of).value)
    assert None not in values
    assert (found.interval.low, found.interval.high) == pytest.approx(
        tuple(np.quantile(values, [0.025, 0.975])), abs=1e-10
    )
    assert (found.n_clusters, found.interval.n_resamples) == (n_clusters, len(values))
    assert found.interval.method == ("enumerated" if n_clusters == 5 else "drawn")


@BOTH
def test_groups_are_the_clusters_unless_larger_ones_hold_them_whole(correlate):
    x, y, groups = clustered(24)
    drawing = Drawing(unit="task", seed=2, n_resamples=100)

    assert correlate(x, y, groups=groups, drawing=drawing) == correlate(
        x, y, groups=groups, clusters=groups, drawing=drawing
    )
    larger = correlate(x, y, groups=groups, clusters=[one // 4 for one in groups], drawing=drawing)
    assert larger.n_clusters == 6
    with pytest.raises(ValueError, match="Group 0 lies in clusters 0 and 1"):
        correlate(x, y, groups=groups, clusters=list(range(len(x))), drawing=drawing)


@BOTH
def test_items_may_be_their_own_clusters(correlate):
    rng = np.random.default_rng(3)
    x = rng.normal(size=50)

    found = correlate(x, x + rng.normal(size=50), drawing=Drawing(unit="item", seed=1, n_resamples=300))

    assert (found.n_clusters, found.flags) == (50, ())
    assert found.interval.low < found.value < found.interval.high


@BOTH
def test_resamples_without_variance_are_undefined_and_counted(correlate):
    x = [0, 0, 0, 0, 0, 1, 0, 0]

    found = correlate(x, [1, 2, 3, 4, 5, 6, 7, 8], drawing=Drawing(unit="item", seed=1))

    assert found.interval_reason == "degenerate_resamples"
    assert found.share_undefined == pytest.approx((7 / 8) ** 8, abs=0.03)


def test_pearson_shares_the_draw_of_a_report():
    x, y, groups = clustered(20)
    drawing = Drawing(unit="task", seed=2, n_resamples=100)

    together = with_intervals([pearson_statistic(x, y, groups=groups), pearson_statistic(y, x)], groups, drawing)

    assert together[0].interval == pearson(x, y, groups=groups, drawing=drawing).interval


@BOTH
@settings(max_examples=50, deadline=None)
@given(rows=rows, data=st.data())
def test_order_names_and_units_play_no_part(correlate, rows, data):
    def found(rows, unit=1.0):
        return correlate(
            [unit * one for one, _, _ in rows], [one for _, one, _ in rows], groups=[name for *_, name in rows]
        )

    def same(one, other, sign=1):
        assert one.reason == other.reason
        assert one.value == (None if other.value is None else pytest.approx(sign * other.value, abs=1e-10))

    moved = data.draw(st.permutations(rows))
    same(found(moved), found(rows))
    same(found([(one, other, {"a": "z"}.get(name, name)) for one, other, name in rows]), found(rows))
    same(found(rows, unit=60.0), found(rows))
    same(found(rows, unit=-1.0), found(rows), sign=-1)
    same(found([(other, one, name) for one, other, name in rows]), found(rows))
    assert found(rows).value is None or -1 <= found(rows).value <= 1


@BOTH
def test_what_is_no_number_or_of_another_length_is_refused(correlate):
    with pytest.raises(ValueError, match="finite numbers"):
        correlate([1, np.inf], [1, 2])
    with pytest.raises(ValueError, match="finite numbers"):
        correlate([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="1 groups for 2 items"):
        correlate([1, 2], [1, 2], groups=["a"])


# By name.


@pytest.mark.parametrize("name", ["pearson", "spearman"])
def test_measures_are_named_and_groups_given_by_item(name):
    x, y, groups = clustered(8)
    data = [[f"i{i}", what, value] for i in range(len(x)) for what, value in (("U", x[i]), ("T", y[i]))]
    group_of = {f"i{i}": f"g{group}" for i, group in enumerate(groups)}

    found = compute(name, data, {"a": "U", "b": "T", "group_of": group_of, "seed": 2, "unit": "task"})

    direct = {"pearson": pearson, "spearman": spearman}[name](x, y, groups=groups)
    assert found.value == pytest.approx(direct.value, abs=1e-12)
    assert (found.interval.unit, found.n_clusters, found.flags) == ("task", 8, ("few_clusters",))
    assert compute(name, data, {"a": "U", "b": "T", "group_of": group_of}).interval is None
    with pytest.raises(BadParams, match="group_of says nothing of item i0"):
        compute(name, data, {"a": "U", "b": "T", "group_of": {}})
    with pytest.raises(BadParams, match="clusters that hold whole groups"):
        compute(name, data, {"group_of": group_of, "cluster_of": {f"i{i}": i for i in range(len(x))}})
    with pytest.raises(UnknownLabel, match="U of item i0 is True"):
        compute(name, [["i0", "U", True], ["i0", "T", 1]], {})
