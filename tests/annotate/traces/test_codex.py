import json
from collections import Counter

import pytest

from annotate.rules.requester_view import replies, requester_view
from annotate.traces import codex
from annotate.traces.base import Place, Trace
from annotate.traces.documents import Document
from annotate.traces.identity import content_hash
from tests.annotate.traces.files import FIXTURES, SHARED, lines, read
from tests.annotate.traces.junk import mutations

FIXTURE = FIXTURES / "codex.jsonl"
SHARED_FILES = SHARED / "data" / "fmt-agent-sessions-multi-cli"
ID, SUB, OLD = "019f5a00-1111-7aaa-8bbb-00000000a001", "019f5a00-1111-7aaa-8bbb-00000000a002", "0199aaaa-old"
MARKS = ("call_", "fc_", "ctc_", "rs_0", "msg_", "gAAAA", "<environment_context>", "AGENTS.md", "IDE setup", "turn-")


def at(second):
    return f"2026-05-02T10:00:{second:02d}.000Z"


def head(id_="s1", began=None, written=None, **members):
    began = began or at(0)
    payload = {"id": id_, "timestamp": began, "cwd": "/moss", **members}
    return {"timestamp": written or began, "type": "session_meta", "payload": payload}


def item(payload):
    return {"timestamp": at(30), "type": "response_item", "payload": payload}


def event(kind, **members):
    return {"timestamp": at(30), "type": "event_msg", "payload": {"type": kind, **members}}


def said(role, *texts, **members):
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return item({"type": "message", "role": role, "content": content, **members})


def call(id_, name="exec_command", arguments="{}"):
    return item({"type": "function_call", "call_id": id_, "name": name, "arguments": arguments})


def result(id_, output="ok"):
    return item({"type": "function_call_output", "call_id": id_, "output": output})


def read_session(*records):
    """The one trace of a session with these lines, and the codes of its warnings."""
    (trace,), problems, warnings = read(lines(head(), *records))
    assert problems == []
    return trace, Counter(warning.code for warning in warnings)


def outline(trace):
    return [(one.role, one.text, *(call.name for call in one.calls)) for one in trace.messages]


@pytest.fixture(scope="module")
def traces():
    found, problems, _ = read(FIXTURE.read_bytes())
    assert problems == []
    return {trace.source_id: trace for trace in found}


# Sessions


def test_a_file_is_its_sessions_by_their_own_ids(traces):
    assert list(traces) == [ID, SUB, OLD]
    assert traces[ID].metadata["session_id"] == ID
    assert traces[ID].metadata["session"]["forked_from_id"] == "019f5a00-1111-7aaa-8bbb-00000000a000"


def test_the_head_of_a_session_that_a_fork_copied_begins_no_session(traces):
    _, _, warnings = read(FIXTURE.read_bytes())
    assert [one.line for one in warnings if one.params.get("what") == "the head of a session"] == [2]


def test_a_copied_head_is_known_by_its_times_where_the_fork_does_not_name_it():
    records = [head("new", at(10)), head("old", at(1), written=at(10)), said("user", "a")]
    found, _, _ = read(lines(*records))
    assert [trace.source_id for trace in found] == ["new"]


def test_sessions_behind_each_other_in_a_file_are_sessions_of_their_own():
    records = [head("one", at(1)), said("user", "a"), head("two", at(5)), said("user", "b")]
    found, _, _ = read(lines(*records))
    assert [(trace.source_id, trace.messages[0].text) for trace in found] == [("one", "a"), ("two", "b")]
    found, _, _ = read(lines(*records[2:], *records[:2]))
    assert [trace.source_id for trace in found] == ["two", "one"]


def test_a_session_that_goes_on_later_is_one_session():
    found, _, _ = read(lines(head(), said("user", "a"), head(), said("user", "b")))
    assert [outline(trace) for trace in found] == [[("user", "a"), ("user", "b")]]


def test_lines_without_a_head_are_named_by_the_file():
    (trace,), _, _ = read(lines(said("user", "a"), said("assistant", "b")))
    assert trace.source_id == "x"


