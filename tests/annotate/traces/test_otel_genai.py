import json
from itertools import islice

import pytest

from annotate.rules.requester_view import replies
from annotate.traces.base import Place, Problem, Trace
from annotate.traces.documents import Document
from annotate.traces.otel_messages import unpacked
from annotate.traces.sniff import readers
from tests.annotate.traces.files import FIXTURES, SHARED, line, lines, read
from tests.annotate.traces.junk import mutations

REAL = SHARED / "data" / "fmt-openinference-otel/js/packages/openinference-vercel/test/__fixtures__/v6-spans"
CODEX = SHARED / "data" / "fmt-langwatch-otel"


@pytest.fixture(scope="module")
def found():
    return read((FIXTURES / "otel_genai.jsonl").read_bytes())


def span(attributes, id_="1", trace_id="t", **members):
    return {
        "name": f"span {id_}",
        "traceId": trace_id,
        "spanId": id_,
        "startTimeUnixNano": "1760000000000000001",
        "endTimeUnixNano": f"176000000000000{id_.zfill(4)}",
        "attributes": attributes,
        **members,
    }


def chat(asked, answered, id_="1", **members):
    texts = {"gen_ai.input.messages": json.dumps(asked), "gen_ai.output.messages": json.dumps(answered)}
    return span({"gen_ai.operation.name": "chat", **texts}, id_, **members)


def one(*spans):
    (trace,), problems, _ = read(lines(*spans))
    assert problems == []
    return trace


def shown(trace):
    return [(message.role, message.text) for message in trace.messages]


