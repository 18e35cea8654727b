import io
import json
from collections import Counter

import pytest

from annotate.rules.requester_view import replies, requester_view
from annotate.traces.base import Problem, Trace
from annotate.traces.documents import Document
from annotate.traces.mast_logs import METAGPT, log_of, records
from annotate.traces.reading import Reading
from annotate.traces.sniff import readers
from tests.annotate.traces.files import FIXTURES, SHARED, read
from tests.annotate.traces.junk import JUNK, mutations

FIXTURE = FIXTURES / "mast.json"
MAST = SHARED / "data" / "mast-masft-annotated" / "annotated_traces"
REVIEW = SHARED / "data" / "revision-peer-review-masft" / "annotated_traces"
HEAD = "HyperAgent_a__b-1 - INFO - "


def record(trajectory, **members):
    note = {"text": [], "options": {"Step repetition": "no"}}
    return {"instance_id": "i1", "problem_statement": ["q"], "trajectory": trajectory, "note": note, **members}


def trace_of(trajectory, **members):
    (trace,), problems, warnings = read(json.dumps(record(trajectory, **members)).encode())
    assert problems == []
    return trace, warnings


def turn(text, name, role="user"):
    return {"content": [text], "role": role, "name": name}


def view(trace):
    """What the requester saw: of each reply what was said before it, and the reply."""
    return [
        ([message.text for message in requester_view(trace, reply).dialog], trace.messages[reply].text)
        for reply in replies(trace.messages)
    ]


@pytest.fixture(scope="module")
def all_forms():
    traces, problems, warnings = read(FIXTURE.read_bytes())
    assert (problems, warnings) == ([], [])
    return {trace.source_id: trace for trace in traces}


def test_every_form_has_the_id_of_its_file(all_forms):
    assert list(all_forms) == ["ag2-1", "lamp__lamp-7", "run 3", "tot-1", "peer-1"]


def test_the_task_is_the_requesters_and_the_solvers_last_turn_the_reply(all_forms):
    ag2 = all_forms["ag2-1"]
    assert view(ag2) == [(["Mia has 3 bags of 4 apples.\nHow many apples has she?"], "Mia has \\boxed{7} apples.")]
    assert [(message.role, message.name) for message in ag2.messages] == [
        ("user", ""),
        ("other", "mathproxyagent"),
        ("other", "assistant"),
        ("other", "mathproxyagent"),
        ("assistant", ""),
    ]
    assert ag2.metadata["messages"]["4"] == {"role": "user", "turn": 3, "name": "assistant", "cut": "\n\nTERMINATE"}


def test_turns_keep_their_lines_and_where_they_stand(all_forms):
    ag2 = all_forms["ag2-1"]
    assert ag2.messages[2].text == "```python\nprint(3 + 4)\n```"
    assert ag2.metadata["steps"] == {"first_index": 1, "n_steps": 4}
    assert [ag2.metadata["messages"][str(index)]["turn"] for index in range(1, 5)] == [0, 1, 2, 3]


def test_a_run_that_ends_with_the_proxy_has_no_reply():
    assert view(trace_of([turn("solve q", "proxy"), turn("x", "solver"), turn("go on", "proxy")])[0]) == []


def test_a_last_turn_that_only_ends_the_run_is_no_reply():
    trace, _ = trace_of([turn("solve q", "proxy"), turn("TERMINATE", "solver")])
    assert (view(trace), trace.messages[2].role) == ([], "other")


def test_a_record_of_a_log_is_its_line_and_those_up_to_the_next(all_forms):
    hyper = all_forms["lamp__lamp-7"]
    assert [message.name for message in hyper.messages[1:]] == [
        "HyperAgent",
        "HyperAgent",
        "Planner",
        "Inner-Navigator-Assistant",
        "Navigator->Planner",
    ]
    extras = hyper.metadata["messages"]
    assert [(extras[str(n)]["line"], extras[str(n)]["n_lines"]) for n in range(1, 6)] == [
        (0, 1),
        (1, 1),
        (2, 3),
        (5, 3),
        (8, 2),
    ]
    assert hyper.messages[3].text.endswith("Find the switch.\n\nIntern Name: Codebase Navigator")
    assert {message.role for message in hyper.messages[1:]} == {"other"}
    assert hyper.messages[0].text == "The lamp does not turn off\r\n"


