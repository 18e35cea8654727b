"""A whole trajectory as judges of redundant steps see it, and put into words: every message at its original index, with
whose it is, and what of it can be named (docs/redundant-steps.md, Judges that ask a model).

The policy stands by itself; in the text its message says only that it is there, so that a variant without the policy
differs in nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from annotate.kinds.base import EntryBlock
from annotate.kinds.redundancy.contract import Trajectory
from annotate.kinds.redundancy.exchange import FULL_TYPES, NAMES
from annotate.kinds.redundancy.label import NONE_SERVES, pair_of
from annotate.kinds.redundancy.steps import Step, entries_of, steps_of
from annotate.rules.quotes import canonical
from annotate.rules.requester_view import TextBesideCalls
from annotate.traces.base import Trace
from scoring.judges.base import Example, Material
from scoring.judges.shown_texts import NOTHING, parts, prompt_language

GOLD_STEP, GOLD_EVIDENCE = "GOLD REDUNDANT STEP", "GOLD EVIDENCE"
WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "policy": "(the domain policy, which is quoted by itself)",
        "left_out": "(left out)",
        "empty": "(no text)",
        "policy_of": "policy",
        "user": "user",
        "agent": "agent",
        "other": "other",
        "calls": "calls",
        "result": "result of",
        "no_result": "no result",
        "example": "Example",
        "domain": "domain",
        "answer": "its redundant steps",
    },
    "zh": {
        "policy": "（领域政策，另行引用）",
        "left_out": "（已略去）",
        "empty": "（无文本）",
        "policy_of": "政策",
        "user": "用户",
        "agent": "代理",
        "other": "其他",
        "calls": "调用",
        "result": "结果，来自",
        "no_result": "无结果",
        "example": "示例",
        "domain": "领域",
        "answer": "其冗余步骤",
    },
}


@dataclass(frozen=True, eq=False)
class TrajectoryView:
    """A trajectory with what a judge was given beside it. `gold` are the triplets of its sealed label, None where the
    judge gets none."""

    language: str
    domain: str
    policy: str
    entries: tuple[EntryBlock, ...]
    there: Trajectory
    steps: tuple[Step, ...]
    gold: tuple[Mapping[str, Any], ...] | None
    material: Material

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """What is judged."""
        calls = (call.arguments for entry in self.entries for call in entry.calls)
        return (*(entry.text for entry in self.entries), *calls)


def trajectory_view(
    trace: Trace, anchor: int, text_beside_calls: TextBesideCalls = "private", *, material: Material
) -> TrajectoryView:
    """The whole trace, whatever stands at the anchor."""
    entries = entries_of(trace.messages)
    asked = next((entry.text for entry in entries if entry.role == "user" and entry.text.strip()), "")
    gold = material.gold
    return TrajectoryView(
        language=prompt_language(trace.language, asked),
        domain=material.area,
        policy=policy_of(entries),
        entries=entries,
        there=Trajectory.of(entries),
        steps=steps_of(entries),
        gold=None if gold is None else tuple(gold.get("steps", ())),
        material=material,
    )


def policy_of(entries: Iterable[EntryBlock]) -> str:
    return "\n\n".join(canonical(one.text) for one in entries if one.role == "system" and one.text.strip())


# In words


def shown(view: TrajectoryView, marked: Mapping[str, Sequence[int]] | None = None) -> str:
    """The trajectory as text; `marked` are indexes by the mark that is put around them."""
    marks = {index: mark for mark, indexes in (marked or {}).items() for index in indexes}
    return entries_shown(view.entries, view.language, marks)


def entries_shown(entries: Sequence[EntryBlock], language: str, marks: Mapping[int, str]) -> str:
    results = {call.number: call.result for entry in entries for call in entry.calls}
    return parts([(heading(one, language), body(one, language, results, marks)) for one in entries], language)


def heading(entry: EntryBlock, language: str) -> str:
    words = WORDS[language]
    if entry.role == "system":
        who = words["policy_of"]
    elif entry.answers is not None:
        who = f"{words[entry.side]}, {words['result']} {entry.tool} {[entry.called_at, entry.index]}"
    elif entry.role in ("user", "assistant"):
        who = words["user" if entry.side == "user" else "agent"]
    else:
        who = f"{words['other']} ({entry.role})"
    return f"[{entry.index}] {who}"


def body(
    entry: EntryBlock, language: str, results: Mapping[int, int | None], marks: Mapping[int, str]
) -> str:
    words = WORDS[language]
    text = canonical(entry.text)
    lines = [words["policy"] if entry.role == "system" and text.strip() else text or words["empty"] * (not entry.calls)]
    for call in entry.calls:
        result = results.get(call.number)
        pair = words["no_result"] if result is None else list(pair_of((entry.index, result)))
        lines.append(f"{words['calls']} {call.name} {pair}: {canonical(call.arguments)}")
    inside = "\n".join(line for line in lines if line)
    mark = marks.get(entry.index)
    return inside if mark is None else f"[[{mark} [{entry.index}]]]\n{inside}\n[[END {mark}]]"


def marks_of(gold: Mapping[str, Any], *, with_evidence: bool) -> dict[str, list[int]]:
    """What is marked of a gold step; the step's own messages carry its mark, whatever the evidence is."""
    step = list(gold["step"])
    evidence = [index for index in gold["evidence"] if index != NONE_SERVES and index not in step]
    return {**({GOLD_EVIDENCE: evidence} if with_evidence and evidence else {}), GOLD_STEP: step}


def listed(steps: Iterable[Step], language: str) -> str:
    """Steps by their indexes and tools, one on each line."""
    lines = [f"{list(step.pair)} {step.tool}" for step in steps]
    return "\n".join(lines) or NOTHING[language]


def agent_steps(view: TrajectoryView) -> list[Step]:
    return [step for step in view.steps if step.side == "agent"]


def every_step(view: TrajectoryView, language: str) -> str:
    """All steps that can be evidence, with whose they are."""
    words = WORDS[language]
    lines = [f"{list(step.pair)} {step.tool} ({words[step.side]})" for step in view.steps]
    return "\n".join(lines) or NOTHING[language]


def examples_shown(examples: Sequence[Example], language: str) -> str:
    """Each example with its trajectory and its redundant steps, in the form of an answer."""
    found = []
    for number, one in enumerate(examples, start=1):
        words = WORDS[language]
        name = f"{words['example']} {number}, {words['domain']} {one.area or '-'}"
        found.append((name, entries_shown(entries_of(one.trace.messages), language, {})))
        found.append((f"{words['example']} {number}, {words['answer']}", as_answer(one.label.get("steps", ()))))
    return parts(found, language)


def as_answer(steps: Iterable[Mapping[str, Any]]) -> str:
    return json.dumps([answer_of(one) for one in steps], ensure_ascii=False)


def answer_of(one: Mapping[str, Any]) -> dict[str, Any]:
    """A triplet under the names and with the full types of answers."""
    return {
        NAMES["step"]: list(one["step"]),
        NAMES["type"]: FULL_TYPES[one["type"]],
        NAMES["evidence"]: list(one["evidence"]),
    }


def plan_shown(plan: Sequence[Mapping[str, Any]], language: str) -> str:
    words = WORDS[language]
    lines = [
        f"{number}. {words[one['side']]}: {one['name']} "
        + json.dumps(one["arguments"], ensure_ascii=False, sort_keys=True)
        for number, one in enumerate(plan, start=1)
    ]
    return "\n".join(lines) or NOTHING[language]
