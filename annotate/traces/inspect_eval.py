"""Logs of evaluations with Inspect: one object {version, status, eval, plan, results, stats, samples}, or a zip
(`.eval`) of a header and one file for each sample. A sample, one epoch of it, is a run.

Requester: messages of role user that came with the task, or that nothing shows to be a program's (a simulated user is
a requester). `inspect_speakers.py` says what is a program's. Reply: the agent's texts; where it handed in its answer
by a tool, the answer once more as a message of its own, which is what whoever asked was given. Private: what the agent
loop said and what it answered itself, agents that were handed the work, reasoning. Call and result: `tool_calls` and
tool messages, and tools of the model's provider, whose call and result stand in one message and become two.
File: none, a sample's files lie in its sandbox. Session: one. Model: that of the evaluation, else the sample's. Usage:
summed over the models of the sample. Success: the value of the score, or of each by its name.
A run's id is its uuid, else task, run, sample and epoch; its cluster task and sample, which epochs repeat.
Passed over and counted: events (twins of messages, and bookkeeping; model calls of scorers and tools), pools of
messages that only events use, the output where it is a message already, and numbers of the whole evaluation.
Logs are read sample by sample; a sample is held as a whole, with its events."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from annotate.traces.base import Likeness, Place, Problem, Trace, gettext_noop
from annotate.traces.documents import Document
from annotate.traces.identity import conversation_id
from annotate.traces.inspect_events import passed_over_events
from annotate.traces.inspect_messages import Reader
from annotate.traces.inspect_speakers import add_output, speakers
from annotate.traces.packed import Records
from annotate.traces.pairing import pair
from annotate.traces.values import as_id, as_list, as_object
from annotate.traces.warned import empty_run, likeness, passed_over, unknown_record, unpaired

FORMAT = "inspect_eval"
TITLE = "Inspect logs"
RECORDS_IN = "samples"
"""Logs are read sample by sample, however many a file holds."""

SAMPLE_FILE = re.compile(r"samples/.*_epoch_\d+(?:/sample)?\.json")
HEADERS = ("header.json", "_journal/start.json")
OF_ALL = ("results", "stats", "reductions", "sample_reductions")
"""Members of a log that are about all of its samples together."""
READ = frozenset({"messages", "output", "input", "events", "attachments", "transcript"})
POOLS = ("message_pool", "call_pool", "events_data")
LONGEST_NAME = 255
MOST_TOKENS = 2**53
"""What is above is no count of tokens, and may not even be added."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a log says once for all its samples."""

    task: str = ""
    name: str = ""
    """What tells this run of the task from others."""
    model: str = ""
    solvers: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


def layout(names: Sequence[str]) -> Records | None:
    """A header, or what was written when the evaluation began, and the samples. Without samples the header is read as
    the one record, so that it can be said that there are none."""
    header = next((name for name in HEADERS if name in names), None)
    samples = [name for name in dict.fromkeys(names) if SAMPLE_FILE.fullmatch(name)]
    is_log = header is not None and (samples or HEADERS[1] in names)
    return Records(header, samples or [header], RECORDS_IN) if header is not None and is_log else None


def sniff(value: Any) -> Likeness:
    """A log, which names its task and its run, or one of its samples."""
    there = as_object(value)
    if "eval" in there:
        about = as_object(there["eval"])
        marks = {
            "version": "version" in there,
            "eval.task": "task" in about,
            "eval.run_id": "run_id" in about or "eval_id" in about,
        }
    else:
        marks = {
            "messages": isinstance(there.get("messages"), list),
            **{name: name in there for name in ("id", "epoch", "input", "target")},
        }
    return likeness(marks)


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    around, run = None, Run()
    for document in documents:
        if isinstance(document, Problem):
            yield document
            continue
        value, place = document.value, document.place
        if isinstance(value, dict) and "eval" in value:
            yield from read_log(value, place)
            continue
        if document.around is not around:
            around, run = document.around, read_run(document.around)
            yield from passed_over_numbers(as_object(around), Place(log_file(place.file)))
        yield from read_sample(value, place, run)


def read_log(value: Mapping[str, Any], place: Place) -> Iterator[Trace | Problem]:
    """A log that is one record: a line, an element of an array, or one that has no samples."""
    samples = as_list(value.get("samples"))
    if not samples:
        yield unknown_record(place, gettext_noop("A log with samples; this one was written without them."))
        return
    run = read_run(value)
    yield from passed_over_numbers(value, place)
    for number, sample in enumerate(samples):
        yield from read_sample(sample, replace(place, prefix=f"{place.prefix}/samples/{number}"), run)


def passed_over_numbers(log: Mapping[str, Any], place: Place) -> Iterator[Problem]:
    for name in OF_ALL:
        if log.get(name):
            yield passed_over(place, "bookkeeping", f"/{name}", name)


