"""Calls and results, tied wherever they stand."""

import pytest

from annotate.kinds.redundancy.examples import MESSAGES, POLICY
from annotate.kinds.redundancy.items import items
from annotate.kinds.redundancy.schema import SCHEMA
from annotate.kinds.redundancy.steps import entries_of, steps_of
from annotate.kinds.redundancy.view import view
from annotate.traces import openai_chat
from annotate.traces.base import Answered, Call, Message, Place, Trace
from annotate.traces.documents import Document


def pairs(messages, side=None):
    return [step.pair for step in steps_of(entries_of(messages)) if side in (None, step.side)]


def test_a_result_is_tied_to_its_call_wherever_it_stands():
    assert pairs(MESSAGES) == [(2, 3), (4, 8), (4, 5), (6, 7), (9, 10)]
    assert pairs(MESSAGES, "user") == [(6, 7)]
    tools = {step.pair: (step.tool, step.arguments, step.text) for step in steps_of(entries_of(MESSAGES))}
    assert tools[4, 8] == ("get_flight", '{"id": 7}', "flight 7")
    assert tools[4, 5] == ("get_flight", '{"id": 8}', "no flight")


def test_calls_are_numbered_through_the_trace_and_say_where_their_result_is():
    entries = {entry.index: entry for entry in entries_of(MESSAGES)}
    assert [(call.number, call.result) for call in entries[4].calls] == [(2, 8), (3, 5)]
    assert (entries[8].answers, entries[8].called_at, entries[8].tool) == (2, 4, "get_flight")
    assert (entries[6].side, entries[7].side, entries[1].side, entries[11].side) == ("user", "user", "user", "agent")
    assert "toolu" not in repr(entries)


def test_a_call_without_a_result_and_a_result_without_a_call_are_shown_and_no_step():
    messages = (
        Message(0, "assistant", "", calls=(Call("a", "look", "{}"), Call("b", "look", "{}"))),
        Message(1, "tool", "there", answers=Answered(0, 1)),
        Message(2, "tool", "lost"),
        Message(3, "tool", "of another file", answers=Answered(17, 0)),
    )
    entries = entries_of(messages)
    assert pairs(messages) == [(0, 1)]
    assert [call.result for call in entries[0].calls] == [None, 1]
    assert [entry.answers for entry in entries] == [None, 2, None, None]
    assert [entry.text for entry in entries[2:]] == ["lost", "of another file"]


def test_the_policy_is_shown_by_itself_and_at_its_place():
    blocks = view(Trace("", "", MESSAGES), 11, SCHEMA)
    assert [block.text for block in blocks.context] == [POLICY]
    assert (blocks.entries[0].role, blocks.entries[0].text) == ("system", POLICY)
    assert view(Trace("", "", MESSAGES[1:]), 11, SCHEMA).context == ()


def test_a_trajectory_is_one_item_at_its_last_message():
    assert [anchor.index for anchor in items(Trace("", "", MESSAGES), SCHEMA)] == [11]
    assert items(Trace("", "", MESSAGES[6:8]), SCHEMA) == []


@pytest.mark.parametrize("n_between", [0, 3])
def test_a_call_whose_result_comes_later_in_a_file_is_paired_rightly(n_between):
    calls = [{"id": f"c{n}", "function": {"name": "look", "arguments": "{}"}} for n in range(n_between + 1)]
    answers = [{"role": "tool", "tool_call_id": f"c{n}", "content": str(n)} for n in range(1, n_between + 1)]
    record = {
        "messages": [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": None, "tool_calls": calls},
            *answers,
            {"role": "tool", "tool_call_id": "c0", "content": "0"},
        ]
    }
    (trace,) = (one for one in openai_chat.read([Document(record, Place("f"))]) if isinstance(one, Trace))
    assert pairs(trace.messages)[0] == (1, 2 + n_between)
