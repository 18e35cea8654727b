"""Overlapping subsets as promises over any material."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.rules.subsets import Candidate, Drawn, TooFew, draw, in_proportion

THREE = {"a1": ["en", "zh"], "a2": ["en", "zh"], "a3": ["en", "zh"]}


def traces(**sizes):
    """So many traces of each area, mixed."""
    areas = [area for area, n in sizes.items() for _ in range(n)]
    return [Candidate(100 + place, area, "en") for place, area in enumerate(sorted(areas, key=hash_of(areas)))]


def hash_of(areas):
    order = {id(area): place for place, area in enumerate(areas)}
    return lambda area: (order[id(area)] * 7919) % 1009


def drawn(candidates, n_common=40, n_unique=52, readers=THREE, seed=7):
    return draw(candidates, readers=readers, n_common=n_common, n_unique=n_unique, seed=seed)


def test_forty_for_all_and_fifty_two_for_each_of_196():
    """Of 98, 58 and 40 traces 40 are 20, 11.8 and 8.2: the remainder goes to the second."""
    there = traces(airline=98, retail=58, telecom=40)
    found = drawn(there)
    every = [*found.common, *(trace for own in found.unique.values() for trace in own)]
    assert (len(found.common), {code: len(own) for code, own in found.unique.items()}) == (40, dict.fromkeys(THREE, 52))
    assert sorted(every) == [one.trace for one in there]
    areas = {one.trace: one.area for one in there}
    assert Counter(areas[trace] for trace in found.common) == {"airline": 20, "retail": 12, "telecom": 8}


def test_the_seed_decides_and_the_order_in_which_traces_are_given_does_not():
    there = traces(airline=98, retail=58, telecom=40)
    assert drawn(there) == drawn(there[::-1])
    assert drawn(there) != drawn(there, seed=8)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 60), min_size=1), st.data())
def test_shares_add_up_and_none_is_further_than_one_from_its_proportion(sizes, data):
    areas = [area for area, size in sizes.items() for _ in range(size)]
    candidates = [Candidate(place, area, "") for place, area in enumerate(areas)]
    n = data.draw(st.integers(0, len(candidates)))
    shares = in_proportion(candidates, n)
    assert sum(shares.values()) == n
    assert all(abs(shares[area] - n * size / len(candidates)) < 1 for area, size in sizes.items())
    assert all(shares[area] <= size for area, size in sizes.items())


def test_too_few_traces_are_a_count_and_not_less_than_was_asked():
    assert drawn(traces(airline=39)) == TooFew(40, 39)
    assert drawn(traces(airline=195)) == TooFew(52, 51, "a3")


def test_nobody_is_given_what_they_do_not_read():
    there = [Candidate(place, "a", "zh" if place < 10 else "en") for place in range(30)]
    readers = {"a1": ["en", "zh"], "a2": ["en"]}
    found = drawn(there, 10, 10, readers)
    assert isinstance(found, Drawn)
    assert set(found.common) <= set(range(10, 30))
    assert set(found.unique["a2"]) <= set(range(10, 30))
    assert drawn(there, 21, 0, readers) == TooFew(21, 20)
