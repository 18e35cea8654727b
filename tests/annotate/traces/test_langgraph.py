import json

import pytest

from annotate.rules.requester_view import replies
from annotate.traces import langgraph
from annotate.traces.base import Place
from annotate.traces.documents import Document
from annotate.traces.langchain_messages import chat_forms, is_message
from annotate.traces.sniff import readers
from tests.annotate.traces.files import FIXTURES, line, lines, read
from tests.annotate.traces.junk import JUNK, mutations

FIXTURE = (FIXTURES / "langgraph.jsonl").read_bytes()


def human(text="a", **members):
    return {"type": "human", "content": text, **members}


def ai(text="b", **members):
    return {"type": "ai", "content": text, **members}


def calling(*ids, name="f", **members):
    return ai("", tool_calls=[{"name": name, "args": {"x": 1}, "id": id_} for id_ in ids], **members)


def result(id_, text="1"):
    return {"type": "tool", "content": text, "tool_call_id": id_, "name": "f"}


def one(*values):
    (trace,), problems, warnings = read(line({"messages": list(values)}))
    assert problems == []
    return trace, [warning.code for warning in warnings]


def said(trace):
    return [(message.role, message.text) for message in trace.messages]


def test_the_newest_snapshot_of_each_thread_counts_wherever_it_stands():
    traces, problems, warnings = read(FIXTURE)
    assert (problems, [warning.code for warning in warnings]) == ([], ["repeated_record"])
    assert warnings[0].line == 3
    assert [(trace.source_id, len(trace.messages)) for trace in traces] == [("thread-a", 7), ("thread-b", 3)]
    assert traces[0].metadata["session_id"] == "thread-a"
    assert traces[0].metadata["state"]["values"] == {"route": "tides"}


def test_parallel_calls_keep_their_own_results_and_the_words_of_the_model():
    trace = read(FIXTURE)[0][0]
    assert [call.arguments for call in trace.messages[1].calls] == ['{"port":"Ostend"}', r'{"port":"Br\u00e9hat"}']
    assert [(m.index, m.answers.call) for m in trace.messages if m.answers] == [(2, 1), (3, 0)]
    assert trace.messages[5].text == "And tomorrow?\r\n"
    assert replies(trace.messages) == (4, 6)


def test_model_and_usage_are_private_and_added_up():
    first, second = read(FIXTURE)[0]
    assert first.metadata["model"] == "invented-1"
    assert first.metadata["usage"] == {"input_tokens": 30, "output_tokens": 22, "total_tokens": 52}
    assert second.metadata["model"] == "invented-2"


def test_constructors_images_and_reasoning():
    trace = read(FIXTURE)[0][1]
    assert said(trace) == [
        ("system", "Answer briefly."),
        ("user", "What is on the chart?\n[image: image/png]"),
        ("assistant", "A harbour at low water."),
    ]
    assert trace.metadata["messages"]["2"]["reasoning"][0]["thinking"].startswith("PRIVATE")
    assert "QUJD" not in json.dumps(trace.metadata)


def test_messages_under_data_and_in_pairs():
    under_data = {"type": "ai", "data": {"content": "ok", "id": "x"}}
    trace, warnings = one(["human", "hi"], under_data, {"role": "user", "content": "c"})
    assert (said(trace), warnings) == ([("user", "hi"), ("assistant", "ok"), ("user", "c")], [])


def test_a_file_may_be_one_list_of_messages():
    (trace,), problems, warnings = read(json.dumps([human(), calling("a"), result("a"), ai("c")]).encode())
    assert (problems, warnings) == ([], [])
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool", "assistant"]
    assert trace.messages[2].answers.index == 1


def test_lists_of_messages_in_an_array_are_traces():
    traces, problems, _ = read(line([[human("a"), ai()], [human("c"), ai()]]))
    assert (len(traces), problems) == (2, [])


@pytest.mark.parametrize("wrap", [lambda d: d, lambda d: {"event": "values", "data": d}, lambda d: ["values", d]])
def test_values_of_a_stream_grow_into_one_trace(wrap):
    states = [[human()], [human(), calling("a")], [human(), calling("a"), result("a"), ai()], [human("new")]]
    traces, problems, warnings = read(line([wrap({"messages": state}) for state in states]))
    assert [len(trace.messages) for trace in traces] == [4, 1]
    assert (problems, [warning.code for warning in warnings]) == ([], ["repeated_record"] * 2)


def test_updates_of_nodes_add_up():
    traces, problems, warnings = read(
        lines(
            {"__start__": {"messages": human(id="1")}},
            {"agent": {"messages": [calling("a", id="2")], "n": 1}},
            {"tools": {"messages": [result("a")]}, "log": None},
            {"agent": {"messages": [ai("B", id="3")]}},
            {"agent": {"messages": [ai("C", id="3")]}},
        )
    )
    assert [said(trace) for trace in traces] == [[("user", "a"), ("assistant", ""), ("tool", "1"), ("assistant", "C")]]
    assert traces[0].metadata["state"] == {"updates": [{"agent": {"n": 1}}]}
    assert (problems, [warning.code for warning in warnings]) == ([], ["repeated_record"])


