"""What each line of a Claude Code session is: something said, called or answered, a notice, or bookkeeping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotate.traces.base import Place, Problem, gettext_noop
from annotate.traces.claude_code_agent import (
    FACTS,
    NO_MESSAGE_EXTRAS,
    add_assistant,
    add_result,
    extras_of,
    lane_of,
)
from annotate.traces.claude_code_session import Entry, Session
from annotate.traces.claude_code_texts import (
    CLEARED,
    CONTINUED,
    block_text,
    blocks_of,
    is_by_program,
    is_result,
    pieces,
    typed_command,
    without_data,
)
from annotate.traces.identity import digest
from annotate.traces.values import as_id, as_json, as_object
from annotate.traces.warned import non_text_content, passed_over, unknown_record, unknown_role

TALKING = ("user", "assistant")
BOOKKEEPING = frozenset({"progress", "queue-operation", "result", "started", "stream_event", "summary", "system"})
BOOKKEEPING |= {"agent-color", "agent-name", "agent-setting", "ai-title", "custom-title", "last-prompt", "task-summary"}
BOOKKEEPING |= {"attribution-snapshot", "content-replacement", "file-history-delta", "file-history-snapshot"}
BOOKKEEPING |= {"frame-link", "mode", "permission-mode", "pr-link", "relocated", "speculation-accept", "tag"}
BOOKKEEPING |= {"worktree-state"}
COUNTS_ONLY = NO_MESSAGE_EXTRAS | {"stop_reason", "stop_sequence"}
"""A message of nothing but these has no words: logs of usage have only such."""


def add_line(session: Session, line: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    """A line that says something: of a person, the agent, a tool, or of the program to the agent."""
    uuid = as_id(line.get("uuid"))
    if uuid:
        key = uuid, digest([line.get(name) for name in ("type", "message", "attachment")])
        if key in session.seen:
            yield passed_over(place, "repeated_record", "/uuid", "a line that stood in the session before")
            return
        session.seen.add(key)
    for name in FACTS:
        if line.get(name) not in (None, ""):
            session.facts.setdefault(name, line[name])
    if line.get("type") == "attachment":
        yield from add_attachment(session, line, place)
        return
    message = line.get("message")
    if isinstance(message, dict) and "content" not in message and message.keys() <= COUNTS_ONLY:
        yield unknown_record(place, gettext_noop("A message with its content; this line has none, only what it cost."))
    elif not isinstance(message, dict) or "content" not in message or line.get("type") not in TALKING:
        yield from add_unknown(session, line, place)
    elif line["type"] == "assistant":
        yield from add_assistant(session, line, message, place)
    else:
        yield from add_user(session, line, message["content"], place, "/message/content")


def add_unknown(session: Session, line: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    kind = as_id(line.get("type"))
    if kind in TALKING:
        yield non_text_content(place, "/message")
    else:
        yield unknown_role(place, "/type", (*TALKING, "system"), line.get("type"))
    text = as_json(without_data(line.get("message")))
    session.add(Entry("other", place, "/message", lane_of(line), [text], name=kind, extras=extras_of(line)))


def add_attachment(session: Session, line: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    """What the program puts before the agent; but a prompt that waited while the agent worked is the person's."""
    attachment = as_object(line.get("attachment"))
    kind = as_id(attachment.get("type"))
    is_prompt = kind == "queued_command" and attachment.get("commandMode", "prompt") == "prompt"
    if is_prompt and "prompt" in attachment and not is_by_program(line, attachment):
        yield from add_user(session, line, attachment["prompt"], place, "/attachment/prompt")
        return
    text = as_json(without_data(line.get("attachment")))
    name = f"attachment {kind}".strip()
    session.add(Entry("other", place, "/attachment", lane_of(line), [text], name=name, extras=extras_of(line)))


def add_user(session: Session, line: Mapping[str, Any], content: Any, place: Place, pointer: str) -> Iterator[Problem]:
    """Results of tools, a compaction summary, what the program put in, and what a person typed, told apart part by
    part."""
    lane, extras = lane_of(line), extras_of(line)
    session.is_human_beside |= lane != "" and as_object(line.get("origin")).get("kind") == "human"
    blocks = blocks_of(content)
    texts = [block_text(block) for block in blocks]
    unknown = [block for block, text in zip(blocks, texts, strict=True) if text is None and not is_result(block)]
    said = "\n".join(text for text in texts if text is not None)
    if unknown:
        yield non_text_content(place, pointer)
        extras["content"] = without_data(unknown)
    n_before = len(session.entries)
    for number, block in enumerate(blocks):
        if is_result(block):
            at = pointer if block is content else f"{pointer}/{number}"
            yield from add_result(session, block, Entry("tool", place, at, lane))
    has_results = len(session.entries) > n_before
    if line.get("isCompactSummary") is True or said.startswith(CONTINUED):
        session.add(Entry("summary", place, pointer, lane, [said]))
    elif has_results or is_by_program(line):
        for text in texts:
            if text is not None:
                add_put_in(session, text, Entry("other", place, pointer, lane))
    else:
        add_typed(session, [text for text in texts if text is not None], Entry("user", place, pointer, lane), unknown)
    if extras and len(session.entries) > n_before:
        session.entries[n_before].extras = {**extras, **session.entries[n_before].extras}


def add_put_in(session: Session, text: str, entry: Entry) -> None:
    """A text of the program. The output of a command that it carried out by itself makes that command none of the
    person's words to the agent."""
    entry.texts, entry.name = [text], "program"
    if CLEARED.search(text):
        session.add(entry)
        session.empty_context()
        return
    if session.command is not None and text.lstrip().startswith("<local-command-std"):
        demote(session.command)
        session.command = None
    session.add(entry)


def demote(command: Entry) -> None:
    command.role, command.name = "other", "program"
    command.texts = [command.extras.pop("command")]


def add_typed(session: Session, texts: list[str], entry: Entry, unknown: list[Any]) -> None:
    """The person's words as one message where the first of them stand; what was put in between, by itself."""
    is_added = False
    command = ""
    for text in texts:
        for is_typed, piece in pieces(text):
            typed = "" if is_typed else typed_command(piece)
            if not is_typed and not typed:
                add_put_in(session, piece, Entry("other", entry.place, entry.pointer, entry.lane))
                continue
            command = piece if typed else command
            entry.texts.append(typed or piece)
            if not is_added:
                session.add(entry)
                is_added = True
    if not is_added and not texts:
        if unknown:
            entry.role, entry.name, entry.texts = "other", "user", [as_json(without_data(unknown))]
        session.add(entry)
    if command and len(entry.texts) == 1:
        entry.extras["command"] = command
        session.command = entry


def add_other(session: Session | None, line: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    """Notices of the program and its bookkeeping: counted; what says something of the run is kept with it."""
    kind = as_id(line.get("type"))
    if kind not in BOOKKEEPING:
        yield unknown_record(place, gettext_noop("A line of a Claude Code session: an object with a known type."))
        return
    yield passed_over(place, "bookkeeping", "/type", kind)
    if session is None:
        return
    if kind == "system":
        kept = {name: value for name, value in extras_of(line).items() if name != "uuid"}
        session.others["notices"].append(kept)
        if CLEARED.search(as_id(line.get("content"))):
            session.empty_context()
    elif kind == "result":
        session.others["results"].append(extras_of(line))
        if isinstance(line.get("is_error"), bool):
            session.facts["success"] = not line["is_error"]
