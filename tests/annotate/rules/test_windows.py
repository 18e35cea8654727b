import pytest

from annotate.rules.windows import window

TEXT = "One is here. Two is there! Three 3.5 is it? 四在这里。五；六\nseven"


@pytest.mark.parametrize(
    ("word", "around", "piece"),
    [
        ("Two", 0, " Two is there!"),
        ("One", 0, "One is here."),
        ("3.5", 0, " Three 3.5 is it?"),  # a point inside a number ends nothing
        ("在这里", 0, " 四在这里。"),
        ("五", 0, "五；"),
        ("六", 0, "六\n"),
        ("seven", 0, "seven"),
        ("Two", 8, "One is here. Two is there!"),
        ("Two", 500, TEXT),
    ],
)
def test_a_window_is_widened_to_whole_sentences(word, around, piece):
    start = TEXT.index(word)
    begin, end = window(TEXT, start, start + len(word), around)
    assert TEXT[begin:end] == piece


def test_two_hundred_characters_on_each_side():
    text = "x" * 1000 + ". " + "y" * 1000
    begin, end = window(text, 1500, 1510)
    assert (begin, end) == (1001, 2002)
    assert window(text, 0, 1) == (0, 1001)
