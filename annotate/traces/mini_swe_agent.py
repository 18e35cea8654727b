"""Runs of mini-swe-agent: an object {trajectory_format: "mini-swe-agent-1…", messages, info}, or the bare list of its
messages, as older versions wrote it (a file is then one run).

Requester: the task in the first user message, cut out where the template in `info` or one of its own tells where it
stands (what the template adds is `other`, private); and what a person typed in between (`interrupt_type` User…, or the
sentences that older versions put around it). A command a person typed is a call on their side. All other messages of
the role user are the environment's: the result of the call before, else `other`. The agent speaks to nobody: its texts
stand beside calls, letter for letter, or are `other` where there is none; the submission is private data.
Call: `tool_calls`, function calls of the Responses API, else the `extra.actions` or the one block of code that is the
command, as a call of `bash`. Id: `instance_id` or the file name, and a digest of the messages; cluster: the task.
Model: `info.config.model.model_name`; usage: `info.model_stats`. It does not say whether a run succeeded.
Passed over and counted: the closing message `exit`, the vendor's copy of an answer (`extra.response`).
One run is held at a time, which is one record, or a file that is a list of messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from annotate.traces.base import Call, Likeness, Message, Place, Problem, Trace, gettext_noop
from annotate.traces.chat_messages import ROLES, read_message
from annotate.traces.documents import Document
from annotate.traces.identity import conversation_id
from annotate.traces.swe_agent_history import SHELL, History, add_task, as_spoken
from annotate.traces.swe_agent_task import task_parts
from annotate.traces.values import as_id, as_json, as_list, as_object
from annotate.traces.warned import empty_run, likeness, passed_over, unknown_record

FORMAT = "mini_swe_agent"
TITLE = "mini-swe-agent trajectories"
LONGEST_TASK = 200
COMMAND = re.compile(r"```(?:mswea_bash_command|bash)\s*\n(.*?)\n```", re.DOTALL)
MARKS = ("```mswea_bash_command", "<returncode>")
"""What only messages of this agent hold."""
PERSON = ("Interrupted by user: ", "Command not executed. The user rejected", "The user added a new task: ")
READ = frozenset({"role", "content", "tool_calls", "tool_call_id", "extra", "type", "output", "call_id", "object"})
TWINS = frozenset({"actions", "response", "raw_output"})


def sniff(value: Any) -> Likeness:
    """The name of the format, or the version of the agent, and messages; or a message only this agent has."""
    there = value if isinstance(value, dict) else {}
    if "messages" not in there:
        first = value[0] if isinstance(value, list) and value else there
        return likeness({"messages": is_message(first), "trajectory_format": is_marked(first)})
    named = as_id(there.get("trajectory_format")).startswith("mini-swe-agent")
    return likeness(
        {
            "messages": isinstance(there["messages"], list),
            "trajectory_format": named or "mini_version" in as_object(there.get("info")),
        }
    )


def belongs(value: Any) -> bool:
    """Only the first message of a bare list has marks; the others are like those of any chat."""
    return is_message(value)


def is_message(value: Any) -> bool:
    return isinstance(value, dict) and "role" in value and "content" in value


def is_marked(value: Any) -> bool:
    content = as_object(value).get("content")
    return isinstance(content, str) and (MARKS[0] in content or content.lstrip().startswith(MARKS[1]))


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    messages: list[Any] = []
    place = Place()
    for document in documents:
        if isinstance(document, Problem):
            yield document
        elif isinstance(as_object(document.value).get("messages"), list):
            yield from read_run(document.value, document.place, "/messages")
        elif isinstance(document.value, list) and any(is_message(one) for one in document.value):
            yield from read_run({"messages": document.value}, document.place, "")
        elif is_message(document.value):
            messages.append(document.value)
            place = Place(document.place.file)
        else:
            yield unknown_record(document.place, gettext_noop("An object with a list of messages."))
    if messages:
        yield from read_run({"messages": messages}, place, "")


def read_run(run: Mapping[str, Any], place: Place, pointer: str) -> Iterator[Trace | Problem]:
    found = History(place)
    for number, value in enumerate(run["messages"]):
        add_message(found, value, f"{pointer}/{number}", run)
    found.finished()
    yield from found.warnings
    if not found.messages:
        yield empty_run(place, pointer)
    task = task_of(run, place)
    info = as_object(run.get("info"))
    parts = {
        "model": as_id(as_object(as_object(info.get("config")).get("model")).get("model_name")),
        "usage": as_object(info.get("model_stats")),
        **{name: member for name, member in run.items() if name != "messages"},
        "exit": found.other_steps,
        "messages": found.extras,
    }
    yield Trace(
        source_id=f"{task} {conversation_id(found.messages)}".strip(),
        format=FORMAT,
        messages=tuple(found.messages),
        cluster=task,
        metadata={name: part for name, part in parts.items() if part not in (None, "", {}, [])},
        place=place,
    )


def task_of(run: Mapping[str, Any], place: Place) -> str:
    file = PurePosixPath(place.file).name
    stem = file.removesuffix(".json").removesuffix(".traj")
    named = as_id(run.get("instance_id")) or as_id(as_object(run.get("info")).get("instance_id"))
    return (named or (stem if stem != file and not place.prefix else ""))[:LONGEST_TASK]


def add_message(found: History, value: Any, pointer: str, run: Mapping[str, Any]) -> None:
    there = as_object(value)
    extra = as_object(there.get("extra"))
    if there.get("role") == "exit":
        found.other_steps = dict(there)
        found.warnings.append(passed_over(found.place, "bookkeeping", pointer, "exit"))
        return
    index = len(found.added)
    message = read_message(as_chat(value), index, found, pointer)
    extras = found.extras.pop(str(index), {})
    extras.update(extras_of(there, extra, message))
    if isinstance(extra.get("response"), dict):
        found.warnings.append(passed_over(found.place, "repeated_record", f"{pointer}/extra/response", "response"))
    add_in_turn(found, message, pointer, extras, extra, run)


def add_in_turn(
    found: History, message: Message, pointer: str, extras: Mapping[str, Any], extra: Mapping[str, Any], run: Any
) -> None:
    """Who speaks follows from what came before: the role user is the person only at first, or when it says so."""
    if message.role == "assistant":
        message = replace(message, calls=message.calls or commands(message, extra))
        found.open_calls = found.last_calls = message.calls
        found.add(as_spoken(message), pointer, extras)
    elif message.role == "tool":
        name = next((call.name for call in found.last_calls if call.id == message.answers_id), message.name)
        found.open_calls = found.open_calls[1:]
        found.add(replace(message, name=name), pointer, extras)
    elif message.role != "user":
        found.add(message, pointer, extras)
    elif not found.has_task:
        found.has_task = True
        add_task(found, message, pointer, extras, task_parts(message.text, (), templates_of(run)))
    elif is_from_person(message, extra):
        message = replace(message, calls=commands(message, extra) if extra.get("actions") else ())
        found.open_calls = found.last_calls = message.calls
        found.add(message, pointer, extras)
    elif found.open_calls and not extra.get("interrupt_type"):
        name, found.open_calls = found.open_calls[0].name, found.open_calls[1:]
        found.add(replace(message, role="tool", side="agent", name=name), pointer, extras)
    else:
        name = as_id(extra.get("interrupt_type"))[:255] or "environment"
        found.add(replace(message, role="other", side="agent", name=name), pointer, extras)


def is_from_person(message: Message, extra: Mapping[str, Any]) -> bool:
    kind = as_id(extra.get("interrupt_type"))
    return kind.startswith("User") or bool(extra.get("actions")) or (not kind and message.text.startswith(PERSON))


def commands(message: Message, extra: Mapping[str, Any]) -> tuple[Call, ...]:
    """The commands as the agent itself read them; older files have them in the text alone, one in a message."""
    actions = as_list(extra.get("actions"))
    if actions:
        return tuple(
            Call(
                id=as_id(as_object(action).get("tool_call_id")),
                name=SHELL,
                arguments=as_id(as_object(action).get("command", action)),
            )
            for action in actions
        )
    found = COMMAND.findall(message.text)
    return (Call(id="", name=SHELL, arguments=found[0]),) if len(found) == 1 else ()


def templates_of(run: Any) -> list[str]:
    config = as_object(as_object(run.get("info")).get("config"))
    template = as_object(config.get("agent")).get("instance_template")
    return [template] if isinstance(template, str) else []


def as_chat(value: Any) -> Any:
    """A message as OpenAI's chat API would have it, also one of its Responses API."""
    if not isinstance(value, dict):
        return value
    chat = {name: value[name] for name in ("role", "content", "tool_calls", "tool_call_id") if name in value}
    if value.get("type") == "function_call_output":
        return {"role": "tool", "content": value.get("output"), "tool_call_id": value.get("call_id")}
    if isinstance(value.get("output"), list):
        return {"role": "assistant", **output_of(value["output"])}
    if isinstance(value.get("content"), list):
        chat["content"] = [as_text_part(part) for part in value["content"]]
    return chat if as_id(value.get("role")) in ROLES else value


