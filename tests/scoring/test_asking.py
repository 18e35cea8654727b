"""When requests go out, how long one that was turned away waits, what a cap leaves, and what a run will take."""

import random
from decimal import Decimal

import pytest

from scoring.asking import (
    LONGEST_RETRY_AFTER,
    LONGEST_WAIT,
    Amount,
    Cap,
    First,
    Pace,
    Prices,
    Usual,
    estimate,
    proposed_cap,
    tokens_of,
    wait_behind,
)

NO_PRICES = Prices(None, None)


def test_waits_double_up_to_a_bound_and_are_spread():
    assert [wait_behind(n, None, 0.0) for n in (1, 2, 3, 4)] == [0.5, 1.0, 2.0, 4.0]
    assert [wait_behind(n, None, 1.0) for n in (1, 2, 3, 4)] == [1.0, 2.0, 4.0, 8.0]
    assert wait_behind(40, None, 1.0) == LONGEST_WAIT
    drawn = {wait_behind(3, None, random.Random(seed).random()) for seed in range(50)}
    assert len(drawn) == 50


@pytest.mark.parametrize(("asked", "waited"), [(7.0, 7.0), (0.0, 0.5), (-3.0, 0.5), (1e9, LONGEST_RETRY_AFTER)])
def test_what_the_endpoint_asks_for_is_honoured_within_a_bound(asked, waited):
    assert wait_behind(1, asked, 0.0) == waited
    assert wait_behind(1, asked, 0.9) >= waited


@pytest.mark.parametrize("per_minute", [1, 2, 10, 60, 61, 600, 6000])
@pytest.mark.parametrize("late", [0.0, 0.1, 0.24])
def test_no_minute_sees_more_than_allowed_however_late_each_goes_out(per_minute, late):
    pace, now, sent, rng = Pace(per_minute, 0.0), 0.0, [], random.Random(7)
    while now < 190:
        now += max(pace.wait(now), 0.0) + late * rng.random()
        pace.went(now)
        sent.append(now)
    first = 0
    for place, at in enumerate(sent):
        while sent[first] <= at - 60:
            first += 1
        assert place - first + 1 <= per_minute
    assert late or len(sent) >= 0.95 * 190 * per_minute / 61


def test_a_driver_that_takes_over_waits_for_its_turn():
    pace = Pace(60, 100.0)
    assert pace.wait(99.0) == pytest.approx(1.0)
    assert pace.wait(100.0) <= 0


def test_when_all_are_turned_away_in_a_row_nobody_knocks_for_a_while():
    pace = Pace(6000, 0.0)
    for _ in range(7):
        pace.turned_away(10.0, 5.0, at_once=8)
    assert pace.wait(10.0) <= 0
    pace.was_let_in()
    for _ in range(8):
        pace.turned_away(10.0, 5.0, at_once=8)
    assert pace.wait(10.0) == pytest.approx(5.0)


def test_prices_are_for_a_million_tokens():
    prices = Prices(Decimal(2), Decimal(10))
    assert prices.cost(1_000_000, 100_000) == 3
    assert prices.cost(None, 5) is NO_PRICES.cost(1, 1) is None
    assert (prices.most(1_000_000), NO_PRICES.most(5)) == (10, 0)


@pytest.mark.parametrize(
    ("cap", "amount", "limit"),
    [
        (Cap(calls=3), Amount(3, 10**9, Decimal(9)), None),
        (Cap(calls=3), Amount(4, 0, Decimal(0)), "calls"),
        (Cap(tokens=10), Amount(1, 11, Decimal(0)), "tokens"),
        (Cap(cost=Decimal("0.1")), Amount(1, 1, Decimal("0.11")), "cost"),
        (Cap(calls=9, cost=Decimal(1)), Amount(9, 0, Decimal(1)), None),
    ],
)
def test_a_cap_names_the_bound_that_would_be_broken(cap, amount, limit):
    assert cap.broken_by(amount) == limit
    assert cap.is_there()
    assert not Cap().is_there()


def test_tokens_are_reckoned_by_script():
    assert tokens_of("") == 0
    assert tokens_of("abcdef") == 2
    assert tokens_of("运行记录") == 4


def test_an_estimate_is_in_proportion_to_the_items_looked_at():
    firsts = [First(100, is_stored=False)] * 3 + [First(500, is_stored=True)]
    made = estimate(n_judgments=400, firsts=firsts, usual=Usual(2.5, 40.0, is_measured=True), prices=NO_PRICES)
    assert (made.n_stored, made.n_calls, made.tokens_in, made.tokens_out) == (100, 750, 75_000, 30_000)
    assert (made.cost, made.n_looked_at, made.tokens) == (None, 4, 105_000)
    assert proposed_cap(made) == 1125


def test_an_estimate_of_what_is_all_recorded_is_nothing():
    firsts = [First(100, is_stored=True)]
    made = estimate(
        n_judgments=9, firsts=firsts, usual=Usual(2, 40, is_measured=False), prices=Prices(Decimal(1), Decimal(1))
    )
    assert (made.n_calls, made.tokens, made.cost, proposed_cap(made)) == (0, 0, 0, 10)
