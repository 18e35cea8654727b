import json

import pytest

from annotate.rules.requester_view import replies, visible_texts
from annotate.traces.base import Place, Problem, Trace
from annotate.traces.documents import Document
from annotate.traces.sniff import readers
from annotate.traces.swe_agent import read as read_documents
from annotate.traces.swe_agent_task import task_parts
from tests.annotate.traces.files import FIXTURES, SHARED, line, read
from tests.annotate.traces.junk import JUNK, mutations

FOLDER = SHARED / "data" / "fmt-swe-agent"
RUNS = json.loads((FIXTURES / "swe_agent.json").read_text("utf-8"))


def step(action, observation, response):
    return {"action": action, "observation": observation, "response": response, "thought": response, "state": "{}"}


def entry(role, content, **members):
    return {"role": role, "content": content, "agent": "main", **members}


def run(history, trajectory=(), **members):
    return {"environment": "main", "trajectory": list(trajectory), "history": history, "info": {}, **members}


def one(value, **options):
    (trace,), problems, warnings = read(line(value), format="swe_agent", **options)
    assert problems == []
    return trace, warnings


def read_one(value, name):
    return [Document(value, Place(name))]


@pytest.fixture
def traces():
    found, problems, _ = read((FIXTURES / "swe_agent.json").read_bytes())
    assert problems == []
    return found


def test_the_issue_alone_is_the_requesters_message(traces):
    asked = [[message.text for message in trace.messages if message.role == "user"] for trace in traces]
    assert asked == [["The clock shows 25:00\r\nPlease make midnight 00:00. ⏰"], ["Names with 中文 are cut off.\n"]]


def test_the_parts_of_the_task_are_the_message_again(traces):
    parts = [message.text for message in traces[0].messages if message.name == "template" or message.role == "user"]
    assert "".join(parts) == RUNS[0]["history"][2]["content"]


def test_a_demonstration_is_nobodys_message_and_calls_nothing(traces):
    demonstration = traces[0].messages[1]
    assert (demonstration.role, demonstration.name, demonstration.calls) == ("other", "demonstration", ())
    assert demonstration.text == RUNS[0]["history"][1]["content"]


def test_a_whole_demonstrated_run_is_no_work_of_this_one():
    shown = [
        entry("user", "ISSUE", is_demo=True),
        entry("assistant", "```\nls\n```", action="ls", is_demo=True, tool_calls=[{"id": "a", "function": {}}]),
        entry("tool", "a.py", is_demo=True, tool_call_ids=["a"]),
    ]
    trace, warnings = one(run([*shown, entry("user", "Do it")]))
    assert [message.role for message in trace.messages] == ["other", "other", "other", "user"]
    assert (warnings, sum(len(message.calls) for message in trace.messages)) == ([], 0)


def test_the_action_of_the_text_protocol_is_a_call_and_the_text_stays(traces):
    message = traces[0].messages[7]
    assert message.text == "Let me look at the clock first.\n\n```\ncat clock.py\n```"
    assert [(call.id, call.name, call.arguments) for call in message.calls] == [("", "bash", "cat clock.py\n")]
    result = traces[0].messages[8]
    assert (result.role, result.side, result.answers.index) == ("tool", "agent", 7)
    assert result.text == "1:hour = 25\r\n\n(Open file: n/a)\nbash-$"


def test_the_last_output_comes_from_the_steps(traces):
    last = traces[0].messages[-1]
    assert (last.role, last.text, last.answers.index) == ("tool", "\ndiff --git a/clock.py b/clock.py\n", 9)


def test_a_text_without_an_action_is_no_reply_and_its_answer_no_person(traces):
    thought, complaint = traces[0].messages[5:7]
    assert [(thought.role, thought.name), (complaint.role, complaint.name)] == [
        ("other", "agent"),
        ("other", "environment"),
    ]
    assert all(replies(trace.messages) == () for trace in traces)


def test_calls_by_function_keep_ids_and_arguments_letter_for_letter(traces):
    calls = [call for message in traces[1].messages for call in message.calls]
    assert [(call.id, call.name, call.arguments) for call in calls] == [
        ("call_Zq1TwinKey", "find_file", '{"file_name":"names.py"'),
        ("call_Zq1TwinKey", "submit", "{}"),
    ]


