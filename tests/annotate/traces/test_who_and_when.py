import io
import json
from collections import Counter

import pytest

from annotate.rules.requester_view import replies, requester_view
from annotate.traces.base import Problem, Trace
from annotate.traces.documents import Document
from annotate.traces.reading import Reading
from annotate.traces.sniff import readers
from tests.annotate.traces.files import FIXTURES, SHARED, read
from tests.annotate.traces.junk import JUNK, mutations

FIXTURE = FIXTURES / "who_and_when.json"
DATA = SHARED / "data" / "who-and-when" / "Who&When"


def record(steps=None, **members):
    """A hand-crafted run of two steps."""
    default = [{"content": "q", "role": "human"}, {"content": "a", "role": "WebSurfer"}]
    mistake = {"mistake_agent": "WebSurfer", "mistake_step": "1", "mistake_reason": "It did not look."}
    history = default if steps is None else steps
    return {"history": history, "question": "q", "question_ID": "q1", **mistake, **members}


def trace_of(**members):
    (trace,), problems, warnings = read(json.dumps(record(**members)).encode())
    assert problems == []
    return trace, warnings


@pytest.fixture(scope="module")
def both():
    traces, problems, warnings = read(FIXTURE.read_bytes())
    assert (problems, warnings) == ([], [])
    return traces


def test_the_person_of_a_hand_crafted_run_is_its_first_step(both):
    hand = both[0]
    assert [message.role for message in hand.messages] == ["user", "other", "other", "other", "assistant"]
    assert hand.metadata["steps"] == {"first_index": 0, "n_steps": 4}
    (reply,) = replies(hand.messages)
    assert [message.index for message in requester_view(hand, reply).dialog] == [0]
    assert hand.messages[reply].text == "North park"


def test_the_question_of_a_generated_run_stands_before_its_steps(both):
    generated = both[1]
    assert [message.role for message in generated.messages] == ["user", "other", "other", "other", "other"]
    assert generated.messages[0].text == generated.metadata["question"]
    assert generated.metadata["steps"] == {"first_index": 1, "n_steps": 4}
    assert generated.metadata["messages"]["0"] == {"taken_from": "question"}
    assert replies(generated.messages) == ()


def test_experts_in_the_role_of_users_are_agents(both):
    steps = both[1].messages[1:]
    assert [message.name for message in steps] == ["Sheet_Expert", "Data_Expert", "Computer_terminal", "Data_Expert"]
    assert both[1].metadata["messages"]["2"] == {"role": "user"}


def test_the_label_names_our_index_of_the_step(both):
    assert [trace.metadata["labels"] for trace in both] == [
        [
            {
                "kind": "decisive_mistake",
                "agent": "FileSurfer",
                "reason": "It mixed up the two parks.",
                "index": 3,
                "step_in_file": "3",
                "step_base": 0,
            }
        ],
        [
            {
                "kind": "decisive_mistake",
                "agent": "Data_Expert",
                "reason": "It counted one side only.",
                "index": 2,
                "step_in_file": "1",
                "step_base": 0,
            }
        ],
    ]
    speakers = [trace.messages[trace.metadata["labels"][0]["index"]].name for trace in both]
    assert speakers == ["FileSurfer", "Data_Expert"]


@pytest.mark.parametrize("step", ["2", "-1", "one", "", "1.0", None, True, 1.5, [1], "9" * 5000])
def test_a_step_that_is_none_of_the_run_is_kept_and_warned_of(step):
    trace, warnings = trace_of(mistake_step=step)
    (label,) = trace.metadata["labels"]
    assert "index" not in label
    assert label["step_in_file"] == step
    assert [(warning.code, warning.pointer) for warning in warnings] == [("label_step", "/mistake_step")]


def test_a_step_as_a_number_is_as_good(both):
    trace, warnings = trace_of(mistake_step=1)
    assert (trace.metadata["labels"][0]["index"], warnings) == (1, [])


