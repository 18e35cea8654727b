"""Printed examples of the literature, and the minimal inputs of public bug reports with their right values."""

import numpy as np
import pytest

from scoring.stats.agreement import (
    annotator_vs_majority,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    percent_agreement,
)
from scoring.stats.ratings import DuplicateRating, UnknownLabel, ratings_from_triples
from tests.scoring.stats.tables import FOUR_CODERS, from_confusion, from_counts, from_raters

COHEN_1960 = [[88, 10, 2], [14, 40, 6], [18, 10, 12]]
WINNIPEG = [[38, 5, 0, 1], [33, 11, 3, 0], [10, 14, 5, 6], [3, 7, 3, 10]]
NEW_ORLEANS = [[5, 3, 0, 0], [3, 11, 4, 0], [2, 13, 3, 4], [1, 2, 4, 14]]
ARTSTEIN_POESIO = [[46, 6, 0], [0, 32, 0], [0, 6, 10]]
NEARLY = np.array([[0, 1, 0.5], [1, 0, 0.5], [0.5, 0.5, 0]])
FLEISS_1971 = [
    *([0, 0, 0, 6, 0], [0, 3, 0, 0, 3], [0, 1, 4, 0, 1], [0, 0, 0, 0, 6], [0, 3, 0, 3, 0], [2, 0, 4, 0, 0]),
    *([0, 0, 4, 0, 2], [2, 0, 3, 1, 0], [2, 0, 0, 4, 0], [0, 0, 0, 0, 6], [1, 0, 0, 5, 0], [1, 1, 0, 4, 0]),
    *([0, 3, 3, 0, 0], [1, 0, 0, 5, 0], [0, 2, 0, 3, 1], [0, 0, 5, 0, 1], [3, 0, 0, 1, 2], [5, 1, 0, 0, 0]),
    *([0, 2, 0, 4, 0], [1, 0, 2, 0, 3], [0, 0, 0, 0, 6], [0, 1, 0, 5, 0], [0, 2, 0, 1, 3], [2, 0, 0, 4, 0]),
    *([1, 0, 0, 4, 1], [0, 5, 0, 1, 0], [4, 0, 0, 0, 2], [0, 2, 0, 4, 0], [1, 0, 5, 0, 0], [0, 0, 0, 0, 6]),
]
WIKIPEDIA_FLEISS = [
    *([0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1]),
    *([7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]),
]


def cohen(confusion, **options):
    return cohen_kappa(*from_confusion(confusion).T, n_categories=len(confusion), **options)


def near(value):
    """Printed to ten digits."""
    return pytest.approx(value, abs=6e-11)


@pytest.mark.parametrize(
    ("confusion", "unweighted", "linear", "quadratic"),
    [
        (COHEN_1960, 0.4915254237, 0.4736842105, 0.4545454545),
        (WINNIPEG, 0.2079424640, 0.3797305480, 0.5245764643),
        (NEW_ORLEANS, 0.2965165675, 0.4772727273, 0.6255813953),
    ],
)
def test_printed_kappas_come_out_for_every_weight(confusion, unweighted, linear, quadratic):
    assert cohen(confusion).value == near(unweighted)
    assert cohen(confusion, weights="linear").value == near(linear)
    assert cohen(confusion, weights="quadratic").value == near(quadratic)


@pytest.mark.parametrize(
    ("confusion", "kappa"),
    [
        ([[50, 26, 24], [24, 4, 32], [6, 30, 4]], -0.0923076923),
        ([[20, 20], [10, 50]], 0.3478260870),
        (ARTSTEIN_POESIO, 0.8013245033),
        ([[40, 9], [6, 45]], 0.6995192308),
        ([[80, 10], [5, 5]], 0.3181818182),
        ([[118, 5], [2, 0]], -0.0233918129),
    ],
)
def test_printed_kappas_come_out(confusion, kappa):
    assert cohen(confusion).value == near(kappa)


def test_a_matrix_of_disagreement_gives_cohens_weighted_kappa():
    weights = np.array([[0.0, 1, 3], [1, 0, 6], [3, 6, 0]])

    assert cohen(COHEN_1960, weights="matrix", weight_matrix=weights).value == near(0.3478260870)
    assert cohen(ARTSTEIN_POESIO, weights="matrix", weight_matrix=NEARLY).value == near(0.8163265306)


