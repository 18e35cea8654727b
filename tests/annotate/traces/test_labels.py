import io
import json
from collections import Counter

import pytest

from annotate.traces.base import Place, Trace
from annotate.traces.documents import Document, Documents
from annotate.traces.labels import attached, is_labels, labels_only, left_over, read_labels
from annotate.traces.reading import Reading
from annotate.traces.sniff import recognise
from tests.annotate.traces.files import FIXTURES, SHARED, read
from tests.annotate.traces.junk import JUNK, mutations

MAGENTIC = SHARED / "data" / "agentrx-magentic" / "data"
RETAIL = SHARED / "data" / "tau-bench-retail-agentrx"


def failure(id_=1, step=5, agent="WebSurfer", **members):
    reasons = {"step_reason": "It misread the page.", "category_reason": "The page said it."}
    said = {"failure_id": id_, "step_number": step, "failure_category": "Misread", "failed_agent": agent}
    return {**said, **reasons, **members}


def record(id_="run-7", failures=None, cause=1, **members):
    return {
        "trajectory_id": id_,
        "failures": [failure()] if failures is None else failures,
        "root_cause": {"failure_id": cause, "reason_for_root_cause": "Nobody looked again."},
        "failure_summary": "The year was misread.",
        **members,
    }


def label_file(*records):
    content = json.dumps(records).encode()
    return read_labels(Documents(io.BytesIO(content), file_name="labels.json"))


def a_run(name="run-7.json"):
    found = Reading(io.BytesIO((FIXTURES / "agentrx.json").read_bytes()), file_name=name)
    return next(one for one in found if isinstance(one, Trace))


def numbered_run(task=4, numbers=(1, 2), **members):
    """A tau-bench run whose messages carry their number in the file."""
    roles = ("user", "assistant")
    traj = [{"role": roles[n % 2], "content": f"m{n}", "index": number} for n, number in enumerate(numbers)]
    (trace,), _, _ = read(json.dumps([{"task_id": task, "reward": 0, "traj": traj, **members}]).encode())
    return trace


def test_the_labels_of_a_run_are_found_by_the_name_of_its_file():
    found = attached(a_run(), label_file(record("other"), record()))
    assert (found.id, found.problems) == ("run-7", ())
    assert found.trace.metadata["labels"] == [
        {
            "kind": "failure",
            "failure_id": 1,
            "reason": "It misread the page.",
            "category": "Misread",
            "category_reason": "The page said it.",
            "agent": "WebSurfer",
            "is_root_cause": True,
            "index": 4,
            "step_in_file": 5,
            "step_base": 1,
        },
        {
            "kind": "root_cause",
            "failure_id": 1,
            "reason": "Nobody looked again.",
            "agent": "WebSurfer",
            "index": 4,
            "step_in_file": 5,
            "step_base": 1,
        },
        {"kind": "failure_summary", "text": "The year was misread."},
    ]
    assert found.trace.messages[4].name == "WebSurfer"


def test_a_run_without_labels_stays_as_it_is():
    trace = a_run()
    found = attached(trace, label_file(record("other")))
    assert (found.trace is trace, found.id, found.problems) == (True, None, ())


def test_the_first_step_is_number_one_and_the_added_answer_is_no_step():
    failures = [failure(n, step) for n, step in enumerate((0, 1, 7, 8), start=1)]
    found = attached(a_run(), label_file(record(failures=failures, cause=2)))
    labels = [label for label in found.trace.metadata["labels"] if label["kind"] == "failure"]
    assert [label.get("index") for label in labels] == [None, 0, 6, None]
    assert [label["step_in_file"] for label in labels] == [0, 1, 7, 8]
    assert len(found.trace.messages) == 8
    assert [(problem.code, problem.pointer, problem.file) for problem in found.problems] == [
        ("label_step", "/0/failures/0/step_number", "labels.json"),
        ("label_step", "/0/failures/3/step_number", "labels.json"),
    ]
    assert all(problem.warning for problem in found.problems)
    assert "from 1 to 7; here it is 8" in found.problems[1].sentence()


@pytest.mark.parametrize("step", ["5", 5])
def test_a_step_may_be_a_text(step):
    found = attached(a_run(), label_file(record(failures=[failure(step=step)])))
    assert (found.trace.metadata["labels"][0]["index"], found.problems) == (4, ())


@pytest.mark.parametrize("step", [None, "five", 5.0, True, [], {}, 10**30, -3])
def test_a_step_that_is_none_is_kept_and_warned_of(step):
    found = attached(a_run(), label_file(record(failures=[failure(step=step)])))
    label = found.trace.metadata["labels"][0]
    assert ("index" in label, label["step_in_file"]) == (False, step)
    assert [problem.code for problem in found.problems] == ["label_step"]


