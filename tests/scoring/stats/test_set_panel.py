"""Sets that several people name, pair by pair."""

import time

import numpy as np
import pytest

from scoring.stats.answers import Drawing
from scoring.stats.groups import group_agreement
from scoring.stats.results import plain, restored
from scoring.stats.set_panel import SetAgreement, SetQuestion, set_agreements

DRAWING = Drawing(unit="task", seed=3, n_resamples=500)
A = [{"x", "y"}, {"x"}, set(), {"z"}, None]
B = [{"x"}, {"x"}, set(), set(), {"x"}]
C = [{"y"}, {"x", "w"}, {"q"}, None, None]


def agreement(named, clusters=None, stat="f1"):
    (found,) = set_agreements([SetQuestion(named, stat)], clusters, DRAWING)
    return found


def test_pairs_worked_by_hand():
    """A and B: of 4 and 2 named both named 2, F1 4/6. A and C on the first three: 3 and 4, both 2, F1 4/7. B and C: 2
    and 4, both 1, F1 2/6. Equal sets: A and B on 2 of 4 items, A and C on none of 3, B and C on none of 3."""
    found = agreement({"a": A, "b": B, "c": C})
    assert [(one.first, one.second) for one in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    f1s = [4 / 6, 4 / 7, 2 / 6]
    assert [one.agreement.value for one in found.pairs] == pytest.approx(f1s)
    assert found.mean.value == pytest.approx(sum(f1s) / 3)
    assert (found.n_both_empty, found.n_items, found.n_raters) == (1, 5, 3)
    exact = agreement({"a": A, "b": B, "c": C}, stat="exact")
    assert [one.agreement.value for one in exact.pairs] == [0.5, 0.0, 0.0]
    assert exact.mean.value == pytest.approx(1 / 6)


def test_pairs_without_a_value_are_no_part_of_the_mean_and_say_why():
    found = agreement({"a": [{1}, None, set()], "b": [{1}, None, set()], "c": [None, {1}, None]})
    assert [one.agreement.reason for one in found.pairs] == [None, "no_overlap", "no_overlap"]
    assert found.mean.value == 1.0
    assert agreement({"a": [{1}]}).mean.reason == "one_rater"
    assert agreement({}).mean.reason == "one_rater"
    assert agreement({"a": [set()], "b": [set()]}).mean.reason == "both_empty"
    assert agreement({"a": [set()], "b": [set()]}, stat="exact").mean.value == 1.0


def test_the_same_as_groups_of_steps_and_whatever_the_order_of_raters():
    one, other = ([[[step] for step in sorted(sets)] if sets is not None else None for sets in side] for side in (A, C))
    expected = group_agreement(one, other).figure().value
    assert agreement({"a": A, "c": C}).pairs[0].agreement.value == pytest.approx(expected)
    assert agreement({"c": C, "a": A}).pairs[0].agreement.value == pytest.approx(expected)


def test_intervals_come_from_one_draw_of_clusters_and_the_report_is_restored():
    rng = np.random.default_rng(1)
    named = {rater: [set(rng.integers(0, 6, 3).tolist()) for _ in range(60)] for rater in "abc"}
    clusters = [item // 3 for item in range(60)]
    found = agreement(named, clusters)
    assert found.mean.interval.low < found.mean.value < found.mean.interval.high
    assert found.mean.n_clusters == 20
    assert plain(restored(SetAgreement, plain(found))) == plain(found) == plain(agreement(named, clusters))


def test_questions_that_share_a_draw_are_answered_as_if_asked_alone():
    named = {"a": A, "b": B, "c": C}
    together = set_agreements([SetQuestion(named, "f1"), SetQuestion(named, "exact")], None, DRAWING)
    assert together == [agreement(named), agreement(named, stat="exact")]
    assert set_agreements([], None, DRAWING) == []


def test_five_questions_of_three_raters_and_ten_thousand_items_with_ten_thousand_draws_take_two_seconds_at_most():
    rng = np.random.default_rng(2)
    named = {rater: [frozenset(row) for row in rng.integers(0, 12, (10_000, 3)).tolist()] for rater in "abc"}
    questions = [SetQuestion(named, "f1")] * 4 + [SetQuestion(named, "exact")]
    begun = time.process_time()
    set_agreements(questions, [item // 4 for item in range(10_000)], Drawing(unit="task", seed=3))
    assert time.process_time() - begun < 2
