"""The page on which a lead sets a question up: its fields, flat as a form posts them, and what its buttons do.

The name of a field is its pointer in the schema with hyphens, `parts-0-labels-1-title-en`. A part or label that no
protocol has yet goes by an id that begins with `+` until it is saved."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace

from annotate.kinds.base import Schema
from annotate.kinds.choice.question import (
    MAX_LABELS,
    MAX_PARTS,
    TYPES,
    Label,
    Part,
    PartType,
    Question,
    Title,
    When,
    question_of,
    stored,
)
from annotate.kinds.choice.schema import finished, with_keys

PLACE = re.compile(r"parts-([0-9]{1,3})-id")
LABEL_PLACE = re.compile(r"([0-9]{1,3})-id")
ACTION = re.compile(r"(add|remove|up|down|label|unlabel|raise|lower)-([a-z]+|[0-9]{1,3})(?:-([0-9]{1,3}))?")
NUMBER = re.compile(r"[+-]?[0-9]{1,4}")
NOT_A_NUMBER = 10**6
"""Stands for what is no number, so that it is refused and never replaced."""


@dataclass(frozen=True, slots=True)
class Editor:
    """`typed` has what the number fields of a part hold, letter for letter; `focus` is the id of the field that a
    button leads to."""

    question: Question
    typed: Mapping[str, tuple[str, str]]
    focus: str = ""


def edit_schema(post: Mapping[str, str] | None, schema: Schema) -> Editor:
    if post is None:
        return Editor(question_of(schema), {})
    was = typed_question(post, schema)
    places = sorted({int(found[1]) for name in post if (found := PLACE.fullmatch(name))})
    typed = {
        part.id: (post.get(f"parts-{place}-lowest", ""), post.get(f"parts-{place}-highest", ""))
        for part, place in zip(was.parts, places, strict=False)
        if part.type == "scale"
    }
    question, focus = acted(was, post.get("do", ""))
    return Editor(question, typed, focus)


def read_schema(post: Mapping[str, str], newest: Schema | None) -> Schema:
    return finished(typed_question(post, newest or {}), newest)


def draft_schema(post: Mapping[str, str]) -> Schema:
    question, _ = acted(typed_question(post, {}, keeps_all=True), post.get("do", ""))
    return stored(with_keys(question))


# What was typed


def typed_question(post: Mapping[str, str], begun: Schema, *, keeps_all: bool = False) -> Question:
    """The question as it was typed. Only ids that the newest schema has at that place are believed."""
    known = {part.id: set(part.label_ids) for part in question_of(begun).parts}
    places = sorted({int(found[1]) for name in post if (found := PLACE.fullmatch(name))})
    parts = tuple(typed_part(post, f"parts-{place}-", known, keeps_all) for place in places[: MAX_PARTS + 1])
    return Question(post.get("judged", ""), parts, (), {part.id: part for part in parts})


def typed_part(post: Mapping[str, str], at: str, known: Mapping[str, set[str]], keeps_all: bool) -> Part:
    id = post.get(f"{at}id", "")
    own = known.get(id, set())
    when = post.get(f"{at}when", "").split("/")
    if len(when) == 2 and not keeps_all:
        labels = known.get(when[0], set())
        when = [believed(when[0], known), believed(when[1], labels)]
    type_: PartType = next((name for name in TYPES if name == post.get(f"{at}type")), "one")
    return Part(
        id=id if keeps_all else believed(id, known),
        type=type_,
        title=typed_title(post, f"{at}title"),
        help=typed_title(post, f"{at}help"),
        required=f"{at}required" in post,
        when=When(*when) if len(when) == 2 else None,
        ordered=f"{at}ordered" in post,
        labels=tuple(typed_labels(post, f"{at}labels-", own, keeps_all)),
        lowest=typed_number(post.get(f"{at}lowest", "1")),
        highest=typed_number(post.get(f"{at}highest", "5")),
        ends=(typed_title(post, f"{at}ends-0"), typed_title(post, f"{at}ends-1")),
        digits=f"{at}digits" in post,
        key=post.get(f"{at}key", "").strip(),
    )


def believed(id: str, known: Container[str]) -> str:
    """An id of the newest schema; any other is one that is given when it is saved."""
    return id if id in known or id.startswith("+") else f"+{id}"


def typed_labels(post: Mapping[str, str], at: str, known: set[str], keeps_all: bool) -> Iterator[Label]:
    names = (name.removeprefix(at) for name in post if name.startswith(at))
    places = sorted({int(found[1]) for name in names if (found := LABEL_PLACE.fullmatch(name))})
    for place in places[: MAX_LABELS + 1]:
        id = post[f"{at}{place}-id"]
        own = id if keeps_all else believed(id, known)
        yield Label(own, typed_title(post, f"{at}{place}-title"), post.get(f"{at}{place}-key", "").strip())


def typed_title(post: Mapping[str, str], at: str) -> Title:
    return Title(*(post.get(f"{at}-{language}", "").strip().replace("\r\n", "\n") for language in ("en", "zh")))


def typed_number(text: str) -> int:
    return int(text) if NUMBER.fullmatch(text.strip()) else NOT_A_NUMBER


# What the buttons do


def acted(question: Question, do: str) -> tuple[Question, str]:
    """The question after a press of a button, and where the focus goes; unchanged where there is nothing to do."""
    found = ACTION.fullmatch(do)
    if not found:
        return question, ""
    action, of, inside = found.groups()
    parts = list(question.parts)
    if action == "add":
        wanted = next((name for name in TYPES if name == of), None)
        if wanted is None or len(parts) >= MAX_PARTS:
            return question, ""
        parts.append(new_part(question, wanted))
        return with_parts(question, parts), f"labels-parts-{len(parts) - 1}-title-en"
    place = int(of) if of.isdecimal() else len(parts)
    if place >= len(parts):
        return question, ""
    if action == "remove":
        del parts[place]
        return with_parts(question, parts), "labels-add" if not parts else f"labels-parts-{max(place - 1, 0)}-title-en"
    if action in ("up", "down"):
        to = min(max(place + (1 if action == "down" else -1), 0), len(parts) - 1)
        parts.insert(to, parts.pop(place))
        return with_parts(question, parts), f"labels-parts-{to}-title-en"
    parts[place], focus = with_labels(question, parts[place], place, action, inside)
    return with_parts(question, parts), focus


def with_labels(question: Question, part: Part, place: int, action: str, inside: str | None) -> tuple[Part, str]:
    """Add, remove or move a label of a part."""
    labels, at = list(part.labels), f"labels-parts-{place}-labels"
    if action == "label":
        if len(labels) >= MAX_LABELS:
            return part, ""
        labels.append(Label(free_id(question), Title()))
        return replace(part, labels=tuple(labels)), f"{at}-{len(labels) - 1}-title-en"
    index = int(inside or MAX_LABELS)
    if index >= len(labels):
        return part, ""
    if action == "unlabel":
        del labels[index]
        to = max(index - 1, 0)
    else:
        to = min(max(index + (1 if action == "lower" else -1), 0), len(labels) - 1)
        labels.insert(to, labels.pop(index))
    return replace(part, labels=tuple(labels)), f"{at}-{to}-title-en" if labels else f"labels-parts-{place}-title-en"


def with_parts(question: Question, parts: list[Part]) -> Question:
    return replace(question, parts=tuple(parts), by_id={part.id: part for part in parts})


def new_part(question: Question, type_: PartType) -> Part:
    n_labels = {"one": 2, "several": 2, "marks": 1}.get(type_, 0)
    first = int(free_id(question)[1:])
    labels = tuple(Label(f"+{first + 1 + n}", Title()) for n in range(n_labels))
    return Part(f"+{first}", type_, Title(), required=type_ in ("one", "scale"), labels=labels)


def free_id(question: Question) -> str:
    ids = [one for part in question.parts for one in (part.id, *part.label_ids)]
    return f"+{1 + max((int(id[1:]) for id in ids if re.fullmatch(r'[+][0-9]{1,6}', id)), default=0)}"
