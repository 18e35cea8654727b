"""What must hold of every statistic, on any table."""

import json
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.stats.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha
from scoring.stats.ratings import MISSING
from scoring.stats.results import FLAGS, LEFT_OUT, REASONS, plain
from tests.scoring.stats.metrics import AGAINST_MAJORITY, METRICS

ALL = METRICS | AGAINST_MAJORITY


@st.composite
def tables(draw, min_items=0, min_raters=2, complete=False):
    """(codes, n_categories) with gaps, few categories and few items, so that degenerate tables are common."""
    q = draw(st.integers(1, 4))
    n, r = draw(st.integers(min_items, 8)), draw(st.integers(min_raters, 5))
    code = st.integers(0 if complete else MISSING, q - 1)
    rows = draw(st.lists(st.lists(code, min_size=r, max_size=r), min_size=n, max_size=n))
    return np.array(rows, dtype=np.int64).reshape(n, r), q


def same(one, other):
    """Equal up to rounding, with the same reason and the same counts."""
    assert one.reason == other.reason
    assert one.value == (None if other.value is None else pytest.approx(other.value, abs=1e-12))
    assert (one.n_items, one.n_ratings, one.n_raters, one.left_out, one.flags) == (
        other.n_items,
        other.n_ratings,
        other.n_raters,
        other.left_out,
        other.flags,
    )


@pytest.mark.parametrize("metric", ALL.values(), ids=ALL)
@settings(max_examples=20, deadline=None)
@given(table=tables())
def test_an_undefined_value_is_a_reason_and_never_nan(metric, table):
    codes, q = table

    figure = metric.make(q).figure(codes)

    json.dumps(plain(figure), allow_nan=False)
    assert (figure.value is None) == (figure.reason in REASONS)
    assert set(figure.flags) <= set(FLAGS)
    assert set(figure.left_out) <= set(LEFT_OUT)
    assert sum(figure.left_out.values()) + figure.n_items == len(codes)
    if figure.value is not None:
        assert figure.value <= 1 + 1e-12
        assert figure.n_items > 0
        assert figure.n_raters >= 2


@pytest.mark.parametrize("metric", ALL.values(), ids=ALL)
@settings(max_examples=20, deadline=None)
@given(table=tables())
def test_the_first_feature_says_which_items_are_compared(metric, table):
    codes, q = table
    statistic = metric.make(q)

    compared = statistic.features(codes)[:, 0]

    assert set(compared.tolist()) <= {0.0, 1.0}
    assert compared.sum() == statistic.figure(codes).n_items


@pytest.mark.parametrize("metric", ALL.values(), ids=ALL)
@settings(max_examples=20, deadline=None)
@given(table=tables(), data=st.data())
def test_the_order_of_items_plays_no_part(metric, table, data):
    codes, q = table
    order = data.draw(st.permutations(range(len(codes))))

    same(metric.make(q).figure(codes[list(order)]), metric.make(q).figure(codes))


@pytest.mark.parametrize("metric", [one for one in ALL.values() if one.nameless])
@settings(max_examples=20, deadline=None)
@given(table=tables(), data=st.data())
def test_the_names_of_categories_play_no_part(metric, table, data):
    codes, q = table
    renamed = np.array(data.draw(st.permutations(range(q))) if not metric.ordered else range(q)[::-1])
    statistic = metric.make(q)
    if getattr(statistic, "ties", None) == ("toward", 0):
        renamed = np.array([0, *(1 + np.array(data.draw(st.permutations(range(q - 1)))))], dtype=int)

    same(statistic.figure(np.where(codes < 0, MISSING, renamed[codes])), statistic.figure(codes))


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
@settings(max_examples=20, deadline=None)
@given(table=tables(), data=st.data())
def test_the_names_of_raters_play_no_part(metric, table, data):
    codes, q = table
    order = data.draw(st.permutations(range(codes.shape[1])) if metric.raters_alike else st.just([1, 0]))

    same(metric.make(q).figure(codes[:, list(order)]), metric.make(q).figure(codes))