def test_the_same_id_once_more_is_told_apart():
    records = [head("one", at(1)), said("user", "a"), head("two", at(5)), head("one", at(9)), said("user", "b")]
    found, problems, _ = read(lines(*records))
    assert (problems, len({trace.source_id for trace in found})) == ([], 3)


def test_lines_of_the_old_form_have_no_wrapper(traces):
    assert outline(traces[OLD]) == [
        ("system", "Write short answers."),
        ("other", "<user_instructions>\n\nBe brief.\n\n</user_instructions>"),
        ("user", "列出文件"),
        ("assistant", "", "shell"),
        ("tool", "a.txt\r\n"),
        ("assistant", "有一个：a.txt"),
    ]
    assert traces[OLD].messages[3].calls[0].arguments == "not json"


def test_the_first_form_has_messages_with_a_time_only():
    records = [
        {"timestamp": at(0), "role": "user", "content": "a", "model": "moss-1"},
        {"timestamp": at(1), "type": "tool_call", "function": {"name": "git"}, "arguments": "status"},
        {"timestamp": at(1), "type": "tool_result", "name": "git", "result": "clean\n"},
        {"timestamp": at(2), "role": "assistant", "content": "Clean."},
    ]
    (trace,), _, warnings = read(lines(*records))
    assert outline(trace) == [("user", "a"), ("assistant", "", "git"), ("tool", "clean\n"), ("assistant", "Clean.")]
    assert (trace.metadata["model"], warnings, trace.messages[2].answers.index) == ("moss-1", [], 1)


# Who speaks


def test_the_requester_sees_what_they_and_the_agent_said_and_nothing_else(traces):
    trace = traces[ID]
    assert replies(trace.messages) == (10, 16)
    assert [one.text for one in requester_view(trace, 10).dialog] == ["Count the moss files."]
    shown = requester_view(trace, 16).dialog
    assert [(one.role, one.text) for one in shown] == [
        ("user", "Count the moss files."),
        ("assistant", "There are three."),
        ("user", ""),
        ("tool", "Exit code: 0\nDuration: 0.0100 seconds\nOutput:\nmoss"),
        ("user", "And the ferns? 🌿"),
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("<environment_context>\n<cwd>/a</cwd>\n</environment_context>", "environment_context"),
        ("  <user_instructions>a</user_instructions>\n", "user_instructions"),
        ("# AGENTS.md instructions for /a\n\n<INSTRUCTIONS>\na\n</INSTRUCTIONS>", "AGENTS.md"),
        ("<skill>\n<name>a</name>\n</skill>", "skill"),
        ("<turn_aborted>\na\n</turn_aborted>", "turn_aborted"),
        ("<permissions instructions>a</permissions instructions>", "permissions"),
        ("<hook_prompt id='1'>a</hook_prompt>", "hook_prompt"),
        ("Warning: apply_patch was requested via exec_command. Use apply_patch.", "notice"),
    ],
)
def test_what_codex_puts_into_the_users_role_is_private(text, name):
    trace, codes = read_session(said("user", text))
    assert [(one.role, one.name, one.text) for one in trace.messages] == [("other", name, text)]
    assert codes == {}


@pytest.mark.parametrize(
    "text",
    ["<b>look</b>", "<environment_context> is what?", "Read AGENTS.md", "<skill>a</skill> why?", "<div>\na\n</div>"],
)
def test_what_a_requester_writes_about_such_marks_is_theirs(text):
    trace, _ = read_session(said("user", text))
    assert outline(trace) == [("user", text)]


def test_injected_parts_of_a_message_are_split_from_the_request():
    context = "<environment_context>\na\n</environment_context>"
    trace, _ = read_session(said("user", context, "Count.", "Twice."))
    assert outline(trace) == [("other", context), ("user", "Count.\nTwice.")]


def test_the_context_of_an_editor_is_split_from_the_request(traces):
    assert [(one.role, one.name) for one in traces[ID].messages[14:16]] == [("other", "editor"), ("user", "")]


def test_frames_around_pictures_are_no_text():
    content = [
        {"type": "input_text", "text": "<image name=[Image #1]>"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "What is this?"},
    ]
    trace, codes = read_session(
        item({"type": "message", "role": "user", "content": content}), event("user_message", message="What is this?")
    )
    assert (outline(trace), codes) == ([("user", "[image: image/png]\nWhat is this?")], {"repeated_record": 1})


