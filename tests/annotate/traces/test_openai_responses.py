import json
from collections import Counter

import pytest

from annotate.rules.requester_view import replies, requester_view
from annotate.traces import openai_responses
from annotate.traces.base import Place, Trace
from annotate.traces.documents import Document
from annotate.traces.identity import content_hash
from tests.annotate.traces.files import FIXTURES, SHARED, line, lines, read
from tests.annotate.traces.junk import mutations

FIXTURE = FIXTURES / "openai_responses.jsonl"
GYM = SHARED / "data" / "nemo-gym-rollouts"
SINGLE = SHARED / "data" / "fmt-vercel-ai-provider-responses" / "packages" / "openai"
MARKS = ("call_", "resp_", "msg_", "rs_0", "fc_", "tool_calls", "###", "<tool_call>", "in_progress", "gAAAA")


def user(text):
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def agent(text, **members):
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content, **members}


def call(id_, name="look", arguments="{}"):
    return {"type": "function_call", "call_id": id_, "name": name, "arguments": arguments}


def result(id_, output="ok"):
    return {"type": "function_call_output", "call_id": id_, "output": output}


def read_items(*items, **members):
    """The one trace of a record with these items, and the codes of its warnings."""
    record = {"input": [], "output": list(items), **members}
    (trace,), problems, warnings = read(line(record), format="openai_responses")
    assert problems == []
    return trace, Counter(warning.code for warning in warnings)


def outline(trace):
    """Role, text, names of calls and what is answered, of each message."""
    return [
        (one.role, one.text, *(call.name for call in one.calls), *([one.answers.call] if one.answers else []))
        for one in trace.messages
    ]


@pytest.fixture(scope="module")
def traces():
    found, problems, _ = read(FIXTURE.read_bytes())
    assert problems == []
    return {trace.source_id: trace for trace in found}


# What is what


def test_a_rollout_is_its_input_and_then_its_output(traces):
    trace = traces["greenhouse_0007 rollout 0"]
    assert [one.role for one in trace.messages] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert replies(trace.messages) == (5,)
    assert [one.text for one in requester_view(trace, 5).dialog] == ["Which of my ferns and mosses are dry? 🌿"]


def test_rollouts_of_one_task_share_its_cluster_and_have_their_own_ids(traces):
    rollouts = [trace for name, trace in traces.items() if name.startswith("greenhouse_0007")]
    assert [trace.source_id for trace in rollouts] == ["greenhouse_0007 rollout 0", "greenhouse_0007 rollout 1"]
    assert {trace.cluster for trace in rollouts} == {"greenhouse_0007"}


def test_rollouts_without_a_task_are_clustered_by_what_was_asked():
    rollout = {
        "responses_create_params": {"input": [user("a")]},
        "response": {"id": "resp_1", "output": [agent("b")]},
        "reward": 1.0,
    }
    other = {**rollout, "response": {"id": "resp_2", "output": [agent("c")]}}
    apart = {**rollout, "responses_create_params": {"input": [user("d")]}, "response": {"id": "resp_3", "output": []}}
    found, _, _ = read(lines(rollout, other, apart))
    assert found[0].cluster == found[1].cluster != found[2].cluster
    assert found[0].cluster.startswith("task ")


def test_model_usage_and_reward_are_private_under_shared_names(traces):
    metadata = traces["greenhouse_0007 rollout 1"].metadata
    assert metadata["model"] == "greenhouse-1-2026-05-01"
    assert metadata["usage"]["total_tokens"] == 151
    assert metadata["success"] == 0.5
    assert metadata["record"]["_ng_task_index"] == 7
    assert metadata["request"]["tools"][0]["name"] == "find_plant"
    assert "tools" not in metadata["response"]


def test_reasoning_is_no_message_and_is_kept_with_the_one_it_led_to(traces):
    trace = traces["greenhouse_0007 rollout 0"]
    assert trace.metadata["messages"]["2"]["reasoning"] == "Two look-ups at once."
    assert "gAAAA" not in json.dumps(dict(trace.metadata))


