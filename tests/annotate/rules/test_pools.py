"""Which item a pool gives next, by ids, seed and free places alone."""

from dataclasses import replace

import pytest

from annotate.rules.plans import PlannedItem
from annotate.rules.pools import BLOCK_ITEMS, PHASE_SPAN, Candidate, in_blocks, in_order, phase_of, reason_for_none

ASKED = {"seed": 7, "code": "a1", "last_trace": None}


def items(n_traces, n_each=1, phase="main", first=0):
    return [
        PlannedItem(first + trace * 10 + place, first + trace, 2 * place + 1, phase, "en")
        for trace in range(n_traces)
        for place in range(n_each)
    ]


def candidate(item, trace=None, anchor=1, block=2 * PHASE_SPAN + 1, **fields):
    values = {"queue": block, "places": 3, "lapsed": None}
    return Candidate(item, trace or item, anchor, block, **{**values, **fields})


def test_each_item_stands_in_one_block_of_its_phase_and_each_trace_whole():
    pooled = in_blocks([*items(40, 3), *items(4, 2, "practice", 9000)], seed=7, last_blocks={})
    assert len({one.item for one in pooled}) == 40 * 3 + 4 * 2
    assert {phase_of(one.block) for one in pooled if one.trace >= 9000} == {0}
    blocks = {}
    for one in pooled:
        blocks.setdefault(one.trace, set()).add(one.block)
    assert all(len(found) == 1 for found in blocks.values())
    sizes = [sum(one.block == block for one in pooled) for block in {one.block for one in pooled if one.trace < 9000}]
    assert max(sizes) < BLOCK_ITEMS + 3
    assert len(sizes) == 3


def test_the_order_of_the_pool_is_drawn_from_the_seed_and_not_from_the_order_of_import():
    first = in_blocks(items(200), seed=7, last_blocks={})
    assert in_blocks(reversed(items(200)), seed=7, last_blocks={}) == first
    assert in_blocks(items(200), seed=8, last_blocks={}) != first
    assert [one.item for one in first] != sorted(one.item for one in first)


def test_what_comes_later_stands_behind_what_is_there():
    last = max(one.block for one in in_blocks(items(90), seed=7, last_blocks={}))
    later = in_blocks(items(3, first=500), seed=7, last_blocks={2: last})
    assert {one.block for one in later} == {last + 1}


def test_two_people_begin_the_same_block_in_different_orders_and_each_always_in_theirs():
    found = [candidate(item) for item in range(1, 30)]
    ana, ben = (in_order(found, **{**ASKED, "code": code}) for code in ("a1", "a2"))
    assert ana != ben
    assert in_order(found[::-1], **ASKED) == ana
    assert in_order(found, **{**ASKED, "seed": 8}) != ana


def test_the_trace_one_reads_goes_on_before_what_came_back_and_that_before_all_others():
    found = [candidate(item) for item in range(1, 20)]
    came_back = candidate(50, queue=2 * PHASE_SPAN)
    order = in_order([*found, came_back], **{**ASKED, "last_trace": 9})
    assert [one.item for one in order[:2]] == [9, 50]


def test_what_one_had_begun_oneself_comes_before_everything():
    found = [candidate(9), candidate(50, queue=2 * PHASE_SPAN), candidate(70, lapsed=4)]
    assert in_order(found, **{**ASKED, "last_trace": 9})[0].item == 70


def test_of_a_trace_only_the_first_that_is_free_comes():
    found = [candidate(item, trace=1, anchor=anchor) for item, anchor in ((3, 5), (1, 3), (2, 7))]
    assert [one.item for one in in_order(found, **ASKED)] == [1]


def test_of_two_arms_at_one_place_one_comes_by_lot():
    pairs = [[candidate(n, trace=1), candidate(n + 1, trace=1)] for n in range(1, 400, 2)]
    first = [in_order(pair, **ASKED)[0].item % 2 for pair in pairs]
    assert 70 < sum(first) < 130
    assert [in_order(pair[::-1], **ASKED)[0].item % 2 for pair in pairs] == first


def test_an_earlier_phase_comes_first_whatever_else_is_free():
    found = [candidate(1, lapsed=3), candidate(2, block=1)]
    assert [one.item for one in in_order(found, **ASKED)] == [2]
    assert in_order([], **ASKED) == []


@pytest.mark.parametrize(
    ("found", "changed", "reason"),
    [
        ([candidate(1)], {}, ""),
        ([], {}, "nothing_free"),
        ([candidate(1)], {"cap": 5, "n_held": 5}, "cap_reached"),
        ([], {"cap": 5, "n_held": 5}, "cap_reached"),
        ([candidate(1)], {"cap": 5, "n_held": 4}, ""),
        ([candidate(1, block=1)], {"cap": 5, "n_held": 5}, ""),
        ([candidate(1)], {"open_phase": "pilot"}, "phase_not_open"),
        ([candidate(1), candidate(2, block=1)], {"open_phase": "practice"}, ""),
        ([candidate(1), candidate(2, block=1)], {"practice_is_ready": False}, "practice_not_ready"),
        ([candidate(1)], {"practice_is_ready": False}, ""),
    ],
)
def test_why_nothing_is_given(found, changed, reason):
    facts = {"open_phase": "main", "practice_is_ready": True, "cap": None, "n_held": 0}
    assert reason_for_none(found, **{**facts, **changed}) == reason


def test_a_place_that_came_back_is_told_from_one_that_waits():
    waits = candidate(1)
    assert (waits.came_back, replace(waits, queue=2 * PHASE_SPAN).came_back) == (False, True)
