import json
from collections import Counter

import pytest

from annotate.traces.identity import content_hash
from tests.annotate.traces.files import FIXTURES, SHARED, read

AIRLINE = SHARED / "data" / "tau-bench-airline-gpt4o" / "historical_trajectories" / "gpt-4o-airline.json"
RETAIL = SHARED / "data" / "tau-bench-retail-agentrx"


def test_repeats_of_a_task_share_its_cluster_and_keep_their_ids_apart():
    traces, problems, _ = read((FIXTURES / "tau_bench.json").read_bytes())
    assert problems == []
    assert [trace.cluster for trace in traces] == ["lamp shop task 0", "lamp shop task 0", "lamp shop task 1"]
    assert [trace.source_id.rsplit(" ", 1)[0] for trace in traces] == [
        "lamp shop task 0 trial 0",
        "lamp shop task 0 trial 1",
        "lamp shop task 1 trial 0",
    ]
    assert {trace.area for trace in traces} == {"lamp shop"}


def test_reward_info_and_task_are_private():
    traces, _, _ = read((FIXTURES / "tau_bench.json").read_bytes())
    assert traces[1].metadata["reward"] == 1.0
    assert traces[1].metadata["info"]["task"]["instruction"].startswith("You want")
    assert "traj" not in traces[1].metadata


def test_a_call_id_used_twice_belongs_to_each_call_in_turn():
    traces, _, _ = read((FIXTURES / "tau_bench.json").read_bytes())
    results = [message for message in traces[0].messages if message.role == "tool"]
    assert [(message.answers_id, message.answers.index) for message in results] == [("call_1", 2), ("call_1", 6)]


def test_a_run_without_policy_heading_or_trial_has_no_domain():
    run = {"task_id": 7, "reward": 0, "traj": [{"role": "user", "content": "a"}]}
    (trace,), _, _ = read(json.dumps([run]).encode())
    assert (trace.area, trace.cluster) == ("", "task 7")
    assert trace.source_id.startswith("task 7 ")


def test_another_run_of_the_same_task_and_trial_has_another_id():
    run = {"task_id": 7, "reward": 0, "trial": 0, "traj": [{"role": "user", "content": "a"}]}
    other = {**run, "traj": [{"role": "user", "content": "b"}]}
    traces, problems, _ = read(json.dumps([run, other]).encode())
    assert (len(traces), problems) == (2, [])


def test_the_sign_with_which_the_simulator_ends_is_private():
    said = [{"role": "user", "content": "Thanks!\n###STOP###"}, {"role": "assistant", "content": "###STOP### it is"}]
    (trace,), _, _ = read(json.dumps([{"task_id": 7, "reward": 0, "traj": said}]).encode())
    assert [message.text for message in trace.messages] == ["Thanks!", "###STOP### it is"]
    assert trace.metadata["messages"] == {"0": {"stop_tokens": ["###STOP###"]}}


def test_a_record_that_is_no_run_is_passed_over_and_counted():
    runs = json.loads((FIXTURES / "tau_bench.json").read_text())
    traces, problems, warnings = read(json.dumps([*runs, {"task_id": 9}]).encode())
    assert (len(traces), problems, [warning.pointer for warning in warnings]) == (3, [], ["/3"])


@pytest.fixture(scope="module")
def airline():
    with AIRLINE.open("rb") as file:
        return read(file)


@pytest.mark.shared
def test_the_airline_runs_are_counted_as_they_are(airline):
    traces, problems, warnings = airline
    assert (len(traces), problems, warnings) == (200, [], [])
    assert len({trace.source_id for trace in traces}) == 200
    assert len({content_hash(trace) for trace in traces}) == 200
    assert set(Counter(trace.cluster for trace in traces).values()) == {4}
    assert len({trace.cluster for trace in traces}) == 50
    messages = [message for trace in traces for message in trace.messages]
    assert len(messages) == 5308
    assert sum(len(message.calls) for message in messages) == 1164
    assert sum(message.answers is not None for message in messages) == 1164


@pytest.mark.shared
def test_each_airline_call_has_its_own_result_by_a_second_route(airline):
    """Straight from the file: in these runs every call stands alone and its result is the very next message."""
    runs = json.loads(AIRLINE.read_text("utf-8"))
    n_calls, repeated = 0, Counter()
    for number, (run, trace) in enumerate(zip(runs, airline[0], strict=True)):
        seen = set()
        for index, message in enumerate(run["traj"]):
            for place, call in enumerate(message.get("tool_calls") or []):
                following = run["traj"][index + 1]
                assert (following["tool_call_id"], following["name"]) == (call["id"], call["function"]["name"])
                result = trace.messages[index + 1]
                assert (result.answers.index, result.answers.call) == (index, place)
                assert (result.text, result.name) == (following["content"], call["function"]["name"])
                repeated[number, call["id"]] += call["id"] in seen
                seen.add(call["id"])
                n_calls += 1
    again = {key: n for key, n in repeated.items() if n}
    assert n_calls == 1164
    assert (sum(again.values()), len(again), len({number for number, _ in again})) == (73, 71, 49)


@pytest.mark.shared
def test_the_retail_runs_and_their_excerpts_are_the_same_traces():
    with (RETAIL / "data" / "tau_retail" / "tau_dataset_failed.json").open("rb") as file:
        traces, problems, _ = read(file)
    assert (len(traces), problems, {trace.area for trace in traces}) == (29, [], {"retail"})
    by_id = {trace.source_id: content_hash(trace) for trace in traces}
    for path in (RETAIL / "trajectories" / "tau-retail").iterdir():
        (trace,), problems, _ = read(path.read_bytes())
        assert problems == []
        assert by_id[trace.source_id] == content_hash(trace)
