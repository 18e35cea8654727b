from annotate.traces.base import Call, Message
from annotate.traces.pairing import pair, unanswered_calls
from annotate.traces.snapshots import merged


def said(*texts):
    """`u:`, `a:`, `s:` and `t:` begin what each says; `a!` is a call of that tool."""
    return [one(text) for text in texts]


def one(text):
    role = {"u": "user", "a": "assistant", "s": "system", "t": "tool"}[text[0]]
    if text[1] == "!":
        return Message(0, role, "", calls=(Call("", text[2:], "{}"),))
    return Message(0, role, text[2:])


def shown(found):
    return [
        (message.role[0] + ("!" if message.calls else ":") + (message.text or message.calls[0].name))
        for message in found.messages
    ]


def test_snapshots_that_grow_are_one_conversation():
    longest = said("u:1", "a!f", "t:2", "a:3", "u:4", "a:5")
    found = merged([longest[:2], longest[:4], longest])
    assert shown(found) == ["u:1", "a!f", "t:2", "a:3", "u:4", "a:5"]
    assert [message.index for message in found.messages] == list(range(6))
    assert found.sources == ((0, 0), (0, 1), (1, 2), (1, 3), (2, 4), (2, 5))
    assert (found.n_new, found.n_main) == ((2, 2, 2), 6)


def test_a_snapshot_that_says_nothing_new_is_counted_as_such():
    found = merged([said("u:1", "a:2"), said("u:1"), said("u:1", "a:2")])
    assert (shown(found), found.n_new) == (["u:1", "a:2"], (2, 0, 0))


def test_nothing_gives_nothing():
    assert merged([]).messages == ()
    assert merged([[], []]).n_new == (0, 0)


def test_ids_spaces_and_the_form_of_arguments_make_no_other_message():
    first = [Message(0, "user", "1"), Message(1, "assistant", "", calls=(Call("a", "f", '{"x":1,"y":2}'),))]
    again = [Message(0, "user", "1 "), Message(1, "assistant", "", calls=(Call("b", "f", '{"y": 2, "x": 1}'),))]
    found = merged([first, [*again, Message(2, "tool", "3", answers_id="b")]])
    assert [message.role for message in found.messages] == ["user", "assistant", "tool"]
    assert found.messages[1].calls[0].id == "a"


def test_arguments_that_are_no_json_are_compared_as_they_are():
    call = [Message(0, "user", "1"), Message(1, "assistant", "", calls=(Call("a", "f", "{x"),))]
    assert merged([call, call]).n_new == (2, 0)


def test_a_summary_of_the_whole_run_without_its_steps_repeats_it():
    steps = [said("u:1", "a!f"), said("u:1", "a!f", "t:2", "a:3")]
    whole = said("u:1", "a:3")
    for snapshots in ([*steps, whole], [whole, *steps]):
        assert shown(merged(snapshots)) == ["u:1", "a!f", "t:2", "a:3"]


def test_a_changed_system_message_does_not_part_a_conversation():
    found = merged([said("s:at one", "u:1", "a!f"), said("s:at two", "u:1", "a!f", "t:2", "a:3")])
    assert shown(found) == ["s:at one", "u:1", "a!f", "t:2", "s:at two", "a:3"]


def test_messages_cut_away_at_the_front_are_no_loss():
    found = merged([said("s:0", "u:1", "a:2", "u:3", "a:4"), said("s:0", "u:3", "a:4", "u:5", "a:6")])
    assert shown(found) == ["s:0", "u:1", "a:2", "u:3", "a:4", "u:5", "a:6"]


def test_messages_cut_away_in_the_middle_are_no_loss():
    found = merged([said("u:1", "a!f", "t:2", "a!g", "t:3", "a!h"), said("u:1", "a!g", "t:3", "a!h", "t:4", "a:5")])
    assert shown(found) == ["u:1", "a!f", "t:2", "a!g", "t:3", "a!h", "t:4", "a:5"]


def test_answers_alone_go_on_where_the_conversation_stopped():
    found = merged([said("u:1", "a:2"), said("a!f"), said("t:3", "a:4"), said("a:4")])
    assert shown(found) == ["u:1", "a:2", "a!f", "t:3", "a:4"]


def test_the_same_answer_given_twice_is_two_answers_and_its_copy_is_none():
    found = merged([said("u:1", "a!f"), said("t:2", "a!f"), said("t:2", "a:3"), said("a:3")])
    assert shown(found) == ["u:1", "a!f", "t:2", "a!f", "t:2", "a:3"]


def test_another_agent_is_private_and_comes_after_the_result_of_the_call_that_asked_for_it():
    main = [said("u:1", "a!ask"), said("u:1", "a!ask", "t:4", "a:5")]
    sub = said("s:sub", "u:2", "a!look", "t:3", "a:4")
    found = merged([main[0], sub, main[1]], names=["", "helper", ""])
    assert shown(found) == ["u:1", "a!ask", "t:4", "o:sub", "o:2", "o!look", "t:3", "o:4", "a:5"]
    assert {message.name for message in found.messages if message.role == "other"} == {"helper"}
    assert found.n_main == 4
    assert unanswered_calls(pair(found.messages)) == []


def test_agents_at_the_same_time_keep_their_calls_and_results_together():
    snapshots = [
        said("u:1", "a!ask"),
        said("u:x", "a!f"),
        said("u:y", "a!g"),
        said("u:x", "a!f", "t:fx", "a:done x"),
        said("u:y", "a!g", "t:gy", "a:done y"),
        said("u:1", "a!ask", "t:z", "a:end"),
    ]
    found = merged(snapshots)
    assert unanswered_calls(pair(found.messages)) == []
    assert shown(found)[-1] == "a:end"


def test_the_line_nearest_to_the_requester_is_the_main_one_however_long_the_others_are():
    sub = said("u:2", "a!look", "t:3", "a!look", "t:4", "a:5")
    main = said("u:1", "a:6")
    assert shown(merged([sub, main], ranks=[2, 1]))[-2:] == ["u:1", "a:6"]
    assert shown(merged([sub, main]))[-2:] == ["o:1", "o:6"]


def test_an_attempt_given_up_is_kept_as_private():
    found = merged([said("u:1", "a:wrong"), said("u:1", "a:right", "u:2", "a:3")])
    assert shown(found) == ["u:1", "o:wrong", "a:right", "u:2", "a:3"]
    assert [message.name for message in found.messages if message.role == "other"] == ["assistant"]


def test_of_two_answers_to_the_same_request_the_last_counts():
    assert shown(merged([said("u:1", "a:2"), said("u:1", "a:3")])) == ["u:1", "o:2", "a:3"]


def test_every_message_of_every_snapshot_is_in_the_result_or_the_same_as_one_of_it():
    snapshots = [
        said("s:0", "u:1", "a!f"),
        said("a:8"),
        said("u:9"),
        said("u:1", "a:7"),
        said("s:4", "t:2"),
        said("s:0", "u:1", "a!f", "t:2", "a:3"),
    ]
    found = merged(snapshots)
    texts = {message.text for message in found.messages}
    assert texts == {message.text for snapshot in snapshots for message in snapshot}
    assert len(set(found.sources)) == len(found.messages) == sum(found.n_new)
    for message, (snapshot, place) in zip(found.messages, found.sources, strict=True):
        assert snapshots[snapshot][place].text == message.text