def test_encrypted_reasoning_is_only_said_to_be_there():
    trace, _ = read_items({"type": "reasoning", "summary": [], "encrypted_content": "gAAAAAB"}, agent("a"))
    assert trace.metadata["messages"]["0"]["reasoning"] == "[reasoning: encrypted]"


def test_reasoning_that_leads_to_no_message_is_kept_too():
    trace, _ = read_items(agent("a"), {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]})
    assert trace.metadata["reasoning"] == ["hm"]


def test_instructions_and_developer_messages_are_the_system(traces):
    assert outline(traces["resp_0a33d15155cb"])[0] == ("system", "Answer in one line.")
    assert traces["greenhouse-request-1"].messages[0].role == "system"


def test_a_tool_of_the_provider_is_a_call_with_the_result_it_holds(traces):
    assert outline(traces["resp_0a33d15155cb"])[1:] == [
        ("assistant", "", "web_search"),
        ("tool", '[{"type": "url", "url": "https://moss.invalid/care"}]', 0),
        ("assistant", "", "weather"),
        ("tool", "rain", 0),
        ("assistant", "", "image_generation"),
        ("tool", "[image: webp]", 0),
        ("assistant", "Keep it in the shade."),
    ]


def test_citations_are_private(traces):
    (item,) = traces["resp_0a33d15155cb"].metadata["messages"]["7"]["items"]
    assert item["annotations"][0]["url"] == "https://moss.invalid/care"


def test_pictures_and_files_are_named_and_never_held(traces):
    assert traces["greenhouse_0008"].messages[0].text == "How many pots are there?\n[image: image/png]"
    assert traces["greenhouse-request-1"].messages[3].text == "20 ml\n[file: moss.csv]"
    assert all("base64" not in json.dumps(dict(trace.metadata)) for trace in traces.values())


def test_a_call_written_as_text_is_a_call(traces):
    message = traces["greenhouse_0008"].messages[1]
    assert message.text == "I look closer.\n"
    assert [(one.name, one.arguments) for one in message.calls] == [
        ("zoom", "<parameter=box>\n[1, 2, 3, 4]\n</parameter>\n")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>\n<function=zoom>\n</function>\n</tool_call> and so on",
        "<tool_call>no name</tool_call>",
        "<tool_call>{}</tool_call>",
        "Write <tool_call> around it.",
    ],
)
def test_a_text_that_only_speaks_of_such_calls_stays_a_text(text):
    rollout = {"responses_create_params": {"input": "a"}, "response": {"output": [agent(text)]}}
    (trace,), _, _ = read(line(rollout))
    assert outline(trace) == [("user", "a"), ("assistant", text)]


def test_calls_written_as_json_are_read_and_only_in_rollouts():
    text = '<tool_call>\n{"name": "look", "arguments": {"at": "草"}}\n</tool_call>'
    rollout = {"responses_create_params": {"input": "a"}, "response": {"output": [agent(text)]}}
    (trace,), _, _ = read(line(rollout))
    assert [(one.name, one.arguments) for one in trace.messages[1].calls] == [("look", '{"at": "草"}')]
    assert outline(read_items(agent(text))[0]) == [("assistant", text)]


def test_nothing_of_the_provider_reaches_who_labels(traces):
    for trace in traces.values():
        for message in trace.messages:
            if message.role in ("user", "assistant"):
                assert not [mark for mark in MARKS if mark in message.text]


# The same run twice


def test_a_rollout_of_tau2_is_its_simulation_with_the_requesters_own_tools(traces):
    trace = traces["5d0e7c1a-greenhouse"]
    assert (trace.format, trace.cluster, trace.area) == ("openai_responses", "garden task pump_off", "garden")
    assert [file.name for file in trace.files] == ["What you know"]
    assert replies(trace.messages) == (4, 8)
    assert [one.text for one in requester_view(trace, 8).dialog[-3:]] == ["", "red", "It is red."]
    assert trace.messages[9].text == "That helped."
    assert trace.metadata["success"] == 1.0
    assert trace.metadata["model"] == "greenhouse-9b"
    assert trace.metadata["usage"] == {"completion_tokens": 32, "prompt_tokens": 350}
    assert "responses_items" not in trace.metadata