@pytest.mark.parametrize(
    ("confusion", "pi"),
    [(COHEN_1960, 0.4871794872), ([[20, 20], [10, 50]], 0.3406593407), (ARTSTEIN_POESIO, 0.7995322419)],
)
def test_fleiss_of_two_raters_is_scotts_pi(confusion, pi):
    assert fleiss_kappa(from_confusion(confusion), n_categories=len(confusion)).value == near(pi)


def test_alpha_of_two_raters_comes_out():
    cohen_1960, artstein = from_confusion(COHEN_1960), from_confusion(ARTSTEIN_POESIO)

    assert krippendorff_alpha(cohen_1960, n_categories=3, level="nominal").value == near(0.4884615385)
    weighted = krippendorff_alpha(artstein, n_categories=3, level="matrix", distance_matrix=NEARLY)
    assert weighted.value == near(0.8155509784)


def test_fleiss_1971_and_its_forms_come_out():
    codes = from_counts(FLEISS_1971)

    figure = fleiss_kappa(codes, n_categories=5)

    assert figure.value == near(0.4302445201)
    assert figure.observed == near(0.5555555556)
    for marginals in ("item_mean", "pooled"):
        for singletons in ("include", "drop"):
            same = fleiss_kappa(codes, n_categories=5, marginals=marginals, singletons=singletons)
            assert same.value == pytest.approx(figure.value, abs=1e-14)
    assert krippendorff_alpha(codes, n_categories=5, level="nominal").value == near(0.4334098283)


def test_the_table_of_ten_items_and_fourteen_raters_comes_out():
    codes = from_counts(WIKIPEDIA_FLEISS)

    assert fleiss_kappa(codes, n_categories=5).value == near(0.2099307044)
    assert krippendorff_alpha(codes, n_categories=5, level="nominal").value == near(0.2155740565)


@pytest.mark.parametrize(
    ("a", "b", "alpha"),
    [
        ("0100000010", "1110010000", 0.0952380952),
        ("aabbdcccedda", "babbbccceddd", 0.6919642857),
    ],
)
def test_krippendorffs_examples_a_and_b_come_out(a, b, alpha):
    categories = sorted(set(a + b))
    codes = from_raters(a, b, categories=categories)

    assert krippendorff_alpha(codes, n_categories=len(categories), level="nominal").value == near(alpha)


@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.7434210526), ("ordinal", 0.8153875038), ("interval", 0.8491071429)]
)
def test_krippendorffs_example_c_comes_out_on_every_level(level, alpha):
    assert krippendorff_alpha(FOUR_CODERS, n_categories=5, level=level, values=[1, 2, 3, 4, 5]).value == near(alpha)


@pytest.mark.parametrize(
    ("marginals", "singletons", "kappa"),
    [
        ("item_mean", "include", 0.7611692754),
        ("item_mean", "drop", 0.762483),
        ("pooled", "include", 0.760473),
        ("pooled", "drop", 0.760766),
    ],
)
def test_the_four_forms_of_fleiss_with_gaps_are_four_numbers(marginals, singletons, kappa):
    figure = fleiss_kappa(FOUR_CODERS, n_categories=5, marginals=marginals, singletons=singletons)

    assert figure.value == pytest.approx(kappa, abs=5e-7)
    assert figure.left_out == {"one_rating": 1}
    assert figure.n_items == 11


def test_raw_agreement_by_item_and_by_pair_differ_with_gaps():
    assert percent_agreement(FOUR_CODERS, n_categories=5).value == near(0.8181818182)
    assert percent_agreement(FOUR_CODERS, n_categories=5, weighting="pair").value == near(0.7818181818)


# Public reports: the number is that of the list of reports in which the right values were worked out twice.


