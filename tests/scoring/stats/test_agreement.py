"""Degenerate tables, options and refusals of the five statistics."""

import numpy as np
import pytest

from scoring.stats import alpha as alpha_module
from scoring.stats.agreement import (
    annotator_vs_majority,
    cohen_kappa,
    confusion,
    fleiss_kappa,
    krippendorff_alpha,
    percent_agreement,
)
from scoring.stats.alpha import alpha_of
from scoring.stats.ratings import MISSING
from tests.scoring.stats.metrics import AGAINST_MAJORITY, METRICS
from tests.scoring.stats.tables import FOUR_CODERS, from_counts, from_raters

ALL = METRICS | AGAINST_MAJORITY
_ = None


@pytest.mark.parametrize("metric", ALL.values(), ids=ALL)
@pytest.mark.parametrize(
    ("codes", "reason"),
    [
        (np.zeros((0, 3), dtype=int), "empty"),
        (np.full((4, 3), MISSING), "empty"),
        (np.array([[0, -1, -1], [1, -1, -1]]), "one_rater"),
        (np.array([[0, -1, -1], [-1, 0, -1]]), "no_overlap"),
    ],
)
def test_a_table_without_agreement_says_why(metric, codes, reason):
    figure = metric.make(2).figure(codes)

    assert (figure.value, figure.reason) == (None, reason)


@pytest.mark.parametrize("metric", ALL.values(), ids=ALL)
def test_the_table_is_checked_before_the_categories(metric):
    """One category only, but the first thing to say is that there is one rater."""
    assert metric.make(2).figure(np.array([[0, -1, -1], [0, -1, -1]])).reason == "one_rater"
    assert metric.make(2).figure(np.array([[0, -1, -1], [-1, 0, -1]])).reason == "no_overlap"


def test_a_second_category_on_a_single_rating_counts_where_the_form_counts_it():
    codes = from_counts([[2, 0], [2, 0], [0, 1]])

    alpha = krippendorff_alpha(codes, n_categories=2, level="nominal")
    dropped = fleiss_kappa(codes, n_categories=2, singletons="drop")
    included = fleiss_kappa(codes, n_categories=2)

    assert (alpha.reason, alpha.left_out) == ("one_category", {"one_rating": 1})
    assert (dropped.reason, dropped.left_out) == ("one_category", {"one_rating": 1})
    assert included.value == 1.0


def test_raters_of_one_category_each_have_kappa_zero_or_none():
    different = cohen_kappa(np.array([0, 0, 0]), np.array([1, 1, 1]), n_categories=2)
    same = cohen_kappa(np.array([0, 0, 0]), np.array([0, 0, 0]), n_categories=2)

    assert (different.value, different.observed, different.flags) == (0.0, 0.0, ("rater_constant",))
    assert (same.value, same.reason, same.observed, same.flags) == (None, "one_category", 1.0, ())


def test_raw_agreement_on_one_category_is_one_with_a_warning():
    assert percent_agreement(np.zeros((4, 3), dtype=int), n_categories=2).flags == ("one_category",)
    assert percent_agreement(from_counts([[2, 0], [1, 1]]), n_categories=2).flags == ()


def test_less_agreement_than_chance_is_kept():
    codes = from_raters("abab", "baba", categories="ab")

    assert cohen_kappa(*codes.T, n_categories=2).value == -1.0
    assert fleiss_kappa(codes, n_categories=2).value == -1.0


def test_what_cohen_leaves_out_is_counted():
    codes = from_raters([0, 1, _, _, 1], [0, 1, 0, _, _], categories=[0, 1])

    figure = cohen_kappa(*codes.T, n_categories=2)

    assert (figure.value, figure.n_items, figure.n_ratings) == (1.0, 2, 4)
    assert figure.left_out == {"one_rating": 2, "no_rating": 1}


