"""Which items are shown without suggestions."""

from annotate.rules.left_off import is_left_off


def left_off(percent, seed=7, n=2000):
    return {k for k in range(n) if is_left_off(percent, seed=seed, format="sightline", source_id=f"run {k}")}


def test_none_at_nothing_and_all_at_a_hundred():
    assert left_off(0) == set()
    assert len(left_off(100)) == 2000


def test_about_the_share_and_the_same_for_the_same_seed():
    """2,000 draws of a fifth have a standard deviation of 18."""
    assert abs(len(left_off(20)) - 400) < 72
    assert left_off(20) == left_off(20)
    assert left_off(20) != left_off(20, seed=8)


def test_a_larger_share_holds_the_smaller_one():
    assert left_off(10) < left_off(20) < left_off(60)
