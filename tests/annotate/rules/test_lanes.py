"""Spans of several raters over one text."""

import random

from annotate.rules.lanes import N_LANES, Mark, MarkType, laned, letters_of
from annotate.rules.light_text import Piece, light

TEXT = "The **first** one is `cheaper` by \u202e one."


def shown(pieces, marks):
    return [(s.piece.text, [m.who + m.letter for m in s.marks], [m.who for m in s.begins]) for s in pieces]


def test_the_text_is_cut_at_the_ends_of_spans_and_nowhere_else():
    marks = [Mark(4, 8, "reference", "a1"), Mark(6, 10, "definition", "a2")]
    text = laned([Piece("abcdefghijkl")], marks)
    assert shown(text.segments, marks) == [
        ("abcd", [], []),
        ("ef", ["a1r"], ["a1"]),
        ("gh", ["a1r", "a2d"], ["a2"]),
        ("ij", ["a2d"], []),
        ("kl", [], []),
    ]
    assert text.n_lanes == 2


def test_each_rater_keeps_a_lane():
    marks = [Mark(0, 2, "reference", "a1"), Mark(4, 6, "reference", "a2"), Mark(8, 9, "background", "a1")]
    lanes = {(m.who, m.start): m.lane for s in laned([Piece("abcdefghij")], marks).segments for m in s.begins}
    assert lanes == {("a1", 0): 1, ("a2", 4): 2, ("a1", 8): 1}


def test_spans_of_one_rater_that_overlap_have_a_lane_each():
    marks = [Mark(0, 6, "reference", "a1"), Mark(2, 4, "definition", "a1"), Mark(0, 3, "reference", "a2")]
    text = laned([Piece("abcdefgh")], marks)
    assert {(m.who, m.letter): m.lane for s in text.segments for m in s.begins} == {
        ("a1", "r"): 1,
        ("a1", "d"): 2,
        ("a2", "r"): 3,
    }


def test_styles_and_named_characters_stay_as_they_were():
    pieces = light(TEXT)
    text = laned(pieces, [Mark(2, 8, "reference", "a1"), Mark(20, len(TEXT), "definition", "a2")])
    assert "".join(one.piece.text for one in text.segments) == TEXT
    assert [one.piece.name for one in text.segments if one.piece.name] == ["U+202E"]
    assert {one.piece.style for one in text.segments} == {piece.style for piece in pieces}


def test_what_lies_outside_of_the_text_is_left_out():
    marks = [Mark(-5, 2, "reference", "a1"), Mark(3, 99, "reference", "a2"), Mark(50, 60, "reference", "a3")]
    marks.append(Mark(2, 2, "reference", "a4"))
    text = laned([Piece("abcde")], marks)
    assert {(m.who, m.start, m.end) for s in text.segments for m in s.marks} == {("a1", 0, 2), ("a2", 3, 5)}


def test_without_marks_the_pieces_are_as_they_were():
    pieces = light(TEXT)
    assert tuple(one.piece for one in laned(pieces, []).segments) == pieces
    assert laned([], []).segments == ()


def test_more_lanes_than_there_are_styles_share_the_last():
    marks = [Mark(0, 3, "reference", f"a{place}") for place in range(30)]
    (segment,) = laned([Piece("abc")], marks).segments
    assert len(segment.marks) == 30
    assert max(one.lane for one in segment.marks) == N_LANES


def test_every_character_lies_under_exactly_its_spans():
    draw = random.Random(5)
    for _ in range(200):
        pieces = [Piece("x" * draw.randint(0, 5), draw.choice(["", "code"])) for _ in range(6)]
        n = sum(len(piece.text) for piece in pieces)
        ends = [sorted(draw.sample(range(n + 1), 2)) for _ in range(5)] if n else []
        marks = [Mark(start, end, "reference", draw.choice("ab")) for start, end in ends]
        at = 0
        for segment in laned(pieces, marks).segments:
            for place in range(at, at + len(segment.piece.text)):
                over = sorted((m.start, m.end) for m in marks if m.start <= place < m.end)
                assert sorted((m.start, m.end) for m in segment.marks) == over
            at += len(segment.piece.text)
        assert at == n


def test_types_that_begin_alike_have_letters_that_tell_them_apart():
    assert letters_of(["term", "reference"]) == {"term": "t", "reference": "r"}
    assert letters_of(["term", "tool", "to"]) == {"term": "te", "tool": "too", "to": "to"}
    marks = [Mark(0, 2, "term", "A"), Mark(1, 3, "tool", "B")]
    text = laned([Piece("some text")], marks)
    assert text.legend == (MarkType("term", "term", "te"), MarkType("tool", "tool", "to"))
    assert [tag for one in text.segments for tag in one.tags] == ["A te", "B to"]


def test_a_type_goes_by_the_title_style_and_letter_it_is_given():
    types = {"term": MarkType("A term", "1", "k"), "tool": MarkType("A tool", "2")}
    marks = [Mark(0, 4, "term", "a1"), Mark(5, 9, "tool", "a1"), Mark(5, 9, "odd", "a2")]
    text = laned([Piece("some text")], marks, types)
    assert text.legend == (MarkType("A term", "1", "k"), MarkType("A tool", "2", "to"), MarkType("odd", "odd", "o"))
    assert [(one.type, one.style, one.letter) for one in text.segments[0].marks] == [("term", "1", "k")]
