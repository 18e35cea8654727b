"""Numbers as they are printed, matched on decimal text."""

import json
import time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.values.numbers import NUMBER, OTHER_NOTATIONS, cut, matching, number, occurrences, other_notation, rounded
from tests.scoring.values.reference import RUNS

CASES = json.loads((RUNS / "matching.json").read_text("utf-8"))
KEYS = (
    *("7.078", "1", "10", "1.0e+01", "-4.44e-3", "0.44", "5", "0.1"),
    *("100", "-1", "99.5", "1e2", "15", "0.0", "2.430D-03"),
)


def read_whole(key, text):
    """Every number of a text read and compared, without a look at which can match."""
    for found in NUMBER.finditer(text):
        printed = number(found.group())
        precision = matching(key, printed) if printed else None
        if precision:
            yield found.start(), found.group(), precision


def read(key, text):
    return [(one.start, one.text, one.precision) for one in occurrences(number(key), text)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['key']} in {case['text']}")
def test_reference_cases(case):
    assert ([precision for _, _, precision in read(case["key"], case["text"])] or [None]) == [case["match"]]


@pytest.mark.parametrize(
    ("key", "printed", "match"),
    [
        ("7.124", "7.1235", "more_digits"),
        ("7.124", "7.12", None),
        ("0.0015", "1.5e-3", "report"),
        ("1.5e-3", "0.0015", "report"),
        ("-0.5", "-0.45", "more_digits"),
        ("-0.5", "0.5", None),
        ("0.3", "0.30000000000000004", "more_digits"),
        ("2.68", "2.675", "more_digits"),
        ("1e10000", "1", None),
    ],
)
def test_a_printed_number_matches_at_the_last_digit_of_the_key(key, printed, match):
    assert matching(number(key), number(printed)) == match


def test_numbers_are_read_from_the_left():
    assert read("7.078", "17.078 1-7.078 .7.078 e7.078") == [(23, "7.078", "report")]
    assert read("-7.078", "17.078 1-7.078") == [(8, "-7.078", "report")]
    assert read("0.44", "x=.4376") == [(2, ".4376", "more_digits")]


@settings(max_examples=600, deadline=None)
@given(st.sampled_from(KEYS), st.text("0123456789.+-eED \n", max_size=24))
def test_the_quick_search_finds_what_reading_every_number_finds(key, text):
    assert read(key, text) == list(read_whole(number(key), text))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(KEYS), st.integers(0, 10**6), st.integers(0, 6), st.sampled_from(["", "0", "00", "-", "+", "3"]))
def test_no_number_near_the_key_is_missed(key, digits, places, before):
    wanted = number(key)
    near = wanted.value + Decimal(digits - 500_000).scaleb(wanted.exponent - places)
    text = f"a {before}{near} b {before}{near:e}"
    assert read(key, text) == list(read_whole(wanted, text))


@pytest.mark.parametrize("unit", ["7.078-", "7078", "7078e", "7.078 ", "0", "7.0.7.8."])
def test_a_text_made_to_be_hard_is_read_in_linear_time(unit):
    began = time.perf_counter()
    list(occurrences(number("7.078"), unit * (800_000 // len(unit))))
    assert time.perf_counter() - began < 5


def test_rounding_is_half_away_from_zero_and_cutting_is_towards_it():
    assert rounded(Decimal("-7.0785"), -3) == Decimal("-7.079")
    assert cut(Decimal("-7.0789"), -3) == Decimal("-7.078")
    assert rounded(Decimal("1" * 60 + ".5"), 0) == Decimal("1" * 59 + "2")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1,838", "thousands"),
        ("1'838.5", "thousands"),
        ("7,078", "thousands"),
        ("7,08", "decimal_comma"),
        ("−4.4", "minus_sign"),
        ("1.5×10-3", "power_of_ten"),
        ("1.5 x 10^-3", "power_of_ten"),
        ("45%", "percent"),
        ("3/4", "fraction"),
        ("７", "foreign_digits"),
        ("", "empty"),
        ("nan", "no_number"),
        ("Infinity", "no_number"),
        ("0x1F", "no_number"),
        ("1" * 2_000, "out_of_range"),
        ("1e99999999999999999999", "out_of_range"),
    ],
)
def test_a_value_in_another_notation_is_named(text, code):
    assert other_notation(text) == code
    assert code in OTHER_NOTATIONS


@pytest.mark.parametrize("text", ["7.078", "7.", ".5", "-1.5E-3", "+2D+04"])
def test_what_simulators_print_is_read(text):
    assert other_notation(text) is None
