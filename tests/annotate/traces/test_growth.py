"""What a reader does grows as its file does: four times the messages, calls, spans or sessions are about four times the
work. Work is counted in lines of our own code, which is the same on every machine."""

import json
import sys

import pytest

from annotate.traces.chatgpt_export import CITATION
from annotate.traces.names import Names
from tests.annotate.traces.files import lines, read

SMALL, LARGE, MOST = 150, 600, 4.8
TRACES = "/annotate/traces/"


def work_of(content):
    """How many lines of the readers run until a file is read."""
    n_lines = 0

    def count(frame, event, argument):
        nonlocal n_lines
        n_lines += 1
        return count

    def enter(frame, event, argument):
        return count(frame, event, argument) if TRACES in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        traces, _, _ = read(content)
    finally:
        sys.settrace(before)
    assert traces
    return n_lines


def attributes(**values):
    return [
        {"key": f"gen_ai.{name.replace('__', '.')}", "value": {"stringValue": value}} for name, value in values.items()
    ]


def said(role, *texts):
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]} for text in texts])


def span(number, parent, **values):
    ids = {"traceId": "a" * 32, "spanId": f"{number:016x}", "parentSpanId": f"{parent:016x}" if parent else ""}
    times = {"startTimeUnixNano": str(1000 + number), "endTimeUnixNano": str(9000 + number)}
    return {**ids, **times, "name": f"span {number}", "attributes": attributes(**values)}


def chat(number, parent, asked, given):
    return span(
        number, parent, operation__name="chat", input__messages=asked, output__messages=said("assistant", given)
    )


def tool(number, **values):
    return span(number, 1, operation__name="execute_tool", tool__name="f", tool__call__result=f"r {number}", **values)


ROOT = span(1, 0, operation__name="invoke_agent")


def spans_inside_each_other(n):
    return lines(*(chat(at + 1, at, said("user", f"q {at}"), f"a {at}") for at in range(n)))


def agents_inside_each_other(n):
    agents = [span(at + 1, at, operation__name="invoke_agent") for at in range(n)]
    return lines(*agents, *(chat(n + at + 1, n, said("user", f"q {at}"), f"a {at}") for at in range(n)))


def requests_of_their_own(n):
    return lines(ROOT, *(chat(at + 2, 1, said("user", f"q {at}"), f"a {at}") for at in range(n)))


def answers_alone(n):
    return lines(ROOT, *(chat(at + 2, 1, said("assistant", f"n {at}"), f"a {at}") for at in range(n)))


def spans_of_tools(n):
    calls = [{"type": "tool_call", "id": f"c{at}", "name": "f", "arguments": {"a": at}} for at in range(n)]
    answer = json.dumps([{"role": "assistant", "parts": calls}])
    asked = said("user", "q")
    calling = span(n + 2, 1, operation__name="chat", input__messages=asked, output__messages=answer)
    return lines(ROOT, calling, *(tool(at + 2, tool__call__id=f"c{at}") for at in range(n)))


def spans_of_tools_nobody_called(n):
    tools = [tool(at + 2, tool__call__id=f"c{at}") for at in range(n)]
    return lines(ROOT, chat(n + 9, 1, said("user", "q"), "a"), *tools)


def run(number, parent, kind, inputs, outputs):
    ids = {"id": f"r{number}", "trace_id": "t", "parent_run_id": parent, "dotted_order": f"{number:08d}"}
    times = {"start_time": "2026-01-01T00:00:00", "end_time": "2026-01-01T00:00:01"}
    return {**ids, **times, "name": "n", "run_type": kind, "inputs": inputs, "outputs": outputs}


def model_runs(n):
    runs = [
        run(at + 1, "r0", "llm", {"messages": [{"role": "user", "content": f"q {at}"}]}, {"output": f"a {at}"})
        for at in range(n)
    ]
    return lines(run(0, None, "chain", {"input": "q"}, {"output": "a"}), *runs)


