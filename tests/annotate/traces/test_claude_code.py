import json
from itertools import count

import pytest

from annotate.rules.requester_view import context, replies, requester_view
from annotate.traces.base import Place, Problem
from annotate.traces.claude_code import read as read_documents
from annotate.traces.claude_code import sniff
from annotate.traces.documents import Document
from annotate.traces.sniff import readers
from tests.annotate.traces.files import FIXTURES, SHARED, lines, read, refusal
from tests.annotate.traces.junk import JUNK, mutations

FIXTURE = FIXTURES / "claude_code.jsonl"
LOG = SHARED / "data" / "fmt-claude-code-log" / "test" / "test_data"
TRANSCRIPTS = SHARED / "data" / "fmt-claude-code-transcripts" / "tests"
USAGE = SHARED / "data" / "fmt-ccusage" / "apps" / "ccusage" / "test"
SCOUT = SHARED / "data" / "fmt-inspect-scout" / "tests" / "sources" / "claude_code_source" / "fixtures"
AGENTS = SHARED / "data" / "fmt-agent-sessions-multi-cli" / "stage0" / "agents"
numbers = count(1)


def line(type_, message=None, **more):
    """A line as the tool writes it, with an own uuid."""
    said = {} if message is None else {"message": message}
    return {"type": type_, "uuid": f"u{next(numbers)}", "sessionId": "s", "isSidechain": False, **said, **more}


def user(content, **more):
    return line("user", {"role": "user", "content": content}, **more)


def agent(*content, id_=None, usage=None, model="m", **more):
    message = {"id": id_ or f"msg_{next(numbers)}", "role": "assistant", "model": model, "content": list(content)}
    return line("assistant", {**message, "usage": usage} if usage else message, **more)


def text(said):
    return {"type": "text", "text": said}


def call(id_="toolu_1", name="Bash", **given):
    return {"type": "tool_use", "id": id_, "name": name, "input": given}


def result(id_="toolu_1", content="ok", **more):
    return user([{"type": "tool_result", "tool_use_id": id_, "content": content, **more}])


def trace_of(*given):
    """The one trace of these lines."""
    (trace,), problems, _ = read(lines(*given), format="claude_code")
    assert problems == []
    return trace


def said(*given):
    return [(message.role, message.text) for message in trace_of(*given).messages]


def roles(*given):
    return [message.role for message in trace_of(*given).messages]


def pairs(trace):
    return [(m.answers_id, m.answers and (m.answers.index, m.answers.call)) for m in trace.messages if m.role == "tool"]


@pytest.fixture(scope="module")
def fixture():
    traces, problems, warnings = read(FIXTURE.read_bytes())
    assert problems == []
    return traces, warnings


def test_the_example_is_a_session_and_a_subagent(fixture):
    traces, warnings = fixture
    session = "5f0c7c1e-1111-4222-8333-444455556666"
    assert [trace.source_id for trace in traces] == [session, f"{session} agent a17"]
    assert {trace.cluster for trace in traces} == {session}
    assert [replies(trace.messages) for trace in traces] == [(6, 14, 19), ()]
    codes = sorted(warning.code for warning in warnings)
    assert codes == ["bookkeeping"] * 4 + ["repeated_record"]


def test_the_requester_sees_only_what_people_and_the_agent_said(fixture):
    trace = fixture[0][0]
    assert [message.text for message in requester_view(trace, 19).dialog] == [
        "[image: image/png]\nWhich beds in `beds.csv` dry out first? 请用一句话回答 🌱",
        "Bed A dries out first: its moisture is 12, that of bed B 40.",
        "/plan water bed A every morning",
        "And leave out Sundays, please.",
        "1. Water bed A every morning, not on Sundays.",
        "Thanks! Does it rain tomorrow?",
    ]


def test_no_sign_of_the_vendor_reaches_an_annotator(fixture):
    for trace in fixture[0]:
        for reply in replies(trace.messages):
            seen = [*requester_view(trace, reply).dialog, trace.messages[reply]]
            for sign in ("toolu_", "msg_", "req_", "stop_reason", "<system-reminder>", "<command-", "synthetic"):
                assert not any(sign in message.text for message in seen)


