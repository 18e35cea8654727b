import json

import pytest

from annotate.traces import openai_chat
from annotate.traces.base import Place
from annotate.traces.documents import Document
from tests.annotate.traces.files import FIXTURES, line, lines, read

ASKS = {"role": "user", "content": "a"}


def messages(*values):
    (trace,), problems, warnings = read(line({"messages": list(values)}))
    assert problems == []
    return trace.messages, [warning.code for warning in warnings]


def content(value, role="user"):
    (_, message), warnings = messages(ASKS, {"role": role, "content": value})
    return message.role, message.text, warnings


def test_parallel_calls_are_paired_and_indexes_kept():
    traces, problems, _ = read((FIXTURES / "openai_chat.jsonl").read_bytes())
    assert problems == []
    first = traces[0]
    assert first.source_id == "chat-1"
    assert [message.role for message in first.messages] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert [(m.index, m.answers.index, m.answers.call) for m in first.messages[3:5]] == [(3, 2, 1), (4, 2, 0)]
    assert first.metadata == {"id": "chat-1", "model": "an invented model"}


def test_an_image_is_named_and_never_fetched():
    traces, _, _ = read((FIXTURES / "openai_chat.jsonl").read_bytes())
    assert traces[0].messages[1].text.endswith("Bruges?\n[image: market square.png]")


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}, "[image: image/png]"),
        ({"type": "image_url", "image_url": "https://x.example/"}, "[image: ?]"),
        ({"type": "image_url"}, "[image: ?]"),
        ({"type": "image_url", "image_url": {"url": "http://[bad"}}, "[image: ?]"),
        ({"type": "file", "file": {"filename": "a.pdf"}}, "[file: a.pdf]"),
        ({"type": "input_audio"}, "[audio]"),
        ({"type": "refusal", "refusal": "No."}, "No."),
        ("plain", "plain"),
    ],
)
def test_content_parts_are_shown_by_name(part, text):
    assert content([part]) == ("user", text, [])


def test_content_may_be_null_or_a_text():
    assert content(None) == ("user", "", [])
    assert content(" a\r\n") == ("user", " a\r\n", [])


def test_unknown_parts_are_kept_private_and_counted():
    found, warnings = messages(ASKS, {"role": "assistant", "content": [{"type": "thinking", "thinking": "S"}, "b"]})
    assert (found[1].role, found[1].text, warnings) == ("assistant", "b", ["non_text_content"])
    (trace,), _, _ = read(line({"messages": [ASKS, {"role": "assistant", "content": [{"type": "thinking"}]}]}))
    assert (trace.messages[1].role, trace.messages[1].name) == ("other", "assistant")
    assert trace.metadata["messages"]["1"]["content"] == [{"type": "thinking"}]


def test_content_that_is_no_text_makes_a_message_other_but_a_result_stays_one():
    role, text, warnings = content({"a": 1}, role="assistant")
    assert (role, json.loads(text), warnings) == ("other", {"a": 1}, ["non_text_content"])
    calls = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"x": "é"}}}]}
    found, warnings = messages(calls, {"role": "tool", "tool_call_id": "a", "content": {"t": 20}})
    assert (found[1].role, found[1].text, found[1].answers.index) == ("tool", '{"t": 20}', 0)
    assert found[0].calls[0].arguments == '{"x": "é"}'
    assert warnings == ["non_text_content"]


@pytest.mark.parametrize(
    "value", [{"role": "critic", "content": "a"}, {"content": "a"}, "a", 7, None, {"role": ["user"]}]
)
def test_a_message_we_do_not_understand_is_kept_as_other(value):
    found, warnings = messages(ASKS, value)
    assert (found[1].role, json.loads(found[1].text), warnings) == ("other", value, ["unknown_role"])


