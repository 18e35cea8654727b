"""Texts to be labelled, one a record or row of a table: {text, prompt?, id?, language?, area?, cluster?, ...}.

The text is the first column there is of TEXTS, whatever case its name is in. The requester's message is made of all
columns of PROMPTS that are there and not blank, in the order of that list, with an empty line between them: an
instruction and its input are one message. A record becomes a message of the requester and one of the agent, with a
`system` message before them where it has such a column. Where nothing was asked a dash stands for the message, since a
reply answers something, and a warning counts it.
Records of other logs may have a text as well; so a record is recognised only when it is flat (texts, numbers, yes, no,
nothing; objects and lists under METADATA) and has none of the columns ELSEWHERE that such logs have, and when its text
is called `text` or something was asked.
`id`, else a digest of the texts, names the trace; `cluster` and `area` are taken as they are, `language` where it says
English or Chinese. All other columns are private metadata under their own names: model, scores, labels. There are no
calls, sessions or files in this form, and nothing is skipped. Files are read one record at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any

from annotate.traces.base import Likeness, Message, Place, Problem, Trace, gettext_noop
from annotate.traces.documents import Document
from annotate.traces.identity import FirstPlaces, conversation_id
from annotate.traces.openai_chat import derived_id, given_id
from annotate.traces.values import as_id
from annotate.traces.warned import likeness, unknown_record

FORMAT = "plain_items"
TITLE = "Plain texts"
TEXTS = ("text", "reply", "response", "output", "completion", "answer")
PROMPTS = ("instruction", "prompt", "question", "query", "input", "context")
METADATA = ("metadata", "meta")
ELSEWHERE = frozenset(
    {
        *("type", "role", "from", "sender", "author", "event", "message", "messages", "content", "messages_display"),
        *("timestamp", "ts", "session_id", "sessionid", "uuid", "conversation_id", "trace_id", "span_id", "parent_id"),
    }
)
NO_PROMPT = "\u2014"


def sniff(value: Any) -> Likeness:
    """A flat object with a text, and something asked where the text is not called so."""
    if not isinstance(value, dict) or not value:
        return Likeness(missing=("text",))
    columns = by_name(value)
    name = text_column(columns)
    if not name:
        return Likeness(missing=("text",))
    flat = all(key in METADATA or not isinstance(one, dict | list) or not one for key, one in columns.items())
    marks = {
        "text": isinstance(columns[name], str),
        "prompt": name == "text" or any(isinstance(columns.get(one), str) for one in PROMPTS),
        "columns without lists and objects": flat,
        "columns of a text and not of a log": not columns.keys() & ELSEWHERE,
    }
    return likeness(marks)


def by_name(value: Mapping[str, Any]) -> dict[str, Any]:
    """The columns by their small names, of two with the same the first."""
    columns: dict[str, Any] = {}
    for name, member in value.items():
        columns.setdefault(name.strip().lower(), member)
    return columns


def text_column(columns: Mapping[str, Any]) -> str:
    return next((name for name in TEXTS if name in columns), "")


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    with closing(FirstPlaces()) as places:
        for document in documents:
            if isinstance(document, Problem):
                yield document
            elif not isinstance(document.value, dict) or not text_column(by_name(document.value)):
                yield unknown_record(document.place, gettext_noop("An object or a row with a text."))
            else:
                yield from read_item(document.value, document.place, places)


def read_item(value: Mapping[str, Any], place: Place, places: FirstPlaces) -> Iterator[Trace | Problem]:
    columns = by_name(value)
    name = text_column(columns)
    asked = [one for one in PROMPTS if as_id(columns.get(one)).strip()]
    if not asked:
        yield no_prompt(place)
    prompt = "\n\n".join(as_id(columns[one]) for one in asked) or NO_PROMPT
    system = as_id(columns.get("system"))
    spoken = [Message(0, "system", system)] if system.strip() else []
    spoken.append(Message(len(spoken), "user", prompt, side="user"))
    spoken.append(Message(len(spoken), "assistant", as_id(columns[name])))
    language = language_of(columns)
    taken = {name, *asked, "id", "area", "cluster"}
    taken |= {one for one, is_said in (("system", system.strip()), ("language", language)) if is_said}
    yield Trace(
        source_id=given_id(columns) or derived_id(conversation_id(spoken), place, places),
        format=FORMAT,
        messages=tuple(spoken),
        language=language,
        area=as_id(columns.get("area")),
        cluster=as_id(columns.get("cluster")),
        metadata={key: one for key, one in value.items() if not is_taken(key, one, value, taken)},
        place=place,
    )


def is_taken(key: str, member: Any, value: Mapping[str, Any], taken: set[str]) -> bool:
    """Whether a member stands in the trace already; one of a second spelling does not."""
    name = key.strip().lower()
    return name in taken and by_name(value)[name] is member


def language_of(columns: Mapping[str, Any]) -> str:
    """`en`, `EN`, `en-GB`, `zh_CN`: what comes before the country."""
    said = as_id(columns.get("language")).strip().lower().replace("_", "-").split("-")[0]
    return said if said in ("en", "zh") else ""


def no_prompt(place: Place) -> Problem:
    return place.problem(
        "no_prompt",
        expected=gettext_noop("Beside the text what was asked, in one of the columns %(names)s."),
        remedy=gettext_noop("A dash stands for it. Add a column where the labels depend on what was asked."),
        warning=True,
        names=", ".join(PROMPTS),
    )
