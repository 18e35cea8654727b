import numpy as np
import pytest

from scoring.stats.ratings import (
    MISSING,
    DuplicateRating,
    Ratings,
    RatingsError,
    UnknownLabel,
    check_codes,
    ratings_from_triples,
)


def test_records_become_a_matrix_in_the_order_of_their_first_record():
    triples = [("i2", "ben", "b"), ("i1", "ana", "a"), ("i2", "ana", "a"), ("i1", "ben", None)]

    ratings = ratings_from_triples(triples, ["a", "b"])

    assert ratings.items == ("i2", "i1")
    assert ratings.raters == ("ben", "ana")
    assert ratings.codes.tolist() == [[1, 0], [MISSING, 0]]


def test_a_second_label_of_one_rater_is_refused_and_named():
    with pytest.raises(DuplicateRating, match="bob rated item 7 twice") as refusal:
        ratings_from_triples([(7, "bob", "a"), (7, "ana", "a"), (7, "bob", "b")], ["a", "b"])

    assert (refusal.value.code, refusal.value.item, refusal.value.rater) == ("duplicate_rating", 7, "bob")


def test_a_label_beside_no_label_is_no_duplicate():
    ratings = ratings_from_triples([(7, "bob", None), (7, "bob", "b"), (7, "bob", None)], ["a", "b"])

    assert ratings.codes.tolist() == [[1]]


def test_a_duplicate_is_reported_before_an_unknown_label():
    triples = [(1, "ana", "zebra"), (1, "bob", "a"), (1, "bob", "a")]

    with pytest.raises(DuplicateRating):
        ratings_from_triples(triples, ["a"])
    with pytest.raises(UnknownLabel):
        ratings_from_triples(triples[:2], ["a"])


def test_every_unknown_label_is_listed_once():
    triples = [(1, "ana", "x"), (2, "ana", "a"), (3, "ana", 1), (4, "ana", "x"), (5, "ana", ["a"])]

    with pytest.raises(UnknownLabel) as refusal:
        ratings_from_triples(triples, ["a", "b"])

    assert "'x', 1, ['a']" in str(refusal.value)
    assert "Declared are 'a', 'b'" in str(refusal.value)
    assert (refusal.value.code, refusal.value.item, refusal.value.rater) == ("unknown_label", 1, "ana")
    assert isinstance(refusal.value, RatingsError)


@pytest.mark.parametrize("label", ["1", True, 1.0])
def test_a_label_of_another_type_is_unknown(label):
    with pytest.raises(UnknownLabel):
        ratings_from_triples([("i", "ana", label)], [1, 2])


def test_one_and_true_and_the_text_one_are_three_categories():
    ratings = ratings_from_triples([("i", "ana", True), ("j", "ana", "1"), ("k", "ana", 1)], [1, "1", True])

    assert ratings.codes.ravel().tolist() == [2, 1, 0]


def test_items_that_python_calls_equal_are_two_items():
    ratings = ratings_from_triples([(1, "ana", "a"), (True, "ana", "a"), ("1", "ana", "a")], ["a"])

    assert len(ratings.items) == 3


@pytest.mark.parametrize("label", ["nan", "None", "NA", "", "null"])
def test_texts_that_look_like_nothing_are_labels(label):
    ratings = ratings_from_triples([("i", "ana", label), ("j", "ana", None)], ["ok", label])

    assert ratings.codes.ravel().tolist() == [1, MISSING]


def test_a_category_declared_twice_is_refused():
    with pytest.raises(ValueError, match="'a' is declared twice"):
        ratings_from_triples([], ["a", "b", "a"])


def test_a_code_out_of_range_is_named_with_its_place():
    codes = np.zeros((8, 3), dtype=int)
    codes[7, 2] = 5

    with pytest.raises(
        ValueError, match=r"ratings\[7, 2\] is 5, but n_categories is 4. Codes run from 0 to 3; use MISSING"
    ):
        check_codes(codes, n_categories=4)
    codes[7, 2] = MISSING
    check_codes(codes, n_categories=4)


@pytest.mark.parametrize("codes", [np.zeros((2, 2)), np.zeros(3, dtype=int), np.zeros((2, 2), dtype=bool)])
def test_only_an_integer_matrix_is_a_table_of_codes(codes):
    with pytest.raises(ValueError, match="integer matrix"):
        check_codes(codes, n_categories=2)


def test_a_matrix_that_does_not_fit_its_items_is_refused():
    with pytest.raises(ValueError, match="there are 1 items and 2 raters"):
        Ratings(items=("i",), raters=("ana", "ben"), categories=("a",), codes=np.zeros((2, 2), dtype=int))
