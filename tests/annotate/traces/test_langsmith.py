import json

import pytest

from annotate.rules.requester_view import replies, requester_view, visible_texts
from annotate.traces.base import Place, Trace
from annotate.traces.documents import Document
from annotate.traces.langsmith import read as read_documents
from annotate.traces.langsmith import sniff
from annotate.traces.sniff import readers, recognise
from tests.annotate.traces.files import FIXTURES, SHARED, lines, read
from tests.annotate.traces.junk import mutations

FIXTURE = FIXTURES / "langsmith.jsonl"
PAYLOADS = SHARED / "data" / "fmt-langsmith"
ASK = {"role": "user", "content": "How warm?"}


def run(id_, kind, inputs, outputs, start=0, end=None, parent=None, trace="t", **members):
    times = {"start_time": f"2026-05-04T10:00:{start:02}Z", "end_time": f"2026-05-04T10:00:{end or start:02}Z"}
    given = {"id": id_, "name": id_, "run_type": kind, "trace_id": trace, "parent_run_id": parent, **times}
    return {**given, "inputs": inputs, "outputs": outputs, "session_id": "p"} | members


def said(text, *calls):
    message = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id_, name, arguments in calls
        ]
    return message


def chose(message, **members):
    return {"choices": [{"index": 0, "finish_reason": "stop", "message": message}], **members}


def llm(id_, messages, answer, start, **members):
    return run(id_, "llm", {"model": "m", "messages": list(messages)}, chose(answer), start, start + 1, **members)


def one(*values):
    (trace,), problems, _ = read(lines(*values))
    assert (trace.format, problems) == ("langsmith", [])
    return trace


def shape(trace):
    return [(message.role, message.text) for message in trace.messages]


@pytest.fixture(scope="module")
def fixture():
    traces, problems, warnings = read(FIXTURE.read_bytes())
    assert problems == []
    return traces, warnings


def test_calls_that_repeat_the_conversation_are_one_conversation(fixture):
    trace = fixture[0][0]
    assert [message.role for message in trace.messages] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert [message.answers.call for message in trace.messages[3:5]] == [0, 1]
    assert [message.name for message in trace.messages[3:5]] == ["hours", "tickets"]
    assert trace.metadata["usage"] == {"input_tokens": 90, "output_tokens": 30, "total_tokens": 120}


def test_the_facts_of_a_trace_are_private(fixture):
    metadata = fixture[0][0].metadata
    assert (metadata["model"], metadata["success"]) == ("an invented model", "success")
    assert metadata["session_id"] == "thread-museum"
    assert metadata["labels"]["feedback_stats"]["helpful"]["n"] == 1
    assert [one["run_type"] for one in metadata["runs"]] == ["llm", "tool", "tool", "llm", "prompt", "chain"]


def test_tools_whose_results_are_told_and_other_runs_are_counted(fixture):
    said = [(warning.code, warning.line) for warning in fixture[1] if (warning.line or 0) < 7]
    assert sorted(said) == [
        ("bookkeeping", 5),
        ("repeated_record", 2),
        ("repeated_record", 3),
        ("repeated_record", 6),
    ]


def test_what_the_requester_asked_is_not_the_prompt_that_was_made_of_it(fixture):
    trace = fixture[0][1]
    (reply,) = replies(trace.messages)
    assert trace.messages[reply].text == "1890年由钟匠李氏修好。"
    assert [message.text for message in requester_view(trace, reply).dialog] == ["谁修了这座钟？"]
    assert [message.role for message in trace.messages] == [
        *("user", "other", "other", "assistant", "tool", "other", "assistant")
    ]
    assert (trace.messages[3].calls[0].name, trace.messages[4].answers.index) == ("archive", 3)
    assert trace.cluster == "example example-3"


def test_what_was_posted_and_patched_is_one_run(fixture):
    trace = fixture[0][2]
    assert shape(trace) == [("user", "Hello?"), ("assistant", "Hello, the museum here.")]
    events = [warning for warning in fixture[1] if warning.line == 10]
    assert [(warning.code, warning.pointer) for warning in events] == [("bookkeeping", "/patch/0/events")]


def test_nothing_of_the_vendor_reaches_somebody_who_labels(fixture):
    marks = ("call_museum", "7e57aaaa", "chatcmpl", "tool_calls", "constructor", "Context:", "Use the context")
    for trace in fixture[0]:
        seen = "\n".join(text for _, text in visible_texts(trace))
        assert [mark for mark in marks if mark in seen] == []


