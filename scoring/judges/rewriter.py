"""A model that revises the reply a writer wrote at a point, in one pass (docs/remedies.md). It is shown the record
of the work, the latest request and the message, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotate.kinds.base import Finding
from annotate.rules.quotes import canonical
from annotate.rules.requester_view import TextBesideCalls, WorkRecord, requester_view, work_record
from annotate.traces.base import Trace, gettext_noop
from scoring.judges.base import (
    Answer,
    Ask,
    JudgeSpec,
    Reads,
    SettingField,
    read_endpoint,
    refuse_unknown,
    run_number,
)
from scoring.judges.raw_answers import Again, GivenUp
from scoring.judges.shown_texts import NOTHING, prompt_language
from scoring.judges.written_texts import text_of


@dataclass(frozen=True, slots=True)
class DraftView:
    """A point with the message that was written there."""

    language: str
    request: str
    record: WorkRecord
    message: str


def draft_view(
    trace: Trace, anchor: int, text_beside_calls: TextBesideCalls = "private", *, earlier: Mapping[str, Any]
) -> DraftView:
    """`earlier` is the finding of the writer's run."""
    seen = requester_view(trace, anchor, text_beside_calls)
    said = [message.text for message in seen.dialog if message.role == "user" and message.text.strip()]
    return DraftView(
        language=trace.language,
        request=canonical(said[-1]),
        record=work_record(trace, anchor),
        message=earlier["text"],
    )


def step(view: DraftView, settings: Mapping[str, Any], answers: tuple[Answer, ...]) -> Ask | Finding:
    language = prompt_language(view.language, view.request)
    values: dict[str, Any] = {"label": None, "condition": "rewrite"}
    text = text_of(answers, "rewrite")
    if isinstance(text, Again):
        shown = {"record": view.record.text or NOTHING[language], "request": view.request, "message": view.message}
        return Ask("rewrite", text.attempt, "rewriter", language, shown, {})
    if isinstance(text, GivenUp):
        return Finding(values, unreadable=text.raw)
    return Finding({**values, "text": text})


def read_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """`endpoint`, the model it asks; `default_run`, the number of the writer's run whose replies it revises."""
    refuse_unknown(given, ("endpoint", "default_run"))
    return {"endpoint": read_endpoint(given), "default_run": run_number(given, "default_run")}


JUDGE = JudgeSpec(
    name="rewriter",
    title=gettext_noop("Rewriter of replies"),
    describe=gettext_noop(
        "Lets a model revise the reply that a writer wrote at each point when nothing was added, by the record of the "
        "work and with the requirements on a reply. It judges nothing: what it gives is a text."
    ),
    version="1",
    kinds=("reply",),
    view=draft_view,
    step=step,
    settings={"default_run": None},
    read_settings=read_settings,
    fields=(
        SettingField(
            "default_run", gettext_noop("Number of the writer's run, condition default, that is revised"), "whole"
        ),
    ),
    asks=True,
    prompts=("rewriter",),
    gives_labels=False,
    works_on="points",
    reads=Reads(
        setting="default_run",
        judge="writer",
        where={"condition": "default"},
        missing=gettext_noop("no_default_text: the writer's run that this one builds on has no text at this point."),
    ),
)
