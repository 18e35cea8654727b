"""Failed runs of Who&When: objects of {history, question, question_ID, ground_truth, mistake_agent, mistake_step,
mistake_reason}, one a file. `history` are steps {content, role, name?}: hand-crafted runs of Magentic-One, whose first
step is the `human`, and generated runs of AG2 experts, in which nobody speaks to the requester.

Requester: `human`, or where no step is theirs the `question`, added before the steps (the first step of a generated run
is a manager's order to the experts). Private: all other steps, whatever their role; the name is the agent. Reply: the
answer behind `FINAL ANSWER:` of the last step, added behind the steps (`agentrx_steps.py`); a generated run has none.
Calls and results: none, code and its output pass between agents as texts.

Message.index = step + metadata["steps"]["first_index"], which is 0 where the first step is the human's, else 1.
metadata["labels"] has one label, in the form of `labels_form.py`: {"kind": "decisive_mistake", "index": 13,
"step_in_file": "12", "step_base": 0, "agent": "WebSurfer", "reason": "..."}. `mistake_step` counts from 0 and is a
text; one that is no number or no step of the run is kept without `index` and warned of. The agent is as the file writes
it, and may be the first part of the message's name (`Orchestrator` of `Orchestrator (thought)`).

Id: question_ID and a digest of the messages, as one question has several runs; cluster: question_ID. One session.
Success: `is_correct`; model and usage: none. Other members (ground_truth, level, system_prompt by agent) are metadata.
Nothing is skipped; a record is held at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from annotate.traces.agentrx_steps import Run, run_of
from annotate.traces.base import Likeness, Problem, Trace, gettext_noop
from annotate.traces.documents import Document
from annotate.traces.identity import conversation_id
from annotate.traces.labels_form import at_step, file_stem, metadata_of, no_such_step
from annotate.traces.values import as_id
from annotate.traces.warned import likeness, unknown_record

FORMAT = "who_and_when"
TITLE = "Who&When failed runs"
BASE = 0
MISTAKE = ("mistake_agent", "mistake_step", "mistake_reason")


def sniff(value: Any) -> Likeness:
    """An object with the history of a run and the step of its mistake."""
    there = value if isinstance(value, dict) else {}
    marks = {name: name in there for name in ("mistake_agent", "mistake_step")}
    return likeness({"history": isinstance(there.get("history"), list), **marks})


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    for document in documents:
        if isinstance(document, Problem):
            yield document
        elif not isinstance(document.value, dict) or not isinstance(document.value.get("history"), list):
            expected = gettext_noop("An object with history, mistake_agent and mistake_step.")
            yield unknown_record(document.place, expected)
        else:
            yield from read_run(document)


def read_run(document: Document) -> Iterator[Trace | Problem]:
    value, place = document.value, document.place
    question = value.get("question")
    run = run_of(value["history"], place, "/history", question if isinstance(question, str) else "")
    yield from run.warnings
    label = label_of(value, run)
    if label and "index" not in label:
        yield no_such_step(place, "/mistake_step", value.get("mistake_step"), BASE, run.steps)
    question_id = as_id(value.get("question_ID"))
    yield Trace(
        source_id=f"{question_id or file_stem(place.file)} {conversation_id(run.messages)}".strip(),
        format=FORMAT,
        messages=tuple(run.messages),
        cluster=question_id,
        metadata=metadata_of(
            {name: member for name, member in value.items() if name not in ("history", *MISTAKE)},
            {
                **({"success": value["is_correct"]} if "is_correct" in value else {}),
                **({"labels": [label]} if label else {}),
                **run.metadata(),
            },
        ),
        place=place,
    )


def label_of(value: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """The decisive mistake, where the file names any part of it."""
    said = {name.removeprefix("mistake_"): value[name] for name in MISTAKE if value.get(name) is not None}
    if not said:
        return {}
    step = said.pop("step", None)
    return at_step({"kind": "decisive_mistake", **said}, step, BASE, run.steps)
