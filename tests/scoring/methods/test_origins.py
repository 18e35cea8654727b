"""Where a coined label came up first: in order, in what the agent still had before it, whatever its case or markup."""

import json

import pytest

from annotate.traces.base import Answered, Call, Message
from scoring.methods.origins import Origin, Terms, origin_of, writes_a_file


def calling(index, name, arguments, text="", session=1):
    return Message(index, "assistant", text, session=session, calls=(Call("c", name, json.dumps(arguments)),))


def result(index, text, session=1):
    return Message(index, "tool", text, session=session, answers=Answered(index - 1, 0))


FILE = {"path": "notes.md", "content": "Upland plots are called B-arm from here on."}
TRACE = (
    Message(0, "system", "You help with plots."),
    Message(1, "user", "Compare them."),
    calling(2, "write_file", FILE),
    result(3, "written"),
    calling(4, "simulate", {"plots": "B-arm"}),
    result(5, "B-arm: 12 t, wet-7: 9 t"),
    Message(6, "assistant", "The B-arm is better than wet-7."),
    Message(7, "user", "And in spring?"),
    calling(8, "simulate", {"season": "spring", "site": "QX-3"}),
    result(9, "fine"),
    Message(10, "assistant", "B-arm, wet-7, QX-3 and Zed-1 hold."),
)


def test_a_label_that_a_file_had_before_a_tool_s_output_is_the_file_s():
    """Check A8."""
    assert origin_of(TRACE, 6, "B-arm") == Origin("agent_file", 2)


@pytest.mark.parametrize(
    ("label", "origin"),
    [
        ("wet-7", Origin("tool_output", 5)),
        ("the QX-3 site", Origin("tool_args", 8)),
        ("Zed-1", Origin("reply_itself", None)),
        ("plots", Origin("project_memory", 0)),
        ("spring", Origin("requester", 7)),
    ],
)
def test_its_origin_is_the_first_message_that_has_it(label, origin):
    assert origin_of(TRACE, 10, label) == origin


def test_a_message_s_text_comes_before_its_calls():
    trace = (Message(0, "user", "Go."), calling(1, "simulate", {"a": "K-9"}, text="Trying K-9."), result(2, "ok"),
             Message(3, "assistant", "K-9 it is."))  # fmt: skip
    assert origin_of(trace, 3, "K-9") == Origin("earlier_reply", 1)


def test_what_a_compaction_dropped_is_not_before_the_agent_any_more():
    trace = (
        Message(0, "user", "Go."),
        calling(1, "write_file", {"path": "a.md", "content": "K-9"}),
        result(2, "ok"),
        Message(3, "summary", "So far K-9 was tried."),
        Message(4, "assistant", "K-9 it is."),
    )
    assert origin_of(trace, 4, "K-9") == Origin("compaction_summary", 3)


def test_memory_of_a_later_session_is_where_its_labels_come_from():
    trace = (
        Message(0, "system", "Base."),
        Message(1, "user", "Go."),
        Message(2, "assistant", "K-9 it is."),
        Message(3, "system", "Base. Memory: K-9 is the northern run.", session=2),
        Message(4, "user", "And now?", session=2),
        Message(5, "assistant", "K-9 again.", session=2),
    )
    assert origin_of(trace, 5, "K-9") == Origin("project_memory", 3)


@pytest.mark.parametrize("said", ["see `k-9`", "**K-9** ran", "K-9.", "(K-9)", "{\"run\": \"K-9\"}", "K-9\\nnext"])
def test_case_and_markup_do_not_count(said):
    trace = (Message(0, "user", "Go."), Message(1, "assistant", "", calls=(Call("c", "x", said),)),
             Message(2, "assistant", "K-9 it is."))  # fmt: skip
    assert origin_of(trace, 2, "K-9").index == 1


@pytest.mark.parametrize(("label", "said"), [("K-9", "K-99"), ("run4", "rerun4"), ("arm", "farm")])
def test_latin_names_are_whole_tokens(label, said):
    assert not Terms.of(label).are_in(said)


def test_han_is_found_inside_of_longer_text():
    assert Terms.of("北坡方案").are_in("我们把北坡方案存档")
    assert not Terms.of("北坡方案").are_in("南坡方案")


@pytest.mark.parametrize(
    ("label", "tokens", "texts"),
    [
        ("as in run_12 of the batch", {"run_12"}, set()),
        ("the second option", {"second", "option"}, set()),
        ("of the", {"of the"}, set()),
        ("北坡方案", set(), {"北坡方案"}),
    ],
)
def test_terms_are_identifiers_else_words_else_all_of_it(label, tokens, texts):
    assert Terms.of(label) == Terms(frozenset(tokens), frozenset(texts))


@pytest.mark.parametrize(
    ("name", "arguments", "writes"),
    [
        ("write_file", {}, True),
        ("save_note", {"title": "a"}, True),
        ("str_replace_editor", {"command": "create"}, True),
        ("tool", {"file_path": "a", "content": "b"}, True),
        ("read_file", {"path": "a"}, False),
        ("search", {"text": "a"}, False),
        ("tool", [], False),
    ],
)
def test_a_call_that_writes_a_file_is_known_by_its_name_or_its_arguments(name, arguments, writes):
    assert writes_a_file(Call("c", name, json.dumps(arguments))) is writes


def test_a_reply_that_is_not_there_is_an_error():
    with pytest.raises(ValueError, match="no message 99"):
        origin_of(TRACE, 99, "B-arm")
