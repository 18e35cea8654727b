import json

import pytest

from annotate.rules.requester_view import replies, requester_view, visible_texts
from annotate.traces.anthropic_events import read as read_documents
from annotate.traces.anthropic_events import sniff
from annotate.traces.base import Place, Problem, Trace
from annotate.traces.documents import Document
from annotate.traces.sniff import recognise
from tests.annotate.traces.files import FIXTURES, SHARED, lines, read
from tests.annotate.traces.junk import mutations

FIXTURE = FIXTURES / "anthropic_events.jsonl"
STREAMS = SHARED / "data" / "fmt-langsmith" / "js" / "src" / "tests" / "test_data"
METHOD = "client.beta.sessions."


def event(kind, id_, said=None, **members):
    content = {} if said is None else {"content": [{"type": "text", "text": said}]}
    return {"type": kind, "id": id_, "processed_at": "2026-05-04T10:00:00Z", **content, **members}


def call(id_, name="bash", kind="agent.tool_use", **members):
    return event(kind, id_, name=name, input={"a": id_}, **members)


def result(id_, answers, said="ok", **members):
    return event("agent.tool_result", id_, said, tool_use_id=answers, **members)


def received(value):
    return [f"{METHOD}events.stream", value]


def sent(session_id, *events):
    return [f"{METHOD}events.send", [session_id, {"events": list(events)}]]


def session(id_="s1", **agent):
    return {"type": "session", "id": id_, "environment_id": "e", "agent": {"name": "A", **agent}}


def told(*values):
    """Traces and warnings of records, which may be arrays."""
    found = list(read_documents(Document(value, Place("x.jsonl", at)) for at, value in enumerate(values, 1)))
    assert all(one.warning for one in found if isinstance(one, Problem))
    return [one for one in found if isinstance(one, Trace)], [one for one in found if isinstance(one, Problem)]


def shape(trace):
    return [(message.role, message.text) for message in trace.messages]


def test_the_sessions_of_a_file_are_traces_with_their_own_agent():
    traces, problems, _ = read(FIXTURE.read_bytes())
    assert problems == []
    assert [trace.source_id for trace in traces] == ["sesn_one", "sesn_two"]
    assert traces[0].metadata["model"] == "an invented model"
    assert traces[0].metadata["session_id"] == "sesn_one"
    assert traces[0].metadata["session"]["title"] == "Greenhouse"


def test_what_was_said_and_called_in_one_request_is_one_message_with_its_results_behind():
    (trace, _), _, _ = read(FIXTURE.read_bytes())
    assert [message.role for message in trace.messages] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    said = trace.messages[2]
    assert (said.text, [call.name for call in said.calls]) == ("I check both.", ["bash", "water"])
    assert [message.answers.call for message in trace.messages[3:5]] == [0, 1]
    assert trace.messages[3].text == "\x1b[32m24\x1b[0m\r\n"


def test_a_permission_is_private_and_kept_with_its_call():
    (trace, _), _, _ = read(FIXTURE.read_bytes())
    (permission,) = trace.metadata["messages"]["2"]["confirmations"]
    assert (permission["result"], permission["deny_message"]) == ("deny", "It rained.")
    assert trace.metadata["messages"]["4"]["is_error"] is True


def test_usage_is_added_up_over_the_requests():
    (trace, _), _, _ = read(FIXTURE.read_bytes())
    assert trace.metadata["usage"]["output_tokens"] == 14
    assert trace.metadata["stop_reason"] == {"type": "end_turn"}


def test_nothing_of_the_vendor_reaches_somebody_who_labels():
    traces, _, _ = read(FIXTURE.read_bytes())
    marks = ("sevt_", "sesn_", "end_turn", "requires_action", "agent.", "Botanist", "overloaded")
    for trace in traces:
        seen = "\n".join(said for _, said in visible_texts(trace))
        assert [mark for mark in marks if mark in seen] == []


def test_other_agents_and_errors_are_private():
    (_, trace), _, _ = read(FIXTURE.read_bytes())
    assert [(message.role, message.name) for message in trace.messages[4:6]] == [
        ("other", "Botanist"),
        ("other", "session.error"),
    ]
    (reply,) = replies(trace.messages)
    assert [message.text for message in requester_view(trace, reply).dialog] == ["这是什么病？\n[image: leaf 1.png]"]


