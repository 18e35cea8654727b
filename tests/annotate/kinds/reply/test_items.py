"""Where collaborations are cut into items, and what of them is shown."""

import json

import pytest

from annotate.kinds.base import MessageBlock
from annotate.kinds.reply.items import items
from annotate.kinds.reply.label import SCHEMA
from annotate.kinds.reply.view import view
from annotate.traces.base import Answered, Call, File, Message, Trace


def trace(*messages, files=()):
    return Trace("run", "sightline", messages, files=files)


def anchors(*messages):
    return [anchor.index for anchor in items(trace(*messages), SCHEMA)]


def test_the_demo_is_cut_into_its_33_replies(demo_records):
    found = {}
    for record in demo_records:
        messages = [
            Message(index, one["role"], one["text"], one.get("session", 1), calls=tuple(one.get("calls", ())))
            for index, one in enumerate(record["messages"])
        ]
        found[record["id"]] = items(trace(*messages), SCHEMA)
    assert {len(places) for places in found.values()} == {3}
    assert sum(map(len, found.values())) == 33


def test_a_greeting_is_no_item_and_neither_is_a_text_beside_a_call():
    assert anchors(
        Message(0, "assistant", "Hello."),
        Message(1, "user", "How much?"),
        Message(2, "assistant", "I look.", calls=(Call("1", "look", ""),)),
        Message(3, "tool", "4", answers=Answered(2, 0)),
        Message(4, "assistant", "Four."),
    ) == [4]


def test_a_trace_in_which_nobody_asks_has_no_items():
    assert anchors(Message(0, "system", "You are."), Message(1, "assistant", "Hello.")) == []


def test_files_are_shown_from_when_they_were_given():
    given = trace(
        Message(0, "user", "Here."),
        Message(1, "assistant", "Thanks."),
        Message(2, "user", "And here."),
        Message(3, "assistant", "Done."),
        files=(File("a", "A", 0), File("b", "B", 2)),
    )
    assert [block.name for block in view(given, 1, SCHEMA).context if not isinstance(block, MessageBlock)] == ["a"]
    assert [block.name for block in view(given, 3, SCHEMA).context if not isinstance(block, MessageBlock)] == ["a", "b"]


def own_tools(*results, calls, language=""):
    """What stands before the reply, where the requester used tools."""
    messages = [Message(0, "user", "Look.", calls=calls, side="user"), *results, Message(9, "assistant", "Good.")]
    shown = view(Trace("run", "sightline", tuple(messages), language=language), 9, SCHEMA)
    assert shown.text.text == "Good."
    assert {block.speaker for block in shown.context} == {"you"}
    return [block.text for block in shown.context]


OPEN = Call("1", "open_door", json.dumps({"door": 3, "how": "slowly"}))
RING = Call("2", "ring", "{}")


def test_tools_the_requester_used_are_theirs_and_read_as_sentences():
    assert own_tools(Message(1, "tool", "It is open.", side="user", answers=Answered(0, 0)), calls=(OPEN,)) == [
        "Look.\n\nYou used open_door(door: 3, how: slowly).",
        "open_door showed you:\nIt is open.",
    ]


def test_each_of_several_results_names_its_tool():
    assert own_tools(
        Message(1, "tool", "Nobody comes.", side="user", answers=Answered(0, 1)),
        Message(2, "tool", "It is open.", side="user", answers=Answered(0, 0)),
        calls=(OPEN, RING),
    ) == [
        "Look.\n\nYou used open_door(door: 3, how: slowly) and ring().",
        "ring showed you:\nNobody comes.",
        "open_door showed you:\nIt is open.",
    ]


def test_a_result_names_no_tool_where_it_may_be_that_of_another():
    results = [Message(index, "tool", "1", side="user") for index in (1, 2)]
    assert own_tools(*results, calls=(OPEN, RING))[1:] == ["Your tool showed you:\n1"] * 2
    assert own_tools(results[0], calls=(RING,))[1:] == ["ring showed you:\n1"]


def test_a_chinese_run_tells_of_tools_in_chinese():
    answered = Message(1, "tool", "开了", side="user", answers=Answered(0, 0))
    assert own_tools(answered, calls=(RING, RING, OPEN), language="zh") == [
        "Look.\n\n你使用了 ring()、ring() 和 open_door(door: 3, how: slowly)。",
        "ring 显示：\n开了",
    ]


@pytest.mark.parametrize("arguments", ["door 3", "", "[1]", "{", "[" * 100_000, "1" * 10_000])
def test_arguments_that_are_no_object_are_shown_as_they_are(arguments):
    assert own_tools(calls=(Call("1", "ring", arguments),)) == [f"Look.\n\nYou used ring({arguments})."]


def test_a_message_that_says_and_does_nothing_is_not_shown():
    messages = [Message(0, "assistant", "Hello."), Message(1, "user", "", side="user"), Message(2, "user", "A?")]
    shown = view(trace(*messages, Message(3, "assistant", "A.")), 3, SCHEMA)
    assert shown.context == (MessageBlock("agent", "Hello."), MessageBlock("you", "A?"))
