import pytest

from annotate.rules.requester_view import replies, requester_view, seen_by_requester, visible_texts, work_record
from annotate.traces.base import Call, File, Message, Trace
from tests.annotate.traces.files import FIXTURES, read

CALL = (Call("c1", "fit", '{"run": "B7"}'),)


def said(index, role, text, **members):
    side = "user" if role == "user" else members.pop("side", "agent")
    return Message(index=index, role=role, text=text, side=side, **members)


def trace(*messages, files=()):
    return Trace(source_id="t", format="sightline", messages=messages, files=files)


WORK = trace(
    said(0, "system", "You are an agent."),
    said(1, "assistant", "Hello, what can I do?"),
    said(2, "user", "Is the well falling?"),
    said(3, "assistant", "I will fit a line.", calls=CALL),
    said(4, "tool", "slope -0.2 of run KRONOS-17", name="fit"),
    said(5, "assistant", "Yes, by 0.2 m a day."),
    said(6, "assistant", "One thing more: day 3 is missing."),
    said(7, "other", "heartbeat", name="monitor"),
    said(8, "user", "And next week?"),
    said(9, "assistant", "About 1.4 m lower."),
    files=(File("levels.csv", "1,4.2", 0), File("late.csv", "2,4.0", 8)),
)


def rendered(view):
    return "\n".join([*(file.name + file.text for file in view.files), *(message.text for message in view.dialog)])


def indexes(messages):
    return [message.index for message in messages]


def test_a_reply_is_the_first_agent_text_after_a_requester_message():
    assert replies(WORK.messages) == (5, 9)


def test_a_greeting_is_no_reply_and_neither_is_text_beside_a_call():
    assert replies(WORK.messages[:5]) == ()


def test_a_new_session_does_not_answer_the_last_one():
    messages = (said(0, "user", "a"), said(1, "assistant", "Welcome back.", session=2), said(2, "user", "b", session=2))
    assert replies(messages) == ()
    assert replies((*messages, said(3, "assistant", "c", session=2))) == (3,)


def test_blank_texts_ask_and_answer_nothing():
    assert replies((said(0, "user", " "), said(1, "assistant", "a"))) == ()
    assert replies((said(0, "user", "a"), said(1, "assistant", "\n"), said(2, "assistant", "b"))) == (2,)


def test_the_requester_saw_messages_files_and_all_earlier_agent_texts():
    view = requester_view(WORK, 9)
    assert indexes(view.dialog) == [1, 2, 5, 6, 8]
    assert [file.name for file in view.files] == ["levels.csv", "late.csv"]


def test_r_ends_with_the_message_being_answered_and_has_no_later_file():
    view = requester_view(WORK, 5)
    assert indexes(view.dialog) == [1, 2]
    assert [file.name for file in view.files] == ["levels.csv"]


@pytest.mark.parametrize("setting", ["private", "visible"])
@pytest.mark.parametrize("reply", [5, 9])
def test_a_string_that_only_a_tool_output_has_is_absent_from_r(reply, setting):
    assert "KRONOS-17" not in rendered(requester_view(WORK, reply, setting))
    assert "KRONOS-17" in work_record(WORK, reply).text


def test_text_beside_a_call_is_seen_only_where_the_project_says_so():
    assert 3 not in indexes(requester_view(WORK, 9).dialog)
    assert 3 in indexes(requester_view(WORK, 9, "visible").dialog)
    assert replies(WORK.messages) == (5, 9)


def test_the_requesters_own_calls_and_their_results_belong_to_r_and_not_to_the_work():
    own = trace(
        said(0, "user", "Look.", calls=(Call("u", "toggle", "{}"),)),
        said(1, "tool", "data is off", side="user"),
        said(2, "assistant", "Thank you."),
    )
    assert indexes(requester_view(own, 2).dialog) == [0, 1]
    assert work_record(own, 2).text == "[user]\nLook."


@pytest.mark.parametrize("role", ["system", "summary", "other", "tool"])
def test_everything_else_is_private(role):
    assert not seen_by_requester(said(0, role, "a"), "visible")