U, A = {"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}


def test_each_trace_is_one_wherever_its_spans_stand_in_the_file(found):
    traces, problems, _ = found
    assert problems == []
    assert [trace.source_id[:2] for trace in traces] == ["a1", "b2", "c3", "d4", "e5"]
    assert [len(trace.messages) for trace in traces] == [5, 6, 4, 5, 5]


def test_every_convention_gives_calls_with_their_results_and_a_reply(found):
    for trace in found[0][:4]:
        assert all(message.answers for message in trace.messages if message.role == "tool")
        assert sum(message.role == "tool" for message in trace.messages) == sum(len(m.calls) for m in trace.messages)
        assert replies(trace.messages) == (len(trace.messages) - 1,)


def test_a_conversation_told_again_in_every_span_is_told_once(found):
    assert shown(found[0][4]) == [
        ("system", "You plan walks."),
        ("user", "A walk of one hour, please."),
        ("assistant", "Along the river and back."),
        ("user", "And in the rain?"),
        ("assistant", "Through the arcades."),
    ]
    assert replies(found[0][4].messages) == (2, 4)


def test_parallel_calls_get_the_results_that_only_their_own_spans_tell(found):
    plants = found[0][1].messages
    assert [(call.id, call.arguments) for call in plants[2].calls] == [
        ("call_Vb1", '{"plant": "fern"}'),
        ("call_Vb2", "fern, please"),
    ]
    assert [(m.text, m.answers.call) for m in plants[3:5]] == [("done \x1b[32mok\x1b[0m", 0), ('{"dry": 0.7}', 1)]


def test_texts_stay_letter_for_letter(found):
    assert found[0][0].messages[1].text == "Is “The Salt Road” in? 我想借这本书 📚"
    assert found[0][1].messages[1].text == "Water the ferns and tell me\r\nhow dry the soil is."
    for text in ('{"a": 1}', '["a"]', ' "b" ', "[no json"):
        asked = [{"role": "user", "parts": [{"type": "text", "content": text}]}]
        answered = [{"role": "assistant", "content": text}]
        assert shown(one(chat(asked, answered))) == [("user", text), ("assistant", text)]
        sdk = span({"ai.operationId": "ai.generateText.doGenerate", "ai.prompt": text, "ai.response.text": text})
        assert shown(one(sdk)) == [("user", text), ("assistant", text)]


def test_usage_is_that_of_the_innermost_spans_and_models_are_named(found):
    assert [trace.metadata.get("usage") for trace in found[0][:3]] == [
        {"input_tokens": 95, "output_tokens": 21},
        {"input_tokens": 20, "output_tokens": 8},
        {"prompt": 100, "completion": 11},
    ]
    assert found[0][0].metadata["model"] == "gpt-4o-mini-2024-07-18"
    assert [trace.metadata.get("session_id") for trace in found[0]] == ["visit-17", None, None, "s-4", None]
    assert found[0][0].metadata["resource"] == {"service.name": "library-desk"}


def test_reasoning_is_kept_beside_its_message_and_is_no_text(found):
    assert found[0][0].metadata["messages"]["2"]["reasoning"] == "I have to look."
    assert "I have to look." not in [message.text for message in found[0][0].messages]


def test_copies_and_spans_without_words_are_counted(found):
    counted = [(warning.code, warning.line, warning.pointer) for warning in found[2]]
    pointer = "/resourceSpans/0/scopeSpans/0/spans/"
    assert [(code, at) for code, n, at in counted if n == 1] == [
        ("bookkeeping", f"{pointer}0"),
        ("repeated_record", f"{pointer}2"),
        ("bookkeeping", f"{pointer}4"),
    ]
    assert ("no_text", 9, None) in counted


def test_no_handwriting_of_a_vendor_is_in_a_text(found):
    for trace in found[0]:
        for message in trace.messages:
            for sign in ("toolu_", "call_", "tool_calls", "finish_reason", "chatcmpl"):
                assert sign not in message.text


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.input.messages": json.dumps([U]), "gen_ai.output.messages": json.dumps([A])},
        {"gen_ai.input.messages": [U], "gen_ai.output.messages": [A]},
        {"gen_ai": {"input": {"messages": [U]}, "output": {"messages": [A]}}},
        {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "u", "gen_ai.completion.0.content": "a"},
        {"gen_ai.prompt": json.dumps([U]), "gen_ai.completion": json.dumps([A])},
        {"llm.prompts.0.user": "x", "llm.prompts.0.content": "u", "llm.completions.0.content": "a"},
        {"ai.prompt.messages": json.dumps([U]), "ai.response.text": "a", "ai.operationId": "ai.streamText.doStream"},
        {"ai.prompt": json.dumps({"prompt": "u"}), "ai.result.text": "a", "ai.operationId": "ai.generateText"},
        {"llm": {"input_messages": [{"message": U}], "output_messages": [{"message": A}]}},
        {"openinference.span.kind": "LLM", "input.value": json.dumps({"messages": [U]}), "output.value": "a"},
        {"openinference.span.kind": "CHAIN", "input.value": "u", "output.value": "a"},
        {"traceloop.span.kind": "workflow", "traceloop.entity.input": "u", "traceloop.entity.output": "a"},
        {"events": [{"event.name": "gen_ai.user.message", **U}, {"event.name": "gen_ai.choice", "message": A}]},
    ],
)
def test_every_way_to_write_down_a_request_is_read(attributes):
    assert shown(one(span(attributes))) == [("user", "u"), ("assistant", "a")]


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda spans: {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]},
        lambda spans: {"scopeSpans": [{"spans": spans}]},
        lambda spans: {"chats": spans},
        lambda spans: spans,
        lambda spans: spans[0],
    ],
)
def test_spans_are_found_in_every_grouping(wrapped):
    value = wrapped([chat([U], [A])])
    (trace,), problems, _ = read(line(value))
    assert (shown(trace), problems) == ([("user", "u"), ("assistant", "a")], [])


def test_a_large_group_of_spans_is_read_piece_by_piece():
    content = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [chat([U], [A])]}]}] * 2}, indent=1).encode()
    (trace,), problems, warnings = read(content)
    assert (shown(trace), problems) == ([("user", "u"), ("assistant", "a")], [])
    assert [(warning.code, warning.pointer) for warning in warnings] == [
        ("repeated_record", "/resourceSpans/0/scopeSpans/0/spans/0")
    ]


