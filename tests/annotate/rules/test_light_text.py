"""Texts are shown in their own characters, each in its place; what nobody sees is named."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from annotate.rules.light_text import CONTROL, Piece, light, plain

MARKDOWN = st.lists(
    st.sampled_from(
        ["# ", "## ", "> ", "```", "~~~", "`", "``", "**", "*", "|", "| a | b |", "\n", "\r", "\x0b", "\u2028", "\x85",
         "text", " ", "\t", "中文", "\u202e", "\u200b", "a\u200d", "\U0001f469\u200d\U0001f467", "\ud800"]
    ),
    max_size=40,
).map("".join)  # fmt: skip
TEXTS = st.one_of(st.text(), MARKDOWN)


@given(TEXTS)
@example("")
@example("a\n")
@example("\n\n")
@example("**\n**")
def test_the_pieces_joined_are_the_text(text):
    for render in (light, plain):
        assert "".join(piece.text for piece in render(text)) == text


@given(TEXTS)
def test_no_piece_is_empty_and_every_control_stands_alone_under_its_name(text):
    for render in (light, plain):
        for piece in render(text):
            assert piece.text
            if piece.style == "control":
                assert piece.name == f"U+{ord(piece.text):04X}"
            else:
                assert not piece.name
    names = [piece.text for piece in plain(text) if piece.style == "control"]
    assert names == CONTROL.findall(text)


@given(TEXTS)
def test_plain_styles_nothing(text):
    assert {piece.style for piece in plain(text)} <= {"", "control"}


@pytest.mark.parametrize(
    "character",
    ["\u202e", "\u202d", "\u2066", "\u2069", "\u200b", "\u200e", "\u200f", "\u061c", "\ufeff", "\u00ad", "\u2060",
     "\x00", "\x07", "\x1b", "\x7f", "\x9f", "\U000e0041"],
)  # fmt: skip
def test_invisible_and_direction_changing_characters_are_named(character):
    for render in (light, plain):
        pieces = render(f"inv{character}oice")
        assert [(piece.text, piece.style) for piece in pieces] == [("inv", ""), (character, "control"), ("oice", "")]
        assert pieces[1].name == f"U+{ord(character):04X}"


@pytest.mark.parametrize(
    "text",
    [
        "\N{WOMAN}\u200d\N{WOMAN}\u200d\N{GIRL}",
        "\N{RAINBOW}",
        "\u2764\ufe0f\u200d\U0001f525",
        "नमस्ते क्\u200dष",
        "می\u200cخواهم",
        "tab\tand\nline",
        "naïve – “quotes” 中文，。",
    ],
)
def test_joiners_inside_an_emoji_or_a_script_that_needs_them_stay_as_they_are(text):
    assert plain(text) == (Piece(text),)
    assert light(text) == (Piece(text),)


def test_a_joiner_after_plain_letters_is_named():
    assert [piece.name for piece in plain("pay\u200dpal\u200c")] == ["", "U+200D", "", "U+200C"]


def styles(text):
    return [(piece.text, piece.style) for piece in light(text)]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("# Title\ntext", [("# ", "marker"), ("Title\n", "strong"), ("text", "")]),
        ("####### seven", [("####### seven", "")]),
        ("#no heading", [("#no heading", "")]),
        ("a **bold** word", [("a ", ""), ("**", "marker"), ("bold", "strong"), ("**", "marker"), (" word", "")]),
        ("run `x = 1` now", [("run ", ""), ("`", "marker"), ("x = 1", "code"), ("`", "marker"), (" now", "")]),
        ("> said\nmore", [("> ", "marker"), ("said\nmore", "")]),
        ("| a | b |\n|---|---|\nend", [("| a | b |\n|---|---|\n", "code"), ("end", "")]),
        ("2 * 3 * 4 and a ** b", [("2 * 3 * 4 and a ** b", "")]),
        ("one ` tick", [("one ` tick", "")]),
        ("**not\nclosed**", [("**not\nclosed**", "")]),
    ],
)
def test_markdown_is_styled_and_not_changed(text, pieces):
    assert styles(text) == pieces


def test_nothing_inside_a_fence_is_styled_but_as_code():
    text = "say\n```python\n# no heading **not bold**\n| not | a table |\n```\n# heading"
    assert styles(text) == [
        ("say\n", ""),
        ("```python\n", "marker"),
        ("# no heading **not bold**\n| not | a table |\n", "code"),
        ("```\n# ", "marker"),
        ("heading", "strong"),
    ]


def test_a_fence_that_is_never_closed_is_code_to_the_end():
    assert styles("~~~\na\n# b") == [("~~~\n", "marker"), ("a\n# b", "code")]


def test_a_control_inside_code_is_named_and_the_rest_stays_code():
    assert styles("`a\u202eb`") == [
        ("`", "marker"),
        ("a", "code"),
        ("\u202e", "control"),
        ("b", "code"),
        ("`", "marker"),
    ]


def test_a_very_long_line_is_cut_in_reasonable_time():
    for part in ("`", "**", "|", "#", "> ", "a**b`", " ", "``a`"):
        text = part * 20_000
        assert "".join(piece.text for piece in light(text)) == text