def test_a_root_cause_that_is_no_failure_is_kept_and_warned_of():
    found = attached(a_run(), label_file(record(cause=9)))
    cause = found.trace.metadata["labels"][1]
    assert cause == {"kind": "root_cause", "failure_id": 9, "reason": "Nobody looked again."}
    assert [(problem.code, problem.pointer) for problem in found.problems] == [
        ("label_root_cause", "/0/root_cause/failure_id")
    ]


@pytest.mark.parametrize("cause", [1, "1"])
def test_the_number_of_the_root_cause_may_be_a_text(cause):
    found = attached(a_run(), label_file(record(cause=cause)))
    assert (found.trace.metadata["labels"][1]["index"], found.problems) == (4, ())
    assert found.trace.metadata["labels"][0]["is_root_cause"] is True


def test_names_of_our_own_do_not_hide_what_the_file_says():
    failures = [failure(index=99, kind="odd", reason="mine")]
    found = attached(a_run(), label_file(record(failures=failures, annotator="ana")))
    label = found.trace.metadata["labels"][0]
    assert (label["kind"], label["index"], label["reason"], label["step_reason"]) == (
        "failure",
        4,
        "mine",
        "It misread the page.",
    )
    assert (label["index_in_file"], label["kind_in_file"]) == (99, "odd")
    assert found.trace.metadata["labels"][-1] == {"kind": "record", "annotator": "ana"}


def test_labels_join_those_the_trace_has():
    traces, _, _ = read((FIXTURES / "who_and_when.json").read_bytes())
    found = attached(traces[1], label_file(record(traces[1].source_id, failures=[failure(step=2)])))
    kinds = [label["kind"] for label in found.trace.metadata["labels"]]
    assert kinds == ["decisive_mistake", "failure", "root_cause", "failure_summary"]
    assert found.trace.metadata["labels"][1]["index"] == 2, "the question stands before the first step"


@pytest.mark.parametrize("id_", [4, "4"])
def test_numbered_runs_of_a_task_are_found_by_its_id(id_):
    found = attached(numbered_run(), label_file(record(id_, failures=[failure(step=2)])))
    assert (found.id, found.trace.metadata["labels"][0]["index"]) == (id_, 1)


def test_a_step_is_the_message_that_carries_its_number():
    labels = label_file(record(4, failures=[failure(1, 7), failure(2, 2)]))
    found = attached(numbered_run(numbers=(6, 7)), labels)
    assert [label.get("index") for label in found.trace.metadata["labels"][:2]] == [1, None]
    assert "here it is 2" in found.problems[0].sentence()


def test_runs_whose_messages_have_no_number_are_not_found_by_their_task():
    run = {"task_id": 4, "reward": 0, "traj": [{"role": "user", "content": "a"}]}
    (trace,), _, _ = read(json.dumps([run]).encode())
    assert attached(trace, label_file(record(4))).id is None


def test_the_number_of_a_task_is_not_the_name_of_a_file():
    assert attached(a_run("7.json"), label_file(record(7))).id is None
    assert attached(a_run("7.json"), label_file(record("7"))).id == "7"


def test_a_record_that_comes_twice_counts_once_and_another_one_of_the_same_run_too():
    labels = label_file(record(), record(), record(failures=[failure(step=2)]))
    assert [(problem.code, problem.pointer) for problem in labels.problems] == [("repeated_record", "/1")]
    found = attached(a_run(), labels)
    assert [label["index"] for label in found.trace.metadata["labels"] if label["kind"] == "failure"] == [4, 1]


def test_records_that_are_no_labels_and_broken_ones_are_told():
    labels = read_labels(Documents(io.BytesIO(b'[{"a": 1}, {"b": }]'), file_name="l.json"))
    assert labels.by_id == {}
    assert [problem.warning for problem in labels.problems] == [True, False]


def test_labels_without_a_run_and_of_several_are_told():
    labels = label_file(record("a"), record("b"), record("c"))
    assert [(problem.code, problem.pointer, problem.warning) for problem in left_over(labels, {"a": 1, "b": 2})] == [
        ("labels_of_several_runs", "/1/trajectory_id", True),
        ("labels_without_run", "/2/trajectory_id", True),
    ]


