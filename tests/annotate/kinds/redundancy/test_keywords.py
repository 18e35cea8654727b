"""Keywords are found where one pattern of all of them would find them, in texts of any length."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.kinds.redundancy.schema import SCHEMA, TYPES
from annotate.kinds.redundancy.suggest import Keywords, pattern_of

WORDS = {**SCHEMA["keywords"], "INC": [*SCHEMA["keywords"]["INC"], "ÉCHEC total", "not  found", "e"]}
PARTS = [
    *("error", "ERRORS", "x", "5", "503", "http ", "Status: ", "code", "\u017ftatus 500", "fa\u0131led", "time", "out"),
    *("timed  out", " ", "\n", "_", "错误", "超", "时", "échec TOTAL", "connection", "refused", "not", "found"),
    *("İ", "é"),
]


def as_one_pattern(keywords, text):
    """What stands first of each type by one pattern of all its words, and the type that is checked first."""
    found = []
    for type, words in keywords.items():
        pattern = re.compile("|".join(map(pattern_of, words)), re.IGNORECASE)
        if match := pattern.search(text):
            found.append((type, match.start(), match[0]))
    first = min(found, key=lambda one: TYPES.index(one[0]), default=None)
    return first and (first[0], first[1])


@settings(deadline=None, max_examples=400)
@given(st.lists(st.sampled_from(PARTS), max_size=12).map("".join))
def test_what_is_found_is_what_one_pattern_finds(text):
    expected, found = as_one_pattern(WORDS, text), Keywords.of(WORDS).first_in(text)
    assert (found and found[0]) == (expected and expected[0])
    if found:
        assert text.startswith(found[1], expected[1])


@pytest.mark.parametrize("text", ["x " * 2_500_000, "error_" * 800_000, "connections codes " * 250_000])
def test_five_megabytes_are_looked_through_in_a_moment(text):
    """In time of its own, not of the clock on the wall; tried at every character it takes several times as long."""
    began = time.process_time()
    assert Keywords.of(SCHEMA["keywords"]).first_in(text) is None
    assert time.process_time() - began < 5
