import json

import pytest

from annotate.rules.requester_view import replies, visible_texts
from annotate.traces.base import Place, Problem, Trace
from annotate.traces.documents import Document
from annotate.traces.mini_swe_agent import read as read_documents
from annotate.traces.mini_swe_agent import sniff
from tests.annotate.traces.files import FIXTURES, SHARED, line, lines, read
from tests.annotate.traces.junk import JUNK, mutations

LOCAL = SHARED / "data" / "fmt-mini-swe-agent" / "tests" / "test_data" / "local.traj.json"
RUNS = json.loads((FIXTURES / "mini_swe_agent.json").read_text("utf-8"))
TASK = {"role": "user", "content": "Do it"}


def one(messages, **members):
    value = {"messages": messages, "trajectory_format": "mini-swe-agent-1", **members}
    (trace,), problems, warnings = read(line(value), format="mini_swe_agent")
    assert problems == []
    return trace, warnings


@pytest.fixture
def traces():
    found, problems, _ = read((FIXTURES / "mini_swe_agent.json").read_bytes())
    assert problems == []
    return found


def test_the_task_alone_is_the_requesters_message(traces):
    assert [trace.messages[2].text for trace in traces] == ["Make the lamp blue. 💡", "灯不亮"]
    assert "".join(m.text for m in traces[0].messages[1:4]) == RUNS[0]["messages"][1]["content"]
    assert {traces[0].messages[at].role for at in (1, 3)} == {"other"}


def test_results_of_parallel_calls_find_their_call_in_any_order(traces):
    results = [message for message in traces[0].messages if message.role == "tool"][:2]
    assert [(m.answers.index, m.answers.call, m.name) for m in results] == [(4, 1, "bash"), (4, 0, "bash")]
    assert [call.arguments for call in traces[0].messages[4].calls] == ['{"command": "cat lamp.py"}', "not json"]
    assert "\x1b[31mno test\x1b[0m" in results[0].text
    assert "red'\r\n" in results[1].text


def test_what_a_person_typed_in_between_is_theirs(traces):
    typed = traces[0].messages[7]
    assert (typed.role, typed.text) == ("user", "Interrupted by user: use navy blue")


def test_a_command_a_person_typed_is_a_call_on_their_side(traces):
    command, result = traces[0].messages[8:10]
    assert [(call.name, call.arguments) for call in command.calls] == [("bash", "ls")]
    assert (command.role, result.role, result.side, result.answers.index) == ("user", "tool", "user", 8)


def test_what_the_program_says_about_the_form_is_nobodys(traces):
    assert (traces[0].messages[11].role, traces[0].messages[11].name) == ("other", "FormatError")
    assert (traces[0].messages[10].role, replies(traces[0].messages)) == ("other", ())


def test_the_command_in_the_text_is_a_call_and_the_text_stays(traces):
    message = traces[1].messages[4]
    assert message.text == RUNS[1]["messages"][2]["content"]
    assert [call.arguments for call in message.calls] == ["echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"]
    assert (traces[1].messages[5].text, traces[1].messages[5].answers.index) == ("", 4)


def test_the_end_and_the_vendors_copy_are_passed_over_and_counted(traces):
    _, _, warnings = read((FIXTURES / "mini_swe_agent.json").read_bytes())
    assert [(warning.code, warning.pointer) for warning in warnings] == [
        ("repeated_record", "/0/messages/2/extra/response"),
        ("bookkeeping", "/0/messages/11"),
        ("unanswered_call", "/0/messages/10"),
    ]
    assert traces[0].metadata["exit"]["extra"]["exit_status"] == "Submitted"
    assert traces[0].metadata["messages"]["4"]["usage"] == {"total_tokens": 30}
    assert traces[0].metadata["messages"]["4"]["reasoning"] == "Where to begin?"


def test_model_usage_id_and_cluster(traces):
    assert (traces[0].metadata["model"], traces[0].metadata["usage"]["api_calls"]) == ("toy-model-2", 2)
    assert (traces[0].cluster, traces[0].source_id.split()[0]) == ("toy__lamp-3", "toy__lamp-3")
    assert traces[1].cluster == ""