def test_messages_in_pieces_are_one():
    node = {"langgraph_node": "agent"}
    calls = [
        [{"name": "f", "args": "", "id": "call_1", "index": 0}, {"name": "g", "args": "", "id": "call_2", "index": 1}],
        [{"name": None, "args": '{"x"', "id": None, "index": 0}],
        [{"name": None, "args": ": 1}", "id": None, "index": 0}],
    ]
    pieces = [{"type": "AIMessageChunk", "id": "2", "content": "", "tool_call_chunks": chunks} for chunks in calls]
    answer = [{"type": "AIMessageChunk", "id": "3", "content": text} for text in ("Four", " o'clock", "")]
    stream = [human(id="1"), *pieces, result("call_2"), result("call_1"), *answer]
    (trace,), problems, warnings = read(lines(*[{"event": "messages", "data": [one, node]} for one in stream]))
    assert [(call.name, call.arguments) for call in trace.messages[1].calls] == [("f", '{"x": 1}'), ("g", "")]
    assert [m.answers.call for m in trace.messages if m.answers] == [1, 0]
    assert (said(trace)[-1], problems, warnings) == (("assistant", "Four o'clock"), [], [])


def test_partial_messages_of_a_server_replace_each_other_and_other_events_are_counted():
    events = [
        {"event": "metadata", "data": {"run_id": "r"}},
        {"event": "values|inner:1", "data": {"messages": [human("private task")]}},
        {"event": "messages/partial", "data": [human(id="1")]},
        {"event": "messages/partial", "data": [ai("Fo", id="2")]},
        {"event": "messages/complete", "data": [ai("Four", id="2")]},
    ]
    (trace,), problems, warnings = read(lines(*events))
    assert (said(trace), problems) == ([("user", "a"), ("assistant", "Four")], [])
    assert [warning.code for warning in warnings] == ["bookkeeping", "bookkeeping", "repeated_record"]


def test_a_message_in_the_requesters_role_with_the_name_of_a_node_is_the_agents():
    critic = {"critic": {"messages": [human("Redo it.", name="critic")]}}
    (trace,), _, _ = read(lines(critic, {"a": {"messages": [ai()]}}))
    assert [(message.role, message.name) for message in trace.messages] == [("other", "critic"), ("assistant", "")]


def test_another_name_in_the_requesters_role_is_an_agents():
    trace, _ = one(human("Find it."), human("Found 3.", name="researcher"), ai("Three."), human("Thanks, which?"))
    assert [message.role for message in trace.messages] == ["user", "other", "assistant", "user"]
    assert trace.messages[1].name == "researcher"


def test_of_several_agents_in_a_turn_only_the_last_speaks_to_the_requester():
    hands_over = calling("1") | {"name": "b"}
    values = [ai("to the team", name="a"), hands_over, result("1"), ai("done", name="c")]
    trace, warnings = one(human(), *values, human("more?"), ai("yes", name="a"))
    assert [message.role for message in trace.messages] == [
        *("user", "other", "other", "tool", "assistant"),
        *("user", "assistant"),
    ]
    assert trace.messages[3].answers.index == 2
    assert warnings == []


def test_a_shrunken_context_is_said():
    config = {"config": {"configurable": {"thread_id": "t"}}}
    older = {**config, "values": {"messages": [human(id="1"), ai(id="2")]}, "metadata": {"step": 1}}
    newer = {**config, "values": {"messages": [ai(id="2")]}, "metadata": {"step": 2}}
    (trace,), _, warnings = read(lines(newer, older))
    assert len(trace.messages) == 1
    assert [(one.code, one.line) for one in warnings] == [("repeated_record", 2), ("shrunk_snapshot", 2)]


def test_checkpoints_of_subgraphs_are_the_agents_own():
    thread, inside = {"thread_id": "t"}, {"thread_id": "t", "checkpoint_ns": "sub:1"}
    outer = {"config": {"configurable": thread}, "checkpoint": {"channel_values": {"messages": [human(), ai()]}}}
    inner = {"config": {"configurable": inside}, "values": {"messages": [human("x")]}}
    (trace,), _, warnings = read(lines(outer, inner))
    assert (said(trace)[0], [warning.code for warning in warnings]) == (("user", "a"), ["bookkeeping"])


def test_a_message_that_removes_others_takes_nothing_away():
    trace, warnings = one(human(id="1"), {"type": "remove", "id": "1", "content": ""}, ai())
    assert (len(trace.messages), warnings) == (2, ["bookkeeping"])


