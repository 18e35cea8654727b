"""A model that says of each gap a reader found what kind of thing was missing (docs/remedies.md). It
gets what a person who labels gaps gets: the question, the words it is about and the reply around them, one gap a call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from annotate.kinds.base import Finding
from annotate.kinds.gap.label import CATEGORIES
from annotate.rules.quotes import canonical
from annotate.rules.requester_view import TextBesideCalls, requester_view
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
from scoring.judges.raw_answers import Again, GivenUp, UnusableError, is_copied, members, usable, value_of
from scoring.judges.shown_texts import NOTHING, prompt_language
from scoring.judges.steering import steers

AROUND = 200
"""Characters of the reply shown before and after the words a question is about."""
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"category": {"type": "string", "enum": list(CATEGORIES)}},
    "required": ["category"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Gap:
    """A gap as it is asked about; `number` is its place among the questions of the reader."""

    number: int
    question: str
    span: str
    type: str
    window: str
    """Empty where the reader's words stand nowhere in the reply."""

    @property
    def step(self) -> str:
        return f"gap-{self.number}"


@dataclass(frozen=True, slots=True)
class GapsView:
    language: str
    request: str
    gaps: tuple[Gap, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """What is judged."""
        return tuple(text for gap in self.gaps for text in (gap.question, gap.span, gap.window))


def gaps_view(
    trace: Trace, anchor: int, text_beside_calls: TextBesideCalls = "private", *, earlier: Mapping[str, Any]
) -> GapsView:
    """The gaps among the questions of a reader's finding."""
    seen = requester_view(trace, anchor, text_beside_calls)
    said = [message.text for message in seen.dialog if message.role == "user" and message.text.strip()]
    reply = canonical(next(message.text for message in trace.messages if message.index == anchor))
    questions = enumerate(earlier["questions"])
    return GapsView(
        language=trace.language,
        request=canonical(said[-1]),
        gaps=tuple(gap_of(number, question, reply) for number, question in questions if question["is_gap"]),
    )


def gap_of(number: int, question: Mapping[str, Any], reply: str) -> Gap:
    start, end = question["start"], question["end"]
    is_placed = start is not None and end is not None
    return Gap(
        number=number,
        question=question["question"],
        span=reply[start:end] if is_placed else question["about"],
        type=question["type"],
        window=reply[max(0, start - AROUND) : end + AROUND] if is_placed else "",
    )


def step(view: GapsView, settings: Mapping[str, Any], answers: tuple[Answer, ...]) -> Ask | Finding:
    language = prompt_language(view.language, view.request)
    found: list[dict[str, Any]] = []
    raw = []
    for gap in view.gaps:
        category = usable(answers, gap.step, lambda answer: read(answer, view.texts))
        if isinstance(category, Again):
            return Ask(gap.step, category.attempt, "classifier", language, shown(gap, language), SCHEMA)
        if isinstance(category, GivenUp):
            raw.append(category.raw)
        found.append({"question": gap.number, "category": category if isinstance(category, str) else None})
    values = {"label": None, "gaps": found, "flags": flags_of(view.texts, answers)}
    nothing_read = bool(raw) and len(raw) == len(found)
    return Finding(values, unreadable=raw[-1] if nothing_read else None)


def shown(gap: Gap, language: str) -> dict[str, str]:
    return {
        "question": gap.question,
        "span": gap.span or NOTHING[language],
        "type": gap.type,
        "window": gap.window or NOTHING[language],
    }


def read(answer: Answer, texts: Iterable[str]) -> str:
    """The category; UnusableError where the answer is none, or was taken from the judged texts."""
    if is_copied(answer, texts):
        raise UnusableError("The answer stands in the judged texts.")
    (category,) = members(value_of(answer), {"category": str})
    if category not in CATEGORIES:
        raise UnusableError("No category.")
    return str(category)


def flags_of(texts: tuple[str, ...], answers: tuple[Answer, ...]) -> list[str]:
    found = {
        "obeys_the_text": any(is_copied(answer, texts) for answer in answers),
        "steering_text": steers(texts),
    }
    return [name for name, holds in found.items() if holds]


def read_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """`endpoint`, the model it asks; `reader_run`, the number of the reader's run whose gaps it classifies."""
    refuse_unknown(given, ("endpoint", "reader_run"))
    return {"endpoint": read_endpoint(given), "reader_run": run_number(given, "reader_run")}


JUDGE = JudgeSpec(
    name="classifier",
    title=gettext_noop("Classifier of gaps"),
    describe=gettext_noop(
        "Asks a model of each gap that a reader found what was missing: the sight of some material, the meaning of a "
        "name that the agent coined, a term of the field, or background. It gives categories and no label."
    ),
    version="1",
    kinds=("reply",),
    view=gaps_view,
    step=step,
    settings={"reader_run": None},
    read_settings=read_settings,
    fields=(SettingField("reader_run", gettext_noop("Number of the reader's run whose gaps are classified"), "whole"),),
    asks=True,
    prompts=("classifier",),
    gives_labels=False,
    reads=Reads(
        setting="reader_run",
        judge="reader",
        missing=gettext_noop("The reader's run that this one builds on has no verdict that can be read of this item."),
    ),
)