def test_the_responses_items_of_such_a_rollout_are_counted_once():
    records = FIXTURE.read_bytes().splitlines()
    found, _, warnings = read(records[2])
    assert (len(found), Counter(one.code for one in warnings)) == (1, {"repeated_record": 1})


def test_items_that_the_simulation_does_not_have_are_kept_and_said():
    value = json.loads(FIXTURE.read_bytes().splitlines()[2])
    value["response"]["output"].append(agent("One more."))
    (trace,), _, warnings = read(line(value))
    assert Counter(one.code for one in warnings) == {"repeated_record": 1, "other_copy": 1}
    assert trace.metadata["responses_items"][0]["content"][0]["text"] == "One more."


def test_of_requests_that_repeat_the_conversation_the_last_is_read(traces):
    assert "greenhouse-request-0" not in traces
    _, _, warnings = read(FIXTURE.read_bytes())
    assert [one.line for one in warnings if one.params.get("what") == "the beginning of the next record"] == [6]


def test_two_runs_that_begin_alike_are_two_runs():
    one = {"id": "a", "input": [user("a")], "output": [agent("b")]}
    found, _, _ = read(lines(one, {**one, "id": "b", "output": [agent("c"), user("d")]}))
    assert [trace.source_id for trace in found] == ["a", "b"]


def test_a_rollout_is_never_the_beginning_of_another():
    first = {"responses_create_params": {"input": [user("a")]}, "response": {"output": []}, "reward": 0}
    found, _, _ = read(lines(first, {**first, "response": {"output": [agent("b")]}}))
    assert len(found) == 2


def test_a_streamed_response_is_its_last_event(traces):
    assert outline(traces["resp_0bstream"]) == [("assistant", "Yes.")]
    _, _, warnings = read(FIXTURE.read_bytes())
    assert [(one.code, one.line) for one in warnings if one.line in (8, 9, 10)] == [
        ("repeated_record", 8),
        ("repeated_record", 9),
    ]


def test_a_stream_that_breaks_off_has_the_items_that_were_done():
    records = [json.loads(one) for one in FIXTURE.read_bytes().splitlines()]
    (trace,), problems, _ = read(lines(*records[7:9]))
    assert (trace.source_id, outline(trace), problems) == ("resp_0bstream", [("assistant", "Yes.")], [])


def test_equal_ids_in_a_file_are_told_apart():
    one = {"object": "response", "id": "resp_same", "output": [agent("a")]}
    found, problems, _ = read(lines(one, {**one, "output": [agent("b")]}, one))
    assert problems == []
    assert len({trace.source_id for trace in found}) == 3
    assert found[0].source_id == "resp_same"


# Turns


def test_texts_and_parallel_calls_of_a_turn_are_one_message_and_its_results_come_after():
    trace, codes = read_items(user("q"), agent("I look."), call("a", "one"), call("b", "two"), result("b", "B"),
                              result("a", "A"), agent("Done."))
    assert outline(trace) == [
        ("user", "q"),
        ("assistant", "I look.", "one", "two"),
        ("tool", "B", 1),
        ("tool", "A", 0),
        ("assistant", "Done."),
    ]
    assert codes == {}


def test_a_result_may_come_before_the_last_call_of_its_turn():
    trace, codes = read_items(user("q"), call("a", "one"), call("b", "two"), result("a", "A"), agent("meanwhile"),
                              call("c", "three"), result("c", "C"), result("b", "B"), agent("Done."))
    assert outline(trace) == [
        ("user", "q"),
        ("assistant", "meanwhile", "one", "two", "three"),
        ("tool", "A", 0),
        ("tool", "C", 2),
        ("tool", "B", 1),
        ("assistant", "Done."),
    ]
    assert codes == {}


def test_what_the_requester_says_while_a_call_runs_comes_after_its_result():
    trace, codes = read_items(call("a"), user("hurry"), result("a", "A"), agent("Done."))
    assert [one[0] for one in outline(trace)] == ["assistant", "tool", "user", "assistant"]
    assert codes == {}


