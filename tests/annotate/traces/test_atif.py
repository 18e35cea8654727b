import json

import pytest

from annotate.rules.requester_view import replies, requester_view
from annotate.traces.atif import read as read_documents
from annotate.traces.atif import sniff
from annotate.traces.base import Place
from annotate.traces.documents import Document
from annotate.traces.sniff import readers
from tests.annotate.traces.files import FIXTURES, SHARED, lines, read
from tests.annotate.traces.junk import JUNK, mutations

FIXTURE = FIXTURES / "atif.json"
SCOUT = SHARED / "data" / "fmt-inspect-scout" / "tests" / "sources" / "atif_source" / "fixtures"
HERMES = SHARED / "data" / "fmt-polylogue-chat-exports" / "tests" / "fixtures" / "hermes" / "atif"


def step(source, message, **more):
    return {"source": source, "message": message, **more}


def trajectory(*steps, **more):
    return {"schema_version": "ATIF-v1.6", "session_id": "s", "agent": {"name": "a"}, "steps": list(steps), **more}


def call(id_, **more):
    return {"tool_call_id": id_, "function_name": "run", "arguments": {}, **more}


def results(*given):
    return {"results": [{"source_call_id": id_, "content": content} for id_, content in given]}


def trace_of(*steps, **more):
    (trace,), problems, _ = read(lines(trajectory(*steps, **more)))
    assert problems == []
    return trace


def pairs(trace):
    return [(m.text, m.answers and (m.answers.index, m.answers.call)) for m in trace.messages if m.role == "tool"]


@pytest.fixture(scope="module")
def fixture():
    traces, problems, warnings = read(FIXTURE.read_bytes())
    assert (problems, [warning.code for warning in warnings]) == ([], ["repeated_record"])
    return traces


def test_the_example_holds_a_run_its_subagent_and_a_continuation(fixture):
    assert [(trace.source_id, trace.cluster) for trace in fixture] == [
        ("greenhouse-7-main", "greenhouse-7"),
        ("greenhouse-7-pump", "greenhouse-7"),
        ("greenhouse-8 continuation 1", "greenhouse-8"),
    ]
    assert [replies(trace.messages) for trace in fixture] == [(7,), (3,), (5,)]
    assert fixture[1].metadata["requester"] == "agent"


def test_the_requester_sees_the_task_and_the_answer(fixture):
    assert [m.text for m in requester_view(fixture[0], 7).dialog] == [
        "Which bed is dry? 哪个苗床干了？ 🌱\n[image: step_2_beds.png]"
    ]
    assert [m.text for m in requester_view(fixture[2], 5).dialog] == ["Water bed A."]
    assert fixture[2].messages[5].text == "Bed A is watered."


def test_results_in_another_order_than_their_calls_are_paired_by_id(fixture):
    assert pairs(fixture[0]) == [("\u001b[31mno such file\u001b[0m\r\n", (2, 1)), ("A 12\nB 40", (2, 0)), ("", (5, 0))]
    assert [message.name for message in fixture[0].messages if message.role == "tool"] == ["read", "read", "ask"]


def test_models_usage_and_reasoning_are_private(fixture):
    metadata = fixture[0].metadata
    assert metadata["model"] == ["vendor/large-2", "vendor/small-1"]
    assert metadata["usage"]["total_completion_tokens"] == 80
    assert metadata["messages"]["2"]["reasoning"] == "Two files."
    assert metadata["messages"]["6"]["subagent_trajectory_ref"] == [{"trajectory_id": "greenhouse-7-pump"}]


def test_a_step_with_an_observation_and_no_calls_is_an_action_written_as_text(fixture):
    action, result = fixture[1].messages[1:3]
    assert (action.role, action.text) == ("assistant", "")
    assert [(one.name, one.arguments) for one in action.calls] == [("", '{"commands": ["./pump --test"]}')]
    assert result.answers is not None


def test_copied_steps_are_private_but_for_the_task(fixture):
    assert [message.role for message in fixture[2].messages][:3] == ["user", "other", "other"]