def test_category_rates_come_from_the_shared_items_only():
    """With the third item's label of rater a in the rates, kappa would be 0.545 and not 0.5 (by hand: 3/4, 1/2)."""
    a, b = from_raters([0, 0, 1, 1, 1], [0, 0, 1, 0, _], categories=[0, 1]).T

    assert cohen_kappa(a, b, n_categories=2).value == pytest.approx(0.5)


def test_complete_only_leaves_out_what_not_everyone_rated():
    codes = from_raters([0, 0, 1, 0], [0, 1, 1, _], [0, 1, 1, 1], categories=[0, 1])

    figure = fleiss_kappa(codes, n_categories=2, complete_only=True)

    assert figure.value == pytest.approx(fleiss_kappa(codes[:3], n_categories=2).value)
    assert (figure.n_items, figure.left_out) == (3, {"incomplete": 1})
    assert fleiss_kappa(codes[3:], n_categories=2, complete_only=True).reason == "no_overlap"


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_our_alpha_equals_that_of_the_package(level, monkeypatch):
    rng = np.random.default_rng(3)
    for _round in range(30):
        q = int(rng.integers(2, 6))
        codes = rng.integers(-1, q, size=(12, 4))
        values = np.cumsum(rng.random(q) + 0.1)
        package = krippendorff_alpha(codes, n_categories=q, level=level, values=values)
        with monkeypatch.context() as patch:
            patch.setattr(alpha_module.krippendorff, "alpha", None)  # not called: ours is
            patch.setattr(alpha_module, "PACKAGE_CELLS", 0)
            ours = krippendorff_alpha(codes, n_categories=q, level=level, values=values)
        assert ours.value == pytest.approx(package.value, abs=1e-12)


def test_the_point_value_of_alpha_is_the_packages(monkeypatch):
    monkeypatch.setattr(alpha_module.krippendorff, "alpha", lambda **options: 0.125)

    assert krippendorff_alpha(FOUR_CODERS, n_categories=5, level="ordinal").value == 0.125
    assert krippendorff_alpha(np.zeros((3, 2), dtype=int), n_categories=5, level="ordinal").reason == "one_category"


# The others of rater 0 say: aab, so a; ab, a tie; abb, so b; a alone; abc, a tie. The last item rater 0 did not rate.
AGAINST = from_raters("aaaaa" + "_", "aaaaaa", "abb_ba", "b_b_ca", categories="abc_")
AGAINST[AGAINST == 3] = MISSING


@pytest.mark.parametrize(
    ("ties", "value", "left_out"),
    [
        ("exclude", 1 / 2, {"not_rated": 1, "few_others": 1, "tie": 2}),
        ("fractional", (1 + 1 / 2 + 0 + 1 / 3) / 4, {"not_rated": 1, "few_others": 1}),
        (("toward", 0), 3 / 4, {"not_rated": 1, "few_others": 1}),
        (("toward", 1), 1 / 4, {"not_rated": 1, "few_others": 1}),
        (("toward", 2), 1 / 3, {"not_rated": 1, "few_others": 1, "tie": 1}),  # c is no mode of the first tie
    ],
)
def test_each_tie_rule_gives_its_share_and_counts_what_it_leaves_out(ties, value, left_out):
    figure = annotator_vs_majority(AGAINST, n_categories=3, rater=0, ties=ties)

    assert figure.value == pytest.approx(value)
    assert figure.left_out == left_out


def test_the_kappa_with_the_majority_is_cohens_of_that_table():
    codes = from_raters("aabbab", "aabbba", "aabbba", "aabbbb", categories="ab")

    figure = annotator_vs_majority(codes, n_categories=2, rater=0, stat="kappa")

    majority, own = from_raters("aabbba", "aabbab", categories="ab").T
    assert figure.value == pytest.approx(cohen_kappa(majority, own, n_categories=2).value)
    assert (figure.n_items, figure.left_out) == (6, {})