def test_runs_of_traces_may_lie_in_any_order():
    first = llm("a", [ASK], said("", ("c", "f", "{}")), 1, trace="t1")
    result = {"role": "tool", "tool_call_id": "c", "content": "20"}
    second = llm("b", [ASK, said("", ("c", "f", "{}")), result], said("Warm."), 3, trace="t1")
    other = llm("x", [ASK], said("Cold."), 1, trace="t2")
    traces, _, _ = read(lines(second, other, first))
    assert [trace.source_id for trace in traces] == ["t1", "t2"]
    assert [message.role for message in traces[0].messages] == ["user", "assistant", "tool", "assistant"]


def test_runs_inside_of_runs_are_read():
    inner = {key: member for key, member in llm("b", [ASK], said("Warm."), 1).items() if key != "trace_id"}
    outer = run("a", "chain", {"input": "How warm?"}, {"output": "Warm."}, 0, 5, trace="a", child_runs=[inner])
    array, _, _ = read(json.dumps([outer]).encode())
    whole, _, _ = read(json.dumps(outer, indent=1).encode())
    listed, _, _ = read(json.dumps({"runs": [outer], "cursors": {}}).encode())
    for traces in (array, whole, listed):
        assert [shape(trace) for trace in traces] == [[("user", "How warm?"), ("assistant", "Warm.")]]
        assert traces[0].source_id == "a"


def test_a_result_that_no_message_tells_of_answers_its_call():
    runs = [
        llm("a", [ASK], said("", ("c1", "f", '{"x": 1}'), ("c2", "g", "{}")), 1),
        run("f", "tool", {"x": 1}, {"output": "one"}, 3),
        run("g", "tool", {"input": "{}"}, {"output": {"type": "tool", "tool_call_id": "c2", "content": "two"}}, 4),
    ]
    trace = one(*runs)
    results = [(message.text, message.name, message.answers.call) for message in trace.messages[2:]]
    assert results == [("one", "f", 0), ("two", "g", 1)]


def test_a_text_that_tools_often_give_tells_of_one_run_each():
    calling = [said("", (f"c{at}", "f", "{}")) for at in (1, 2)]
    result = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
    trace = one(
        llm("a", [ASK], calling[0], 1),
        run("f1", "tool", {"x": 1}, {"output": "ok"}, 2, name="f"),
        llm("b", [ASK, calling[0], result], calling[1], 3),
        run("f2", "tool", {"x": 2}, {"output": "ok"}, 4, name="f"),
    )
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool", "assistant", "tool"]
    assert trace.messages[4].answers.index == 3


def test_a_tool_that_no_model_called_becomes_a_private_call_before_the_answer():
    trace = one(run("look", "tool", {"q": "x"}, {"found": 1}, 1), llm("a", [ASK], said("Warm."), 2))
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool", "assistant"]
    assert (trace.messages[1].calls[0].arguments, trace.messages[2].text) == ('{"q": "x"}', '{"found": 1}')
    assert trace.messages[2].answers.index == 1


def test_a_tool_that_failed_gives_its_error_as_result():
    runs = [llm("a", [ASK], said("", ("c1", "f", "{}")), 1), run("f", "tool", {}, None, 3, error="broken")]
    trace = one(*runs)
    assert (trace.messages[2].text, trace.messages[2].answers.index) == ("broken", 1)


def test_agents_inside_of_tools_are_private():
    task = {"role": "user", "content": "Find the thermometer."}
    calling = said("", ("c1", "helper", "{}"))
    result = {"role": "tool", "tool_call_id": "c1", "content": "In the hall."}
    trace = one(
        run("root", "chain", {"messages": [ASK]}, {"messages": [ASK, calling, result, said("20.")]}, 0, 9),
        llm("a", [ASK], calling, 1, parent="root"),
        run("helper", "tool", {}, {"output": "In the hall."}, 3, 6, parent="root"),
        llm("sub", [task], said("In the hall."), 4, parent="helper"),
        llm("b", [ASK, calling, result], said("20."), 7, parent="root"),
    )
    others = [message for message in trace.messages if message.role == "other"]
    assert [(message.text, message.name) for message in others] == [
        ("Find the thermometer.", "helper"),
        ("In the hall.", "helper"),
    ]
    assert [text for role, text in shape(trace) if role in ("user", "assistant", "tool")] == [
        *("How warm?", "", "In the hall.", "20.")
    ]
    assert all(message.answers for message in trace.messages if message.role == "tool")


