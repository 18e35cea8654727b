"""Sign flips against full enumeration in fractions; families of tests against statsmodels and scipy."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control
from statsmodels.stats.multitest import multipletests

from scoring.stats.compute import compute
from scoring.stats.ratings import DuplicateRating, UnknownLabel
from scoring.stats.registry import BadParams
from scoring.stats.significance import benjamini_yekutieli, holm, sign_flip_test
from tests.scoring.stats.tables import reference_cases

CASES = [case for case in reference_cases() if case["metric"] in ("sign_flip_test", "holm")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_reference_case_comes_out_as_expected(case):
    found = compute(case["metric"], case["data"], case["params"])

    assert found.value == pytest.approx(case["expected"], abs=case["tolerance"])


def test_all_the_cases_are_run():
    assert {case["id"][:3] for case in CASES} == {"O30", "O31"}


def enumerated(differences, alternative="two-sided"):
    """p in exact fractions."""
    values = [Fraction(one) for one in differences]
    total = sum(values)
    extreme = {
        "two-sided": lambda flipped: abs(flipped) >= abs(total),
        "greater": lambda flipped: flipped >= total,
        "less": lambda flipped: flipped <= total,
    }[alternative]
    flips = list(product([1, -1], repeat=len(values)))
    return Fraction(
        sum(extreme(sum(sign * one for sign, one in zip(flip, values, strict=True))) for flip in flips), len(flips)
    )


whole_differences = st.lists(st.integers(-4, 4), min_size=1, max_size=9)
ALTERNATIVES = ("two-sided", "greater", "less")


@settings(max_examples=150, deadline=None)
@given(tenths=whole_differences, alternative=st.sampled_from(ALTERNATIVES))
def test_p_is_what_enumeration_in_fractions_says_though_tenths_are_no_floats(tenths, alternative):
    wanted = enumerated(tenths, alternative)

    for scale in (1.0, 0.1, 1e-9, 1e9 / 3):
        found = sign_flip_test([scale * one for one in tenths], alternative=alternative)

        assert found.value == pytest.approx(float(wanted), abs=1e-12)
        assert found.details["mode"] == "exact"


def test_ties_that_a_strict_comparison_misses():
    differences = np.array([0.4, 0.3, 0.5, 0.2, 0.6]) - np.array([0.3, 0.1, 0.2, 0.5, 0.3])
    strict = np.mean(
        [abs(np.dot(flip, differences)) >= abs(differences.sum()) for flip in product([1, -1], repeat=5)]
    )

    assert strict < 0.4375
    assert sign_flip_test(differences).value == 0.4375


def test_all_differences_zero_is_p_one():
    for mode in ("auto", "exact", "monte_carlo"):
        found = sign_flip_test([0.0, 0.0, 0.1 - 0.1], mode=mode)

        assert (found.value, found.reason, found.details["n_nonzero"], found.n_items) == (1.0, None, 0, 3)


def test_zeros_are_kept_but_do_not_count_against_the_limit():
    found = sign_flip_test([0.0] * 100 + [1.0] * 20)

    assert found.value == pytest.approx(2 / 2**20)
    assert (found.details["mode"], found.details["n_nonzero"], found.details["n_units"]) == ("exact", 20, 120)
    assert found.details["mean_difference"] == pytest.approx(20 / 120)
    assert sign_flip_test([1.0] * 21).details["mode"] == "monte_carlo"


def test_no_draw_as_extreme_is_still_no_p_of_zero():
    """github.com/statlab/permute/issues/108."""
    found = sign_flip_test([1.0] * 60, n_draws=999, seed=4)

    assert found.value == 1 / 1000
    assert (found.details["n_draws"], found.details["seed"]) == (999, 4)


def test_drawing_is_near_enumeration_and_counts_ties():
    differences = [1, 2, 3, -3, 3, 1, -1, 0, 2, 2]

    for alternative in ALTERNATIVES:
        wanted = float(enumerated(differences, alternative))
        found = sign_flip_test(differences, mode="monte_carlo", n_draws=20_000, seed=1, alternative=alternative)

        assert found.value == pytest.approx(wanted, abs=4 * (wanted * (1 - wanted) / 20_000) ** 0.5)


def test_many_whole_differences_are_convolved_where_exact_is_asked_for():
    differences = [1, -1] * 15 + [2, 1, 1, 3]

    # the same by polynomials of whole numbers: the ways to reach each sum
    ways = {0: 1}
    for one in differences:
        following = {}
        for total, n in ways.items():
            for flipped in (total + one, total - one):
                following[flipped] = following.get(flipped, 0) + n
        ways = following
    observed = sum(differences)
    wanted = Fraction(sum(n for total, n in ways.items() if abs(total) >= observed), 2 ** len(differences))

    assert sign_flip_test(differences, mode="exact").value == pytest.approx(float(wanted), abs=1e-12)
    assert sign_flip_test(differences).details["mode"] == "monte_carlo"
    with pytest.raises(ValueError, match="Use mode monte_carlo"):
        sign_flip_test([0.1] * 30, mode="exact")


def test_clusters_are_flipped_as_one():
    differences, clusters = [1.0, 2.0, -1.0, 4.0, 1.0, 1.0], ["x", "x", "y", "y", "z", "z"]

    found = sign_flip_test(differences, clusters)

    assert found.value == float(enumerated([3, 3, 2]))
    assert (found.details["unit"], found.n_clusters, found.n_items) == ("cluster", 3, 6)


def test_a_cluster_whose_differences_cancel_but_for_rounding_is_zero():
    found = sign_flip_test([0.1, 0.2, -0.3, 1.0], ["x", "x", "x", "y"])

    assert (found.details["n_nonzero"], found.value) == (1, 1.0)


def test_items_without_both_scores_are_left_out():
    found = sign_flip_test([1.0, np.nan, 2.0])

    assert (found.n_items, found.left_out, found.value) == (2, {"not_in_both": 1}, 0.5)
    assert sign_flip_test([np.nan, np.nan]).reason == "no_overlap"
    assert sign_flip_test([]).reason == "empty"
    assert sign_flip_test([], []).reason == "empty"


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(-3, 3), st.sampled_from("xyz")), min_size=1, max_size=30),
    data=st.data(),
    mode=st.sampled_from(["auto", "monte_carlo"]),
    by_cluster=st.booleans(),
)
def test_order_names_and_which_comes_first_play_no_part(rows, data, mode, by_cluster):
    def p(rows, sign=1.0):
        clusters = [name for _, name in rows] if by_cluster else None
        return sign_flip_test([sign * 0.1 * one for one, _ in rows], clusters, mode=mode, n_draws=50).value

    moved = data.draw(st.permutations(rows))
    renamed = [(one, {"x": "k", "y": "a", "z": "m"}[name]) for one, name in rows]

    assert p(moved) == p(renamed) == p(rows, sign=-1.0) == p(rows)
    assert 0 < p(rows) <= 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"alternative": "both"}, "alternative is 'both'"),
        ({"mode": "quick"}, "mode is 'quick'"),
        ({"n_draws": 0}, "n_draws is 0"),
        ({"clusters": ["x"]}, "1 clusters for 2 items"),
    ],
)
def test_what_is_no_option_is_refused(options, says):
    with pytest.raises(ValueError, match=says):
        sign_flip_test([1.0, 2.0], **options)


def test_an_infinite_difference_is_refused():
    with pytest.raises(ValueError, match="finite"):
        sign_flip_test([1.0, np.inf])


def test_memory_is_bounded_in_the_draws():
    differences = np.random.default_rng(1).normal(size=2_000)
    tracemalloc.start()

    sign_flip_test(differences, n_draws=20_000)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64e6  # all at once would be 320 MB


# Families of tests.


def test_the_running_maximum_lifts_a_p_to_the_one_before():
    """github.com/HomericIntelligence/Scylla/pull/288."""
    assert holm([0.01, 0.011]).adjusted == pytest.approx((0.02, 0.02))


def test_p_of_one_stays_one():
    """github.com/tanghaibao/goatools/issues/281."""
    assert holm([0.25, 1, 1, 1, 1]).adjusted == (1, 1, 1, 1, 1)


def test_five_p_values_with_a_printed_answer():
    assert holm([0.001, 0.032, 0.9, 0.95, 1.0]).adjusted == pytest.approx((0.005, 0.128, 1, 1, 1))


def test_what_was_not_tested_leaves_the_family_and_is_listed():
    found = holm([None, 0.01, None, 0.03])

    assert found.adjusted == (None, pytest.approx(0.02), None, pytest.approx(0.03))
    assert (found.n_tested, found.not_tested) == (2, (0, 2))
    assert benjamini_yekutieli([None, 0.01, None, 0.03]).not_tested == (0, 2)


@pytest.mark.parametrize("adjust", [holm, benjamini_yekutieli])
def test_an_empty_family_is_empty(adjust):
    assert adjust([]).adjusted == ()
    assert adjust([None]).adjusted == (None,)


@pytest.mark.parametrize("adjust", [holm, benjamini_yekutieli])
@pytest.mark.parametrize("wrong", [1.5, -0.1, float("nan"), True, "0.1"])
def test_what_is_no_p_is_refused_by_its_place(adjust, wrong):
    with pytest.raises(ValueError, match="p value 1 is"):
        adjust([0.5, wrong])


p_values = st.lists(st.floats(0, 1).map(lambda p: round(p, 3)), min_size=1, max_size=12)


@settings(max_examples=100, deadline=None)
@given(p=p_values, data=st.data())
def test_families_are_what_statsmodels_and_scipy_say(p, data):
    order = data.draw(st.permutations(range(len(p))))

    assert holm(p).adjusted == pytest.approx(multipletests(p, method="holm")[1], abs=1e-12)
    assert benjamini_yekutieli(p).adjusted == pytest.approx(multipletests(p, method="fdr_by")[1], abs=1e-12)
    assert benjamini_yekutieli(p).adjusted == pytest.approx(false_discovery_control(p, method="by"), abs=1e-12)
    for adjust in (holm, benjamini_yekutieli):
        adjusted = adjust(p).adjusted
        assert adjust([p[i] for i in order]).adjusted == pytest.approx([adjusted[i] for i in order], abs=1e-12)
        assert all(one >= raw - 1e-12 for one, raw in zip(adjusted, p, strict=True))
        assert adjust([None, *p]).adjusted[1:] == adjusted


# By name.

SCORES = [["q0", "A", 1], ["q0", "B", 0], ["q1", "A", 1], ["q1", "B", 0], ["q2", "A", 1], ["q2", "B", None]]


def test_the_unit_of_the_test_is_the_cluster_where_clusters_are_given():
    cluster_of = {"q0": "x", "q1": "x", "q2": "y"}

    by_item = compute("sign_flip_test", SCORES, {"a": "A", "b": "B"})
    by_cluster = compute("sign_flip_test", SCORES, {"a": "A", "b": "B", "cluster_of": cluster_of})

    assert (by_item.value, by_item.left_out, by_item.details["unit"]) == (0.5, {"not_in_both": 1}, "item")
    assert (by_cluster.value, by_cluster.details["unit"], by_cluster.n_clusters) == (1.0, "cluster", 1)


def test_bad_scores_and_params_are_refused_by_name():
    with pytest.raises(UnknownLabel, match="B of item q0 is 'x'"):
        compute("sign_flip_test", [["q0", "A", 1], ["q0", "B", "x"]], {})
    with pytest.raises(DuplicateRating, match="A rated item q0 twice"):
        compute("sign_flip_test", [*SCORES, ["q0", "A", 2]], {})
    with pytest.raises(BadParams, match="cluster_of is missing"):
        compute("sign_flip_test", SCORES, {"unit": "cluster"})
    with pytest.raises(BadParams, match="takes no param sead"):
        compute("sign_flip_test", SCORES, {"sead": 1})


def test_a_comparison_without_a_p_is_listed_as_not_tested():
    rows = [["c1", "p", 0.01], ["c2", "p", None], ["c3", "p", 0.04]]

    tested, untested = (compute("holm", rows, {"comparison": one}) for one in ("c1", "c2"))

    assert (tested.value, tested.n_items, tested.details["not_tested"]) == (pytest.approx(0.02), 2, ("c2",))
    assert (untested.value, untested.reason, untested.flags) == (None, "no_overlap", ("not_tested",))
    assert compute("benjamini_yekutieli", rows, {"comparison": "c3"}).value == pytest.approx(0.06)
    assert compute("holm", [], {"comparison": "c1"}).reason == "empty"
    with pytest.raises(BadParams, match="there are c1, c2, c3"):
        compute("holm", rows, {"comparison": "c9"})
    with pytest.raises(BadParams, match="here it is p"):
        compute("holm", [["c1", "q", 0.1]], {"comparison": "c1"})
    with pytest.raises(BadParams, match="from 0 to 1"):
        compute("holm", [["c1", "p", 1.5]], {"comparison": "c1"})
