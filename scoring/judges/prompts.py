"""The texts that judges send to models: what stands in them, whether a text is fit for its use, and how it is filled
(docs/methods.md, Prompts).

A placeholder is a name in double braces and nothing else is looked at, so neither the braces of JSON nor any template
language means anything here. What is put in is put in once and never read again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from annotate.traces.base import Problem, first_problems, gettext_noop

FOLDER = Path(__file__).parent.parent / "prompts"
LANGUAGES = ("en", "zh")
MARK = "mark"
"""The placeholder of the word that delimits all the others; only with it can a text say what the delimiters mean."""

PLACEHOLDERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "reader.questions": (MARK, "files", "conversation", "reply"),
        "reader.answers": (MARK, "text", "questions"),
        "checker": (MARK, "record", "reply"),
        "classifier": (MARK, "question", "span", "type", "window"),
        "writer.notice": (),
        "writer.requirements": (),
        "writer.separate": (MARK, "files", "conversation", "request", "work"),
        "writer.separate_requirements": (MARK, "files", "conversation", "request", "work"),
        "writer.facts": (),
        "rewriter": (MARK, "record", "request", "message"),
        "detector.system": (MARK, "policy"),
        "stepcls": (MARK, "domain", "examples", "plan", "trajectory", "step", "evidence"),
        "evidenceret": (MARK, "domain", "examples", "plan", "trajectory", "step", "steps", "evidence"),
        "stepdet": (MARK, "domain", "examples", "plan", "trajectory", "steps", "evidence"),
        "juror.system": (MARK, "guideline", "policy"),
        "juror": (MARK, "domain", "examples", "trajectory", "steps", "evidence"),
        "workflow": (MARK, "solved_run"),
    }
)
"""What each prompt has to have in it, by key, and may have at all."""

ANY = re.compile(r"\{\{([^{}\n]*)\}\}")
LONGEST_PROMPT = 20_000
LONGEST_NAME = 80
UNFIT = re.compile("[\0\ud800-\udfff]")


class MarkInValue(ValueError):
    """A text holds the very word that was to delimit it: the caller needs another one."""


def placeholders(text: str) -> tuple[str, ...]:
    """What stands in double braces, as it is written, each once and in the order of the text."""
    return tuple(dict.fromkeys(ANY.findall(text)))


def check(key: str, text: str) -> tuple[Problem, ...]:
    """What keeps a text from being the prompt of this key; KeyError where there is no such key."""
    known, found = PLACEHOLDERS[key], placeholders(text)
    if not text.strip() or len(text) > LONGEST_PROMPT or UNFIT.search(text):
        return (unfit_text(),)
    unknown = [unknown_placeholder(name, known) for name in found if name not in known]
    missing = [missing_placeholder(name) for name in known if name not in found]
    return tuple(first_problems([*unknown, *missing]))


def render(text: str, values: Mapping[str, str], mark: str) -> str:
    """The prompt with its values, every one between delimiters made from `mark`, which nobody can guess who wrote a
    value. KeyError names a placeholder without a value; MarkInValue where a value holds the mark."""
    names = placeholders(text)
    for name in names:
        if name != MARK and mark in values[name]:
            raise MarkInValue(f"The value of {name!r} holds the mark.")
    return ANY.sub(lambda found: mark if found[1] == MARK else delimited(found[1], values[found[1]], mark), text)


def delimited(name: str, value: str, mark: str) -> str:
    return f"[[{mark} begin {name}]]\n{value}\n[[{mark} end {name}]]"


def unfit_text() -> Problem:
    return Problem(
        code="unfit_prompt",
        field="text",
        expected=gettext_noop("A text of 1 to %(longest)s characters, without the character U+0000."),
        remedy=gettext_noop("Write or shorten it; the newest version is a good start."),
        params={"longest": LONGEST_PROMPT},
    )


def unknown_placeholder(name: str, known: tuple[str, ...]) -> Problem:
    return Problem(
        code="unknown_placeholder",
        field="text",
        expected=gettext_noop("Only these placeholders: %(known)s. There is no %(name)s."),
        remedy=gettext_noop("Correct its name, without blanks, or take it out."),
        params={"name": braced(name[:LONGEST_NAME]), "known": ", ".join(map(braced, known))},
    )


def missing_placeholder(name: str) -> Problem:
    return Problem(
        code="missing_placeholder",
        field="text",
        expected=gettext_noop("The placeholder %(name)s, which is missing."),
        remedy=gettext_noop("Put it where the model is to see what it stands for."),
        params={"name": braced(name)},
    )


def braced(name: str) -> str:
    return "{{" + name + "}}"


def shipped(key: str, language: str) -> str:
    return (FOLDER / f"{key}.{language}.txt").read_text("utf-8")


SHIPPED: Mapping[tuple[str, str], str] = MappingProxyType(
    {(key, language): shipped(key, language) for key in PLACEHOLDERS for language in LANGUAGES}
)
"""The texts that come with the product, by key and language: version 1 of every project."""
