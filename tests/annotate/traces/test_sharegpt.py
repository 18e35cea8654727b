import json

import pytest

from annotate.rules.requester_view import replies
from annotate.traces import sharegpt
from annotate.traces.base import Place
from annotate.traces.documents import Document
from annotate.traces.sniff import readers
from tests.annotate.traces.files import FIXTURES, SHARED, line, lines, read
from tests.annotate.traces.junk import mutations

FIXTURE = (FIXTURES / "sharegpt.json").read_bytes()
CHINESE = SHARED / "data" / "fmt-llamafactory-tools-zh" / "data" / "glaive_toolcall_zh_demo.json"


def one(*turns, **members):
    (trace,), problems, warnings = read(
        line({"conversations": [{"from": source, "value": value} for source, value in turns], **members})
    )
    assert problems == []
    return trace, [warning.code for warning in warnings]


def said(trace):
    return [(message.role, message.text) for message in trace.messages]


def test_a_list_of_calls_is_one_message_and_its_results_answer_by_place():
    trace = read(FIXTURE)[0][0]
    assert (trace.source_id, trace.language) == ("ferry-1", "zh")
    assert [message.role for message in trace.messages[:6]] == [
        *("system", "user", "assistant", "tool", "tool", "assistant")
    ]
    assert [(call.name, call.arguments) for call in trace.messages[2].calls] == [
        ("ferry", '{"from": "大连", "to": "烟台"}'),
        ("sky", '{"city": "烟台"}'),
    ]
    assert [(m.answers.index, m.answers.call) for m in trace.messages[3:5]] == [(2, 0), (2, 1)]
    assert replies(trace.messages) == (5, 9)
    assert trace.metadata["tools"].startswith("[{")


def test_a_call_that_is_no_json_is_kept_letter_for_letter():
    trace = read(FIXTURE)[0][0]
    assert [(call.name, call.arguments) for call in trace.messages[7].calls] == [("", "book(2, 'ferry')")]
    assert trace.messages[8].answers.index == 7
    assert trace.messages[6].text == "好的，订两张。\r\n"


@pytest.mark.parametrize("value", ["[]", "{}", "7", "null", '["x"]', '{"arguments": {}}', "", "[" * 100_000])
def test_json_that_is_no_call_is_kept_as_it_is(value):
    trace, warnings = one(("human", "a"), ("function_call", value), ("observation", "1"))
    assert ([call.arguments for call in trace.messages[1].calls], warnings) == ([value], [])


def test_blocks_inside_texts_are_calls_and_results():
    _, trace = read(FIXTURE)[0]
    call = trace.messages[2]
    assert (call.text, call.calls[0].name) == ("Let me look it up.", "weight")
    assert call.calls[0].arguments == '{"bird": "wren"}'
    assert (trace.messages[3].text, trace.messages[3].answers.index) == ('{"grams": 10}', 2)
    assert replies(trace.messages) == (4,)


def test_reasoning_is_private_and_images_are_named():
    _, trace = read(FIXTURE)[0]
    assert trace.metadata["messages"]["2"] == {"reasoning": "\nPRIVATE REASONING: looks like a wren.\n"}
    assert trace.messages[1].text.startswith("[image: a wren.png]\nWhich")


def test_an_image_sign_without_an_image_stays():
    assert said(one(("human", "what is <image>?"))[0]) == [("user", "what is <image>?")]


def test_calls_behind_a_text_or_another_call_are_of_one_message():
    call = '{"name": "f", "arguments": "{x"}'
    trace, warnings = one(
        ("human", "a"), ("gpt", "Wait."), ("function_call", call), ("function_call", call), ("tool", "1"), ("tool", "2")
    )
    assert (trace.messages[1].role, trace.messages[1].text, len(trace.messages[1].calls)) == ("assistant", "Wait.", 2)
    assert trace.messages[1].calls[0].arguments == "{x"
    assert [message.answers.call for message in trace.messages[2:]] == [0, 1]
    assert (replies(trace.messages), warnings) == ((), [])


def test_a_result_without_a_call_and_a_call_without_a_result_are_counted():
    trace, warnings = one(("human", "a"), ("gpt", "b"), ("observation", "1"), ("function_call", "{}"))
    assert (len(trace.messages), sorted(warnings)) == (4, ["orphan_tool_result", "unanswered_call"])


def test_an_unknown_speaker_is_private_and_counted():
    trace, warnings = one(("human", "a"), ("moderator", "fine"), ("gpt", "b"))
    assert (trace.messages[1].role, trace.messages[1].name, warnings) == ("other", "moderator", ["unknown_role"])


def test_values_that_are_no_text():
    said = [("human", None), ("gpt", {"a": 1}), ("tool", [1]), ("function_call", {"name": "f"}), ("tool", "")]
    trace, warnings = one(*said)
    assert [(message.role, message.text) for message in trace.messages] == [
        *(("user", ""), ("other", '{"a": 1}'), ("tool", "[1]"), ("assistant", ""), ("tool", ""))
    ]
    assert trace.messages[3].calls[0].name == "f"
    assert sorted(warnings) == ["non_text_content", "non_text_content", "orphan_tool_result"]


def test_equal_conversations_are_two_traces_and_other_records_are_counted():
    record = {"conversations": [{"from": "human", "value": "a"}]}
    traces, problems, warnings = read(lines(record, record, {"x": 1}, {"conversations": []}))
    assert (len(traces), len({trace.source_id for trace in traces}), problems) == (3, 3, [])
    assert [warning.code for warning in warnings] == ["unknown_record", "empty_run"]


def test_records_are_recognised_by_themselves_and_by_nobody_else():
    for record in json.loads(FIXTURE):
        assert [name for name, reader in readers().items() if not reader.sniff(record).missing] == ["sharegpt"]
    assert sharegpt.sniff({"conversations": [{"role": "user", "content": "a"}]}).missing


def test_any_json_is_taken_without_failing():
    for record in json.loads(FIXTURE):
        for changed in mutations(record):
            sharegpt.sniff(changed)
            list(sharegpt.read([Document(changed, Place("x.json"))]))


@pytest.mark.shared
def test_the_chinese_conversations_are_counted_as_they_are():
    with CHINESE.open("rb") as file:
        traces, problems, warnings = read(file)
    messages = [message for trace in traces for message in trace.messages]
    # Two observations follow a text of the agent and not a call.
    assert (len(traces), problems, [w.code for w in warnings]) == (300, [], ["orphan_tool_result"] * 2)
    assert len(messages) == 1880
    assert sum(len(message.calls) for message in messages) == 216
    assert sum(message.answers is not None for message in messages) == 216
    assert sum(len(replies(trace.messages)) for trace in traces) == 722
    assert all(call.name for message in messages for call in message.calls)
