"""The contract of a judge: what it may see, what it is called and set to, and the one pure step that gives its Finding.

A judge is one module of this folder with a `JUDGE`. It gets values and never a row, a request or a clock, so the same
view and settings give the same Finding. What the Finding means as a label is the kind's to say (`from_finding`). A
judge that has to ask somebody will hand back its question in place of the Finding and be called again with the answers
so far; none does yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from annotate.kinds.base import Finding, MessageBlock
from annotate.kinds.reply.label import SCHEMA
from annotate.kinds.reply.view import view
from annotate.rules.quotes import canonical
from annotate.rules.requester_view import TextBesideCalls, context, requester_view, seen_by_requester
from annotate.traces.base import Message, Problem, Trace, gettext_noop


@dataclass(frozen=True, slots=True)
class ReplyView:
    """A reply with everything that stood before it, in canonical texts. What the requester saw (R) is `files` and
    `dialog`, which holds `request`, the message being answered, at its place. Private are `held`, what the agent still
    had before it when it wrote, and `earlier`, what it had no more or never as part of its work record: other sessions,
    what a compaction dropped, system prompts."""

    language: str
    """Of the collaboration: `en`, `zh` or empty where nobody said."""
    request: str
    files: tuple[tuple[str, str], ...]
    dialog: tuple[str, ...]
    reply: str
    held: tuple[str, ...]
    earlier: tuple[str, ...]


class SettingsError(ValueError):
    """Settings a judge cannot work with; `problems` names every one that is wrong."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(problem.sentence() for problem in problems))
        self.problems = problems


class View(Protocol):
    """What a judge sees of one item, from the whole trace; the setting is the project's."""

    def __call__(self, trace: Trace, anchor: int, text_beside_calls: TextBesideCalls = "private") -> Any: ...


def no_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """For a judge that has none."""
    refuse_unknown(given, ())
    return {}


def refuse_unknown(given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise SettingsError(*(unknown_setting(name, known) for name in unknown[:MOST_UNKNOWN]))


MOST_UNKNOWN = 20


def unknown_setting(name: str, known: tuple[str, ...]) -> Problem:
    return Problem(
        code="unknown_field",
        field=name[:80],
        expected=gettext_noop("The settings of this judge are: %(fields)s."),
        remedy=gettext_noop("Leave the other out."),
        params={"fields": ", ".join(known) or "-"},
    )


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """One judge as the rest of the product knows it. `title` and `describe` are message ids; `version` changes with
    everything that may change a verdict."""

    name: str
    title: str
    describe: str
    version: str
    kinds: tuple[str, ...]
    """Names of the task kinds whose items it judges."""
    view: View
    step: Callable[[Any, Mapping[str, Any]], Finding]
    """What it says of one view under complete settings. One that raises ends the attempt at this item and no other."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What holds where nothing is set."""
    read_settings: Callable[[Mapping[str, Any]], dict[str, Any]] = no_settings
    """The complete settings, as they are stored with the judge, from those that somebody gave; raises SettingsError.
    Complete ones come back as they are."""


def reply_view(trace: Trace, anchor: int, text_beside_calls: TextBesideCalls = "private") -> ReplyView:
    """The view of one reply. R is cut and put into words by the very functions that show it to annotators."""
    seen = requester_view(trace, anchor, text_beside_calls)
    reply = next(message for message in trace.messages if message.index == anchor)
    shown = view(replace(trace, messages=(*seen.dialog, reply)), anchor, SCHEMA)
    said = [message.text for message in seen.dialog if message.role == "user" and message.text.strip()]
    before = [message for message in trace.messages if message.index < anchor]
    held = {message.index for message in context(trace.messages, anchor)}
    return ReplyView(
        language=trace.language,
        request=canonical(said[-1]),
        files=tuple((file.name, canonical(file.text)) for file in seen.files),
        dialog=tuple(canonical(block.text) for block in shown.context if isinstance(block, MessageBlock)),
        reply=canonical(reply.text),
        held=private_texts([message for message in before if message.index in held], text_beside_calls),
        earlier=private_texts([message for message in before if message.index not in held], text_beside_calls),
    )


def private_texts(messages: list[Message], text_beside_calls: TextBesideCalls) -> tuple[str, ...]:
    """What the requester did not see of these messages: unseen texts with the names of their tools, and every call of
    the agent, also beside a text that was seen."""
    texts: list[str] = []
    for message in messages:
        if not seen_by_requester(message, text_beside_calls):
            texts += [message.name, message.text]
        if message.side != "user":
            texts += [part for call in message.calls for part in (call.name, call.arguments)]
    return tuple(canonical(text) for text in texts if text.strip())