def test_an_event_with_a_known_id_and_states_are_counted():
    _, _, warnings = read(FIXTURE.read_bytes())
    assert [warning.line for warning in warnings if warning.code == "repeated_record"] == [17]
    assert sum(warning.code == "bookkeeping" for warning in warnings) == 7


def test_an_event_that_was_sent_and_came_back_counts_once():
    (trace,), warnings = told(
        [f"{METHOD}create", session(system="Be kind.")],
        sent("s1", {"type": "user.message", "content": [{"type": "text", "text": "Hi"}]}),
        received(event("user.message", "e1", "Hi")),
        received(event("agent.message", "e2", "Hello")),
        sent("s1", {"type": "user.message", "content": [{"type": "text", "text": "Hi"}]}),
        received(event("user.message", "e3", "Hi")),
        received(event("agent.message", "e4", "Again?")),
    )
    assert shape(trace) == [
        ("system", "Be kind."),
        ("user", "Hi"),
        ("assistant", "Hello"),
        ("user", "Hi"),
        ("assistant", "Again?"),
    ]
    assert [(warning.code, warning.line) for warning in warnings] == [("repeated_record", 2), ("repeated_record", 5)]


def test_an_event_that_never_came_back_is_kept():
    (trace,), _ = told(sent("s1", {"type": "user.message", "content": [{"type": "text", "text": "Hi"}]}))
    assert (trace.source_id, shape(trace)) == ("s1", [("user", "Hi")])


def test_a_queued_event_counts_when_it_was_processed():
    queued = {**event("user.message", "e1", "Hi"), "processed_at": None}
    (trace,), _ = told(queued, event("agent.message", "e2", "Wait"), event("user.message", "e1", "Hi"))
    assert shape(trace) == [("assistant", "Wait"), ("user", "Hi")]


def test_results_before_the_message_is_complete_come_after_it():
    (trace,), _ = told(
        event("span.model_request_start", "m1"),
        call("c1"),
        result("r1", "c1"),
        call("c2"),
        event("agent.message", "e1", "Two."),
        result("r2", "c2"),
        event("span.model_request_end", "m2"),
    )
    assert [message.role for message in trace.messages] == ["assistant", "tool", "tool"]
    assert len(trace.messages[0].calls) == 2
    assert [message.answers.call for message in trace.messages[1:]] == [0, 1]


def test_without_spans_a_text_goes_with_the_calls_behind_it():
    (trace,), _ = told(
        event("agent.message", "e1", "I look."),
        call("c1"),
        result("r1", "c1"),
        event("agent.message", "e2", "One."),
        event("agent.message", "e3", "Two."),
    )
    assert [(message.text, len(message.calls)) for message in trace.messages] == [
        ("I look.", 1),
        ("ok", 0),
        ("One.", 0),
        ("Two.", 0),
    ]


def test_an_interruption_between_call_and_result_does_not_part_them():
    (trace,), _ = told(call("c1"), event("user.interrupt", "i1"), result("r1", "c1"))
    assert [(message.role, message.name) for message in trace.messages] == [
        ("assistant", ""),
        ("tool", "bash"),
        ("other", "user.interrupt"),
    ]


def test_results_without_an_id_or_a_call_are_kept_and_counted():
    (trace,), warnings = told(call("c1"), result("r1", ""), result("r2", "nowhere"))
    assert [message.answers is not None for message in trace.messages] == [False, True, False]
    assert [warning.code for warning in warnings] == ["orphan_tool_result"]


def test_a_tool_of_the_requesters_program_gives_results_of_no_person():
    (trace,), _ = told(
        call("c1", kind="agent.custom_tool_use"),
        event("user.custom_tool_result", "r1", "ok", custom_tool_use_id="c1"),
    )
    assert [(message.role, message.side) for message in trace.messages] == [("assistant", "agent"), ("tool", "agent")]


def test_an_outcome_is_asked_for_by_the_requester_and_its_evaluation_is_the_success():
    (trace,), _ = told(
        event("user.define_outcome", "o1", description="A clean table", rubric={"type": "text", "content": "no dust"}),
        event("span.outcome_evaluation_end", "o2", result="satisfied"),
    )
    assert shape(trace) == [("user", "A clean table")]
    assert trace.metadata["success"] == "satisfied"


