import json
import re

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.annotate.traces.files import ROOT, line, lines, read, record, refusal

SCHEMA = json.loads((ROOT / "annotate" / "traces" / "sightline.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
GUIDE = (ROOT / "docs" / "trace-format.md").read_text("utf-8")
EXAMPLE = json.loads(re.search(r"```json\n(.*?)```", GUIDE, re.DOTALL)[1])
CALLING = {"role": "assistant", "text": "", "calls": [{"id": "c1", "name": "f", "arguments": "{ }"}]}


def says(role, text="a", **members):
    return {"role": role, "text": text, **members}


VALID = [
    record(),
    EXAMPLE,
    record(messages=[CALLING, says("tool", "", answers="c1")]),
    record(messages=[CALLING, says("tool", "")]),
    record(messages=[says("user", "", calls=[{"name": "f", "arguments": {"a": [1]}}]), says("tool", side="user")]),
    record(messages=[says("user", side="user"), says("assistant", side="agent", session=2)]),
    record(messages=[says("system", ""), says("summary", "")]),
    record(files=[{"name": "a.txt", "text": "", "available_from": 1}], language="zh", area="", cluster="c", meta={}),
    record(messages=[says("user", whatever=1)], extra=None),
]
INVALID = [
    ([], "wrong_type"),
    ({"messages": [says("user")]}, "missing_field"),
    ({"id": "t1"}, "missing_field"),
    (record(None), "wrong_type"),
    (record("  "), "empty_value"),
    (record("x" * 256), "too_long"),
    (record(messages=[]), "empty_value"),
    (record(messages={}), "wrong_type"),
    (record(messages=["hi"]), "wrong_type"),
    (record(messages=[{"role": "user"}]), "missing_field"),
    (record(messages=[{"text": "a"}]), "missing_field"),
    (record(messages=[says("robot")]), "unknown_role"),
    (record(messages=[says(7)]), "wrong_type"),
    (record(messages=[says("user", None)]), "wrong_type"),
    (record(messages=[says("user", " ")]), "empty_value"),
    (record(messages=[says("assistant", "", calls=[])]), "empty_value"),
    (record(messages=[says("user", session=0)]), "out_of_range"),
    (record(messages=[says("user", session=True)]), "wrong_type"),
    (record(messages=[says("user", session=1.5)]), "wrong_type"),
    (record(messages=[says("user", side="agent")]), "unknown_value"),
    (record(messages=[says("summary", side="user")]), "unknown_value"),
    (record(messages=[says("system", calls=[])]), "unexpected_field"),
    (record(messages=[says("user", answers="c1")]), "unexpected_field"),
    (record(messages=[says("user", calls=[{}])]), "missing_field"),
    (record(messages=[says("user", calls=[{"name": "f", "arguments": 7}])]), "wrong_type"),
    (record(messages=[says("user", calls=[{"name": "f", "id": 7}])]), "wrong_type"),
    (record(files=[{"name": "", "text": ""}]), "empty_value"),
    (record(files=[{"name": "a"}]), "missing_field"),
    (record(files=[{"name": "a", "text": "", "available_from": -1}]), "out_of_range"),
    (record(language="fr"), "unknown_value"),
    (record(language=None), "wrong_type"),
    (record(area=7), "wrong_type"),
    (record(meta=[]), "wrong_type"),
]
BEYOND_THE_SCHEMA = [
    (record(messages=[says("tool", answers="c9")]), "orphan_tool_result", "/messages/0/answers"),
    (record(messages=[CALLING, says("tool"), says("tool")]), "orphan_tool_result", "/messages/2"),
    (record(messages=[CALLING, says("tool", side="user")]), "wrong_side", "/messages/1/side"),
    (record(messages=[says("user", session=2), says("user", session=1)]), "session_goes_back", "/messages/1/session"),
    (record(files=[{"name": "a", "text": "", "available_from": 2}]), "out_of_range", "/files/0/available_from"),
]


@pytest.mark.parametrize("value", VALID)
def test_schema_and_reader_accept(value):
    VALIDATOR.validate(value)
    traces, problems, _ = read(line(value), format="sightline")
    assert (len(traces), problems) == (1, [])


@pytest.mark.parametrize(("value", "code"), INVALID)
def test_schema_and_reader_refuse(value, code):
    assert not VALIDATOR.is_valid(value)
    content = b"[" + line(value) + b"]"
    assert refusal(content, format="sightline").code == code


@pytest.mark.parametrize(("value", "code", "pointer"), BEYOND_THE_SCHEMA)
def test_the_reader_alone_refuses_what_a_schema_cannot_say(value, code, pointer):
    VALIDATOR.validate(value)
    problem = refusal(line(value))
    assert (problem.code, problem.pointer) == (code, pointer)


PARTS = st.sampled_from([None, True, 0, 1, -1, 1.0, "", " ", "a", "en", "tool", "user", "agent", [], {}, ["a"], [{}]])
NAMES = st.sampled_from(["role", "text", "session", "side", "calls", "answers", "id", "name", "arguments", "language"])


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["user", "assistant", "system", "summary", "tool"]), st.dictionaries(NAMES, PARTS, max_size=4))
def test_schema_and_reader_agree_on_any_message(role, members):
    value = record(messages=[CALLING, {"role": role, "text": "a", **members}])
    _, problems, _ = read(line(value), format="sightline")
    beyond = {code for _, code, _ in BEYOND_THE_SCHEMA} - {"out_of_range"}
    assert VALIDATOR.is_valid(value) == (not problems or {problem.code for problem in problems} <= beyond)


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["id", "messages", "files", "language", "area", "cluster", "meta", "x"]), PARTS, max_size=4
    )
)
def test_schema_and_reader_agree_on_any_record(members):
    value = record(**{"id_": "t1"}) | members
    _, problems, _ = read(line(value), format="sightline")
    assert VALIDATOR.is_valid(value) == (not problems)