def test_a_result_that_comes_after_the_agent_answered_is_no_part_of_what_it_knew():
    trace, codes = read_items(user("q"), call("a"), user("still there?"), agent("Yes."), result("a", "late"))
    assert [one[0] for one in outline(trace)] == ["user", "assistant", "user", "assistant", "tool"]
    assert codes == {"orphan_tool_result": 1, "unanswered_call": 1}


def test_a_call_without_a_result_ends_with_its_turn():
    trace, codes = read_items(user("q"), call("a"), user("again"), call("b"), result("b"), agent("Done."))
    assert [one[0] for one in outline(trace)] == ["user", "assistant", "user", "assistant", "tool", "assistant"]
    assert codes == {"unanswered_call": 1}


def test_call_ids_that_repeat_are_paired_in_their_own_turn():
    first, second = (call("x", "one"), result("x", "1")), (call("x", "two"), result("x", "2"))
    trace, codes = read_items(*first, agent("a"), user("b"), *second)
    answered = [(one.answers.index, one.text) for one in trace.messages if one.answers]
    assert (answered, codes) == ([(0, "1"), (4, "2")], {})


@pytest.mark.parametrize("id_", ["", None])
def test_calls_without_ids_are_paired_in_their_order(id_):
    trace, codes = read_items(call(id_, "one"), call(id_, "two"), result(id_, "1"), result(id_, "2"))
    assert [(one.answers.call, one.text, one.name) for one in trace.messages if one.answers] == [
        (0, "1", "one"),
        (1, "2", "two"),
    ]
    assert codes == {}


def test_the_same_id_twice_in_one_turn_is_paired_in_order():
    trace, _ = read_items(call("x", "one"), call("x", "two"), result("x", "1"), result("x", "2"))
    assert [one.answers.call for one in trace.messages if one.answers] == [0, 1]


def test_a_program_holds_the_calls_it_made():
    program = {"type": "program", "call_id": "p", "code": "look()"}
    output = {"type": "program_output", "call_id": "p", "result": "42"}
    trace, codes = read_items(user("q"), program, call("a"), result("a", "A"), output, agent("Done."))
    assert outline(trace)[1:] == [
        ("assistant", "", "program", "look"),
        ("tool", "A", 1),
        ("tool", "42", 0),
        ("assistant", "Done."),
    ]
    assert codes == {}


def test_a_note_on_the_way_is_no_reply_where_a_final_answer_follows():
    notes = [agent("Almost.", phase="commentary"), agent("Three.", phase="final_answer")]
    trace, _ = read_items(user("q"), *notes)
    assert [one[0] for one in outline(trace)] == ["user", "other", "assistant"]
    alone, _ = read_items(user("q"), notes[0])
    assert replies(alone.messages) == (1,)


def test_a_final_answer_is_never_beside_a_call():
    trace, _ = read_items(user("q"), agent("Three.", phase="final_answer"), call("a"), result("a"))
    assert replies(trace.messages) == (1,)


# Contents


@pytest.mark.parametrize("arguments", ['{"a": 1}', "no json {", "", "\x1b[31m草\r\n"])
def test_arguments_that_are_text_stay_letter_for_letter(arguments):
    trace, _ = read_items(call("a", arguments=arguments), result("a"))
    assert trace.messages[0].calls[0].arguments == arguments


