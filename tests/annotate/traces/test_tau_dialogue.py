import json

import pytest

from annotate.rules.requester_view import replies
from annotate.traces import tau_dialogue
from annotate.traces.base import Place
from annotate.traces.documents import Document
from annotate.traces.sniff import readers
from tests.annotate.traces.files import FIXTURES, SHARED, line, lines, read
from tests.annotate.traces.junk import JUNK, mutations

FIXTURE = (FIXTURES / "tau_dialogue.jsonl").read_bytes()
FEW_SHOT = SHARED / "data/tau-bench-airline-gpt4o/few_shot_data/MockRetailDomainEnv-few_shot.jsonl"


def one(text, **members):
    (trace,), problems, warnings = read(line({"messages_display": text, **members}))
    assert problems == []
    return trace, [warning.code for warning in warnings]


def said(trace):
    return [(message.role, message.text) for message in trace.messages]


def test_a_printed_dialogue_becomes_messages_with_their_line_ends():
    traces, problems, warnings = read(FIXTURE)
    assert (problems, warnings) == ([], [])
    assert said(traces[0]) == [
        ("user", "Can you tell me whether my teapot was sent? 🫖"),
        ("assistant", "I can look. What is your order number?"),
        ("user", "It is #T100."),
        ("assistant", ""),
        ("tool", '{"order": "#T100", "status": "sent"}'),
        ("assistant", "It was sent on Monday.\n\nIs there anything else?"),
        ("user", "No, thank you!"),
    ]
    assert replies(traces[0].messages) == (1, 5)


def test_calls_are_not_printed_and_stand_where_results_follow():
    _, trace = read(FIXTURE)[0]
    assert [len(message.calls) for message in trace.messages] == [0, 1, 0, 2, 0, 0, 0, 0]
    assert [(m.answers.index, m.answers.call) for m in trace.messages if m.answers] == [(1, 0), (3, 0), (3, 1)]
    assert replies(trace.messages) == (6,)


def test_the_sign_of_the_end_is_private():
    first, second = read(FIXTURE)[0]
    assert first.metadata == {"messages": {"6": {"stop_tokens": ["###STOP###"]}}}
    assert (second.source_id, said(second)[-1]) == ("cups", ("user", ""))


def test_a_message_without_a_text_and_without_a_result_has_called():
    trace, warnings = one("user: a\nassistant: None\nuser: b")
    assert (len(trace.messages[1].calls), trace.messages[1].text, warnings) == (1, "", ["unanswered_call"])


def test_a_result_after_the_requester_is_the_result_of_no_call():
    trace, warnings = one("user: a\ntool: b\nassistant: c")
    assert (said(trace)[1], warnings) == (("tool", "b"), ["orphan_tool_result"])


def test_texts_are_kept_letter_for_letter():
    trace, _ = one("user:  a\r\n\nassistant: b \n  user: no speaker\nNone\n")
    assert said(trace) == [("user", " a\r\n"), ("assistant", "b \n  user: no speaker\nNone\n")]


def test_what_comes_before_the_first_speaker_is_private():
    (trace,), _, _ = read(line({"messages_display": "A title\nuser: a\nassistant: b"}), format="tau_dialogue")
    assert said(trace)[0] == ("other", "A title\n")


def test_other_members_are_private_and_equal_dialogues_two_traces():
    record = {"messages_display": "user: a", "task": 3}
    traces, problems, warnings = read(lines(record, record, {"messages_display": 7}))
    assert (len({trace.source_id for trace in traces}), problems) == (2, [])
    assert (traces[0].metadata, [warning.code for warning in warnings]) == ({"task": 3}, ["unknown_record"])


def test_records_are_recognised_by_themselves_and_by_nobody_else():
    for record in map(json.loads, FIXTURE.splitlines()):
        assert [name for name, reader in readers().items() if not reader.sniff(record).missing] == ["tau_dialogue"]
    for other in [*JUNK, {"messages_display": "hello"}, {"messages_display": ["user: a"]}]:
        assert tau_dialogue.sniff(other).missing


def test_any_json_is_taken_without_failing():
    for record in map(json.loads, FIXTURE.splitlines()):
        for changed in mutations(record):
            tau_dialogue.sniff(changed)
            list(tau_dialogue.read([Document(changed, Place("x.json"))]))


@pytest.mark.shared
def test_the_few_shot_dialogues_are_counted_as_they_are():
    with FEW_SHOT.open("rb") as file:
        traces, problems, warnings = read(file)
    messages = [message for trace in traces for message in trace.messages]
    assert (len(traces), problems, warnings) == (69, [], [])
    assert len(messages) == 1955
    assert sum(len(message.calls) for message in messages) == 479
    assert sum(message.answers is not None for message in messages) == 479
    assert not any("###STOP" in message.text or message.text.strip() == "None" for message in messages)