def test_a_graph_that_gives_back_its_whole_memory_tells_it_once():
    memory = [{"role": "user", "content": "Hello?"}, said("Hello.")]
    new = {"type": "human", "content": "How warm?", "id": "m3"}
    trace = one(
        run("root", "chain", {"messages": [ASK]}, {"messages": [*memory, new, said("20.")]}, 0, 9),
        llm("a", [{"role": "system", "content": "Be kind."}, *memory, ASK], said("20."), 1, parent="root"),
    )
    assert shape(trace) == [
        ("system", "Be kind."),
        ("user", "Hello?"),
        ("assistant", "Hello."),
        ("user", "How warm?"),
        ("assistant", "20."),
    ]
    assert len(replies(trace.messages)) == 2


def test_an_outermost_run_without_an_answer_leaves_the_word_to_the_models():
    trace = one(
        run("root", "chain", {"question": "warm"}, {"verdict": {"ok": True}}, 0, 9),
        llm("a", [{"role": "user", "content": "Is it warm?"}], said("Yes."), 1, parent="root"),
    )
    assert shape(trace) == [("user", "Is it warm?"), ("assistant", "Yes.")]


def test_prompts_of_steps_that_nobody_asked_for_are_private():
    steps = [
        llm("plan", [{"role": "user", "content": "Plan for: How warm?"}], said("1. look"), 1, parent="root"),
        llm("write", [{"role": "user", "content": "Write after: 1. look"}], said("Warm."), 3, parent="root"),
    ]
    trace = one(run("root", "chain", {"input": "How warm?"}, {"output": "Warm."}, 0, 9), *steps)
    assert [text for role, text in shape(trace) if role != "other"] == ["How warm?", "Warm."]
    assert len(trace.messages) == 6


def test_a_trace_without_model_runs_has_what_the_outermost_run_says():
    trace = one(run("a", "chain", {"question": "How warm?"}, {"answer": "Warm."}))
    assert shape(trace) == [("user", "How warm?"), ("assistant", "Warm.")]


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        ({"messages": [ASK]}, chose(said("Warm."))),
        ({"messages": [["human", "How warm?"]]}, {"generations": [[{"text": "Warm."}]]}),
        ({"messages": [[{"type": "human", "content": "How warm?"}]]}, {"output": {"type": "ai", "content": "Warm."}}),
        ({"prompts": ["How warm?"]}, {"generations": [[{"text": "Warm."}, {"text": "Hot."}]]}),
        ({"input": "How warm?"}, {"output": [{"type": "message", "role": "assistant", "content": "Warm."}]}),
        ({"input": [ASK]}, {"message": said("Warm.")}),
        ({"messages": [ASK]}, {"role": "assistant", "content": [{"type": "text", "text": "Warm."}]}),
        ({"prompt": "How warm?"}, {"choices": [{"text": "Warm."}]}),
    ],
)
def test_every_form_of_inputs_and_outputs_is_a_conversation(inputs, outputs):
    assert shape(one(run("a", "llm", inputs, outputs))) == [("user", "How warm?"), ("assistant", "Warm.")]


def test_blocks_of_anthropic_are_calls_and_results():
    call = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "20"}]}
    calling = {"role": "assistant", "content": [call]}
    answer = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Warm."}]}
    trace = one(
        run("a", "llm", {"system": "Be kind.", "messages": [ASK]}, {**calling, "type": "message"}, 1),
        run("b", "llm", {"system": "Be kind.", "messages": [ASK, calling, result]}, {"message": answer}, 2),
    )
    assert shape(trace) == [
        ("system", "Be kind."),
        ("user", "How warm?"),
        ("assistant", ""),
        ("tool", "20"),
        ("assistant", "Warm."),
    ]
    assert trace.messages[3].answers.index == 2


def test_items_of_the_responses_api_are_calls_and_results():
    calls = [{"type": "function_call", "call_id": f"c{n}", "name": "f", "arguments": f"{{{n}"} for n in (1, 2)]
    outputs = [{"type": "function_call_output", "call_id": f"c{n}", "output": str(n)} for n in (2, 1)]
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "xyz"}
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Warm."}]}
    trace = one(
        run("a", "llm", {"input": [ASK]}, {"output": [thought, *calls]}, 1),
        run("b", "llm", {"input": [ASK, *calls, *outputs]}, {"output": [answer]}, 2),
    )
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [call.arguments for call in trace.messages[1].calls] == ["{1", "{2"]
    assert [message.answers.call for message in trace.messages[2:4]] == [1, 0]
    assert trace.metadata["messages"]["1"]["reasoning"] == "hm"
    assert "xyz" not in repr(trace)


