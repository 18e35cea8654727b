"""Tables: which files are some, and what becomes of their rows."""

import io

import pytest

from annotate.traces.documents import Document, Documents
from annotate.traces.strict_json import Caps
from annotate.traces.tables import separator_of

MARK = b"\xef\xbb\xbf"


def documents(content, **options):
    return list(Documents(io.BytesIO(content), file_name="x.csv", **options))


def values(content, **options):
    found = documents(content, **options)
    assert all(isinstance(one, Document) for one in found), found
    return [one.value for one in found]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", MARK])
def test_rows_are_objects_by_the_names_of_their_columns(separator, end, mark):
    content = mark + end.join([separator.join(row) for row in (["id", "text"], ["1", "é"], ["2", "你好"])]).encode()
    assert values(content) == [{"id": "1", "text": "é"}, {"id": "2", "text": "你好"}]


def test_cells_keep_every_character_and_may_go_over_lines():
    content = b'id,text\r\n1,"a ""b"", \r\nc\n"\r\n2, x \r\n'
    found = documents(content)
    assert [one.value["text"] for one in found] == ['a "b", \r\nc\n', " x "]
    assert [one.place.line for one in found] == [2, 5]


@pytest.mark.parametrize(
    "content",
    [
        b"# Notes, and more\n\nOnly text.\n",
        b"one line, no more of it as prose goes: " + b"x" * 100,
        b"a,a\n1,2\n",
        b"a,\n1,2\n",
        b"a\n1\n",
        b"a,b\n1\n",
        b'{"id": "x", "b": 1}\n',
        b'"a","b\n',
        b"\xff,\xfe\n1,2\n",
        b"a,b\0\n1,2\n",
    ],
)
def test_what_is_no_table_is_not_taken_for_one(content):
    assert not [one for one in documents(content) if isinstance(one, Document) and set(one.value) == {"a", "b"}]


def test_the_first_column_may_have_no_name():
    assert values(b",text\n0,a\n") == [{"": "0", "text": "a"}]


def test_a_row_with_other_columns_is_named_and_the_next_ones_are_read():
    found = documents(b"id,text\n1,a\n2\n3,b,c\n4,d\n")
    assert [getattr(one, "code", None) for one in found] == [None, "wrong_columns", "wrong_columns", None]
    assert [one.line for one in found if hasattr(one, "code")] == [3, 4]


def test_a_quote_that_is_not_closed_ends_the_table_and_is_named():
    found = documents(b'id,text\n1,a\n2,"b\n3,c\n')
    assert [getattr(one, "code", None) for one in found] == [None, "malformed_table"]


def test_bytes_that_are_no_utf_8_are_named_by_their_place():
    content = b"id,text\n1,a\n" + "2,é\n".encode("latin-1")
    problem = documents(content)[-1]
    assert (problem.code, problem.line) == ("not_utf8", 3)
    assert problem.params["byte_of_file"] == content.index(b"\xe9") + 1


def test_caps_hold_for_lines_and_cells():
    long = b"id,text\n1," + b"x" * 300 + b"\n2,b\n"
    assert [getattr(one, "code", None) for one in documents(long, caps=Caps(line_bytes=100))] == ["line_too_long"]


def test_nul_far_inside_is_refused_or_shown():
    content = b"id,text\n" + b"1,a\n" * 20_000 + b"2,x\0y\n"
    assert documents(content)[-1].code == "nul_character"
    source = Documents(io.BytesIO(content), replace_nul=True)
    assert list(source)[-1].value == {"id": "2", "text": "x\u2400y"}
    assert source.n_replaced_nul == 1


def test_a_heading_alone_is_an_empty_file():
    assert [one.code for one in documents(b"id,text\n")] == ["empty_file"]


def test_a_table_whose_first_piece_ends_inside_a_character_or_a_cell_is_one():
    for n in range(4):
        head = ("id,text\n1,\"" + "x" * n + "é" * 40_000).encode()[: 64 * 1024]
        assert separator_of(head) == ","
