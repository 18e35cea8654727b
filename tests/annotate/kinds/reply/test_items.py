"""Where collaborations are cut into items, and what of them is shown."""

import json

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


def test_tools_the_requester_used_are_theirs():
    shown = view(
        trace(
            Message(0, "user", "Look.", calls=(Call("1", "open_door", json.dumps({"door": 3})),), side="user"),
            Message(1, "tool", "It is open.", side="user", answers=Answered(0, 0)),
            Message(2, "assistant", "Good."),
        ),
        2,
        SCHEMA,
    )
    assert shown.context == (MessageBlock("you", 'Look.\nopen_door({"door": 3})'), MessageBlock("you", "It is open."))
    assert shown.text.text == "Good."
