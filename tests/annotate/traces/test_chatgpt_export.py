import json

import pytest

from annotate.rules.requester_view import replies
from annotate.traces import chatgpt_export
from annotate.traces.base import Place
from annotate.traces.documents import Document
from annotate.traces.sniff import readers
from tests.annotate.traces.files import FIXTURES, SHARED, line, read
from tests.annotate.traces.junk import JUNK, mutations

FIXTURE = (FIXTURES / "chatgpt_export.json").read_bytes()
SAMPLE = SHARED / "data/fmt-polylogue-chat-exports/polylogue/schemas/providers/chatgpt/representatives/sample-00.json"


def node(role, *parts, parent=None, content=None, **members):
    content = content or {"content_type": "text", "parts": list(parts)}
    message = {"author": {"role": role}, "content": content, **members}
    return {"message": message, "parent": parent, "children": []}


def chain(*nodes, **members):
    """A conversation without branches."""
    mapping = {str(number): {**one, "parent": str(number - 1)} for number, one in enumerate(nodes)}
    (trace,), problems, warnings = read(line({"mapping": mapping, "current_node": str(len(nodes) - 1), **members}))
    assert problems == []
    return trace, [warning.code for warning in warnings]


def said(trace):
    return [(message.role, message.text) for message in trace.messages]


def test_the_way_to_the_current_node_is_the_conversation():
    traces, problems, warnings = read(FIXTURE)
    assert (problems, [(warning.code, warning.pointer) for warning in warnings]) == (
        [],
        [("other_branch", "/0/mapping/a1b")],
    )
    assert [trace.source_id for trace in traces] == ["conv-kite", "conv-echo"]
    assert [message.role for message in traces[0].messages] == [
        *("system", "user", "assistant", "tool", "assistant"),
        *("user", "assistant"),
    ]
    assert replies(traces[0].messages) == (4, 6)


def test_a_message_to_a_tool_is_a_call_and_the_tool_its_result():
    trace = read(FIXTURE)[0][0]
    call, result = trace.messages[2:4]
    assert (call.text, call.calls[0].name, call.calls[0].arguments) == ("", "web", 'search("wind today")')
    assert (result.name, result.text, result.answers.index) == ("web", "wind 4 bft", 2)


def test_pictures_and_files_are_named_and_citations_private():
    trace = read(FIXTURE)[0][0]
    assert trace.messages[1].text == (
        "[image: my kite.png]\nCan I fly this kite today? 🪁 The limits are in the file.\n[file: limits.csv]"
    )
    assert trace.messages[4].text == "Yes: the wind is 4 bft."
    assert trace.messages[5].text == "And tomorrow?\r\n"
    assert trace.metadata["messages"]["4"]["citations"] == ["\ue200cite\ue202turn0search1\ue201"]


def test_models_are_listed_and_thoughts_go_with_the_next_message():
    trace = read(FIXTURE)[0][0]
    assert trace.metadata["model"] == ["invented-1", "invented-2"]
    assert trace.metadata["messages"]["4"]["reasoning"][0]["thoughts"][0]["summary"] == "PRIVATE REASONING"


def test_standing_instructions_are_no_request():
    _, trace = read(FIXTURE)[0]
    assert said(trace) == [
        ("system", "I paint.\nBe short."),
        ("user", "“回声”是什么？"),
        ("assistant", "声音的反射。"),
    ]


def test_what_was_not_shown_is_private():
    hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
    unseen = [node("user", "meta", **hidden), node("assistant", "draft", **hidden)]
    trace, _ = chain(node("user", "a"), *unseen, node("tool", "r"))
    assert [(message.role, message.name) for message in trace.messages] == [
        *(("user", ""), ("other", "user"), ("other", "assistant"), ("tool", ""))
    ]


def test_without_a_current_node_the_newest_leaf_counts():
    mapping = {
        "a": node("user", "a"),
        "b": node("assistant", "old", parent="a", create_time=5),
        "c": node("assistant", "new", parent="a", create_time=6),
    }
    for current in ({}, {"current_node": "gone"}, {"current_node": None}):
        (trace,), _, warnings = read(line({"mapping": mapping, **current}))
        assert (said(trace)[-1], [warning.code for warning in warnings]) == (("assistant", "new"), ["other_branch"])


def test_a_circle_of_parents_ends():
    mapping = {"a": node("user", "a", parent="b"), "b": node("assistant", "b", parent="a")}
    (trace,), _, _ = read(line({"mapping": mapping, "current_node": "b"}))
    assert len(trace.messages) == 2


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"content_type": "code", "text": "x = 1"}, "x = 1"),
        ({"content_type": "execution_output", "text": "1\x1b[0m"}, "1\x1b[0m"),
        ({"content_type": "multimodal_text", "parts": [{"content_type": "audio_transcription", "text": "hi"}]}, "hi"),
        ({"content_type": "multimodal_text", "parts": [{"content_type": "audio_asset_pointer"}]}, "[audio]"),
        ({"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}]}, "[image: ?]"),
    ],
)
def test_contents_of_other_types(content, text):
    trace, warnings = chain(node("user", content=content))
    assert (said(trace), warnings) == ([("user", text)], [])


def test_a_content_that_is_not_understood_is_kept_private_and_counted():
    trace, warnings = chain(node("assistant", {"content_type": "widget", "x": 1}), node("user", content={"y": [2]}))
    assert (said(trace), warnings) == ([("assistant", ""), ("user", "")], ["non_text_content"] * 2)
    assert trace.metadata["messages"]["0"]["content"] == {"parts": [{"content_type": "widget", "x": 1}]}
    assert trace.metadata["messages"]["1"]["content"] == {"y": [2]}


def test_an_unknown_role_and_a_call_without_a_result_are_counted():
    trace, warnings = chain(node("critic", "a"), node("assistant", "f()", recipient="python"))
    assert ([message.role for message in trace.messages], warnings) == (
        ["other", "assistant"],
        ["unknown_role", "unanswered_call"],
    )


def test_a_conversation_without_messages_is_an_empty_run():
    root = {"message": None, "parent": None, "children": []}
    (trace,), _, (warning,) = read(line({"mapping": {"r": root}, "id": "x"}))
    assert (trace.source_id, trace.messages, warning.code) == ("x", (), "empty_run")


def test_records_are_recognised_by_themselves_and_by_nobody_else():
    for record in json.loads(FIXTURE):
        assert [name for name, reader in readers().items() if not reader.sniff(record).missing] == ["chatgpt_export"]
    for other in [*JUNK, {"mapping": {"a": 1}}, {"mapping": {}}]:
        assert chatgpt_export.sniff(other).missing


def test_any_json_is_taken_without_failing():
    for record in json.loads(FIXTURE)[1:]:
        for changed in mutations(record):
            chatgpt_export.sniff(changed)
            list(chatgpt_export.read([Document(changed, Place("x.json"))]))


@pytest.mark.shared
def test_the_sample_ends_at_its_current_node():
    (trace,), problems, warnings = read(SAMPLE.read_bytes())
    assert (problems, [warning.code for warning in warnings]) == ([], ["other_branch"])
    assert [message.role for message in trace.messages] == ["user", "user"]