def test_the_same_run_twice_counts_once():
    value = llm("a", [ASK], said("Warm."), 1)
    (trace,), _, warnings = read(lines(value, value))
    assert (len(trace.messages), [warning.code for warning in warnings]) == (2, ["repeated_record"])


def test_texts_stay_as_they_are():
    text = " \x1b[31mred\x1b[0m\r\n 你好 🚲 " * 1000
    assert one(llm("a", [{"role": "user", "content": text}], said("ok"), 1)).messages[0].text == text


def test_repeated_and_missing_ids_pair_by_their_place():
    calls = said("", ("c", "f", "1"), ("c", "f", "2"))
    results = [{"role": "tool", "content": text, "tool_call_id": "c"} for text in ("one", "two")]
    trace = one(llm("a", [ASK, calls, *results], said("Warm."), 1))
    assert [message.answers.call for message in trace.messages[2:4]] == [0, 1]


def test_a_trace_with_no_message_is_kept_and_counted():
    (trace,), _, warnings = read(lines(run("a", "chain", {"x": 1}, {"y": 2})))
    assert (trace.messages, sorted(warning.code for warning in warnings)) == ((), ["bookkeeping", "empty_run"])


def test_a_record_that_is_no_run_is_passed_over_and_counted():
    traces, _, warnings = read(lines(llm("a", [ASK], said("Warm."), 1), {"x": 1}))
    assert (len(traces), [(warning.code, warning.line) for warning in warnings]) == (1, [("unknown_record", 2)])


@pytest.mark.parametrize(
    "value",
    [
        {"run_type": "llm", "inputs": {}, "outputs": {}, "trace_id": "t"},
        {"dotted_order": "20260504T100000000000Za", "trace_id": "a", "end_time": 1},
        {"post": [], "patch": [{"trace_id": "a", "dotted_order": "x", "outputs": {}}]},
        {"runs": [{"run_type": "chain", "inputs": {}, "session_id": "p"}]},
    ],
)
def test_runs_are_known(value):
    assert recognise([value]).FORMAT == "langsmith"


@pytest.mark.parametrize(
    "value",
    [
        {"run_type": "llm"},
        {"run_type": ["llm"], "inputs": {}, "trace_id": "a"},
        {"runs": [{"id": 1}]},
        {"post": "x", "patch": None},
        {"trace_id": "a", "observations": []},
        {"inputs": {}, "outputs": {}, "trace_id": "a"},
    ],
)
def test_other_records_are_not_taken(value):
    assert sniff(value).missing


def test_every_line_of_the_fixture_is_known():
    for value in map(json.loads, FIXTURE.read_text("utf-8").splitlines()):
        assert [name for name, reader in readers().items() if not reader.sniff(value).missing] == ["langsmith"]


def test_any_json_at_any_place_is_read_without_failing():
    values = [json.loads(one) for one in FIXTURE.read_text("utf-8").splitlines()]
    for at, value in enumerate(values):
        for number, changed in enumerate(mutations(value)):
            sniff(changed)
            if number % 3 == at % 3:
                near = [values[0], changed, values[3]]
                found = list(read_documents([Document(one, Place("x.jsonl", n)) for n, one in enumerate(near, 1)]))
                assert any(isinstance(one, Trace) for one in found)


@pytest.mark.shared
def test_recorded_payloads_are_one_question_and_one_answer_each():
    paths = sorted(PAYLOADS.rglob("*.json"))
    assert len(paths) == 5
    for path in paths:
        payload = json.loads(path.read_text("utf-8"))
        (trace,), problems, warnings = read(path.read_bytes())
        assert (trace.format, problems) == ("langsmith", [])
        assert trace.source_id == payload["post"][0]["trace_id"]
        (asked,) = payload["post"][0]["inputs"]["messages"]
        answer = payload["patch"][0]["outputs"]["choices"][0]["message"]["content"]
        assert shape(trace) == [("user", asked["content"]), ("assistant", answer)]
        has_events = bool(payload["patch"][0].get("events"))
        assert [warning.code for warning in warnings] == ["bookkeeping"] * has_events