def test_a_command_of_the_requester_is_their_own_tool(traces):
    asked, told = traces[ID].messages[11:13]
    assert (asked.role, asked.side, asked.calls[0].arguments) == ("user", "user", "cat a.txt")
    assert (told.role, told.side, told.answers.index) == ("tool", "user", 11)


def test_the_event_of_such_a_command_is_the_same_command():
    command = "<user_shell_command>\n<command>\nls\n</command>\n<result>\na\n</result>\n</user_shell_command>"
    end = event("exec_command_end", call_id="1", source="user_shell", command=["sh", "-c", "ls"], aggregated_output="a")
    trace, codes = read_session(said("user", command), end)
    assert (outline(trace), codes) == ([("user", "", "shell"), ("tool", "a")], {"repeated_record": 1})
    trace, codes = read_session(end)
    assert [(one.role, one.side) for one in trace.messages] == [("user", "user"), ("tool", "user")]
    assert codes == {}


def test_in_the_session_of_a_sub_agent_nobody_is_the_requester(traces):
    assert [(one.role, one.name) for one in traces[SUB].messages] == [
        ("other", "parent agent"),
        ("other", "/root"),
        ("other", "Fern"),
        ("other", "hologram"),
    ]
    assert replies(traces[SUB].messages) == ()


def test_prompts_and_developer_messages_are_the_system(traces):
    assert [one.text for one in traces[ID].messages if one.role == "system"] == [
        "You are a coding agent.",
        "<permissions instructions>ask first</permissions instructions>",
    ]
    assert "base_instructions" not in traces[ID].metadata["session"]


def test_nothing_of_codex_reaches_who_labels(traces):
    for trace in traces.values():
        for message in trace.messages:
            if message.role in ("user", "assistant"):
                assert not [mark for mark in MARKS if mark in message.text]


# The same record twice


def test_events_that_repeat_items_are_counted_and_not_read(traces):
    _, _, warnings = read(FIXTURE.read_bytes())
    repeated = [one.params["what"] for one in warnings if one.code == "repeated_record"]
    assert Counter(repeated) == {
        "the head of a session": 1,
        "user_message": 2,
        "agent_message": 2,
        "agent_reasoning": 1,
        "exec_command": 1,
        "patch_apply": 1,
        "web_search": 1,
        "task_complete": 1,
        "1 items as they were": 1,
    }
    texts = [one.text for one in traces[ID].messages if one.role in ("user", "assistant")]
    assert texts.count("There are three.") == 1


def test_events_are_read_where_no_item_says_the_same():
    trace, codes = read_session(
        event("user_message", message="a"),
        event("exec_command_begin", call_id="1", command=["ls"]),
        event("exec_command_end", call_id="1", command=["ls"], aggregated_output="b\n"),
        event("mcp_tool_call_end", call_id="2", invocation={"server": "s", "tool": "t", "arguments": {"c": 1}},
              result={"Ok": {"content": [{"type": "text", "text": "d"}]}}),
        event("agent_message", message="e"),
        event("item_completed", item={"type": "UserMessage", "id": "3", "content": [{"type": "text", "text": "f"}]}),
        event("task_complete", last_agent_message="e"),
    )
    assert outline(trace) == [
        ("user", "a"),
        ("assistant", "", "exec_command"),
        ("tool", "b\n"),
        ("assistant", "", "s.t"),
        ("tool", "d"),
        ("assistant", "e"),
        ("user", "f"),
    ]
    assert codes == {"repeated_record": 2}


def test_a_text_that_is_said_twice_is_two_messages():
    twice = [event("user_message", message="go on"), said("user", "go on"), said("assistant", "ok")] * 2
    trace, codes = read_session(*twice)
    assert [one[0] for one in outline(trace)] == ["user", "assistant", "user", "assistant"]
    assert codes == {"repeated_record": 2}


def test_an_event_whose_words_only_occur_in_another_message_is_a_message():
    trace, _ = read_session(said("user", "ok, look at it"), event("user_message", message="ok"))
    assert outline(trace) == [("user", "ok, look at it"), ("user", "ok")]