def read_run(log: Any) -> Run:
    there = as_object(log)
    about = as_object(there.get("eval"))
    steps = as_list(as_object(there.get("plan")).get("steps"))
    return Run(
        task=as_id(about.get("task")),
        name=as_id(about.get("run_id")) or as_id(about.get("eval_id")),
        model=as_id(about.get("model")),
        solvers=[as_id(as_object(step).get("solver")).rsplit("/", 1)[-1] for step in steps],
        metadata={key: member for key, member in there.items() if key not in (*OF_ALL, "samples") and member},
    )


def read_sample(value: Any, place: Place, run: Run) -> Iterator[Trace | Problem]:
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        yield unknown_record(place, gettext_noop("A sample: an object with a list of messages."))
        return
    found = Reader(place, attachments_of(value))
    for number, message in enumerate(value["messages"]):
        found.add(message, f"/messages/{number}")
    is_twin = add_output(found, value.get("output"))
    messages = pair(speakers(found, value["messages"], run.solvers))
    metadata = metadata_of(value, run, found)
    yield from found.warnings
    yield from unpaired(messages, place, found.pointers)
    if is_twin:
        yield passed_over(place, "repeated_record", "/output", "output")
    for name in POOLS:
        if value.get(name):
            yield passed_over(place, "repeated_record", f"/{name}", name)
    yield from passed_over_events(value, place, found)
    if not messages:
        yield empty_run(place, "/messages")
    name = " ".join(part for part in (run.task, as_id(value.get("id"))) if part)
    epoch = f"epoch {as_id(value['epoch'])}" if value.get("epoch") is not None else ""
    whole = " ".join(part for part in (name, epoch, run.name or PurePath(log_file(place.file)).stem) if part)
    yield Trace(
        source_id=short(as_id(value.get("uuid")) or (whole if "id" in value else "") or conversation_id(messages)),
        format=FORMAT,
        messages=messages,
        cluster=short(name) if value.get("id") is not None else "",
        metadata=metadata,
        place=place,
    )


def attachments_of(sample: Mapping[str, Any]) -> Mapping[str, Any]:
    """Texts and pictures by their hash; the first logs kept them with the events."""
    transcript = as_object(sample.get("transcript"))
    return {**as_object(transcript.get("content")), **as_object(sample.get("attachments"))}


def metadata_of(sample: Mapping[str, Any], run: Run, found: Reader) -> dict[str, Any]:
    """Everything else the log says, pictures by their names. All of it is private."""
    output = as_object(sample.get("output"))
    rest = {key: member for key, member in sample.items() if key not in READ and key not in POOLS}
    if not is_said(sample.get("input"), found):
        rest["input"] = sample.get("input")
    rest["output"] = without_message(output)
    usage = as_object(sample.get("model_usage"))
    parts = {
        "model": run.model or as_id(output.get("model")) or next(iter(usage), ""),
        "usage": summed(usage),
        "success": success_of(sample),
        "sample": found.plain({key: member for key, member in rest.items() if member not in (None, {}, [])}, ""),
        "log": found.plain(run.metadata, ""),
        "messages": found.extras,
    }
    return {name: part for name, part in parts.items() if part not in (None, "", {})}


def is_said(given: Any, found: Reader) -> bool:
    """Whether the sample's input stands among its messages, as it mostly does; then it is not kept a second time."""
    said = {message.text for message in found.messages}
    if isinstance(given, str):
        return found.resolved(given, "/input") in said
    inputs = Reader(found.place, found.attachments)
    for number, message in enumerate(as_list(given)):
        inputs.add(message, f"/input/{number}")
    return isinstance(given, list) and all(message.text in said for message in inputs.messages)


def without_message(output: Mapping[str, Any]) -> dict[str, Any]:
    """The output without its first message and the text of it, which are a message of the run."""
    kept = {key: member for key, member in output.items() if key != "completion"}
    choices = as_list(output.get("choices"))
    if choices and isinstance(choices[0], dict):
        first = {key: member for key, member in choices[0].items() if key != "message"}
        kept["choices"] = [first, *choices[1:]]
    return kept


def summed(usage: Mapping[str, Any]) -> dict[str, float]:
    """Tokens of all models together."""
    total: Counter[str] = Counter()
    for numbers in usage.values():
        for name, number in as_object(numbers).items():
            if isinstance(number, int | float) and not isinstance(number, bool) and abs(number) < MOST_TOKENS:
                total[name] += number  # type: ignore[assignment]
    return dict(total)


def success_of(sample: Mapping[str, Any]) -> Any:
    scores = as_object(sample.get("scores")) or {"score": sample.get("score")}
    values = {name: as_object(score).get("value") for name, score in scores.items()}
    return next(iter(values.values())) if len(values) == 1 else values


def log_file(file: str) -> str:
    """The log in which a record stands: of a sample in a zip the zip."""
    return file.rsplit("/samples/", 1)[0]


def short(name: str) -> str:
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 13]} {hashlib.sha256(name.encode()).hexdigest()[:12]}"
