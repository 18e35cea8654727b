import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.rules.normal_form import find_quote, find_words, normal_form, stands_in


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("It’s “fine” — really", "It's \"fine\" - really"),
        ("**Run** `crn_hier_L` _was_ best", "Run crn_hier_L was best"),
        ("## Results\n\n| a | b |", "Results a b"),
        ("全角：ＡＢＣ１２３，“好”", "全角:ABC123,\"好\""),
        ("a\u200bb\u00adc", "abc"),
        ("snake_case a__b __init__", "snake_case a__b init"),
        ("cafe\u0301", "café"),
        ("5 # of C#", "5 of C#"),
        ("  \n\t ", ""),
        ("", ""),
    ],
)
def test_the_form_that_is_compared(text, form):
    assert normal_form(text).text == form


def test_a_quote_is_found_where_it_stands_in_the_text_as_it_is():
    text = "📌𠮷 The **level** fell by “a fifth”\neach day."
    start, end = find_quote('The level fell by "a fifth" each day.', text)
    assert text[start:end] == "The **level** fell by “a fifth”\neach day."


@pytest.mark.parametrize(
    ("quote", "is_found"),
    [
        ("the level", True),
        ("The level", False),  # case is kept
        ("a level", False),  # too short
        ("the level ... each day", True),
        ("the level … each day.", True),
        ("each day ... the level", False),  # out of order
        ("the level ... day", False),  # a part is too short
        ("the levels", False),
        ("...", False),
        ("", False),
        ("   ", False),
        ("... the level fell ...", True),
    ],
)
def test_which_quotes_hold(quote, is_found):
    text = "Yes, the level fell by a fifth each day. It is a level."
    assert (find_quote(quote, text) is not None) is is_found


@pytest.mark.parametrize(("quote", "is_found"), [("水位下降", True), ("水位下", False), ("水位上升", False)])
def test_a_chinese_quote_is_long_enough_with_four_characters(quote, is_found):
    assert (find_quote(quote, "观测表明：水位下降了两成。") is not None) is is_found


def test_dots_that_the_text_has_itself_are_no_omission():
    text = "Wait... it says so... here."
    start, end = find_quote("Wait... it says", text)
    assert text[start:end] == "Wait... it says"


def test_words_are_found_as_they_are_or_in_their_form_first_occurrence():
    assert find_words("R03", "R030, R03") == (0, 3)
    assert find_words("reader size", "the **reader**\nsize") == (6, 19)
    assert find_words("", "text") is None
    assert find_words("**", "text") is None
    assert find_words("other", "text") is None


def test_a_quote_that_stands_nowhere_is_told_from_one_too_short_to_hold():
    assert stands_in("fell", "it fell by a fifth")
    assert not stands_in("rose", "it fell by a fifth")
    assert stands_in("it ... a fifth", "it fell by a fifth")


@given(st.text(max_size=60), st.data())
def test_every_piece_of_a_text_is_found_in_it(text, data):
    start = data.draw(st.integers(0, len(text)))
    piece = text[start : data.draw(st.integers(start, len(text)))]
    place = find_quote(piece, text)
    if place is not None:
        found = normal_form(text[slice(*place)]).text
        assert normal_form(piece).text in found or found in piece


@given(st.text(alphabet="ab*_`# \n“…中é\u0301|", max_size=40))
def test_places_come_back_in_order_and_inside_the_text(text):
    form = normal_form(text)
    assert list(form.places) == sorted(form.places)
    assert len(form.text) == len(form.places) == len(form.ends)
    assert all(0 <= start < end <= len(text) for start, end in zip(form.places, form.ends, strict=True))
