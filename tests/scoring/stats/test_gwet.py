"""Gwet's AC, Scott's pi and the mean over pairs: worked by hand, in fractions, and where they have no value."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings

from scoring.stats.agreement import cohen_kappa, gwet_ac, mean_pairwise_kappa, percent_agreement, scott_pi
from scoring.stats.ratings import MISSING
from scoring.stats.results import Figure
from tests.scoring.stats.tables import FOUR_CODERS, from_confusion, from_counts, from_raters
from tests.scoring.stats.test_properties import tables
from tests.scoring.stats.test_published import ARTSTEIN_POESIO, COHEN_1960, FLEISS_1971, near

_ = None


@pytest.mark.parametrize(
    ("weights", "value"), [("identity", 0.5759717314), ("linear", 0.6097560976), ("quadratic", 0.6385542169)]
)
def test_the_table_of_cohen_1960_has_printed_coefficients(weights, value):
    assert gwet_ac(from_confusion(COHEN_1960), n_categories=3, weights=weights).value == near(value)


@pytest.mark.parametrize(
    ("confusion", "value"),
    [([[40, 9], [6, 45]], 0.7007481297), ([[80, 10], [5, 5]], 0.808), ([[118, 5], [2, 0]], 0.9407763376)],
)
def test_skewed_tables_bend_ac1_less_than_kappa(confusion, value):
    codes = from_confusion(confusion)

    figure = gwet_ac(codes, n_categories=2)

    assert figure.value == near(value)
    assert figure.value > cohen_kappa(*codes.T, n_categories=2).value


def test_four_raters_with_gaps_come_out():
    assert gwet_ac(FOUR_CODERS, n_categories=5).value == near(0.7754440681)
    assert gwet_ac(FOUR_CODERS, n_categories=5, weights="linear").value == near(0.8587391364)
    assert gwet_ac(FOUR_CODERS, n_categories=5, weights="quadratic").value == near(0.9140007236)
    assert gwet_ac(from_counts(FLEISS_1971), n_categories=5).value == near(0.4478845158)


def test_an_example_worked_by_hand():
    """Items ab, aa and a single b: p_a = 1/2; rates a = (1/2 + 1 + 0) / 3 = 1/2, so p_e = 2 * 1/4 = 1/2; AC1 = 0."""
    figure = gwet_ac(from_counts([[1, 1], [2, 0], [0, 1]]), n_categories=2)

    assert (figure.value, figure.observed, figure.expected) == (0.0, 0.5, 0.5)
    assert (figure.n_items, figure.left_out) == (2, {"one_rating": 1})


def test_another_declared_category_raises_the_value():  # a public report: 0.105960 became 0.231499
    codes = from_counts([[3, 0, 1], [1, 1, 2], [0, 4, 0]])

    assert gwet_ac(codes, n_categories=4).value > gwet_ac(codes, n_categories=3).value


def test_one_category_is_a_value_with_a_flag_where_two_are_declared():
    codes = np.zeros((4, 2), dtype=int)

    two, one = gwet_ac(codes, n_categories=2), gwet_ac(codes, n_categories=1)

    assert (two.value, two.flags) == (1.0, ("one_category",))
    assert (one.value, one.reason) == (None, "one_category")


def test_a_second_category_on_single_ratings_only_leaves_the_value_defined():
    codes = from_raters("xxx", ["x", "x", _], ["x", "x", _], categories="xy")
    codes[2, 0] = 1

    figure = gwet_ac(codes, n_categories=2)

    assert (figure.value, figure.flags, figure.left_out) == (1.0, ("one_category",), {"one_rating": 1})
    assert figure.expected > 0


@pytest.mark.parametrize(
    ("codes", "reason"),
    [
        (np.full((3, 2), MISSING), "empty"),
        (np.array([[0, MISSING], [1, MISSING]]), "one_rater"),
        (np.array([[0, MISSING], [MISSING, 1]]), "no_overlap"),
    ],
)
def test_tables_without_agreement_have_the_reasons_of_all(codes, reason):
    assert gwet_ac(codes, n_categories=2).reason == reason
    assert scott_pi(*codes.T, n_categories=2).reason == reason
    assert mean_pairwise_kappa(codes, n_categories=2, min_common=1).reason == reason


def test_a_matrix_of_agreement_and_one_of_disagreement_are_told_by_their_diagonal():
    codes = from_confusion(COHEN_1960)
    agreement = np.array([[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]])
    linear = gwet_ac(codes, n_categories=3, weights="linear").value

    assert gwet_ac(codes, n_categories=3, weights="matrix", weight_matrix=agreement).value == pytest.approx(linear)
    disagreement = np.array([[0, 3, 6], [3, 0, 3], [6, 3, 0]])
    assert gwet_ac(codes, n_categories=3, weights="matrix", weight_matrix=disagreement).value == pytest.approx(linear)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (None, "needs weight_matrix"),
        ([[1, 0.5], [0.4, 1]], "symmetric"),
        ([[1, -1], [-1, 1]], "from 0 to below 1"),
        ([[1, 1], [1, 1]], "positive elsewhere"),
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], "shape"),
    ],
)
def test_weights_that_are_none_are_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        gwet_ac(
            np.zeros((2, 2), dtype=int),
            n_categories=2,
            weights="matrix",
            weight_matrix=None if matrix is None else np.array(matrix, dtype=float),
        )


@settings(max_examples=150, deadline=None)
@given(table=tables())
def test_gwet_is_what_its_definition_says_in_fractions(table):
    codes, q = table
    said = [[code for code in row if code >= 0] for row in codes.tolist()]
    several, some = [row for row in said if len(row) >= 2], [row for row in said if row]
    for weights, weight in (
        ("identity", lambda a, b: Fraction(a == b)),
        ("quadratic", lambda a, b: 1 - Fraction((a - b) ** 2, (q - 1) ** 2)),
    ):
        figure = gwet_ac(codes, n_categories=q, weights=weights)
        if not several or q == 1:
            assert figure.value is None
            continue
        agreeing = [
            Fraction(sum(weight(a, b) for a, b in permutations(row, 2)), len(row) * (len(row) - 1)) for row in several
        ]
        observed = sum(agreeing) / len(several)
        rates = [sum(Fraction(row.count(code), len(row)) for row in some) / len(some) for code in range(q)]
        total = sum(weight(a, b) for a in range(q) for b in range(q))
        expected = total * sum(rate * (1 - rate) for rate in rates) / (q * (q - 1))
        assert figure.value == pytest.approx(float((observed - expected) / (1 - expected)), abs=1e-12)


@pytest.mark.parametrize(
    ("confusion", "value"),
    [(COHEN_1960, 0.4871794872), ([[20, 20], [10, 50]], 0.3406593407), (ARTSTEIN_POESIO, 0.7995322419)],
)
def test_scotts_pi_is_as_printed(confusion, value):
    assert scott_pi(*from_confusion(confusion).T, n_categories=len(confusion)).value == near(value)


def test_scotts_pi_looks_at_shared_items_only():
    """The last two items have one rating: without them a = aab, b = aba; p_o = 1/3, rates 2/3 and 1/3, p_e = 5/9."""
    a, b = from_raters("aab" + "b", ["a", "b", "a", _], categories="ab").T

    figure = scott_pi(a, b, n_categories=2)

    assert figure.value == pytest.approx((1 / 3 - 5 / 9) / (4 / 9))
    assert (figure.n_items, figure.left_out) == (3, {"one_rating": 1})


def test_scotts_pi_of_one_category_has_no_value():
    assert scott_pi(np.zeros(3, dtype=int), np.zeros(3, dtype=int), n_categories=2).reason == "one_category"


def test_the_mean_over_pairs_is_the_mean_of_their_kappas():
    codes = from_raters("aabbab", "aabbba", "ababab", categories="ab")
    pairs = [cohen_kappa(codes[:, i], codes[:, j], n_categories=2).value for i, j in ((0, 1), (0, 2), (1, 2))]

    figure = mean_pairwise_kappa(codes, n_categories=2, min_common=6)

    assert figure.value == pytest.approx(np.mean(pairs))
    assert (figure.n_items, figure.n_raters) == (6, 3)


def test_pairs_with_few_common_items_or_no_kappa_are_counted_and_left_out():
    codes = from_raters("aabbab", "aabbba", ["a", "a", _, _, _, _], categories="ab")

    figure = mean_pairwise_kappa(codes, n_categories=2, min_common=2)

    assert figure.value == cohen_kappa(codes[:, 0], codes[:, 1], n_categories=2).value
    assert figure.left_out == {"undefined": 2}
    assert mean_pairwise_kappa(codes, n_categories=2, min_common=3).left_out == {"few_common_items": 2}
    assert mean_pairwise_kappa(codes, n_categories=2, min_common=7).reason == "few_common_items"
    assert mean_pairwise_kappa(np.zeros((9, 3), dtype=int), n_categories=2, min_common=2).reason == "one_category"


def test_every_figure_counts_what_it_used():
    for figure in (
        gwet_ac(FOUR_CODERS, n_categories=5),
        percent_agreement(FOUR_CODERS, n_categories=5),
    ):
        assert isinstance(figure, Figure)
        assert (figure.n_items, figure.n_ratings, figure.n_raters, figure.left_out) == (11, 40, 4, {"one_rating": 1})
