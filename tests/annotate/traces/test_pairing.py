from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from annotate.traces.base import Answered, Call, Message
from annotate.traces.pairing import match, orphan_results, pair, unanswered_calls


def calling(index, *ids, role="assistant"):
    side = "user" if role == "user" else "agent"
    calls = tuple(Call(id_, "f", "") for id_ in ids)
    return Message(index=index, role=role, text="", side=side, calls=calls)


def result(index, id_=""):
    return Message(index=index, role="tool", text="", answers_id=id_)


def answers(*messages):
    return [(m.answers.index, m.answers.call) if m.answers else None for m in pair(messages) if m.role == "tool"]


def test_parallel_calls_are_answered_by_id_in_any_order():
    assert answers(calling(0, "a", "b"), result(1, "b"), result(2, "a")) == [(0, 1), (0, 0)]


def test_an_id_used_again_later_belongs_to_the_nearest_group():
    messages = [calling(0, "a"), result(1, "a"), calling(2, "a"), result(3, "a")]
    assert answers(*messages) == [(0, 0), (2, 0)]


def test_without_ids_or_with_repeated_ids_the_position_counts():
    assert answers(calling(0, "", ""), result(1), result(2)) == [(0, 0), (0, 1)]
    assert answers(calling(0, "a", "a"), result(1, "a"), result(2, "a")) == [(0, 0), (0, 1)]
    assert answers(calling(0, "", ""), result(1, "x"), result(2, "y")) == [(0, 0), (0, 1)]


def test_one_id_that_is_unique_keeps_its_call_among_others_that_are_not():
    assert answers(calling(0, "a", "", "b"), result(1, "b"), result(2), result(3, "a")) == [(0, 2), (0, 1), (0, 0)]


def test_another_id_is_never_taken_for_the_call_by_position():
    assert answers(calling(0, "a"), result(1, "b")) == [None]


def test_a_group_ends_at_the_next_message_that_is_no_result():
    spoken = Message(index=1, role="user", text="wait", side="user")
    paired = pair([calling(0, "a"), spoken, result(2, "a")])
    assert [message.index for message in orphan_results(paired)] == [2]
    assert unanswered_calls(paired) == [Answered(0, 0)]


def test_a_second_result_of_one_call_answers_nothing():
    assert answers(calling(0, "a"), result(1, "a"), result(2, "a")) == [(0, 0), None]


def test_indexes_are_those_of_the_source():
    assert answers(calling(40, "a"), result(41, "a")) == [(40, 0)]


def test_results_of_the_requesters_own_tools_are_theirs():
    (_, found) = pair([calling(0, "a", role="user"), result(1, "a")])
    assert found.side == "user"


@given(st.lists(st.sampled_from(["", "a", "b", "c"])), st.lists(st.sampled_from(["", "a", "b", "c"])))
def test_a_call_is_answered_once_and_never_against_its_id(calls, results):
    found = match(calls, results)
    assert len(set(found.values())) == len(found)
    assert all(not calls[call] or not results[place] or calls[call] == results[place] for place, call in found.items())


def test_pairing_takes_no_more_steps_for_each_call_where_there_are_many():
    """By what is counted and not by time: ids are compared a bounded number of times for each call and result."""
    compared = Counter()

    class Id(str):
        def __eq__(self, other):
            compared["n"] += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    counts = []
    for n in (200, 2000):
        compared.clear()
        match([Id("a")] * n, [Id("b")] * n)
        match([Id(str(number)) for number in range(n)], [Id(f"z{number}") for number in range(n)])
        counts.append(compared["n"] / n)
    assert counts[1] <= 2 * counts[0] + 1