def test_an_event_may_stand_after_its_item():
    trace, codes = read_session(said("user", "a"), event("user_message", message="a"))
    assert (outline(trace), codes) == ([("user", "a")], {"repeated_record": 1})


def test_results_of_a_search_that_only_the_event_has_are_its_result(traces):
    asked, told = traces[ID].messages[8:10]
    assert (asked.calls[0].name, told.text, told.answers.index) == ("web_search", '[{"title": "Moss"}]', 8)


def test_what_agents_tell_each_other_is_private():
    trace, codes = read_session(
        call("1", "spawn_agent"),
        event("collab_agent_spawn_end", call_id="1", prompt="a"),
        result("1"),
        event("collab_close_end", call_id="2", status="done"),
    )
    assert [one.role for one in trace.messages] == ["assistant", "tool", "other"]
    assert codes == {"repeated_record": 1}


# Turns


def test_calls_of_a_turn_are_one_message_with_the_text_before_them(traces):
    message = traces[ID].messages[5]
    assert (message.text, [one.name for one in message.calls]) == (
        "I count and list them.",
        ["exec_command", "apply_patch"],
    )
    assert [(one.text, one.answers.call) for one in traces[ID].messages[6:8]] == [
        ("3\n", 0),
        ('{"output":"ok","metadata":{"exit_code":0}}', 1),
    ]


def test_a_text_at_the_end_of_a_turn_is_not_beside_the_calls_of_the_next():
    trace, _ = read_session(
        said("user", "a"), said("assistant", "Done."), event("task_complete"), call("1"), result("1")
    )
    assert replies(trace.messages) == (1,)


def test_parallel_calls_may_be_answered_in_any_order():
    trace, codes = read_session(call("1", "one"), call("2", "two"), result("2", "B"), result("1", "A"))
    assert [(one.text, one.answers.call) for one in trace.messages if one.answers] == [("B", 1), ("A", 0)]
    assert codes == {}


def test_calls_without_a_result_and_results_without_a_call_are_said():
    _, codes = read_session(said("user", "a"), result("1"), said("user", "b"), call("2"))
    assert codes == {"orphan_tool_result": 1, "unanswered_call": 1}


def test_reasoning_is_kept_with_its_message(traces):
    assert traces[ID].metadata["messages"]["5"]["reasoning"] == "Two commands."


def test_a_compaction_is_a_summary_and_the_session_goes_on(traces):
    (summary,) = [one for one in traces[ID].messages if one.role == "summary"]
    assert (summary.text, {one.session for one in traces[ID].messages}) == ("Three moss files were counted.", {1})


def test_a_summary_that_is_encrypted_is_said_to_be_there():
    history = [{"type": "compaction", "encrypted_content": "gAAAAAB"}]
    compacted = {"timestamp": at(9), "type": "compacted", "payload": {"message": "", "replacement_history": history}}
    trace, codes = read_session(said("user", "a"), compacted)
    assert (outline(trace)[1], codes) == (("summary", "[summary: encrypted]"), {"repeated_record": 1})


def test_a_summary_in_the_users_role_is_a_summary():
    text = "Another language model started to solve this problem and produced a summary of its thinking process.\na"
    trace, _ = read_session(said("user", text))
    assert outline(trace) == [("summary", text)]


# What is said once for the session


def test_model_usage_and_title_are_private_under_shared_names():
    trace, codes = read_session(
        {"timestamp": at(1), "type": "turn_context", "payload": {"model": "moss-5"}},
        {"timestamp": at(2), "type": "turn_context", "payload": {"model": "moss-6"}},
        event("token_count", info={"total_token_usage": {"total_tokens": 5}}),
        event("token_count", info={"total_token_usage": {"total_tokens": 9}}),
        event("token_count", info=None),
        event("thread_name_updated", thread_name="Moss"),
        said("user", "a"),
    )
    assert trace.metadata["model"] == ["moss-5", "moss-6"]
    assert trace.metadata["usage"] == {"total_tokens": 9}
    assert trace.metadata["title"] == "Moss"
    assert codes == {"meta_record": 2, "bookkeeping": 4}


