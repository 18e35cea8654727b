"""One record of the Responses API as a trace: where its items stand, what else it says, how it is named."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from annotate.traces.base import Call, Place, Problem, Trace
from annotate.traces.documents import Document
from annotate.traces.identity import FirstPlaces, conversation_id, digest
from annotate.traces.openai_responses_items import Piece, pieces_of
from annotate.traces.openai_responses_parts import without_data
from annotate.traces.openai_responses_turns import turns_of
from annotate.traces.values import as_id, as_json, as_list, as_object
from annotate.traces.warned import empty_run

FORMAT_NAME = "openai_responses"
WRITTEN = re.compile(r"\s*<tool_call>(.*?)</tool_call>", re.DOTALL)
FUNCTION = re.compile(r"\A\s*<function=([^<>\n]+)>\n?(.*?)(?:</function>)?\s*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Run:
    """A trace before it is told apart from others of the file; `names` are what it may be called, best first."""

    trace: Trace
    names: tuple[str, ...] = ()
    is_rollout: bool = False


def is_rollout(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("responses_create_params"), dict) and isinstance(value.get("response"), dict)


def read_run(document: Document) -> Iterator[Run | Problem]:
    value, place = document.value, document.place
    if isinstance(value, list):
        yield from built({}, [("", value)], place)
    elif not is_rollout(value):
        output = value.get("output")
        response = output if isinstance(output, dict) and "output" in output else value
        at = "/output/output" if response is output else "/output"
        yield from built(value, [("/input", value.get("input")), (at, response.get("output"))], place, response)
    else:
        parameters, response = value["responses_create_params"], value["response"]
        asked = ("/responses_create_params/input", parameters.get("input"))
        given = ("/response/output", response.get("output"))
        yield from built(value, [asked, given], place, response, parameters)


def built(
    record: Mapping[str, Any],
    lists: Sequence[tuple[str, Any]],
    place: Place,
    response: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Iterator[Run | Problem]:
    response = response or {}
    warnings: list[Problem] = []
    pieces = list(instructions_of(parameters or {}, response, place, warnings))
    for pointer, items in lists:
        role = "assistant" if pointer.endswith("output") else "user"
        for at, item in entries(items, pointer, role):
            pieces += pieces_of(item, place, at, warnings)
    if parameters is not None:
        pieces = [part for piece in pieces for part in written_calls(piece)]
    found = turns_of(pieces)
    yield from [*warnings, *found.warnings]
    if not found.messages:
        yield empty_run(place, lists[-1][0])
    metadata = {
        **said_once(record, response, parameters),
        **({"reasoning": found.reasoning} if found.reasoning else {}),
        **({"messages": found.extras} if found.extras else {}),
    }
    trace = Trace("", FORMAT_NAME, tuple(found.messages), metadata=metadata, place=place)
    rollout = parameters is not None
    yield Run(
        replace(trace, cluster=cluster_of(record, pieces)) if rollout else trace, names_of(record, response), rollout
    )


def entries(items: Any, pointer: str, role: str) -> Iterator[tuple[str, Any]]:
    """The items of a list; a text by itself is a message of one side."""
    if isinstance(items, str):
        yield pointer, {"type": "message", "role": role, "content": items}
    elif isinstance(items, dict):
        yield pointer, items
    for number, item in enumerate(as_list(items)):
        yield f"{pointer}/{number}", item


def instructions_of(
    parameters: Mapping[str, Any], response: Mapping[str, Any], place: Place, warnings: list[Problem]
) -> Iterator[Piece]:
    """The system prompt that stands beside the items: of the request, else as the response repeats it."""
    said = parameters.get("instructions") or response.get("instructions")
    pointer = "/instructions"
    if isinstance(said, str) and said:
        yield Piece("message", place, pointer, role="system", text=said)
    for number, item in enumerate(as_list(said)):
        yield from pieces_of(item, place, f"{pointer}/{number}", warnings)


def written_calls(piece: Piece) -> Iterator[Piece]:
    """A text of the agent that ends in calls in the tags of its chat template: the calls, and the text before them."""
    begins = piece.text.find("<tool_call>") if piece.role == "assistant" else -1
    calls = calls_written(piece.text, begins) if begins >= 0 else []
    if not calls:
        yield piece
        return
    if piece.text[:begins].strip():
        yield replace(piece, text=piece.text[:begins], extras={})
    extras = {**piece.extras, "written": piece.text}
    for call in calls:
        yield replace(piece, kind="call", text="", call=call, extras=extras)
        extras = {}


def calls_written(text: str, at: int) -> list[Call]:
    """The calls from there to the end; none where anything else stands between or after them."""
    calls: list[Call] = []
    end = len(text.rstrip())
    while at < end:
        element = WRITTEN.match(text, at)
        call = written_call(element[1]) if element else None
        if element is None or call is None:
            return []
        calls.append(call)
        at = element.end()
    return calls


def written_call(inside: str) -> Call | None:
    """Name and arguments between the tags: one element a parameter, or one JSON object."""
    function = FUNCTION.match(inside)
    if function:
        return Call(id="", name=function[1].strip(), arguments=function[2])
    try:
        call = as_object(json.loads(inside))
    except (ValueError, RecursionError):
        return None
    return Call(id="", name=call["name"], arguments=as_json(call.get("arguments"))) if is_name(call) else None


def is_name(call: Mapping[str, Any]) -> bool:
    return isinstance(call.get("name"), str)


def said_once(
    record: Mapping[str, Any], response: Mapping[str, Any], parameters: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Everything of the record but its items: model, usage and reward under the names that all formats share."""
    read = ("input", "output", "response", "responses_create_params")
    rest = {key: member for key, member in record.items() if key not in read}
    asked = {key: member for key, member in (parameters or {}).items() if key != "input" and member is not None}
    given = {key: member for key, member in response.items() if key not in ("input", "output") and member is not None}
    if given.get("tools") == asked.get("tools"):
        given.pop("tools", None)
    parts = {
        "model": as_id(response.get("model") or record.get("model") or asked.get("model")),
        "usage": as_object(response.get("usage") or record.get("usage")),
        "session_id": as_id(as_object(response.get("conversation")).get("id")),
        "request": asked,
        "response": given,
        "record": rest if response is not record else {},
    }
    success = record.get("reward")
    found = {name: without_data(part) for name, part in parts.items() if part}
    return {**found, **({"success": success} if success is not None else {})}