def test_arguments_that_are_an_object_become_their_json():
    trace, _ = read_items(call("a", arguments={"b": ["草"]}), result("a"))
    assert trace.messages[0].calls[0].arguments == '{"b": ["草"]}'


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("\x1b[1mok\x1b[0m\r\n", "\x1b[1mok\x1b[0m\r\n"),
        (None, ""),
        ("", ""),
        ([{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "https://x.invalid/b.png"}],
         "a\n[image: b.png]"),
        ({"type": "input_text", "text": "a"}, "a"),
        ({"content": "a", "success": False}, "a"),
        ({"stdout": "a"}, '{"stdout": "a"}'),
        ([{"type": "input_text", "text": "a"}, 5], '[{"type": "input_text", "text": "a"}, 5]'),
        ([], "[]"),
    ],
)
def test_a_result_is_what_the_model_got(output, text):
    trace, _ = read_items(call("a"), result("a", output))
    assert trace.messages[1].text == text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        ([], ""),
        ([{"type": "refusal", "refusal": "No."}], "No."),
        ([{"type": "input_text", "text": "a\n"}, {"type": "input_text", "text": " b"}], "a\n\n b"),
        ([{"type": "input_image", "image_url": None, "file_id": "file-7"}], "[image: file-7]"),
        ([{"type": "input_file", "file_data": "data:application/pdf;base64,AAAA"}], "[file: application/pdf]"),
        ([{"type": "input_audio", "input_audio": {"data": "AAAA"}}], "[audio]"),
    ],
)
def test_what_the_requester_says_may_have_many_forms(content, text):
    trace, codes = read_items({"role": "user", "content": content})
    assert (outline(trace), codes) == ([("user", text)], {})


def test_parts_that_are_not_understood_are_kept_and_counted():
    trace, codes = read_items({"role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": "smell"}]})
    assert (outline(trace), codes) == ([("user", "a")], {"non_text_content": 1})
    assert trace.metadata["messages"]["0"]["items"][0]["content"][1] == {"type": "smell"}


def test_a_role_or_an_item_of_no_known_kind_is_private_and_counted(traces):
    others = [one for one in traces["greenhouse-request-1"].messages if one.role == "other"]
    assert [(one.name, one.text) for one in others] == [
        ("hologram_call", '{"type": "hologram_call", "id": "hc_1", "beam": 3}'),
        ("robot", "beep"),
    ]


def test_what_is_left_out_is_counted_under_its_name():
    _, codes = read_items(
        {"type": "item_reference", "id": "msg_1"}, {"type": "mcp_list_tools", "id": "mcpl_1", "tools": []}, agent("a")
    )
    assert codes == {"repeated_record": 1, "meta_record": 1}


def test_approvals_and_compactions_have_their_roles():
    trace, codes = read_items(
        {"type": "mcp_approval_request", "id": "mcpr_1", "name": "pay", "arguments": "{}"},
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
        {"type": "compaction", "encrypted_content": "gAAAAAB"},
        agent("a"),
    )
    assert [one.role for one in trace.messages] == ["other", "other", "summary", "assistant"]
    assert (trace.messages[2].text, codes) == ("[summary: encrypted]", {})


def test_input_and_output_may_be_texts():
    (trace,), _, _ = read(line({"object": "response", "id": "resp_1", "input": "a", "output": []}))
    assert outline(trace) == [("user", "a")]
    (trace,), _, _ = read(line({"input": [user("a")], "output": "b"}))
    assert outline(trace) == [("user", "a"), ("assistant", "b")]


def test_a_list_of_items_in_a_line_is_a_run():
    (trace,), _, _ = read(lines([user("a"), call("x"), result("x"), agent("b")], []), format="openai_responses")
    assert [one.role for one in trace.messages] == ["user", "assistant", "tool", "assistant"]


def test_a_response_as_a_whole_file_without_id_is_named_by_the_file():
    (trace,), _, _ = read(json.dumps({"object": "response", "output": [agent("a")]}, indent=1).encode())
    assert trace.source_id == "x"


def test_a_run_without_messages_is_kept_and_said():
    trace, codes = read_items()
    assert (trace.messages, codes) == ((), {"empty_run": 1})


def test_a_record_that_is_none_is_passed_over():
    found, problems, warnings = read(
        lines({"object": "response", "output": [agent("a")]}, {"hello": 1}, 5), format="openai_responses"
    )
    assert (len(found), problems, [one.code for one in warnings]) == (1, [], ["unknown_record", "unknown_record"])


def test_a_broken_line_is_said_and_the_rest_is_read():
    content = line({"object": "response", "output": [agent("a")]}) + b'\n{"object": "resp\n'
    found, (problem,), _ = read(content + line({"object": "response", "output": [agent("b")]}))
    assert ([one.messages[0].text for one in found], problem.line) == (["a", "b"], 2)