def test_ids_and_times_are_read_in_every_spelling():
    context = {"name": "n", "context": {"trace_id": "0xt", "span_id": "0x1"}, "parent_id": None, "attributes": {}}
    context["attributes"] = {"gen_ai.prompt": "u", "gen_ai.completion": "a"}
    times = {"start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:01Z"}
    assert one({**context, **times}).source_id == "0xt"


def test_messages_in_records_of_a_log_belong_to_their_span():
    content = {"key": "content", "value": {"stringValue": "u"}}
    said = [
        {"eventName": "gen_ai.user.message", "body": {"kvlistValue": {"values": [content]}}},
        {"eventName": "gen_ai.choice", "body": {"index": 0, "message": {"role": "assistant", "content": "a"}}},
    ]
    logs = [{"traceId": "t", "spanId": "1", "attributes": [], **event} for event in said]
    trace = one(span({"gen_ai.operation.name": "chat"}), {"resourceLogs": [{"scopeLogs": [{"logRecords": logs}]}]})
    assert shown(trace) == [("user", "u"), ("assistant", "a")]


def test_an_event_with_the_details_stands_for_attributes():
    details = {"gen_ai.input.messages": json.dumps([U]), "gen_ai.output.messages": json.dumps([A])}
    events = [{"name": "gen_ai.client.inference.operation.details", "attributes": details}]
    assert shown(one(span({"gen_ai.operation.name": "chat"}, events=events))) == [("user", "u"), ("assistant", "a")]


def test_an_agent_called_by_a_tool_is_private():
    call = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "ask", "arguments": {}}]}
    result = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": "h"}]}
    helper = [{"role": "user", "content": "task"}]
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "ask", "gen_ai.tool.call.id": "c"}
    trace = one(
        chat([U], [call], "1"),
        span({**tool, "gen_ai.tool.call.result": "h"}, "9"),
        chat(helper, [{"role": "assistant", "content": "h"}], "2", parentSpanId="9"),
        chat([U, call, result], [A], "3"),
    )
    assert [(m.role, m.text) for m in trace.messages] == [
        ("user", "u"),
        ("assistant", ""),
        ("tool", "h"),
        ("other", "task"),
        ("other", "h"),
        ("assistant", "a"),
    ]


def test_the_words_of_the_requester_are_those_at_the_root():
    root = span({"openinference.span.kind": "CHAIN", "input.value": "u", "output.value": "a"}, "9")
    inner = chat([{"role": "user", "content": "Answer this: u"}], [A], "2", parentSpanId="9")
    assert shown(one(root, inner)) == [("user", "u"), ("other", "Answer this: u"), ("assistant", "a")]


def test_a_span_written_twice_counts_once_with_its_last_state():
    (trace,), _, warnings = read(lines(chat([U], []), chat([U], [A])))
    assert shown(trace) == [("user", "u"), ("assistant", "a")]
    assert [warning.code for warning in warnings] == ["repeated_record"]


def test_a_result_that_is_a_text_loses_the_quotes_of_the_vercel_sdk_alone():
    tool = {"ai.operationId": "ai.toolCall", "ai.toolCall.name": "f", "ai.toolCall.id": "c", "ai.toolCall.args": "{}"}
    call = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "f", "arguments": {}}]}
    for result, text in (('"a\\nb"', "a\nb"), ('{"x": 1}', '{"x": 1}'), ("null", "null"), ('"open', '"open')):
        trace = one(chat([U], [call]), span({**tool, "ai.toolCall.result": result}, "2"))
        assert trace.messages[2].text == text


def test_spans_that_only_embed_or_search_are_passed_over():
    spans = [span({"openinference.span.kind": kind, "input.value": "x"}, kind) for kind in ("EMBEDDING", "RETRIEVER")]
    trace = one(*spans, chat([U], [A], "3"))
    assert shown(trace) == [("user", "u"), ("assistant", "a")]


