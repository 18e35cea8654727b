import json
from pathlib import Path

import pytest

from annotate.rules.requester_view import replies, requester_view, visible_texts
from annotate.traces.anthropic_messages import read as read_documents
from annotate.traces.anthropic_messages import sniff
from annotate.traces.base import Place, Trace
from annotate.traces.documents import Document
from annotate.traces.sniff import readers, recognise
from tests.annotate.traces.files import FIXTURES, SHARED, line, lines, read
from tests.annotate.traces.junk import mutations

FIXTURE = FIXTURES / "anthropic_messages.jsonl"
RESPONSES = SHARED / "data" / "fmt-vercel-ai-provider-responses" / "packages" / "anthropic" / "src" / "__fixtures__"
ASK = {"role": "user", "content": "How warm?"}
ANSWER = {"role": "assistant", "content": [{"type": "text", "text": "Warm."}]}


def call(id_="toolu_1", name="thermometer", **arguments):
    return {"type": "tool_use", "id": id_, "name": name, "input": arguments}


def result(id_="toolu_1", content="20"):
    return {"type": "tool_result", "tool_use_id": id_, "content": content}


def run(*messages, **members):
    return {"model": "m", "max_tokens": 9, "system": "Be kind.", "messages": list(messages), **members}


def response(id_, *blocks, **members):
    return {"id": id_, "type": "message", "role": "assistant", "content": list(blocks), "stop_reason": "x", **members}


def text(said):
    return {"type": "text", "text": said}


def one(*values):
    (trace,), problems, _ = read(lines(*values), format="anthropic_messages")
    assert problems == []
    return trace


def shape(trace):
    return [(message.role, message.text) for message in trace.messages]


@pytest.fixture
def fixture():
    traces, problems, warnings = read(FIXTURE.read_bytes())
    assert problems == []
    return {trace.source_id: trace for trace in traces}, warnings


def test_requests_that_repeat_a_conversation_are_one_trace(fixture):
    traces, warnings = fixture
    trace = traces["msg_01Bike3"]
    assert [message.role for message in trace.messages] == [
        *("system", "other", "user", "assistant", "tool", "tool", "assistant", "tool", "user", "assistant")
    ]
    assert [warning.line for warning in warnings if warning.code == "repeated_record"] == [1, 2]
    assert trace.metadata["usage"]["input_tokens"] == 90 + 150 + 180
    assert trace.metadata["messages"]["3"]["reasoning"] == "Two parts, so two look-ups."
    assert trace.metadata["messages"]["3"]["id"] == "msg_01Bike1"


def test_parallel_results_in_another_order_find_their_calls(fixture):
    trace = fixture[0]["msg_01Bike3"]
    results = [message for message in trace.messages if message.role == "tool"]
    assert [(message.answers.index, message.answers.call) for message in results] == [(3, 1), (3, 0), (6, 0)]
    assert {message.name for message in results} == {"price_of"}
    assert trace.metadata["messages"]["5"]["is_error"] is True


def test_the_requester_sees_their_words_and_their_file_and_no_result(fixture):
    trace = fixture[0]["msg_01Bike3"]
    (reply,) = replies(trace.messages)
    view = requester_view(trace, reply)
    assert [message.text for message in view.dialog] == [
        "What would a chain and a brake pad cost for this bike? My notes are in the file.\n"
        "[image: image/jpeg]\n[file: notes.txt]",
        "And tell me the sum, please.",
    ]
    assert [(file.name, file.text) for file in view.files] == [("notes.txt", "Chain: 8-speed.\r\nPads: rim brake 🚲")]


def test_nothing_of_the_vendor_reaches_somebody_who_labels(fixture):
    marks = ("toolu_", "msg_", "end_turn", "tool_use", "ephemeral", "aW52ZW50", "c2lnbmF0", "RW5j", "system-reminder")
    for trace in fixture[0].values():
        seen = "\n".join(said for _, said in visible_texts(trace))
        assert [mark for mark in marks if mark in seen] == []


def test_base64_and_encrypted_parts_are_nowhere(fixture):
    kept = repr(list(fixture[0].values()))
    assert [mark for mark in ("aW52ZW50", "c2lnbmF0", "RW5j") if mark in kept] == []


def test_a_search_on_the_vendors_side_is_a_call_and_its_result_between_two_texts(fixture):
    trace = fixture[0]["msg_01Tyres"]
    first, found, last = trace.messages
    assert (first.text, first.calls[0].name, first.calls[0].arguments) == (
        "I search for that.",
        "web_search",
        '{"query": "tyre pressure city bike"}',
    )
    assert (found.name, found.answers.index) == ("web_search", 0)
    assert json.loads(found.text)[0]["url"] == "https://example.org/tyres"
    assert last.text == "City bikes ride best at about 4 bar."
    assert trace.metadata["messages"]["2"]["blocks"][0]["citations"][0]["cited_text"] == "Four bar is usual."


