"""Steps taken out of a trace: nothing is left behind without its other half, and nothing else changes."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.kinds.redundancy.removal import without_steps
from annotate.kinds.redundancy.steps import entries_of, steps_of
from annotate.traces.base import Answered, Call, Message, Trace
from annotate.traces.pairing import orphan_results, pair, unanswered_calls


def calling(index, *ids, text="", role="assistant"):
    side = "user" if role == "user" else "agent"
    return Message(index, role, text, side=side, calls=tuple(Call(id_, f"tool {id_}", "{}") for id_ in ids))


def result(index, id_, text="found"):
    return Message(index, "tool", text, answers_id=id_, name=f"tool {id_}")


def trace_of(*messages):
    return Trace("t", "sightline", tuple(pair(messages)))


def steps(trace):
    return {step.pair for step in steps_of(entries_of(trace.messages))}


def told(trace):
    """Each call with what it was answered, and each message with its text, whatever the places of calls are."""
    return [
        (one.index, one.role, one.text, one.name, [call.id for call in one.calls], called(trace, one.answers))
        for one in trace.messages
    ]


def called(trace, answers):
    if answers is None:
        return None
    return next(message.calls[answers.call].id for message in trace.messages if message.index == answers.index)


def test_both_messages_of_a_step_go_and_indexes_stay():
    trace = trace_of(Message(0, "user", "Cancel it."), calling(1, "a"), result(2, "a"), calling(3, "b"), result(4, "b"))
    left = without_steps(trace, [(1, 2)])
    assert [message.index for message in left.messages] == [0, 3, 4]
    assert left.messages[1:] == trace.messages[3:]
    assert steps(left) == {(3, 4)}


def test_a_message_with_several_calls_loses_one_and_the_others_keep_their_results():
    trace = trace_of(calling(0, "a", "b", "c"), result(1, "c"), result(2, "a"), result(3, "b"))
    left = without_steps(trace, [(0, 2)])
    assert told(left) == [
        (0, "assistant", "", "", ["b", "c"], None),
        (1, "tool", "found", "tool c", [], "c"),
        (3, "tool", "found", "tool b", [], "b"),
    ]
    assert without_steps(trace, [(0, 1), (0, 2), (0, 3)]).messages == ()


def test_a_message_that_says_something_stays_with_its_text():
    trace = trace_of(calling(0, "a", text="I look it up."), result(1, "a"), calling(2, "b", text=" \n"), result(3, "b"))
    left = without_steps(trace, [(0, 1), (2, 3)])
    assert [(message.index, message.text, message.calls) for message in left.messages] == [(0, "I look it up.", ())]


def test_all_results_of_a_call_go_with_it():
    first = calling(0, "a")
    results = [replace(result(at, "a"), answers=Answered(0, 0)) for at in (1, 2)]
    trace = Trace("t", "sightline", (first, *results))
    assert without_steps(trace, [(0, 2)]).messages == ()


def test_what_is_no_step_is_refused_by_name():
    trace = trace_of(calling(0, "a"), result(1, "a"), Message(2, "assistant", "Done."))
    for wrong in ((0, 2), (1, 2), (7, 8), (0, 0)):
        with pytest.raises(ValueError, match=rf"\[{wrong[0]}, {wrong[1]}\]"):
            without_steps(trace, [wrong])


@st.composite
def traces(draw):
    """Messages that say something or not, with calls or without, whose results stand in any later order, elsewhere or
    nowhere; some results answer nothing."""
    messages, waiting = [], []
    for index in range(draw(st.integers(0, 14))):
        what = draw(st.sampled_from(["says", "calls", "calls", "result", "result", "stray"]))
        text = draw(st.sampled_from(["", " ", "I look.", "好的"]))
        if what == "calls":
            ids = [f"{index}-{place}" for place in range(draw(st.integers(1, 3)))]
            waiting += ids
            messages.append(calling(index, *ids, text=text, role=draw(st.sampled_from(["assistant", "user"]))))
        elif what == "result" and waiting:
            messages.append(result(index, waiting.pop(draw(st.integers(0, len(waiting) - 1)))))
        elif what == "stray":
            messages.append(result(index, "nobody"))
        else:
            messages.append(Message(index, draw(st.sampled_from(["assistant", "user", "system"])), text))
    trace = trace_of(*messages)
    return trace, draw(st.sets(st.sampled_from(sorted(steps(trace))))) if steps(trace) else set()


@given(traces())
def test_nothing_is_left_without_its_other_half_and_all_else_is_the_same(drawn):
    trace, taken = drawn
    left = without_steps(trace, taken)
    assert steps(left) == steps(trace) - taken
    assert len(list(orphan_results(left.messages))) == len(list(orphan_results(trace.messages)))
    assert len(list(unanswered_calls(left.messages))) == len(list(unanswered_calls(trace.messages)))

    results = {index for one in taken for index in one if not trace.messages[index].calls}
    lost = {called(trace, trace.messages[index].answers) for index in results}
    expected = []
    for index, role, text, name, ids, answered in told(trace):
        kept = [id_ for id_ in ids if id_ not in lost]
        is_emptied = ids and not kept and not text.strip()
        if answered not in lost and not is_emptied:
            expected.append((index, role, text, name, kept, answered))
    assert told(left) == expected
    assert replace(left, messages=()) == replace(trace, messages=())


@given(traces())
def test_taking_nothing_out_changes_nothing(drawn):
    trace, _ = drawn
    assert without_steps(trace, []) == trace
