"""Figures in words: rounded as the sources print them, or the reason why there is none."""

import pytest
from django.utils import translation

from annotate.kinds.base import Measure
from annotate.kinds.reply.measures import measures
from scoring import words
from scoring.comparing import CLUSTER, ITEM
from scoring.stats.results import FLAGS, INTERVAL_REASONS, LEFT_OUT, REASONS, Figure, Interval

FAIL, LABEL, _ = measures({})


def figure(value=0.5, reason=None, **fields):
    return Figure(value=value, reason=reason, n_items=10, n_ratings=20, n_raters=2, **fields)


def interval(low, high):
    return Interval(low, high, 0.95, "item", 10, 100, 1, 0.0, "drawn")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.82, "0.82"), (0.599901, "0.60"), (1.0, "1.00"), (0.0, "0.00"), (-0.125, "−0.13"), (0.125, "0.13"),
        (0.005, "0.01"), (0.995, "1.00"), (2 / 3, "0.67"), (0.285, "0.29"), (0.1 + 0.2 - 0.175, "0.13"), (None, "–"),
    ],
)  # fmt: skip
def test_values_are_rounded_half_away_from_zero(value, text):
    assert words.shown(value) == text


def test_digits_can_be_asked_for():
    assert words.shown(0.599901, 4) == "0.5999"
    assert words.shown(12.5, 0) == "13"


def test_a_value_that_rounds_to_zero_has_no_sign():
    assert words.shown(-0.001) == "0.00"


def test_a_value_or_the_reason():
    assert words.value_words(figure(0.41)) == "0.41"
    assert words.value_words(figure(None, "empty")) == "No ratings yet."
    assert "no variation" in words.value_words(figure(None, "one_category"))


def test_an_interval_or_why_there_is_none():
    assert words.interval_words(figure(interval=interval(0.41, 0.78))) == "0.41 to 0.78"
    assert words.interval_words(figure(interval=interval(-0.2, 0.78))) == "−0.20 to 0.78"
    assert words.interval_words(figure(interval_reason="too_few_clusters")) == "too few clusters for an interval"
    assert words.interval_words(figure(None, "empty", interval_reason="empty")) == ""
    assert words.interval_words(figure()) == ""


def test_notes_hold_flags_and_what_was_left_out():
    noted = figure(flags=("few_clusters", "rater_constant"), left_out={"tie": 3, "few_others": 0, "not_rated": 2})
    assert words.notes(noted) == (
        "few clusters: likely too narrow; one rater used one category only; items whose others tie: 3; "
        "items this rater did not rate: 2"
    )
    assert words.notes(figure()) == ""


def test_there_are_words_for_everything_a_statistic_may_say():
    assert words.REASONS.keys() == {*REASONS, *INTERVAL_REASONS}
    assert words.FLAGS.keys() == set(FLAGS)
    assert words.LEFT_OUT.keys() == set(LEFT_OUT)
    for reason in INTERVAL_REASONS:
        assert words.interval_words(figure(interval_reason=reason))


def test_categories_and_tie_rules_are_told_by_their_titles():
    assert words.category_words("fail", FAIL) == "fails"
    assert words.category_words("needs_information", LABEL) == "needs information"
    assert words.rule_words("exclude", FAIL) == "left out"
    assert words.rule_words("fractional", FAIL) == "counted in parts"
    assert words.rule_words("toward:pass", FAIL) == "counted as “passes”"


def test_without_a_measure_a_category_is_its_own_word_and_a_scale_needs_no_texts():
    assert words.category_words("yes", None) == "yes"
    assert words.rule_words("toward:yes", None) == "counted as “yes”"
    scale = Measure("ease", "Ease", "interval", (1, 2), ("hard", "easy"), rate=len)
    assert words.category_words(2, scale) == "easy"
    assert words.rule_words("toward:1", scale) == "counted as “hard”"


def test_a_unit_of_ours_is_translated_and_the_name_of_a_column_is_not():
    with translation.override("zh-hans"):
        assert words.unit_words(ITEM) == "条目"
        assert words.unit_words(CLUSTER) == "协作或重复任务"
        assert words.unit_words("lead") == "lead"


def test_nothing_breaks_in_chinese():
    with translation.override("zh-hans"):
        for reason in REASONS:
            assert words.value_words(figure(None, reason))
        assert "0.41" in words.interval_words(figure(interval=interval(0.41, 0.78)))