def names_of(record: Mapping[str, Any], response: Mapping[str, Any]) -> tuple[str, ...]:
    """A rollout is the task and the number of the try where it says both; else the id of the response."""
    task, attempt = as_id(record.get("uuid")), record.get("_ng_rollout_index")
    rollout = f"{task} rollout {as_id(attempt)}" if task and attempt is not None else task
    names = (rollout, as_id(response.get("id")), as_id(record.get("id")))
    return tuple(name for name in names if name.strip() and len(name) <= 200)


def cluster_of(record: Mapping[str, Any], pieces: Sequence[Piece]) -> str:
    """Rollouts of one task: by its id, or by what was asked."""
    task = as_id(record.get("uuid"))
    if task and len(task) <= 200:
        return task
    before = [[piece.role, piece.text] for piece in pieces if "/input" in piece.pointer or "/instr" in piece.pointer]
    return f"task {digest(before)[:12]}" if before else ""


def named(run: Run, places: FirstPlaces) -> Trace:
    """The first name that no trace of the file has yet; else one made of what was said, and of its place."""
    trace = run.trace
    digest_ = conversation_id(trace.messages)
    stem = PurePath(trace.place.file).stem if trace.place.line is None and not trace.place.prefix else ""
    first = next(iter(run.names), "") or stem or digest_
    names = [*run.names, first, f"{first} {digest_}", f"{first} {digest_} {trace.place}"]
    name = next((one for one in names if places.earlier(one, trace.place) is None), names[-1])
    return replace(trace, source_id=name)