def tool_runs(n):
    runs = [run(at + 1, "r0", "tool", {"input": f"x {at}"}, {"output": f"y {at}"}) for at in range(n)]
    return lines(run(0, None, "chain", {"input": "q"}, {"output": "a"}), *runs)


def event(kind, id_, **members):
    return {"type": kind, "id": id_, "processed_at": "2026-01-01T00:00:00Z", **members}


def calls_of_one_request(n):
    calls = [event("agent.tool_use", f"c{at}", name="f", input={}) for at in range(n)]
    return lines(*calls, *(event("agent.tool_result", f"r{at}", tool_use_id=f"c{at}", content=[]) for at in range(n)))


def results_of_one_id(n):
    calls = [event("agent.tool_use", "c", name="f", input={"a": at}) for at in range(n)]
    return lines(*calls, *(event("agent.tool_result", f"r{at}", tool_use_id="c", content=[]) for at in range(2 * n)))


def thoughts_without_spans(n):
    return lines(*(event("agent.thinking", f"t{at}") for at in range(n)), event("agent.message", "m", content=[]))


def documents_of_one_name(n):
    source = {"type": "text", "media_type": "text/plain", "data": "x"}
    blocks = [{"type": "document", "title": "notes", "source": source} for _ in range(n)]
    return lines({"model": "m", "max_tokens": 1, "system": "s", "messages": [{"role": "user", "content": blocks}]})


def attachments_of_one_name(n):
    given = [{"file_name": "notes", "extracted_content": f"{at}"} for at in range(n)]
    message = {"uuid": "m", "sender": "human", "text": "q", "content": [], "attachments": given}
    return lines({"uuid": "c", "name": "n", "chat_messages": [message]})


def sessions_of_one_file(n):
    def line(at, **members):
        return {"type": "user", "uuid": f"u{at}", "sessionId": f"s{at}", "timestamp": "2026-01-01T00:00:00Z", **members}

    titles = [{"type": "summary", "summary": f"t {at}", "leafUuid": f"u{at}"} for at in range(n)]
    return lines(*(line(at, message={"role": "user", "content": f"q {at}"}) for at in range(n)), *titles)


@pytest.mark.parametrize(
    "file_of",
    [
        spans_inside_each_other,
        agents_inside_each_other,
        requests_of_their_own,
        answers_alone,
        spans_of_tools,
        spans_of_tools_nobody_called,
        model_runs,
        tool_runs,
        calls_of_one_request,
        results_of_one_id,
        thoughts_without_spans,
        documents_of_one_name,
        attachments_of_one_name,
        sessions_of_one_file,
    ],
    ids=lambda one: one.__name__,
)
def test_four_times_the_file_is_about_four_times_the_work(file_of):
    assert work_of(file_of(LARGE)) / work_of(file_of(SMALL)) < MOST


def test_spans_that_are_inside_each_other_have_an_outermost_one():
    """A record gone wrong: nothing of it is lost."""
    first, second = chat(1, 2, said("user", "q"), "a"), chat(2, 1, said("user", "q"), "b")
    (trace,), problems, _ = read(lines(first, second))
    assert problems == []
    assert [(message.role, message.side) for message in trace.messages] == [("user", "user"), ("assistant", "agent")]


def test_a_request_that_names_nobody_is_the_requesters():
    (trace,), _, _ = read(lines(span(1, 0, operation__name="chat", prompt="q", completion="a")))
    assert (trace.messages[0].role, trace.messages[0].side) == ("user", "user")


def test_names_hold_once():
    names = Names()
    taken = [names.take(name) for name in ("a", "a (2)", "a", "a", "b", "a")]
    assert taken == ["a", "a (2)", "a (3)", "a (4)", "b", "a (5)"]
    assert (names.free("a"), names.free("a"), names.free("c")) == ("a (6)", "a (6)", "c")


def test_signs_of_citations_without_an_end_are_looked_at_once():
    """One of them is no reason to look through the rest of the text again."""
    assert CITATION.sub("", "a\ue200cite\ue202turn0\ue201b" + "\ue200" * 400_000) == "ab" + "\ue200" * 400_000
