"""Sessions of Codex CLI (rollout files): lines {timestamp, type, payload}, or the older lines without a wrapper.

Decided. Session: from one `session_meta` to the next; heads of sessions whose history a fork copied belong to the
fork. Requester: user messages but for what Codex puts into that role (environment, rules of AGENTS.md, skills, notices,
the editor's context), which is private under its name; a command the requester ran in the window is a call of their own
side. Reply: text of the assistant; what stands before or between the calls of its turn is beside them. Calls and
results: the items of the Responses API, by `call_id`. Summary: `compacted`; the session goes on. System: the base
instructions and developer messages. Sub-agent sessions have no requester: all they say is private. Model: that of the
turns; usage: the last total of `token_count`. Success: the file says none.
Events repeat items: counted as `repeated_record`, and read where no item says the same. Turn contexts and world states
(`meta_record`), counts of tokens, starts and ends of turns (`bookkeeping`) are counted. Reasoning is kept by message;
what is encrypted is only said to be there. A list of bare items of the API is read as an old session.
Memory holds one session, since an item may stand after its event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any

from annotate.traces.base import Likeness, Problem, Trace, gettext_noop
from annotate.traces.codex_session import META, Session
from annotate.traces.documents import Document
from annotate.traces.identity import FirstPlaces
from annotate.traces.openai_responses_items import CALLS, COMPACTION, RESULTS, type_of
from annotate.traces.values import as_id, as_list, as_object
from annotate.traces.warned import likeness, passed_over, unknown_record

FORMAT = "codex"
TITLE = "Codex CLI sessions"
WRAPPED = frozenset({"session_meta", "response_item", "event_msg", "compacted", *META})
HEAD = frozenset({"id", "timestamp", "instructions", "git", "cwd", "originator", "cli_version"})
EARLY = frozenset({"timestamp", "role", "content", "model", "id"})
"""Members of a line of the first versions, which wrote messages with nothing around them."""


def sniff(value: Any) -> Likeness:
    """A wrapped line, the head of an old session, its state, or an item of the API by itself."""
    there = as_object(value)
    if "payload" in there:
        return likeness({"type": as_id(there.get("type")) in WRAPPED, "payload": isinstance(there["payload"], dict)})
    return likeness({"payload": is_head(there) or is_state(there) or is_bare_item(there)})


def is_head(value: Mapping[str, Any]) -> bool:
    named = isinstance(value.get("id"), str) and isinstance(value.get("timestamp"), str)
    return named and ("instructions" in value or "git" in value) and value.keys() <= HEAD


def is_state(value: Mapping[str, Any]) -> bool:
    return value.get("record_type") == "state"


def is_bare_item(value: Mapping[str, Any]) -> bool:
    kind = type_of(value)
    if kind == "message":
        parts = as_list(value.get("content"))
        is_typed = any(as_id(as_object(part).get("type")) in ("input_text", "output_text") for part in parts)
        return ("type" in value and is_typed) or is_early(value)
    if kind in ("tool_call", "tool_result"):
        return isinstance(value.get("timestamp"), str) and ("function" in value or "result" in value)
    if kind == "reasoning":
        return isinstance(value.get("summary"), list) and "status" not in value
    if kind in COMPACTION:
        return "encrypted_content" in value
    return (kind in CALLS or kind in RESULTS) and ("call_id" in value or "action" in value)


def is_early(value: Mapping[str, Any]) -> bool:
    is_timed = isinstance(value.get("timestamp"), str) and value.get("role") in ("user", "assistant", "system")
    return is_timed and isinstance(value.get("content"), str) and value.keys() <= EARLY


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    with closing(FirstPlaces()) as places:
        session: Session | None = None
        for document in documents:
            if isinstance(document, Problem):
                yield document
                continue
            value, place = as_object(document.value), document.place
            head, written_at = head_of(value), as_id(value.get("timestamp"))
            if head is not None and session is not None and not session.takes(head, written_at):
                yield from session.traces(places)
                session = None
            session = session or Session(place)
            if head is not None:
                session.begin(head, place)
            elif not take(session, document):
                yield unknown_record(place, gettext_noop("A line of a Codex session: a type with its payload."))
        if session is not None and (session.parts or session.meta is not None):
            yield from session.traces(places)


def head_of(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if value.get("type") == "session_meta" and isinstance(value.get("payload"), dict):
        return as_object(value["payload"])
    return value if is_head(value) else None


def take(session: Session, document: Document) -> bool:
    """Puts a line that is no head where it belongs; False for what is no line of a session at all."""
    value, place = as_object(document.value), document.place
    kind = as_id(value.get("type"))
    if is_state(value):
        session.warnings.append(passed_over(place, "bookkeeping", "", "state"))
    elif "payload" in value:
        session.add(kind, value["payload"], place, "/payload")
    elif type_of(value):
        session.add_model(value.get("model"))
        item = {name: member for name, member in value.items() if name not in ("timestamp", "model", "ordinal")}
        session.add("response_item", item, place, "")
    else:
        return False
    return True
