import math

import pytest

from annotate.rules.message_tokens import Spoken, counts_of, tokens_of_agent


@pytest.mark.parametrize(
    ("beside", "count"),
    [
        ({"usage": {"completion_tokens": 7, "prompt_tokens": 900, "total_tokens": 907}}, 7),
        ({"usage": {"input_tokens": 900, "output_tokens": 8}}, 8),
        ({"metrics": {"prompt_tokens": 900, "completion_tokens": 9}}, 9),
        ({"usage_metadata": {"output_tokens": 10}}, 10),
        ({"response_metadata": {"token_usage": {"completion_tokens": 11}}}, 11),
        ({"usage": {"completion_tokens": 0}}, 0),
        ({"usage": {"total_tokens": 907}}, None),
        ({"usage": {"completion_tokens": "7"}}, None),
        ({"usage": {"completion_tokens": True}}, None),
        ({"usage": {"completion_tokens": -1}}, None),
        ({"usage": {"completion_tokens": math.nan}}, None),
        ({"usage": [7]}, None),
        ({"usage": None, "cost": 0.1}, None),
        ("text", None),
    ],
)
def test_what_was_written_is_counted_as_vendors_spell_it(beside, count):
    assert counts_of({"4": beside}) == ({} if count is None else {4: count})


@pytest.mark.parametrize("kept", [None, [], "x", {"x": {"usage": {"output_tokens": 1}}}])
def test_what_no_reader_keeps_counts_nothing(kept):
    assert counts_of(kept) == {}


def test_every_message_of_the_agent_has_its_tokens_or_there_are_none():
    messages = [Spoken(1, False, False), Spoken(2, True, True), Spoken(4, True, False)]
    assert tokens_of_agent(messages, {1: 50, 2: 7, 4: 9}) == {2: 7, 4: 9}
    assert tokens_of_agent(messages, {1: 50, 2: 7}) is None
    assert tokens_of_agent(messages, {1: 50}) is None
    assert tokens_of_agent([], {1: 50}) is None


def test_a_greeting_before_the_requester_says_anything_has_none():
    greeting, request, answer = Spoken(0, True, False), Spoken(1, False, False), Spoken(2, True, False)
    assert tokens_of_agent([answer, request, greeting], {2: 9}) == {0: 0, 2: 9}
    assert tokens_of_agent([greeting, request, answer], {0: 3, 2: 9}) == {0: 3, 2: 9}
    assert tokens_of_agent([Spoken(0, True, True), request, answer], {2: 9}) is None
    assert tokens_of_agent([greeting, request], {1: 5}) is None
