import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.rules.quotes import canonical, slice_matches


@pytest.mark.parametrize(
    ("text", "expected"), [("a\r\nb\rc\nd", "a\nb\nc\nd"), ("\r\r\n", "\n\n"), ("e\u0301\u200b ﬁ", "e\u0301\u200b ﬁ")]
)
def test_line_ends_become_lf_and_nothing_else_changes(text, expected):
    assert canonical(text) == expected


@given(st.text("ab\r\n\u2028"))
def test_canonical_text_stays_as_it_is(text):
    assert canonical(canonical(text)) == canonical(text)
    assert "\r" not in canonical(text)


def test_a_quote_is_the_slice_in_code_points():
    text = "\N{GRINNING FACE}\U00020000 run B7"
    assert slice_matches(text, 3, 9, "run B7")
    assert not slice_matches(text, 3, 9, "run b7")
    assert not slice_matches(text, 3, 10, "run B7")
    assert not slice_matches(text, -6, 9, "run B7")
    assert not slice_matches(text, 3, 3, "")
