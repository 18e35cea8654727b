import json
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.traces.base import Place
from annotate.traces.strict_json import LONGEST_KEY, Caps, deepest, parse


def problems(text, **caps):
    raw = text if isinstance(text, bytes) else text.encode()
    return [(one.code, one.pointer) for one in parse(raw, Place("x", line=1), caps=Caps(**caps)).problems]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": {"b": 1, "b": 2}}', ("duplicate_key", "/a/b")),
        ('{"a": [{"b/c~": 1, "b/c~": 2}]}', ("duplicate_key", "/a/0/b~1c~0")),
        ('{"a": -Infinity}', ("number_not_finite", "/a")),
        ('{"a": [1, 1e999]}', ("number_not_finite", "/a/1")),
        ('{"a": ' + "9" * 5000 + "}", ("number_too_long", "/a")),
        ('{"a": "\\u0000"}', ("nul_character", "/a")),
        ('{"a\\u0000": 1}', ("nul_character", "/a\\u0000")),
        ('{"a": "\\udc00\\ud83d"}', ("lone_surrogate", "/a")),
        ('{"a": "12345"}', ("string_too_long", "/a")),
        ('{"a": [[1]]}', ("too_deep", None)),
        ('{"a": 1', ("malformed_json", None)),
        ("{'a': 1}", ("malformed_json", None)),
        ('{"a": 01}', ("malformed_json", None)),
        ('{"a": "\n"}', ("malformed_json", None)),
        ('{"a": 1} x', ("malformed_json", None)),
        (b'{"a": "\xed\xa0\x80"}', ("not_utf8", None)),
        (b'{"a": "\x00"}', ("malformed_json", None)),
    ],
)
def test_is_refused_where_it_stands(text, expected):
    caps = {"string_characters": 4} if expected[0] == "string_too_long" else {}
    caps |= {"nesting": 2} if expected[0] == "too_deep" else {}
    assert problems(text, **caps) == [expected]


@pytest.mark.parametrize("filling", [0, "a"], ids=str)
def test_a_long_key_costs_nothing_with_what_lies_below_it(filling):
    raw = json.dumps({"k" * 100_000: [filling] * 20_000, "a": "\0"}).encode()
    tracemalloc.start()
    found = problems(raw)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == [("nul_character", "/a")]
    assert peak < 30 * len(raw)


def test_so_many_problems_are_named_as_are_asked_for_and_of_a_long_key_its_beginning():
    text = json.dumps({"k" * 1000: ["\0"] * 100})
    assert len(problems(text)) == 100
    assert problems(text, problems=3) == [("nul_character", f"/{'k' * LONGEST_KEY}/{place}") for place in range(3)]


def test_everything_wrong_in_one_record_is_named():
    assert problems('{"a": NaN, "b": "\\u0000", "c": [NaN]}') == [
        ("number_not_finite", "/a"),
        ("nul_character", "/b"),
        ("number_not_finite", "/c/0"),
    ]


def test_a_pair_of_surrogates_is_one_character():
    assert parse(b'"\\ud83d\\ude00"', Place(), caps=Caps()).value == "\N{GRINNING FACE}"


@pytest.mark.parametrize("text", ["[" * 100_000 + "]" * 100_000, '{"a":' * 100_000, '["' + '\\"' * 5_000_000])
def test_no_depth_and_no_quoting_takes_long(text):
    begun = time.monotonic()
    assert problems(text, string_characters=100)
    assert time.monotonic() - begun < 2


def test_a_cap_above_what_python_can_nest_is_a_refusal_too():
    assert problems("[" * 90_000 + "]" * 90_000, nesting=100_000) == [("too_deep", None)]


def test_messages_name_the_setting():
    (problem,) = parse(b"[[1]]", Place(), caps=Caps(nesting=1)).problems
    assert "IMPORT_MAX_NESTING" in problem.sentence()
    (problem,) = parse(b'"12345"', Place(), caps=Caps(string_characters=4)).problems
    assert "IMPORT_MAX_STRING_CHARACTERS" in problem.sentence()


def depth(value):
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return 1 + max(map(depth, inner), default=0)
    return 0


NESTED = st.recursive(
    st.text('a"\\[]{}', max_size=6),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('"\\[{', max_size=3), inner),
)


@given(NESTED)
def test_depth_is_counted_outside_strings(value):
    assert deepest(json.dumps(value).encode()) == depth(value)


def test_depth_is_counted_across_pieces_of_any_size(monkeypatch):
    """A string may begin in one piece and end in another."""
    value = [{"a[": ["}]", '"[', {"b{": "{{" * 5}]}, [[["\\"]]]]
    raw = json.dumps(value).encode()
    for size in range(1, len(raw) + 2):
        monkeypatch.setattr("annotate.traces.strict_json.PIECE", size)
        assert deepest(raw) == depth(value)


def test_a_record_of_nothing_but_quotes_takes_little_memory():
    raw = b'{"a":' * 400_000
    tracemalloc.start()
    assert deepest(raw) == 400_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5 * len(raw)
