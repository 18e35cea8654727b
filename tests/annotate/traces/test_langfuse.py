import json

import pytest

from annotate.rules.requester_view import replies, requester_view
from annotate.traces.base import Place, Problem, Trace
from annotate.traces.documents import Document
from annotate.traces.otel_messages import unpacked
from annotate.traces.sniff import readers
from tests.annotate.traces.files import FIXTURES, SHARED, line, lines, read
from tests.annotate.traces.junk import mutations

REAL = SHARED / "data" / "fmt-langfuse" / "worker" / "src" / "__tests__" / "chatml" / "framework-traces"


def fixture():
    return json.loads((FIXTURES / "langfuse.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def found():
    return read((FIXTURES / "langfuse.json").read_bytes())


def observation(type_="GENERATION", id_="g1", **members):
    return {
        "id": id_,
        "traceId": "t",
        "type": type_,
        "name": id_,
        "startTime": "2026-01-01T00:00:01Z",
        "endTime": "2026-01-01T00:00:02Z",
        "parentObservationId": None,
        "input": None,
        "output": None,
        **members,
    }


def trace_with(*observations, **members):
    return {"trace": {"id": "t", "name": "n", **members}, "observations": list(observations)}


def only(*observations, **members):
    (trace,), problems, _ = read(line(trace_with(*observations, **members)))
    assert problems == []
    return trace


def shown(trace):
    return [(message.role, message.text) for message in trace.messages]


def test_each_trace_is_read_once_with_its_own_id_and_session(found):
    traces, problems, _ = found
    assert ([trace.source_id for trace in traces], problems) == (["lf-7d1c", "lf-90ab"], [])
    assert traces[0].metadata["session_id"] == "morning"


def test_the_requester_said_what_the_trace_was_given_and_not_what_a_program_made_of_it(found):
    trace = found[0][0]
    assert [(m.role, m.text) for m in trace.messages if m.role in ("user", "other")] == [
        ("user", "Which bus goes to the mill?"),
        ("other", "Which bus goes to the mill? Answer in one line."),
    ]
    assert replies(trace.messages) == (5,)
    assert [m.text for m in requester_view(trace, 5).dialog] == ["Which bus goes to the mill?"]


def test_an_observation_of_a_tool_is_the_twin_of_its_result_and_counted(found):
    trace = found[0][0]
    assert [(m.text, m.answers.index) for m in trace.messages if m.role == "tool"] == [("Line 12, every 20 minutes", 3)]
    assert next(w.pointer for w in found[2] if w.code == "repeated_record") == "/0/observations/3"


def test_a_helper_called_by_a_tool_is_private_with_its_calls_and_results(found):
    trace = found[0][1]
    assert [m.role for m in trace.messages] == [
        *("system", "user", "assistant", "tool"),
        *("other", "other", "other", "tool", "other"),
        "assistant",
    ]
    assert all(m.answers for m in trace.messages if m.role == "tool")
    assert replies(trace.messages) == (9,)


def test_models_usage_and_peoples_scores_are_kept(found):
    bus, meal = found[0]
    assert (bus.metadata["model"], bus.metadata["usage"]) == ("claude-haiku", {"input": 80, "output": 21})
    assert meal.metadata["model"] == ["gpt-4o", "gemini-2.0-flash"]
    assert [label["name"] for label in bus.metadata["labels"]] == ["helpful"]
    assert [score["name"] for score in bus.metadata["scores"]] == ["tone"]


def test_no_handwriting_of_a_vendor_is_in_a_text(found):
    for trace in found[0]:
        for message in trace.messages:
            for sign in ("toolu_", "call_", "end_turn", "tool_use", "finish_reason", "STOP"):
                assert sign not in message.text


def test_a_result_that_only_its_observation_has_stands_behind_its_call():
    calls = [{"id": f"c{n}", "function": {"name": "look", "arguments": f'{{"n": {n}}}'}} for n in (1, 2)]
    trace = only(
        observation(input=[{"role": "user", "content": "u"}], output={"role": "assistant", "tool_calls": calls}),
        observation("TOOL", "t2", name="look", input={"n": 2}, output="two", endTime="2026-01-01T00:00:03Z"),
        observation("TOOL", "t1", name="look", input={"n": 1}, output="one", endTime="2026-01-01T00:00:04Z"),
        observation(id_="g2", output={"role": "assistant", "content": "end"}, endTime="2026-01-01T00:00:05Z"),
    )
    assert shown(trace) == [("user", "u"), ("assistant", ""), ("tool", "one"), ("tool", "two"), ("assistant", "end")]
    assert [m.answers.call for m in trace.messages if m.role == "tool"] == [0, 1]


def test_a_tool_that_no_model_called_is_a_private_call_with_its_result():
    trace = only(
        observation("TOOL", "t1", name="search", input={"q": 1}, output={"hits": []}),
        observation(id_="g2", input="u", output="a", endTime="2026-01-01T00:00:05Z"),
    )
    assert [(m.role, m.text, m.name) for m in trace.messages] == [
        ("user", "u", ""),
        ("other", "", "search"),
        ("tool", '{"hits": []}', "search"),
        ("assistant", "a", ""),
    ]


def test_texts_stay_letter_for_letter_also_where_they_are_json():
    for text in ('{"answer": "2"}', '["a"]', "[1] no json", ' "quoted" ', "\x1b[31mred\x1b[0m\r\n你好"):
        assert shown(only(observation(input=[{"role": "user", "content": text}], output=text))) == [
            ("user", text),
            ("assistant", text),
        ]


@pytest.mark.parametrize(
    "given",
    [
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "u"}]}], "system": "s"},
        [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
        {"contents": [{"parts": [{"text": "u"}]}], "config": {"system_instruction": "s"}},
        {"instructions": "s", "input": "u", "messages": [{"role": "user", "content": "u"}]},
        {"system": "s", "prompt": "u"},
        [{"type": "system", "content": "s"}, {"type": "human", "content": "u", "additional_kwargs": {}}],
        [
            {"lc": 1, "id": ["langchain", "SystemMessage"], "kwargs": {"content": "s"}},
            {"lc": 1, "id": ["langchain", "HumanMessage"], "kwargs": {"content": "u"}},
        ],
        [{"role": "system", "parts": [{"type": "text", "content": "s"}]}, {"role": "user", "parts": [{"text": "u"}]}],
        [{"message.role": "system", "message.content": "s"}, {"message.role": "user", "message.content": "u"}],
        [{"role": "system", "text": "s"}, {"role": "user", "text": "u"}],
    ],
)
@pytest.mark.parametrize("pack", [lambda value: value, json.dumps])
def test_the_messages_of_every_vendor_are_found(given, pack):
    trace = only(observation(input=pack(given), output=pack({"role": "assistant", "content": "a"})))
    assert shown(trace) == [("system", "s"), ("user", "u"), ("assistant", "a")]


