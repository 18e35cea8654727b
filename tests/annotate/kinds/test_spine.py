"""A whole trace as rows: what is one line, what stands apart and is tied, what is cut."""

from annotate.kinds.redundancy.examples import MESSAGES
from annotate.kinds.redundancy.steps import entries_of
from annotate.kinds.spine import MOST_CHARACTERS, cut, rows_of
from annotate.traces.base import Answered, Call, Message


def rows(messages, shown=None, lengths=None):
    return rows_of(entries_of(messages), shown or range(len(messages)), lengths or {})


def lines(messages, shown=None):
    return [(row.what, row.index, row.name, row.side) for row in rows(messages, shown)]


def call(index, *names):
    return Message(index, "assistant", "", calls=tuple(Call("", name, "{}") for name in names))


def result(index, called_at, place=0, text="ok"):
    return Message(index, "tool", text, answers=Answered(called_at, place))


def test_a_step_is_one_line_and_a_result_that_stands_apart_has_a_line_of_its_own():
    assert lines(MESSAGES) == [
        ("message", 0, "0", "agent"),
        ("message", 1, "1", "user"),
        ("step", 2, "2-3", "agent"),
        ("message", 4, "4", "agent"),
        ("step", 4, "4-8", "agent"),
        ("step", 4, "4-5", "agent"),
        ("step", 6, "6-7", "user"),
        ("result", 8, "4-8", "agent"),
        ("step", 9, "9-10", "agent"),
        ("message", 11, "11", "agent"),
    ]


def test_a_step_holds_its_call_and_its_result_wherever_that_is():
    step = next(row for row in rows(MESSAGES) if row.name == "4-8")
    assert (step.tool, step.n_calls, step.place, step.is_far) == ("get_flight", 2, 1, True)
    assert step.arguments.pieces[0].text == '{"id": 7}'
    assert step.text.pieces[0].text == "flight 7"
    back = next(row for row in rows(MESSAGES) if row.what == "result")
    assert (back.called_at, back.result_at, back.text_at, back.tool) == (4, 8, 8, "get_flight")


def test_parallel_results_that_follow_are_in_the_lines_of_their_steps():
    said = [call(0, "a", "b", "c"), result(1, 0, 2), result(2, 0, 0), result(3, 0, 1)]
    assert lines(said) == [("step", 0, "0-2", "agent"), ("step", 0, "0-3", "agent"), ("step", 0, "0-1", "agent")]
    assert not any(row.is_far for row in rows(said))


def test_a_result_after_something_else_has_a_line_of_its_own():
    said = [call(0, "a"), Message(1, "user", "And?"), Message(2, "assistant", "Wait."), result(3, 0)]
    assert lines(said) == [
        ("step", 0, "0-3", "agent"), ("message", 1, "1", "user"), ("message", 2, "2", "agent"),
        ("result", 3, "0-3", "agent"),
    ]  # fmt: skip


def test_a_second_result_of_a_call_is_a_step_of_its_own():
    said = [call(0, "a"), result(1, 0), result(2, 0)]
    assert lines(said) == [("step", 0, "0-1", "agent"), ("result", 2, "0-2", "agent")]


def test_a_call_without_a_result_is_no_step_and_a_message_that_says_nothing_is_shown():
    assert lines([call(0, "a"), Message(1, "assistant", " "), Message(2, "tool", "orphan")]) == [
        ("call", 0, "0", "agent"), ("message", 1, "1", "agent"), ("message", 2, "2", "agent"),
    ]  # fmt: skip


def test_a_part_shows_its_own_messages_with_what_they_are_tied_to():
    """Of 4 to 5 the first of the two results is at 8, outside; of 8 the call is at 4, outside."""
    there = [MESSAGES[index] for index in (4, 5, 8)]
    assert lines(there, range(4, 6)) == [
        ("message", 4, "4", "agent"), ("step", 4, "4-8", "agent"), ("step", 4, "4-5", "agent"),
    ]  # fmt: skip
    assert lines([MESSAGES[4], MESSAGES[5], MESSAGES[8]], range(6, 9)) == [("result", 8, "4-8", "agent")]


def test_results_at_the_beginning_of_a_part_follow_a_call_in_the_part_before():
    said = [call(0, "a", "b"), result(1, 0), result(2, 0, 1)]
    assert lines([said[0], said[2]], range(2, 3)) == []


def test_long_texts_are_cut_and_say_how_long_they_are():
    text = cut("x" * (MOST_CHARACTERS + 1), 5_000_000)
    assert len(text.pieces[0].text) == text.end == MOST_CHARACTERS
    assert (text.n_characters, text.is_cut) == (5_000_000, True)
    assert not cut("x" * MOST_CHARACTERS, MOST_CHARACTERS).is_cut
    last = cut("tail", 10_004, start=10_000, most=100)
    assert (last.start, last.end, last.is_cut) == (10_000, 10_004, False)


def test_what_nobody_sees_in_a_text_is_named():
    assert [piece.name for piece in cut("a\u202eb", 3).pieces] == ["", "U+202E", ""]