def test_labels_are_told_from_runs():
    assert is_labels(record())
    assert is_labels(record(7, failures=[]))
    assert recognise([record()]) is None
    for path in FIXTURES.iterdir():
        with path.open("rb") as file:
            assert not any(is_labels(found.value) for found in Documents(file) if isinstance(found, Document)), path


@pytest.mark.parametrize(
    "value",
    [
        record(None),
        record(True),
        record(""),
        record(failures={}),
        record(failures=[{"failure_id": 1}]),
        {"trajectory_id": "a", "failures": []},
        *JUNK,
    ],
)
def test_other_values_are_no_labels(value):
    assert not is_labels(value)


def test_a_file_of_labels_alone_is_refused_with_what_to_do():
    problem = labels_only(Place("labels.json"))
    assert (problem.code, problem.warning) == ("labels_only", False)
    assert "--labels" in problem.sentence()


def test_no_record_is_too_strange():
    for trace in (a_run(), numbered_run()):
        for value in mutations(record(failures=[failure(1), failure(2, 2)])):
            is_labels(value)
            if isinstance(value, dict) and is_labels(value):
                id_ = "run-7" if trace.format == "agentrx" else 4
                found = attached(trace, read_labels([Document({**value, "trajectory_id": id_}, Place("l"))]))
                assert found.id is not None
                assert all(problem.warning for problem in found.problems)
                json.dumps(found.trace.metadata["labels"])


def joined(label_path, run_paths):
    """Label kinds, agents at the labelled step, and how many runs each label record found."""
    with label_path.open("rb") as file:
        labels = read_labels(Documents(file, file_name=label_path.name))
    assert labels.problems == ()
    kinds, speakers, used, problems = Counter(), Counter(), Counter(), []
    for path in run_paths:
        for trace in Reading(io.BytesIO(path.read_bytes()), file_name=path.name):
            assert isinstance(trace, Trace)
            found = attached(trace, labels)
            used.update([found.id] if found.id is not None else [])
            problems += found.problems
            for label in found.trace.metadata["labels"] if found.id is not None else []:
                kinds[label["kind"], "index" in label] += 1
                if label["kind"] == "failure":
                    message = trace.messages[label["index"]]
                    said = (message.name or message.role).lower()
                    speakers[said.startswith(label["agent"].lower())] += 1
    return kinds, speakers, used, problems, list(left_over(labels, used))


@pytest.mark.shared
def test_the_labels_of_the_published_magentic_runs_all_find_their_step():
    path = MAGENTIC / "ground_truth" / "magentic_one_ground_truth.json"
    kinds, speakers, used, problems, left = joined(path, sorted((MAGENTIC / "magentic_dataset").glob("*.json")))
    assert kinds == {("failure", True): 185, ("root_cause", True): 26, ("failure_summary", False): 26}
    assert (len(used), set(used.values()), len(left), problems) == (26, {1}, 18, [])
    assert speakers == {True: 156, False: 29}


@pytest.mark.shared
def test_steps_of_the_published_labels_count_from_one():
    """Counted from 0, sixteen of them would be behind the last step, and most would blame another agent."""
    records = json.loads((MAGENTIC / "ground_truth" / "magentic_one_ground_truth.json").read_text("utf-8"))
    fits, n_last, n_beyond = Counter(), 0, 0
    for one in records:
        path = MAGENTIC / "magentic_dataset" / f"{one['trajectory_id']}.json"
        steps = json.loads(path.read_text("utf-8")) if path.exists() else []
        for found in one["failures"] if steps else []:
            n_last += found["step_number"] == len(steps)
            n_beyond += not 1 <= found["step_number"] <= len(steps)
            for base in (0, 1):
                place = found["step_number"] - base
                role = steps[place]["role"].lower() if place < len(steps) else ""
                fits[base] += role.startswith(found["failed_agent"].lower())
    assert (fits, n_last, n_beyond) == ({1: 156, 0: 32}, 16, 0)


@pytest.mark.shared
def test_the_labels_of_the_published_retail_runs_all_find_their_message():
    path = RETAIL / "data" / "ground_truth" / "tau_retail.json"
    kinds, speakers, used, problems, left = joined(path, [RETAIL / "data" / "tau_retail" / "tau_dataset_failed.json"])
    assert kinds == {("failure", True): 34, ("root_cause", True): 24, ("failure_summary", False): 24}
    assert (len(used), set(used.values()), problems, left) == (24, {1}, [], [])
    assert speakers == {True: 33, False: 1}
    kinds, _, used, problems, _ = joined(path, sorted((RETAIL / "trajectories" / "tau-retail").iterdir()))
    assert (kinds["failure", True], len(used), problems) == (8, 5, [])
