"""Spans by sets of characters, the published and degenerate cases, and what several raters marked together."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.stats.answers import Drawing
from scoring.stats.compute import compute
from scoring.stats.ratings import DuplicateRating, UnknownLabel
from scoring.stats.registry import BadParams
from scoring.stats.results import LEFT_OUT, REASONS
from scoring.stats.spans import BadSpan, MarkedTogether, checked_spans, marked_together, overlaps, span_agreement
from scoring.stats.sums import with_intervals
from tests.scoring.stats.tables import reference_cases

CASES = [case for case in reference_cases() if case["metric"] == "span_f1"]
FOUR = [  # the spans of O24: two partly equal, one of another label, one where both found nothing, one of A alone
    ([[0, 5, "P"], [10, 20, "Q"]], [[0, 6, "P"], [12, 20, "Q"]]),
    ([[3, 9, "P"]], [[3, 9, "Q"]]),
    ([], []),
    ([[0, 4, "P"]], []),
    ([[1, 2, "P"]], None),
]
A, B = [one for one, _ in FOUR], [other for _, other in FOUR]


def value(reference, predicted, **options):
    return span_agreement(reference, predicted, **options).figure().value


def reason(reference, predicted, **options):
    return span_agreement(reference, predicted, **options).figure().reason


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_reference_case_comes_out_as_expected(case):
    found = compute(case["metric"], case["data"], case["params"])

    assert found.value == pytest.approx(case["expected"], abs=case["tolerance"])
    assert (found.n_items, found.n_ratings, found.n_raters) == (3, 6, 2)
    assert found.left_out == {"one_rating": 1, "both_empty": 1}


def test_all_the_cases_are_run():
    assert {case["id"][:3] for case in CASES} == {"O24", "O25"}


def test_characters_worked_by_hand():
    # d1: P 5 and 6, common 5; Q 10 and 8, common 8. d2: 6 and 6, none common. d4: 4 and 0.
    assert value(A, B) == pytest.approx(2 * 13 / (25 + 20))
    assert value(A, B, stat="precision") == pytest.approx(13 / 20)
    assert value(A, B, stat="recall") == pytest.approx(13 / 25)
    assert value(A, B, stat="jaccard") == pytest.approx(13 / (25 + 20 - 13))
    assert value(A, B, match_label=False) == pytest.approx(2 * 19 / (25 + 20))


def test_the_mean_over_items_leaves_out_items_without_a_value_of_it():
    precision = span_agreement(A, B, stat="precision", aggregate="macro").figure()
    recall = span_agreement(A, B, stat="recall", aggregate="macro").figure()

    assert precision.value == pytest.approx((13 / 14 + 0) / 2)
    assert precision.left_out == {"one_rating": 1, "both_empty": 1, "predicted_empty": 1}
    assert recall.value == pytest.approx((13 / 15 + 0 + 0) / 3)
    assert recall.left_out == {"one_rating": 1, "both_empty": 1}


def test_whole_spans_are_equal_in_start_end_and_label():
    one = [[[0, 5, "P"], [7, 9, "P"], [7, 9, "P"]], [[0, 2, "P"]]]
    other = [[[0, 5, "P"], [7, 9, "Q"]], [[0, 3, "P"]]]

    assert value(one, other, unit="exact") == pytest.approx(2 * 1 / (3 + 3))
    assert value(one, other, unit="exact", match_label=False) == pytest.approx(2 * 2 / (3 + 3))


def test_one_common_character_is_an_overlap_and_touching_is_none():
    one, other = [[[0, 5], [10, 12], [20, 30]]], [[[4, 6], [12, 14], [21, 22], [23, 24]]]

    # of four predicted [4, 6), [21, 22) and [23, 24) share a character; of three [0, 5) and [20, 30) are found
    assert value(one, other, unit="overlap", stat="precision") == pytest.approx(3 / 4)
    assert value(one, other, unit="overlap", stat="recall") == pytest.approx(2 / 3)
    assert value(one, other, unit="overlap") == pytest.approx(2 * (3 / 4) * (2 / 3) / (3 / 4 + 2 / 3))


@pytest.mark.parametrize("unit", ["character", "exact", "overlap"])
def test_two_who_marked_other_places_have_a_defined_zero(unit):
    assert value([[[0, 5, "P"]]], [[[5, 9, "P"]]], unit=unit) == 0.0


@pytest.mark.parametrize("unit", ["character", "exact", "overlap"])
def test_a_span_of_no_length_holds_nothing(unit):
    found = span_agreement([[[3, 3, "P"]]], [[]], unit=unit).figure()

    assert (found.value, found.reason, found.left_out) == (None, "both_empty", {"both_empty": 1})


def test_repeats_and_overlaps_of_one_rater_count_once():
    twice = [[[0, 5, "P"], [0, 5, "P"], [3, 8, "P"]]]

    assert value(twice, [[[0, 8, "P"]]]) == 1.0
    assert value(twice, [[[0, 5, "P"], [3, 8, "P"]]], unit="exact") == 1.0


@pytest.mark.parametrize(
    ("reference", "predicted", "expected"),
    [
        ([], [], {"f1": "empty", "precision": "empty", "recall": "empty", "exact": "empty"}),
        ([None], [None], {"f1": "empty", "exact": "empty"}),
        ([[[0, 1]]], [None], {"f1": "one_rater", "exact": "one_rater"}),
        ([[[0, 1]], None], [None, [[0, 1]]], {"f1": "no_overlap", "exact": "no_overlap"}),
        ([[], []], [[], []], {"f1": "both_empty", "precision": "both_empty", "recall": "both_empty", "exact": 1.0}),
        ([[]], [[[0, 1]]], {"f1": 0.0, "precision": 0.0, "recall": "reference_empty", "exact": 0.0}),
        ([[[0, 1]]], [[]], {"f1": 0.0, "precision": "predicted_empty", "recall": 0.0, "exact": 0.0}),
    ],
)
@pytest.mark.parametrize("aggregate", ["micro", "macro"])
def test_degenerate_tables(reference, predicted, expected, aggregate):
    for stat, wanted in expected.items():
        found = span_agreement(reference, predicted, stat=stat, aggregate=aggregate).figure()

        assert (found.value if found.reason is None else found.reason) == wanted, stat


def test_offsets_are_code_points_and_not_units_of_utf_16():
    text = "ok \N{GRINNING FACE} done"
    start = text.index("done")

    assert text[start : start + 4] == "done"
    assert len(text[:start].encode("utf-16-le")) // 2 == start + 1  # what a browser would count
    assert value([[[start, start + 4]]], [[[start + 1, start + 5]]]) == pytest.approx(3 / 4)


@pytest.mark.parametrize(
    ("span", "says"),
    [
        ([5, 3], "ends before it starts"),
        ([-1, 3], "starts before the text"),
        ([0.0, 3], "no whole number"),
        ([True, 3], "no whole number"),
        ([1], "is no span"),
        ("ab", "is no span"),
        ([0, 3, ["P"]], "no single value"),
    ],
)
def test_what_is_no_span_is_refused_with_item_and_rater(span, says):
    with pytest.raises(BadSpan, match=says) as refused:
        checked_spans([[0, 1], span], item="d7", rater="bob")

    assert (refused.value.item, refused.value.rater, refused.value.code) == ("d7", "bob", "unknown_label")
    assert "bob on item d7" in str(refused.value)


def test_options_that_are_not_known_are_refused():
    for options in ({"unit": "word"}, {"stat": "kappa"}, {"aggregate": "median"}):
        with pytest.raises(ValueError, match="it is one of"):
            span_agreement(A, B, **options)
    with pytest.raises(ValueError, match="no Jaccard"):
        span_agreement(A, B, unit="overlap", stat="jaccard")
    with pytest.raises(ValueError, match="give both sides every item"):
        span_agreement(A, B[:2])


# Against sets of characters, in fractions.

spans = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 5), st.sampled_from("PQ")), max_size=4).map(
    lambda found: [[start, start + length, label] for start, length, label in found]
)
sides = st.lists(st.tuples(st.none() | spans, st.none() | spans), max_size=6)


def characters(marked, match_label):
    return {(label if match_label else "", place) for start, end, label in marked for place in range(start, end)}


def f1_of(pairs):
    common, total = sum(len(a & b) for a, b in pairs), sum(len(a) + len(b) for a, b in pairs)
    return Fraction(2 * common, total) if total else None


@settings(max_examples=150, deadline=None)
@given(sides=sides, match_label=st.booleans())
def test_characters_are_what_sets_of_positions_say(sides, match_label):
    one, other = [a for a, _ in sides], [b for _, b in sides]
    pairs = [
        (characters(a, match_label), characters(b, match_label)) for a, b in sides if a is not None and b is not None
    ]

    micro, macro = f1_of(pairs), [f1 for pair in pairs if (f1 := f1_of([pair])) is not None]

    found = value(one, other, match_label=match_label)
    assert found == (None if micro is None else pytest.approx(float(micro), abs=1e-12))
    found = value(one, other, match_label=match_label, aggregate="macro")
    assert found == (pytest.approx(float(sum(macro) / len(macro)), abs=1e-12) if macro else None)
    found = value(one, other, match_label=match_label, stat="exact")
    assert found == (pytest.approx(sum(a == b for a, b in pairs) / len(pairs)) if pairs else None)


@settings(max_examples=100, deadline=None)
@given(sides=sides, match_label=st.booleans())
def test_overlap_is_what_comparing_all_spans_says(sides, match_label):
    right = n_predicted = found = n_reference = 0
    for a, b in sides:
        if a is None or b is None:
            continue
        one, other = (checked_spans(side, item=0, rater=0, match_label=match_label) for side in (a, b))
        n_reference, n_predicted = n_reference + len(one), n_predicted + len(other)
        touch = [[x[2] == y[2] and max(x[0], y[0]) < min(x[1], y[1]) for y in other] for x in one]
        found += sum(map(any, touch))
        right += sum(any(row[place] for row in touch) for place in range(len(other)))
    one, other = [a for a, _ in sides], [b for _, b in sides]
    options = {"unit": "overlap", "match_label": match_label}

    assert value(one, other, **options, stat="precision") == (right / n_predicted if n_predicted else None)
    assert value(one, other, **options, stat="recall") == (found / n_reference if n_reference else None)
    f1 = value(one, other, **options)
    if n_predicted + n_reference == 0:
        assert f1 is None
    elif right == 0:
        assert f1 == 0.0
    else:
        p, r = Fraction(right, n_predicted), Fraction(found, n_reference)
        assert f1 == pytest.approx(float(2 * p * r / (p + r)), abs=1e-12)


UNITS = [("character", "f1"), ("exact", "f1"), ("overlap", "f1"), ("character", "precision"), ("character", "exact")]


@pytest.mark.parametrize(("unit", "stat"), UNITS)
@settings(max_examples=30, deadline=None)
@given(sides=sides, data=st.data())
def test_properties_of_every_unit(unit, stat, sides, data):
    one, other = [a for a, _ in sides], [b for _, b in sides]
    order = data.draw(st.permutations(range(len(sides))))
    for aggregate in ("micro", "macro"):
        figure = span_agreement(one, other, unit=unit, stat=stat, aggregate=aggregate).figure()

        assert (figure.value is None) == (figure.reason in REASONS)
        assert set(figure.left_out) <= set(LEFT_OUT)
        assert sum(figure.left_out.values()) + figure.n_items == len(sides)
        assert figure.value is None or 0 <= figure.value <= 1
        moved = span_agreement(
            [one[i] for i in order], [other[i] for i in order], unit=unit, stat=stat, aggregate=aggregate
        ).figure()
        assert moved.reason == figure.reason
        assert moved.value == (None if figure.value is None else pytest.approx(figure.value, abs=1e-12))
        if stat == "f1":  # it has no direction
            assert value(other, one, unit=unit, aggregate=aggregate) == (
                None if figure.value is None else pytest.approx(figure.value, abs=1e-12)
            )
        itself = span_agreement(one, one, unit=unit, stat=stat, aggregate=aggregate).figure()
        assert itself.value in (None, 1.0)


def test_the_interval_is_that_of_copying_the_drawn_clusters():
    clusters = ["x", "x", "y", "z", "y"]
    one, other = [*A[:4], [[0, 3, "P"]]], [*B[:4], [[1, 3, "P"]]]

    (found,) = with_intervals(
        [span_agreement(one, other)], clusters, Drawing(unit="run", seed=1, min_clusters=3)
    )

    values = []
    for drawn in product("xyz", repeat=3):
        items = [i for name in drawn for i, cluster in enumerate(clusters) if cluster == name]
        values.append(value([one[i] for i in items], [other[i] for i in items]))
    defined = [f1 for f1 in values if f1 is not None]
    assert found.share_undefined == pytest.approx(1 - len(defined) / 27)
    assert (found.interval.low, found.interval.high) == pytest.approx(tuple(np.quantile(defined, [0.025, 0.975])))


# What several marked together.


def test_overlapping_spans_are_merged_transitively_over_raters():
    found = marked_together(
        {
            "ana": [[0, 5, "P"], [30, 35, "P"]],
            "ben": [[4, 10, "Q"]],
            "cid": [[9, 12]],  # overlaps ben's, not ana's
            "dan": [[12, 15]],  # touches cid's only
            "eve": [],
            "fay": None,
        }
    )

    assert found == [
        MarkedTogether(0, 12, ("ana", "ben", "cid"), n_spans=3),
        MarkedTogether(12, 15, ("dan",), n_spans=1),
        MarkedTogether(30, 35, ("ana",), n_spans=1),
    ]
    assert [one for one in found if len(one.raters) >= 3] == found[:1]
    assert marked_together({}) == []


def test_a_rater_who_marked_twice_is_one_rater():
    (found,) = marked_together({"ana": [[0, 5], [3, 8], [3, 8]], "ben": [[7, 9]]})

    assert found == MarkedTogether(0, 9, ("ana", "ben"), n_spans=3)


@settings(max_examples=100, deadline=None)
@given(marked=st.lists(spans, max_size=4))
def test_passages_are_the_connected_parts_of_who_overlaps_whom(marked):
    every = [
        (start, end, who)
        for who, side in enumerate(marked)
        for start, end, _ in checked_spans(side, item=0, rater=who, match_label=False)
    ]
    parts = [{one} for one in every]
    for one, other in product(every, repeat=2):
        if overlaps(one, [other]):
            joined = [part for part in parts if one in part or other in part]
            parts = [part for part in parts if part not in joined] + [set().union(*joined)]

    found = marked_together(dict(enumerate(marked)))

    expected = sorted(
        (min(start for start, _, _ in part), max(end for _, end, _ in part), tuple(sorted({who for *_, who in part})))
        for part in parts
    )
    assert [(one.start, one.end, one.raters) for one in found] == expected


# By name.


def test_a_duplicate_a_wrong_label_and_a_wrong_span_name_item_and_rater():
    with pytest.raises(DuplicateRating, match="A rated item d1 twice"):
        compute("span_f1", [["d1", "A", []], ["d1", "A", [[0, 1, "P"]]]], {"rater_a": "A", "rater_b": "B"})
    rows = [["d1", "A", [[0, 1, "P"]]], ["d1", "B", [[0, 1, "R"]]]]
    with pytest.raises(UnknownLabel, match="B on item d1: the label 'R' is not declared"):
        compute("span_f1", rows, {"categories": ["P", "Q"]})
    with pytest.raises(UnknownLabel, match="A on item d1: 'x' is no list of spans"):
        compute("span_f1", [["d1", "A", "x"], ["d1", "B", []]], {})


def test_params_that_are_not_known_are_refused_by_name():
    rows = [["d1", "A", []], ["d1", "B", []]]
    for params, says in (
        ({"match_lable": True}, "match_lable"),
        ({"unit": "word"}, "unit is 'word'"),
        ({"match_label": "yes"}, "true or false"),
        ({"both_empty": "one"}, "both_empty"),
        ({"rater_a": "A"}, "Name two different"),
        ({"rater_a": "A", "rater_b": "C"}, "no 'C' in the data"),
        ({"cluster_of": {"d2": "x"}}, "says nothing of item d1"),
    ):
        with pytest.raises(BadParams, match=says):
            compute("span_f1", rows, params)


def test_one_rater_in_all_is_a_reason_and_no_error():
    assert compute("span_f1", [["d1", "A", []]], {"rater_a": "A", "rater_b": "B"}).reason == "one_rater"


def test_an_interval_comes_where_it_is_asked_for():
    rows = [[f"d{i}", who, [[0, 3 + i % 4, "P"]] if who == "A" else [[1, 4, "P"]]] for i in range(40) for who in "AB"]
    cluster_of = {f"d{i}": f"c{i // 2}" for i in range(40)}

    found = compute("span_f1", rows, {"cluster_of": cluster_of, "seed": 3, "n_resamples": 500})

    assert compute("span_f1", rows, {}).interval is None
    assert (found.interval.n_resamples, found.interval.seed, found.interval.unit) == (500, 3, "cluster")
    assert found.interval.low <= found.value <= found.interval.high
    with pytest.raises(BadParams, match="up to 6 clusters"):
        compute("span_f1", rows, {"cluster_of": cluster_of, "mode": "exact"})


def test_a_table_is_taken_as_triples_are():
    table = {"table": [[[[0, 5, "P"]], [[1, 5, "P"]]], [[], None]], "raters": ["A", "B"]}

    found = compute("span_f1", table, {})

    assert found.value == pytest.approx(8 / 9)
    assert found.left_out == {"one_rating": 1}
