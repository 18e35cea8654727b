import json

import pytest

from annotate.rules.requester_view import replies, visible_texts
from annotate.traces.base import Place, Problem, Trace
from annotate.traces.documents import Document
from annotate.traces.openhands import read as read_documents
from annotate.traces.openhands import sniff
from annotate.traces.sniff import readers
from tests.annotate.traces.files import FIXTURES, SHARED, lines, read
from tests.annotate.traces.junk import JUNK, mutations

EVENTS = SHARED / "data" / "fmt-openhands" / "tests" / "runtime" / "trajs"
PREDICTIONS = SHARED / "data" / "fmt-openhands" / "evaluation" / "benchmarks" / "swe_bench" / "examples"
STEPS = SHARED / "data" / "agent-as-a-judge-devai" / "benchmark" / "trajectories" / "OpenHands"
RECORDS = [json.loads(text) for text in (FIXTURES / "openhands.jsonl").read_text("utf-8").splitlines()]
ASKED = {"id": 0, "source": "user", "action": "message", "args": {"content": "Do it"}}


def event(id_, kind, *, source="agent", **args):
    return {"id": id_, "source": source, "action": kind, "args": args}


def seen(id_, content, cause=None, *, kind="run", **members):
    said = {"id": id_, "source": "agent", "observation": kind, "content": content, "extras": {}, **members}
    return said if cause is None else {**said, "cause": cause}


def step(number, thought, action, environment, user_message=None):
    return {
        "step": number,
        "user_message": user_message,
        "agent": {"thought": thought, "action": action},
        "environment": environment,
        "step_usage": {"model": "toy-model-5", "input_tokens": 10},
        "accumulated_usage": {"accumulated_cost": number},
    }


def one(*values):
    (trace,), problems, warnings = read(json.dumps(values).encode())
    assert problems == []
    return trace, warnings


@pytest.fixture
def traces():
    found, problems, _ = read((FIXTURES / "openhands.jsonl").read_bytes())
    assert problems == []
    return found


def test_requester_and_replies(traces):
    assert [m.text for m in traces[0].messages if m.role == "user"] == [
        "Compare the gardens 🌷\n[image: image/png]",
        "",
    ]
    assert [[trace.messages[at].text for at in replies(trace.messages)] for trace in traces] == [
        ["The gardens are equal."],
        ["It is watered."],
    ]


def test_calls_of_one_answer_are_one_message_with_the_results_behind(traces):
    calling, first, second = traces[0].messages[2:5]
    assert [(call.id, call.name, call.arguments) for call in calling.calls] == [
        ("toolu_GardenA", "execute_bash", '{"command": "cat a.txt"}'),
        ("toolu_GardenB", "execute_bash", "not json: cat b.txt"),
    ]
    assert (calling.text, first.text, second.text) == ("I look at both files.", "rose\r\n", "rose")
    assert [(m.answers.index, m.answers.call) for m in (first, second)] == [(2, 0), (2, 1)]


def test_an_answer_of_the_model_counts_once(traces):
    assert traces[0].metadata["usage"] == {"prompt_tokens": 220, "completion_tokens": 10}
    assert traces[0].metadata["model"] == "toy-model-3"


def test_the_requesters_own_command_is_on_their_side(traces):
    command, result = traces[0].messages[5:7]
    assert (command.role, command.calls[0].name, result.side, result.answers.index) == ("user", "run", "user", 5)


def test_a_delegate_is_told_and_speaks_in_private(traces):
    calling, result, *inner = traces[0].messages[7:13]
    assert (calling.calls[0].name, result.text, result.answers.index) == ("delegate", "It is Rosa.", 7)
    assert [(m.role, m.name) for m in inner] == [
        ("other", "delegate"),
        ("other", "Botanist"),
        ("tool", "browse"),
        ("other", "Botanist"),
    ]


def test_a_condensation_is_a_summary(traces):
    assert (traces[0].messages[13].role, traces[0].messages[13].text) == ("summary", "Both gardens have roses.")


def test_no_picture_is_kept(traces):
    assert traces[0].messages[11].text == "Rosa\n[image: screenshot]"
    kept = json.dumps(traces[0].metadata)
    assert [data for data in ("AAAA", "BBBB") if data in kept] == []
    trace, _ = one(ASKED, event(1, "run", command="plot"), seen(2, "![image](data:image/png;base64,QUFB) ok", 1))
    assert trace.messages[2].text == "[image: image/png] ok"


def test_what_says_nothing_is_passed_over_and_counted():
    _, _, warnings = read((FIXTURES / "openhands.jsonl").read_bytes())
    assert [(warning.code, warning.line, warning.pointer) for warning in warnings] == [
        ("bookkeeping", 1, "/history/2"),
        ("bookkeeping", 1, "/history/3"),
        ("bookkeeping", 1, "/history/4"),
        ("repeated_record", 1, "/history/6/tool_call_metadata/model_response"),
        ("repeated_record", 1, "/history/7/tool_call_metadata/model_response"),
        ("repeated_record", 1, "/history/8/tool_call_metadata/model_response"),
        ("repeated_record", 1, "/history/9"),
        ("bookkeeping", 2, "/history/0/1"),
        ("bookkeeping", 2, "/history/2/1"),
        ("bookkeeping", 2, "/history/3/1"),
        ("bookkeeping", 2, "/history/4/1"),
    ]


