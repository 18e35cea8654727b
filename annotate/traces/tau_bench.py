"""Runs of tau-bench: an array of {task_id, reward, info, traj, trial}, `traj` being chat messages.

The file names neither its domain nor its model. The domain is read from the heading of the system message ("# Airline
agent policy"). A run's id is domain, task, trial and a digest of its messages, because files of two models, and
excerpts with other trial numbers, hold different runs of the same task.
Signs of the simulator (`###STOP###` and its like) are taken out of the requester's texts and kept with the private
data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from annotate.traces.base import Likeness, Message, Problem, Trace, gettext_noop
from annotate.traces.chat_messages import conversation
from annotate.traces.documents import Document
from annotate.traces.identity import conversation_id
from annotate.traces.tau2_bench import without_stop_tokens
from annotate.traces.values import as_id
from annotate.traces.warned import unknown_record

FORMAT = "tau_bench"
TITLE = "tau-bench runs"
NEEDED = ("task_id", "reward", "traj")
POLICY = re.compile(r"#\s*(\S.*?)\s+agent\s+policy\b", re.IGNORECASE)


def sniff(value: Any) -> Likeness:
    """An object with task, reward and trajectory."""
    there = value if isinstance(value, dict) else {}
    return Likeness(
        found=tuple(name for name in (*NEEDED, "info", "trial") if name in there),
        missing=tuple(name for name in NEEDED if name not in there),
    )


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    for document in documents:
        if isinstance(document, Problem):
            yield document
        elif not isinstance(document.value, dict) or not isinstance(document.value.get("traj"), list):
            yield unknown_record(document.place, gettext_noop("An object with task_id, reward and traj."))
        else:
            yield from read_run(document)


def read_run(document: Document) -> Iterator[Trace | Problem]:
    run = document.value
    found = conversation(run["traj"], document.place, "/traj")
    name = conversation_id(found.messages)
    found.messages = [without_stop_tokens(message, found) for message in found.messages]
    yield from found.warnings
    domain = domain_of(found.messages)
    task = f"{domain} task {as_id(run.get('task_id'))}".strip()
    trial = f" trial {as_id(run['trial'])}" if "trial" in run else ""
    yield Trace(
        source_id=f"{task}{trial} {name}",
        format=FORMAT,
        messages=tuple(found.messages),
        area=domain,
        cluster=task,
        metadata={
            **{key: value for key, value in run.items() if key != "traj"},
            **({"messages": found.extras} if found.extras else {}),
        },
        place=document.place,
    )


def domain_of(messages: Sequence[Message]) -> str:
    """The subject in the first heading of the agent's policy, or nothing."""
    policies = (POLICY.match(message.text.lstrip()) for message in messages if message.role == "system")
    return next((policy[1].lower() for policy in policies if policy), "")