@pytest.mark.parametrize(
    "output",
    [
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
        {"content": {"role": "model", "parts": [{"function_call": {"id": "c", "name": "f", "args": {}}}]}},
        {"object": "response", "output": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}]},
        {"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "c", "name": "f", "args": {}}]}}]},
        {"type": "ai", "content": "", "tool_calls": [{"id": "c", "name": "f", "args": {}, "type": "tool_call"}]},
        [{"toolCallType": "function", "toolCallId": "c", "toolName": "f", "args": "{}"}],
        {"generations": [[{"message": {"role": "ai", "tool_calls": [{"id": "c", "name": "f", "args": {}}]}}]]},
        [
            {
                "message.role": "assistant",
                "message.tool_calls": [
                    {"tool_call.id": "c", "tool_call.function.name": "f", "tool_call.function.arguments": "{}"}
                ],
            }
        ],
    ],
)
def test_the_calls_of_every_vendor_are_found(output):
    trace = only(observation(input="u", output=json.dumps(output)))
    (call,) = trace.messages[1].calls
    assert (trace.messages[1].role, trace.messages[1].text) == ("assistant", "")
    assert (call.id, call.name, call.arguments) == ("c", "f", "{}")


def test_results_in_a_users_role_are_nobodys_words():
    history = [
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "", "name": "f", "input": "no json {"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "", "content": "r"}, {"text": "u2"}]},
    ]
    trace = only(observation(input=history, output="a"))
    assert shown(trace) == [("user", "u"), ("assistant", ""), ("tool", "r"), ("user", "u2"), ("assistant", "a")]
    assert trace.messages[1].calls[0].arguments == "no json {"
    assert trace.messages[2].answers.index == 1


def test_definitions_of_tools_among_the_messages_are_counted_and_no_results():
    definition = {"role": "tool", "content": {"type": "function", "function": {"name": "f"}}}
    asked = [{"role": "user", "content": "u"}, definition]
    traces, _, warnings = read(line(trace_with(observation(input=asked, output="a"))))
    assert shown(traces[0]) == [("user", "u"), ("assistant", "a")]
    assert [(w.code, w.pointer) for w in warnings] == [("meta_record", "/observations/0")]


