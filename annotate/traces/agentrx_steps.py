"""Steps of agents that work among themselves, each {content, role, name?}, as logs of Magentic-One and AG2 keep them.

`human` is the requester. Everybody else, in whatever role, speaks to the other agents and is private; the name is the
agent, or the whole role where it says more (`Orchestrator (-> WebSurfer)`). Two messages may be added around the steps,
so that what the requester saw is there, and `metadata["messages"]` says where each was taken from: the question first,
where no `human` says it, and last the answer, which the program prints at the end of the last step behind
`FINAL ANSWER:`. The steps themselves stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotate.traces.base import Message, Place, Problem
from annotate.traces.chat_messages import text_of
from annotate.traces.labels_form import Steps
from annotate.traces.values import as_json
from annotate.traces.warned import empty_run, non_text_content, unknown_role

REQUESTER = "human"
LONGEST_NAME = 255
ROLES = (REQUESTER, "Orchestrator (thought)", "Orchestrator (-> WebSurfer)", "WebSurfer", "FileSurfer", "Assistant")
"""For the sentence about a role that is none at all; any name is an agent's."""
ANSWER = re.compile(r"^FINAL ANSWER:[ \t]*", re.MULTILINE)
END_OF_ANSWER = re.compile(r"\r?\n(?:SCENARIO\.PY|RUN\.SH) ")


@dataclass
class Run:
    """Messages of one run as they come out, with everything else that was found on the way."""

    place: Place
    messages: list[Message] = field(default_factory=list)
    extras: dict[str, dict[str, Any]] = field(default_factory=dict)
    warnings: list[Problem] = field(default_factory=list)
    first_index: int = 0
    n_steps: int = 0

    @property
    def steps(self) -> Steps:
        return Steps(self.first_index, self.n_steps)

    def metadata(self) -> dict[str, Any]:
        steps = {"first_index": self.first_index, "n_steps": self.n_steps}
        return {"steps": steps, **({"messages": self.extras} if self.extras else {})}

    def add(self, message: Message, extras: Mapping[str, Any]) -> None:
        self.messages.append(message)
        if extras:
            self.extras[str(message.index)] = dict(extras)


def run_of(values: Sequence[Any], place: Place, pointer: str, question: str = "") -> Run:
    """All steps, with the question before them where none is the requester's, and the answer behind them."""
    run = Run(place, n_steps=len(values))
    if question.strip() and not any(is_requester(value) for value in values[:1]):
        run.add(Message(index=0, role="user", text=question, side="user"), {"taken_from": "question"})
        run.first_index = 1
    for number, value in enumerate(values):
        read_step(value, run, f"{pointer}/{number}")
    last = run.messages[-1] if values else None
    if last is not None and last.role == "other" and (answer := answer_in(last.text)):
        run.add(Message(index=len(run.messages), role="assistant", text=answer), {"taken_from": last.index})
    if not run.messages:
        run.warnings.append(empty_run(place, pointer))
    return run


def is_requester(value: Any) -> bool:
    return isinstance(value, dict) and value.get("role") == REQUESTER


def read_step(value: Any, run: Run, pointer: str) -> None:
    """A step as one message; what is none is kept whole and private."""
    index = len(run.messages)
    speaker = speaker_of(value)
    if not isinstance(value, dict) or not speaker:
        is_object = isinstance(value, dict)
        at, found = (f"{pointer}/role", value.get("role")) if is_object else (pointer, value)
        run.warnings.append(unknown_role(run.place, at, ROLES, found))
        run.add(Message(index=index, role="other", text=as_json(value)), {})
        return
    text, is_understood = text_of(value)
    if not is_understood:
        run.warnings.append(non_text_content(run.place, f"{pointer}/content"))
    text = as_json(value.get("content")) if text is None else text
    extras = extras_of(value, speaker, is_understood)
    if is_requester(value):
        run.add(Message(index=index, role="user", text=text, side="user"), extras)
    else:
        run.add(Message(index=index, role="other", text=text, name=speaker[:LONGEST_NAME]), extras)


def speaker_of(value: Any) -> str:
    """Name of the agent: `name` where there is one, the role otherwise."""
    names = [value.get("name"), value.get("role")] if isinstance(value, dict) else []
    return next((name for name in names if isinstance(name, str) and name), "")


def extras_of(value: Mapping[str, Any], speaker: str, is_understood: bool) -> dict[str, Any]:
    """Members that have no place in a message, and those that only partly have one."""
    kept = {name: member for name, member in value.items() if name not in ("role", "name", "content", "refusal")}
    if value.get("role") not in (speaker, REQUESTER) and "role" in value:
        kept["role"] = value["role"]
    if "name" in value and (value["name"] != speaker or is_requester(value) or len(speaker) > LONGEST_NAME):
        kept["name"] = value["name"]
    if len(speaker) > LONGEST_NAME and value.get("role") == speaker:
        kept["role"] = speaker
    if not is_understood:
        kept["content"] = value.get("content")
    if isinstance(value.get("content"), str) and value.get("refusal") is not None:
        kept["refusal"] = value["refusal"]
    return kept


def answer_in(text: str) -> str:
    """What stands behind the last `FINAL ANSWER:` that begins a line, without the program's lines after it."""
    found = list(ANSWER.finditer(text))
    if not found:
        return ""
    rest = text[found[-1].end() :]
    end = END_OF_ANSWER.search(rest)
    answer = rest[: end.start()] if end else rest
    return answer if answer.strip() else ""