def test_a_batch_entry_has_the_name_it_was_given(fixture):
    trace = fixture[0]["counter-7"]
    assert shape(trace) == [("assistant", "The workshop opens at nine.")]
    assert trace.metadata["result"] == {"type": "succeeded"}


def test_results_come_before_what_is_said_in_the_same_message():
    said = {"role": "user", "content": [text("Thanks."), result()]}
    trace = one(run(ASK, {"role": "assistant", "content": [call()]}, said))
    assert shape(trace)[3:] == [("tool", "20"), ("user", "Thanks.")]
    assert trace.messages[3].answers.index == 2


def test_a_message_of_results_alone_is_no_persons():
    trace = one(run(ASK, {"role": "assistant", "content": [call()]}, {"role": "user", "content": [result()]}))
    assert [message.role for message in trace.messages] == ["system", "user", "assistant", "tool"]


@pytest.mark.parametrize("ids", [("toolu_1", "toolu_1"), ("", ""), (None, None)])
def test_repeated_empty_and_missing_ids_pair_by_their_place(ids):
    calls = {"role": "assistant", "content": [call(ids[0], a=1), call(ids[1], a=2)]}
    trace = one(run(ASK, calls, {"role": "user", "content": [result(ids[0], "1"), result(ids[1], "2")]}))
    assert [message.answers.call for message in trace.messages[-2:]] == [0, 1]


def test_a_result_inside_of_a_running_program_keeps_both_calls_together():
    program = {"type": "server_tool_use", "id": "p", "name": "code_execution", "input": {"code": "x"}}
    fetch = {"type": "server_tool_use", "id": "f", "name": "web_fetch", "input": {"url": "y"}}
    page = {"type": "document", "title": "T", "source": {"type": "text", "data": "the page"}}
    fetched = {"type": "web_fetch_tool_result", "tool_use_id": "f", "content": {"url": "y", "content": page}}
    ran = {"type": "code_execution_tool_result", "tool_use_id": "p", "content": {"stdout": "done"}}
    trace = one(response("msg_1", program, fetch, fetched, call("f2"), ran, text("Done.")))
    assert [message.role for message in trace.messages] == ["assistant", "tool", "tool", "assistant"]
    assert [(message.text, message.answers.call) for message in trace.messages[1:3]] == [
        ("the page", 1),
        ('{"stdout": "done"}', 0),
    ]
    assert trace.metadata["messages"]["1"]["content"] == {"url": "y"}


def test_one_answer_over_several_lines_is_one_message_and_counts_once():
    first = response("msg_1", text("I look."), usage={"output_tokens": 3})
    second = response("msg_1", call("toolu_1"), usage={"output_tokens": 8})
    third = response("msg_1", call("toolu_2"), usage={"output_tokens": 9})
    given = [{"role": "user", "content": [result(id_, id_)]} for id_ in ("toolu_1", "toolu_2")]
    opened = {"role": "user", "content": [text("Go."), {"type": "image", "source": {"type": "url", "url": "a/b.png"}}]}
    last = response("msg_2", text("So."), usage={"output_tokens": 1})
    trace = one(opened, first, second, given[0], third, given[1], last)
    assert shape(trace) == [
        ("user", "Go.\n[image: b.png]"),
        ("assistant", "I look."),
        ("tool", "toolu_1"),
        ("tool", "toolu_2"),
        ("assistant", "So."),
    ]
    assert [message.answers.call for message in trace.messages if message.role == "tool"] == [0, 1]
    assert trace.metadata["usage"] == {"output_tokens": 10}


def test_an_answer_whose_lines_each_hold_all_so_far_is_not_doubled():
    trace = one(response("msg_1", text("a")), response("msg_1", text("a"), call()))
    assert [(message.text, len(message.calls)) for message in trace.messages] == [("a", 1)]


def test_a_file_of_messages_is_one_trace_named_after_the_file():
    values = [ASK, {"role": "assistant", "content": [call()]}, {"role": "user", "content": [result()]}, ANSWER]
    trace = one(*values)
    assert (trace.source_id, [message.role for message in trace.messages]) == (
        "x",
        ["user", "assistant", "tool", "assistant"],
    )
    nested, _, _ = read(json.dumps([values]).encode(), format="anthropic_messages")
    assert shape(nested[0]) == shape(trace)


def test_responses_one_after_another_are_a_trace_each_and_twins_count_once():
    first, second = response("msg_1", text("a")), response("msg_2", text("b"))
    traces, problems, warnings = read(lines(first, second, first))
    assert ([trace.source_id for trace in traces], problems) == (["msg_1", "msg_2"], [])
    assert [(warning.code, warning.line) for warning in warnings] == [("repeated_record", 3)]


