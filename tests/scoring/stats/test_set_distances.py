"""Alpha of sets: Jaccard and MASI with exact thirds."""

import numpy as np
import pytest

from scoring.stats import alpha
from scoring.stats.agreement import krippendorff_alpha
from scoring.stats.alpha import set_distances
from scoring.stats.compute import compute
from scoring.stats.ratings import UnknownLabel
from scoring.stats.registry import BadParams

SETS = [frozenset(one) for one in ("", "a", "ab", "bc", "abcd")]


def test_the_distances_of_jaccard_are_what_two_sets_do_not_share_of_their_union():
    assert set_distances(SETS, level="jaccard") == pytest.approx(
        np.array(
            [
                [0, 1, 1, 1, 1],
                [1, 0, 1 / 2, 1, 3 / 4],
                [1, 1 / 2, 0, 2 / 3, 1 / 2],
                [1, 1, 2 / 3, 0, 1 / 2],
                [1, 3 / 4, 1 / 2, 1 / 2, 0],
            ]
        )
    )


def test_the_distances_of_masi_weigh_with_exact_thirds():
    """{a} in {a, b}: J = 1/2, M = 2/3. {a, b} and {b, c}: J = 1/3, M = 1/3. {a, b} in {a, b, c, d}: 1 - 1/2 * 2/3."""
    found = set_distances(SETS, level="masi")

    assert found[1, 2] == pytest.approx(1 - 1 / 3, abs=1e-15)
    assert found[2, 3] == pytest.approx(1 - 1 / 9, abs=1e-15)
    assert found[2, 4] == pytest.approx(0.666667, abs=5e-7)  # a public report: weights .67 and .33 gave 0.665
    assert (found[0, 0], found[0, 1], found[1, 3]) == (0, 1, 1)
    assert np.array_equal(found, found.T)


def test_one_item_of_two_different_sets_is_exactly_zero():  # a public report
    found = compute("krippendorff_alpha", [["i", "a", ["l1"]], ["i", "b", ["l1", "l2"]]], {"level": "masi"})

    assert found.value == pytest.approx(0.0, abs=1e-15)


def test_sets_of_one_label_each_are_nominal_alpha():
    codes = np.array([[0, 0], [0, 1], [1, 1], [2, 2], [2, 1]])
    sets = [frozenset("a"), frozenset("b"), frozenset("c")]
    nominal = krippendorff_alpha(codes, n_categories=3, level="nominal").value

    for level in ("jaccard", "masi"):
        assert krippendorff_alpha(codes, n_categories=3, level=level, sets=sets).value == pytest.approx(nominal)


def test_order_and_repeats_in_a_set_play_no_part_and_an_empty_one_is_a_label():
    data = [["1", "a", ["x", "y"]], ["1", "b", ["y", "x", "x"]], ["2", "a", []], ["2", "b", []], ["3", "a", None]]

    found = compute("krippendorff_alpha", data, {"level": "jaccard"})

    assert (found.value, found.n_items, found.left_out) == (1.0, 2, {"no_rating": 1})


def test_everybody_finding_nothing_is_one_category():
    data = [[item, rater, []] for item in "12" for rater in "ab"]

    found = compute("krippendorff_alpha", data, {"level": "masi"})

    assert (found.value, found.reason, found.details["only"]) == (None, "one_category", [])


@pytest.mark.parametrize(
    ("label", "params", "message"),
    [
        ("xy", {}, "no set .item 2, rater b."),
        ([["x"]], {}, "texts or numbers.*item 2, rater b"),
        (["z"], {"categories": ["x", "y"]}, "Not among the declared categories: 'z' .item 2, rater b."),
        ([1], {"categories": ["1"]}, "Not among the declared"),
    ],
)
def test_what_is_no_set_is_refused_with_item_and_rater(label, params, message):
    data = [["1", "a", ["x"]], ["1", "b", ["x"]], ["2", "b", label]]
    if params.get("categories") == ["1"]:
        data[0][2] = data[1][2] = ["1"]

    with pytest.raises(UnknownLabel, match=message) as refusal:
        compute("krippendorff_alpha", data, {"level": "masi", **params})
    assert (refusal.value.item, refusal.value.rater) == ("2", "b")


def test_the_number_of_different_sets_is_bounded(monkeypatch):
    monkeypatch.setattr(alpha, "MAX_SETS", 3)
    data = [[str(n), rater, [n]] for n in range(4) for rater in "ab"]

    with pytest.raises(BadParams, match="4 different sets, of which at most 3"):
        compute("krippendorff_alpha", data, {"level": "jaccard"})


def test_sets_and_categories_differ_in_number():
    with pytest.raises(ValueError, match="needs sets, the set that each of the 2 categories is"):
        krippendorff_alpha(np.array([[0, 1]]), n_categories=2, level="masi", sets=SETS)
    with pytest.raises(ValueError, match="use nominal, ordinal, interval, matrix, jaccard or masi"):
        krippendorff_alpha(np.array([[0, 1]]), n_categories=2, level="sets")
