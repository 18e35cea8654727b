"""Intervals of shares against statsmodels and sums of binomials; tables of doses and of two answers; differences."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from scoring.stats.answers import Drawing
from scoring.stats.compute import compute
from scoring.stats.ratings import UnknownLabel
from scoring.stats.registry import BadParams
from scoring.stats.shares import (
    confusion_table,
    dose_statistics,
    dose_table,
    exact_interval,
    mean_by_dose,
    paired_difference,
    share_of,
)
from scoring.stats.significance import sign_flip_test
from scoring.stats.sums import share, with_intervals

counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_none_of_fifty_is_no_interval_of_zero_width():
    """github.com/NVIDIA/garak/issues/2076."""
    wilson, exact = share_of(0, 50), share_of(0, 50, method="exact")

    assert (wilson.interval.low, wilson.interval.method) == (0.0, "wilson")
    assert wilson.interval.high == pytest.approx(0.071348, abs=5e-7)
    assert (exact.interval.low, exact.interval.method) == (0.0, "exact")
    assert exact.interval.high == pytest.approx(1 - 0.025 ** (1 / 50))
    assert share_of(50, 50).interval.low == pytest.approx(1 - 0.071348, abs=5e-7)
    assert share_of(50, 50).interval.high == 1.0


@settings(max_examples=100, deadline=None)
@given(counts=counts)
def test_both_intervals_are_those_of_statsmodels(counts):
    n_yes, n = counts

    for method, name in (("wilson", "wilson"), ("exact", "beta")):
        found = share_of(n_yes, n, method=method)

        assert (found.interval.low, found.interval.high) == pytest.approx(
            proportion_confint(n_yes, n, method=name), abs=1e-9
        )
        assert found.interval.low <= found.value <= found.interval.high
        mirrored = share_of(n - n_yes, n, method=method).interval
        assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((found.interval.low, found.interval.high))


@pytest.mark.parametrize(("n_yes", "n"), [(1, 10), (7, 10), (3, 25)])
def test_at_the_ends_of_the_exact_interval_each_tail_is_a_fortieth(n_yes, n):
    low, high = (Fraction(end) for end in exact_interval(n_yes, n))

    def tail(p, numbers):
        return float(sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in numbers))

    assert tail(low, range(n_yes, n + 1)) == pytest.approx(0.025, abs=1e-9)
    assert tail(high, range(n_yes + 1)) == pytest.approx(0.025, abs=1e-9)


def test_no_items_is_empty():
    found = share_of(0, 0)

    assert (found.value, found.reason, found.interval, found.interval_reason) == (None, "empty", None, "empty")


@pytest.mark.parametrize(
    ("n_yes", "n", "says"),
    [(-1, 5, "-1"), (3, 2, "more yes than items"), (1.0, 2, r"1\.0"), (True, 2, "True"), (1, None, "None")],
)
def test_counts_that_cannot_be_are_refused(n_yes, n, says):
    with pytest.raises(ValueError, match=says):
        share_of(n_yes, n)


def test_a_method_that_is_none_is_refused():
    with pytest.raises(ValueError, match="wilson or exact"):
        share_of(1, 2, method="wald")


# Doses.

DOSES = [0, 0, 1, 1, 2, 5, 3, 0]
YES = [False, True, True, False, True, True, False, False]


def test_a_share_for_every_class_of_doses():
    rows = dose_table(DOSES, YES, [0, 1, 2])

    assert [(row.least, row.most, row.share.value, row.share.n_items) for row in rows] == [
        (0, 0, pytest.approx(1 / 3), 3),
        (1, 1, 0.5, 2),
        (2, None, pytest.approx(2 / 3), 3),
    ]


def test_a_class_without_items_is_empty_and_items_that_do_not_count_are_in_none():
    rows = dose_table(DOSES, YES, [1, 4, 6], counted=[True] * 5 + [False] * 3)

    assert [(row.least, row.most, row.share.reason, row.share.n_items) for row in rows] == [
        (1, 3, None, 3),
        (4, 5, "empty", 0),
        (6, None, "empty", 0),
    ]
    assert dose_table([], [], [0])[0].share.reason == "empty"


def test_the_mean_of_a_number_by_dose():
    found = [(least, most, one.figure().value) for least, most, one in mean_by_dose(DOSES, range(8), [0, 2])]

    assert found == [(0, 1, pytest.approx((0 + 1 + 2 + 3 + 7) / 5)), (2, None, pytest.approx((4 + 5 + 6) / 3))]


def test_all_classes_are_of_one_draw():
    rng = np.random.default_rng(1)
    doses, yes, clusters = rng.integers(0, 3, 90), rng.random(90) < 0.4, (np.arange(90) // 4).tolist()
    drawing = Drawing(unit="run", seed=6, n_resamples=300)

    rows = dose_table(doses, yes, [0, 1, 2], clusters=clusters, drawing=drawing)

    statistics = [one for _, _, one in dose_statistics(doses, yes, [0, 1, 2])]
    assert [row.share for row in rows] == with_intervals(statistics, clusters, drawing)
    assert all(row.share.interval.low <= row.share.value <= row.share.interval.high for row in rows)


@pytest.mark.parametrize(
    ("doses", "starts", "says"),
    [
        ([0, -1], [0], "dose of item 1 is -1"),
        ([0.5, 1], [0], r"dose of item 0 is 0\.5"),
        ([np.nan, 1], [0], "dose of item 0 is nan"),
        ([0], [0], "1 doses for 2 items"),
        ([0, 1], [], "that rise"),
        ([0, 1], [1, 1], "that rise"),
        ([0, 1], [-1, 1], "that rise"),
    ],
)
def test_doses_that_cannot_be_are_refused(doses, starts, says):
    with pytest.raises(ValueError, match=says):
        dose_table(doses, [True, False], starts)


# Two answers.


def test_every_declared_label_has_its_row_and_its_column():
    pairs = [("ok", "ok"), ("ok", "bad"), ("bad", "bad"), ("ok", "ok")]

    found = confusion_table(pairs, ["ok", "bad", "unk"])

    assert found.counts == ((2, 1, 0), (0, 1, 0), (0, 0, 0))
    assert (found.n, found.cell("ok", "bad")) == (4, 1)
    assert found.share_of_row("ok", "ok").value == pytest.approx(2 / 3)
    assert found.share_of_row("unk", "ok").reason == "empty"
    assert confusion_table([("x", 0), ("y", 2)], ["x", "y"], [0, 1, 2]).counts == ((1, 0, 0), (0, 0, 1))


def test_a_label_that_is_not_declared_is_refused_by_its_item():
    with pytest.raises(ValueError, match=r"Item 1: True is no declared column\. Declared are 0, 1"):
        confusion_table([("x", 0), ("x", True)], ["x"], [0, 1])
    with pytest.raises(ValueError, match="'z' is no declared row"):
        confusion_table([], ["x"]).cell("z", "x")


# Differences.


def test_a_paired_difference_is_on_items_with_both_and_on_the_same_draws():
    first, second = [3.0, 5.0, np.nan, 2.0, 4.0, 1.0], [1.0, 4.0, 9.0, 2.0, np.nan, 3.0]
    clusters = ["x", "x", "y", "y", "z", "z"]

    found = paired_difference(first, second, clusters, Drawing(unit="run", seed=1, min_clusters=3))

    assert found.difference.value == pytest.approx((2 + 1 + 0 - 2) / 4)
    assert (found.first.value, found.second.value) == (pytest.approx(11 / 4), pytest.approx(10 / 4))
    assert found.difference.left_out == {"not_in_both": 2}
    values = []
    for drawn in product("xyz", repeat=3):
        differences = [
            first[i] - second[i] for name in drawn for i, cluster in enumerate(clusters) if cluster == name
        ]
        values.append(np.nanmean(differences))
    interval = found.difference.interval
    assert (interval.low, interval.high) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])))
    assert found.p.value == sign_flip_test(np.subtract(first, second), clusters).value


def test_a_paired_difference_of_nothing_has_a_reason():
    drawing = Drawing(unit="item", seed=1)

    for first, second, reason in (([], [], "empty"), ([1.0, np.nan], [np.nan, 1.0], "no_overlap")):
        found = paired_difference(first, second, None, drawing)
        assert {one.reason for one in (found.difference, found.first, found.second, found.p)} == {reason}
        assert found.difference.interval_reason == reason
    with pytest.raises(ValueError, match="finite"):
        paired_difference([1.0], [np.inf], None, drawing)


def test_two_that_are_identical_have_no_interval_of_zero_width():
    found = paired_difference([1.0] * 30, [1.0] * 30, None, Drawing(unit="item", seed=1))

    assert (found.difference.value, found.p.value) == (0.0, 1.0)
    assert (found.difference.interval, found.difference.interval_reason) == (None, "all_resamples_equal")


# By name.

ANSWERS = [[f"i{i}", "ana", "yes" if i % 3 else "no"] for i in range(30)]


def test_a_share_by_name_has_the_interval_of_independent_items_or_of_clusters():
    wilson, exact = (compute("share", ANSWERS, {"category": "yes", "interval": one}) for one in ("wilson", "exact"))
    cluster_of = {f"i{i}": i // 4 for i in range(30)}
    drawn = compute("share", ANSWERS, {"category": "yes", "cluster_of": cluster_of, "seed": 4, "unit": "run"})

    assert (wilson.value, wilson.interval) == (pytest.approx(2 / 3), share_of(20, 30).interval)
    assert exact.interval == share_of(20, 30, method="exact").interval
    assert compute("share", ANSWERS, {"category": "yes"}) == wilson
    assert compute("share", {"yes": 20, "n": 30}, {}).interval == wilson.interval
    assert (drawn.interval.method, drawn.interval.unit, drawn.interval.seed, drawn.n_clusters) == ("drawn", "run", 4, 8)
    yes = [label == "yes" for *_, label in ANSWERS]
    (same,) = with_intervals([share(yes)], list(cluster_of.values()), Drawing(unit="run", seed=4))
    assert drawn.interval == same.interval


def test_none_of_fifty_drawn_by_item_has_the_wilson_interval():
    rows = [[i, "ana", "no"] for i in range(50)]

    found = compute("share", rows, {"category": "yes", "interval": "bootstrap"})

    assert (found.interval.method, found.interval.high) == ("wilson", pytest.approx(0.071348, abs=5e-7))


def test_what_a_share_does_not_take_is_refused():
    for data, params, says in (
        (ANSWERS, {}, "needs the param category"),
        ([*ANSWERS, ["i0", "ben", "no"]], {"category": "yes"}, "whose labels to count: ana, ben"),
        (ANSWERS, {"category": "yes", "rater": "zoe"}, "whose labels to count: ana"),
        (ANSWERS, {"category": "yes", "interval": "wald"}, "interval is 'wald'"),
        (ANSWERS, {"category": "yes", "interval": "exact", "cluster_of": {f"i{i}": 1 for i in range(30)}}, "bootstrap"),
        ({"yes": 3, "no": 2}, {}, "give"),
        ({"yes": 3, "n": 2}, {}, "more yes than items"),
        ({"yes": -3, "n": 2}, {}, "-3"),
    ):
        with pytest.raises(BadParams, match=says):
            compute("share", data, params)
    with pytest.raises(UnknownLabel, match="ana on item i0: 'no' is not declared"):
        compute("share", ANSWERS, {"category": "yes", "categories": ["yes", "unk"]})


def test_items_the_rater_did_not_rate_are_left_out_of_a_share():
    found = compute("share", [*ANSWERS, ["i99", "ana", None]], {"category": "no"})

    assert (found.value, found.left_out) == (pytest.approx(1 / 3), {"not_rated": 1})
    assert compute("share", [["i1", "ana", None]], {"category": "no"}).reason == "empty"
    assert compute("share", [], {"category": "no"}).interval_reason == "empty"


def test_a_difference_by_name_is_the_first_minus_the_second():
    rows = [[f"q{i}", who, score] for i in range(24) for who, score in (("A", i % 3 + 0.5), ("B", i % 2))]

    found = compute("paired_difference", rows, {"a": "A", "b": "B", "cluster_of": {f"q{i}": i // 2 for i in range(24)}})

    assert found.value == pytest.approx(1.5 - 0.5)
    assert (found.details["a"].value, found.details["b"].value) == (pytest.approx(1.5), pytest.approx(0.5))
    assert found.details["p"].details["unit"] == "cluster"
    assert found.interval.low <= found.value <= found.interval.high
    assert (found.interval.seed, found.interval.unit, found.n_clusters) == (1, "cluster", 12)


def test_the_class_of_a_dose_by_name():
    rows = [[f"i{i}", what, value] for i in range(8) for what, value in (("dose", DOSES[i]), ("yes", int(YES[i])))]

    found = compute("dose_table", rows, {"starts": [0, 1, 2], "dose": 4})

    assert found.value == pytest.approx(2 / 3)
    assert [row.share.n_items for row in found.details["rows"]] == [3, 2, 3]
    with pytest.raises(BadParams, match="in no class"):
        compute("dose_table", rows, {"starts": [1, 2], "dose": 0})
    with pytest.raises(UnknownLabel, match="it is 0 or 1"):
        compute("dose_table", [["i0", "dose", 1], ["i0", "yes", 2]], {"starts": [0], "dose": 0})
