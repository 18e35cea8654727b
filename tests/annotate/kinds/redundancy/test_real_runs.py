"""Every pair of the real runs by a second route, and how many steps the rules suggest."""

import json
from collections import Counter
from io import BytesIO

import pytest

from annotate.kinds.redundancy.items import items
from annotate.kinds.redundancy.kind import KIND
from annotate.kinds.redundancy.schema import SCHEMA
from annotate.kinds.redundancy.steps import entries_of, steps_of
from annotate.kinds.redundancy.suggest import suggest
from annotate.traces.base import Trace
from annotate.traces.reading import Reading

pytestmark = pytest.mark.shared
AIRLINE = "tau-bench-airline-gpt4o/historical_trajectories/gpt-4o-airline.json"
MIXED = "tau2-activegraph-mixed-domains/runs"


def traces_in(path):
    return [one for one in Reading(BytesIO(path.read_bytes()), file_name=path.name) if isinstance(one, Trace)]


@pytest.fixture(scope="module")
def airline(shared_data):
    path = shared_data / AIRLINE
    return list(zip(json.loads(path.read_text("utf-8")), traces_in(path), strict=True))


@pytest.fixture(scope="module")
def mixed(shared_data):
    found = []
    for path in sorted((shared_data / MIXED).rglob("results.json")):
        found += zip(json.loads(path.read_text("utf-8"))["simulations"], traces_in(path), strict=True)
    return found


def steps_by_hand(messages):
    """Straight from the file: a result is that of the last call before it with its id. Whose a step is says who called;
    `requestor` of the result says it once more."""
    waiting, found = {}, []
    for index, message in enumerate(messages):
        for call in message.get("tool_calls") or []:
            function = call.get("function", call)
            waiting[call["id"]] = (index, function["name"], message["role"])
        if message["role"] == "tool":
            called, name, role = waiting.pop(message.get("tool_call_id") or message["id"])
            side = "user" if role == "user" else "agent"
            assert message.get("requestor", "assistant") == ("user" if side == "user" else "assistant")
            found.append((called, index, side, name, message["content"] or ""))
    return sorted(found)


def steps_shown(trace):
    entries = KIND.view(trace, len(trace.messages) - 1, SCHEMA).entries
    return sorted((one.call, one.result, one.side, one.tool, one.text) for one in steps_of(entries))


def test_every_pair_of_the_airline_runs_is_right(airline):
    for raw, trace in airline:
        assert steps_shown(trace) == steps_by_hand(raw["traj"])
    assert sum(len(steps_shown(trace)) for _, trace in airline) == 1164
    assert sum(len(items(trace, SCHEMA)) for _, trace in airline) == 182


def test_every_pair_of_the_mixed_runs_is_right_with_parallel_and_user_side_calls(mixed):
    """66 calls in 15 runs, 7 of them the user's, 4 messages with several calls (COUNTS.md)."""
    assert len(mixed) == 15
    sides, parallel = Counter(), 0
    for raw, trace in mixed:
        assert steps_shown(trace) == steps_by_hand(raw["messages"])
        sides.update(step[2] for step in steps_shown(trace))
        parallel += sum(len(entry.calls) > 1 for entry in entries_of(trace.messages))
    assert (sides, parallel) == ({"agent": 59, "user": 7}, 4)


def test_nothing_but_texts_calls_and_results_is_shown(mixed):
    for raw, trace in mixed:
        shown = repr(KIND.view(trace, len(trace.messages) - 1, SCHEMA))
        for message in raw["messages"]:
            assert all(call["id"] not in shown for call in message.get("tool_calls") or [])
        assert trace.source_id not in shown


def test_the_cluster_of_an_item_is_domain_and_task(airline, mixed):
    for raw, trace in airline:
        assert trace.cluster == f"airline task {raw['task_id']}"
    assert {trace.area for _, trace in mixed} == {"mock", "airline", "retail", "telecom"}


def test_suggestions_of_the_airline_runs(airline):
    """Counted once over all and read: 31 calls repeat an earlier one (17 of them fail again in the same words), 56 fail
    otherwise, nothing of a network is among them; 39 runs have one or more."""
    rules, types, with_any = Counter(), Counter(), 0
    for _, trace in airline:
        found = suggest(trace, SCHEMA)
        rules.update("+".join(one["rules"]) for one in found)
        types.update(one["type"] for one in found)
        with_any += bool(found)
    assert rules == {"error_keyword": 56, "identical+error_keyword": 17, "identical": 14}
    assert types == {"INC": 56, "DUP": 31}
    assert with_any == 39


def test_ten_suggestions_looked_at_in_the_file(airline):
    """Call by call as it stands in the file: the suggested one, and the one that it repeats."""
    looked_at = [
        (13, 0, [16, 17], [4, 5], "get_reservation_details"),
        (33, 0, [54, 55], [22, 23], "search_direct_flight"),
        (33, 0, [56, 57], [26, 27], "search_direct_flight"),
        (33, 0, [58, 59], [38, 39], "search_direct_flight"),
        (33, 0, [60, 61], [40, 41], "search_direct_flight"),
        (3, 1, [40, 41], [20, 21], "search_onestop_flight"),
        (13, 1, [18, 19], [14, 15], "search_direct_flight"),
        (17, 1, [22, 23], [10, 11], "search_onestop_flight"),
        (17, 1, [32, 33], [26, 27], "calculate"),
        (22, 1, [22, 23], [14, 15], "search_direct_flight"),
    ]
    of_run = {(raw["task_id"], raw["trial"]): (raw["traj"], trace) for raw, trace in airline}
    for task, trial, step, evidence, tool in looked_at:
        messages, trace = of_run[task, trial]
        expected = {"step": step, "type": "DUP", "evidence": evidence, "rules": ["identical"], "keyword": ""}
        assert expected in suggest(trace, SCHEMA)
        calls = [messages[pair[0]]["tool_calls"][0]["function"] for pair in (step, evidence)]
        assert [call["name"] for call in calls] == [tool, tool]
        assert json.loads(calls[0]["arguments"]) == json.loads(calls[1]["arguments"])
        assert messages[step[1]]["content"] == messages[evidence[1]]["content"]


def test_suggestions_of_the_mixed_runs(mixed):
    assert Counter(one["type"] for _, trace in mixed for one in suggest(trace, SCHEMA)) == {"INC": 1}