@pytest.mark.parametrize("metric", AGAINST_MAJORITY.values(), ids=AGAINST_MAJORITY)
@settings(max_examples=20, deadline=None)
@given(table=tables(), data=st.data())
def test_the_names_of_the_others_play_no_part(metric, table, data):
    codes, q = table
    order = [0, *data.draw(st.permutations(range(1, codes.shape[1])))]

    same(metric.make(q).figure(codes[:, order]), metric.make(q).figure(codes))


@pytest.mark.parametrize("metric", ALL.values(), ids=ALL)
@pytest.mark.parametrize("n_raters", [3, 4, 7])
def test_full_agreement_on_two_categories_is_exactly_one(metric, n_raters):
    codes = np.repeat(np.array([[0], [2], [2], [0], [1], [1], [1]]), n_raters, axis=1)

    assert metric.make(4).figure(codes).value == 1.0


@pytest.mark.parametrize("metric", ALL.values(), ids=ALL)
def test_full_agreement_on_one_category_is_raw_agreement_of_one_and_mostly_no_chance_correction(metric):
    figure = metric.make(3).figure(np.full((6, 3), 1))

    assert figure.value == metric.one_category
    assert figure.reason == (None if metric.one_category else "one_category")
    assert figure.observed == 1.0


@pytest.mark.parametrize("metric", [one for one in ALL.values() if one.corrects_chance])
@settings(max_examples=20, deadline=None)
@given(table=tables(min_items=2))
def test_the_value_is_observed_beyond_expected_agreement(metric, table):
    codes, q = table

    figure = metric.make(q).figure(codes)

    if figure.value is not None:
        assert figure.observed - figure.expected == pytest.approx(figure.value * (1 - figure.expected), abs=1e-9)


@settings(max_examples=150, deadline=None)
@given(table=tables())
def test_cohen_is_what_its_definition_says_in_fractions(table):
    codes, q = table
    pairs = [(a, b) for a, b in codes[:, :2].tolist() if a >= 0 and b >= 0]

    figure = cohen_kappa(*codes[:, :2].T, n_categories=q)

    n = len(pairs)
    chance = sum(a == b for a, _ in pairs for _, b in pairs)
    if figure.value is None:
        assert n == 0 or chance == n * n
    else:
        observed = Fraction(sum(a == b for a, b in pairs), n)
        expected = Fraction(chance, n * n)
        assert figure.value == pytest.approx(float((observed - expected) / (1 - expected)), abs=1e-12)


@settings(max_examples=150, deadline=None)
@given(table=tables())
def test_fleiss_is_what_its_definition_says_in_fractions(table):
    codes, q = table
    said = [[code for code in row if code >= 0] for row in codes.tolist()]
    several, some = [row for row in said if len(row) >= 2], [row for row in said if row]

    figure = fleiss_kappa(codes, n_categories=q)

    if not several or len({code for row in some for code in row}) == 1:
        assert figure.value is None
        return
    agreeing = [Fraction(sum(a == b for a, b in permutations(row, 2)), len(row) * (len(row) - 1)) for row in several]
    observed = sum(agreeing) / len(several)
    rates = [sum(Fraction(row.count(code), len(row)) for row in some) / len(some) for code in range(q)]
    expected = sum(rate * rate for rate in rates)
    assert figure.value == pytest.approx(float((observed - expected) / (1 - expected)), abs=1e-12)


@settings(max_examples=150, deadline=None)
@given(table=tables())
def test_nominal_and_interval_alpha_are_what_their_definition_says_in_fractions(table):
    codes, q = table
    several = [row for row in ([c for c in row if c >= 0] for row in codes.tolist()) if len(row) >= 2]
    pairable = [code for row in several for code in row]

    for level, distance in (("nominal", lambda a, b: a != b), ("interval", lambda a, b: (a - b) ** 2)):
        figure = krippendorff_alpha(codes, n_categories=q, level=level, values=range(q))
        if len(set(pairable)) < 2:
            assert figure.value is None
            continue
        seen = sum(Fraction(sum(distance(a, b) for a, b in permutations(row, 2)), len(row) - 1) for row in several)
        by_chance = Fraction(sum(distance(a, b) for a, b in permutations(pairable, 2)), len(pairable) - 1)
        assert figure.value == pytest.approx(float(1 - seen / by_chance), abs=1e-12)
