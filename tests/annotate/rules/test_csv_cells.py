import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.rules.csv_cells import BEGINNINGS, cell, escape, unescape

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(TEXTS)
def test_a_text_comes_back_letter_for_letter(text):
    assert unescape(escape(text)) == text


@given(TEXTS)
def test_no_cell_begins_as_a_formula_would(text):
    assert not escape(text).startswith(BEGINNINGS[1:])


@given(st.lists(st.lists(st.one_of(st.just('=1+"a"\r\n'), st.just("\r"), TEXTS), min_size=2, max_size=2), max_size=4))
def test_a_table_comes_back_through_a_file(rows):
    """Line ends, quotes, commas and apostrophes in cells are the text's own."""
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\r\n").writerows([[cell(text) for text in row] for row in rows])
    file.seek(0)
    assert [[unescape(text) for text in row] for row in csv.reader(file)] == rows


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", "'quoted"])
def test_what_a_spreadsheet_would_run_is_marked(text):
    assert cell(text) == "'" + text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((None, ""), ("", ""), ("plain", "plain"), (True, "true"), (3, "3"), (-3, "'-3")),
        ([{"b": "中", "a": 1}], '[{"a":1,"b":"中"}]'),
    ],
)
def test_other_values_are_json(value, expected):
    assert cell(value) == expected
