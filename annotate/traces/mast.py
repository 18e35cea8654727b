"""Runs annotated for MAST (MASFT): objects of {instance_id, problem_statement, other_data, trajectory, note: {text,
options}}, one a file, and MetaGPT's {run_id, prompt, content, timestamp, cost, log_file} of the same collection.

Requester: the task (`problem_statement`, `prompt`) alone, added before the log as message 0. Private: all of the log
but a reply; the name is the agent. Reply: of AG2 the last turn, where it is the solver's (not of the proxy, who speaks
first); of MA-ToT the answer its program prints last, added as a message of its own. HyperAgent, MetaGPT and the peer
review end without a word to the requester and have none. Calls and results: none, agents pass code and output as texts.

One message is: a turn of AG2 ({content, role, name}, a content list being lines); a record of log lines, which is the
line that begins it and those up to the next (`mast_logs.py`); a message of one agent of a peer review, whose
`trajectory` is {agent: messages}, in the order first messages of all agents, then second ones.
metadata["messages"] says for each where it stands in the file (`turn`, or `line` and `n_lines`, or `agent` and `turn`,
all from 0), so the lines of a log are the sum of n_lines. metadata["steps"] counts turns or records; index = step + 1.

metadata["labels"], in the form of `labels_form.py`: {"kind": "failure_mode", "name": "Step repetition", "value": "no"}
for each of `note.options`, and {"kind": "note", "text": ...}; they speak of the whole run. MetaGPT's files hold none.
Success: `other_data.correct` where it is a yes or no; usage: `cost`; model: none. Id: instance_id, or "run" and run_id.
One session. Nothing is skipped; a record is held at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotate.traces.agentrx_steps import LONGEST_NAME, Run
from annotate.traces.base import Likeness, Message, Place, Problem, Trace, gettext_noop
from annotate.traces.chat_messages import text_of
from annotate.traces.documents import Document
from annotate.traces.identity import conversation_id
from annotate.traces.labels_form import file_stem, metadata_of
from annotate.traces.mast_logs import MA_TOT, final_answer, log_of, records
from annotate.traces.strict_json import pointer_part
from annotate.traces.values import as_id, as_json, as_object
from annotate.traces.warned import empty_run, likeness, non_text_content, unknown_record, unknown_role

FORMAT = "mast"
TITLE = "MAST annotated runs"
TURN = ("role", "content", "name")
TERMINATE = re.compile(r"\s{0,50}\*{0,2}TERMINATE\*{0,2}\s{0,50}\Z")
"""AG2's word for the program, not for the requester; what is cut off a reply is kept with it."""


def sniff(value: Any) -> Likeness:
    """An annotated run, or a run of MetaGPT; whichever it is nearer to."""
    there = value if isinstance(value, dict) else {}
    note = as_object(there.get("note"))
    annotated = likeness(
        {
            **{name: name in there for name in ("instance_id", "problem_statement")},
            "trajectory": isinstance(there.get("trajectory"), list | dict | str),
            "note.options": isinstance(note.get("options"), dict),
        }
    )
    texts = {name: isinstance(there.get(name), str) for name in ("prompt", "content", "log_file")}
    metagpt = likeness({"run_id": "run_id" in there, **texts})
    return min(annotated, metagpt, key=lambda one: len(one.missing))


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    for document in documents:
        if isinstance(document, Problem):
            yield document
        elif isinstance(document.value, dict) and "trajectory" in document.value:
            yield from read_annotated(document)
        elif isinstance(document.value, dict) and "log_file" in document.value and "content" in document.value:
            yield from read_metagpt(document)
        else:
            yield unknown_record(document.place, gettext_noop("An object with a trajectory, or one with a log_file."))


def read_annotated(document: Document) -> Iterator[Trace | Problem]:
    value = document.value
    run = run_of_task(lines_of(value.get("problem_statement")), document.place)
    read_trajectory(value["trajectory"], run, "/trajectory")
    used = ("problem_statement", "trajectory", "note")
    correct = as_object(value.get("other_data")).get("correct")
    labels = list(labels_of(value.get("note")))
    own = {
        **({"success": correct} if isinstance(correct, bool) else {}),
        **({"labels": labels} if labels else {}),
    }
    yield from trace_of(run, as_id(value.get("instance_id")), rest_of(value, used), own)


def read_metagpt(document: Document) -> Iterator[Trace | Problem]:
    value = document.value
    run = run_of_task(lines_of(value.get("prompt")), document.place)
    read_trajectory(value["content"], run, "/content")
    cost = value.get("cost")
    is_number = isinstance(cost, int | float) and not isinstance(cost, bool)
    id_ = f"run {as_id(value['run_id'])}" if value.get("run_id") is not None else ""
    own = {"usage": {"cost": cost}} if is_number else {}
    yield from trace_of(run, id_, rest_of(value, ("prompt", "content")), own)


def rest_of(value: Mapping[str, Any], used: Sequence[str]) -> dict[str, Any]:
    return {name: member for name, member in value.items() if name not in used}


def trace_of(run: Run, id_: str, rest: Mapping[str, Any], own: Mapping[str, Any]) -> Iterator[Trace | Problem]:
    yield from run.warnings
    if not run.messages:
        yield empty_run(run.place, "")
    yield Trace(
        source_id=id_ or file_stem(run.place.file) or conversation_id(run.messages),
        format=FORMAT,
        messages=tuple(run.messages),
        metadata=metadata_of(rest, {**own, **run.metadata()}),
        place=run.place,
    )


