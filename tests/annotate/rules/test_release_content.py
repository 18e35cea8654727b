import hashlib
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.rules.release_content import (
    ContentHash,
    Outcome,
    Source,
    canonical_line,
    header,
    protocol_hash,
    row_of,
    text_hash,
    without_judges,
)

SOURCE = Source("sightline", "run-1", "a" * 64, 3, text_hash("The first."), "run-1", "trade", "en")


def test_a_line_is_the_same_whatever_the_order_of_its_keys():
    assert canonical_line({"b": 1, "a": {"d": "中", "c": None}}) == '{"a":{"c":null,"d":"中"},"b":1}'


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_line_is_one_line_for_every_reader_and_means_the_text(text):
    line = canonical_line({"text": text})
    assert line.splitlines() == [line]
    assert json.loads(line) == {"text": text}


@pytest.mark.parametrize(
    "change",
    [{"format": "x"}, {"id": "run-2"}, {"trace_hash": "b" * 64}, {"anchor": 5}, {"text_hash": text_hash("Another.")}],
)
def test_what_was_judged_makes_the_hash_of_an_item(change):
    assert replace(SOURCE, **change).item_hash() != SOURCE.item_hash()


@pytest.mark.parametrize("change", [{"cluster": "x"}, {"area": "x"}, {"language": "zh"}])
def test_how_an_item_is_grouped_does_not(change):
    assert replace(SOURCE, **change).item_hash() == SOURCE.item_hash()


def test_line_ends_of_the_system_do_not_matter_to_the_hash_of_a_text():
    assert text_hash("a\r\nb\rc") == text_hash("a\nb\nc")


def test_the_hash_is_over_header_and_lines_and_can_be_made_by_hand():
    head = header(kind="reply", rule="majority", protocol_hash="c" * 64)
    row = row_of(SOURCE, SOURCE.item_hash(), Outcome(None, "unresolved", False, []))
    line = canonical_line(row).encode() + b"\n"
    total = ContentHash(head)
    total.add(line)
    by_hand = json.dumps(head, sort_keys=True, separators=(",", ":")).encode() + b"\n" + line
    assert total.hexdigest() == hashlib.sha256(by_hand).hexdigest()


def test_a_protocol_is_known_by_what_it_says():
    assert protocol_hash("Read it.", "读它。", {}) != protocol_hash("Read it well.", "读它。", {})


def test_figures_of_judges_are_taken_out_wherever_they_stand():
    figures = {"run": 3, "measures": [{"measure": "fail", "judge": {"name": "lexical"}, "agreement": {"value": 1}}]}
    assert without_judges(figures) == {"measures": [{"measure": "fail", "agreement": {"value": 1}}]}