def test_errors_are_private_messages_and_unknown_events_are_counted_too():
    trace, codes = read_session(event("error", message="no net"), event("hologram", beam=3))
    assert [(one.role, one.name, one.text) for one in trace.messages] == [
        ("other", "error", "no net"),
        ("other", "hologram", '{"type": "hologram", "beam": 3}'),
    ]
    assert codes == {"unknown_role": 1}


def test_a_session_of_which_only_the_head_is_there_is_kept_and_said():
    trace, codes = read_session()
    assert (trace.messages, codes) == ((), {"empty_run": 1})


def test_a_line_that_is_none_and_a_broken_one_are_said_and_the_rest_is_read():
    content = lines(head(), said("user", "a")) + b'{"timestamp": "x\n' + lines(5, {"hello": 1}, said("user", "b"))
    (trace,), problems, warnings = read(content)
    assert outline(trace) == [("user", "a"), ("user", "b")]
    assert [one.line for one in problems] == [3]
    assert [(one.code, one.line) for one in warnings] == [("unknown_record", 4), ("unknown_record", 5)]


# Recognised by content


@pytest.mark.parametrize("number", range(45))
def test_every_line_of_a_session_is_known(number):
    assert not codex.sniff(json.loads(FIXTURE.read_bytes().splitlines()[number])).missing


@pytest.mark.parametrize(
    "value",
    [
        {"type": "user", "payload": {}},
        {"type": "message", "id": "a", "message": {"role": "user", "content": []}},
        {"type": "compaction", "summary": "a"},
        {"type": "reasoning", "summary": [], "status": "completed"},
        {"role": "user", "content": "a"},
        {"timestamp": at(0), "role": "user", "content": "a", "uuid": "b"},
        {"id": "a", "timestamp": at(0)},
        [{"type": "session_meta", "payload": {}}],
    ],
)
def test_lines_of_other_logs_are_not_known(value):
    assert codex.sniff(value).missing


@pytest.mark.parametrize("number", [0, 3, 6, 9, 12, 13, 14, 17, 18, 19, 20, 25, 26, 28, 32, 37, 41])
def test_no_junk_at_any_place_makes_the_reader_fail(number):
    values = [json.loads(one) for one in FIXTURE.read_bytes().splitlines()]
    for changed in mutations(values[number]):
        codex.sniff(changed)
        near = [*values[max(0, number - 2) : number], changed, *values[number + 1 : number + 3]]
        for one in codex.read([Document(value, Place("x.jsonl", place)) for place, value in enumerate(near)]):
            if isinstance(one, Trace):
                content_hash(one)
            else:
                one.sentence()


# Real files


@pytest.mark.shared
def test_the_small_sessions_are_counted_as_they_are():
    found = {}
    for path in sorted(SHARED_FILES.glob("session_*.jsonl")):
        with path.open("rb") as file:
            (trace,), problems, warnings = read(file)
        assert problems == []
        found[path.stem] = (len(trace.messages), sum(one.answers is not None for one in trace.messages), len(warnings))
    assert found == {"session_branch": (5, 1, 1), "session_simple": (2, 0, 0), "session_toolcall": (4, 1, 0)}


@pytest.mark.shared
def test_the_large_session_is_counted_as_it_is():
    with (SHARED_FILES / "stage0/agents/codex/large.jsonl").open("rb") as file:
        (trace,), problems, warnings = read(file)
    assert (problems, len(trace.messages), replies(trace.messages)) == ([], 16, (4, 7, 9, 11, 13, 15))
    assert Counter(one.code for one in warnings) == {"meta_record": 1, "bookkeeping": 1, "repeated_record": 1}
    assert [one.role for one in trace.messages].count("other") == 1


@pytest.mark.shared
def test_every_line_of_the_trimmed_sessions_is_read_or_counted():
    with (SHARED_FILES / "stage0/agents/codex/small.jsonl").open("rb") as file:
        found, problems, warnings = read(file)
    assert (problems, [len(trace.messages) for trace in found]) == ([], [12, 21])
    codes = Counter(one.code for one in warnings)
    assert codes["unknown_role"] == codes["unknown_record"] == 0
    first = found[0]
    assert replies(first.messages) == (9,)
    assert len(first.messages[2].calls) == 6
    assert sum(one.answers is not None for one in first.messages) == 6