def test_old_pairs_are_an_action_and_what_answers_it(traces):
    assert [(m.role, m.text) for m in traces[1].messages[:4]] == [
        ("user", "Water the garden."),
        ("assistant", "I water it."),
        ("tool", "wet"),
        ("assistant", "It is watered."),
    ]
    assert (traces[1].messages[1].calls[0].arguments, traces[1].messages[2].answers.index) == (
        '{"command": "water"}',
        1,
    )


def test_a_benchmarks_standing_answer_is_no_persons(traces):
    assert (traces[1].messages[4].role, traces[1].messages[4].name) == ("other", "benchmark")


def test_the_instance_is_the_cluster_and_the_outcome_private(traces):
    assert [trace.cluster for trace in traces] == ["toy__garden-2", "toy__garden-1"]
    assert [trace.metadata["success"] for trace in traces] == [False, True]
    assert (traces[1].metadata["model"], traces[1].metadata["usage"]) == ("toy-model-4", {"accumulated_cost": 0.25})


def test_nothing_of_the_tool_reaches_who_sees_the_requesters_side(traces):
    seen_texts = json.dumps([text for trace in traces for _, text in visible_texts(trace)])
    signs = ("toolu_", "chatcmpl", "tool_calls", "Please continue", "TASK:", "base64", "Retrieving", "Running command")
    assert not [sign for sign in signs if sign in seen_texts]


def test_a_file_of_events_is_one_conversation():
    trace, warnings = one(ASKED, event(3, "run", command="ls"), seen(4, "a", 3), event(5, "finish", thought="Done"))
    assert [m.role for m in trace.messages] == ["user", "assistant", "tool", "assistant"]
    assert (trace.source_id.split()[0], trace.cluster, warnings) == ("x", "", [])


def test_an_observation_finds_its_call_however_late_it_comes():
    calls = [event(1, "run", command="a"), event(2, "run", command="b")]
    trace, warnings = one(ASKED, *calls, seen(3, "B", 2), seen(4, "A", 1))
    assert [(m.text, m.answers and m.answers.index) for m in trace.messages] == [
        ("Do it", None),
        ("", None),
        ("A", 1),
        ("", None),
        ("B", 3),
    ]
    assert warnings == []


def test_a_result_without_a_call_and_a_call_without_a_result_are_counted():
    _, warnings = one(ASKED, seen(3, "B", 9), event(4, "run", command="a"))
    assert [warning.code for warning in warnings] == ["orphan_tool_result", "unanswered_call"]


def test_last_words_are_said_in_the_order_of_their_worth():
    said = [event(n, "finish", **args) for n, args in enumerate(({"final_thought": "A", "thought": "B"}, {}), 1)]
    trace, _ = one(ASKED, {**said[0], "message": "C"}, {**said[1], "message": "C"}, event(3, "reject", thought="D"))
    assert [m.text for m in trace.messages[1:]] == ["A", "C", "D"]
    assert trace.metadata["messages"]["1"]["args"] == {"thought": "B"}


def test_a_thought_is_a_call_with_its_words():
    trace, _ = one(
        ASKED, event(1, "think", thought="Hm 中文"), seen(2, "Your thought has been logged.", 1, kind="think")
    )
    assert (trace.messages[1].text, trace.messages[1].calls[0].arguments) == ("", '{"thought": "Hm 中文"}')


def test_reasoning_is_kept_private():
    response = {"id": "r", "choices": [{"message": {"content": "I look", "reasoning_content": "Why?"}}]}
    told = {"function_name": "f", "tool_call_id": "a", "model_response": response}
    trace, _ = one(ASKED, {**event(1, "run", command="ls"), "tool_call_metadata": told})
    assert (trace.messages[1].text, trace.metadata["messages"]["1"]["reasoning"]) == ("I look", "Why?")


def test_recalled_knowledge_is_private_text():
    recalled = seen(1, "Added", kind="recall") | {"extras": {"microagent_knowledge": [{"content": "git"}]}}
    trace, warnings = one(ASKED, recalled)
    assert (trace.messages[1].role, trace.messages[1].name) == ("other", "recall")
    assert [warning.code for warning in warnings] == ["bookkeeping"]


def test_what_is_no_event_is_kept_and_counted():
    traces, problems, warnings = read(
        lines({"instance_id": "a", "metadata": {}, "history": [ASKED, 7, {"source": "x"}]})
    )
    assert ([m.role for m in traces[0].messages], problems) == (["user", "other", "other"], [])
    assert [warning.code for warning in warnings] == ["unknown_role", "unknown_role"]


