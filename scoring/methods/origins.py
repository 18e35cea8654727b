"""Where a coined label came up first in what the agent had before it when it wrote a reply (docs/gaps.md).

The agent's context is gone through in order; the first message with a term of the label is its origin. Nothing before
the reply: the reply itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotate.rules.identifiers import candidates, names_in, readings
from annotate.rules.quotes import canonical
from annotate.rules.requester_view import context
from annotate.traces.base import Call, Message

HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
WORDS = re.compile("[A-Za-z0-9\u00c0-\u024f]+(?:[-_.][A-Za-z0-9\u00c0-\u024f]+)*|[\u3400-\u9fff\uf900-\ufaff]+")
ENGLISH = (
    "a an and are as at be been but by can did do does for from had has have how i if in into is it its last more most "
    "my new no not of on one only or our out over same so than that the their them then there these they this those to "
    "two under up was we were what when where which while who why will with you your"
)
CHINESE = (
    "的 了 和 与 及 或 在 是 有 为 对 从 到 把 被 将 这 那 其 该 此 我 你 您 我们 你们 他们 它 "
    "一个 这个 那个 这些 那些 以及 因为 所以"
)
STOP = frozenset(f"{ENGLISH} {CHINESE}".split())
"""Words that name nothing, in both languages."""
PATHS = frozenset({"path", "file_path", "filepath", "file", "filename", "file_name", "target_file", "notebook_path"})
TEXTS = frozenset(
    {"content", "contents", "text", "file_text", "new_str", "new_string", "body", "data", "patch", "diff", "markdown"}
)
WRITES = re.compile(
    r"(?i)^(?:write|edit|apply_patch|str_replace\w*|create_file|save\w*|append\w*)$|(?:write|save|append|create|edit|update)_"
    r"?(?:file|note|notes|doc|document|memory)"
)


@dataclass(frozen=True, slots=True)
class Origin:
    """What kind of message a label came up in first (`ORIGINS` of the records), and its index; None where it is the
    reply itself."""

    source: str
    index: int | None


def origin_of(messages: Sequence[Message], reply_index: int, label: str) -> Origin:
    """Parameters
    ----------
    messages : all of the trace, in order, private ones too.
    reply_index : of the reply that the label stands in.
    label : the words of the gap, as the reply has them.

    ValueError where no message has the index of the reply.
    """
    terms = Terms.of(label)
    for message in before(messages, reply_index):
        if (source := source_in(message, terms)) is not None:
            return Origin(source, message.index)
    return Origin("reply_itself", None)


def before(messages: Sequence[Message], reply_index: int) -> list[Message]:
    """The agent's context at a reply: the system messages of the session, then what it still held."""
    session = next((message.session for message in messages if message.index == reply_index), None)
    if session is None:
        raise ValueError(f"There is no message {reply_index}.")
    held = context(messages, reply_index)
    system = [one for one in messages if one.role == "system" and one.session == session and one.index < reply_index]
    return sorted([*system, *held], key=lambda message: message.index)


@dataclass(frozen=True, slots=True)
class Terms:
    """What is looked for: whole tokens of Latin letters and digits, and texts with Han in them; case does not count."""

    tokens: frozenset[str]
    texts: frozenset[str]

    @classmethod
    def of(cls, label: str) -> Terms:
        """The names in a label that look like identifiers, else its words without stop words, else all of it."""
        text = canonical(label)
        found: Iterable[str] = [one.name for one in candidates(text)]
        found = found or [word for word in WORDS.findall(text) if word.lower() not in STOP]
        terms = [" ".join(one.split()).lower() for one in (found or [text]) if one.strip()]
        return cls(
            frozenset(one for one in terms if not HAN.search(one)), frozenset(one for one in terms if HAN.search(one))
        )

    def are_in(self, text: str) -> bool:
        said = [one.lower() for one in readings(canonical(text))]
        return any(term in one for term in self.texts for one in said) or bool(names_in(self.tokens, said))


def source_in(message: Message, terms: Terms) -> str | None:
    """What kind of origin a message is, None where no term stands in it. Its text is looked at before its calls."""
    if message.text and terms.are_in(message.text):
        return source_of(message)
    if message.role == "assistant":
        for call in message.calls:
            if terms.are_in(call.arguments):
                return "agent_file" if writes_a_file(call) else "tool_args"
    return None


def source_of(message: Message) -> str:
    """By whose message it is. What the agent wrote beside a call is an earlier message of its own, like a reply."""
    named = {
        "system": "project_memory",
        "user": "requester",
        "assistant": "earlier_reply",
        "summary": "compaction_summary",
    }
    return named.get(message.role, "tool_output")


def writes_a_file(call: Call) -> bool:
    """By its name, or as it has a place and a text for it."""
    if WRITES.search(call.name):
        return True
    try:
        given = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return False
    names = {name.lower() for name in given} if isinstance(given, dict) else set()
    return bool(names & PATHS) and bool(names & TEXTS)
