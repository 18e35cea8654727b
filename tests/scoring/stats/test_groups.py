"""Groups of steps and triplets against sets and multisets in fractions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.stats.alpha import set_distances
from scoring.stats.answers import Drawing
from scoring.stats.compute import compute
from scoring.stats.groups import group_agreement, triplet, triplet_agreement
from scoring.stats.ratings import UnknownLabel
from scoring.stats.results import LEFT_OUT, REASONS
from scoring.stats.sums import with_intervals
from tests.scoring.stats.tables import reference_cases

CASES = [case for case in reference_cases() if case["metric"] == "group_set_agreement"]
REFERENCE = [[["s1", "s2", "s3"], ["s4", "s5", "s6"]], [["s1", "s2", "s9"]], [], [["s5", "s6", "s7"]], []]
PREDICTED = [
    [["s3", "s2", "s1"], ["s4", "s5", "s7"]],
    [["s1", "s2", "s9"], ["s1", "s2", "s9"]],
    [["s2", "s3", "s4"]],
    [],
    [],
]


def value(reference, predicted, **options):
    return group_agreement(reference, predicted, **options).figure().value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_reference_case_comes_out_as_expected(case):
    found = compute(case["metric"], case["data"], case["params"])

    assert found.value == pytest.approx(case["expected"], abs=case["tolerance"])


def test_all_the_cases_are_run():
    assert {case["id"][:3] for case in CASES} == {"O26", "O27"}


def test_every_statistic_worked_by_hand():
    # common: 1 of 2 and 2, 1 of 1 and 1 (the repeat counts once), 0 of 0 and 1, 0 of 1 and 0; both empty left out
    assert value(REFERENCE, PREDICTED, stat="precision") == pytest.approx(2 / 4)
    assert value(REFERENCE, PREDICTED, stat="recall") == pytest.approx(2 / 4)
    assert value(REFERENCE, PREDICTED, stat="jaccard") == pytest.approx(2 / 6)
    assert value(REFERENCE, PREDICTED, stat="f1", aggregate="macro") == pytest.approx((1 / 2 + 1 + 0 + 0) / 4)
    assert value(REFERENCE, PREDICTED, stat="jaccard", aggregate="macro") == pytest.approx((1 / 3 + 1 + 0 + 0) / 4)
    assert value(REFERENCE, PREDICTED, stat="precision", aggregate="macro") == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert value(REFERENCE, PREDICTED, stat="recall", aggregate="macro") == pytest.approx((1 / 2 + 1 + 0) / 3)


def test_items_where_both_found_nothing_are_counted_and_match_as_sets():
    f1, exact = (group_agreement(REFERENCE, PREDICTED, stat=stat).figure() for stat in ("f1", "exact"))

    assert (f1.n_items, f1.left_out) == (4, {"both_empty": 1})
    assert (exact.n_items, exact.left_out, exact.value) == (5, {}, 2 / 5)


def test_a_mean_over_items_says_which_it_could_not_read():
    precision, recall = (
        group_agreement(REFERENCE, PREDICTED, stat=stat, aggregate="macro").figure() for stat in ("precision", "recall")
    )

    assert precision.left_out == {"both_empty": 1, "predicted_empty": 1}
    assert recall.left_out == {"both_empty": 1, "reference_empty": 1}


def test_a_multiset_counts_a_repeat_each_time():
    assert value([[["a"], ["a"], ["b"]]], [[["a"], ["a"], ["a"]]], repeats="each") == pytest.approx(2 * 2 / 6)
    assert value([[["a"], ["a"], ["b"]]], [[["a"], ["a"], ["a"]]], repeats="once") == pytest.approx(2 * 1 / 3)
    assert value([[["a"], ["a"]]], [[["a"]]], repeats="each", stat="exact") == 0.0


def test_order_within_counts_only_where_it_is_asked_for():
    assert value([[["a", "b"]]], [[["b", "a"]]]) == 1.0
    assert value([[["a", "b"]]], [[["b", "a"]]], ordered_within=True) == 0.0
    assert value([[["a", "a", "b"]]], [[["a", "b"]]]) == 0.0  # a member twice is another group
    assert value([[["a", "b"], ["b", "a"]]], [[["a", "b"]]], stat="recall", ordered_within=True) == 0.5


def test_one_and_its_text_and_true_are_three_steps():
    assert value([[[1]]], [[["1"]]]) == 0.0
    assert value([[[1]]], [[[True]]]) == 0.0
    assert value([[[[1, 2], "DUP"]]], [[[[1, 2], "DUP"]]], ordered_within=True) == 1.0


@pytest.mark.parametrize(
    ("reference", "predicted", "expected"),
    [
        ([], [], {"f1": "empty", "jaccard": "empty", "exact": "empty"}),
        ([[["a"]]], [None], {"f1": "one_rater"}),
        ([[["a"]], None], [None, [["a"]]], {"f1": "no_overlap"}),
        ([[]], [[]], {"f1": "both_empty", "jaccard": "both_empty", "precision": "both_empty", "exact": 1.0}),
        ([[]], [[["a"]]], {"f1": 0.0, "jaccard": 0.0, "precision": 0.0, "recall": "reference_empty"}),
        ([[["a"]]], [[]], {"f1": 0.0, "jaccard": 0.0, "precision": "predicted_empty", "recall": 0.0}),
    ],
)
@pytest.mark.parametrize("aggregate", ["micro", "macro"])
def test_degenerate_tables(reference, predicted, expected, aggregate):
    for stat, wanted in expected.items():
        found = group_agreement(reference, predicted, stat=stat, aggregate=aggregate).figure()

        assert (found.value if found.reason is None else found.reason) == wanted, stat


@pytest.mark.parametrize(
    ("predicted", "f1", "recall"), [([["a"]], 0.0, "reference_empty"), ([], "both_empty", "both_empty")]
)
def test_a_reference_without_anything_divides_by_nothing(predicted, f1, recall):
    """github.com/chakki-works/seqeval/issues/60: ZeroDivisionError there."""
    for stat, wanted in (("f1", f1), ("recall", recall)):
        found = group_agreement([[]], [predicted], stat=stat).figure()

        assert (found.value if found.reason is None else found.reason) == wanted


def test_masi_has_thirds_and_not_their_two_digits():
    """github.com/nltk/nltk/issues/3361: 0.665 there."""
    distances = set_distances([frozenset({1, 2}), frozenset({1, 2, 3, 4})], level="masi")

    assert distances[0, 1] == pytest.approx(2 / 3, abs=1e-12)


# Triplets.


def test_a_triplet_is_in_normal_form_whatever_the_order_of_its_pairs():
    assert triplet([4, 3], "DUP", [5, 4, 9, 2]) == triplet([3, 4], "DUP", [2, 9, 4, 5])
    assert triplet([3, 4], "DUP", [2, 9, 4, 5]).evidence == (2, 9, 4, 5)
    assert triplet([3, 4], "ABN", [-1]).evidence == (-1,)
    with pytest.raises(ValueError, match="whole pairs"):
        triplet([3, 4], "DUP", [1, 2, 3])


def test_triplets_match_by_step_by_type_too_or_by_evidence_as_well():
    reference = [[triplet([1, 2], "DUP", [0, 3]), triplet([5, 6], "INC", [-1])]]
    predicted = [[triplet([2, 1], "DUP", [0, 4]), triplet([5, 6], "EXP", [-1]), triplet([7, 8], "DUP", [1])]]

    found = {
        by: triplet_agreement(reference, predicted, by=by, stat="recall").figure().value
        for by in ("step", "step_type", "triplet")
    }

    assert found == {"step": 1.0, "step_type": 0.5, "triplet": 0.0}
    assert triplet_agreement(reference, predicted, by="step", stat="precision").figure().value == pytest.approx(2 / 3)


# In fractions.

groups = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=2), max_size=4)
sides = st.lists(st.tuples(st.none() | groups, st.none() | groups), max_size=6)


@settings(max_examples=150, deadline=None)
@given(sides=sides, ordered=st.booleans(), repeats=st.sampled_from(["once", "each"]))
def test_groups_are_what_sets_and_multisets_say(sides, ordered, repeats):
    def counted(side):
        keys = [tuple(group) if ordered else tuple(sorted(group)) for group in side]
        return Counter(keys) if repeats == "each" else Counter(set(keys))

    pairs = [(counted(a), counted(b)) for a, b in sides if a is not None and b is not None]

    def wanted(stat, pairs):
        right = sum((a & b).total() for a, b in pairs)
        n_a, n_b = sum(a.total() for a, _ in pairs), sum(b.total() for _, b in pairs)
        above, below = {
            "precision": (right, n_b),
            "recall": (right, n_a),
            "f1": (2 * right, n_a + n_b),
            "jaccard": (right, n_a + n_b - right),
        }[stat]
        return Fraction(above, below) if below else None

    one, other = [a for a, _ in sides], [b for _, b in sides]
    for stat in ("precision", "recall", "f1", "jaccard"):
        micro = wanted(stat, pairs)
        of_items = [item for pair in pairs if (item := wanted(stat, [pair])) is not None]
        options = {"ordered_within": ordered, "repeats": repeats, "stat": stat}

        figure = group_agreement(one, other, **options).figure()
        macro = value(one, other, **options, aggregate="macro")

        assert figure.value == (None if micro is None else pytest.approx(float(micro), abs=1e-12))
        assert macro == (pytest.approx(float(sum(of_items) / len(of_items)), abs=1e-12) if of_items else None)
        assert figure.reason in (None, *REASONS)
        assert set(figure.left_out) <= set(LEFT_OUT)
        assert sum(figure.left_out.values()) + figure.n_items == len(sides)


@settings(max_examples=50, deadline=None)
@given(sides=sides, data=st.data())
def test_order_of_items_and_names_of_steps_play_no_part(sides, data):
    order = data.draw(st.permutations(range(len(sides))))
    renamed = dict(zip("abc", data.draw(st.permutations("abc")), strict=True))

    def changed(side):
        moved = [side[i] for i in order]
        return [None if one is None else [[renamed[step] for step in group] for group in one] for one in moved]

    one, other = [a for a, _ in sides], [b for _, b in sides]
    for stat in ("f1", "jaccard", "exact"):
        for aggregate in ("micro", "macro"):
            before = value(one, other, stat=stat, aggregate=aggregate)
            after = value(changed(one), changed(other), stat=stat, aggregate=aggregate)
            assert after == (None if before is None else pytest.approx(before, abs=1e-12))


def test_two_statistics_share_the_draw_of_a_report():
    reference = [[["a"], ["b"]] for _ in range(30)]
    predicted = [[["a"]] if i % 3 else [["a"], ["c"]] for i in range(30)]
    clusters = [i // 4 for i in range(30)]
    drawing = Drawing(unit="run", seed=5, n_resamples=400)
    f1, exact = group_agreement(reference, predicted), group_agreement(reference, predicted, stat="exact")

    together = with_intervals([f1, exact], clusters, drawing)

    assert together[0] == with_intervals([f1], clusters, drawing)[0]
    assert together[0].flags == ("few_clusters",)


# By name.


def test_a_group_that_is_none_is_refused_with_item_and_rater():
    for wrong in ("s1", ["s1"], [{"a": 1}], [[{"a": 1}]], 3):
        with pytest.raises(UnknownLabel, match="B on item t1") as refused:
            compute("group_set_agreement", [["t1", "A", [["s1"]]], ["t1", "B", wrong]], {})
        assert (refused.value.item, refused.value.rater) == ("t1", "B")