def test_a_result_without_a_call_and_a_call_without_a_result_are_kept_and_counted():
    calls = {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": {"name": "f"}}]}
    found, warnings = messages(calls, {"role": "tool", "tool_call_id": "b", "content": "1"})
    assert found[1].answers is None
    assert sorted(warnings) == ["orphan_tool_result", "unanswered_call"]


def test_older_function_calls_are_calls():
    calls = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    found, warnings = messages(calls, {"role": "function", "name": "f", "content": "1"})
    assert (found[0].calls[0].name, found[1].answers.call, found[1].name, warnings) == ("f", 0, "f", [])


def test_one_list_of_messages_is_one_trace():
    (trace,), problems, warnings = read(json.dumps([ASKS, {"role": "assistant", "content": "b"}, 7]).encode())
    assert problems == []
    assert [message.role for message in trace.messages] == ["user", "assistant", "other"]
    assert [warning.pointer for warning in warnings] == ["/2"]


def test_an_unknown_record_among_known_ones_is_passed_over_and_counted():
    traces, problems, warnings = read(lines({"messages": [ASKS]}, {"type": "usage"}, [], 7))
    assert (len(traces), problems, len(warnings)) == (1, [], 3)
    assert warnings[0].code == "unknown_record"


def test_broken_json_among_known_records_is_a_problem():
    traces, (problem,), _ = read(lines({"messages": [ASKS]}) + b"{")
    assert (len(traces), problem.code, problem.line) == (1, "malformed_json", 2)


def test_a_conversation_without_an_id_is_named_by_its_messages():
    other = {"messages": [{"role": "user", "content": "b"}]}
    first, _, _ = read(lines({"messages": [ASKS]}, other))
    second, _, _ = read(lines(other, {"messages": [ASKS], "note": 1}))
    assert [trace.source_id for trace in first] == [trace.source_id for trace in second][::-1]


def test_equal_conversations_in_one_file_are_two_traces():
    traces, problems, _ = read(lines({"messages": [ASKS]}, {"messages": [ASKS]}))
    assert problems == []
    assert traces[1].source_id == f"{traces[0].source_id} line 2"


# A file is one list of messages, or conversations one by one

CONVERSATIONS = [{"messages": [{"role": "user", "content": text}]} for text in "abc"]
ANSWERS = {"role": "assistant", "content": "b"}
ALONE = {"role": "user", "content": "alone"}
NOTE = {"role": "note", "content": "Exported on a Monday."}
STRAYS = [NOTE, ALONE, {"role": None}, {"type": "usage"}, {"messages": []}, {"messages": "a"}, [], 7, "a", None]


def as_lines(values):
    return lines(*values)


def as_array(values):
    return json.dumps(values).encode()


def asked(traces):
    return [[message.text for message in trace.messages] for trace in traces]


@pytest.mark.parametrize("written", [as_lines, as_array])
@pytest.mark.parametrize(
    ("place", "stray"),
    # A message that comes first says that the file is a list of them, and an array that it is one array.
    [(place, stray) for place in range(4) for stray in STRAYS if place or stray not in (ALONE, [])],
)
def test_a_stray_record_takes_no_conversation_with_it(place, stray, written):
    values = [*CONVERSATIONS[:place], stray, *CONVERSATIONS[place:]]
    traces, problems, warnings = read(written(values))
    assert asked(traces) == [["a"], ["b"], ["c"]]
    assert (problems, [warning.code for warning in warnings]) == ([], ["unknown_record"])


@pytest.mark.parametrize("written", [as_lines, as_array])
@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_conversation_in_a_list_of_messages_is_passed_over_and_counted(place, written):
    said = [ASKS, ANSWERS, ALONE]
    traces, problems, warnings = read(written([*said[:place], CONVERSATIONS[1], *said[place:]]))
    assert asked(traces) == [["a", "b", "alone"]]
    assert (problems, [warning.code for warning in warnings]) == ([], ["unknown_record"])
    assert "A message; this file is one list of messages." in warnings[0].sentence()


def test_messages_behind_a_conversation_are_no_list_of_them():
    traces, _, warnings = read(lines(CONVERSATIONS[0], ASKS, ANSWERS))
    assert (asked(traces), [warning.code for warning in warnings]) == ([["a"]], ["unknown_record"] * 2)


@pytest.mark.parametrize("first", [NOTE, {"type": "usage"}, 7])
def test_what_comes_before_the_first_known_message_keeps_its_place(first):
    (trace,), problems, warnings = read(as_array([first, ASKS, ANSWERS]))
    assert [message.index for message in trace.messages] == [0, 1, 2]
    assert [message.role for message in trace.messages] == ["other", "user", "assistant"]
    assert (problems, [warning.code for warning in warnings]) == ([], ["unknown_role"])


def test_messages_with_other_members_are_a_list_where_the_format_is_named():
    said = [{**message, "parent": "x"} for message in (ASKS, ANSWERS) * 30]
    (trace,), problems, _ = read(lines(*said), format="openai_chat")
    assert (len(trace.messages), problems) == (60, [])


def test_no_more_than_a_few_records_are_held_before_it_is_clear_what_a_file_is():
    n_read = 0

    def documents():
        nonlocal n_read
        for number in range(1000):
            n_read += 1
            yield Document({"type": "usage"}, Place("x.jsonl", line=number + 1))

    found = openai_chat.read(documents())
    assert next(found).code == "unknown_record"
    assert n_read <= openai_chat.HELD_RECORDS + 1