def test_call_ids_repeated_empty_or_missing_are_paired_in_order():
    for id_ in ("x", "", None):
        trace = trace_of(
            step("user", "go"),
            step("agent", "", tool_calls=[call(id_), call(id_)], observation=results((id_, "1"), (id_, "2"))),
        )
        assert pairs(trace) == [("1", (1, 0)), ("2", (1, 1))]


def test_a_result_of_another_call_and_a_call_without_a_result_are_counted():
    given = step("agent", "", tool_calls=[call("a")], observation=results(("b", "1")))
    _, problems, warnings = read(lines(trajectory(given)))
    assert problems == []
    assert {(warning.code, warning.pointer) for warning in warnings} == {
        ("orphan_tool_result", "/steps/0/observation/results/0"),
        ("unanswered_call", "/steps/0"),
    }


def test_what_is_observed_without_the_agent_is_private():
    trace = trace_of(step("system", "A summary was made.", observation=results((None, "done"))), step("user", "go"))
    assert [(m.role, m.name) for m in trace.messages] == [("system", ""), ("other", "observation"), ("user", "")]


def test_arguments_are_json_or_the_text_that_stood_there():
    calls = [call("a", arguments={"x": "é"}), call("b", arguments='{"x": 1'), {"odd": 1}, call("c", arguments=None)]
    trace = trace_of(step("agent", "", tool_calls=calls))
    assert [one.arguments for one in trace.messages[0].calls] == ['{"x": "é"}', '{"x": 1', '{"odd": 1}', ""]


def test_messages_may_be_empty_absent_or_not_understood():
    given = [step("user", ""), step("user", None), {"source": "agent"}, step("agent", [{"type": "x"}]), step("a", "b")]
    (trace,), problems, warnings = read(lines(trajectory(*given, "odd")))
    assert problems == []
    assert [message.role for message in trace.messages] == ["user", "user", "assistant", "assistant", "other", "other"]
    assert [warning.code for warning in warnings] == ["non_text_content", "unknown_role", "unknown_role"]


def test_a_trajectory_without_steps_is_kept_and_counted():
    (trace,), problems, warnings = read(lines(trajectory()))
    assert (trace.messages, problems, [warning.code for warning in warnings]) == ((), [], ["empty_run"])


def test_a_record_that_is_none_is_passed_over_and_counted():
    traces, problems, warnings = read(lines(trajectory(step("user", "a")), {"x": 1}, 7))
    assert (len(traces), problems, [w.code for w in warnings]) == (1, [], ["unknown_record", "unknown_record"])


def test_one_without_an_id_is_named_by_its_file():
    assert trace_of(step("user", "a"), session_id=None).source_id == "x"


def test_its_records_are_no_other_format_and_others_are_not_taken():
    for value in json.loads(FIXTURE.read_text("utf-8")):
        assert [name for name, reader in readers().items() if not reader.sniff(value).missing] == ["atif"]
    for value in (*JUNK, {"schema_version": "2", "steps": []}, {"steps": []}, {"schema_version": "ATIF-v1.6"}):
        assert sniff(value).missing


def test_no_value_at_any_place_makes_it_fail():
    for one in json.loads(FIXTURE.read_text("utf-8")):
        for changed in mutations(one):
            sniff(changed)
            assert list(read_documents([Document(changed, Place("x"))]))


@pytest.mark.shared
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (SCOUT / "openhands_hello-world.trajectory.no_function_calling.json", (1, 5, 1, 1)),
        (SCOUT / "terminus_2_hello-world-context-summarization-linear-history.trajectory.cont-1.json", (1, 12, 4, 4)),
        (HERMES / "nemo_relay_atif_v1.7_real_redacted.json", (1, 10, 4, 4)),
    ],
)
def test_real_trajectories_are_counted_as_they_are(path, expected):
    traces, problems, _ = read(path.read_bytes())
    messages = [message for trace in traces for message in trace.messages]
    n_paired = sum(message.answers is not None for message in messages)
    assert (len(traces), len(messages), sum(len(m.calls) for m in messages), n_paired) == expected
    assert problems == []
    steps = json.loads(path.read_text("utf-8"))["steps"]
    n_results = sum(len((one.get("observation") or {}).get("results", [])) for one in steps)
    assert len(messages) == len(steps) + n_results
