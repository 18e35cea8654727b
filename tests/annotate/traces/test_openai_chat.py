import json

import pytest

from annotate.traces import openai_chat
from annotate.traces.base import Place
from annotate.traces.documents import Document
from tests.annotate.traces.files import FIXTURES, SHARED, line, lines, read
from tests.annotate.traces.junk import mutations

ASKS = {"role": "user", "content": "a"}


def messages(*values):
    (trace,), problems, warnings = read(line({"messages": list(values)}), format="openai_chat")
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
    thinks = {"role": "assistant", "content": [{"type": "thinking"}]}
    (trace,), _, _ = read(line({"messages": [ASKS, thinks]}), format="openai_chat")
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


@pytest.mark.parametrize(
    "other",
    [
        {"trajectory_format": "mini-swe-agent-1.1", "messages": [ASKS]},
        {"info": {"mini_version": "1.9.0"}, "messages": [ASKS]},
        {"id": 1, "epoch": 1, "input": "a", "target": "b", "messages": [ASKS]},
        {"messages": [ASKS, {"role": "assistant", "content": [{"type": "tool_use", "id": "t"}]}]},
        {"messages": [ASKS, {"type": "ai", "content": "b"}]},
        [ASKS, {"type": "ai", "content": "b"}],
    ],
)
def test_messages_with_marks_of_other_formats_are_theirs(other):
    assert openai_chat.sniff(other).missing == ("messages of no other format",)
    assert not openai_chat.sniff({"messages": [ASKS]}).missing


def test_the_signs_of_a_simulated_requester_are_private():
    found = read(lines({"messages": [ASKS, ANSWERS, {"role": "user", "content": "Thanks! ###STOP###"}]}))[0][0]
    assert found.messages[2].text == "Thanks!"
    assert found.metadata["messages"]["2"] == {"stop_tokens": ["###STOP###"]}


# Recorded steps: each has everything of its episode so far

PROTOCOL = SHARED / "data" / "fmt-eval-protocol"


def step(number, texts, env=0, **members):
    roles = ("user", "assistant")
    messages = [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]
    return {"env_index": env, "step": number, "messages": messages, **members}


def codes(warnings):
    return [warning.code for warning in warnings]


def test_of_interleaved_episodes_the_last_step_of_each_is_a_trace():
    steps = [step(0, "ab"), step(0, "xy", env=1), step(1, "abcd"), step(1, "xyz", env=1), step(2, "abcde")]
    traces, problems, warnings = read(lines(*steps))
    assert (asked(traces), problems) == ([list("abcde"), list("xyz")], [])
    assert [(warning.code, warning.line) for warning in warnings] == [
        ("repeated_record", 1),
        ("repeated_record", 2),
        ("repeated_record", 3),
    ]
    assert traces[0].metadata == {"env_index": 0, "step": 2}


@pytest.mark.parametrize("name", ["episode_id", "rollout_id", "session_id"])
@pytest.mark.parametrize("counted", ["step", "turn", "step_index"])
def test_recorders_name_episode_and_step_in_several_ways(name, counted):
    values = [{name: "e", counted: n, "messages": step(0, "abc"[:n])["messages"]} for n in (1, 2, 3)]
    traces, _, _ = read(lines(*values))
    assert asked(traces) == [["a", "b", "c"]]


def test_a_step_that_comes_late_or_twice_is_counted():
    traces, _, warnings = read(lines(step(2, "abc"), step(1, "ab"), step(2, "abc")))
    assert (asked(traces), codes(warnings)) == ([["a", "b", "c"]], ["repeated_record"] * 2)


def test_a_step_that_lacks_messages_of_the_one_before_is_said():
    traces, _, warnings = read(lines(step(1, "abcd"), step(2, "abX")))
    assert (asked(traces), codes(warnings)) == ([["a", "b", "X"]], ["repeated_record", "shrunk_snapshot"])
    assert (warnings[1].params["n"], warnings[1].line) == (2, 2)


def test_steps_that_begin_again_are_another_trace():
    traces, _, warnings = read(lines(step(0, "ab"), step(1, "abc"), step(0, "x"), step(1, "xy")))
    assert (asked(traces), codes(warnings)) == ([["a", "b", "c"], ["x", "y"]], ["repeated_record"] * 2)


def test_what_a_recorder_writes_beside_a_message_does_not_make_it_another():
    later = step(1, "abc")
    later["messages"][1]["control"] = {"reward": 0}
    traces, _, warnings = read(lines(step(0, "ab"), later))
    assert (asked(traces), codes(warnings)) == ([["a", "b", "c"]], ["repeated_record"])


def test_records_with_an_episode_or_a_step_alone_are_conversations():
    values = [{"messages": [ASKS], "step": 1}, {"messages": [ASKS, ANSWERS], "step": 2}]
    assert len(read(lines(*values))[0]) == 2
    values = [{"messages": [ASKS], "session_id": "s"}, {"messages": [ASKS, ANSWERS], "session_id": "s"}]
    assert len(read(lines(*values))[0]) == 2


def test_runs_of_one_row_share_its_cluster():
    record = {"messages": [ASKS, ANSWERS], "input_metadata": {"row_id": "row 1"}}
    traces, problems, _ = read(lines(record, {**record, "n": 2}))
    assert problems == []
    assert [(trace.source_id, trace.cluster) for trace in traces] == [("row 1", "row 1"), ("row 1 line 2", "row 1")]


def test_any_json_is_taken_without_failing():
    call = {"id": "call_1", "function": {"name": "f", "arguments": "{}"}}
    record = step(1, "a", input_metadata={"row_id": "r"})
    record["messages"] += [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "content": [{"type": "text"}]}]
    for changed in mutations(record):
        openai_chat.sniff(changed)
        after = {**record, "step": 2}
        list(openai_chat.read([Document(value, Place("x.json")) for value in (record, changed, after)]))
        list(openai_chat.read([Document(changed, Place("x.json"))]))


@pytest.mark.shared
def test_the_recorded_airline_episodes_are_two():
    path = PROTOCOL / "examples/tau2_mcp/tests/recordings/fireworks_multi_env_airline_trajectory.jsonl"
    traces, problems, warnings = read(path.read_bytes())
    assert (len(traces), problems, codes(warnings)) == (2, [], ["repeated_record"] * 11)
    assert [len(trace.messages) for trace in traces] == [26, 16]
    assert [sum(m.answers is not None for m in trace.messages) for trace in traces] == [
        sum(len(m.calls) for m in trace.messages) for trace in traces
    ]


@pytest.mark.shared
def test_the_function_calling_cases_end_on_their_call():
    traces, problems, warnings = read((PROTOCOL / "tests/pytest/data/function_calling.jsonl").read_bytes())
    assert (len(traces), problems) == (13, [])
    n_calls = sum(len(message.calls) for trace in traces for message in trace.messages)
    assert codes(warnings) == ["unanswered_call"] * n_calls
    assert all(trace.cluster == trace.metadata["input_metadata"]["row_id"] for trace in traces)


@pytest.mark.shared
def test_tasks_without_runs_are_no_traces():
    traces, problems, _ = read((PROTOCOL / "tests/chinook/tasks.jsonl").read_bytes())
    assert (traces, [problem.code for problem in problems]) == ([], ["unknown_format"])
