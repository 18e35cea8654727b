import json

import pytest

from annotate.rules.requester_view import replies, requester_view
from annotate.traces import claude_ai_export
from annotate.traces.base import Place
from annotate.traces.documents import Document
from annotate.traces.sniff import readers
from tests.annotate.traces.files import FIXTURES, SHARED, line, read
from tests.annotate.traces.junk import JUNK, mutations

FIXTURE = (FIXTURES / "claude_ai_export.json").read_bytes()
SAMPLE = SHARED / "data/fmt-polylogue-chat-exports/polylogue/schemas/providers/claude-ai/representatives/sample-00.json"


def one(*messages, **members):
    (trace,), problems, warnings = read(line({"uuid": "u", "chat_messages": list(messages), **members}))
    assert problems == []
    return trace, [warning.code for warning in warnings]


def human(text="a", **members):
    return {"sender": "human", "text": text, **members}


def agent(*content, text=""):
    return {"sender": "assistant", "text": text, "content": list(content)}


def said(trace):
    return [(message.role, message.text) for message in trace.messages]


def test_the_blocks_of_a_turn_become_messages():
    traces, problems, warnings = read(FIXTURE)
    assert problems == []
    first = traces[0]
    assert [message.role for message in first.messages] == [
        *("user", "assistant", "tool", "tool", "assistant"),
        *("user", "assistant"),
    ]
    results = [message for message in first.messages if message.answers]
    assert [(one.index, one.answers.call, one.name) for one in results] == [(2, 1, "warmth"), (3, 0, "notes")]
    assert replies(first.messages) == (4, 6)
    assert (first.messages[1].text, first.messages[4].text) == ("I will look up note 4.", "Sixteen hours at 18 °C. 🍞")
    assert [(warning.code, warning.pointer) for warning in warnings] == [("other_branch", "/0/chat_messages/2")]


def test_an_attachment_with_its_text_is_a_file_of_the_requester():
    trace = read(FIXTURE)[0][0]
    (file,) = requester_view(trace, 4).files
    assert (file.name, file.text, file.available_from) == ("recipe.txt", "flour 500 g\nrest: see note 4\n", 0)
    assert trace.messages[0].text == "How long does my dough rest?\n[file: recipe.txt]\n[file: dough.jpg]"


def test_reasoning_and_the_account_are_private():
    trace = read(FIXTURE)[0][0]
    assert trace.metadata["messages"]["1"]["reasoning"] == ["PRIVATE REASONING about note 4"]
    assert trace.metadata["account"] == {"uuid": "acc-1"}


def test_messages_without_blocks_have_their_text():
    _, trace = read(FIXTURE)[0]
    assert said(trace) == [("user", "绿茶用多少度的水？"), ("assistant", "大约80度。")]


def test_results_without_ids_answer_by_place():
    call, result = {"type": "tool_use", "name": "f", "input": "{x"}, {"type": "tool_result", "content": "1"}
    trace, warnings = one(human(), agent(call, call, result, result, call, result))
    assert [(m.answers.index, m.answers.call) for m in trace.messages if m.answers] == [(1, 0), (1, 1), (4, 0)]
    assert (trace.messages[1].calls[0].arguments, warnings) == ("{x", [])


def test_a_turn_that_ends_on_a_call_is_kept():
    trace, warnings = one(human(), agent({"type": "text", "text": "b"}, {"type": "tool_use", "name": "f", "input": {}}))
    assert (said(trace)[1], len(trace.messages[1].calls), warnings) == (("assistant", "b"), 1, ["unanswered_call"])


def test_the_leaf_that_is_named_ends_the_conversation():
    messages = [
        human(uuid="1"),
        {**agent(text="old"), "uuid": "2", "parent_message_uuid": "1"},
        {**agent(text="new"), "uuid": "3", "parent_message_uuid": "1"},
    ]
    assert said(one(*messages)[0])[1] == ("assistant", "new")
    trace, warnings = one(*messages, current_leaf_message_uuid="2")
    assert (said(trace)[1], warnings) == (("assistant", "old"), ["other_branch"])


def test_a_circle_of_parents_ends():
    messages = [human(uuid="1", parent_message_uuid="2"), human(uuid="2", parent_message_uuid="1")]
    assert len(one(*messages)[0].messages) == 2


def test_files_of_one_name_are_told_apart():
    attachments = [{"file_name": "a.txt", "extracted_content": "1"}, {"file_name": "a.txt", "extracted_content": "2"}]
    trace, _ = one(human(attachments=attachments), human(attachments=[{}], files=[{"file_uuid": "f"}]))
    assert [file.name for file in trace.files] == ["a.txt", "a.txt (2)"]
    assert trace.messages[1].text == "a\n[file: attachment]\n[file: f]"


def test_unknown_blocks_and_senders_are_private_and_counted():
    trace, warnings = one(human(), agent({"type": "widget"}, text="b"), {"sender": "bot", "text": "c"}, 7)
    assert [message.role for message in trace.messages] == ["user", "assistant", "other", "other"]
    assert trace.metadata["messages"]["1"]["content"] == [{"type": "widget"}]
    assert warnings == ["non_text_content", "unknown_role", "unknown_role"]


def test_results_that_are_no_text_stay_results():
    call = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    contents = [None, "", {"x": 1}, [], [{"type": "image", "x": 1}], [{"type": "text", "text": "t"}, {"type": "image"}]]
    shown = []
    for content in contents:
        trace, _ = one(human(), agent(call, {"type": "tool_result", "tool_use_id": "a", "content": content}))
        shown.append(said(trace)[2])
        assert trace.messages[2].answers.index == 1
    assert [text for _, text in shown] == ["", "", '{"x": 1}', "", '[{"type": "image", "x": 1}]', "t"]


def test_an_empty_conversation_is_an_empty_run():
    trace, warnings = one()
    assert (trace.source_id, trace.messages, warnings) == ("u", (), ["empty_run"])


def test_records_are_recognised_by_themselves_and_by_nobody_else():
    for record in json.loads(FIXTURE):
        assert [name for name, reader in readers().items() if not reader.sniff(record).missing] == ["claude_ai_export"]
    for other in [*JUNK, {"chat_messages": [{"role": "user"}]}]:
        assert claude_ai_export.sniff(other).missing


def test_any_json_is_taken_without_failing():
    for record in json.loads(FIXTURE):
        for changed in mutations(record):
            claude_ai_export.sniff(changed)
            list(claude_ai_export.read([Document(changed, Place("x.json"))]))


@pytest.mark.shared
def test_the_sample_has_its_three_messages():
    (trace,), problems, warnings = read(SAMPLE.read_bytes())
    # Its blocks are of invented types, so that the texts beside them count.
    assert (problems, [warning.code for warning in warnings]) == ([], ["non_text_content"] * 3)
    assert [message.role for message in trace.messages] == ["user", "assistant", "user"]
    assert trace.messages[1].text.startswith("After reviewing, I found several areas for improvement.")