def test_lines_of_one_api_message_with_results_between_become_one_message():
    trace = trace_of(
        user("go"),
        agent(text("a"), id_="msg_1", usage={"output_tokens": 1}),
        agent(call("toolu_1"), id_="msg_1", usage={"output_tokens": 5}),
        result("toolu_1"),
        agent(call("toolu_2"), id_="msg_1", usage={"output_tokens": 9}),
        result("toolu_2"),
        agent(text("done"), usage={"output_tokens": 2}),
    )
    assert [message.role for message in trace.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    assert pairs(trace) == [("toolu_1", (1, 0)), ("toolu_2", (1, 1))]
    assert trace.metadata["usage"] == {"output_tokens": 11}


def test_lines_without_a_message_id_belong_together_by_their_request():
    first, second = (line("assistant", {"role": "assistant", "content": [text(x)]}, requestId="req_1") for x in "ab")
    assert said(user("go"), first, second) == [("user", "go"), ("assistant", "a\nb")]


def test_a_message_id_used_again_after_the_requester_spoke_is_another_message():
    given = (user("1"), agent(text("a"), id_="msg_1"), user("2"), agent(text("b"), id_="msg_1"))
    assert said(*given) == [("user", "1"), ("assistant", "a"), ("user", "2"), ("assistant", "b")]


def test_a_result_before_its_call_waits_for_it():
    trace = trace_of(user("go"), agent(call("a"), id_="msg_1"), result("b"), result("a"), agent(call("b"), id_="msg_1"))
    assert pairs(trace) == [("b", (1, 1)), ("a", (1, 0))]


def test_a_result_never_answers_a_call_made_after_the_requester_spoke_again():
    trace = trace_of(user("go"), result("a"), user("again"), agent(call("a")))
    assert pairs(trace) == [("a", None)]


def test_a_call_id_used_twice_belongs_to_each_call_in_turn():
    trace = trace_of(user("go"), agent(call("x")), result("x", "1"), agent(call("x")), result("x", "2"))
    assert pairs(trace) == [("x", (1, 0)), ("x", (3, 0))]


def test_calls_and_results_without_ids_are_paired_in_order():
    bare = {"type": "tool_use", "name": "Bash", "input": {}}
    trace = trace_of(user("go"), agent(bare, bare), result("", "1"), result(None, "2"))
    assert pairs(trace) == [("", (1, 0)), ("", (1, 1))]


def test_what_stands_between_a_call_and_its_result_comes_after_them():
    queued = line("attachment", attachment={"type": "queued_command", "prompt": "hurry", "commandMode": "prompt"})
    trace = trace_of(user("go"), agent(call()), queued, result(), agent(text("ok")))
    assert [m.text for m in trace.messages] == ["go", "", "ok", "hurry", "ok"]
    assert [m.role for m in trace.messages] == ["user", "assistant", "tool", "user", "assistant"]


def test_a_result_without_a_call_and_a_call_without_a_result_are_counted():
    _, _, warnings = read(lines(user("go"), agent(call("a")), result("b")))
    assert {(w.code, w.line) for w in warnings} == {("unanswered_call", 2), ("orphan_tool_result", 3)}


def test_a_server_tool_and_its_result_in_the_reply_are_a_call_and_a_result():
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "x", "url": "u"}]}
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
    trace = trace_of(user("go"), agent(search, found))
    assert pairs(trace) == [("srvtoolu_1", (1, 0))]
    assert trace.messages[2].name == "web_search"


@pytest.mark.parametrize(
    "put_in",
    [
        user("hooks say hello", isMeta=True),
        user("transcript only", isVisibleInTranscriptOnly=True),
        user("a task ended", origin={"kind": "task-notification"}),
        user("wake up", promptSource="system"),
        user("odd", toolUseResult={"stdout": ""}),
        user("Caveat: The messages below were generated by the user while running local commands. DO NOT respond."),
        user("<command-name>/cost</command-name>\n<command-args></command-args>"),
        user("<local-command-stdout>\u001b[1mbold\u001b[0m</local-command-stdout>"),
        user("<bash-input>ls</bash-input>"),
        user("<system-reminder>be brief</system-reminder>"),
        user([text("[Request interrupted by user for tool use]")]),
        user("<task-notification>\n<status>completed</status>\n</task-notification>"),
        line("attachment", attachment={"type": "queued_command", "prompt": "x", "commandMode": "task-notification"}),
        line("attachment", attachment={"type": "file", "filename": "a.txt", "content": {"type": "text"}}),
        agent(text("API Error: 500"), model="<synthetic>"),
        agent(text("Request too large"), isApiErrorMessage=True),
    ],
)
def test_what_the_program_says_is_nobodys_word(put_in):
    trace = trace_of(user("go"), put_in)
    assert [message.role for message in trace.messages] == ["user", "other"]
    assert "<synthetic>" not in json.dumps(trace.metadata.get("model", ""))