def test_a_call_id_used_twice_belongs_to_each_call_in_turn(traces):
    results = [message for message in traces[1].messages if message.role == "tool"]
    assert [(message.answers.index, message.name) for message in results] == [(4, "find_file"), (6, "submit")]


def test_steps_are_counted_as_what_the_history_says_already():
    _, _, warnings = read((FIXTURES / "swe_agent.json").read_bytes())
    assert [(warning.code, warning.pointer) for warning in warnings] == [
        ("repeated_record", "/0/trajectory/0"),
        ("repeated_record", "/0/trajectory/0/query"),
        ("other_step", "/0/trajectory/1"),
        ("repeated_record", "/0/trajectory/2"),
        ("repeated_record", "/1/trajectory/0"),
        ("repeated_record", "/1/trajectory/1"),
    ]


def test_a_step_that_the_history_has_not_is_kept_private(traces):
    assert traces[0].metadata["steps"]["1"]["observation"] == "Wrong."
    assert traces[0].metadata["messages"]["7"]["step"] == {"state": RUNS[0]["trajectory"][0]["state"]}


def test_model_usage_and_submission_are_private_and_as_they_are(traces):
    assert traces[1].metadata["model"] == "toy-model-1"
    assert traces[1].metadata["usage"] == RUNS[1]["info"]["model_stats"]
    assert traces[1].metadata["info"]["submission"] == "diff --git a/names.py b/names.py"
    assert traces[1].metadata["messages"]["4"]["reasoning"] == [{"type": "thinking", "thinking": "Where is it?"}]


def test_nothing_of_the_tool_reaches_who_sees_the_requesters_side(traces):
    seen = json.dumps([text for trace in traces for _, text in visible_texts(trace)])
    assert not [sign for sign in ("call_", "bash-$", "DEMONSTRATION", "submit", "INSTRUCTIONS") if sign in seen]


def test_the_task_names_run_and_cluster(traces):
    assert traces[1].cluster == "toy__names-7"
    assert traces[1].source_id.startswith("toy__names-7 ")
    (trace,) = [found for found in read_documents(read_one(RUNS[0], "toy__clock-1.traj")) if isinstance(found, Trace)]
    assert (trace.cluster, trace.source_id.split()[0]) == ("toy__clock-1", "toy__clock-1")


def test_a_run_without_history_is_read_from_its_steps():
    query = [{"role": "system", "content": "S"}, {"role": "user", "content": "Do it"}]
    steps = [
        {**step("ls", "a.py", "Look.\n```\nls\n```"), "query": query},
        step("", "Say it right.", "Hm."),
        step("submit", "", "End"),
    ]
    trace, warnings = one(run([], steps))
    assert [(message.role, message.text) for message in trace.messages] == [
        ("system", "S"),
        ("user", "Do it"),
        ("assistant", "Look.\n```\nls\n```"),
        ("tool", "a.py"),
        ("other", "Hm."),
        ("other", "Say it right."),
        ("assistant", "End"),
        ("tool", ""),
    ]
    assert warnings == []


def test_steps_after_the_end_of_the_history_are_read_too():
    history = [entry("user", "Do it"), entry("assistant", "One", action="ls"), entry("user", "a.py\n$")]
    trace, _ = one(run(history, [step("ls", "a.py", "One"), step("cat a.py", "x = 1", "Two")]))
    assert [message.text for message in trace.messages] == ["Do it", "One", "a.py\n$", "Two", "x = 1"]


def test_each_attempt_is_a_run_and_the_chosen_one_is_not_read_twice():
    attempts = [run([entry("user", "Do it"), entry("assistant", text, action="ls")]) for text in ("A", "B")]
    value = {**attempts[1], "attempts": attempts, "instance_id": "toy-1"}
    traces, problems, warnings = read(line(value))
    assert ([trace.metadata["attempt"] for trace in traces], problems) == ([0, 1], [])
    assert {trace.cluster for trace in traces} == {"toy-1"}
    assert [warning.code for warning in warnings].count("repeated_record") == 1


def test_another_agents_texts_are_private():
    history = [entry("user", "Do it"), {**entry("assistant", "I help", action="ls"), "agent": "helper"}]
    trace, _ = one(run([{**entry("system", "S"), "agent": "main"}, *history]))
    assert (trace.messages[2].role, trace.messages[2].name) == ("other", "helper")