@pytest.mark.parametrize(
    ("members", "arguments"),
    [
        ({"invalid_tool_calls": [{"name": "f", "args": "{x", "id": "a", "error": "no JSON"}]}, "{x"),
        ({"tool_calls": [{"name": "f", "args": {"x": "é"}, "id": "a"}]}, '{"x": "é"}'),
        ({"content": [{"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}]}, '{"x": 1}'),
        ({"additional_kwargs": {"function_call": {"name": "f", "arguments": "{}"}}}, "{}"),
        ({"additional_kwargs": {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{ }"}}]}}, "{ }"),
    ],
)
def test_calls_wherever_they_stand(members, arguments):
    trace, warnings = one(human(), ai("") | members, result("a"))
    (call,) = trace.messages[1].calls
    assert (call.name, call.arguments, trace.messages[2].answers.index, warnings) == ("f", arguments, 1, [])


def test_calls_that_were_changed_by_a_person_are_taken_as_changed():
    raw = {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": '{"x":2}'}}]}
    trace, _ = one(human(), calling("a", additional_kwargs=raw), result("a"))
    assert trace.messages[1].calls[0].arguments == '{"x": 1}'


def test_repeated_empty_and_missing_ids_are_paired_by_place():
    empty, twice = [result("", "1"), result(None, "2")], [result("a"), result("a")]
    trace, warnings = one(human(), calling("", ""), *empty, calling("a", "a"), *twice)
    assert [(m.answers.index, m.answers.call) for m in trace.messages if m.answers] == [(1, 0), (1, 1), (4, 0), (4, 1)]
    assert warnings == []


def test_results_inside_a_requesters_message_are_no_persons():
    given = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "17"}]}
    trace, warnings = one(human(), calling("a"), human([given, {"type": "text", "text": "so?"}]), ai())
    assert (said(trace)[2:4], warnings) == ([("tool", "17"), ("user", "so?")], [])


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}, "[image: image/png]"),
        ({"type": "image_url", "image_url": "https://x.example/a%20b.png"}, "[image: a b.png]"),
        ({"type": "image", "source_type": "base64", "mime_type": "image/gif", "data": "QUJD"}, "[image: image/gif]"),
        ({"type": "image", "url": "https://x.example/c.png"}, "[image: c.png]"),
        ({"type": "file", "filename": "d.pdf", "base64": "QUJD"}, "[file: d.pdf]"),
        ({"type": "audio", "base64": "QUJD"}, "[audio]"),
        ({"type": "output_text", "text": "e"}, "e"),
        ("f", "f"),
    ],
)
def test_parts_are_shown_by_name_and_data_are_not_kept(part, text):
    trace, warnings = one(human([part, {"type": "widget"}]), ai())
    assert (said(trace)[0], warnings) == (("user", text), ["non_text_content"])
    assert "QUJD" not in json.dumps(trace.metadata)


def test_null_content_and_a_refusal():
    trace, warnings = one(human(), ai(None, additional_kwargs={"refusal": "I cannot."}), human(None), ai([]))
    assert ([text for _, text in said(trace)], warnings) == (["a", "I cannot.", "", ""], [])


def test_an_unknown_type_is_kept_private():
    trace, warnings = one(human(), {"type": "widget", "content": "x"}, 7)
    assert ([message.role for message in trace.messages[1:]], warnings) == (["other", "other"], ["unknown_role"] * 2)


def test_a_state_without_messages_is_an_empty_run():
    traces, _, warnings = read(lines({"messages": [human()]}, {"messages": []}))
    assert ([len(trace.messages) for trace in traces], [w.code for w in warnings]) == ([1, 0], ["empty_run"])


def test_records_are_recognised_by_themselves_and_by_nobody_else():
    for record in [*map(json.loads, FIXTURE.splitlines()), human(), {"messages": [ai()]}, {"n": {"messages": [ai()]}}]:
        assert [name for name, reader in readers().items() if not reader.sniff(record).missing] == ["langgraph"]


def test_lines_of_other_logs_are_not_taken_for_messages():
    for other in [
        {"type": "system", "content": "x", "uuid": "1"},
        {"inputs": {"messages": [human()]}, "outputs": {"messages": [ai()]}},
        {"messages": [{"role": "user", "content": "a"}]},
    ]:
        assert langgraph.sniff(other).missing


def test_a_file_of_states_is_streamed():
    def documents():
        for number in range(1, 4):
            assert number < 4
            yield Document({"messages": [human(str(number)), ai()]}, Place("x.jsonl", line=number))
        raise AssertionError("read too far")

    assert next(langgraph.read(documents())).messages[0].text == "1"


def test_any_json_is_taken_without_failing():
    records = [json.loads(one_line) for one_line in FIXTURE.splitlines()]
    records[0]["values"]["messages"] = records[0]["values"]["messages"][:3]
    records += [{"agent": {"messages": [calling("a")]}}, {"event": "values", "data": {"messages": [human()]}}]
    piece = {"type": "AIMessageChunk", "id": "1", "content": "a", "tool_call_chunks": [{"name": "f", "args": "{"}]}
    records += [{"event": "messages", "data": [piece, {"langgraph_node": "n"}]}]
    for record in records[:2] + records[3:]:
        for changed in mutations(record):
            langgraph.sniff(changed)
            list(langgraph.read([Document(changed, Place("x.json")), Document(record, Place("x.json"))]))
    for junk in JUNK:
        is_message(junk), chat_forms(junk)