def test_what_is_put_around_a_typed_text_is_cut_off_and_the_text_kept_letter_for_letter():
    around = "<ide_selection>x</ide_selection>\n  Do it.\r\n<b>now</b>  \n<system-reminder>y</system-reminder>\n"
    assert said(user(around)) == [
        ("other", "<ide_selection>x</ide_selection>\n  "),
        ("user", "Do it.\r\n<b>now</b>"),
        ("other", "  \n<system-reminder>y</system-reminder>\n"),
    ]


def test_a_text_that_names_a_tag_in_its_middle_is_the_persons_own():
    own = "Why does <system-reminder>a</system-reminder> show up here?"
    assert said(user(own)) == [("user", own)]


def test_many_tags_do_not_take_long():
    opened, closed = "<system-reminder>", "</system-reminder>"
    for much in (opened * 50_000, closed * 50_000, (opened + closed) * 20_000, " " * 500_000 + closed):
        trace_of(user(much), user("go"))


def test_a_command_with_arguments_is_what_the_person_typed():
    command = "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the pump"
    trace = trace_of(user(f"{command}</command-args>"), user([text("You review.")], isMeta=True), agent(text("Fine.")))
    assert (trace.messages[0].role, trace.messages[0].text) == ("user", "/review the pump")
    assert replies(trace.messages) == (2,)
    assert trace.metadata["messages"]["0"]["command"].startswith("<command-message>")


def test_a_command_that_the_program_carried_out_itself_is_no_request():
    command = "<command-name>/model</command-name><command-args>opus</command-args>"
    output = "<local-command-stdout>Set model to opus</local-command-stdout>"
    assert said(user(command), user(output), user("go")) == [("other", command), ("other", output), ("user", "go")]


def test_clearing_the_context_begins_a_new_session_and_compacting_it_does_not():
    clear = user("<command-name>/clear</command-name>\n<command-args></command-args>")
    summary = user("Summary: a.", isCompactSummary=True)
    trace = trace_of(clear, user("a"), agent(text("b")), clear | {"uuid": "c"}, user("c"), summary, agent(text("d")))
    assert [(m.role, m.session) for m in trace.messages] == [
        ("other", 1),
        ("user", 1),
        ("assistant", 1),
        ("other", 1),
        ("user", 2),
        ("summary", 2),
        ("assistant", 2),
    ]
    assert [message.text for message in context(trace.messages, 6)] == ["c", "Summary: a."]


def test_a_continued_session_begins_with_a_summary_even_unmarked():
    begins = "This session is being continued from a previous conversation that ran out of context. So far: a."
    assert roles(user(begins), user("go")) == ["summary", "user"]


def test_a_session_resumed_under_another_id_is_the_same_trace():
    first, second = user("a"), agent(text("b"))
    third = user("c", sessionId="t", parentUuid=second["uuid"])
    trace = trace_of(first, second, third, agent(text("d"), sessionId="t"))
    assert (trace.source_id, len(trace.messages)) == ("s", 4)
    assert trace.metadata["session_ids"] == ["s", "t"]


def test_sessions_whose_lines_stand_between_each_other_are_told_apart():
    traces, problems, _ = read(lines(user("a"), user("b", sessionId="t"), agent(text("c"))))
    assert problems == []
    assert [(trace.source_id, len(trace.messages)) for trace in traces] == [("s", 2), ("t", 1)]


def test_a_copy_of_a_session_under_another_id_is_a_trace_of_its_own():
    given = [user("a"), agent(text("b"))]
    copies = [{**one, "sessionId": "t"} for one in given]
    traces, _, _ = read(lines(*given, *copies, user("c", sessionId="t", parentUuid=given[1]["uuid"])))
    assert [(trace.source_id, len(trace.messages)) for trace in traces] == [("s", 2), ("t", 3)]