def test_a_file_without_any_text_is_refused_for_that_reason():
    traces, (problem,), warnings = read(lines(span({"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 4})))
    assert (traces, problem.code) == ([], "no_text")
    assert [warning.code for warning in warnings] == ["bookkeeping", "no_text"]


def test_numbers_and_json_beyond_measure_are_no_harm():
    deep = "[" * 900 + "]" * 900
    huge = 10**400
    odd = chat([U], [A], startTimeUnixNano=huge, endTimeUnixNano=[huge, huge])
    odd["attributes"] |= {"gen_ai.usage.input_tokens": huge, "gen_ai.usage.output_tokens": 2.5, "input.value": deep}
    tool = span({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": deep}, "2")
    found = list(readers()["otel_genai"].read([Document([odd, tool], Place("x"))]))
    (trace,) = [one for one in found if isinstance(one, Trace)]
    assert trace.metadata["usage"] == {"output_tokens": 2.5}
    assert trace.messages[2].text == deep


def test_a_broken_line_hides_no_other():
    content = line(chat([U], [A])) + b'\n{"name": "x", "traceId\n' + line(chat([U], [A], trace_id="z"))
    traces, problems, _ = read(content)
    assert ([trace.source_id for trace in traces], len(problems)) == (["t", "z"], 1)


def test_a_record_that_is_no_span_is_counted():
    _, problems, warnings = read(lines(chat([U], [A]), {"captured": 1}))
    assert (problems, [(warning.code, warning.line) for warning in warnings]) == ([], [("unknown_record", 2)])


def opened(value):
    """The record without JSON inside texts, so that junk gets everywhere."""
    if isinstance(value, dict):
        return {key: opened(member) for key, member in value.items()}
    if isinstance(value, list):
        return [opened(member) for member in value]
    return opened(unpacked(value)) if isinstance(unpacked(value), dict | list) else value


@pytest.mark.parametrize(("open_json", "step"), [(False, 11), (True, 5)])
def test_no_record_however_odd_makes_it_fail(open_json, step):
    """Every place gets some junk, and each sort of junk comes to many places."""
    reader = readers()["otel_genai"]
    for text in (FIXTURES / "otel_genai.jsonl").read_text("utf-8").splitlines():
        whole = json.loads(text)
        for value in islice(mutations(opened(whole) if open_json else whole), 0, None, step):
            reader.sniff(value)
            for one in reader.read([Document(value, Place("x.jsonl", line=1))]):
                assert isinstance(one, Trace | Problem)
                assert isinstance(one, Problem) or [m.index for m in one.messages] == list(range(len(one.messages)))


@pytest.mark.shared
def test_real_spans_are_counted():
    counts = {}
    for path in sorted(REAL.glob("*.json")):
        traces, problems, warnings = read(path.read_bytes())
        counts[path.stem] = (
            len(traces),
            sum(len(trace.messages) for trace in traces),
            [problem.code for problem in problems],
            [warning.code for warning in warnings],
        )
    assert counts == {
        "ai-embed": (0, 0, ["no_text"], ["bookkeeping", "no_text"]),
        "ai-embed-doEmbed": (0, 0, ["no_text"], ["bookkeeping", "no_text"]),
        "ai-generateObject": (1, 2, [], []),
        "ai-generateText-doGenerate": (2, 7, [], []),
        "ai-streamText": (1, 2, [], []),
        "ai-streamText-doStream": (1, 2, [], []),
        "capture-results": (0, 0, ["unknown_format"], []),
        "spans-by-operation": (8, 22, [], ["bookkeeping", "no_text"] * 2),
    }


@pytest.mark.shared
def test_a_span_that_has_no_text_is_refused_for_that():
    (path,) = CODEX.rglob("*.json")
    assert [problem.code for problem in read(path.read_bytes())[1]] == ["no_text"]
