"""A model that writes the reply at a point anew, under one of six conditions (docs/remedies.md). The
work stays as it was: only what the model is told beside it differs.

`default`, `notice` and `requirements` continue the agent's own context. `separate`, `fact_list` and
`separate_requirements` begin a conversation of their own, with the same system prompt and one message.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotate.kinds.base import Finding
from annotate.rules.requester_view import TextBesideCalls, WorkRecord, work_record
from annotate.traces.base import Problem, Trace, gettext_noop
from scoring.judges.base import (
    Answer,
    Ask,
    JudgeSpec,
    ReplyView,
    SettingField,
    SettingsError,
    read_endpoint,
    refuse_unknown,
    reply_view,
)
from scoring.judges.raw_answers import Again, GivenUp
from scoring.judges.reader_questions import dialog_texts, file_texts
from scoring.judges.shown_texts import NOTHING, parts, prompt_language
from scoring.judges.working_context import declared_tools, system_messages, working_context
from scoring.judges.written_texts import text_of

CONDITIONS = ("default", "notice", "requirements", "separate", "fact_list", "separate_requirements")
IN_CONTEXT = ("default", "notice", "requirements")
ALSO = {"notice": "writer.notice"}
PROMPTS = {
    "requirements": "writer.requirements",
    "separate": "writer.separate",
    "fact_list": "writer.separate",
    "separate_requirements": "writer.separate_requirements",
}


@dataclass(frozen=True, slots=True)
class PointView:
    """A point: everything before a reply, and nothing of the reply itself."""

    language: str
    request: str
    values: Mapping[str, Mapping[str, str]]
    """What the message of a conversation of its own is made of, but for the work; by language of the prompt."""
    record: WorkRecord
    system: tuple[Mapping[str, Any], ...]
    context: tuple[Mapping[str, Any], ...]
    """The agent's own context, the system prompt first."""
    tools: tuple[Mapping[str, Any], ...]


def point_view(trace: Trace, anchor: int, text_beside_calls: TextBesideCalls = "private") -> PointView:
    seen = reply_view(trace, anchor, text_beside_calls)
    return PointView(
        language=trace.language,
        request=seen.request,
        values={language: told(seen, language) for language in NOTHING},
        record=work_record(trace, anchor),
        system=system_messages(trace, anchor),
        context=working_context(trace, anchor),
        tools=declared_tools(trace, anchor),
    )


def told(view: ReplyView, language: str) -> dict[str, str]:
    """The files, the conversation but for the request that is answered, and that request."""
    dialog = list(dialog_texts(view, language))
    said = enumerate(zip(view.speakers, view.dialog, strict=True))
    asked = [place for place, (who, text) in said if who == "you" and text == view.request]
    return {
        "files": parts(list(file_texts(view, language)), language),
        "conversation": parts([one for place, one in enumerate(dialog) if place not in asked[-1:]], language),
        "request": view.request,
    }


def step(view: PointView, settings: Mapping[str, Any], answers: tuple[Answer, ...]) -> Ask | Finding:
    condition, language = settings["condition"], prompt_language(view.language, view.request)
    values: dict[str, Any] = {"label": None, "condition": condition}
    work = view.record.text or NOTHING[language]
    if condition == "fact_list":
        facts = text_of(answers, "facts")
        if isinstance(facts, Again):
            return in_context(view, "facts", facts.attempt, language, prompt="writer.facts")
        if isinstance(facts, GivenUp):
            return Finding(values, unreadable=facts.raw)
        values["facts"] = work = facts
    text = text_of(answers, "reply")
    if isinstance(text, GivenUp):
        return Finding(values, unreadable=text.raw)
    if not isinstance(text, Again):
        return Finding({**values, "text": text})
    prompt = PROMPTS.get(condition, "")
    if condition in IN_CONTEXT:
        return in_context(view, "reply", text.attempt, language, prompt=prompt, also=ALSO.get(condition, ""))
    told_values = {**view.values[language], "work": work}
    return Ask("reply", text.attempt, prompt, language, told_values, {}, messages=view.system)


def in_context(view: PointView, name: str, attempt: int, language: str, *, prompt: str, also: str = "") -> Ask:
    """A question that continues the agent's own context, its tools declared."""
    return Ask(name, attempt, prompt, language, {}, {}, messages=view.context, also=also, tools=view.tools)


def read_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """`endpoint`, the model it asks; `condition`, what it is told beside the work."""
    refuse_unknown(given, ("endpoint", "condition"))
    return {"endpoint": read_endpoint(given), **own_settings(given)}


def own_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    condition = given.get("condition", "default")
    if condition not in CONDITIONS:
        raise SettingsError(
            Problem(
                code="unknown_label",
                field="condition",
                pointer="/condition",
                expected=gettext_noop("One of: %(allowed)s."),
                remedy=gettext_noop("Choose one of these; case counts."),
                params={"allowed": ", ".join(CONDITIONS)},
            )
        )
    return {"condition": condition}


JUDGE = JudgeSpec(
    name="writer",
    title=gettext_noop("Writer of replies"),
    describe=gettext_noop(
        "Lets a model write the reply at each point anew, from the same work and under one of six conditions. It "
        "judges nothing: what it gives is a text, which can be published into another project and judged there."
    ),
    version="1",
    kinds=("reply",),
    view=point_view,
    step=step,
    settings=own_settings({}),
    read_settings=read_settings,
    fields=(
        SettingField(
            "condition",
            gettext_noop("What the model is told beside the work"),
            "choice",
            (
                ("default", gettext_noop("nothing: it continues its own context")),
                ("notice", gettext_noop("in the system prompt: what the user knows and does not know")),
                ("requirements", gettext_noop("as the last message: what a reply has to contain")),
                ("separate", gettext_noop("a conversation of its own, with the record of the work")),
                ("fact_list", gettext_noop("a conversation of its own, with a list of facts made beforehand")),
                (
                    "separate_requirements",
                    gettext_noop("a conversation of its own, with the record and what a reply has to contain"),
                ),
            ),
        ),
    ),
    asks=True,
    prompts=(
        *("writer.notice", "writer.requirements", "writer.separate", "writer.separate_requirements"),
        "writer.facts",
    ),
    gives_labels=False,
    works_on="points",
)