def test_content_may_be_nothing_parts_or_pictures():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    history = [
        entry("user", [{"type": "text", "text": "Look"}, picture]),
        entry("assistant", None, tool_calls=[{"id": "", "function": {"name": "f", "arguments": "x"}}]),
        entry("tool", ""),
    ]
    trace, warnings = one(run(history))
    assert [message.text for message in trace.messages] == ["Look\n[image: image/png]", "", ""]
    assert (trace.messages[2].answers.index, warnings) == (1, [])


def test_an_unknown_role_is_kept_and_counted():
    trace, warnings = one(run([entry("user", "a"), entry("robot", "b"), "c"]))
    assert [message.role for message in trace.messages] == ["user", "other", "other"]
    assert [warning.code for warning in warnings] == ["unknown_role", "unknown_role"]


def test_a_run_without_a_message_is_counted():
    trace, warnings = one({**run([]), "instance_id": "toy-2"})
    assert (trace.messages, [warning.code for warning in warnings]) == ((), ["empty_run"])


def test_a_record_that_is_no_run_is_passed_over_and_counted():
    traces, problems, warnings = read(json.dumps([*RUNS, {"a": 1}]).encode())
    assert (len(traces), problems, [w.code for w in warnings if w.pointer == "/2"]) == (2, [], ["unknown_record"])


@pytest.mark.parametrize("text", ["Fix it\n\nINSTRUCTIONS: none", "", "{issue}", "ISSUE:\n\n\nINSTRUCTIONS:\nNow"])
def test_where_nothing_tells_the_issue_all_of_the_message_is_it(text):
    assert task_parts(text) == ("", text, "")


def test_the_template_of_the_run_tells_the_issue():
    said = "Task for you: Fix {it}\nTools: ls"
    assert task_parts(said, (), ["Task for you: {{problem_statement}}\nTools: {{tools}}"]) == (
        "Task for you: ",
        "Fix {it}",
        "\nTools: ls",
    )


def test_no_other_reader_knows_these_runs_and_this_one_no_other_files():
    sniffs = readers()["swe_agent"].sniff
    assert all(not sniffs(value).missing for value in RUNS)
    assert all(sniffs(value).missing for value in (*JUNK, {"trajectory": [], "history": [], "info": {}}))
    for value in RUNS:
        assert [name for name, reader in readers().items() if not reader.sniff(value).missing] == ["swe_agent"]


@pytest.mark.parametrize("value", RUNS, ids=["text", "function"])
def test_no_value_at_any_place_makes_it_fail(value):
    for changed in mutations(value):
        readers()["swe_agent"].sniff(changed)
        for found in read_documents(read_one(changed, "x.traj")):
            assert isinstance(found, Trace | Problem)
            if isinstance(found, Trace):
                assert [message.index for message in found.messages] == list(range(len(found.messages)))
                json.dumps(found.metadata)


@pytest.mark.shared
def test_the_shared_runs_are_counted_as_they_are():
    paths = sorted(FOLDER.rglob("*.traj"))
    runs = [json.loads(path.read_text("utf-8")) for path in paths]
    read_runs = [read(path.read_bytes()) for path in paths]
    traces = [trace for found, problems, _ in read_runs if not problems for trace in found]
    assert (len(paths), len(traces)) == (12, 12)
    assert [sum(len(m.calls) for m in trace.messages) for trace in traces] == [
        sum(entry["role"] == "assistant" for entry in value["history"]) for value in runs
    ]
    messages = [message for trace in traces for message in trace.messages]
    assert sum(message.answers is not None for message in messages) == sum(len(m.calls) for m in messages) == 141
    codes = [warning.code for _, _, warnings in read_runs for warning in warnings]
    assert (codes.count("repeated_record"), codes.count("other_step"), len(codes)) == (141, 1, 142)
    assert [sum(m.role == "user" for m in trace.messages) for trace in traces] == [1] * 12


@pytest.mark.shared
def test_every_text_of_the_shared_histories_stands_in_a_message_by_a_second_route():
    for path in FOLDER.rglob("*.traj"):
        (trace,), _, _ = read(path.read_bytes())
        texts = [message.text for message in trace.messages]
        joined = {"".join(texts[at : at + n]) for at in range(len(texts)) for n in (1, 2, 3)}
        for value in json.loads(path.read_text("utf-8"))["history"]:
            assert value["content"] in joined