@pytest.mark.parametrize("n_raters", [2, 7])
def test_one_category_is_undefined_for_every_chance_correction(n_raters):  # reports 1, 2, 10, 16, 25, 28
    codes = np.zeros((2, n_raters), dtype=int)

    assert cohen_kappa(codes[:, 0], codes[:, 1], n_categories=2).reason == "one_category"
    assert fleiss_kappa(codes, n_categories=2).reason == "one_category"
    assert krippendorff_alpha(codes, n_categories=2, level="nominal").reason == "one_category"


def test_the_lower_bound_of_two_split_items_is_minus_one_half():  # report 3
    assert fleiss_kappa(from_counts([[1, 1, 1], [1, 1, 1]]), n_categories=3).value == pytest.approx(-0.5)


def test_two_items_of_unequal_raters_follow_the_chosen_marginals():  # report 4
    codes = from_counts([[3, 0], [1, 1]])

    assert fleiss_kappa(codes, n_categories=2).value == pytest.approx(-1 / 3)
    assert fleiss_kappa(codes, n_categories=2, marginals="pooled").value == pytest.approx(-0.5625)


def test_a_rater_of_one_category_gives_exactly_zero():  # reports 5, 21
    unweighted = cohen([[60, 29], [0, 0]])
    quadratic = cohen_kappa(np.array([0, 2]), np.array([0, 0]), n_categories=3, weights="quadratic")

    assert (unweighted.value, unweighted.flags) == (0.0, ("rater_constant",))
    assert (quadratic.value, quadratic.flags) == (0.0, ("rater_constant",))


def test_a_rater_of_one_category_gives_exactly_zero_whatever_rounding_says():
    """Without the rule these weights give -2.2e-16."""
    weights = np.array([[0, 0.1, 0.7], [0.1, 0, 0.3], [0.7, 0.3, 0]])

    for n in range(1, 40):
        assert cohen([[n, 3, n + 4], [0, 0, 0], [0, 0, 0]], weights="matrix", weight_matrix=weights).value == 0.0


def test_one_rater_is_a_reason():  # report 7
    assert krippendorff_alpha(np.array([[0], [1]]), n_categories=2, level="nominal").reason == "one_rater"


def test_two_items_crossed_give_minus_one_half():  # report 8
    crossed = from_raters("AB", "BA", categories="AB")

    assert krippendorff_alpha(crossed, n_categories=2, level="nominal").value == pytest.approx(-0.5)


def test_none_is_missing_and_the_text_none_is_a_label():  # report 11
    triples = [(1, "ana", "a"), (1, "ben", "a"), (2, "ana", "b"), (2, "ben", "b"), (3, "ana", None), (3, "ben", "b")]
    as_text = [(item, rater, str(label)) for item, rater, label in triples]

    missing = ratings_from_triples(triples, ["a", "b", "None"]).codes
    text = ratings_from_triples(as_text, ["a", "b", "None"]).codes

    assert krippendorff_alpha(missing, n_categories=3, level="nominal").value == 1.0
    assert krippendorff_alpha(text, n_categories=3, level="nominal").value < 0.6


def test_a_duplicate_never_reaches_a_statistic():  # report 12
    with pytest.raises(DuplicateRating):
        ratings_from_triples([("i", "c1", 1), ("i", "c1", 1), ("i", "c2", 1)], [1, 2])


def test_an_item_with_one_rating_plays_no_part_in_alpha():  # report 13
    codes = from_counts([[1, 1], [1, 2], [1, 0]])

    figure = krippendorff_alpha(codes, n_categories=2, level="nominal")

    assert figure.value == pytest.approx(-1 / 3)
    assert figure.left_out == {"one_rating": 1}


def test_categories_are_ordered_as_declared_and_not_by_alphabet():  # report 17
    codes = from_raters(
        ["low", "low", "med", "med", "high", "high"],
        ["low", "med", "med", "high", "high", "high"],
        categories=["low", "med", "high"],
    )

    assert cohen_kappa(*codes.T, n_categories=3, weights="quadratic").value == pytest.approx(0.75)
    assert krippendorff_alpha(codes, n_categories=3, level="ordinal").value == pytest.approx(0.763558, abs=5e-7)