def test_nothing_of_the_tool_reaches_who_sees_the_requesters_side(traces):
    seen = json.dumps([text for trace in traces for _, text in visible_texts(trace)])
    signs = ("call_", "chatcmpl", "tool_calls", "COMPLETE_TASK", "mswea", "execute bash")
    assert not [sign for sign in signs if sign in seen]


@pytest.mark.parametrize("said", ["Interrupted by user: no", "The user added a new task: paint it"])
def test_older_files_tell_a_person_by_the_sentence_around_their_words(said):
    trace, _ = one([TASK, {"role": "assistant", "content": "```bash\nls\n```"}, {"role": "user", "content": said}])
    assert (trace.messages[-1].role, trace.messages[-1].text) == ("user", said)


def test_two_commands_in_one_text_were_not_run():
    text = "```bash\nls\n```\n```bash\npwd\n```"
    trace, warnings = one([TASK, {"role": "assistant", "content": text}, {"role": "user", "content": "One only"}])
    assert [(message.role, message.calls) for message in trace.messages[1:]] == [("other", ()), ("other", ())]
    assert warnings == []


def test_messages_of_the_responses_api_are_read():
    answer = {
        "object": "response",
        "output": [
            {"type": "reasoning", "summary": ["hm"]},
            {"type": "message", "content": [{"type": "output_text", "text": "I look"}]},
            {"type": "function_call", "call_id": "fc_1", "name": "bash", "arguments": '{"command": "ls"}'},
        ],
    }
    result = {"type": "function_call_output", "call_id": "fc_1", "output": "a.py", "extra": {"returncode": 0}}
    trace, warnings = one([{"role": "user", "content": [{"type": "input_text", "text": "Do it"}]}, answer, result])
    assert [(m.role, m.text) for m in trace.messages] == [("user", "Do it"), ("assistant", "I look"), ("tool", "a.py")]
    assert (trace.messages[2].answers.index, trace.messages[2].name, warnings) == (1, "bash", [])
    assert trace.metadata["messages"]["1"]["reasoning"] == [{"type": "reasoning", "summary": ["hm"]}]


def test_a_bare_list_of_messages_is_one_run():
    messages = RUNS[1]["messages"]
    for content in (lines(*messages), json.dumps(messages).encode()):
        (trace,), problems, _ = read(content, format="mini_swe_agent")
        assert ([m.role for m in trace.messages], problems) == (
            ["system", "other", "user", "other", "assistant", "tool"],
            [],
        )


def test_a_run_without_a_message_and_a_foreign_record_are_counted():
    value = {"messages": [], "trajectory_format": "mini-swe-agent-1"}
    traces, problems, warnings = read(lines(value, {"a": 1}))
    assert ([t.messages for t in traces], problems) == ([()], [])
    assert [warning.code for warning in warnings] == ["empty_run", "unknown_record"]


def test_only_marked_messages_and_named_runs_are_known():
    assert all(not sniff(value).missing for value in RUNS)
    assert not sniff({"role": "user", "content": "<returncode>0</returncode>\n<output>\n</output>"}).missing
    assert not sniff(RUNS[1]["messages"][2]).missing
    assert all(sniff(value).missing for value in (*JUNK, TASK, {"messages": [TASK]}, [TASK]))


@pytest.mark.parametrize("value", RUNS, ids=["calls", "text"])
def test_no_value_at_any_place_makes_it_fail(value):
    for changed in mutations(value):
        sniff(changed)
        for found in read_documents([Document(changed, Place("x.traj.json"))]):
            assert isinstance(found, Trace | Problem)
            if isinstance(found, Trace):
                assert [message.index for message in found.messages] == list(range(len(found.messages)))
                json.dumps(found.metadata)


@pytest.mark.shared
def test_the_shared_run_is_counted_as_it_is():
    (trace,), problems, warnings = read(LOCAL.read_bytes(), format="mini_swe_agent")
    assert (problems, warnings) == ([], [])
    assert not sniff(json.loads(LOCAL.read_text("utf-8"))[0]).missing
    roles = [message.role for message in trace.messages]
    assert roles == ["system", "other", "user", "other", "assistant", "tool", "assistant", "tool"]
    assert trace.messages[2].text == "Blah blah blah"
    assert [message.answers.index for message in trace.messages if message.role == "tool"] == [4, 6]