def test_the_example_reads_as_the_guide_says():
    (trace,), _, warnings = read(line(EXAMPLE))
    assert warnings == []
    assert [
        (m.index, m.session, m.answers and m.answers.call) for m in trace.messages if m.role in ("tool", "summary")
    ] == [
        (3, 1, 1),
        (4, 1, 0),
        (7, 2, None),
    ]
    assert trace.messages[2].calls[1].arguments == '{"text": "run B7 fits best"}'
    assert json.loads(trace.messages[2].calls[0].arguments) == {"column": "level"}


def test_every_problem_of_a_record_is_named():
    _, problems, _ = read(line(record("", [says("robot"), says("user", " ")], language="fr")))
    assert {problem.pointer for problem in problems} == {"/id", "/messages/0/role", "/messages/1/text", "/language"}


def test_unknown_fields_anywhere_are_kept_by_their_pointer():
    messages = [{**CALLING, "tokens": 5}, says("tool", calls_left=1)]
    (trace,), _, _ = read(line(record(messages=messages, files=[{"name": "a", "text": "", "size": 3}], meta={"m": 1})))
    assert trace.metadata == {
        "meta": {"m": 1},
        "other_fields": {"/messages/0": {"tokens": 5}, "/messages/1": {"calls_left": 1}, "/files/0": {"size": 3}},
    }


def test_a_message_without_session_stays_in_the_one_before():
    messages = [says("user"), says("user", session=3), says("assistant")]
    (trace,), _, _ = read(line(record(messages=messages)))
    assert [message.session for message in trace.messages] == [1, 3, 3]


def test_the_place_of_a_trace_is_no_part_of_what_it_is():
    first, _, _ = read(lines(record("a"), record("b")))
    second, _, _ = read(lines(record("b"), record("a")))
    assert first == second[::-1]
