"""The fields a page posts, as the JSON form of a label; and a schema from the fields of the page that makes one."""

import json
import re
from collections.abc import Mapping
from typing import Any

from annotate.kinds.base import LabelError, Schema
from annotate.kinds.redundancy.label import CANNOT, KEEP, NONE, NONE_SERVES, ORIGIN_OF, STEPS, wrong_type
from annotate.traces.base import gettext_noop


def read_form(post: Mapping[str, str], schema: Schema) -> dict[str, Any]:
    """`steps` and `decisions` are a JSON list each, `outcome` a radio button for “none” and “cannot annotate”. Steps
    that are marked say by themselves that there are some. Without script the steps are typed, one on each line."""
    if "lines" in post:
        steps, decisions = typed(post)
    else:
        steps, decisions = json_list(post, "steps"), json_list(post, "decisions")
    outcome = post.get("outcome", "")
    if steps and outcome not in (NONE, CANNOT):
        outcome = STEPS
    return {
        "outcome": outcome,
        "steps": steps,
        "decisions": decisions,
        "note": post.get("note", "").replace("\r\n", "\n"),
    }


def typed(post: Mapping[str, str]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Steps from their lines, and the decisions on suggestions, which are radio buttons. What is kept need not be
    typed: the button says it. What cannot be read stays as it was typed, and is refused where labels are."""
    steps = [step_of(line) for line in post["lines"].splitlines() if line.strip()]
    decisions = []
    for name, value in post.items():
        decision, _, line = value.partition(" ")
        if not name.startswith(DECIDE) or not decision:
            continue
        step = indexes_of(name.removeprefix(DECIDE))
        decisions.append({"step": step, "decision": decision})
        if decision == KEEP and line and not any(one["step"] == step for one in steps):
            steps.append(step_of(line))
        for one in steps:
            if one["step"] == step and decision in ORIGIN_OF:
                one["origin"] = ORIGIN_OF[decision]
    return steps, decisions


def step_of(line: str) -> dict[str, Any]:
    """`8-9 DUP 4-5,2-3 why`: the step, its type, its evidence (`-` for no other step) and, if one likes, a reason."""
    step, type, evidence, reason, *_ = [*line.split(maxsplit=3), "", "", ""]
    named = [NONE_SERVES] if evidence == "-" else indexes_of(evidence.replace(",", "-").replace("，", "-"))
    return {"step": indexes_of(step), "type": type.upper(), "evidence": named, "reason": reason.strip()}


def line_of(step: Mapping[str, Any]) -> str:
    """The same the other way, of whatever stands in a form."""
    evidence = step.get("evidence")
    named = "-" if evidence == [NONE_SERVES] else text_of(evidence)
    return " ".join(filter(None, [text_of(step.get("step")), str(step.get("type", "")), named, step.get("reason")]))


def text_of(indexes: Any) -> str:
    if not isinstance(indexes, list):
        return str(indexes or "")
    pairs = [indexes[place : place + 2] for place in range(0, len(indexes), 2)]
    return ",".join("-".join(map(str, pair)) for pair in pairs)


def indexes_of(text: str) -> Any:
    """Numbers with dashes between them, else the text."""
    parts = text.split("-")
    return [int(part) for part in parts] if all(NUMBER.fullmatch(part) for part in parts) else text


DECIDE = "decide."
NUMBER = re.compile("[0-9]{1,9}")


def json_list(post: Mapping[str, str], name: str) -> Any:
    try:
        return json.loads(post.get(name) or "[]")
    except (ValueError, RecursionError):
        raise LabelError(wrong_type(name, gettext_noop("JSON."), f"/{name}")) from None
