import json

import pytest

from annotate.traces.base import Answered, Call, Message, Trace
from scoring.judges.working_context import declared_tools, working_context

MESSAGES = (
    Message(0, "system", "You watch wells."),
    Message(1, "user", "Is the well falling?"),
    Message(2, "assistant", "I look.", calls=(Call("toolu_9", "read.file", '{"a": 1}'), Call("toolu_8", "fit", "{}"))),
    Message(3, "tool", "slope -0.2", answers=Answered(2, 1), name="fit"),
    Message(4, "tool", "day,level", answers=Answered(2, 0), name="read.file"),
    Message(5, "assistant", "Yes, by 0.2 m."),
    Message(6, "tool", "my own plot", side="user", name="plot"),
    Message(7, "other", "Remember the pump.", name="system-reminder"),
    Message(8, "user", "And the pump?"),
    Message(9, "assistant", "", calls=(Call("toolu_7", "look", "{}"),)),
    Message(10, "assistant", "It stands still."),
)


def make_trace(messages=MESSAGES):
    return Trace("t", "sightline", messages)


def test_calls_and_outputs_are_tied_under_names_of_ours():
    sent = working_context(make_trace(), 10)
    assert [message["role"] for message in sent] == [
        *("system", "user", "assistant", "tool", "tool", "assistant", "user", "user", "assistant", "tool")
    ]
    first = sent[2]
    assert [call["id"] for call in first["tool_calls"]] == ["call-1", "call-2"]
    assert first["tool_calls"][0]["function"] == {"name": "read_file", "arguments": '{"a": 1}'}
    assert [(one["tool_call_id"], one["content"]) for one in sent[3:5]] == [
        ("call-1", "day,level"),
        ("call-2", "slope -0.2"),
    ]
    assert sent[-1] == {"role": "tool", "tool_call_id": "call-3", "content": ""}
    assert "toolu" not in json.dumps(sent)


def test_neither_the_reply_nor_what_only_the_requester_saw_is_there():
    text = json.dumps(working_context(make_trace(), 10))
    assert "It stands still." not in text
    assert "my own plot" not in text
    assert "[system-reminder]\\nRemember the pump." in text


def test_after_a_compaction_there_is_the_first_request_the_summary_and_what_follows():
    messages = (
        *MESSAGES[:4],
        Message(4, "summary", "So far: slope found."),
        Message(5, "tool", "day,level", answers=Answered(2, 0), name="read.file"),
        Message(6, "assistant", "Yes, by 0.2 m."),
    )
    assert working_context(make_trace(messages), 6) == (
        {"role": "system", "content": "You watch wells."},
        {"role": "user", "content": "Is the well falling?"},
        {"role": "user", "content": "So far: slope found."},
        {"role": "user", "content": "[tool read.file]\nday,level"},
    )


def test_a_later_session_has_its_own_system_prompt_or_the_one_before():
    later = (
        Message(11, "user", "Go on.", session=2),
        Message(12, "assistant", "Done.", session=2),
    )
    sent = working_context(make_trace((*MESSAGES, *later)), 12)
    assert [message["content"] for message in sent] == ["You watch wells.", "Go on."]
    own = (Message(11, "system", "You watch two wells.", session=2), Message(12, "user", "Go on.", session=2))
    sent = working_context(make_trace((*MESSAGES, *own, Message(13, "assistant", "Done.", session=2))), 13)
    assert [message["content"] for message in sent] == ["You watch two wells.", "Go on."]


def test_what_is_no_reply_has_no_context():
    with pytest.raises(ValueError, match="no reply"):
        working_context(make_trace(), 9)


def test_tools_are_those_that_were_called():
    tools = declared_tools(make_trace(), 10)
    assert [tool["function"]["name"] for tool in tools] == ["fit", "look", "read_file"]
    assert tools[0]["function"]["parameters"] == {"type": "object", "properties": {}, "additionalProperties": True}
    assert len(declared_tools(make_trace(), 5)) == 2
    assert declared_tools(make_trace(), 2) == ()