def test_two_raters_have_no_majority_to_compare_with():
    codes = from_raters("aab", "aba", categories="ab")

    for stat in ("share", "kappa"):
        figure = annotator_vs_majority(codes, n_categories=2, rater=1, stat=stat)
        assert (figure.reason, figure.left_out) == ("no_comparable_items", {"few_others": 3})


def test_others_who_always_tie_leave_nothing_to_compare():
    codes = from_raters("aa", "ab", "ba", categories="ab")

    figure = annotator_vs_majority(codes, n_categories=2, rater=0)

    assert (figure.reason, figure.left_out) == ("no_comparable_items", {"tie": 2})


def test_a_constant_annotator_has_kappa_zero_with_the_majority():
    codes = from_raters("aaa", "aab", "aab", categories="ab")

    figure = annotator_vs_majority(codes, n_categories=2, rater=0, stat="kappa")

    assert (figure.value, figure.flags) == (0.0, ("rater_constant",))


def test_the_confusion_table_has_every_declared_category():
    a, b = from_raters([0, 0, 2, _], [0, 2, 2, 1], categories=[0, 1, 2]).T

    assert confusion(a, b, n_categories=3).tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 1]]


CODES = np.array([[0, 1, 1], [1, 1, 0]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: percent_agreement(CODES, n_categories=1), r"ratings\[0, 1\] is 1, but n_categories is 1"),
        (lambda: percent_agreement(CODES, n_categories=2, weighting="items"), "weighting is 'items'; use item or pair"),
        (lambda: cohen_kappa(CODES[0], CODES[0, :2], n_categories=2), r"\(3,\) and b has \(2,\)"),
        (lambda: cohen_kappa(CODES[0], CODES[1], n_categories=2, weights="square"), "weights is 'square'"),
        (lambda: cohen_kappa(CODES[0], CODES[1], n_categories=2, weights="matrix"), "needs weight_matrix"),
        (lambda: fleiss_kappa(CODES, n_categories=2, marginals="mean"), "use item_mean or pooled"),
        (lambda: fleiss_kappa(CODES, n_categories=2, singletons="keep"), "use include or drop"),
        (lambda: krippendorff_alpha(CODES, n_categories=2, level="ratio"), "level is 'ratio'"),
        (lambda: krippendorff_alpha(CODES, n_categories=2, level="interval"), "needs values"),
        (lambda: krippendorff_alpha(CODES, n_categories=2, level="interval", values=[1]), "2 finite numbers"),
        (lambda: krippendorff_alpha(CODES, n_categories=2, level="matrix"), "needs distance_matrix"),
        (lambda: annotator_vs_majority(CODES, n_categories=2, rater=3), "rater is 3, but the ratings have 3 columns"),
        (lambda: annotator_vs_majority(CODES, n_categories=2, rater=0, ties="first"), "use exclude or fractional"),
        (lambda: annotator_vs_majority(CODES, n_categories=2, rater=0, ties=("toward", 2)), "a code from 0 to 1"),
        (lambda: annotator_vs_majority(CODES, n_categories=2, rater=0, min_others=0), "at least one other"),
        (lambda: annotator_vs_majority(CODES, n_categories=2, rater=0, stat="f1"), "use share or kappa"),
        (
            lambda: annotator_vs_majority(CODES, n_categories=2, rater=0, stat="kappa", ties="fractional"),
            "a share, not a kappa",
        ),
    ],
)
def test_a_wrong_argument_is_refused_in_words(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1], [2, 0]], "symmetric"),
        ([[0, 0], [0, 0]], "positive elsewhere"),
        ([[1, 1], [1, 0]], "0 on the diagonal"),
        ([[0, np.nan], [np.nan, 0]], "positive elsewhere"),
        ([[0, 1, 2]], "need a square one"),
    ],
)
def test_what_is_no_distance_is_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        alpha_of("matrix", n_categories=2, distance_matrix=np.array(matrix, dtype=float))