def test_the_same_line_twice_counts_once_and_another_under_its_id_stays():
    one = user("a")
    other = {**one, "message": {"role": "user", "content": "b"}}
    (trace,), _, warnings = read(lines(one, one, other))
    assert [message.text for message in trace.messages] == ["a", "b"]
    assert [(warning.code, warning.line) for warning in warnings] == [("repeated_record", 2)]


def test_a_part_that_an_earlier_line_of_the_message_had_counts_once():
    (trace,), _, warnings = read(
        lines(user("go"), agent(text("a"), id_="msg_1"), agent(text("a"), call(), id_="msg_1"), result())
    )
    assert trace.messages[1].text == "a"
    assert [(warning.code, warning.pointer) for warning in warnings] == [("repeated_record", "/message/content/0")]


def test_a_subagent_inside_a_session_is_private_and_keeps_its_own_pairs():
    beside = {"isSidechain": True}
    trace = trace_of(
        user("go"),
        agent(call("toolu_task", "Task")),
        user("look around", **beside),
        agent(text("I look."), call("toolu_ls"), **beside),
        {**result("toolu_ls", "a.txt"), **beside},
        agent(text("There is a.txt."), **beside),
        result("toolu_task", "There is a.txt."),
        agent(text("One file.")),
    )
    assert [(m.role, m.name) for m in trace.messages] == [
        ("user", ""),
        ("assistant", ""),
        ("tool", "Task"),
        ("other", "subagent (user)"),
        ("other", "subagent (assistant)"),
        ("tool", "Bash"),
        ("other", "subagent (assistant)"),
        ("assistant", ""),
    ]
    assert pairs(trace) == [("toolu_task", (1, 0)), ("toolu_ls", (4, 0))]
    assert [m.text for m in requester_view(trace, 7).dialog] == ["go"]


def test_a_subagents_own_file_is_a_trace_that_no_person_asked_for():
    trace = trace_of(user("look", isSidechain=True), agent(text("seen"), isSidechain=True))
    assert [(message.role, message.name) for message in trace.messages] == [
        ("other", "calling agent"),
        ("assistant", ""),
    ]
    assert replies(trace.messages) == ()
    assert trace.metadata["requester"] == "agent"


def test_contents_may_be_a_text_nothing_or_a_list_of_texts():
    given = (user(""), user(None), user([]), user(["a", text("b")]), agent(), agent(text("")))
    assert said(*given) == [*[("user", "")] * 3, ("user", "a\nb"), *[("assistant", "")] * 2]


def test_images_and_documents_are_named_and_never_kept():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "SECRET"}}
    linked = {"type": "image", "source": {"type": "url", "url": "https://example.org/a/cat.jpg?x=1"}}
    paper = {"type": "document", "title": "plan.pdf", "source": {"type": "base64", "media_type": "x", "data": "SECRET"}}
    attached = line("attachment", attachment={"type": "file", "content": {"type": "image", "file": image["source"]}})
    trace = trace_of(user([image, linked, paper]), agent(call()), result(content=[image, text("b")]), attached)
    assert trace.messages[0].text == "[image: image/png]\n[image: cat.jpg]\n[file: plan.pdf]"
    assert trace.messages[2].text == "[image: image/png]\nb"
    assert "SECRET" not in repr(trace)


def test_thinking_is_no_message_and_is_kept_apart():
    thought = {"type": "thinking", "thinking": "hm", "signature": "EqoB"}
    trace = trace_of(user("go"), agent(thought, id_="msg_1"), agent(text("a"), id_="msg_1"))
    assert [message.text for message in trace.messages] == ["go", "a"]
    assert trace.metadata["messages"]["1"]["reasoning"] == "hm"


def test_arguments_are_json_or_the_text_that_stood_there():
    calls = (call("a", x="é"), {**call("b"), "input": '{"x": 1'}, {"type": "tool_use", "id": "c", "name": "n"})
    assert [one.arguments for one in trace_of(user("go"), agent(*calls)).messages[1].calls] == [
        '{"x": "é"}',
        '{"x": 1',
        "",
    ]