def test_the_lines_of_a_log_are_all_there_in_order(all_forms):
    lines = json.loads(FIXTURE.read_text("utf-8"))[1]["trajectory"]
    assert "\n".join(message.text for message in all_forms["lamp__lamp-7"].messages[1:]).split("\n") == lines


def test_lines_before_the_first_record_are_one_of_their_own():
    trace, warnings = trace_of(["started", "", HEAD + "Initialized tools"])
    assert ([message.text for message in trace.messages[1:]], warnings) == (
        ["started\n", HEAD + "Initialized tools"],
        [],
    )


def test_a_rule_of_asterisks_ends_a_record_only_where_the_log_writes_them():
    rule = "*" * 50
    assert len(trace_of([HEAD + "Planner's Response: a", rule, "b"])[0].messages) == 2
    assert len(trace_of(["***** Reasoner 1 output: *****", "a", rule, "b"])[0].messages) == 3


def test_a_log_that_is_not_known_is_one_message_and_warned_of():
    trace, warnings = trace_of(["one", "two"])
    assert [message.text for message in trace.messages] == ["q", "one\ntwo"]
    assert [(warning.code, warning.pointer) for warning in warnings] == [("unknown_log", "/trajectory")]
    assert trace.metadata["messages"]["1"] == {"line": 0, "n_lines": 2}


def test_a_run_of_metagpt_is_read_from_its_log(all_forms):
    meta = all_forms["run 3"]
    assert [(message.role, message.name) for message in meta.messages] == [
        ("user", ""),
        ("other", "Alice(SimpleCoder)"),
        ("other", "Bob(SimpleTester)"),
    ]
    assert meta.messages[1].text.endswith("```python\nprint(4)\n```")
    assert (meta.metadata["usage"], meta.metadata["log_file"]) == ({"cost": 0.048}, "logs/3.txt")
    assert "labels" not in meta.metadata


def test_a_debate_of_reasoners_ends_with_the_answer_the_program_prints(all_forms):
    tot = all_forms["tot-1"]
    assert [message.name for message in tot.messages[1:]] == ["Round 1", "Reasoner 1", "Verifier", "", ""]
    assert view(tot) == [(["What is 6 times 7?"], "42")]
    assert (tot.metadata["steps"], tot.metadata["messages"]["5"]) == (
        {"first_index": 1, "n_steps": 4},
        {"taken_from": 4},
    )


def test_a_peer_review_is_told_in_rounds(all_forms):
    peer = all_forms["peer-1"]
    assert [message.name for message in peer.messages[1:]] == [
        "to agent 0",
        "to agent 1",
        "agent 0",
        "agent 1",
        "to agent 0",
        "agent 0",
    ]
    assert peer.metadata["messages"]["4"] == {"role": "assistant", "agent": "1", "turn": 1}
    assert view(peer) == []
    assert "success" not in peer.metadata


def test_labels_are_those_of_the_note_and_private(all_forms):
    assert all_forms["ag2-1"].metadata["labels"] == [
        {"kind": "failure_mode", "name": "Step repetition", "value": "no"},
        {"kind": "failure_mode", "name": "Invented content", "value": "yes"},
        {"kind": "note", "text": "It added instead of multiplying."},
    ]
    assert all_forms["ag2-1"].metadata["success"] is False
    assert "note" not in all_forms["ag2-1"].metadata


@pytest.mark.parametrize(
    ("note", "labels"),
    [
        (None, []),
        ("bad", [{"kind": "note", "text": "bad"}]),
        ({"options": ["a"]}, [{"kind": "record", "options": ["a"]}]),
        ({"options": {}, "text": "t", "by": "ana"}, [{"kind": "note", "text": "t"}, {"kind": "record", "by": "ana"}]),
    ],
)
def test_other_notes_are_kept(note, labels):
    reader = readers()["mast"]
    (trace,) = reader.read([Document(record([turn("a", "b")], note=note), FIRST_PLACE)])
    assert trace.metadata.get("labels", []) == labels


FIRST_PLACE = read(FIXTURE.read_bytes())[0][0].place


def test_a_turn_that_is_none_and_content_of_other_sorts_are_kept_and_warned_of():
    trace, warnings = trace_of([turn("a", "proxy"), 7, "line", {"content": {"x": 1}, "name": "solver", "message": "m"}])
    assert [message.text for message in trace.messages[1:]] == ["a", "7", '"line"', '{"x": 1}']
    assert [warning.code for warning in warnings] == ["unknown_role", "unknown_role", "non_text_content"]
    assert trace.metadata["messages"]["4"]["message"] == "m"