def test_reasoning_is_no_message_and_pictures_are_named():
    content = [{"type": "thinking", "thinking": "hm", "signature": "x"}, {"type": "text", "text": "a"}]
    asked = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}]
    trace = only(observation(input=asked, output={"role": "assistant", "content": content}))
    assert shown(trace) == [("user", "[image: image/png]"), ("assistant", "a")]
    assert trace.metadata["messages"]["1"]["reasoning"] == "hm"
    assert "AAAA" not in json.dumps(trace.metadata)


def test_a_role_that_nobody_knows_is_private_and_counted():
    said = [{"role": "critic", "content": "bad"}, {"role": "user", "content": "u"}]
    (trace,), _, warnings = read(line(trace_with(observation(input=said, output="a"))))
    assert (trace.messages[0].role, trace.messages[0].name, trace.messages[0].text) == ("other", "critic", "bad")
    assert [w.code for w in warnings] == ["unknown_role"]


def test_what_the_whole_run_gave_back_is_the_reply_where_no_answer_has_it():
    trace = only(observation(input="u", output="Thought: x. Final answer: 7"), input='"u"', output='"7"')
    assert shown(trace) == [("user", "u"), ("other", "Thought: x. Final answer: 7"), ("assistant", "7")]


def test_single_observations_of_an_export_come_together_by_their_trace():
    first = observation(input="u", output="a")
    other = observation(traceId="x", input="v", output="b")
    said = [{"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}]
    later = observation(id_="g2", input=said, output="a2")
    traces, problems, _ = read(lines(first, other, later))
    assert [(trace.source_id, len(trace.messages)) for trace in traces] == [("t", 3), ("x", 2)]
    assert problems == []


def test_a_page_of_the_api_holds_several_traces():
    data = [{**one.get("trace", one), "observations": one["observations"]} for one in fixture()]
    traces, problems, warnings = read(line({"data": data, "meta": {"page": 1}}))
    assert ([trace.source_id for trace in traces], problems) == (["lf-7d1c", "lf-90ab"], [])
    assert warnings[0].pointer.startswith("/data/0/observations/")


def test_the_same_observation_twice_counts_once_with_its_last_state():
    again = observation(input="u", output="a")
    (trace,), _, warnings = read(line(trace_with(observation(input="u", output=None), again)))
    assert shown(trace) == [("user", "u"), ("assistant", "a")]
    assert [w.code for w in warnings] == ["repeated_record"]


def test_a_trace_without_messages_is_kept_and_counted():
    (trace,), _, warnings = read(line(trace_with(observation("SPAN"))))
    assert (trace.messages, [w.code for w in warnings]) == ((), ["bookkeeping", "empty_run"])


def test_a_check_of_inputs_and_outputs_is_refused_with_the_reason():
    checked = {"g1": {"input": {"success": True, "data": []}, "output": {"success": False, "error": {}}}}
    traces, (problem,), _ = read(line(checked))
    assert (traces, problem.code) == ([], "no_trace")


def opened(value):
    """The record without JSON inside texts, so that junk gets everywhere."""
    if isinstance(value, dict):
        return {key: opened(member) for key, member in value.items()}
    if isinstance(value, list):
        return [opened(member) for member in value]
    return opened(unpacked(value)) if isinstance(unpacked(value), dict | list) else value


@pytest.mark.parametrize("number", [0, 1])
def test_no_record_however_odd_makes_it_fail(number):
    reader = readers()["langfuse"]
    for value in mutations(opened(fixture()[number])):
        reader.sniff(value)
        for one in reader.read([Document(value, Place("x.json", line=1))]):
            assert isinstance(one, Trace | Problem)
            assert isinstance(one, Problem) or [m.index for m in one.messages] == list(range(len(one.messages)))


@pytest.mark.shared
def test_real_traces_are_counted():
    counts = {}
    for path in sorted(REAL.glob("*.trace.json")):
        (trace,), problems, _ = read(path.read_bytes())
        assert problems == []
        messages = trace.messages
        n_calls = sum(len(message.calls) for message in messages)
        n_answered = sum(message.answers is not None for message in messages)
        counts[path.name.split("-20")[0]] = (len(messages), n_calls, n_answered, len(replies(messages)))
    assert counts == {
        "beeai": (8, 1, 1, 1),
        "claude-agent": (7, 2, 2, 1),
        "csharp-agent-with-gemini": (6, 2, 2, 1),
        "google-adk": (5, 1, 1, 1),
        "langgraph-python": (5, 1, 1, 1),
        "openai-agents": (5, 1, 1, 1),
        "pydantic-ai-with-gemini": (2, 0, 0, 1),
    }


@pytest.mark.shared
def test_real_checks_are_refused_for_what_they_are():
    for path in sorted(REAL.glob("*.chatml.json")):
        _, (problem,), _ = read(path.read_bytes())
        assert problem.code == "no_trace"
