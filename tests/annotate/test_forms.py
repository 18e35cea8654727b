"""What a posted answer carries beside the label."""

import json

import pytest

from annotate.forms import MAX_REASON, SetUpForm, read_annotation, read_key, refuse_unstorable, strings_in
from annotate.kinds.base import LabelError
from annotate.kinds.reply.kind import KIND
from annotate.labeling import Timing
from annotate.models import Protocol
from tests.factories import make_person

PROTOCOLS = [Protocol(number=2, label_schema={}), Protocol(number=1, label_schema={})]
POST = {"label": "readable", "protocol": "1"}


def read(**fields):
    return read_annotation(
        {**POST, **fields}, kind=KIND, text="Some text.", shown=lambda: None, protocols=PROTOCOLS
    )


def refusals(call, *args, **kwargs):
    with pytest.raises(LabelError) as refusal:
        call(*args, **kwargs)
    return [(problem.code, problem.field) for problem in refusal.value.problems]


def test_an_answer_is_read_whole():
    answer = read(number="3", draft_number="7", raw_ms="9", active_ms="8", hidden_ms="1", reason="  because ")
    assert answer.label == {"label": "readable", "states_no_result": False, "spans": [], "comment": ""}
    assert (answer.protocol, answer.number, answer.draft_number) == (PROTOCOLS[1], 3, 7)
    assert (answer.timing, answer.reason) == (Timing(9, 8, 1), "because")


def test_numbers_that_are_not_sent_are_zero():
    answer = read(raw_ms="")
    assert (answer.number, answer.draft_number, answer.timing, answer.reason) == (0, 0, Timing(0, 0, 0), "")


@pytest.mark.parametrize("name", ["number", "draft_number", "raw_ms", "active_ms", "hidden_ms"])
@pytest.mark.parametrize("value", ["-1", "1.5", "1e3", " 1", "one", "²", "٣", "9" * 16])
def test_what_is_no_whole_number_is_refused_by_name(name, value):
    assert refusals(read, **{name: value}) == [("wrong_type", name)]
    assert read(**{name: "1"})


@pytest.mark.parametrize("name", ["number", "draft_number"])
def test_numbers_fit_the_columns_of_both_databases(name):
    assert read(**{name: str(2**31 - 1)})
    assert refusals(read, **{name: str(2**31)}) == [("wrong_type", name)]


@pytest.mark.parametrize("protocol", ["", "0", "3", "01", "1 ", "x"])
def test_a_protocol_the_project_does_not_have_is_refused(protocol):
    assert refusals(read, protocol=protocol) == [("wrong_type", "protocol")]
    assert read(protocol="2").protocol is PROTOCOLS[0]


def test_a_very_long_reason_is_cut():
    assert len(read(reason="x" * 5000).reason) == MAX_REASON


@pytest.mark.parametrize("key", ["x" * 16, "x" * 64, "Ab-_" * 5])
def test_a_key_of_the_page_is_taken(key):
    assert read_key({"key": key}) == key


@pytest.mark.parametrize("key", ["", "x" * 15, "x" * 65, "x" * 16 + "\n", "ключ" * 5, "key key key key key"])
def test_anything_else_is_no_key(key):
    assert refusals(read_key, {"key": key}) == [("wrong_type", "key")]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"comment": "a\x00b"}, "nul_character"),
        ({"reason": "\x00"}, "nul_character"),
        ({"spans": json.dumps([{"start": 0, "end": 1, "type": "reference", "quote": "\x00"}])}, "nul_character"),
        ({"spans": '[{"quote": "\\ud83d"}]'}, "lone_surrogate"),
        ({"spans": '[{"\\udc00": 1}]'}, "lone_surrogate"),
    ],
)
def test_what_no_database_stores_is_refused(fields, code):
    assert refusals(read, **fields)[0] == (code, *fields)


def test_what_can_be_stored_is_left_alone():
    refuse_unstorable({"a": ["\N{WOMAN}\u200d\N{GIRL}", {"\u202e": "\x01"}], "b": "", "c": None, "d": 5})


def test_every_text_of_a_value_is_looked_at_however_deep():
    assert sorted(strings_in({"a": ["b", ("c", {"d": "e"})], "f": [1, None, True]})) == ["a", "b", "c", "d", "e", "f"]
    deep = "x"
    for _ in range(100_000):
        deep = [deep]
    assert strings_in(deep) == ["x"]


@pytest.mark.django_db
def test_a_name_is_free_if_nobody_has_it_in_any_case_or_form():
    make_person("ana")
    good = {"username": "lea", "password": "a long enough sentence"}
    assert SetUpForm(good).is_valid()
    for taken in ("ana", "ANA", "ａｎａ"):
        form = SetUpForm({**good, "username": taken})
        assert not form.is_valid()
        assert form.errors["username"] == ["This name is taken. Choose another."]
