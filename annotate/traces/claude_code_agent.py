"""The agent's side of a Claude Code session: lines of API messages, and results of tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotate.traces.base import Call, Place, Problem
from annotate.traces.claude_code_session import Entry, Session
from annotate.traces.claude_code_texts import block_text, blocks_of, is_call, is_result, text_of, without_data
from annotate.traces.identity import digest
from annotate.traces.values import as_id, as_json, as_object
from annotate.traces.warned import non_text_content, passed_over

FACTS = ("cwd", "version", "gitBranch", "slug", "entrypoint", "userType", "attributionAgent")
NO_EXTRAS = frozenset({*FACTS, "type", "message", "attachment", "parentUuid", "sessionId", "session_id", "isSidechain"})
NO_EXTRAS |= {"agentId", "toolUseResult", "parent_tool_use_id"}
NO_MESSAGE_EXTRAS = frozenset({"role", "content", "id", "type", "model", "usage"})
SYNTHETIC = "<synthetic>"
"""The model named where the program speaks in the agent's place: errors, and answers to interruptions."""


def lane_of(line: Mapping[str, Any]) -> str:
    """Which agent works here beside the conversation; empty for the conversation itself."""
    beside = as_id(line.get("parent_tool_use_id"))
    if line.get("isSidechain") is True or beside:
        return as_id(line.get("agentId")) or beside or "subagent"
    return ""


def extras_of(line: Mapping[str, Any]) -> dict[str, Any]:
    """What a line says beyond its message, without what is absent."""
    return {
        name: without_data(value)
        for name, value in line.items()
        if name not in NO_EXTRAS and value is not None and value is not False and value not in ([], {}, "")
    }


def add_result(session: Session, block: Mapping[str, Any], entry: Entry) -> Iterator[Problem]:
    text, unknown = text_of(block.get("content"))
    entry.texts = [text]
    entry.answers_id = as_id(block.get("tool_use_id"))
    if unknown:
        yield non_text_content(entry.place, f"{entry.pointer}/content")
    used = ("type", "content", "tool_use_id")
    entry.extras = {name: without_data(value) for name, value in block.items() if name not in used}
    if unknown:
        entry.extras["content"] = without_data(unknown)
    session.add(entry)


def add_assistant(
    session: Session, line: Mapping[str, Any], message: Mapping[str, Any], place: Place
) -> Iterator[Problem]:
    """Lines of one API message become one entry; each line has some of its blocks, and the counts so far."""
    entry = entry_for(session, line, message, place)
    earlier = set(entry.blocks)
    unknown = []
    for number, block in enumerate(blocks_of(message["content"])):
        pointer = f"/message/content/{number}"
        mark = digest(block)
        if mark in earlier:
            yield passed_over(place, "repeated_record", pointer, "a part of a message that an earlier line had")
            continue
        entry.blocks.add(mark)
        if is_result(block):
            yield from add_result(session, block, Entry("tool", place, pointer, entry.lane))
        elif not add_block(entry, block):
            unknown.append(without_data(block))
    if unknown:
        yield non_text_content(place, "/message/content")
        entry.extras.setdefault("content", []).extend(unknown)


def entry_for(session: Session, line: Mapping[str, Any], message: Mapping[str, Any], place: Place) -> Entry:
    """The entry of the line's API message, a new one if this is its first line."""
    key = as_id(message.get("id")) or as_id(line.get("requestId"))
    lane = lane_of(line)
    model = as_id(message.get("model"))
    is_error = model == SYNTHETIC or line.get("isApiErrorMessage") is True
    key = f"{key} {SYNTHETIC}" if key and is_error else key
    entry = session.open[lane].get(key) if key else None
    if entry is None:
        entry = Entry("assistant", place, "/message/content", lane)
        if is_error:
            entry.role, entry.name = "other", "program"
        session.add(entry)
        if key:
            session.open[lane][key] = entry
    if model and model != SYNTHETIC and model not in session.models:
        session.models.append(model)
    if message.get("usage") is not None:
        session.usages[f"{id(entry)}"] = message["usage"]
    others = {name: value for name, value in message.items() if name not in NO_MESSAGE_EXTRAS and value is not None}
    stop = {"stop_reason": others["stop_reason"]} if "stop_reason" in others else {}
    entry.extras = {**extras_of(line), **without_data(others), **entry.extras, **stop}
    return entry


def add_block(entry: Entry, block: Any) -> bool:
    """Whether the block was understood."""
    there = as_object(block)
    if is_call(block):
        given = there.get("input")
        arguments = given if isinstance(given, str) else "" if given is None else as_json(given)
        entry.calls.append(Call(as_id(there.get("id")), as_id(there.get("name")), arguments))
        return True
    if there.get("type") in ("thinking", "redacted_thinking"):
        thought = there.get("thinking")
        entry.extras.setdefault("reasoning", []).append(thought if isinstance(thought, str) else "[redacted]")
        return True
    text = block_text(block)
    if text is None:
        return False
    entry.texts.append(text)
    return True
