"""Results of tau2-bench: one object {timestamp, info, tasks, simulations}, or single simulations, as dumps of one run
and recordings of people hold them.

The requester is a simulator with instructions (the briefing, a file named "What you know") and often with tools of its
own, whose calls and results are its side. What a run was scored by, the policy and everything about models is private.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotate.traces.base import Likeness, Message, Place, Problem, Side, Trace, gettext_noop
from annotate.traces.chat_messages import Conversation, read_message
from annotate.traces.documents import Document
from annotate.traces.identity import conversation_id
from annotate.traces.pairing import pair
from annotate.traces.tau2_task import briefing, language_of
from annotate.traces.values import as_id, as_list, as_object
from annotate.traces.warned import empty_run, likeness, unknown_record, unpaired

FORMAT = "tau2_bench"
TITLE = "tau2-bench results"
RECORDS_IN = "simulations"
"""Results are read simulation by simulation, however many a file holds."""

LOOKED_AT = 50
OUTCOMES = ("termination_reason", "run_info", "reward_info", "trial")
STOP_TOKEN = re.compile(r"###(?:STOP|TRANSFER|OUT[-_ ]OF[-_ ]SCOPE)###")
"""With these the simulator of the requester ends a conversation; nobody says them."""
SUMMARY = ("model", "finish_reason", "reasoning_content")
"""What is kept of the vendor's copy of a message; the rest stands in the message itself."""
LONGEST_NAME = 255


@dataclass(frozen=True, slots=True)
class Results:
    """What a file of results says once for all its simulations."""

    info: Mapping[str, Any] = field(default_factory=dict)
    tasks: Mapping[str, Mapping[str, Any]] | None = None
    """By id; None where a file brings no tasks."""
    others: Mapping[str, Any] = field(default_factory=dict)


def sniff(value: Any) -> Likeness:
    """A task and messages, with an outcome or numbered turns, and calls that name their tool themselves; or results."""
    there = value if isinstance(value, dict) else {}
    if isinstance(there.get("simulations"), list):
        marks = {"simulations": True, "info": "info" in there or "tasks" in there}
    else:
        messages = as_list(there.get("messages"))[:LOOKED_AT]
        calls = [call for message in messages for call in as_list(as_object(message).get("tool_calls"))]
        marks = {
            "task_id": "task_id" in there,
            "messages": isinstance(there.get("messages"), list),
            "termination_reason": any(name in there for name in OUTCOMES)
            or any("turn_idx" in as_object(message) for message in messages),
            "messages[].tool_calls[].name": any("name" in as_object(call) for call in calls)
            or (not calls and isinstance(there.get("messages"), list)),
        }
    return likeness(marks)


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    around, results = None, Results()
    for document in documents:
        if isinstance(document, Problem):
            yield document
            continue
        value, place = document.value, document.place
        if isinstance(as_object(value).get("simulations"), list):
            yield from read_whole(value, place)
            continue
        if document.around is not around:
            around, results = document.around, read_results(document.around)
        yield from read_simulation(value, place, results)


def read_whole(value: Mapping[str, Any], place: Place) -> Iterator[Trace | Problem]:
    """A line, or an element of an array, that is all of a file of results."""
    results = read_results(value)
    for number, simulation in enumerate(value["simulations"]):
        inside = replace(place, prefix=f"{place.prefix}/simulations/{number}")
        yield from read_simulation(simulation, inside, results)


def read_results(value: Any) -> Results:
    there = as_object(value)
    tasks = there.get("tasks")
    named = {as_id(task.get("id")): task for task in reversed(as_list(tasks)) if isinstance(task, dict)}
    return Results(
        info=as_object(there.get("info")),
        tasks=named if isinstance(tasks, list) else None,
        others={key: member for key, member in there.items() if key not in ("info", "tasks", "simulations")},
    )


def read_simulation(value: Any, place: Place, results: Results) -> Iterator[Trace | Problem]:
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        yield unknown_record(place, gettext_noop("A simulation: an object with a list of messages."))
        return
    task_id = as_id(value.get("task_id"))
    task = as_object(value.get("task")) or (results.tasks or {}).get(task_id, {})
    if not task and results.tasks is not None:
        yield unknown_task(place, task_id)
    found = read_messages(value["messages"], place)
    yield from found.warnings
    if not found.messages:
        yield empty_run(place, "/messages")
    domain = domain_of(results, task)
    if task_id and not domain:
        yield no_domain(place, task_id)
    name = f"{domain} task {task_id}".strip() if task_id else ""
    given_id = as_id(value.get("id")) or as_id(as_object(value.get("run_info")).get("simulation_id"))
    language = language_of(found.messages, [value, task, results.info])
    yield Trace(
        source_id=given_id or id_without_one(name, value, found.messages),
        format=FORMAT,
        messages=tuple(found.messages),
        files=tuple(briefing(task, language)),
        language=language,
        area=domain,
        cluster=short(name),
        metadata=metadata_of(value, task, results, found),
        place=place,
    )


def id_without_one(name: str, value: Mapping[str, Any], messages: Sequence[Message]) -> str:
    """A run is told from others of its task by its trial and by what was said in it."""
    trial = f"trial {as_id(value['trial'])}" if value.get("trial") is not None else ""
    return " ".join(part for part in (name, trial, conversation_id(messages)) if part)