def test_a_run_without_any_mistake_has_no_label():
    trace, warnings = trace_of(mistake_agent=None, mistake_step=None, mistake_reason=None)
    assert ("labels" in trace.metadata, warnings) == (False, [])


def test_two_runs_of_a_question_share_its_cluster_and_keep_their_ids_apart():
    other = record([{"content": "q", "role": "human"}, {"content": "b", "role": "WebSurfer"}])
    traces, problems, _ = read(json.dumps([record(), other]).encode())
    assert problems == []
    assert {trace.cluster for trace in traces} == {"q1"}
    assert [trace.source_id.split(" ")[0] for trace in traces] == ["q1", "q1"]
    assert len({trace.source_id for trace in traces}) == 2


def test_what_else_the_file_says_is_private(both):
    assert both[0].metadata["ground_truth"] == "South park"
    assert both[1].metadata["success"] is False
    assert both[1].metadata["system_prompt"] == {"Sheet_Expert": "## Your role\nRead sheets."}
    assert trace_of(labels=["theirs"])[0].metadata["record"] == {"labels": ["theirs"]}


def test_a_run_without_steps_is_kept():
    trace, warnings = trace_of(steps=[], question=None)
    assert trace.messages == ()
    assert [warning.code for warning in warnings] == ["empty_run", "label_step"]


def test_another_record_is_passed_over_and_counted():
    traces, problems, warnings = read(json.dumps([record(), {"question": "q"}]).encode())
    assert (len(traces), problems, [warning.code for warning in warnings]) == (1, [], ["unknown_record"])


@pytest.mark.parametrize(
    ("value", "is_known"),
    [
        (record(), True),
        ({"history": [], "mistake_agent": None, "mistake_step": None}, True),
        ({"history": [], "question": "q"}, False),
        ({"history": {}, "mistake_agent": "a", "mistake_step": "1"}, False),
    ],
)
def test_a_run_is_told_by_its_history_and_its_mistake(value, is_known):
    known = [name for name, reader in readers().items() if not reader.sniff(value).missing]
    assert known == (["who_and_when"] if is_known else [])


def test_no_value_is_too_strange():
    reader = readers()["who_and_when"]
    place = trace_of()[0].place
    for value in (one for run in json.loads(FIXTURE.read_text("utf-8")) for one in mutations(run)):
        reader.sniff(value)
        for found in reader.read([Document(value, place)]):
            assert isinstance(found, Trace) or found.warning
            if isinstance(found, Trace):
                assert [message.index for message in found.messages] == list(range(len(found.messages)))
    for junk in JUNK:
        assert reader.sniff(junk).missing


def published(folder):
    for path in sorted((DATA / folder).glob("*.json")):
        found = list(Reading(io.BytesIO(path.read_bytes()), file_name=path.name))
        assert [one for one in found if isinstance(one, Problem)] == []
        yield json.loads(path.read_text("utf-8")), found[0]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("folder", "runs", "steps", "roles", "others_speak"),
    [
        ("Algorithm-Generated", 83, 722, {"user": 83, "other": 722}, 2),
        ("Hand-Crafted", 36, 1794, {"user": 36, "other": 1758, "assistant": 35}, 1),
    ],
)
def test_the_published_runs_are_counted_as_they_are(folder, runs, steps, roles, others_speak):
    found, n_steps, n_other_speakers = Counter(), 0, 0
    traces = list(published(folder))
    for value, trace in traces:
        first = trace.metadata["steps"]["first_index"]
        n_steps += trace.metadata["steps"]["n_steps"]
        for number, step in enumerate(value["history"]):
            assert trace.messages[first + number].text == step["content"]
        found.update(message.role for message in trace.messages)
        (label,) = trace.metadata["labels"]
        assert label["index"] == int(value["mistake_step"]) + first
        n_other_speakers += not trace.messages[label["index"]].name.startswith(label["agent"])
    assert (len(traces), n_steps, found, n_other_speakers) == (runs, steps, roles, others_speak)
    assert len({trace.source_id for _, trace in traces}) == runs