def test_two_raters_who_differ_once_come_out():  # report 19
    codes = from_raters([0, 0, 0, 1, 0], [0, 1, 0, 1, 0], categories=[0, 1])

    assert fleiss_kappa(codes, n_categories=2).value == pytest.approx(0.523810, abs=5e-7)
    assert krippendorff_alpha(codes, n_categories=2, level="nominal").value == pytest.approx(0.571429, abs=5e-7)


@pytest.mark.parametrize(("level", "alpha"), [("nominal", -0.004260), ("ordinal", -0.008411), ("interval", -0.008403)])
def test_random_ratings_have_no_agreement_on_any_level(level, alpha):  # report 20
    codes = np.random.default_rng(0).integers(0, 5, (2000, 5))

    figure = krippendorff_alpha(codes, n_categories=5, level=level, values=[1, 2, 3, 4, 5])

    assert figure.value == pytest.approx(alpha, abs=5e-7)


def test_a_category_one_rater_never_used_keeps_its_place():  # report 22
    a, b = from_raters([1, 2, 3, 3, 2, 1], [1, 1, 1, 2, 2, 2], categories=[1, 2, 3]).T

    assert cohen_kappa(a, b, n_categories=3, weights="quadratic").value == pytest.approx(0.0, abs=1e-15)


def test_the_kappa_of_eight_items_comes_out():  # report 23, without its weights of items
    a, b = from_raters([4, 4, 3, 4, 2, 4, 1, 1], [4, 4, 3, 4, 4, 2, 1, 1], categories=[1, 2, 3, 4]).T

    assert cohen_kappa(a, b, n_categories=4).value == pytest.approx(0.619048, abs=5e-7)


def test_labels_that_look_alike_to_a_hash_differ():  # report 24
    codes = from_raters(["Aa", "Aa", "BB"], ["BB", "Aa", "BB"], categories=["Aa", "BB"])

    assert krippendorff_alpha(codes, n_categories=2, level="nominal").value == pytest.approx(4 / 9)


def test_raters_who_share_no_item_have_no_agreement_of_any_size():  # reports 26, 27
    codes = from_raters(["x", None], [None, "y"], categories=["x", "y"])

    assert krippendorff_alpha(codes, n_categories=2, level="nominal").reason == "no_overlap"
    assert fleiss_kappa(codes, n_categories=2).reason == "no_overlap"
    assert percent_agreement(codes, n_categories=2).reason == "no_overlap"
    assert cohen_kappa(*codes.T, n_categories=2).reason == "no_overlap"


def test_a_declared_category_nobody_used_leaves_fleiss_as_it_is():  # report 29
    codes = from_counts([[3, 0, 1], [1, 1, 2], [0, 4, 0]])

    assert fleiss_kappa(codes, n_categories=4).value == fleiss_kappa(codes, n_categories=3).value


@pytest.mark.parametrize("order", [["a", "b", "c"], ["c", "b", "a"], ["b", "a", "c"]])
def test_a_tie_has_no_winner_whatever_the_order_of_categories(order):  # report 38
    codes = from_raters("ab", "aa", "bb", ["c", "b"], categories=order)

    figure = annotator_vs_majority(codes, n_categories=3, rater=0)

    assert (figure.value, figure.left_out) == (1.0, {"tie": 1})


def test_the_text_nan_is_a_label():
    triples = [
        (i, rater, label)
        for rater in "AB"
        for i, label in enumerate({"A": ["nan", "a", "b", "a"], "B": ["nan", "a", "b", "b"]}[rater])
    ]

    codes = ratings_from_triples(triples, ["a", "b", "nan"]).codes

    assert krippendorff_alpha(codes, n_categories=3, level="nominal").value == pytest.approx(2 / 3)
    with pytest.raises(UnknownLabel):
        ratings_from_triples(triples, ["a", "b"])


def test_interval_alpha_does_not_suffer_from_a_large_offset():
    small = krippendorff_alpha(FOUR_CODERS, n_categories=5, level="interval", values=[1, 2, 3, 4, 5])
    large = krippendorff_alpha(FOUR_CODERS, n_categories=5, level="interval", values=[1e9 + n for n in range(5)])

    assert large.value == pytest.approx(small.value, abs=1e-12)
