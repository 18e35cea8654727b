"""A model that turns a trajectory into a workflow for the next agent that has such a task (docs/experience.md): from
the whole trajectory, or from one without the steps that a detector or the gold names.

What it is shown holds no index and no mark, so a text cannot tell which steps were taken out or how many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotate.kinds.base import Finding
from annotate.kinds.redundancy.removal import without_steps
from annotate.kinds.redundancy.steps import Pair, entries_of, steps_of
from annotate.rules.quotes import canonical
from annotate.rules.requester_view import TextBesideCalls
from annotate.traces.base import Message, Problem, Trace, gettext_noop
from scoring.judges.base import (
    Answer,
    Ask,
    JudgeSpec,
    Material,
    Reads,
    SettingField,
    SettingsError,
    no_such_run,
    read_endpoint,
    refuse_unknown,
    run_number,
)
from scoring.judges.raw_answers import Again, GivenUp, UnusableError, usable
from scoring.judges.shown_texts import parts, prompt_language
from scoring.judges.written_texts import read as read_text

ORIGINAL, LLM, GOLD = "original", "llm", "gold"
CONDITIONS = {
    ORIGINAL: gettext_noop("The whole trajectory"),
    LLM: gettext_noop("Without the steps that an earlier run found"),
    GOLD: gettext_noop("Without the steps that a release names"),
}
NO_OUTCOME = ("no_agreement", "too_few_covered")
"""Of a jury: it names no steps, which is not the same as naming none."""
FIRST_POINT = re.compile(r"^\W{0,4}(?:step|步骤|第)?\s{0,4}(?:1|１|一)(?:步|\W)", re.IGNORECASE | re.MULTILINE)
SPEAKERS = {"assistant": "agent"}


@dataclass(frozen=True, slots=True)
class WorkflowView:
    """A trajectory with the steps that might be taken out of it; None where nobody says which."""

    trace: Trace
    found: tuple[Pair, ...] | None = None
    gold: tuple[Pair, ...] | None = None


def workflow_view(
    trace: Trace,
    anchor: int,
    text_beside_calls: TextBesideCalls = "private",
    *,
    earlier: Mapping[str, Any] | None = None,
    material: Material | None = None,
) -> WorkflowView:
    gold = material.gold if material is not None else None
    return WorkflowView(trace, found=steps_named(earlier), gold=steps_named(gold))


def steps_named(said: Mapping[str, Any] | None) -> tuple[Pair, ...] | None:
    """The steps of a finding or a label, each once."""
    if said is None or said.get("outcome") in NO_OUTCOME or said.get("outcome") == "cannot_annotate":
        return None
    pairs = {tuple(sorted(one["step"])) for one in said["steps"]}
    return tuple(sorted((first, second) for first, second in pairs))


def step(view: WorkflowView, settings: Mapping[str, Any], answers: tuple[Answer, ...]) -> Ask | Finding:
    condition = settings["condition"]
    removed = {ORIGINAL: (), LLM: view.found, GOLD: view.gold}[condition]
    n_steps = sum(one.side == "agent" for one in steps_of(entries_of(view.trace.messages)))
    values: dict[str, Any] = {"label": None, "condition": condition, "n_steps": n_steps, "removed": None, "text": None}
    if removed is None:
        return Finding(values)
    values["removed"] = [list(pair) for pair in removed]
    text = usable(answers, "workflow", read)
    if isinstance(text, Again):
        messages = without_steps(view.trace, removed).messages
        said = next((message.text for message in messages if message.role == "user" and message.text.strip()), "")
        language = prompt_language(view.trace.language, said)
        shown = {"solved_run": parts(tuple(shown_parts(messages)), language)}
        return Ask("workflow", text.attempt, "workflow", language, shown, {})
    if isinstance(text, GivenUp):
        return Finding(values, unreadable=text.raw)
    return Finding({**values, "text": text})


def shown_parts(messages: Iterable[Message]) -> Iterator[tuple[str, str]]:
    """Every text, call and result under a heading that says whose it is, in the order of the trajectory."""
    for message in messages:
        speaker = SPEAKERS.get(message.role, message.role)
        whose = "user" if message.role == "user" or message.side == "user" else "agent"
        if message.role == "tool":
            yield f"result of {message.name or 'a tool'}, for the {whose}", canonical(message.text)
        elif message.text.strip():
            yield speaker, canonical(message.text)
        for call in message.calls:
            yield f"call of {call.name or 'a tool'}, by the {whose}", canonical(call.arguments)


def read(answer: Answer) -> str:
    """A text with a first numbered point; UnusableError where the model wrote none."""
    text = read_text(answer)
    if not FIRST_POINT.search(text):
        raise UnusableError("No numbered procedure.")
    return text


def read_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """`endpoint`, the model it asks; `condition`; `steps_run`, for `llm` the number of the run whose steps are taken
    out; `release`, for `gold` the number of the release that names them."""
    refuse_unknown(given, ("endpoint", "condition", "steps_run", "release"))
    condition = given.get("condition", ORIGINAL)
    if not isinstance(condition, str) or condition not in CONDITIONS:
        raise SettingsError(unknown_condition())
    steps_run, release = run_number(given, "steps_run"), release_number(given)
    if (steps_run is None) == (condition == LLM):
        raise SettingsError(no_such_run("steps_run") if condition == LLM else not_needed("steps_run", LLM))
    if (release is None) == (condition == GOLD):
        raise SettingsError(no_release() if condition == GOLD else not_needed("release", GOLD))
    return {"endpoint": read_endpoint(given), "condition": condition, "steps_run": steps_run, "release": release}


def release_number(given: Mapping[str, Any]) -> int | None:
    number = given.get("release")
    if number is not None and (isinstance(number, bool) or not isinstance(number, int) or not 0 < number < 2**31):
        raise SettingsError(no_release())
    return number


def no_release() -> Problem:
    return Problem(
        code="no_such_release",
        field="release",
        pointer="/release",
        expected=gettext_noop("The number of a sealed release of this project, whose labels say which steps go."),
        remedy=gettext_noop("Name one, or seal one first."),
    )


def unknown_condition() -> Problem:
    return Problem(
        code="unknown_label",
        field="condition",
        pointer="/condition",
        expected=gettext_noop("One of: %(allowed)s."),
        remedy=gettext_noop("Choose one of these; case counts."),
        params={"allowed": ", ".join(CONDITIONS)},
    )


def not_needed(name: str, condition: str) -> Problem:
    return Problem(
        code="not_needed",
        field=name,
        pointer=f"/{name}",
        expected=gettext_noop("No %(name)s: only the condition %(condition)s goes by one."),
        remedy=gettext_noop("Leave it out, or choose that condition."),
        params={"name": name, "condition": condition},
    )


JUDGE = JudgeSpec(
    name="workflow",
    title=gettext_noop("Writer of workflows"),
    describe=gettext_noop(
        "Lets a model turn each trajectory that did not fail into a numbered workflow for the next agent with such a "
        "task: from the whole trajectory, or without its redundant steps. It judges nothing: what it gives is a text."
    ),
    version="1",
    kinds=("redundancy",),
    view=workflow_view,
    step=step,
    settings={"condition": ORIGINAL, "steps_run": None, "release": None},
    read_settings=read_settings,
    fields=(
        SettingField(
            "condition", gettext_noop("What the workflow is made from"), "choice", tuple(CONDITIONS.items())
        ),
        SettingField(
            "steps_run",
            gettext_noop("Number of the run whose steps are taken out"),
            "whole",
            hint=gettext_noop("Of a step detector, a juror or a jury."),
        ),
        SettingField("release", gettext_noop("Number of the release whose steps are taken out"), "whole"),
    ),
    asks=True,
    prompts=("workflow",),
    gives_labels=False,
    reads=Reads(
        setting="steps_run",
        judge=("stepdet", "juror", "jury"),
        is_optional=True,
        missing=gettext_noop("The run whose steps are taken out has no finding that can be read of this trajectory."),
    ),
    takes=("gold",),
    gold_is_optional=True,
    only_succeeded=True,
)
