"""Conversations of OpenHands (once OpenDevin): a file that is a list of events, or records of a benchmark or of the
issue resolver (`output.jsonl`) with the events in `history`; also lists of steps. Predictions are passed over.

Requester: messages with the source `user`, but not the task of a delegate nor a benchmark's standing answer. Reply: a
`message` of the agent, and `finish` or `reject` with its last words. Call: every other action, in the agent's message
with the text beside it, name, id and arguments as the model wrote them where its answer is in the file; all calls of
one answer are one message. A user's own action is a call on the requester's side. Result: the observation, put right
behind its call, found by `cause`, else by call id, else the next open call. Delegates are agents among themselves:
what they say and do is `other`. A condensation with a summary is `summary`. Passed over and counted: changes of state,
recalls, null events, the same event twice, the copies of the model's answer, snapshots of its input.
Id: instance or file name and a digest of the messages; cluster: the instance. Model, usage: of the answers of the
models, each counted once, else from `metadata` and `metrics`. Success: what `test_result` or the resolver says.
A list of events is one conversation and is held whole; records are read one at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from annotate.traces.base import Likeness, Message, Place, Problem, Trace, gettext_noop
from annotate.traces.documents import Document
from annotate.traces.identity import conversation_id
from annotate.traces.openhands_events import SOURCES, Events, Group, read_events, warnings_of
from annotate.traces.openhands_steps import is_step, step_events
from annotate.traces.values import as_id, as_list, as_object
from annotate.traces.warned import empty_run, likeness, unknown_record

FORMAT = "openhands"
TITLE = "OpenHands events"
LONGEST_TASK = 200
PREDICTION = frozenset({"instance_id", "model_patch", "model_name_or_path"})
NAMES = ("openhands", "opendevin", "codeact")
OUTCOMES = ("test_result", "metadata", "metrics", "git_patch", "issue_type")


def sniff(value: Any) -> Likeness:
    """An event with its source; a record with a history of events; a step; or a prediction of OpenHands."""
    there = value if isinstance(value, dict) else {}
    if "history" in there or "trajectory" in there:
        events = events_of(there)
        return likeness(
            {
                "history": events is not None and (not events or is_event(first_event(events))),
                "instance_id": any(name in there for name in ("instance_id", "issue", *OUTCOMES)) or bool(events),
                "test_result": bool(events) or any(name in there for name in OUTCOMES),
            }
        )
    if there.keys() >= PREDICTION or is_step(value):
        marks = {"model_patch": True, "openhands": is_step(value) or is_prediction(value)}
        return likeness(marks)
    return likeness(
        {
            "source": as_id(there.get("source")) in SOURCES,
            "action": isinstance(there.get("action"), str) or isinstance(there.get("observation"), str),
            "args": isinstance(there.get("args"), dict) or ("content" in there and "extras" in there),
        }
    )


def is_event(value: Any) -> bool:
    there = as_object(value)
    named = isinstance(there.get("action"), str) or isinstance(there.get("observation"), str)
    return named and any(name in there for name in ("args", "extras", "source"))


def is_prediction(value: Any) -> bool:
    there = as_object(value)
    model = as_id(there.get("model_name_or_path")).lower()
    return there.keys() >= PREDICTION and any(name in model for name in NAMES)


def events_of(record: Any) -> Sequence[Any] | None:
    """None where there is no list; a run that broke off has an instance and no history."""
    there = as_object(record)
    found = there.get("history", there.get("trajectory"))
    if found is None and "history" in there and ("instance_id" in there or "issue" in there):
        return []
    return found if isinstance(found, list) else None


def first_event(events: Sequence[Any]) -> Any:
    """The first of the list, or of its first pair of action and observation."""
    first = events[0]
    return first[0] if isinstance(first, list) and first else first


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    """Records as they come; single events and steps are one conversation, which is there at the end of the file."""
    events: list[tuple[Any, Place, str]] = []
    for document in documents:
        if isinstance(document, Problem):
            yield document
        elif events_of(document.value) is not None:
            yield from read_record(document.value, document.place)
        elif is_prediction(document.value):
            yield unknown_record(document.place, gettext_noop("A run; this is a prediction, made by a run elsewhere."))
        elif is_event(document.value) or is_step(document.value):
            events.append((document.value, document.place, ""))
        elif isinstance(document.value, list) and document.value and is_event(first_event(document.value)):
            yield from read_list(document.value, document.place)
        else:
            yield unknown_record(document.place, gettext_noop("An event with a source and an action or observation."))
    if events:
        yield from read_file(events)


def read_file(events: Sequence[tuple[Any, Place, str]]) -> Iterator[Trace | Problem]:
    place = Place(events[0][1].file)
    steps = [one for one in events if is_step(one[0])]
    found = read_events((part for one in events for part in step_events(one)), place)
    usage = {"steps": [step["step_usage"] for step, _, _ in steps if as_object(step.get("step_usage"))]}
    accumulated = [as_object(step.get("accumulated_usage")) for step, _, _ in steps]
    yield from trace_of(found, place, "", {**usage, "accumulated_usage": accumulated[-1] if accumulated else {}})


def read_list(value: Sequence[Any], place: Place) -> Iterator[Trace | Problem]:
    """A line that is itself the list of events."""
    found = read_events(((event, place, f"/{number}") for number, event in enumerate(value)), place)
    yield from trace_of(found, place, "", {})


def read_record(record: Mapping[str, Any], place: Place) -> Iterator[Trace | Problem]:
    name = "history" if "history" in record else "trajectory"
    events = ((event, place, f"/{name}/{number}") for number, event in enumerate(events_of(record) or ()))
    found = read_events(events, place, is_benchmark=True)
    told = record.get("instruction")
    if isinstance(told, str) and told and not any(group.message.role == "user" for group in found.groups):
        found.groups.insert(0, Group(Message(0, "user", told, side="user"), "/instruction"))
    rest = {key: member for key, member in record.items() if key not in (name, "llm_completions")}
    if told and any(group.message.text == told for group in found.groups):
        del rest["instruction"]
    if as_list(record.get("llm_completions")):
        found.pass_over("repeated_record", "/llm_completions", "llm_completions")
    yield from trace_of(found, place, task_of(record), rest)


def trace_of(found: Events, place: Place, task: str, rest: Mapping[str, Any]) -> Iterator[Trace | Problem]:
    messages, pointers, extras = found.messages()
    yield from warnings_of(found, messages, pointers, place)
    if not messages:
        yield empty_run(place, "")
    name = task or PurePosixPath(place.file).stem[:LONGEST_TASK]
    parts = {
        "model": model_of(found, rest),
        "usage": usage_of(found, rest),
        "success": success_of(rest),
        **rest,
        "llm_metrics": found.metrics,
        "messages": extras,
    }
    yield Trace(
        source_id=f"{name} {conversation_id(messages) if messages else ''}".strip(),
        format=FORMAT,
        messages=messages,
        cluster=task,
        metadata={key: part for key, part in parts.items() if part not in (None, "", {}, [])},
        place=place,
    )


def task_of(record: Mapping[str, Any]) -> str:
    """The instance of a benchmark, or the issue that was to be resolved."""
    issue = as_object(record.get("issue"))
    named = [as_id(issue.get(name)) for name in ("owner", "repo", "number")]
    return (as_id(record.get("instance_id")) or ("{}/{}#{}".format(*named) if all(named) else ""))[:LONGEST_TASK]


def model_of(found: Events, rest: Mapping[str, Any]) -> Any:
    """The models in order of first use; else the one the benchmark was set to."""
    used = [as_id(response.get("model")) for response in found.responses.values()]
    used += [as_id(step.get("model")) for step in map(as_object, as_list(rest.get("steps")))]
    models = list(dict.fromkeys(model for model in used if model))
    configured = as_object(as_object(rest.get("metadata")).get("llm_config")).get("model")
    return (models[0] if len(models) == 1 else models) or as_id(configured) or as_id(rest.get("model_name_or_path"))


def usage_of(found: Events, rest: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers of all answers of the model and of all steps, added up; else the metrics of the record."""
    total: dict[str, float] = {}
    used = [as_object(response.get("usage")) for response in found.responses.values()]
    for usage in (*used, *map(as_object, as_list(rest.get("steps")))):
        for name, number in usage.items():
            if isinstance(number, int | float) and not isinstance(number, bool):
                total[name] = total.get(name, 0) + number
    return total or {**as_object(rest.get("metrics")), **as_object(found.metrics)}


def success_of(rest: Mapping[str, Any]) -> Any:
    """`resolved` of the tests, wherever a benchmark puts it; `success` of the resolver."""
    result = as_object(rest.get("test_result"))
    reports = [as_object(there.get(name)) for there in (result, rest) for name in ("report", "result")]
    for holder in (result, *reports):
        for name in ("resolved", "success"):
            if isinstance(holder.get(name), bool | int | float | str):
                return holder[name]
    return rest.get("resolved", rest.get("success"))
