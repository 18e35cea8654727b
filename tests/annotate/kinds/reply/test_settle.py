"""The label many make together, and what is kept of their marks."""

from hypothesis import given
from hypothesis import strategies as st

from annotate.kinds.base import Span
from annotate.kinds.reply.label import LABELS, SCHEMA, ReplyLabel
from annotate.kinds.reply.settle import settle

READABLE, NEEDS, FAILS = LABELS
TEXT = "x" * 40


def label(name=NEEDS, *places, type="reference"):
    return ReplyLabel(name, spans=tuple(Span(start, end, type, TEXT[start:end]) for start, end in places))


def spans(*labels):
    return [(span.start, span.end) for span in settle(labels, SCHEMA).label.spans]


@given(st.lists(st.sampled_from(LABELS), min_size=1, max_size=9))
def test_a_panel_fails_a_reply_when_half_of_it_does(names):
    settled = settle([label(name) for name in names], SCHEMA)
    n_fail = sum(name != READABLE for name in names)
    assert settled.label.fails == (2 * n_fail >= len(names))
    assert settled.is_tie == (2 * n_fail == len(names))
    if settled.label.fails:
        # Among the failing, the stronger verdict needs a strict majority.
        assert (settled.label.label == FAILS) == (2 * names.count(FAILS) > n_fail)
    assert settled.how == ("consensus" if len(set(names)) == 1 else "majority")


def test_overlapping_marks_count_as_one_passage():
    assert spans(label(NEEDS, (0, 5)), label(NEEDS, (4, 9)), label(NEEDS, (20, 22))) == [(0, 5)]


def test_marks_that_touch_without_sharing_a_character_are_two_passages():
    assert spans(label(NEEDS, (0, 5)), label(NEEDS, (5, 9))) == []


def test_one_rater_who_marks_a_passage_twice_counts_once():
    assert spans(label(NEEDS, (0, 5), (3, 6)), label(NEEDS, (20, 22))) == []
    assert spans(label(NEEDS, (0, 5), (3, 6)), label(NEEDS, (4, 5))) == [(0, 5)]


def test_the_most_frequent_extent_and_type_of_a_passage_are_kept():
    labels = [label(NEEDS, (0, 5)), label(NEEDS, (0, 4), type="definition"), label(NEEDS, (0, 4), type="definition")]
    assert settle(labels, SCHEMA).label.spans == (Span(0, 4, "definition", "xxxx"),)


def test_passages_of_half_of_the_raters_are_not_kept():
    assert spans(label(NEEDS, (0, 5)), label(NEEDS, (0, 5)), label(NEEDS), label(FAILS)) == []
    assert spans(label(NEEDS, (0, 5)), label(NEEDS, (0, 5)), label(NEEDS, (0, 5)), label(FAILS)) == [(0, 5)]


def test_a_readable_reply_keeps_no_marks():
    labels = [label(READABLE), label(READABLE), label(READABLE), label(NEEDS, (0, 5)), label(NEEDS, (0, 5))]
    assert settle(labels, SCHEMA).label == ReplyLabel(READABLE)