def test_an_issue_that_was_to_be_resolved_names_the_run():
    issue = {"owner": "o", "repo": "r", "number": 7, "title": "T"}
    value = {"issue": issue, "issue_type": "issue", "instruction": "Fix T", "history": [], "success": True}
    (trace,), problems, _ = read(lines(value))
    assert (trace.cluster, trace.metadata["success"], problems) == ("o/r#7", True, [])
    assert [(m.role, m.text) for m in trace.messages] == [("user", "Fix T")]


def test_a_prediction_is_no_run_and_is_passed_over():
    value = {"instance_id": "a", "model_patch": "diff", "model_name_or_path": "OpenHands-1"}
    traces, problems, warnings = read(json.dumps([value]).encode())
    assert (traces, [problem.code for problem in problems]) == ([], ["no_traces"])
    assert [(warning.code, warning.pointer) for warning in warnings] == [("unknown_record", "/0")]
    assert sniff({**value, "model_name_or_path": "other"}).missing


def test_a_run_that_broke_off_has_no_history():
    (trace,), problems, warnings = read(lines({"instance_id": "a", "history": None, "metadata": {}, "error": "E"}))
    assert (trace.messages, trace.metadata["error"], problems) == ((), "E", [])
    assert [warning.code for warning in warnings] == ["empty_run"]


def test_steps_are_one_conversation():
    steps = [
        step(0, "I run it.", "Running command: ls\n", "a\r\n", "Do it"),
        step(1, "Done.", None, None),
    ]
    trace, warnings = one(*steps)
    assert [(m.role, m.text) for m in trace.messages] == [
        ("user", "Do it"),
        ("assistant", "I run it."),
        ("tool", "a\r\n"),
        ("assistant", "Done."),
    ]
    assert [(call.name, call.arguments) for call in trace.messages[1].calls] == [("run", "Running command: ls\n")]
    assert (trace.metadata["model"], trace.metadata["usage"], warnings) == ("toy-model-5", {"input_tokens": 20}, [])


def test_a_foreign_record_is_passed_over_and_counted():
    traces, problems, warnings = read(lines(*RECORDS, {"a": 1}))
    assert (len(traces), problems, [w.code for w in warnings if w.line == 3]) == (2, [], ["unknown_record"])


def test_every_event_and_record_is_known_and_to_no_other_reader():
    known = [*RECORDS, *RECORDS[0]["history"], step(0, "a", None, None), ASKED]
    for value in known:
        assert [name for name, reader in readers().items() if not reader.sniff(value).missing] == ["openhands"]
    foreign = [{"history": []}, {"action": "x", "observation": "y"}, {"role": "user", "content": "a"}, {"step": 1}]
    assert all(sniff(value).missing for value in (*JUNK, *foreign))


@pytest.mark.parametrize(
    "value", [*RECORDS, step(0, "a", "Running command: ls", "b", "c")], ids=["list", "pairs", "step"]
)
def test_no_value_at_any_place_makes_it_fail(value):
    for changed in mutations(value):
        sniff(changed)
        for found in read_documents([Document(changed, Place("x.json"))]):
            assert isinstance(found, Trace | Problem)
            if isinstance(found, Trace):
                assert [message.index for message in found.messages] == list(range(len(found.messages)))
                json.dumps(found.metadata)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "roles", "n_repeated"),
    [
        ("basic", "user assistant tool assistant", 1),
        ("basic_interactions", "user assistant user assistant user assistant", 0),
        ("wrong_initial_state", "user assistant tool assistant tool assistant tool assistant", 3),
    ],
)
def test_the_shared_events_are_counted_as_they_are(name, roles, n_repeated):
    events = json.loads((EVENTS / f"{name}.json").read_text("utf-8"))
    (trace,), problems, warnings = read((EVENTS / f"{name}.json").read_bytes())
    assert ([m.role for m in trace.messages], problems) == (roles.split(), [])
    assert [warning.code for warning in warnings] == ["repeated_record"] * n_repeated
    assert sum(m.answers is not None for m in trace.messages) == sum("observation" in event for event in events)


@pytest.mark.shared
def test_the_shared_predictions_are_no_runs():
    traces, (problem,), warnings = read((PREDICTIONS / "example_model_output.json").read_bytes())
    assert (traces, problem.code, [warning.code for warning in warnings]) == ([], "no_traces", ["unknown_record"] * 30)


@pytest.mark.shared
def test_the_shared_steps_are_one_conversation():
    (path,) = STEPS.glob("*.json")
    steps = json.loads(path.read_text("utf-8"))
    (trace,), problems, warnings = read(path.read_bytes())
    assert (problems, warnings, len(trace.messages)) == ([], [], 1 + 34 + 33)
    calling = [message for message in trace.messages if message.calls]
    assert [m.calls[0].arguments for m in calling] == [s["agent"]["action"] for s in steps if s["agent"]["action"]]
    assert sum(message.answers is not None for message in trace.messages) == len(calling) == 33
    assert [trace.messages[at].text for at in replies(trace.messages)] == [steps[-1]["agent"]["thought"]]
