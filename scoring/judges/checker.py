"""A model that holds a reply against the record of the work: what it gets wrong, leaves out or plays down
(docs/methods.md, Checker). It gives three lists and no label: usable and true are two questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotate.kinds.base import Finding
from annotate.rules.quotes import canonical
from annotate.rules.requester_view import TextBesideCalls, WorkRecord, requester_view, work_record
from annotate.traces.base import Problem, Trace, gettext_noop
from scoring.judges.base import Answer, Ask, JudgeSpec, SettingField, SettingsError, read_endpoint, refuse_unknown
from scoring.judges.raw_answers import Again, GivenUp, UnusableError, entries, is_copied, members, usable, value_of
from scoring.judges.shown_texts import NOTHING, prompt_language
from scoring.judges.steering import steers

LISTS = ("errors", "omissions", "downplayed")
TEXTS = {"type": "array", "items": {"type": "string"}}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": dict.fromkeys(LISTS, TEXTS),
    "required": list(LISTS),
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class RecordView:
    """A reply with the record of the work behind it, without and with the project memory of a later session."""

    language: str
    request: str
    reply: str
    record: WorkRecord
    with_memory: WorkRecord

    def chosen(self, settings: Mapping[str, Any]) -> WorkRecord:
        return self.with_memory if settings["include_memory"] else self.record


def record_view(trace: Trace, anchor: int, text_beside_calls: TextBesideCalls = "private") -> RecordView:
    seen = requester_view(trace, anchor, text_beside_calls)
    said = [message.text for message in seen.dialog if message.role == "user" and message.text.strip()]
    reply = next(message for message in trace.messages if message.index == anchor)
    return RecordView(
        language=trace.language,
        request=canonical(said[-1]),
        reply=canonical(reply.text),
        record=work_record(trace, anchor),
        with_memory=work_record(trace, anchor, include_memory=True),
    )


def step(view: RecordView, settings: Mapping[str, Any], answers: tuple[Answer, ...]) -> Ask | Finding:
    record, language = view.chosen(settings), prompt_language(view.language, view.request)
    texts = (view.reply, record.text)
    lists = usable(answers, "check", lambda answer: read(answer, texts))
    if isinstance(lists, Again):
        values = {"record": record.text or NOTHING[language], "reply": view.reply}
        return Ask("check", lists.attempt, "checker", language, values, SCHEMA)
    flags = flags_of(texts, answers)
    if isinstance(lists, GivenUp):
        return Finding({"flags": flags}, unreadable=lists.raw)
    return Finding(
        {
            "label": None,
            **lists,
            "record_characters": record.n_chars,
            "record_cut": record.truncated,
            "include_memory": record.include_memory,
            "flags": flags,
        }
    )


def read(answer: Answer, texts: tuple[str, ...]) -> dict[str, list[str]]:
    """The three lists; UnusableError where the answer is not these, or was taken from the judged texts."""
    if is_copied(answer, texts):
        raise UnusableError("The answer stands in the judged texts.")
    lists = members(value_of(answer), dict.fromkeys(LISTS, list))
    if not all(isinstance(entry, str) and entry.strip() for said in lists for entry in entries(said)):
        raise UnusableError("An entry that is no text.")
    return dict(zip(LISTS, lists, strict=True))


def flags_of(texts: tuple[str, ...], answers: tuple[Answer, ...]) -> list[str]:
    found = {
        "obeys_the_text": any(is_copied(answer, texts) for answer in answers),
        "steering_text": steers(texts),
    }
    return [name for name, holds in found.items() if holds]


def read_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """`endpoint`, the model it asks; `include_memory`, whether the record holds the project memory."""
    refuse_unknown(given, ("endpoint", "include_memory"))
    return {"endpoint": read_endpoint(given), **own_settings(given)}


def own_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    include_memory = given.get("include_memory", False)
    if not isinstance(include_memory, bool):
        raise SettingsError(
            Problem(
                code="wrong_type",
                field="include_memory",
                pointer="/include_memory",
                expected=gettext_noop("Expected here: %(expected)s."),
                remedy=gettext_noop("Send it in that form."),
                params={"expected": "true, false"},
            )
        )
    return {"include_memory": include_memory}


JUDGE = JudgeSpec(
    name="checker",
    title=gettext_noop("Checker against the work record"),
    describe=gettext_noop(
        "Asks a model to hold the reply against the record of the agent's work: statements that are wrong, key results "
        "that are left out, problems that are played down. It gives lists and no label. Unless its settings say "
        "otherwise the record has no project memory, so a true statement known from there alone may be listed."
    ),
    version="1",
    kinds=("reply",),
    view=record_view,
    step=step,
    settings=own_settings({}),
    read_settings=read_settings,
    fields=(
        SettingField(
            "include_memory", gettext_noop("The work record holds the project memory of later sessions"), "truth"
        ),
    ),
    asks=True,
    prompts=("checker",),
    gives_labels=False,
)
