"""The shares of a change against the mean over all 24 orders in fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.stats.answers import Drawing
from scoring.stats.compute import compute
from scoring.stats.registry import BadParams
from scoring.stats.shapley import FACTORS, Stages, factor_statistics, shapley_acc, shapley_statistics, shares_of_change
from scoring.stats.sums import with_intervals
from tests.scoring.stats.tables import reference_cases

CASES = [case for case in reference_cases() if case["metric"] == "shapley_acc"]
BEFORE = {"p": 0.6, "s": 0.5, "c": 0.9, "u": 0.05}
AFTER = {"p": 0.8, "s": 0.75, "c": 0.8, "u": 0.02}


def over_all_orders(before, after):
    total = dict.fromkeys(FACTORS, Fraction(0))
    for order in permutations(FACTORS):
        now = dict(before)
        for factor in order:
            was = now["p"] * now["s"] * now["c"] + now["u"]
            now[factor] = after[factor]
            total[factor] += now["p"] * now["s"] * now["c"] + now["u"] - was
    return {factor: share / 24 for factor, share in total.items()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_reference_case_comes_out_as_expected(case):
    found = compute(case["metric"], case["data"], case["params"])

    assert found.value == pytest.approx(case["expected"], abs=case["tolerance"])


def test_the_case_is_run():
    assert [case["id"][:3] for case in CASES] == ["O32"]


hundredths = st.fixed_dictionaries({factor: st.integers(0, 100).map(lambda n: Fraction(n, 100)) for factor in FACTORS})


@settings(max_examples=100, deadline=None)
@given(before=hundredths, after=hundredths)
def test_shares_are_the_mean_over_all_orders(before, after):
    wanted = over_all_orders(before, after)

    found = shapley_acc({k: float(v) for k, v in before.items()}, {k: float(v) for k, v in after.items()})

    for factor in FACTORS:
        assert found.shares[factor].value == pytest.approx(float(wanted[factor]), abs=1e-12)
    assert sum(one.value for one in found.shares.values()) == pytest.approx(found.change.value, abs=1e-12)
    assert found.change.value == pytest.approx(float(sum(wanted.values())), abs=1e-12)


@pytest.mark.parametrize(
    ("before", "after", "shares"),
    [
        ((0.8, 0.95, 0.95), (0.8, 0.9, 0.85), (0, -0.036, -0.074)),
        ((0.7, 0.9, 0.9), (0.8, 0.8, 0.75), (0.07025, -0.06175, -0.0955)),
    ],
)
def test_worked_examples(before, after, shares):
    found = shapley_acc(
        dict(zip("psc", before, strict=True)) | {"u": 0.1}, dict(zip("psc", after, strict=True)) | {"u": 0.1}
    )

    assert [found.shares[factor].value for factor in "psc"] == pytest.approx(shares, abs=1e-12)
    assert found.shares["u"].value == 0


def test_a_factor_that_was_not_observed_leaves_all_four_undefined():
    found = shapley_acc(BEFORE | {"p": 0.0, "s": None, "c": None}, AFTER)

    assert {one.reason for one in found.shares.values()} == {"factor_undefined"}
    assert found.change.value == pytest.approx(0.8 * 0.75 * 0.8 + 0.02 - 0.05)  # nothing built, so the product is 0
    assert found.borrowed == ()


def test_a_borrowed_factor_is_assigned_nothing_and_flagged():
    found = shapley_acc(BEFORE | {"p": 0.0, "s": None, "c": None}, AFTER, missing="borrow")

    assert found.borrowed == ("s", "c")
    assert (found.shares["s"].value, found.shares["c"].value) == (0, 0)
    assert found.shares["p"].value == pytest.approx(0.8 * 0.75 * 0.8)
    assert {one.flags for one in found.shares.values()} == {("factor_borrowed",)}
    assert sum(one.value for one in found.shares.values()) == pytest.approx(found.change.value)


def test_a_factor_absent_in_both_arms_is_undefined_even_with_borrowing():
    found = shapley_acc(BEFORE | {"c": None}, AFTER | {"c": None}, missing="borrow")

    assert {(one.value, one.reason, one.flags) for one in found.shares.values()} == {(None, "factor_undefined", ())}
    assert found.change.reason == "factor_undefined"
    assert shapley_acc({}, {}).shares["p"].reason == "empty"


def test_what_is_no_factor_is_refused_by_name():
    with pytest.raises(ValueError, match="s before is 1"):
        shapley_acc(BEFORE | {"s": 1.5}, AFTER)
    with pytest.raises(ValueError, match="u after is nan"):
        shapley_acc(BEFORE, AFTER | {"u": float("nan")})
    with pytest.raises(ValueError, match="before has 'q'"):
        shapley_acc(BEFORE | {"q": 0.1}, AFTER)
    with pytest.raises(ValueError, match="undefined or borrow"):
        shapley_acc(BEFORE, AFTER, missing="zero")


def test_many_rows_at_once_are_the_rows_one_by_one():
    rows = np.random.default_rng(3).random((50, 2, 4))

    together = shares_of_change(rows[:, 0], rows[:, 1])

    for row, shares in zip(rows, together, strict=True):
        alone = shapley_acc(*(dict(zip(FACTORS, arm.tolist(), strict=True)) for arm in row))
        assert [alone.shares[factor].value for factor in FACTORS] == pytest.approx(shares, abs=1e-14)
    assert np.isnan(shares_of_change(np.array([[np.nan, 1, 1, 1]]), np.ones((1, 4)))).all()


# Of items.


def runs(n_items, seed):
    """One run an item: built, exposed, closed, correct."""
    rng = np.random.default_rng(seed)
    built = rng.random(n_items) < 0.8
    exposed = built & (rng.random(n_items) < 0.7)
    closed = exposed & (rng.random(n_items) < 0.8)
    return built, exposed, closed, closed | (~exposed & (rng.random(n_items) < 0.2))


def of_counts(before, after, *, missing="undefined"):
    """The shares from rates counted by hand."""

    def factors(arm):
        built, exposed, closed, correct = (one.sum() for one in arm)
        n = len(arm[0])
        return {
            "p": built / n,
            "s": exposed / built if built else None,
            "c": closed / exposed if exposed else None,
            "u": (correct - closed) / n,
        }

    return shapley_acc(factors(before), factors(after), missing=missing)


def test_the_shares_of_items_are_those_of_their_rates():
    before, after = runs(40, 1), runs(40, 2)
    wanted = of_counts(before, after)

    found = {name: one.figure() for name, one in shapley_statistics(Stages.of(*before), Stages.of(*after)).items()}

    for factor in FACTORS:
        assert found[factor].value == pytest.approx(wanted.shares[factor].value, abs=1e-12)
    assert found["change"].value == pytest.approx(after[3].mean() - before[3].mean(), abs=1e-12)
    rates = {name: one.figure().value for name, one in factor_statistics(Stages.of(*before)).items()}
    assert rates["p"] * rates["s"] * rates["c"] + rates["u"] == pytest.approx(before[3].mean(), abs=1e-12)


@pytest.mark.parametrize("missing", ["undefined", "borrow"])
def test_both_arms_are_resampled_together(missing):
    before, after = runs(5, 4), runs(5, 5)
    statistics = shapley_statistics(Stages.of(*before), Stages.of(*after), missing=missing)

    (found,) = with_intervals([statistics["p"]], None, Drawing(unit="item", seed=1))

    values = []
    for drawn in product(range(5), repeat=5):
        items = list(drawn)
        share = of_counts([one[items] for one in before], [one[items] for one in after], missing=missing).shares["p"]
        values.append(share.value)
    defined = [value for value in values if value is not None]
    assert found.share_undefined == pytest.approx(1 - len(defined) / 5**5)
    if found.share_undefined <= 0.05:
        bounds = tuple(np.quantile(defined, [0.025, 0.975]))
        assert (found.interval.low, found.interval.high) == pytest.approx(bounds, abs=1e-12)


def test_an_arm_where_nothing_was_built_borrows_or_is_undefined():
    nothing = np.zeros(10, dtype=bool)
    before, after = Stages.of(nothing, nothing, nothing, nothing), Stages.of(*runs(10, 7))

    undefined = shapley_statistics(before, after)["s"].figure()
    borrowed = shapley_statistics(before, after, missing="borrow")["s"].figure()

    assert (undefined.value, undefined.reason, undefined.flags) == (None, "factor_undefined", ())
    assert (borrowed.value, borrowed.flags) == (0.0, ("factor_borrowed",))
    assert factor_statistics(before)["s"].figure().reason == "factor_undefined"
    assert factor_statistics(before)["p"].figure().value == 0.0


def test_items_with_runs_in_one_arm_only_are_left_out():
    after = [np.where([True] * 9 + [False], one, np.nan) for one in runs(10, 7)]

    found = shapley_statistics(Stages.of(*runs(10, 6)), Stages.of(*after))["change"].figure()

    assert (found.n_items, found.left_out) == (9, {"not_in_both": 1})


def test_stages_that_cannot_be_are_refused_by_the_item():
    with pytest.raises(ValueError, match="Item 1 is not exposed at most as often as built"):
        Stages.of([1, 0], [1, 1], [0, 0], [0, 0])
    with pytest.raises(ValueError, match="Item 0 is not closed at most as often as correct"):
        Stages.of([1, 0], [1, 0], [1, 0], [0, 0])
    with pytest.raises(ValueError, match="one share for each item"):
        Stages.of([1, 0], [1], [1, 0], [0, 0])


# By name.


def test_the_total_and_what_was_borrowed_stand_beside_the_share():
    rows = [[factor, arm, value] for arm, of in (("before", BEFORE), ("after", AFTER)) for factor, value in of.items()]
    rows = [row for row in rows if row != ["c", "before", 0.9]]

    undefined = compute("shapley_acc", rows, {"factor": "p"})
    borrowed = compute("shapley_acc", rows, {"factor": "p", "missing": "borrow"})

    assert undefined.reason == "factor_undefined"
    assert (borrowed.flags, borrowed.details["borrowed"]) == (("factor_borrowed",), ("c",))
    assert set(borrowed.details["shares"]) == set(FACTORS)
    with pytest.raises(BadParams, match="p, s, c, u, or change"):
        compute("shapley_acc", rows, {"factor": "x"})
    with pytest.raises(BadParams, match="before or after"):
        compute("shapley_acc", [["p", "between", 0.1]], {"factor": "p"})
    with pytest.raises(BadParams, match="p before is 2"):
        compute("shapley_acc", [["p", "before", 2]], {"factor": "p"})
