"""Runs of SWE-agent: a `.traj` file is one object {environment, trajectory, history, info}, or has `attempts` of them.

`history` is read: it has the prompts, the task, the demonstrations and the calls. `trajectory` has the same steps, and
the last output, which `history` often lacks and which is taken over. Each step is counted as a repetition; one that
`history` has not is kept with the private data and counted. Without a history, and after its end, the steps are read.
Requester: the issue in the first user message that is no demonstration, cut out where the file's own problem statement,
its template or one of SWE-agent's tells where it stands; what the template adds is `other`, private. All later messages
of the role user are the environment's: the result of the call before, else `other`. Demonstrations (`is_demo`) are
`other` without calls. The agent speaks to nobody: its texts stand beside calls, or are `other` where there is none; the
submission is private data.
Call: each of `tool_calls`; in the text protocols `action`, a line for the shell, as a call of `bash` in the agent's
message, whose text stays letter for letter with the block for the tool in it, and is private because of the call.
Id: the task (instance, problem statement or file name) and a digest of the messages; cluster: the task. Model:
`replay_config.agent.model.name`; usage: `info.model_stats` as it is. SWE-agent does not say whether a run succeeded.
One run is held at a time, which is one record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from annotate.traces.base import Likeness, Place, Problem, Trace, gettext_noop
from annotate.traces.documents import Document
from annotate.traces.identity import conversation_id
from annotate.traces.swe_agent_history import History, history_of, messages_of_steps
from annotate.traces.values import as_id, as_list, as_object
from annotate.traces.warned import empty_run, likeness, passed_over, unknown_record

FORMAT = "swe_agent"
TITLE = "SWE-agent trajectories"
LONGEST_TASK = 200
STEP = ("action", "observation")
ENTRY = ("agent", "message_type", "is_demo")
"""Marks of an entry of the history that other lists of messages do not have."""


def sniff(value: Any) -> Likeness:
    """Steps of action and observation, and the history of the messages beside them; or attempts of such runs."""
    there = value if isinstance(value, dict) else {}
    attempts = as_list(there.get("attempts"))
    run = as_object(attempts[0]) if attempts and "trajectory" not in there else there
    steps, entries = run.get("trajectory"), run.get("history")
    first = as_object(next(iter(as_list(steps)), {}))
    return likeness(
        {
            "trajectory": isinstance(steps, list) and (not steps or all(name in first for name in STEP)),
            "history": is_history(entries) and (bool(entries) or bool(steps)),
            "info": isinstance(run.get("info"), dict),
        }
    )


def is_history(entries: Any) -> bool:
    first = as_object(next(iter(as_list(entries)), {}))
    return isinstance(entries, list) and (not entries or any(mark in first for mark in ENTRY))


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    for document in documents:
        if isinstance(document, Problem):
            yield document
        elif not is_run(document.value) and not attempts_of(document.value):
            yield unknown_record(
                document.place, gettext_noop("An object with the lists trajectory and history of one run.")
            )
        else:
            yield from read_record(document.value, document.place)


def is_run(value: Any) -> bool:
    there = as_object(value)
    return isinstance(there.get("trajectory"), list) or isinstance(there.get("history"), list)


def attempts_of(value: Any) -> Sequence[Any]:
    return [attempt for attempt in as_list(as_object(value).get("attempts")) if is_run(attempt)]


def read_record(value: Mapping[str, Any], place: Place) -> Iterator[Trace | Problem]:
    """The one run of a file; or each attempt at it, of which the file's own lists repeat the chosen one."""
    task = task_of(value, place)
    attempts = attempts_of(value)
    if not attempts:
        yield from read_run(value, place, "", task)
        return
    rest = {name: member for name, member in value.items() if name not in ("attempts", "trajectory", "history")}
    for number, attempt in enumerate(value["attempts"]):
        pointer = f"/attempts/{number}"
        if is_run(attempt):
            yield from read_run(attempt, place, pointer, task, {"attempt": number, "run": rest})
        else:
            yield passed_over(place, "not_understood", pointer, "attempts[]")
    if is_run(value) and not any(attempt.get("history") == value.get("history") for attempt in attempts):
        yield from read_run(value, place, "", task)
    elif is_run(value):
        yield passed_over(place, "repeated_record", "/history", "history")


def read_run(
    run: Mapping[str, Any], place: Place, pointer: str, task: str, more: Mapping[str, Any] | None = None
) -> Iterator[Trace | Problem]:
    found = history_of(run, place, pointer) if as_list(run.get("history")) else messages_of_steps(run, place, pointer)
    yield from found.warnings
    if not found.messages:
        yield empty_run(place, f"{pointer}/history")
    digest = conversation_id(found.messages)
    if more and "attempt" in more:
        digest = f"attempt {more['attempt']} {digest}"
    yield Trace(
        source_id=f"{task} {digest}".strip(),
        format=FORMAT,
        messages=tuple(found.messages),
        cluster=task,
        metadata={**metadata_of(run, found), **(more or {})},
        place=place,
    )


def task_of(value: Mapping[str, Any], place: Place) -> str:
    """The instance, as the file names it, or the file: SWE-agent writes `<instance>.traj`."""
    statement = as_object(as_object(value.get("replay_config")).get("problem_statement"))
    file = PurePosixPath(place.file).name
    stem = file.removesuffix(".json").removesuffix(".traj")
    named = as_id(value.get("instance_id")) or as_id(statement.get("id"))
    return (named or (stem if stem != file and not place.prefix else ""))[:LONGEST_TASK]


def metadata_of(run: Mapping[str, Any], found: History) -> dict[str, Any]:
    """Everything else the file says. `state` and times of steps are with the messages they belong to."""
    configured = as_object(as_object(as_object(run.get("replay_config")).get("agent")).get("model"))
    parts = {
        "model": as_id(configured.get("name")),
        "usage": as_object(as_object(run.get("info")).get("model_stats")),
        **{name: member for name, member in run.items() if name not in ("trajectory", "history", "attempts")},
        "steps": found.other_steps,
        "messages": found.extras,
    }
    return {name: part for name, part in parts.items() if part not in (None, "", {}, [])}