def test_the_same_request_answered_twice_is_two_samples():
    pairs = [{"request": run(ASK), "response": response(id_, text("Warm."))} for id_ in ("msg_1", "msg_2")]
    traces, _, warnings = read(lines(*pairs))
    assert ([trace.source_id for trace in traces], warnings) == (["msg_1", "msg_2"], [])


def test_conversations_side_by_side_in_one_log_stay_apart():
    other = {"role": "user", "content": "How cold?"}
    log = [
        {"request": run(ASK), "response": response("msg_1", call())},
        {"request": run(other), "response": response("msg_2", call())},
        {
            "request": run(ASK, {"role": "assistant", "content": [call()]}, {"role": "user", "content": [result()]}),
            "response": response("msg_3", text("Warm.")),
        },
    ]
    traces, _, _ = read(lines(*log))
    assert sorted(trace.source_id for trace in traces) == ["msg_2", "msg_3"]


def test_a_recorded_call_over_the_network_is_read_by_its_bodies():
    value = {
        "request": {"url": "u", "body": run(ASK)},
        "response": {"status_code": 200, "body": response("msg_1", text("Warm."))},
        "logged_at": "now",
    }
    trace = one(value)
    assert shape(trace)[1:] == [("user", "How warm?"), ("assistant", "Warm.")]
    assert trace.metadata["logged_at"] == "now"


def test_a_request_that_failed_keeps_its_error_private():
    trace = one({"request": run(ASK), "response": {"type": "error", "error": {"type": "overloaded_error"}}})
    assert [message.role for message in trace.messages] == ["system", "user"]
    assert trace.metadata["response"]["error"] == {"type": "overloaded_error"}


def test_thinking_is_kept_by_message_and_never_a_message():
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    hidden = {"type": "redacted_thinking", "data": "xyz"}
    (trace,), _, warnings = read(lines(response("msg_1", thought, hidden, text("Yes."))))
    assert shape(trace) == [("assistant", "Yes.")]
    assert trace.metadata["messages"]["0"]["reasoning"] == "hm"
    assert ("xyz" in repr(trace), [warning.code for warning in warnings]) == (False, ["encoded_part"])


def test_arguments_that_are_a_text_stay_letter_for_letter():
    block = {"type": "tool_use", "id": "t", "name": "f", "input": "{not json "}
    assert one(run(ASK, {"role": "assistant", "content": [block]})).messages[2].calls[0].arguments == "{not json "


def test_content_may_be_nothing_an_empty_text_or_empty_parts():
    trace = one(run(*({"role": "user", "content": content} for content in (None, "", [])), ANSWER))
    assert shape(trace)[1:] == [("user", ""), ("user", ""), ("user", ""), ("assistant", "Warm.")]
    assert replies(trace.messages) == ()


def test_texts_stay_as_they_are():
    said = " \x1b[31mred\x1b[0m\r\n 你好 🚲 " * 1000
    assert one(run({"role": "user", "content": said}, ANSWER)).messages[1].text == said


def test_what_is_not_understood_is_kept_private_and_counted():
    hologram = {"role": "user", "content": [{"type": "hologram", "x": 1}, text("hi")]}
    odd = [{"role": "critic", "content": "x"}, hologram, 7]
    (trace,), _, warnings = read(lines(run(ASK, *odd)), format="anthropic_messages")
    assert [(message.role, message.name) for message in trace.messages[2:]] == [
        ("other", "critic"),
        ("other", "hologram"),
        ("user", ""),
        ("other", ""),
    ]
    assert [warning.code for warning in warnings] == ["unknown_role", "non_text_content", "unknown_role"]


def test_a_compaction_is_a_summary():
    trace = one(response("msg_1", {"type": "compaction", "content": "So far."}, text("Go on.")))
    assert shape(trace) == [("summary", "So far."), ("assistant", "Go on.")]