def test_what_is_not_understood_is_kept_privately_and_counted():
    odd = line("user", {"role": "user", "contenst": [text("a")]})
    given = (user("go"), odd, line("user", "error"), agent({"type": "hologram"}), line("oracle", {"content": "x"}))
    (trace,), problems, warnings = read(lines(*given))
    assert problems == []
    assert [message.role for message in trace.messages] == ["user", "other", "other", "other", "other"]
    assert [message.text for message in trace.messages][2:4] == ['"error"', '[{"type": "hologram"}]']
    codes = [(warning.code, warning.line) for warning in warnings]
    assert codes == [("non_text_content", 2), ("non_text_content", 3), ("non_text_content", 4), ("unknown_role", 5)]


def test_lines_that_are_no_objects_or_of_no_known_type_are_passed_over_and_counted():
    traces, problems, warnings = read(lines(user("go"), "massive error", 42, [1], {"silly": "this"}))
    assert (len(traces), problems) == (1, [])
    assert [(warning.code, warning.line) for warning in warnings] == [("unknown_record", n) for n in (2, 3, 4, 5)]


def test_a_broken_line_is_refused_by_its_number_and_the_others_are_read():
    traces, problems, _ = read(lines(user("go")) + b'{"type": "user", \n' + lines(agent(text("a"))))
    assert [(problem.code, problem.line) for problem in problems] == [("malformed_json", 2)]
    assert len(traces[0].messages) == 2


def test_an_object_with_loglines_is_a_session_named_by_its_file():
    given = [user("go"), agent(text("a"))]
    bare = [{key: one[key] for key in ("type", "message")} | {"timestamp": "t"} for one in given]
    for content in (json.dumps({"title": "T", "loglines": bare}, indent=1).encode(), lines({"loglines": bare}, 1)):
        (trace,), problems, _ = read(content)
        assert (problems, trace.source_id, len(trace.messages)) == ([], "x", 2)


def test_counts_of_tokens_alone_are_refused_with_what_is_missing():
    usage = {"role": "assistant", "id": "msg_1", "model": "m", "usage": {"input_tokens": 1}}
    problem = refusal(lines({"timestamp": "t", "sessionId": "s", "message": usage, "requestId": "r"}))
    assert problem.code == "unknown_format"
    assert problem.params["near"].startswith("claude_code (type, message.content)")
    problem = refusal(lines(line("assistant", usage)))
    assert problem.params["near"].startswith("claude_code (message.content)")


def test_titles_notices_and_the_end_of_the_run_are_private():
    first = user("go")
    trace = trace_of(
        first,
        {"type": "summary", "summary": "T1", "leafUuid": first["uuid"]},
        {"type": "custom-title", "customTitle": "T2", "sessionId": "s"},
        line("system", subtype="compact_boundary", content="compacted"),
        {"type": "result", "subtype": "success", "is_error": False, "session_id": "s"},
    )
    assert trace.metadata["titles"] == ["T1", "T2"]
    assert trace.metadata["notices"] == [{"subtype": "compact_boundary", "content": "compacted"}]
    assert trace.metadata["success"] is True


def test_a_stream_of_the_tool_is_read_too():
    more = {"session_id": "r", "parent_tool_use_id": None}
    stream = [{**one, **more} for one in (user("go"), agent(text("a")))]
    for one in stream:
        del one["sessionId"], one["isSidechain"], one["uuid"]
    (trace,), problems, _ = read(lines({"type": "system", "subtype": "init", "uuid": "i", **more}, *stream))
    assert (problems, trace.source_id, [message.role for message in trace.messages]) == ([], "r", ["user", "assistant"])


@pytest.mark.parametrize(
    "value",
    [
        user("a"),
        agent(text("a")),
        {"type": "summary", "summary": "T", "leafUuid": "u"},
        {"type": "file-history-snapshot", "messageId": "u", "snapshot": {}},
        {"type": "queue-operation", "operation": "enqueue", "sessionId": "s"},
        line("attachment", attachment={"type": "hook_success"}),
        line("system", subtype="session_start", isMeta=True),
        line("progress", data={}),
        {"loglines": [{"type": "user", "timestamp": "t", "message": {"role": "user", "content": "a"}}]},
    ],
)
def test_every_line_that_may_come_first_is_known_and_is_no_other_format(value):
    assert [name for name, reader in readers().items() if not reader.sniff(value).missing] == ["claude_code"]


