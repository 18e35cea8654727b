"""A judge without a model: identifiers that the requester never saw, and the language (docs/methods.md, Lexical judge).

It marks a code, a key or a run name of the reply that stands in the agent's private texts and nowhere in what the
requester saw. It does not tell whether the reply explains the name, and sees no gap that is put in plain words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from annotate.kinds.base import Finding, Span
from annotate.kinds.reply.label import MAX_SPANS
from annotate.rules.identifiers import ALLOWED, Candidate, candidates, names_in
from annotate.rules.language import scripts_of, wanted_language
from annotate.traces.base import Problem, gettext_noop
from scoring.judges.base import JudgeSpec, ReplyView, SettingsError, refuse_unknown, reply_view

MOST_ALLOWED, LONGEST_ALLOWED = 2000, 100


def step(view: ReplyView, settings: Mapping[str, Any]) -> Finding:
    """The gaps as spans, as many as a label may have, and whether the reply is in another language than asked for.
    Where too little tells either language, nothing is wrong."""
    gaps = marked(unseen_names(view, settings["allow"]), view.reply)
    scripts, wanted = scripts_of(view.reply), wanted_language(view.request, view.language)
    values = {
        "wrong_language": bool(wanted and scripts.language) and wanted != scripts.language,
        "requester_language": wanted,
        "reply_language": scripts.language,
        "han_characters": scripts.han,
        "latin_words": scripts.latin,
        "n_gaps": len(gaps),
    }
    return Finding(values, tuple(gaps[:MAX_SPANS]))


def unseen_names(view: ReplyView, allowed: Collection[str]) -> list[Candidate]:
    """Identifiers of the reply that the agent's private texts have and the requester's do not."""
    found = candidates(view.reply, allowed)
    private = names_in((one.name for one in found), (*view.held, *view.earlier)) if found else set()
    asked = [one for one in found if one.name in private]
    names = {name for one in asked for name in (one.name, one.known_by) if name}
    seen = names_in(names, seen_texts(view)) if names else set()
    return [one for one in asked if one.name not in seen and one.known_by not in seen]


def seen_texts(view: ReplyView) -> tuple[str, ...]:
    return (*(part for file in view.files for part in file), *view.dialog)


def marked(gaps: Iterable[Candidate], reply: str) -> list[Span]:
    """Where each name first stands; of those that overlap, the one that begins first and reaches furthest."""
    kept: list[Span] = []
    for gap in sorted(gaps, key=lambda one: (one.start, -one.end)):
        if not kept or gap.start >= kept[-1].end:
            kept.append(Span(gap.start, gap.end, "reference", reply[gap.start : gap.end]))
    return kept


def read_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """`allow`: tokens that everybody in the project knows, beside the usual ones."""
    refuse_unknown(given, ("allow",))
    allow = given.get("allow", [])
    if not isinstance(allow, list | tuple) or len(allow) > MOST_ALLOWED or not all(map(is_token, allow)):
        raise SettingsError(wrong_allow_list())
    return {"allow": sorted({*ALLOWED, *(token.strip() for token in allow)})}


def is_token(token: object) -> bool:
    return isinstance(token, str) and bool(token.strip()) and len(token) <= LONGEST_ALLOWED


def wrong_allow_list() -> Problem:
    return Problem(
        code="wrong_type",
        field="allow",
        pointer="/allow",
        expected=gettext_noop("A list of at most %(most)s words, none empty or longer than %(longest)s characters."),
        remedy=gettext_noop("Write for example [\"GPT-4\", \"UTF-8\"], or leave it out."),
        params={"most": MOST_ALLOWED, "longest": LONGEST_ALLOWED},
    )


JUDGE = JudgeSpec(
    name="lexical",
    title=gettext_noop("Identifiers and language"),
    describe=gettext_noop(
        "Marks codes, keys and run names that stand in the agent's own work but in nothing the requester saw, and "
        "tells a reply in another language. It asks no model, and sees neither gaps in plain words nor that a reply "
        "explains a name."
    ),
    version="1",
    kinds=("reply",),
    view=reply_view,
    step=step,
    settings=read_settings({}),
    read_settings=read_settings,
)