def output_of(items: Sequence[Any]) -> dict[str, Any]:
    """Text parts and calls of one answer of the Responses API."""
    content, calls = [], []
    for item in map(as_object, items):
        if item.get("type") == "message":
            content += [as_text_part(part) for part in as_list(item.get("content"))]
        elif item.get("type") == "function_call":
            calls.append({"id": item.get("call_id", item.get("id")), "function": item})
    return {"content": content, "tool_calls": calls}


def as_text_part(part: Any) -> Any:
    is_text = as_object(part).get("type") in ("input_text", "output_text")
    return {"type": "text", "text": part.get("text")} if is_text else part


def extras_of(value: Mapping[str, Any], extra: Mapping[str, Any], message: Message) -> dict[str, Any]:
    """What else a message says; of the vendor's answer only its model and usage."""
    left = {name: member for name, member in value.items() if name not in READ and member is not None}
    left.update({name: member for name, member in extra.items() if name not in TWINS and member is not None})
    if as_id(extra.get("raw_output")) not in message.text:
        left["raw_output"] = extra["raw_output"]
    response = as_object(extra.get("response"))
    left.update({name: response[name] for name in ("model", "usage") if response.get(name)})
    if value.get("reasoning_content"):
        left["reasoning"] = left.pop("reasoning_content")
    others = [
        item for item in as_list(value.get("output")) if as_object(item).get("type") not in ("message", "function_call")
    ]
    if others:
        left["reasoning"] = others
    if message.role == "assistant" and not isinstance(extra.get("response"), dict | None):
        left["response"] = as_json(extra["response"])
    return left