# Recognised by content


@pytest.mark.parametrize(
    "value",
    [
        {"object": "response", "output": []},
        {"responses_create_params": {"input": []}, "response": {"output": []}},
        {"input": [user("a")], "output": []},
        {"input": "a", "output": [agent("b")]},
        {"input": [], "output": {"output": [call("a")]}},
        [user("a")],
        {"type": "response.completed", "response": {}},
        {"type": "response.output_text.delta", "item_id": "msg_1", "delta": "a"},
    ],
)
def test_records_of_the_responses_api_are_known(value):
    assert not openai_responses.sniff(value).missing


@pytest.mark.parametrize(
    "value",
    [
        {"input": [{"role": "user", "content": "a"}], "output": {"role": "assistant", "content": "b"}},
        {"type": "GENERATION", "input": [user("a")], "output": [agent("b")]},
        {"traceId": "t", "input": [user("a")], "output": [agent("b")]},
        {"input": "a", "output": "b"},
        {"messages": [user("a")]},
        {"type": "response_item", "payload": user("a")},
        {"object": "chat.completion", "output": []},
        [{"role": "user", "content": "a"}],
        user("a"),
    ],
)
def test_records_of_other_formats_are_not_known(value):
    assert openai_responses.sniff(value).missing


@pytest.mark.parametrize("number", [0, 2, 4, 6, 8])
def test_no_junk_at_any_place_makes_the_reader_fail(number):
    value = json.loads(FIXTURE.read_bytes().splitlines()[number])
    for changed in mutations(value):
        openai_responses.sniff(changed)
        for one in openai_responses.read([Document(changed, Place("x.jsonl", 1))]):
            if isinstance(one, Trace):
                content_hash(one)
            else:
                one.sentence()


# Real files


def counted(path):
    with path.open("rb") as file:
        found, problems, warnings = read(file)
    assert problems == []
    messages = [message for trace in found for message in trace.messages]
    n_calls = sum(len(message.calls) for message in messages)
    n_paired = sum(message.answers is not None for message in messages)
    return len(found), len(messages), n_calls, n_paired, Counter(one.code for one in warnings)


@pytest.mark.shared
def test_the_rollouts_are_counted_as_they_are():
    rollouts = "data/example_rollouts.jsonl"
    assert counted(GYM / "resources_servers/workplace_assistant" / rollouts) == (5, 31, 8, 8, {})
    assert counted(GYM / "resources_servers/image_tools" / rollouts) == (5, 15, 5, 0, {"unanswered_call": 5})
    assert counted(GYM / "responses_api_agents/tau2" / rollouts) == (5, 60, 20, 20, {"repeated_record": 5})


@pytest.mark.shared
def test_the_items_of_a_rollout_are_its_messages_by_a_second_route():
    path = GYM / "resources_servers/workplace_assistant/data/example_rollouts.jsonl"
    with path.open("rb") as file:
        found, _, _ = read(file)
    for text, trace in zip(path.read_text("utf-8").splitlines(), found, strict=True):
        value = json.loads(text)
        items = [*value["responses_create_params"]["input"], *value["response"]["output"]]
        assert len(items) == len(trace.messages)
        for item, message in zip(items, trace.messages, strict=True):
            if item["type"] == "function_call":
                assert [(one.id, one.arguments) for one in message.calls] == [(item["call_id"], item["arguments"])]
            elif item["type"] == "function_call_output":
                assert (message.answers.index, message.text) == (message.index - 1, item["output"])
            else:
                content = item["content"]
                assert message.text == (content if isinstance(content, str) else content[0]["text"])


@pytest.mark.shared
def test_the_single_responses_are_counted_as_they_are():
    counts = [counted(path) for path in sorted(SINGLE.rglob("*.json"))]
    assert [sum(column) for column in list(zip(*counts, strict=True))[:4]] == [14, 23, 13, 3]
    codes = sum((count[4] for count in counts), Counter())
    assert codes == {"unanswered_call": 10, "orphan_tool_result": 1, "meta_record": 3}
