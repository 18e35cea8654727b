"""Numbers allotted by largest remainders add up, are fair, and never more than there is."""

import random

import pytest

from annotate.rules.remainders import allotted


@pytest.mark.parametrize(
    ("sizes", "n", "expected"),
    [
        ({"a": 50, "b": 50}, 10, {"a": 5, "b": 5}),
        ({"a": 2, "b": 1}, 2, {"a": 1, "b": 1}),  # 1.33 and 0.67: the larger remainder gets what is left
        ({"a": 47, "b": 16, "c": 15, "d": 22}, 10, {"a": 5, "b": 2, "c": 1, "d": 2}),
        ({"a": 3, "b": 3}, 1, {"a": 1, "b": 0}),  # equal: the one that stands first
        ({"a": 3, "b": 5}, 1, {"a": 0, "b": 1}),
        ({"a": 3}, 100, {"a": 3}),
        ({"a": 3, "b": 0}, 2, {"a": 2, "b": 0}),
        ({"a": 3}, 0, {"a": 0}),
        ({}, 5, {}),
    ],
)
def test_shares_are_rounded_by_largest_remainder(sizes, n, expected):
    assert allotted(sizes, n) == expected


def test_any_allotment_adds_up_and_is_less_than_one_from_its_share():
    draw = random.Random(3)
    for _ in range(500):
        sizes = {place: draw.randrange(60) for place in range(draw.randrange(1, 9))}
        whole = sum(sizes.values())
        n = draw.randrange(whole + 1)
        found = allotted(sizes, n)
        assert sum(found.values()) == n
        for key, size in sizes.items():
            assert found[key] <= size
            assert whole == 0 or abs(found[key] - size * n / whole) < 1


def test_negative_numbers_are_no_numbers_of_things():
    for sizes, n in (({"a": 1}, -1), ({"a": -1}, 0)):
        with pytest.raises(ValueError, match="at least 0"):
            allotted(sizes, n)
