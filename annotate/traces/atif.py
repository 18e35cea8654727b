"""Trajectories in the Agent Trajectory Interchange Format (ATIF): objects {schema_version "ATIF-v1.x", session_id,
agent, steps}, as a file, an array or lines.

A trace is a trajectory; one that holds others (`subagent_trajectories`) gives a trace for each, whose requester is the
agent that called. The id is `trajectory_id`, else `session_id` with the number of the continuation, else the name of
the file; the cluster is `session_id`. Requester: steps of the source `user`. Reply: steps of the source `agent`, with
`tool_calls` as calls and each result of the `observation` behind them. An agent step without `tool_calls` that has an
observation is an action written as text: its text is the arguments of a call without a name. Steps copied from an
earlier trajectory (`is_copied_context`) are what agents hand each other and private, but for the first `user` step,
which is the task. Observations of other sources, and steps of unknown ones, are private.

`model` is that of the agent and of the steps, in order; `usage` is `final_metrics` as the file has it; the file says
no success. Reasoning, metrics and everything else of a step is kept with the private data of its message. Counted and
passed over: the same step twice. Streams trajectory by trajectory; the largest one bounds the memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from annotate.traces.base import Call, Likeness, Message, Place, Problem, Role, Side, Trace, gettext_noop
from annotate.traces.chat_messages import image_name, part_text
from annotate.traces.documents import Document
from annotate.traces.identity import conversation_id, digest
from annotate.traces.pairing import pair
from annotate.traces.values import as_id, as_json, as_list, as_object
from annotate.traces.warned import (
    empty_run,
    likeness,
    non_text_content,
    passed_over,
    unknown_record,
    unknown_role,
    unpaired,
)

FORMAT = "atif"
TITLE = "ATIF trajectories"
ROLES: Mapping[str, Role] = {"system": "system", "user": "user", "agent": "assistant"}
USED = frozenset({"source", "message", "tool_calls", "observation", "reasoning_content"})
NO_METADATA = frozenset({"steps", "subagent_trajectories", "session_id", "final_metrics"})
FINISH = re.compile(r"\s*<function=finish>\s*<parameter=message>(.*)</parameter>\s*(?:</function>)?\s*", re.DOTALL)
"""How OpenHands writes its answer where the model calls no functions."""
LONGEST_NAME = 255


def sniff(value: Any) -> Likeness:
    there = as_object(value)
    return likeness(
        {
            "schema_version": as_id(there.get("schema_version")).startswith("ATIF-"),
            "steps": isinstance(there.get("steps"), list),
        }
    )


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    for document in documents:
        if isinstance(document, Problem):
            yield document
        elif not isinstance(as_object(document.value).get("steps"), list):
            yield unknown_record(document.place, gettext_noop("A trajectory: an object with schema_version and steps."))
        else:
            yield from read_all(document.value, document.place)


def read_all(value: Mapping[str, Any], place: Place) -> Iterator[Trace | Problem]:
    """A trajectory, and those of the agents it called, however deep."""
    waiting = [(value, place, "", as_id(value.get("session_id")))]
    while waiting:
        one, at, caller, cluster = waiting.pop(0)
        name = source_id(one, at, caller)
        yield from read_trajectory(one, at, name, caller, cluster)
        for number, inner in enumerate(as_list(one.get("subagent_trajectories"))):
            inside = replace(at, prefix=f"{at.prefix}/subagent_trajectories/{number}")
            if isinstance(as_object(inner).get("steps"), list):
                waiting.append((inner, inside, f"{name} subagent {number + 1}", cluster))
            else:
                yield unknown_record(inside, gettext_noop("A trajectory: an object with schema_version and steps."))


def source_id(value: Mapping[str, Any], place: Place, caller: str) -> str:
    """Its own id; a session goes on in other files under the same one."""
    given = as_id(value.get("trajectory_id")) or as_id(value.get("session_id"))
    number = as_object(as_object(value.get("agent")).get("extra")).get("continuation_index")
    if caller:
        return as_id(value.get("trajectory_id"))[:LONGEST_NAME] or caller[-LONGEST_NAME:]
    if not value.get("trajectory_id") and isinstance(number, int) and given:
        return f"{given} continuation {number}"[:LONGEST_NAME]
    return (given or PurePath(place.file).stem)[:LONGEST_NAME]


@dataclass
class Steps:
    """The messages of a trajectory as they come out."""

    place: Place
    agent: str
    messages: list[Message] = field(default_factory=list)
    pointers: list[str] = field(default_factory=list)
    extras: dict[str, dict[str, Any]] = field(default_factory=dict)
    models: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    has_task: bool = False

    def add(self, role: Role, text: str, pointer: str, extras: Mapping[str, Any], **more: Any) -> None:
        index = len(self.messages)
        side: Side = "user" if role == "user" else "agent"
        self.messages.append(Message(index=index, role=role, text=text, side=side, **more))
        self.pointers.append(pointer)
        if extras:
            self.extras[str(index)] = dict(extras)


def read_trajectory(
    value: Mapping[str, Any], place: Place, name: str, caller: str, cluster: str
) -> Iterator[Trace | Problem]:
    agent = as_object(value.get("agent"))
    found = Steps(place, as_id(agent.get("name")), models=[as_id(agent.get("model_name"))])
    for number, step in enumerate(value["steps"]):
        yield from add_step(found, step, f"/steps/{number}")
    messages = pair(found.messages)
    yield from unpaired(messages, place, found.pointers)
    if not messages:
        yield empty_run(place, "/steps")
    models = [model for model in dict.fromkeys(found.models) if model]
    metadata = {
        **{key: member for key, member in value.items() if key not in NO_METADATA},
        "session_id": value.get("session_id"),
        "model": models[0] if len(models) == 1 else models,
        "usage": value.get("final_metrics"),
        "requester": "agent" if caller else "",
        "messages": found.extras,
    }
    yield Trace(
        source_id=name or conversation_id(messages),
        format=FORMAT,
        messages=tuple(with_names(messages)),
        cluster=cluster[:LONGEST_NAME],
        metadata={key: part for key, part in metadata.items() if part not in (None, "", [], {})},
        place=place,
    )


def with_names(messages: Sequence[Message]) -> Iterator[Message]:
    for message in messages:
        answers = message.answers
        if answers is None:
            yield message
        else:
            yield replace(message, name=messages[answers.index].calls[answers.call].name[:LONGEST_NAME])


def add_step(found: Steps, step: Any, pointer: str) -> Iterator[Problem]:
    mark = digest(step) if isinstance(step, dict) and "step_id" in step else ""
    if mark and mark in found.seen:
        yield passed_over(found.place, "repeated_record", pointer, "a step that stood before")
        return
    found.seen.add(mark)
    source = as_id(as_object(step).get("source"))
    role = ROLES.get(source)
    if role is None:
        is_object = isinstance(step, dict)
        at = f"{pointer}/source" if is_object else pointer
        yield unknown_role(found.place, at, ROLES, step.get("source") if is_object else step)
        found.add("other", as_json(step), pointer, {}, name=source[:LONGEST_NAME])
        return
    found.models.append(as_id(step.get("model_name")))
    text, is_understood = text_of(step.get("message"))
    if not is_understood:
        yield non_text_content(found.place, f"{pointer}/message")
    extras = extras_of(step, is_understood)
    if role == "assistant":
        yield from add_agent_step(found, step, text, pointer, extras)
        return
    is_task = role == "user" and not found.has_task
    found.has_task |= role == "user"
    is_private = step.get("is_copied_context") is True and not is_task and role != "system"
    name = f"copied {source}" if is_private else ""
    found.add("other" if is_private else role, text, pointer, extras, name=name)
    yield from add_results(found, step, pointer, "other")


def add_agent_step(
    found: Steps, step: Mapping[str, Any], text: str, pointer: str, extras: dict[str, Any]
) -> Iterator[Problem]:
    calls = tuple(read_call(call) for call in as_list(step.get("tool_calls")))
    is_private = step.get("is_copied_context") is True
    has_observation = bool(as_list(as_object(step.get("observation")).get("results")))
    finished = FINISH.fullmatch(text)
    if not calls and has_observation:
        calls, text = (Call(id="", name="", arguments=text),), ""
    elif not calls and finished:
        extras["message"] = text
        text = finished[1]
    role: Role = "other" if is_private else "assistant"
    found.add(role, text, pointer, extras, calls=calls, name=found.agent[:LONGEST_NAME] if is_private else "")
    yield from add_results(found, step, pointer, "tool")


def add_results(found: Steps, step: Mapping[str, Any], pointer: str, role: Role) -> Iterator[Problem]:
    """Each result of a step's observation; of a step that is not the agent's they answer no call."""
    observation = step.get("observation")
    results = as_object(observation).get("results")
    if observation is not None and not isinstance(results, list):
        yield non_text_content(found.place, f"{pointer}/observation")
        found.add("other", as_json(observation), f"{pointer}/observation", {}, name="observation")
    for number, result in enumerate(as_list(results)):
        at = f"{pointer}/observation/results/{number}"
        there = as_object(result)
        text, is_understood = text_of(there.get("content") if isinstance(result, dict) else result)
        if not is_understood:
            yield non_text_content(found.place, at)
        used = ("content", "source_call_id") if is_understood else ("source_call_id",)
        extras = {key: member for key, member in there.items() if key not in used and member is not None}
        answers_id = as_id(there.get("source_call_id")) if role == "tool" else ""
        found.add(role, text, at, extras, answers_id=answers_id, name="" if role == "tool" else "observation")


def read_call(call: Any) -> Call:
    """Also a call that looks different stays a call, whole, so that places of calls do not move."""
    if not isinstance(call, dict) or "function_name" not in call:
        return Call(id=as_id(as_object(call).get("tool_call_id")), name="", arguments=as_json(call))
    given = call.get("arguments")
    arguments = given if isinstance(given, str) else "" if given is None else as_json(given)
    return Call(id=as_id(call.get("tool_call_id")), name=as_id(call["function_name"]), arguments=arguments)


def text_of(content: Any) -> tuple[str, bool]:
    """The text of a message or result, and whether all of it was understood; its JSON where none of it was."""
    if content is None or isinstance(content, str):
        return content or "", True
    parts = [block_text(part) for part in content] if isinstance(content, list) else [None]
    known = [part for part in parts if part is not None]
    return "\n".join(known) if known or not parts else as_json(content), len(known) == len(parts)


def block_text(part: Any) -> str | None:
    source = as_object(as_object(part).get("source"))
    if as_object(part).get("type") == "image":
        path = source.get("path")
        return f"[image: {image_name(path) if isinstance(path, str) else as_id(source.get('media_type')) or '?'}]"
    return part_text(part)


def extras_of(step: Mapping[str, Any], is_understood: bool) -> dict[str, Any]:
    extras = {key: member for key, member in step.items() if key not in USED and member is not None}
    if not is_understood:
        extras["message"] = step.get("message")
    if step.get("reasoning_content") not in (None, ""):
        extras["reasoning"] = step["reasoning_content"]
    return extras
