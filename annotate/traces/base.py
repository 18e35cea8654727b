"""The values every reader of an outside format produces: a Trace, or a Problem that says what is wrong where.

A trace is one recorded collaboration of a requester and an agent. Readers keep what the file said (texts letter for
letter, original indexes) and settle only what the format itself settles: who speaks, what a message answers.
What the requester may see is decided afterwards by `annotate/rules/requester_view.py`, the same for every format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as field_
from itertools import islice
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool", "summary", "other"]
"""`user` is the requester, `assistant` the agent that speaks to them, `summary` a compaction summary of the agent's own
context, `other` what neither of them says to the other: agents among themselves, what a program put in, and a message
of a foreign format that we did not understand, which is counted too. All of `other` is private."""

Side = Literal["agent", "user"]
"""Whose doing a message is: tools that the requester calls are `user`, everything else of the work is `agent`."""

ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool", "summary")
"""The roles our own format accepts, in the order in which messages name them."""


def gettext_noop(message: str) -> str:
    """Mark a sentence of pure code for translation; the edge that shows it translates (`Problem.as_dict(gettext)`)."""
    return message


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with an input, where, what was expected and what to do. `line` counts from 1; `pointer` is a JSON
    pointer inside that line, element or file; a `warning` is said and counted but refuses nothing. `expected` and
    `remedy` are message ids (marked by `gettext_noop`) that may hold `%(name)s` places filled from `params`."""

    code: str
    expected: str
    remedy: str
    file: str = ""
    line: int | None = None
    pointer: str | None = None
    field: str = ""
    params: Mapping[str, Any] = field_(default_factory=dict)
    warning: bool = False

    def as_dict(self, translate: Callable[[str], str] = str) -> dict[str, Any]:
        """The form of every surface: `{code, file, line | pointer, field, expected, remedy}`, without absent places."""
        place = {"line": self.line, "pointer": self.pointer}
        return {
            "code": self.code,
            "file": self.file,
            **{key: value for key, value in place.items() if value is not None},
            "field": self.field,
            "expected": translate(self.expected) % self.params if self.params else translate(self.expected),
            "remedy": translate(self.remedy) % self.params if self.params else translate(self.remedy),
        }

    def sentence(self, translate: Callable[[str], str] = str) -> str:
        """One line for a person: file, place, code, what was expected, what to do."""
        said = self.as_dict(translate)
        line = f" line {self.line}" if self.line is not None else ""
        pointer = f" {self.pointer}" if self.pointer else ""
        head = f"{self.file}{line}{pointer}".strip() or self.field
        return f"{head}: {self.code}. {said['expected']} {said['remedy']}".strip()


MOST_PROBLEMS = 50
"""So many are named in one answer to a body or a form, whatever else is wrong with it."""


def first_problems(problems: Iterable[Problem], n_all: int | None = None) -> list[Problem]:
    """The first of them, and where there are more a last one that says so, with their number where `n_all` tells it.
    What is not told is not built either."""
    waiting = iter(problems)
    found = list(islice(waiting, MOST_PROBLEMS))
    if len(found) == MOST_PROBLEMS and next(waiting, None) is not None:
        found.append(MORE_PROBLEMS if n_all is None else n_more_problems(n_all - MOST_PROBLEMS))
    return found


MORE_PROBLEMS = Problem(
    code="more_problems",
    expected=gettext_noop("There are more problems, which are not listed."),
    remedy=gettext_noop("Correct these first."),
)


def n_more_problems(n: int) -> Problem:
    return Problem(
        code="more_problems",
        expected=gettext_noop("Problems like these that are not listed: %(n)s."),
        remedy=gettext_noop("Correct these first."),
        params={"n": n},
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record stands: its line (from 1), or in an array the pointer of its element, `/0` being the first."""

    file: str = ""
    line: int | None = None
    prefix: str = ""

    def __str__(self) -> str:
        return f"line {self.line}" if self.line is not None else f"element {self.prefix or '/'}"

    def problem(
        self, code: str, pointer: str = "", *, expected: str, remedy: str, warning: bool = False, **params: object
    ) -> Problem:
        """A problem of this record at a JSON pointer inside it; its field is the last name of the pointer."""
        whole = self.prefix + pointer
        names = [name for name in pointer.split("/") if name and not name.isdecimal()]
        return Problem(
            code=code,
            expected=expected,
            remedy=remedy,
            file=self.file,
            line=self.line,
            pointer=whole if whole or self.line is None else None,
            field=names[-1] if names else "",
            params=params,
            warning=warning,
        )


@dataclass(frozen=True, slots=True)
class Likeness:
    """How far the first record of a file looks like a format: which of its marks are there, and which are missing."""

    found: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call beside or instead of a text. `arguments` is the file's text, or its JSON where it was no text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Answered:
    """Which call a tool message answers: the original index of the calling message, and the call's place in it."""

    index: int
    call: int


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of a trace. `index` is its place in the source (from 0), `session` counts from 1."""

    index: int
    role: Role
    text: str
    session: int = 1
    side: Side = "agent"
    calls: tuple[Call, ...] = ()
    answers: Answered | None = None
    answers_id: str = ""
    """The call id that a tool message named, as the file had it; pairing turns it into `answers`."""
    name: str = ""
    """Tool name of a tool message; of an `other` one the agent that speaks, or the source's own role. Private."""


@dataclass(frozen=True, slots=True)
class File:
    """A file the requester gave, readable from the message with original index `available_from` on."""

    name: str
    text: str
    available_from: int = 0


@dataclass(frozen=True, slots=True)
class Trace:
    """One recorded agent run. `metadata` is private: model, run name, reward, task, whatever else the file said."""

    source_id: str
    format: str
    messages: tuple[Message, ...]
    files: tuple[File, ...] = ()
    language: str = ""
    """`en`, `zh` or empty where the file does not say."""
    area: str = ""
    cluster: str = ""
    """What is resampled together; empty means the trace itself."""
    metadata: Mapping[str, Any] = field_(default_factory=dict)
    place: Place = field_(default=Place(), compare=False)
    """Where in its file it stands; no part of what it is."""