def test_visible_texts_are_those_of_r_and_of_the_replies_with_the_names_of_files():
    own = trace(
        said(0, "system", "You are an agent."),
        said(1, "user", "Look.", calls=(Call("u", "toggle", '{"what": "data"}'),)),
        said(2, "tool", "data is off", side="user"),
        said(3, "assistant", "I look.", calls=CALL),
        said(4, "tool", "KRONOS-17"),
        said(5, "assistant", "It is on."),
        files=(File("gpt.csv", "1,4.2", 0),),
    )
    seen = [
        ("gpt.csv", "gpt.csv\n1,4.2"),
        ("1", 'Look.\ntoggle {"what": "data"}'),
        ("2", "data is off"),
        ("5", "It is on."),
    ]
    assert list(visible_texts(own)) == seen
    assert list(visible_texts(own, "visible")) == [*seen[:3], ("3", "I look."), seen[3]]


@pytest.mark.parametrize("index", [0, 2, 6, 99])
def test_what_is_no_reply_has_neither_r_nor_a_record(index):
    with pytest.raises(ValueError, match="is no reply"):
        requester_view(WORK, index)
    with pytest.raises(ValueError, match="is no reply"):
        work_record(WORK, index)


def test_the_record_holds_the_work_in_order_without_prompt_and_reply():
    record = work_record(WORK, 9)
    assert record.text.startswith("[assistant]\nHello")
    assert record.text.endswith("[user]\nAnd next week?")
    assert '[call fit]\n{"run": "B7"}' in record.text
    assert "You are an agent." not in record.text
    assert "About 1.4 m" not in record.text
    assert (record.truncated, record.n_chars) == (False, len(record.text))


def test_the_record_of_a_long_case_has_exactly_120000_characters_and_ends_like_the_log():
    output = "\r\n".join(f"row {number} \N{GRINNING FACE}" for number in range(20_000))
    long = trace(
        said(0, "user", "Sum it up."),
        said(1, "assistant", "", calls=CALL),
        said(2, "tool", output),
        said(3, "assistant", "Done."),
    )
    record = work_record(long, 3)
    assert len(record.text) == 120_000
    assert record.truncated
    assert record.n_chars > 200_000
    assert record.text.endswith("row 19999 \N{GRINNING FACE}")
    assert "\r" not in record.text
    assert work_record(long, 3, limit=record.n_chars).truncated is False


SESSIONS = trace(
    said(0, "system", "You are an agent."),
    said(1, "user", "first of session one"),
    said(2, "assistant", "reply one"),
    said(3, "system", "You are an agent.\n\n# notes.md\nrun B7 fits", session=2),
    said(4, "user", "first of session two", session=2),
    said(5, "assistant", "reply two", session=2),
    said(6, "user", "second of session two", session=2),
    said(7, "tool", "long output", session=2),
    said(8, "summary", "Work so far: run B7.", session=2),
    said(9, "assistant", "still working", session=2, calls=CALL),
    said(10, "assistant", "reply three", session=2),
)


def test_the_record_begins_with_the_current_session():
    assert work_record(SESSIONS, 5).text == "[user]\nfirst of session two"


def test_after_a_compaction_only_the_first_request_and_the_summary_remain():
    text = work_record(SESSIONS, 10).text
    assert text.startswith(
        "[user]\nfirst of session two\n\n[summary]\nWork so far: run B7.\n\n[assistant]\nstill working"
    )
    assert "long output" not in text
    assert "second of session two" not in text


def test_r_goes_through_all_sessions():
    assert indexes(requester_view(SESSIONS, 10).dialog) == [1, 2, 4, 5, 6]


def test_memory_is_what_the_later_system_message_adds_and_left_out_by_default():
    assert "notes.md" not in work_record(SESSIONS, 5).text
    record = work_record(SESSIONS, 5, include_memory=True)
    assert record.text == "[memory]\n# notes.md\nrun B7 fits\n\n[user]\nfirst of session two"
    assert record.include_memory
    assert "[memory]" not in work_record(SESSIONS, 2, include_memory=True).text


@pytest.mark.parametrize("path", sorted(FIXTURES.iterdir()), ids=lambda path: path.name)
def test_no_fixture_shows_an_output_of_the_agents_tools(path):
    for found in read(path.read_bytes())[0]:
        tools = [message for message in found.messages if message.role == "tool" and message.side == "agent"]
        outputs = [message.text for message in tools if len(message.text) > 8]
        for index in replies(found.messages):
            assert not [output for output in outputs if output in rendered(requester_view(found, index))]
