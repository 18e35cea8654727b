"""A model in the requester's seat: it reads a reply with what the requester has seen, asks what it cannot understand,
and looks whether the texts answer it (docs/methods.md, Reader).

What the model says is never the verdict. It asks and quotes; what counts is decided here, by the places where its
quotes stand, beside the identifiers and the language, which no model is asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotate.kinds.base import Finding, Span
from annotate.kinds.reply.label import MAX_SPANS
from annotate.rules.identifiers import EXTENSIONS
from annotate.rules.language import scripts_of, wanted_language
from annotate.traces.base import Problem, gettext_noop
from scoring.judges import lexical
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
from scoring.judges.lexical import marked, unseen_names
from scoring.judges.raw_answers import Again, GivenUp, is_copied, usable
from scoring.judges.reader_answers import Outcome, answered
from scoring.judges.reader_questions import MOST_LEXICAL, SCHEMA, FirstReading, judged_texts, prepared, read, shown
from scoring.judges.shown_texts import prompt_language
from scoring.judges.steering import steers

READINGS = ("in_order", "single_pass")
MOST_EXTENSIONS, LONGEST_EXTENSION = 200, 10


def step(view: ReplyView, settings: Mapping[str, Any], answers: tuple[Answer, ...]) -> Ask | Finding:
    language = prompt_language(view.language, view.request)
    first = usable(answers, "questions", lambda answer: read(answer, view), lambda reading: reading.is_settled)
    if isinstance(first, Again):
        values = shown(view, language)
        return Ask("questions", first.attempt, "reader.questions", language, values, SCHEMA)
    if isinstance(first, GivenUp):
        return Finding({"flags": flags(view, answers)}, unreadable=first.raw)
    questions = prepared(first, view, settings, language)
    outcomes = answered(questions, view, settings, language, answers)
    if isinstance(outcomes, Ask):
        return outcomes
    if isinstance(outcomes, GivenUp):
        return Finding({"flags": flags(view, answers)}, unreadable=outcomes.raw)
    return finding(first, outcomes, view, settings, answers)


def finding(
    first: FirstReading,
    outcomes: Sequence[Outcome],
    view: ReplyView,
    settings: Mapping[str, Any],
    answers: Sequence[Answer],
) -> Finding:
    """The verdict, with everything it rests on."""
    gaps = [one for one in outcomes if one.is_gap]
    scripts, wanted = scripts_of(view.reply), wanted_language(view.request, view.language)
    fail_language = bool(wanted and scripts.language) and wanted != scripts.language
    fail_answer = first.answer_needed and first.answer is None
    unquoted = first.answer_needed and first.says_none
    is_open = any(one.is_gap and not one.was_answered for one in outcomes)
    start, end = first.answer or (None, None)
    values = {
        "verdict": {
            "failed": bool(gaps) or fail_language or fail_answer,
            "failed_without_quote_check": is_open or fail_language or unquoted,
            "fail_gap": bool(gaps),
            "fail_language": fail_language,
            "fail_answer": fail_answer,
        },
        "questions": [described(one) for one in outcomes],
        "answer_needed": first.answer_needed,
        "answer_quote": first.answer_quote,
        "answer_verified": first.answer is not None,
        "answer_start": start,
        "answer_end": end,
        "requester_language": wanted,
        "reply_language": scripts.language,
        "han_characters": scripts.han,
        "latin_words": scripts.latin,
        "n_gaps": len(gaps),
        "flags": flags(view, answers, first, outcomes, settings),
    }
    return Finding(values, spans_of(gaps, view.reply))


def described(one: Outcome) -> dict[str, Any]:
    question, place = one.question, one.place
    return {
        "origin": question.origin,
        "question": question.text,
        "type": question.type,
        "about": question.about,
        "start": question.start,
        "end": question.end,
        "removed": question.removed,
        "answer": one.given.answer,
        "quote": one.given.quote,
        "scope": one.scope,
        "quote_verified": place is not None,
        "quote_in": place.where if place else None,
        "quote_start": place.start if place else None,
        "quote_end": place.end if place else None,
        "quote_invented": one.is_invented,
        "is_gap": one.is_gap,
    }


def spans_of(gaps: Iterable[Outcome], reply: str) -> tuple[Span, ...]:
    """Where the gaps are, as many as a label may have."""
    asked = [one.question for one in gaps]
    found = {
        Span(one.start, one.end, one.type, reply[one.start : one.end])
        for one in asked
        if one.start is not None and one.end is not None
    }
    return tuple(sorted(found, key=lambda span: (span.start, span.end, span.type))[:MAX_SPANS])


def flags(
    view: ReplyView,
    answers: Sequence[Answer],
    first: FirstReading | None = None,
    outcomes: Sequence[Outcome] = (),
    settings: Mapping[str, Any] | None = None,
) -> list[str]:
    """What somebody should look at, whatever the verdict is."""
    texts = judged_texts(view)
    found = {
        "answer_unverified": first is not None and not first.is_settled,
        "invented_quote": any(one.is_invented for one in outcomes),
        "names_left_out": settings is not None and n_names(view, settings) > MOST_LEXICAL,
        "obeys_the_text": any(is_copied(answer, texts) for answer in answers),
        "steering_text": steers(texts),
    }
    return [name for name, holds in found.items() if holds]


def n_names(view: ReplyView, settings: Mapping[str, Any]) -> int:
    return len(marked(unseen_names(view, settings["allow"]), view.reply))


# Settings


def read_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """`endpoint`, the model it asks; `allow`, as the lexical judge has it; `extensions` of files whose names need no
    explaining; `scopes`, whether to read on step by step or once with everything at hand."""
    refuse_unknown(given, ("endpoint", "allow", "extensions", "scopes"))
    return {"endpoint": read_endpoint(given), **own_settings(given)}


def own_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    allow = lexical.read_settings({name: given[name] for name in ("allow",) if name in given})["allow"]
    scopes = given.get("scopes", "in_order")
    if scopes not in READINGS:
        raise SettingsError(unknown_scopes())
    return {"allow": allow, "extensions": extensions(given.get("extensions", list(EXTENSIONS))), "scopes": scopes}


def extensions(given: object) -> list[str]:
    if not isinstance(given, list | tuple) or len(given) > MOST_EXTENSIONS or not all(map(is_extension, given)):
        raise SettingsError(wrong_extensions())
    return sorted({one.lower() for one in given})


def is_extension(one: object) -> bool:
    return isinstance(one, str) and 0 < len(one) <= LONGEST_EXTENSION and one.isascii() and one.isalnum()


def unknown_scopes() -> Problem:
    return Problem(
        code="unknown_label",
        field="scopes",
        pointer="/scopes",
        expected=gettext_noop("One of: %(allowed)s."),
        remedy=gettext_noop("Choose one of these; case counts."),
        params={"allowed": ", ".join(READINGS)},
    )


def wrong_extensions() -> Problem:
    return Problem(
        code="wrong_type",
        field="extensions",
        pointer="/extensions",
        expected=gettext_noop("A list of at most %(most)s endings of 1 to %(longest)s letters or digits."),
        remedy=gettext_noop("Write for example [\"md\", \"csv\"], without the dot, or leave it out."),
        params={"most": MOST_EXTENSIONS, "longest": LONGEST_EXTENSION},
    )


JUDGE = JudgeSpec(
    name="reader",
    title=gettext_noop("Reader in the requester's seat"),
    describe=gettext_noop(
        "Asks a model what somebody who saw only the requester's side could not understand in the reply, looks for "
        "the answers in the reply and in what the requester saw, and checks every quote. It also tells whether the "
        "reply answers, and whether it is in the requester's language."
    ),
    version="1",
    kinds=("reply",),
    view=reply_view,
    step=step,
    settings=own_settings({}),
    read_settings=read_settings,
    fields=(
        SettingField(
            "scopes",
            gettext_noop("How it reads for the answers to its questions"),
            "choice",
            (
                ("in_order", gettext_noop("step by step, reading on")),
                ("single_pass", gettext_noop("once, with everything at hand")),
            ),
        ),
    ),
    asks=True,
    prompts=("reader.questions", "reader.answers"),
)
