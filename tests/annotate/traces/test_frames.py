import io
import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.traces import arrays, frames
from annotate.traces.base import Problem
from annotate.traces.documents import Document, Documents
from annotate.traces.frames import frame_of
from annotate.traces.strict_json import Caps
from tests.annotate.traces.test_documents import JSON, without_nul

LISTS = frozenset({"runs"})
NAMES = st.text(st.characters(exclude_categories=["Cs"])).filter(lambda name: name != "runs")


def documents(content, **options):
    return list(Documents(io.BytesIO(content), file_name="x", lists=LISTS, **options))


def broken(content, **options):
    return [one for one in documents(content, **options) if isinstance(one, Problem)]


def in_order(before, runs, after):
    return {**before, "runs": runs, **{name: value for name, value in after.items() if name not in before}}


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(NAMES, JSON, max_size=3).filter(without_nul),
    st.lists(JSON, min_size=1).filter(without_nul),
    st.dictionaries(NAMES, JSON, max_size=3).filter(without_nul),
    st.integers(1, 9),
    st.sampled_from([None, 1]),
)
def test_the_records_of_any_object_cut_anywhere_are_those_that_json_reads(before, runs, after, piece, indent):
    whole = in_order(before, runs, after)
    at_once = arrays.PIECE, frames.PIECE
    arrays.PIECE = frames.PIECE = piece
    try:
        found = documents(json.dumps(whole, indent=indent, ensure_ascii=False).encode())
    finally:
        arrays.PIECE, frames.PIECE = at_once
    assert [one.value for one in found] == runs
    assert [one.place.prefix for one in found] == [f"/runs/{number}" for number in range(len(runs))]
    assert {id(one.around) for one in found} == {id(found[0].around)}
    assert found[0].around == {**whole, "runs": []}


@pytest.mark.parametrize(
    "content",
    [
        b'{"a": {"runs": [1]}}\n',
        b'{"runs": {"a": [1]}}\n',
        b'{"a": "\\"runs\\": [", "b": [1]}\n',
        b'{"runs": [1]}\n{"runs": [2]}\n',
        b'{"walks": [1]}\n',
    ],
)
def test_another_object_is_one_record(content):
    found = documents(content)
    assert [one.value for one in found] == [json.loads(line) for line in content.splitlines()]
    assert {one.around for one in found} == {None}


@pytest.mark.parametrize("content", [b'{"runs": []}', b'{"a": 1, "runs": [ \n ], "b": 2}'])
def test_a_list_without_records_is_empty(content):
    assert [problem.code for problem in broken(content)] == ["empty_file"]


def test_a_broken_record_names_its_pointer_and_the_line_of_the_file():
    content = b'{"a": 1,\n"runs": [\n{"b": 1},\n{"b": },\n{"b": 2}\n]}'
    found = documents(content)
    assert [one.value for one in found if isinstance(one, Document)] == [{"b": 1}, {"b": 2}]
    assert [(one.code, one.pointer, one.line) for one in found if isinstance(one, Problem)] == [
        ("malformed_json", "/runs/1", 4)
    ]


@pytest.mark.parametrize(("content", "line"), [(b'{"a": ,\n"runs": [1]}', 1), (b'{"runs": [1,\n2,\n\n3],\n"a": }', 5)])
def test_what_is_wrong_around_the_records_keeps_its_line_and_no_record_is_read_without_it(content, line):
    (problem,) = documents(content)
    assert (problem.code, problem.line) == ("malformed_json", line)


def test_a_bad_byte_around_the_records_keeps_its_place():
    for content in (b'{"a": "\xe9", "runs": [1, 2]}', b'{"runs": [1,\n{"b": 2}],\n"a": "\xe9"}'):
        (problem,) = documents(content)
        assert problem.code == "not_utf8"
        assert content[problem.params["byte_of_file"] - 1] == content[problem.params["byte"] - 1] == 0xE9


def test_a_name_twice_is_refused():
    for content in (b'{"runs": [1], "runs": [2]}', b'{"a": 1, "runs": [1], "a": 2}'):
        assert [problem.code for problem in documents(content)] == ["duplicate_key"]


@pytest.mark.parametrize(
    "content", [b'{"a": 1, "runs": [1, {"b": 2}', b'{"a": 1, "runs": [1, {"b": 2', b'{"runs": [1, {"b": "']
)
def test_a_file_that_is_cut_off_names_the_record_where_it_ends(content):
    assert [(problem.code, problem.pointer) for problem in broken(content)] == [("malformed_json", "/runs/1")]


def test_something_after_the_object_is_refused():
    assert "malformed_json" in [problem.code for problem in broken(b'{\n"runs": [1]\n} 7')]


def test_nul_characters_around_the_records_are_found_and_counted():
    content = b'{"a": "\\u0000", "runs": ["\\u0000"]}'
    assert [(problem.code, problem.pointer) for problem in broken(content)] == [("nul_character", "/a")]
    source = Documents(io.BytesIO(content), lists=LISTS, replace_nul=True)
    assert [one.value for one in source] == ["␀"]
    assert source.n_replaced_nul == 2


def test_the_caps_hold_for_a_record_and_for_everything_around_them():
    caps = Caps(line_bytes=1000)
    content = json.dumps({"a": "a" * 500, "runs": ["a" * 600, "b" * 5000, "c"]}).encode()
    found = documents(content, caps=caps)
    assert [one.code if isinstance(one, Problem) else one.value[0] for one in found] == ["a", "too_large", "c"]
    for around in ({"a": "a" * 5000, "runs": [1]}, {"runs": [1], "a": "a" * 5000}):
        (problem,) = documents(json.dumps(around).encode(), caps=caps)
        assert problem.code in {"too_large", "line_too_long"}
        assert "IMPORT_MAX_LINE_BYTES" in problem.sentence()


class Long(io.RawIOBase):
    """An object of 100 MB whose list holds a record of 100 kB again and again; never in memory as a whole."""

    RECORD = b'{"b": "' + b"c" * 100_000 + b'"},'
    HEAD, TAIL = b'{"a": 1, "runs": [', b'{"b": "c"}], "d": 2}'

    def __init__(self, n_records):
        self.length = len(self.HEAD) + n_records * len(self.RECORD) + len(self.TAIL)
        self.n_records, self.position = n_records, 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=0):
        self.position = offset
        return offset

    def tell(self):
        return self.position

    def readinto(self, buffer):
        inside = self.position - len(self.HEAD)
        if inside < 0:
            part = self.HEAD[self.position :]
        elif inside < self.n_records * len(self.RECORD):
            part = self.RECORD[inside % len(self.RECORD) :]
        else:
            part = self.TAIL[inside - self.n_records * len(self.RECORD) :]
        part = part[: len(buffer)]
        buffer[: len(part)] = part
        self.position += len(part)
        return len(part)


def test_a_list_of_100_million_letters_is_read_without_being_held():
    tracemalloc.start()
    try:
        n_records = sum(1 for _ in Documents(io.BufferedReader(Long(1000)), lists=LISTS))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert n_records == 1001
    assert peak < 4_000_000


def test_the_list_is_looked_for_no_further_than_the_cap():
    file = io.BytesIO(b'{"a": "' + b"a" * 1_000_000 + b'", "runs": [1]}')
    assert frame_of(file, 0, LISTS, 1000) is None
    assert file.tell() < 200_000
