"""Runs of Magentic-One as AgentRx publishes them: a file is a JSON array of {content, role}, and is one run.

Requester: `human`. Private: every other step, told apart by its role, which is the name of an agent and for the
Orchestrator also whom it speaks to. Reply: the answer that the program prints behind `FINAL ANSWER:` at the end of the
last step; it is added behind the steps as a message of its own (`agentrx_steps.py`), because the step it stands in is
an agent's page or a stack trace. Calls and results: none, agents ask each other in words.

Message.index is the step of the file counted from 0; the added answer has the next number. A run has one session. The
file holds no id: the stem of its name is the trajectory id, under which the labels lie in another file (`labels.py`,
which also says how their step numbers count). That id is the question's, and so it is the cluster too. Model, usage and
success: the file says none.

Nothing is skipped. A run is held in memory, as its steps are single records of the file; a file without a name gets the
digest of its conversation as id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from annotate.traces.agentrx_steps import REQUESTER, run_of
from annotate.traces.base import Likeness, Place, Problem, Trace
from annotate.traces.documents import Document
from annotate.traces.identity import conversation_id
from annotate.traces.labels_form import file_stem
from annotate.traces.warned import likeness

FORMAT = "agentrx"
TITLE = "AgentRx runs of Magentic-One"
AGENTS = frozenset({REQUESTER, "WebSurfer", "FileSurfer", "Assistant", "ComputerTerminal", "Coder", "Executor"})
ORCHESTRATOR = re.compile(r"Orchestrator \(.{1,200}\)")


def sniff(value: Any) -> Likeness:
    """A message of nothing but content and role, the role being the person or an agent of Magentic-One."""
    there = value if isinstance(value, dict) else {}
    role = there.get("role")
    is_agent = isinstance(role, str) and (role in AGENTS or ORCHESTRATOR.fullmatch(role) is not None)
    marks = {"content": isinstance(there.get("content"), str), "role of a Magentic-One agent": is_agent}
    if is_agent:
        marks["content and role alone"] = len(there) == 2
    return likeness(marks)


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    """The one run of a file. A record that is no step is a message all the same, so that steps keep their numbers."""
    steps: list[Any] = []
    file = ""
    for document in documents:
        if isinstance(document, Problem):
            yield document
        else:
            steps.append(document.value)
            file = document.place.file
    if steps:
        place = Place(file)
        run = run_of(steps, place, "")
        yield from run.warnings
        source_id = file_stem(file) or conversation_id(run.messages)
        yield Trace(
            source_id=source_id,
            format=FORMAT,
            messages=tuple(run.messages),
            cluster=source_id,
            metadata=run.metadata(),
            place=place,
        )
