"""What readers of foreign formats warn of, which is counted and refuses nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from annotate.traces.base import Likeness, Message, Place, Problem, gettext_noop
from annotate.traces.pairing import orphan_results, unanswered_calls
from annotate.traces.values import as_json


def likeness(marks: dict[str, bool]) -> Likeness:
    """What `sniff` gives: which marks of a format are there, and which are not."""
    return Likeness(
        found=tuple(mark for mark, is_there in marks.items() if is_there),
        missing=tuple(mark for mark, is_there in marks.items() if not is_there),
    )


def unpaired(messages: Sequence[Message], place: Place, pointers: Sequence[str]) -> Iterator[Problem]:
    """A warning for every result without a call and every call without a result; `pointers` lead to the messages."""
    for message in orphan_results(messages):
        yield orphan_result(place, pointers[message.index], message)
    for call in unanswered_calls(messages):
        yield unanswered_call(place, pointers[call.index], messages[call.index].calls[call.call].name)


def unknown_record(place: Place, expected: str) -> Problem:
    """`expected` is a marked sentence that says what a record of the format is."""
    return place.problem(
        "unknown_record",
        expected=expected,
        remedy=gettext_noop("The record is passed over."),
        warning=True,
    )


def unknown_role(place: Place, pointer: str, roles: Iterable[str], found: object) -> Problem:
    return place.problem(
        "unknown_role",
        pointer,
        expected=gettext_noop("One of the roles %(roles)s; here it is %(found)s."),
        remedy=gettext_noop("The message is kept, seen by nobody who labels."),
        warning=True,
        roles=", ".join(roles),
        found=as_json(found)[:80],
    )


def non_text_content(place: Place, pointer: str) -> Problem:
    return place.problem(
        "non_text_content",
        pointer,
        expected=gettext_noop("A text, or a list of parts with text, images, sounds or files."),
        remedy=gettext_noop("What is none of these is kept with the private data of the trace and not shown."),
        warning=True,
    )


def orphan_result(place: Place, pointer: str, message: Message) -> Problem:
    return place.problem(
        "orphan_tool_result",
        pointer,
        expected=gettext_noop("A call that this result answers (id %(found)s) right before it; there is none."),
        remedy=gettext_noop("The message is kept as the result of no call."),
        warning=True,
        found=as_json(message.answers_id)[:80],
    )


def unanswered_call(place: Place, pointer: str, name: str) -> Problem:
    return place.problem(
        "unanswered_call",
        pointer,
        expected=gettext_noop("A result of the call of %(name)s; there is none."),
        remedy=gettext_noop("The call is kept and shown as unanswered."),
        warning=True,
        name=as_json(name)[:80],
    )


def empty_run(place: Place, pointer: str) -> Problem:
    return place.problem(
        "empty_run",
        pointer,
        expected=gettext_noop("At least one message; there is none."),
        remedy=gettext_noop("The run is kept; there is nothing in it to label."),
        warning=True,
    )


def passed_over(place: Place, code: str, pointer: str, what: str) -> Problem:
    """Something that is no message of the run and was left out, each sort under its own code: `repeated_record`,
    `meta_record`, `bookkeeping`. `what` is its name in the file."""
    return place.problem(
        code,
        pointer,
        expected=gettext_noop("A message, a call or a result; this is %(what)s."),
        remedy=gettext_noop("It is passed over; nothing of the conversation is lost with it."),
        warning=True,
        what=what[:80],
    )