def test_another_thread_is_private():
    (trace,), _ = told(
        event("session.thread_status_running", "t1", session_thread_id="main"),
        event("agent.message", "e1", "mine", session_thread_id="main"),
        event("agent.message", "e2", "theirs", session_thread_id="side", agent_name="Helper"),
    )
    assert [(message.role, message.name) for message in trace.messages] == [("assistant", ""), ("other", "Helper")]


def test_an_unknown_event_is_kept_private_and_counted():
    (trace,), warnings = told(event("agent.dream", "d1", "sheep"))
    (message,) = trace.messages
    assert (message.role, message.text, message.name) == ("other", "sheep", "agent.dream")
    assert [warning.code for warning in warnings] == ["unknown_role"]


def test_other_methods_are_counted_and_lists_are_read():
    (trace,), warnings = told(
        [f"{METHOD}archive", {"id": "s1"}],
        {"data": [event("user.message", "e1", "Hi"), event("agent.message", "e2", "Hello")], "next_page": None},
    )
    assert shape(trace) == [("user", "Hi"), ("assistant", "Hello")]
    assert [warning.code for warning in warnings] == ["bookkeeping"]


def test_a_session_without_events_is_an_empty_run():
    (trace,), warnings = told(session())
    assert (trace.messages, [warning.code for warning in warnings]) == ((), ["empty_run"])


def test_a_session_told_again_later_has_an_id_of_its_own():
    traces, _ = told(session("a"), event("agent.message", "1", "x"), session("b"), session("a"))
    assert len({trace.source_id for trace in traces}) == len(traces) == 3


@pytest.mark.parametrize(
    "value", [session(), event("user.message", "e"), received({}), {"data": [event("span.x", "e")]}]
)
def test_sessions_and_events_are_known(value):
    assert recognise([value]).FORMAT == "anthropic_events"


@pytest.mark.parametrize(
    "value",
    [
        {"type": "user.message", "id": "a", "data": {"content": "hi"}, "timestamp": "now"},
        {"type": "session.start", "data": {}, "processed_at": None},
        {"type": "session", "id": "a"},
        ["client.messages.create", {}],
        {"events": [{"type": "message"}]},
        {"type": "message_start"},
    ],
)
def test_events_of_others_are_not_taken(value):
    assert sniff(value).missing


def test_any_json_at_any_place_is_read_without_failing():
    values = [json.loads(one) for one in FIXTURE.read_text("utf-8").splitlines()]
    for value in [*values, received(values[2]), sent("s", values[2]), {"data": values[2:4]}]:
        for changed in mutations(value):
            sniff(changed)
            list(read_documents([Document(one, Place("x.jsonl", 1)) for one in (values[6], changed, values[8])]))


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "n_events", "roles"),
    [
        ("builtin_tools", 14, ["system", "user", "assistant", "tool", "assistant"]),
        ("custom_tools", 19, ["system", "user", "assistant", "tool", "assistant"]),
        ("mcp_tools_reject", 27, ["system", "user", "assistant", "tool", "assistant", "tool", "assistant"]),
    ],
)
def test_recorded_streams_are_one_conversation_each(name, n_events, roles):
    content = (STREAMS / f"anthropic_managed_{name}.jsonl").read_text("utf-8")
    values = [json.loads(one) for one in content.splitlines() if one.strip()]
    assert len(values) == n_events
    assert all(recognise([value]).FORMAT == "anthropic_events" for value in values)
    (trace,), warnings = told(*values)
    assert [message.role for message in trace.messages] == roles
    assert all(message.answers for message in trace.messages if message.role == "tool")
    assert replies(trace.messages) == (len(roles) - 1,)
    n_sent = sum(value[0].endswith(".send") for value in values)
    assert [warning.code for warning in warnings if warning.code != "bookkeeping"] == ["repeated_record"] * n_sent
    n_states = sum(str(value[1]).count("'type': 'session.") + str(value[1]).count("'type': 'span.") for value in values)
    assert sum(warning.code == "bookkeeping" for warning in warnings) == n_states


def test_lines_of_the_fixture_are_known_one_by_one():
    for value in map(json.loads, FIXTURE.read_text("utf-8").splitlines()):
        assert recognise([value]).FORMAT == "anthropic_events"
    assert read(lines(session()))[1] == []