def test_documents_by_reference_are_named():
    blocks = [
        {"type": "document", "source": {"type": "url", "url": "https://example.org/a%20b.pdf"}},
        {"type": "document", "title": "C", "source": {"type": "base64", "media_type": "application/pdf", "data": "AA"}},
        {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
    ]
    trace = one(run({"role": "user", "content": blocks}))
    assert trace.messages[1].text == "[file: a b.pdf]\n[file: C]\n[image: ?]"


def test_two_files_of_the_same_name_are_told_apart():
    block = {"type": "document", "title": "n", "source": {"type": "text", "data": "a"}}
    trace = one(run({"role": "user", "content": [block, block]}))
    assert [file.name for file in trace.files] == ["n", "n (2)"]


def test_runs_without_messages_or_ending_on_a_result_are_kept():
    (empty, ended), _, warnings = read(
        lines(
            {"custom_id": "a", "result": {"type": "errored", "error": {"type": "x"}}},
            run(ASK, {"role": "assistant", "content": [call()]}, {"role": "user", "content": [result()]}),
        )
    )
    assert (empty.messages, ended.messages[-1].role) == ((), "tool")
    assert [warning.code for warning in warnings] == ["empty_run"]


def test_unpaired_calls_and_results_are_counted():
    messages = [ASK, {"role": "assistant", "content": [call()]}, {"role": "user", "content": [result("z")]}]
    _, _, warnings = read(lines(run(*messages)))
    assert [warning.code for warning in warnings] == ["orphan_tool_result", "unanswered_call"]


def test_a_broken_line_is_a_problem_and_the_next_ones_are_read():
    traces, problems, _ = read(line(response("msg_1", text("a"))) + b"\n{broken\n" + line(response("msg_2", text("b"))))
    assert (len(traces), len(problems)) == (2, 1)


@pytest.mark.parametrize(
    "value",
    [
        run(ASK, ANSWER),
        {"messages": [ASK, {"role": "assistant", "content": [call()]}]},
        {"messages": [ASK], "tools": [{"name": "f", "input_schema": {}}]},
        [ASK, {"role": "assistant", "content": [call()]}],
        {"role": "assistant", "content": [call()]},
        {"role": "user", "content": [result()]},
        {"request": {"messages": [ASK]}, "response": response("msg_1", text("a"))},
        {"custom_id": "a", "params": {"messages": [ASK]}},
    ],
)
def test_what_only_this_api_has_is_known(value):
    assert not sniff(value).missing
    assert recognise([value]).FORMAT == "anthropic_messages"


@pytest.mark.parametrize(
    "value",
    [
        {"messages": [ASK, {"role": "assistant", "content": "Warm."}]},
        {"messages": [ASK, ANSWER]},
        ASK,
        ANSWER,
        [ASK, ANSWER],
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}], "status": "done"},
        {"type": "assistant", "uuid": "u", "message": response("msg_1", text("a"))},
        {"role": "assistant", "content": [call()], "timestamp": "now"},
        {"custom_id": "a", "method": "POST", "body": {"messages": [ASK]}},
        {"request": {"messages": [ASK]}, "response": {"choices": []}},
    ],
)
def test_what_other_formats_have_too_is_not_taken(value):
    assert sniff(value).missing


def test_records_of_the_fixture_are_known_one_by_one():
    for value in map(json.loads, FIXTURE.read_text("utf-8").splitlines()):
        assert recognise([value]).FORMAT == "anthropic_messages"


def test_any_json_at_any_place_is_read_without_failing():
    values = [json.loads(one) for one in FIXTURE.read_text("utf-8").splitlines()]
    for value in [*values, [ASK, ANSWER], ASK]:
        for changed in mutations(value):
            sniff(changed)
            found = list(read_documents([Document(changed, Place("x.jsonl", 1))]))
            assert sum(isinstance(trace, Trace) for trace in found) <= 1


def test_odd_neighbours_do_not_matter():
    values = [json.loads(one) for one in FIXTURE.read_text("utf-8").splitlines()]
    neighbours = [*values, 7, None, ASK, *values]
    documents = [Document(value, Place("x.jsonl", number)) for number, value in enumerate(neighbours)]
    traces = [one for one in read_documents(documents) if isinstance(one, Trace)]
    assert len({trace.source_id for trace in traces}) == len(traces)


@pytest.mark.shared
def test_recorded_responses_have_the_calls_and_results_of_their_blocks():
    n_calls = n_results = n_traces = 0
    for path in sorted(RESPONSES.glob("*.json")):
        content = json.loads(Path(path).read_text("utf-8"))["content"]
        (trace,), problems, _ = read(path.read_bytes())
        n_traces += 1
        assert (trace.format, problems) == ("anthropic_messages", [])
        calls = [block["name"] for block in content if block["type"].endswith("tool_use")]
        assert [call.name for message in trace.messages for call in message.calls] == calls
        results = [block for block in content if block["type"].endswith("tool_result")]
        assert sum(message.role == "tool" for message in trace.messages) == len(results)
        said = "".join(block["text"] for block in content if block["type"] == "text")
        assert "".join(message.text for message in trace.messages if message.role == "assistant") == said
        n_calls, n_results = n_calls + len(calls), n_results + len(results)
    assert (n_traces, n_calls, n_results) == (10, 15, 9)


@pytest.mark.shared
def test_recorded_responses_are_nobody_elses():
    for path in sorted(RESPONSES.glob("*.json")):
        value = json.loads(path.read_text("utf-8"))
        assert [name for name, reader in readers().items() if not reader.sniff(value).missing] == ["anthropic_messages"]