@pytest.mark.parametrize(
    "value",
    [
        *JUNK,
        {"role": "user", "content": "a"},
        {"messages": [{"role": "user", "content": "a"}]},
        {"type": "message", "id": "1", "message": {"role": "user", "content": []}},
        {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "parts": [{"text": "a"}]}},
        {"type": "system", "uuid": "u", "sessionId": "s", "subtype": "x", "systemPayload": {}},
        {"type": "system", "content": "You are an agent."},
        {"type": "user.message", "data": {"content": "a"}, "id": "1", "timestamp": "t"},
        {"loglines": []},
    ],
)
def test_records_of_others_are_not_taken(value):
    assert sniff(value).missing


def test_no_value_at_any_place_makes_it_fail():
    given = [json.loads(one) for one in FIXTURE.read_text("utf-8").splitlines()]
    given.append(agent({"type": "image", "source": {"type": "url", "url": "u"}}, {"type": "redacted_thinking"}))
    queued = {"type": "queued_command", "prompt": [text("a")], "origin": {"kind": 1}}
    given.append(line("attachment", attachment=queued))
    for one in given:
        for changed in mutations(one):
            sniff(changed)
            found = list(read_documents([Document(value, Place("x", line=1)) for value in (given[3], changed)]))
            assert found
    for changed in mutations({"loglines": given[2:6]}):
        sniff(changed)
        assert all(one for one in read_documents([Document(changed, Place("x"))]))


def test_problems_on_the_way_are_passed_on():
    problem = Problem(code="c", expected="e", remedy="r")
    assert problem in list(read_documents([problem, Document(user("a"), Place("x", line=2))]))


def counts(path, **options):
    with path.open("rb") as file:
        traces, problems, warnings = read(file, **options)
    messages = [message for trace in traces for message in trace.messages]
    return (
        (len(traces), len(messages), sum(len(m.calls) for m in messages), sum(m.answers is not None for m in messages)),
        problems,
        warnings,
    )


@pytest.mark.shared
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (LOG / "edge_cases.jsonl", (2, 14, 3, 1)),
        (LOG / "representative_messages.jsonl", (1, 11, 2, 2)),
        (LOG / "todowrite_examples.jsonl", (1, 11, 3, 3)),
        (TRANSCRIPTS / "sample_session.json", (1, 33, 12, 12)),
        (TRANSCRIPTS / "sample_session.jsonl", (1, 7, 2, 2)),
        (SCOUT / "agent-atest01.jsonl", (1, 4, 1, 1)),
        (SCOUT / "agent_session.jsonl", (1, 4, 1, 1)),
        (SCOUT / "compaction_session.jsonl", (1, 5, 0, 0)),
        (SCOUT / "simple_conversation.jsonl", (1, 4, 0, 0)),
        (SCOUT / "slug_clear_session.jsonl", (1, 5, 0, 0)),
        (AGENTS / "claude" / "schema_drift.jsonl", (1, 4, 0, 0)),
    ],
)
def test_real_sessions_are_counted_as_they_are(path, expected):
    found, problems, _ = counts(path)
    assert (found, problems) == (expected, [])


@pytest.mark.shared
def test_real_sessions_are_counted_by_a_second_route():
    """Straight from the lines: calls are blocks, messages are API messages, results and other lines with content."""
    for path in [*LOG.glob("[rt]*.jsonl"), TRANSCRIPTS / "sample_session.jsonl", *SCOUT.glob("*.jsonl")]:
        values = [json.loads(one) for one in path.read_text("utf-8").splitlines()]
        said = [value for value in values if "message" in value]
        blocks = [b for v in said for b in v["message"]["content"] if isinstance(v["message"]["content"], list)]
        found, _, _ = counts(path)
        assert found[:3] == (1, len(said), sum(block["type"] == "tool_use" for block in blocks)), path


@pytest.mark.shared
def test_real_counts_of_tokens_alone_are_refused_for_what_they_miss():
    for path in USAGE.rglob("*.jsonl"):
        with path.open("rb") as file:
            problem = refusal(file)
        assert problem.code == "unknown_format"
        assert problem.params["near"].startswith("claude_code (")
        assert "message.content" in problem.params["near"].split(")")[0]


@pytest.mark.shared
def test_logs_of_other_agents_are_not_taken_for_sessions():
    for path in AGENTS.rglob("*.json*"):
        if "claude" not in path.parts:
            with path.open("rb") as file:
                traces, _, _ = read(file)
            assert {trace.format for trace in traces} <= readers().keys() - {"claude_code"}
