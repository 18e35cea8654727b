"""pass@k against binomials in fractions, and where it does not exist."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.stats import passk
from scoring.stats.answers import Drawing
from scoring.stats.compute import compute
from scoring.stats.passk import pass_at_k, pass_at_k_of_task, pass_at_k_statistic, sample_counts
from scoring.stats.ratings import DuplicateRating, UnknownLabel
from scoring.stats.registry import BadParams
from scoring.stats.sums import with_intervals
from tests.scoring.stats.tables import reference_cases

CASES = [case for case in reference_cases() if case["metric"] == "pass_at_k"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_reference_case_comes_out_as_expected(case):
    found = compute(case["metric"], case["data"], case["params"])

    if isinstance(case["expected"], str):
        assert f"undefined:{found.reason}" == case["expected"]
    else:
        assert found.value == pytest.approx(case["expected"], abs=case["tolerance"])


def test_all_the_cases_are_run():
    assert [case["id"][:3] for case in CASES] == ["O33", "O34"]


@settings(max_examples=200, deadline=None)
@given(n=st.integers(1, 60), data=st.data())
def test_a_task_is_what_binomials_say_by_integers_and_by_logarithms(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    wanted = 1 - Fraction(comb(n - c, k), comb(n, k))

    by_integers = pass_at_k_of_task(n, c, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passk, "MOST_BY_INTEGERS", 0)
        by_logarithms = pass_at_k_of_task(n, c, k)

    assert by_integers == float(wanted)
    assert by_logarithms == pytest.approx(float(wanted), abs=1e-12)


def test_a_task_is_the_share_of_subsets_with_a_pass():
    passed = [True, True, False, False, False, False]
    subsets = list(combinations(passed, 3))

    assert pass_at_k_of_task(6, 2, 3) == pytest.approx(sum(map(any, subsets)) / len(subsets))


@pytest.mark.parametrize(("n", "c"), [(16, 0), (16, 3), (16, 16), (5000, 17)])
def test_pass_at_one_is_the_share_of_passes(n, c):
    assert pass_at_k_of_task(n, c, 1) == pytest.approx(c / n, abs=1e-15)


def test_large_binomials_are_no_nan():
    """scipy's comb in floats gives nan here."""
    assert pass_at_k_of_task(10_000, 1, 5_000) == pytest.approx(0.5, abs=1e-12)
    assert pass_at_k_of_task(1_000_000, 10, 100) == pytest.approx(
        1 - float(np.prod([Fraction(999_900 - i, 1_000_000 - i) for i in range(10)])), abs=1e-12
    )
    assert pass_at_k_of_task(1_000_000, 0, 500_000) == 0.0
    assert pass_at_k_of_task(1_000_000, 900_000, 200_000) == 1.0


def test_fewer_samples_than_k_is_undefined_though_common_code_says_one():
    """github.com/openai/human-eval/issues/35."""
    found = pass_at_k([2], [0], 5)

    assert (found.value, found.reason, found.left_out) == (None, "k_gt_n", {"few_samples": 1})
    assert (found.details["largest_k"], found.details["too_few"]) == (2, (("1", 2),))
    assert found.details["on_enough"].reason == "empty"


def test_one_sample_of_each_task_has_pass_at_one_only():
    """github.com/paiml/aprender/pull/2118: 0.976786 there, as if all were samples of one task."""
    n, c = [1] * 164, [1] * 50 + [0] * 114

    assert pass_at_k(n, c, 1).value == pytest.approx(0.304878, abs=5e-7)
    at_ten = pass_at_k(n, c, 10)
    assert (at_ten.reason, at_ten.details["largest_k"], len(at_ten.details["too_few"])) == ("k_gt_n", 1, 20)


def test_the_value_of_the_tasks_with_enough_stands_beside_it():
    found = pass_at_k([10, 4, 10], [3, 1, 0], 5, names=["t1", "task 7", "t3"])

    rest = found.details["on_enough"]
    assert (found.reason, found.details["too_few"], found.details["largest_k"]) == ("k_gt_n", (("task 7", 4),), 4)
    assert rest.value == pytest.approx((1 - comb(7, 5) / comb(10, 5)) / 2)
    assert (rest.n_items, rest.left_out) == (2, {"few_samples": 1})


