"""What the requester saw (R), and what the agent had before it when it wrote a reply (docs/methods.md, Requester view
and work record).

Both follow from roles, sides and sessions alone, so every format and every kind gets the same answer. Indexes are the
messages' original ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from annotate.rules.quotes import canonical
from annotate.traces.base import File, Message, Trace

TextBesideCalls = Literal["private", "visible"]
RECORD_CHARACTERS = 120_000


@dataclass(frozen=True, slots=True)
class RequesterView:
    """R: the files given so far, and everything said so far that the requester saw or did, in order."""

    files: tuple[File, ...]
    dialog: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class WorkRecord:
    """The agent's context at the point of a reply. `n_chars` counts the whole of it, `text` may be its end only."""

    text: str
    n_chars: int
    truncated: bool
    include_memory: bool


def replies(messages: Sequence[Message]) -> tuple[int, ...]:
    """Indexes of the replies: the first agent text without calls after a requester message of the same session.

    An opening greeting answers nothing; what the agent adds to a reply is seen, but is none."""
    found, is_asked, session = [], False, 1
    for message in messages:
        if message.session != session:
            is_asked, session = False, message.session
        if message.role == "user" and message.text.strip():
            is_asked = True
        elif is_asked and is_agent_text(message):
            found.append(message.index)
            is_asked = False
    return tuple(found)


def is_agent_text(message: Message) -> bool:
    return message.role == "assistant" and not message.calls and bool(message.text.strip())


def seen_by_requester(message: Message, text_beside_calls: TextBesideCalls = "private") -> bool:
    """Own messages, own tools and their results, the agent's texts; beside a call only where the project says so."""
    if message.role == "user":
        return True
    if message.role == "tool":
        return message.side == "user"
    if message.role == "assistant" and message.calls:
        return text_beside_calls == "visible" and bool(message.text.strip())
    return is_agent_text(message)


def requester_view(trace: Trace, reply_index: int, text_beside_calls: TextBesideCalls = "private") -> RequesterView:
    """R of one reply. The dialog ends with the message being answered, and what the requester's own tools or visible
    texts beside calls showed after it."""
    require_reply(trace, reply_index)
    return RequesterView(
        files=tuple(file for file in trace.files if file.available_from < reply_index),
        dialog=tuple(
            message
            for message in trace.messages
            if message.index < reply_index and seen_by_requester(message, text_beside_calls)
        ),
    )


def visible_texts(trace: Trace, text_beside_calls: TextBesideCalls = "private") -> Iterator[tuple[str, str]]:
    """Every text of a trace that somebody who sees the requester's side may read, and where it stands: the name of a
    file or the index of a message. Files come first; calls of the requester's own tools are read with their message."""
    for file in trace.files:
        yield file.name, f"{file.name}\n{file.text}"
    for message in trace.messages:
        if seen_by_requester(message, text_beside_calls):
            calls = [f"{call.name} {call.arguments}" for call in message.calls if message.side == "user"]
            yield str(message.index), "\n".join([message.text, *calls])


def require_reply(trace: Trace, index: int) -> None:
    if index not in replies(trace.messages):
        raise ValueError(f"Message {index} of {trace.source_id!r} is no reply. Replies: {replies(trace.messages)}.")


def work_record(
    trace: Trace, reply_index: int, *, limit: int = RECORD_CHARACTERS, include_memory: bool = False
) -> WorkRecord:
    """The context of one reply, its last `limit` characters where it is longer.

    The system prompt is left out, and with it the project memory that sits in it unless `include_memory`."""
    require_reply(trace, reply_index)
    memory = [project_memory(trace, reply_index)] if include_memory else []
    parts = [part for part in memory if part] + [rendered(message) for message in context(trace.messages, reply_index)]
    text = canonical("\n\n".join(parts))
    kept = text[-limit:] if len(text) > limit else text
    return WorkRecord(kept, n_chars=len(text), truncated=len(text) > limit, include_memory=include_memory)


def context(messages: Sequence[Message], reply_index: int) -> list[Message]:
    """What the model still held: its session, and after a compaction only the first requester message of the session,
    the summary and what follows it."""
    session = next(message.session for message in messages if message.index == reply_index)
    held = [message for message in messages if message.session == session and message.index < reply_index]
    summaries = [place for place, message in enumerate(held) if message.role == "summary"]
    if summaries:
        first = [message for message in held[: summaries[-1]] if message.role == "user" and message.text.strip()][:1]
        held = first + held[summaries[-1] :]
    return [message for message in held if reaches_agent(message)]


def reaches_agent(message: Message) -> bool:
    """The requester's own tools are theirs: the agent hears only what they say."""
    if message.role == "tool":
        return message.side == "agent"
    return message.role != "system" and (message.role != "user" or bool(message.text.strip()))


def rendered(message: Message) -> str:
    """One message with a heading that says whose it is; its text comes last, so that a record ends like the log."""
    heading = f"[{message.role if message.role != 'other' else message.name or 'other'}]"
    if message.role == "user":
        return f"{heading}\n{message.text}"
    if message.role == "tool":
        return f"[tool {message.name}]\n{message.text}" if message.name else f"{heading}\n{message.text}"
    return "\n".join([heading, *([message.text] if message.text else []), *rendered_calls(message)])


def rendered_calls(message: Message) -> Iterator[str]:
    return (f"[call {call.name}]\n{call.arguments}" for call in message.calls)


def project_memory(trace: Trace, reply_index: int) -> str:
    """What a later session's system message has beyond that of the first session."""
    session = next(message.session for message in trace.messages if message.index == reply_index)
    prompts = [message for message in trace.messages if message.role == "system" and message.index < reply_index]
    first = "\n\n".join(message.text for message in prompts if message.session == trace.messages[0].session)
    current = "\n\n".join(message.text for message in prompts if message.session == session)
    memory = current.removeprefix(first).strip("\n") if session != trace.messages[0].session else ""
    return f"[memory]\n{memory}" if memory else ""
