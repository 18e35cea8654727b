import io
import json
from collections import Counter

import pytest

from annotate.rules.requester_view import replies, requester_view
from annotate.traces.base import Problem, Trace
from annotate.traces.documents import Document
from annotate.traces.reading import Reading
from annotate.traces.sniff import readers
from tests.annotate.traces.files import FIXTURES, SHARED
from tests.annotate.traces.junk import JUNK, mutations

FIXTURE = FIXTURES / "agentrx.json"
RUNS = SHARED / "data" / "agentrx-magentic" / "data" / "magentic_dataset"


def read(steps, name="run-7.json"):
    """The one trace of a file, and its warnings."""
    content = steps if isinstance(steps, bytes) else json.dumps(steps).encode()
    (trace,), warnings = split(Reading(io.BytesIO(content), file_name=name))
    return trace, warnings


def split(found):
    found = list(found)
    problems = [one for one in found if isinstance(one, Problem)]
    assert [problem for problem in problems if not problem.warning] == []
    return [one for one in found if isinstance(one, Trace)], problems


@pytest.fixture(scope="module")
def run():
    return read(FIXTURE.read_bytes())[0]


def test_the_name_of_the_file_is_the_id_and_the_question(run):
    assert (run.source_id, run.cluster, run.format) == ("run-7", "run-7", "agentrx")
    assert read(FIXTURE.read_bytes(), "a/b/run-8.json")[0].source_id == "run-8"


def test_a_file_without_a_name_is_called_by_its_messages(run):
    assert len(read(FIXTURE.read_bytes(), "")[0].source_id) == 12


def test_only_the_person_and_the_answer_are_seen(run):
    assert Counter(message.role for message in run.messages) == {"user": 1, "other": 6, "assistant": 1}
    (reply,) = replies(run.messages)
    view = requester_view(run, reply)
    assert [message.text for message in view.dialog] == [json.loads(FIXTURE.read_text("utf-8"))[0]["content"]]
    assert run.messages[reply].text == "1913"


def test_steps_keep_their_texts_their_numbers_and_who_spoke_to_whom(run):
    steps = json.loads(FIXTURE.read_text("utf-8"))
    assert [message.text for message in run.messages[: len(steps)]] == [step["content"] for step in steps]
    assert [message.index for message in run.messages] == list(range(len(steps) + 1))
    assert [message.name for message in run.messages[1:5]] == [step["role"] for step in steps[1:5]]
    assert run.metadata["steps"] == {"first_index": 0, "n_steps": 7}
    assert run.metadata["messages"]["7"] == {"taken_from": 6}


@pytest.mark.parametrize(
    ("last", "answer"),
    [
        ("FINAL ANSWER: a\nb\nSCENARIO.PY COMPLETE !#!#\nRUN.SH COMPLETE !#!#", "a\nb"),
        ("FINAL ANSWER: 5\r\nSCENARIO.PY COMPLETE !#!#", "5"),
        ("FINAL ANSWER: 1\nmore\nFINAL ANSWER:\t2", "2"),
        ("FINAL ANSWER: \nSCENARIO.PY COMPLETE !#!#", None),
        ("It will write FINAL ANSWER: 5", None),
        ("Traceback\nSCENARIO.PY EXITED WITH CODE: 1 !#!#", None),
    ],
)
def test_the_answer_is_what_the_program_prints_at_the_end(last, answer):
    trace, _ = read([{"content": "q", "role": "human"}, {"content": last, "role": "WebSurfer"}])
    said = [message.text for message in trace.messages if message.role == "assistant"]
    assert said == ([] if answer is None else [answer])
    assert trace.messages[1].text == last


def test_what_the_person_says_last_is_no_answer():
    trace, _ = read([{"content": "FINAL ANSWER: 5", "role": "human"}])
    assert [message.role for message in trace.messages] == ["user"]


def test_a_record_that_is_no_step_is_kept_and_warned_of_so_that_steps_keep_their_numbers():
    steps = [{"content": "q", "role": "human"}, 7, {"content": "a"}, {"content": "b", "role": "WebSurfer"}]
    trace, warnings = read(steps)
    assert [(message.role, message.text) for message in trace.messages[1:3]] == [
        ("other", "7"),
        ("other", '{"content": "a"}'),
    ]
    assert trace.messages[3].name == "WebSurfer"
    assert [warning.code for warning in warnings] == ["unknown_role", "unknown_role"]
    assert [warning.pointer for warning in warnings] == ["/1", "/2/role"]


def test_content_of_other_sorts_is_kept():
    parts = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]
    steps = [
        {"content": "q", "role": "human"},
        {"content": None, "role": "WebSurfer"},
        {"content": parts, "role": "WebSurfer"},
        {"content": {"x": 1}, "role": "WebSurfer", "at": "noon"},
    ]
    trace, warnings = read(steps)
    assert [message.text for message in trace.messages[1:]] == ["", "see\n[image: image/png]", '{"x": 1}']
    assert trace.metadata["messages"]["3"] == {"at": "noon", "content": {"x": 1}}
    assert [warning.code for warning in warnings] == ["non_text_content"]


@pytest.mark.parametrize(
    ("value", "is_known"),
    [
        ({"content": "q", "role": "human"}, True),
        ({"content": "q", "role": "Orchestrator (-> Coder)"}, True),
        ({"content": "", "role": "FileSurfer"}, True),
        ({"content": "q", "role": "user"}, False),
        ({"content": "q", "role": "assistant"}, False),
        ({"content": "q", "role": "Orchestrator"}, False),
        ({"content": "q", "role": "human", "id": 1}, False),
        ({"content": None, "role": "human"}, False),
        ({"content": "q", "role": ["human"]}, False),
    ],
)
def test_a_step_is_told_by_its_role(value, is_known):
    assert (not readers()["agentrx"].sniff(value).missing) is is_known
    if is_known:
        assert [name for name, reader in readers().items() if not reader.sniff(value).missing] == ["agentrx"]


def test_every_step_of_a_file_is_known():
    reader = readers()["agentrx"]
    assert [step for step in json.loads(FIXTURE.read_text("utf-8")) if reader.sniff(step).missing] == []


def test_no_value_is_too_strange():
    reader = readers()["agentrx"]
    place = read(FIXTURE.read_bytes())[0].place
    for steps in mutations(json.loads(FIXTURE.read_text("utf-8"))):
        values = steps if isinstance(steps, list) else [steps]
        for value in values:
            reader.sniff(value)
        traces, _ = split(reader.read(Document(value, place) for value in values))
        for trace in traces:
            assert [message.index for message in trace.messages] == list(range(len(trace.messages)))
            assert trace.metadata["steps"]["n_steps"] == len(values)
    for junk in JUNK:
        assert reader.sniff(junk).missing


@pytest.mark.shared
def test_the_published_runs_are_counted_as_they_are():
    n_steps, added, roles = 0, 0, Counter()
    paths = sorted(RUNS.glob("*.json"))
    for path in paths:
        trace, warnings = read(path.read_bytes(), path.name)
        assert (warnings, trace.source_id) == ([], path.stem)
        n_steps += trace.metadata["steps"]["n_steps"]
        added += len(trace.messages) - trace.metadata["steps"]["n_steps"]
        roles.update(message.role for message in trace.messages)
    assert (len(paths), n_steps) == (37, 1719)
    assert roles == {"user": 37, "other": 1682, "assistant": 35}
    assert added == 35
