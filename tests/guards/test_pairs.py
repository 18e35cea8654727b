"""Every two values of every two axes meet, in few combinations, which are the same every time."""

from itertools import combinations, product

import pytest

from tests.guards.pairs import Pairs

SIZES = [(2, 2, 2), (8, 25, 7, 4, 2, 29), (1, 1, 3), (5,), (), (3, 1, 9, 2)]


def pairs_in(rows, sizes):
    return {(a, b, row[a], row[b]) for row in rows for a, b in combinations(range(len(sizes)), 2)}


def every_pair(sizes):
    return pairs_in(product(*map(range, sizes)), sizes)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_every_two_values_meet(sizes):
    assert pairs_in(Pairs(sizes).rest(), sizes) == every_pair(sizes)


@pytest.mark.parametrize(
    ("sizes", "most"), [((8, 25, 7, 4, 2, 29), 25 * 29), ((3, 1, 9, 2), 27), ((2, 2, 2), 4), ((5, 5, 5), 30)]
)
def test_they_are_few(sizes, most):
    assert len(list(Pairs(sizes).rest())) <= most


def test_what_is_begun_stands_and_counts():
    sizes = (2, 4, 3)
    pairs = Pairs(sizes)
    begun = [pairs.fill(choices) for choices in (((1,), None, (0, 2)), ((0,), (3,), None), ((1,), None, (2,)))]
    assert (begun[0][0], begun[1][:2], begun[2][::2]) == (1, (0, 3), (1, 2))
    assert begun[0][2] in (0, 2)
    rest = list(pairs.rest())
    assert pairs_in([*begun, *rest], sizes) == every_pair(sizes)
    assert pairs_in(rest, sizes) != every_pair(sizes)


def test_they_are_the_same_every_time_and_each_once():
    first, again = (list(Pairs((4, 6, 5, 3)).rest()) for _ in range(2))
    assert first == again
    assert len(set(first)) == len(first)
