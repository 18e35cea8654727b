import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.traces import arrays
from annotate.traces.base import Problem
from annotate.traces.documents import Documents
from annotate.traces.strict_json import Caps

MARK = b"\xef\xbb\xbf"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=12,
)


def documents(content, **options):
    source = Documents(io.BytesIO(content), file_name="x", **options)
    return list(source), source


def values(content, **options):
    found, _ = documents(content, **options)
    assert not [one for one in found if isinstance(one, Problem)]
    return [one.value for one in found]


def codes(content, **options):
    return [one.code for one in documents(content, **options)[0] if isinstance(one, Problem)]


def without_nul(value):
    return "\\u0000" not in json.dumps(value)


@settings(max_examples=150, deadline=None)
@given(st.lists(JSON.filter(without_nul), min_size=1), st.integers(1, 9), st.sampled_from([None, 1]), st.booleans())
def test_the_elements_of_any_array_cut_anywhere_are_those_that_json_reads(array, piece, indent, is_ascii):
    content = json.dumps(array, indent=indent, ensure_ascii=is_ascii).encode()
    before = arrays.PIECE
    arrays.PIECE = piece
    try:
        assert values(content) == array
    finally:
        arrays.PIECE = before


@settings(max_examples=50, deadline=None)
@given(st.lists(st.dictionaries(st.text(), JSON).filter(without_nul), min_size=1))
def test_lines_are_read_one_by_one(records):
    content = "\r\n\r\n".join(json.dumps(one) for one in records).encode()
    assert values(content) == records


@pytest.mark.parametrize(
    "content",
    [
        b'{\n "a": [\n  1,\n  2\n ]\n}\n',
        b'{"a":\n[1, 2]}',
        b'{"a": [1,\n2]}',
        MARK + b'{"a": [1\n,2]}',
        b'{"a": [1, 2]\n}',
    ],
)
def test_one_object_over_several_lines_is_one_record(content):
    assert values(content) == [{"a": [1, 2]}]


@pytest.mark.parametrize("content", [b"[1, [2]]\n[3]\n", b"\n[1, [2]]\r\n\n[3]", MARK + b"[1, [2]]\n[3]"])
def test_lines_may_be_arrays(content):
    assert values(content) == [[1, [2]], [3]]


@pytest.mark.parametrize(
    "content", [b"[[1, 2],\n[3]]", b"[[1, 2]\n,[3]]", b"[\n[1, 2],\n[3]\n]", b"[[1, 2],[3]\n]", b"[[1, 2],[3]]\n\n"]
)
def test_an_array_over_several_lines_is_one(content):
    assert values(content) == [[1, 2], [3]]


def test_a_first_line_that_is_cut_off_does_not_swallow_the_others():
    found, _ = documents(b'{"id": "t1"\n{"id": "t2"}\n')
    assert (found[0].code, found[0].line) == ("malformed_json", 1)
    assert found[1].value == {"id": "t2"}


def test_a_byte_order_mark_belongs_to_no_record():
    assert values(MARK + b'{"a": 1}\n') == values(MARK + b'[{"a": 1}]') == [{"a": 1}]


@pytest.mark.parametrize("content", [b"", b" \r\n\t\n", MARK, b"[]", b"[ \n ]"])
def test_a_file_without_records_is_empty(content):
    assert codes(content) == ["empty_file"]


@pytest.mark.parametrize(
    "content",
    [
        b"\x1f\x8b\x08\x00abc",
        b"PK\x03\x04",
        b"a, b\n1\n",
        b'"text"',
        b"log\n[12:01] a\n{x} y\n",
        "é".encode("latin-1"),
    ],
)
def test_what_is_no_json_at_all_is_told_by_its_content(content):
    assert codes(content) == ["unsupported_type"]


def test_utf_16_is_named_as_a_wrong_encoding():
    assert codes('{"a": 1}'.encode("utf-16")) == ["not_utf8"]


@pytest.mark.parametrize(
    ("content", "pointer"),
    [
        (b'[{"a": 1}, {"a": }, {"a": 2}]', "/1"),
        (b'[{"a": 1}, {"a": 2}', "/1"),
        (b'[{"a": 1}, {"a": 2', "/1"),
        (b'[{"a": 1},]', "/1"),
        (b'[{"a": 1},,{"a": 2}]', "/1"),
        (b'[{"a": "1}, {"a": 2}]', "/0"),
    ],
)
def test_a_broken_array_names_its_first_wrong_element(content, pointer):
    problem = next(one for one in documents(content)[0] if isinstance(one, Problem))
    assert (problem.code, problem.pointer) == ("malformed_json", pointer)


def test_something_after_an_array_is_refused():
    assert codes(b"[1]\n{}") == codes(b"[1] [2]") == ["malformed_json"]


def test_a_long_element_is_passed_over_and_the_next_ones_are_read():
    content = json.dumps([{"a": 1}, {"a": "b" * 500_000}, {"a": 2}]).encode()
    found, _ = documents(content, caps=Caps(line_bytes=1000))
    assert [one.code if isinstance(one, Problem) else one.value["a"] for one in found] == [1, "too_large", 2]


def test_a_long_line_is_passed_over_and_the_next_ones_keep_their_numbers():
    content = b'{"a": 1}\n{"a": "' + b"b" * 500_000 + b'"}\n{"a": }\n'
    found, _ = documents(content, caps=Caps(line_bytes=1000))
    assert [(one.code, one.line) for one in found[1:]] == [("line_too_long", 2), ("malformed_json", 3)]


def test_a_line_of_exactly_the_cap_is_read():
    content = b'{"a": "' + b"b" * 100 + b'"}'
    assert values(content + b"\n", caps=Caps(line_bytes=len(content))) == [json.loads(content)]
    assert codes(content + b" \n", caps=Caps(line_bytes=len(content))) == ["line_too_long"]


def test_a_long_object_over_several_lines_names_the_setting():
    (problem,), _ = documents(b'{"a":\n"' + b"b" * 500 + b'"}', caps=Caps(line_bytes=100))
    assert problem.code == "too_large"
    assert "IMPORT_MAX_LINE_BYTES" in problem.sentence()


def test_a_file_that_begins_with_a_broken_line_is_still_lines():
    found, _ = documents(b'oops\n{"a": 1}\n')
    assert (found[0].code, found[1].value) == ("malformed_json", {"a": 1})


def test_replaced_nul_characters_are_counted():
    found, source = documents(b'{"a\\u0000": "\\u0000\\u0000", "b": "\\\\u0000"}', replace_nul=True)
    assert found[0].value == {"a␀": "␀␀", "b": "\\u0000"}
    assert source.n_replaced_nul == 3