@pytest.mark.parametrize("trajectory", [None, [], {}, "", {"0": []}])
def test_a_run_without_a_log_is_its_task_alone(trajectory):
    trace, _ = trace_of(trajectory or [], problem_statement="q")
    assert [message.role for message in trace.messages] == ["user"]


def test_a_run_of_nothing_is_warned_of():
    _, warnings = trace_of([], problem_statement=[])
    assert [warning.code for warning in warnings] == ["empty_run"]


def test_another_record_is_passed_over_and_counted():
    traces, problems, warnings = read(json.dumps([record([]), {"instance_id": "x"}]).encode())
    assert (len(traces), problems, [warning.code for warning in warnings]) == (1, [], ["unknown_record"])


@pytest.mark.parametrize(
    ("value", "is_known"),
    [
        (record([]), True),
        (record({}), True),
        (record([], note={"text": []}), False),
        ({"instance_id": "a", "trajectory": [], "note": {"options": {}}}, False),
        ({"run_id": 1, "prompt": "p", "content": "c", "log_file": "f"}, True),
        ({"run_id": 1, "prompt": "p", "content": "c"}, False),
        ({"run_id": 1, "prompt": "p", "content": ["c"], "log_file": "f"}, False),
    ],
)
def test_a_run_is_told_by_its_form(value, is_known):
    known = [name for name, reader in readers().items() if not reader.sniff(value).missing]
    assert known == (["mast"] if is_known else [])


def test_no_value_is_too_strange():
    reader = readers()["mast"]
    for value in (one for run in json.loads(FIXTURE.read_text("utf-8")) for one in mutations(run)):
        reader.sniff(value)
        for found in reader.read([Document(value, FIRST_PLACE)]):
            assert isinstance(found, Trace) or found.warning
            if isinstance(found, Trace):
                assert [message.index for message in found.messages] == list(range(len(found.messages)))
    for junk in JUNK:
        assert reader.sniff(junk).missing


def test_a_log_without_lines_has_no_records():
    assert (log_of([]), list(records([], METAGPT))) == (None, [])


def published(folder):
    for path in sorted(folder.glob("*.json")):
        found = list(Reading(io.BytesIO(path.read_bytes()), file_name=path.name))
        assert [one for one in found if isinstance(one, Problem)] == []
        yield json.loads(path.read_text("utf-8")), found[0]


def n_lines(trace):
    return sum(extras.get("n_lines", 0) for extras in trace.metadata["messages"].values())


@pytest.mark.shared
@pytest.mark.parametrize(
    ("folder", "runs", "steps", "lines", "roles"),
    [
        (MAST / "AG2", 21, 120, 0, {"user": 21, "other": 99, "assistant": 21}),
        (MAST / "HyperAgent", 14, 1072, 23766, {"user": 14, "other": 1072}),
        (MAST / "metagpt", 21, 105, 1946, {"user": 21, "other": 105}),
        (REVIEW / "Multi-Agent-Peer-Review", 3, 72, 0, {"user": 3, "other": 72}),
        (REVIEW / "MA-ToT", 4, 64, 1425, {"user": 4, "other": 64, "assistant": 4}),
    ],
)
def test_the_published_runs_are_counted_as_they_are(folder, runs, steps, lines, roles):
    found = list(published(folder))
    traces = [trace for _, trace in found]
    assert len({trace.source_id for trace in traces}) == runs
    assert sum(trace.metadata["steps"]["n_steps"] for trace in traces) == steps
    assert sum(map(n_lines, traces)) == lines
    assert Counter(message.role for trace in traces for message in trace.messages) == roles


@pytest.mark.shared
@pytest.mark.parametrize("folder", [MAST / "HyperAgent", REVIEW / "MA-ToT"], ids=["HyperAgent", "MA-ToT"])
def test_no_line_of_a_published_log_is_lost(folder):
    for value, trace in published(folder):
        steps = trace.metadata["steps"]
        said = trace.messages[steps["first_index"] : steps["first_index"] + steps["n_steps"]]
        assert "\n".join(message.text for message in said) == "\n".join(value["trajectory"])


@pytest.mark.shared
def test_the_labels_of_the_published_notes_are_all_there():
    for folder, n_modes in ((MAST / "AG2", 21 * 22), (REVIEW / "MA-ToT", 4 * 22)):
        labels = [label for _, trace in published(folder) for label in trace.metadata["labels"]]
        assert sum(label["kind"] == "failure_mode" for label in labels) == n_modes
