"""Who in a conversation is the requester, and which text is the reply to them."""

from __future__ import annotations

from collections.abc import Sequence

from annotate.traces.base import Message
from annotate.traces.otel_messages import Said
from annotate.traces.otel_steps import Entry, Step, is_reply, private


def with_request(entries: list[Entry], request: str, steps: Sequence[Step]) -> list[Entry]:
    """The requester's own words instead of what a program made of them."""
    if not request.strip():
        return entries
    users = [place for place, entry in enumerate(entries) if entry.message.role == "user"]
    same = [place for place in users if entries[place].message.text.strip() == request.strip()]
    if same:
        place = same[0] - 1
        told = list(entries)
        while place >= 0 and told[place].message.role in ("user", "system"):
            told[place] = private(told[place]) if told[place].message.role == "user" else told[place]
            place -= 1
        return told
    wrapped = [place for place in users if request.strip() in entries[place].message.text]
    own = Entry(Said(Message(0, "user", request, side="user")), steps[0])
    if wrapped:
        return [*entries[: wrapped[0]], own, private(entries[wrapped[0]]), *entries[wrapped[0] + 1 :]]
    if not users and entries:
        start = next((place for place, entry in enumerate(entries) if entry.message.role != "system"), len(entries))
        return [*entries[:start], own, *entries[start:]]
    return entries


def with_reply(entries: list[Entry], reply: str, steps: Sequence[Step]) -> list[Entry]:
    """What the run as a whole gave back, where no answer of a model says it, or with more around it."""
    turn = [entry for entry in entries[last_user(entries) + 1 :] if is_reply(entry.message)]
    if not reply.strip():
        return entries
    if turn and turn[-1].is_answer:
        said, given = turn[-1].message.text.strip(), reply.strip()
        if said == given or (said not in given and given not in said):
            return entries
    elif turn and turn[-1].message.text.strip() == reply.strip():
        return entries
    return [*entries, Entry(Said(Message(0, "assistant", reply)), steps[0])]


def last_user(entries: Sequence[Entry]) -> int:
    return max((place for place, entry in enumerate(entries) if entry.message.role == "user"), default=-1)


def last_texts_are_replies(entries: list[Entry]) -> list[Entry]:
    """In each turn the texts without calls before the last one are the agent's notes to itself."""
    told = list(entries)
    has_reply = False
    for place in reversed(range(len(told))):
        message = told[place].message
        if message.role == "user":
            has_reply = False
        elif is_reply(message):
            told[place] = private(told[place]) if has_reply else told[place]
            has_reply = True
    return told