def metadata_of(
    value: Mapping[str, Any], task: Mapping[str, Any], results: Results, found: Conversation
) -> dict[str, Any]:
    """Everything else the file says, each part as it stands there. All of it is private."""
    parts = {
        "simulation": {key: member for key, member in value.items() if key != "messages" and member is not task},
        "task": task,
        "info": results.info,
        "results": results.others,
        "messages": found.extras,
    }
    return {name: part for name, part in parts.items() if part}


def domain_of(results: Results, task: Mapping[str, Any]) -> str:
    """A file of results names the domain of its environment, a task often that of its instructions."""
    environment = as_object(results.info.get("environment_info"))
    instructions = as_object(as_object(task.get("user_scenario")).get("instructions"))
    return as_id(environment.get("domain_name")) or as_id(instructions.get("domain"))


def read_messages(values: Sequence[Any], place: Place) -> Conversation:
    """All messages, paired; those of a tool message that holds several count by themselves."""
    found = Conversation(place)
    entries = [entry for number, value in enumerate(values) for entry in single(value, f"/messages/{number}")]
    messages = []
    for index, (pointer, value) in enumerate(entries):
        message = read_message(as_chat(value, index), index, found, pointer)
        if message.role == "tool":
            message = replace(message, side=stated_side(value) or message.side)
        messages.append(without_stop_tokens(message, found))
    found.messages = [
        on_stated_side(message, value) for message, (_, value) in zip(pair(messages), entries, strict=True)
    ]
    found.warnings += unpaired(found.messages, place, [pointer for pointer, _ in entries])
    return found


def single(value: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    """A message and its pointer; of one that bundles results, each of them."""
    bundled = as_object(value).get("tool_messages")
    if not isinstance(bundled, list):
        yield pointer, value
        return
    for number, one in enumerate(bundled):
        yield f"{pointer}/tool_messages/{number}", {"role": "tool", **one} if isinstance(one, dict) else one


def as_chat(value: Any, index: int) -> Any:
    """A message as OpenAI's chat API would have it: calls under `function`, the id of a result as that of its call. The
    vendor's own copy of the message is not read a second time."""
    if not isinstance(value, dict):
        return value
    chat = {key: member for key, member in value.items() if key not in ("raw_data", "requestor", "turn_idx")}
    if value.get("turn_idx") != index:
        chat["turn_idx"] = value.get("turn_idx")
    if summary := dict(summary_of(value.get("raw_data"))):
        chat["raw_data"] = summary
    if value.get("role") == "tool":
        chat["tool_call_id"] = chat.pop("id", None)
    if isinstance(value.get("tool_calls"), list):
        chat["tool_calls"] = [chat_call(call) for call in value["tool_calls"]]
    return chat


def chat_call(call: Any) -> Any:
    return {"id": call.get("id"), "function": call} if isinstance(call, dict) and "name" in call else call


def summary_of(raw: Any) -> Iterator[tuple[str, str]]:
    """Model, reason of the end and reasoning, wherever the vendor has them: at the top, or in the one choice."""
    choice = as_object(next(iter(as_list(as_object(raw).get("choices"))), raw))
    for name in SUMMARY:
        for there in (as_object(raw), choice, as_object(choice.get("message"))):
            if isinstance(there.get(name), str):
                yield name, there[name]
                break


def stated_side(value: Any) -> Side | None:
    requestor = as_object(value).get("requestor")
    return "user" if requestor == "user" else "agent" if requestor == "assistant" else None


def on_stated_side(message: Message, value: Any) -> Message:
    """A result that says it was asked for by the other side than the call before it answers nothing: what the agent was
    told never becomes something the requester saw."""
    side = stated_side(value)
    if message.role != "tool" or side is None or side == message.side:
        return message
    return replace(message, side=side, answers=None)


def without_stop_tokens(message: Message, found: Conversation) -> Message:
    """The requester's text without the simulator's own signs, which the private data keep. A text of the agent stays as
    it is, unless it is nothing but such a sign."""
    signs = STOP_TOKEN.findall(message.text)
    if message.role not in ("user", "assistant") or not signs:
        return message
    *before, last = STOP_TOKEN.split(message.text)
    said = "".join([*(part.rstrip() for part in before), last]).strip()
    if message.role == "assistant" and said:
        return message
    found.extras.setdefault(str(message.index), {})["stop_tokens"] = signs
    return replace(message, text=said)


def short(name: str) -> str:
    """Names of tasks list what is wrong on the requester's side and may be longer than a name can be."""
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 13]} {hashlib.sha256(name.encode()).hexdigest()[:12]}"


def unknown_task(place: Place, task_id: str) -> Problem:
    return place.problem(
        "unknown_task",
        "/task_id",
        expected=gettext_noop("One of the tasks of the file; “%(found)s” is none."),
        remedy=gettext_noop("The run is kept without a briefing."),
        warning=True,
        found=task_id[:80],
    )


def no_domain(place: Place, task_id: str) -> Problem:
    return place.problem(
        "no_domain",
        expected=gettext_noop("A file that names its domain; this one names only the task (%(task)s)."),
        remedy=gettext_noop(
            "Its cluster is “task %(task)s” for every domain: keep files of different domains in different projects."
        ),
        warning=True,
        task=task_id[:80],
    )