def test_no_tasks_is_empty():
    assert pass_at_k([], [], 3).reason == "empty"


@pytest.mark.parametrize(
    ("n", "c", "k", "says"),
    [
        ([5], [6], 1, "Task 1 has 6 passes of 5 samples"),
        ([5, -1], [0, 0], 1, "Task 2 has -1 samples"),
        ([5], [-1], 1, "Task 1 has -1 passes"),
        ([5.0], [1], 1, "Task 1 has 5.0 samples"),
        ([True], [0], 1, "Task 1 has True samples"),
        ([5], [1], 0, "k is 0"),
        ([5], [1], 1.5, "k is 1.5"),
        ([5], [1, 2], 1, "give both for every task"),
    ],
)
def test_counts_that_cannot_be_are_refused_by_the_task(n, c, k, says):
    with pytest.raises(ValueError, match=says):
        pass_at_k(n, c, k)


counts = st.lists(st.integers(0, 12).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), max_size=8)


@settings(max_examples=80, deadline=None)
@given(tasks=counts, k=st.integers(1, 12), data=st.data())
def test_order_plays_no_part_and_more_samples_never_pass_less(tasks, k, data):
    moved = data.draw(st.permutations(tasks))

    def found(tasks, k):
        return pass_at_k([n for n, _ in tasks], [c for _, c in tasks], k)

    one = found(tasks, k)
    assert one.reason == ("empty" if not tasks else "k_gt_n" if min(n for n, _ in tasks) < k else None)
    assert (found(moved, k).value or 0) == pytest.approx(one.value or 0, abs=1e-12)
    if one.reason is None:
        assert one.value >= sum(c / n for n, c in tasks) / len(tasks) - 1e-12
        assert 0 <= one.value <= 1
    if one.reason == "k_gt_n" and one.details["largest_k"] >= 1:
        assert found(tasks, one.details["largest_k"]).reason is None


def test_the_interval_is_of_tasks_or_of_their_clusters():
    rng = np.random.default_rng(2)
    n = [8] * 40
    c = rng.integers(0, 9, 40).tolist()
    drawing = Drawing(unit="repository", seed=3, n_resamples=300)

    found = pass_at_k(n, c, 2, clusters=[i // 2 for i in range(40)], drawing=drawing)

    (same,) = with_intervals([pass_at_k_statistic(n, c, 2)], [i // 2 for i in range(40)], drawing)
    assert (found.interval, found.n_clusters) == (same.interval, 20)
    assert found.interval.low < found.value < found.interval.high
    assert pass_at_k(n, c, 9, drawing=drawing).interval_reason == "k_gt_n"


def test_samples_are_counted_by_task():
    assert sample_counts([("a", True), ("b", False), ("a", False), ("a", True)]) == {"a": (3, 2), "b": (1, 0)}


# By name.


def test_a_task_without_a_count_and_a_count_that_is_none_are_refused():
    rows = [["t1", "n", 3], ["t1", "c", 1]]
    with pytest.raises(BadParams, match="Task t2 has no c"):
        compute("pass_at_k", [*rows, ["t2", "n", 3]], {"k": 1})
    with pytest.raises(UnknownLabel, match="c of task t2 is '1'"):
        compute("pass_at_k", [*rows, ["t2", "n", 3], ["t2", "c", "1"]], {"k": 1})
    with pytest.raises(BadParams, match="4 passes of 3 samples"):
        compute("pass_at_k", [["t1", "n", 3], ["t1", "c", 4]], {"k": 1})
    with pytest.raises(DuplicateRating, match="t1 twice"):
        compute("pass_at_k", [*rows, ["t1", "n", 4]], {"k": 1})
    with pytest.raises(BadParams, match="needs the param k"):
        compute("pass_at_k", rows, {})
    with pytest.raises(BadParams, match="n or c"):
        compute("pass_at_k", [["t1", "k", 3]], {"k": 1})
    assert compute("pass_at_k", rows, {"k": 1, "unit": "task"}).interval_reason == "too_few_clusters"
