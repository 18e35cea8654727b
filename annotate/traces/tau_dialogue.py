"""Dialogues of tau-bench printed as one text: {messages_display: "user: ...\\nassistant: ..."}, as few-shot files have.

A line that begins with `user: `, `assistant: `, `tool: ` or `system: ` begins a message, which goes on to the next such
line; a line of a text that happens to begin so cannot be told apart. `user` is the requester, `assistant` the agent.
Calls are not printed: neither name nor arguments are known. A message of the agent that results follow has made a call
for each of them, and `None` is the text of one that only called. `tool` is a result. The sign with which the simulated
requester ends (`###STOP###`) is nobody's words and kept in the private data; so is everything else of the record. Text
before the first speaker is private. A run's id is the record's, else a digest of its messages; cluster, session, model,
usage and success are not in such files. Nothing is skipped. A file is read one dialogue at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from annotate.traces.base import Call, Likeness, Message, Place, Problem, Role, Side, Trace, gettext_noop
from annotate.traces.chat_messages import Conversation
from annotate.traces.documents import Document
from annotate.traces.identity import FirstPlaces, conversation_id
from annotate.traces.openai_chat import derived_id, given_id
from annotate.traces.pairing import pair
from annotate.traces.tau2_bench import without_stop_tokens
from annotate.traces.values import as_object
from annotate.traces.warned import empty_run, likeness, unknown_record, unpaired

FORMAT = "tau_dialogue"
TITLE = "tau-bench dialogues as text"
MEMBER = "messages_display"
SPEAKER = re.compile(r"^(user|assistant|tool|system): ?", re.MULTILINE)
NO_TEXT = "None"
ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool", "system": "system"}


def sniff(value: Any) -> Likeness:
    """An object whose `messages_display` is a text that begins with a speaker."""
    text = as_object(value).get(MEMBER)
    begins = isinstance(text, str) and SPEAKER.match(text) is not None
    return likeness({MEMBER: isinstance(text, str), "user: | assistant:": begins})


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    with closing(FirstPlaces()) as places:
        for document in documents:
            if isinstance(document, Problem):
                yield document
            elif not isinstance(as_object(document.value).get(MEMBER), str):
                yield unknown_record(document.place, gettext_noop("An object with a text messages_display."))
            else:
                yield from read_dialogue(document.value, document.place, places)


def read_dialogue(value: Mapping[str, Any], place: Place, places: FirstPlaces) -> Iterator[Trace | Problem]:
    rest = {key: member for key, member in value.items() if key != MEMBER}
    found = Conversation(place)
    spoken = [without_stop_tokens(message, found) for message in said_in(value[MEMBER])]
    messages = pair(with_calls(spoken))
    yield from unpaired(messages, place, [f"/{MEMBER}"] * len(messages))
    if not messages:
        yield empty_run(place, f"/{MEMBER}")
    yield Trace(
        source_id=given_id(rest) or derived_id(conversation_id(messages), place, places),
        format=FORMAT,
        messages=messages,
        metadata={**rest, **({"messages": found.extras} if found.extras else {})},
        place=place,
    )


def said_in(text: str) -> list[Message]:
    """The messages of a printed dialogue. The line end before the next speaker is the printer's."""
    parts = SPEAKER.split(text)
    before, names, texts = parts[0], parts[1::2], parts[2::2]
    spoken = [Message(0, "other", before)] if before.strip() else []
    for number, (name, said) in enumerate(zip(names, texts, strict=True)):
        shown = said.removesuffix("\n") if number < len(names) - 1 else said
        side: Side = "user" if name == "user" else "agent"
        spoken.append(Message(len(spoken), ROLES[name], shown, side=side))
    return spoken


def with_calls(spoken: Sequence[Message]) -> list[Message]:
    """A call for each result that follows; of a message without a text one at least."""
    called = []
    for place, message in enumerate(spoken):
        if message.role == "assistant":
            n_results = n_following(spoken, place + 1)
            is_bare = message.text.strip() == NO_TEXT
            calls = (Call(id="", name="", arguments=""),) * max(n_results, int(is_bare))
            message = replace(message, text="" if is_bare else message.text, calls=calls)
        called.append(message)
    return called


def n_following(spoken: Sequence[Message], start: int) -> int:
    """How many results stand there in a row."""
    end = start
    while end < len(spoken) and spoken[end].role == "tool":
        end += 1
    return end - start