def lines_of(value: Any) -> str:
    """A text, also one kept as its lines; anything else as its JSON."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    return as_id(value)


def run_of_task(task: str, place: Place) -> Run:
    run = Run(place)
    if task.strip():
        run.add(Message(index=0, role="user", text=task, side="user"), {"taken_from": "task"})
        run.first_index = 1
    return run


def read_trajectory(value: Any, run: Run, pointer: str) -> None:
    """Agents' conversations, lines of a log as a list or one text, or turns; and the answer that a log ends with."""
    answer = ""
    if isinstance(value, dict):
        read_agents(value, run, pointer)
    elif isinstance(value, str):
        answer = read_log(value.split("\n") if value else [], run, pointer)
    elif isinstance(value, list) and value and all(isinstance(line, str) for line in value):
        answer = read_log(value, run, pointer)
    else:
        read_turns(value if isinstance(value, list) else [] if value is None else [value], run, pointer)
    run.n_steps = len(run.messages) - run.first_index
    if answer:
        last = run.messages[-1].index
        run.add(Message(index=last + 1, role="assistant", text=answer), {"taken_from": last})


def read_turns(values: Sequence[Any], run: Run, pointer: str) -> None:
    """Turns of agents, the last of which answers the requester unless it is the proxy's who asked first."""
    for number, value in enumerate(values):
        read_turn(value, run, f"{pointer}/{number}", speaker_of(value), {"turn": number})
    first, last = (speaker_of(values[0]), speaker_of(values[-1])) if values else ("", "")
    if not (first and last and first != last):
        return
    message = run.messages[-1]
    text = TERMINATE.sub("", message.text)
    if text.strip():
        run.messages[-1] = replace(message, role="assistant", name="", text=text)
        cut = {"cut": message.text[len(text) :]} if text != message.text else {}
        run.extras[str(message.index)] |= {"name": last, **cut}


def read_turn(value: Any, run: Run, pointer: str, speaker: str, place: Mapping[str, Any]) -> None:
    index = len(run.messages)
    if not isinstance(value, dict) or not speaker:
        found = value.get("role") if isinstance(value, dict) else value
        run.warnings.append(unknown_role(run.place, pointer, TURN, found))
        run.add(Message(index=index, role="other", text=as_json(value)), place)
        return
    text, is_understood = text_of(value)
    if not is_understood:
        run.warnings.append(non_text_content(run.place, f"{pointer}/content"))
    extras = {name: member for name, member in value.items() if name not in ("content", "name")}
    if ("name" in value and value["name"] != speaker) or len(speaker) > LONGEST_NAME:
        extras["name"] = value.get("name")
    if not is_understood:
        extras["content"] = value.get("content")
    text = as_json(value.get("content")) if text is None else text
    message = Message(index=index, role="other", text=text, name=speaker[:LONGEST_NAME])
    run.add(message, metadata_of(extras, place))


def speaker_of(value: Any) -> str:
    names = [value.get("name"), value.get("role")] if isinstance(value, dict) else []
    return next((name for name in names if isinstance(name, str) and name), "")


def read_log(lines: Sequence[str], run: Run, pointer: str) -> str:
    """Records of a log, and the answer it ends with; a log that is not known is one message."""
    log = log_of(lines)
    if lines and log is None:
        run.warnings.append(unknown_log(run.place, pointer))
    found = list(records(lines, log))
    for record in found:
        message = Message(index=len(run.messages), role="other", text=record.text, name=record.speaker)
        run.add(message, {"line": record.line, "n_lines": len(record.lines)})
    return final_answer(found[-1]) if log is MA_TOT else ""


def read_agents(agents: Mapping[str, Any], run: Run, pointer: str) -> None:
    """A peer review: each agent's conversation with the program, told in rounds. Orders to an agent say so."""
    said = {agent: values if isinstance(values, list) else [values] for agent, values in agents.items()}
    for number in range(max(map(len, said.values()), default=0)):
        for agent, values in said.items():
            if number < len(values):
                role = as_object(values[number]).get("role")
                is_known_role = isinstance(role, str) and role != ""
                name = "" if not is_known_role else f"agent {agent}" if role == "assistant" else f"to agent {agent}"
                place = {"agent": agent, "turn": number}
                read_turn(values[number], run, f"{pointer}{pointer_part(agent)}/{number}", name, place)


def labels_of(note: Any) -> Iterator[dict[str, Any]]:
    """What annotators said of the run; what is none of the usual forms is kept as it is."""
    if not isinstance(note, dict):
        if note is not None:
            yield {"kind": "note", "text": note}
        return
    options = note.get("options")
    if isinstance(options, dict):
        yield from ({"kind": "failure_mode", "name": name, "value": value} for name, value in options.items())
    elif options is not None:
        yield {"kind": "record", "options": options}
    if text := lines_of(note.get("text")):
        yield {"kind": "note", "text": text}
    if rest := {name: member for name, member in note.items() if name not in ("options", "text")}:
        yield {"kind": "record", **rest}


def unknown_log(place: Place, pointer: str) -> Problem:
    return place.problem(
        "unknown_log",
        pointer,
        expected=gettext_noop("Lines of a log of HyperAgent, MetaGPT or MA-ToT; no line here begins a record of one."),
        remedy=gettext_noop("All lines are kept as one message, seen by nobody who labels."),
        warning=True,
    )
