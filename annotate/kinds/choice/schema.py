"""A lead's question as a schema: checked, with ids and keys that are given where there are none, and never a second
time to anything else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from annotate.kinds.base import LabelError, Schema
from annotate.kinds.choice.question import (
    ID,
    JUDGED,
    MARKS,
    MAX_HELP,
    MAX_LABELS,
    MAX_PARTS,
    MAX_STEPS,
    MAX_TITLE,
    MAX_TYPES,
    OF_THE_PAGE,
    TYPES,
    Label,
    Part,
    Question,
    Title,
    question_of,
    stored,
)
from annotate.traces.base import Problem, first_problems, gettext_noop

PART_FIELDS = {
    "one": {"labels", "ordered"},
    "several": {"labels"},
    "marks": {"labels"},
    "scale": {"lowest", "highest", "ends", "digits"},
    "note": {"key"},
}
EVERY_PART = {"id", "type", "title", "help", "required", "when"}
WITH_LABELS = ("one", "several", "marks")


def check_schema(data: Mapping[str, Any], newest: Schema | None) -> Schema:
    """The schema that somebody wrote as JSON, whole; LabelError names each field that is wrong by its pointer."""
    if problems := first_problems(form_problems(data)):
        raise LabelError(*problems)
    return finished(question_of(data), newest)


def finished(question: Question, newest: Schema | None) -> Schema:
    """With ids, keys and what was removed; LabelError where a lead has to say more."""
    question = with_keys(with_ids(with_removed(question, newest)))
    if problems := first_problems(problems_of(question)):
        raise LabelError(*problems)
    return stored(question)


# The form of what was written


def form_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Wrong types and names; what a question says is looked at afterwards."""
    yield from unknown(data, {"judged", "parts", "removed"}, "")
    parts, removed = data.get("parts"), data.get("removed", [])
    if not isinstance(parts, list):
        yield wrong_type("/parts", "list")
        parts = []
    if not isinstance(removed, list):
        yield wrong_type("/removed", "list")
        removed = []
    for place, part in enumerate(parts[: MAX_PARTS + 1]):
        yield from part_form(part, f"/parts/{place}")
    for place, label in enumerate(removed):
        yield from label_form(label, f"/removed/{place}", {"id", "title"})


def part_form(part: Any, pointer: str) -> Iterator[Problem]:
    if not isinstance(part, Mapping):
        yield wrong_type(pointer, "object")
        return
    if part.get("type") not in TYPES:
        yield wrong_value(f"{pointer}/type", ", ".join(TYPES))
        return
    yield from unknown(part, EVERY_PART | PART_FIELDS[part["type"]], pointer)
    for name in ("title", "help"):
        yield from title_form(part.get(name, {}), f"{pointer}/{name}")
    for name in ("id", "key"):
        yield from typed(part, name, str, "text", pointer)
    for name in ("required", "ordered", "digits"):
        yield from typed(part, name, bool, "true, false", pointer)
    for name in ("lowest", "highest"):
        yield from typed(part, name, int, "whole number", pointer)
    when = part.get("when")
    if when is not None and not (
        isinstance(when, Mapping)
        and set(when) == {"part", "label"}
        and all(isinstance(one, str) for one in when.values())
    ):
        yield wrong_type(f"{pointer}/when", '{"part": "…", "label": "…"}')
    ends = part.get("ends", [{}, {}])
    if not isinstance(ends, list) or len(ends) != 2:
        yield wrong_type(f"{pointer}/ends", "list of two titles")
    else:
        for place, end in enumerate(ends):
            yield from title_form(end, f"{pointer}/ends/{place}")
    labels = part.get("labels", [])
    if not isinstance(labels, list):
        yield wrong_type(f"{pointer}/labels", "list")
    else:
        for place, label in enumerate(labels[: MAX_LABELS + 1]):
            yield from label_form(label, f"{pointer}/labels/{place}", {"id", "title", "key"})


def label_form(label: Any, pointer: str, names: set[str]) -> Iterator[Problem]:
    if not isinstance(label, Mapping):
        yield wrong_type(pointer, "object")
        return
    yield from unknown(label, names, pointer)
    yield from title_form(label.get("title", {}), f"{pointer}/title")
    for name in ("id", "key"):
        yield from typed(label, name, str, "text", pointer)


def title_form(title: Any, pointer: str) -> Iterator[Problem]:
    if not isinstance(title, Mapping) or not all(isinstance(text, str) for text in title.values()):
        yield wrong_type(pointer, '{"en": "…", "zh": "…"}')
    else:
        yield from unknown(title, {"en", "zh"}, pointer)


def typed(data: Mapping[str, Any], name: str, type_: type, words: str, pointer: str) -> Iterator[Problem]:
    if name in data and type(data[name]) is not type_:
        yield wrong_type(f"{pointer}/{name}", words)


def unknown(data: Mapping[str, Any], names: set[str], pointer: str) -> Iterator[Problem]:
    for name in sorted(set(data) - names):
        yield Problem(
            code="unknown_field",
            field=name[:80],
            pointer=f"{pointer}/{name[:80]}",
            expected=gettext_noop("Fields that there are here: %(fields)s."),
            remedy=gettext_noop("Leave the other out."),
            params={"fields": ", ".join(sorted(names))},
        )


# Ids, keys, and what is there no more


def with_ids(question: Question) -> Question:
    """Each part and label that has no id of its own gets one, from its English title; `when` follows."""
    taken = {MARKS, *(label.id for label in question.removed)}
    taken |= {one for part in question.parts for one in (part.id, *part.label_ids) if ID.fullmatch(one)}
    names: dict[str, str] = {}
    parts = []
    for part in question.parts:
        id = names[part.id] = part.id if ID.fullmatch(part.id) else new_id(part.title, "part", taken)
        labels = []
        for label in part.labels:
            own = label.id if ID.fullmatch(label.id) else new_id(label.title, "label", taken)
            names[f"{part.id}/{label.id}"] = own
            labels.append(replace(label, id=own))
        when = part.when
        if when is not None:
            label_name = names.get(f"{when.part}/{when.label}", when.label)
            when = replace(when, part=names.get(when.part, when.part), label=label_name)
        parts.append(replace(part, id=id, labels=tuple(labels), when=when))
    return replace(question, parts=tuple(parts), by_id={part.id: part for part in parts})


def new_id(title: Title, otherwise: str, taken: set[str]) -> str:
    name = re.sub("[^a-z0-9]+", "_", title.en.lower()).strip("_")[:30].strip("_") or otherwise
    number, id = 1, name
    while id in taken:
        number += 1
        id = f"{name}_{number}"
    taken.add(id)
    return id


def with_removed(question: Question, newest: Schema | None) -> Question:
    """What the newest schema has or had, and this one has not: its ids are not given again."""
    before = question_of(newest or {})
    here = {one for part in question.parts for one in (part.id, *part.label_ids)}
    was = [*question.removed, *before.removed]
    was += [one for part in before.parts for one in (Label(part.id, part.title), *part.labels)]
    gone = {label.id: Label(label.id, label.title) for label in was if label.id not in here}
    return replace(question, removed=tuple(gone.values()))


def with_keys(question: Question) -> Question:
    """A key that was left empty becomes the first that is free: digits for labels, letters of its title for a type of
    marks. Who has none is reached by Tab like any field."""
    taken = set(OF_THE_PAGE)
    taken |= {label.key for part in question.parts for label in part.labels} | {part.key for part in question.parts}
    for part in question.parts:
        if part.digits:
            taken |= set(map(str, part.numbers))
    parts = []
    for part in question.parts:
        labels = []
        for label in part.labels:
            wanted = letters_of(label.title) if part.type == "marks" else "123456789"
            key = label.key or next((one for one in wanted if one not in taken), "")
            taken.add(key)
            labels.append(replace(label, key=key))
        parts.append(replace(part, labels=tuple(labels)))
    return replace(question, parts=tuple(parts), by_id={part.id: part for part in parts})


def letters_of(title: Title) -> str:
    return "".join(re.findall("[a-z]", title.en.lower())) + "abdefhijklnoqrstuvwxy"


# What a question has to say


@dataclass(slots=True)
class Seen:
    """What the parts before had."""

    ids: set[str] = field(default_factory=lambda: {MARKS})
    keys: dict[str, str] = field(default_factory=dict)
    parts: dict[str, Part] = field(default_factory=dict)
    n_types: int = 0


def problems_of(question: Question) -> Iterator[Problem]:
    if question.judged not in JUDGED:
        yield wrong_value("/judged", ", ".join(JUDGED))
    if not any(part.type != "note" for part in question.parts):
        yield told("/parts", "missing_field", NO_PARTS, ADD_A_PART)
    if len(question.parts) > MAX_PARTS:
        yield told("/parts", "too_many", AT_MOST, REMOVE_SOME, limit=MAX_PARTS)
        return
    seen = Seen()
    for place, part in enumerate(question.parts):
        yield from problems_of_part(part, place, seen)
        seen.parts[part.id] = part
    if seen.n_types > MAX_TYPES:
        yield told("/parts", "too_many", MOST_TYPES, REMOVE_SOME, limit=MAX_TYPES)


NO_PARTS = gettext_noop("A question asks at least one thing beside notes.")
ADD_A_PART = gettext_noop("Add a part.")
AT_MOST = gettext_noop("At most %(limit)s.")
MOST_TYPES = gettext_noop("At most %(limit)s types of marks in all parts together: each has an underline of its own.")
REMOVE_SOME = gettext_noop("Remove some.")
SHORTEN = gettext_noop("Shorten it.")
NO_TITLE = gettext_noop("Part %(part)s has no title.")
NO_LABEL_TITLE = gettext_noop("Part %(part)s: label %(label)s has no title.")
WRITE_ONE = gettext_noop("Write one in at least one language.")
TWO_LABELS = gettext_noop("Part %(part)s needs two labels or more.")
ONE_TYPE = gettext_noop("Part %(part)s needs at least one type of marks.")
ADD_A_LABEL = gettext_noop("Add a label.")
TOO_LONG = gettext_noop("Part %(part)s: a text longer than %(limit)s characters.")
TWICE = gettext_noop("Part %(part)s: the id %(id)s is there twice.")
OTHER_ID = gettext_noop("Choose another one.")
KEY_FORM = gettext_noop("Part %(part)s: the key “%(key)s” is none; a key is a small letter or a digit.")
KEY_TAKEN = gettext_noop("Part %(part)s: the key “%(key)s” is taken by %(owner)s.")
OTHER_KEY = gettext_noop("Choose another one, or leave it empty.")
RANGE = gettext_noop("Part %(part)s: a scale goes up, by at most %(limit)s steps between -1000 and 1000.")
CHANGE_ENDS = gettext_noop("Change its lowest or its highest number.")
DIGITS = gettext_noop("Part %(part)s: only numbers from 0 to 9 can be keys.")
NO_DIGITS = gettext_noop("Untick it, or shorten the scale.")
WHEN = gettext_noop("Part %(part)s is asked where an earlier part has a label, and there is no such label.")
CHOOSE_WHEN = gettext_noop("Choose one of those before it, or ask it always.")
NOTE_REQUIRED = gettext_noop("Part %(part)s: a note can be left empty.")
UNTICK = gettext_noop("Untick “has to be answered”.")


def problems_of_part(part: Part, place: int, seen: Seen) -> Iterator[Problem]:
    at, n = f"/parts/{place}", place + 1
    if not part.title.en.strip() and not part.title.zh.strip():
        yield told(f"{at}/title/en", "missing_field", NO_TITLE, WRITE_ONE, part=n)
    yield from long_texts(part, at, n)
    yield from ids_twice(part, at, n, seen)
    yield from problems_of_labels(part, at, n, seen)
    if part.type == "scale":
        if not (-1000 <= part.lowest < part.highest <= 1000) or part.highest - part.lowest > MAX_STEPS:
            yield told(f"{at}/highest", "out_of_range", RANGE, CHANGE_ENDS, part=n, limit=MAX_STEPS)
        elif part.digits and not (part.lowest >= 0 and part.highest <= 9):
            yield told(f"{at}/digits", "wrong_value", DIGITS, NO_DIGITS, part=n)
        elif part.digits:
            for number in part.numbers:
                yield from key_problems(str(number), f"{at}/digits", n, part.title, seen)
    if part.type == "note":
        yield from key_problems(part.key, f"{at}/key", n, part.title, seen)
        if part.required:
            yield told(f"{at}/required", "wrong_value", NOTE_REQUIRED, UNTICK, part=n)
    if part.when is not None:
        of = seen.parts.get(part.when.part)
        if of is None or of.type not in ("one", "several") or part.when.label not in of.label_ids:
            yield told(f"{at}/when", "wrong_value", WHEN, CHOOSE_WHEN, part=n)


def long_texts(part: Part, at: str, n: int) -> Iterator[Problem]:
    titles = [(f"{at}/title", part.title, MAX_TITLE), (f"{at}/help", part.help, MAX_HELP)]
    titles += [(f"{at}/ends/{place}", end, MAX_TITLE) for place, end in enumerate(part.ends)]
    titles += [(f"{at}/labels/{place}/title", one.title, MAX_TITLE) for place, one in enumerate(part.labels)]
    for pointer, title, limit in titles:
        for language in ("en", "zh"):
            if len(getattr(title, language)) > limit:
                yield told(f"{pointer}/{language}", "too_many", TOO_LONG, SHORTEN, part=n, limit=limit)


def ids_twice(part: Part, at: str, n: int, seen: Seen) -> Iterator[Problem]:
    for pointer, id in [
        (f"{at}/id", part.id),
        *((f"{at}/labels/{place}/id", id) for place, id in enumerate(part.label_ids)),
    ]:
        if id in seen.ids:
            yield told(pointer, "duplicate_id", TWICE, OTHER_ID, part=n, id=id)
        seen.ids.add(id)


def problems_of_labels(part: Part, at: str, n: int, seen: Seen) -> Iterator[Problem]:
    if part.type not in WITH_LABELS:
        return
    if part.type == "one" and len(part.labels) < 2:
        yield told(f"{at}/labels", "missing_field", TWO_LABELS, ADD_A_LABEL, part=n)
    if part.type != "one" and not part.labels:
        words = ONE_TYPE if part.type == "marks" else TWO_LABELS
        yield told(f"{at}/labels", "missing_field", words, ADD_A_LABEL, part=n)
    if len(part.labels) > MAX_LABELS:
        yield told(f"{at}/labels", "too_many", AT_MOST, REMOVE_SOME, limit=MAX_LABELS)
    if part.type == "marks":
        seen.n_types += len(part.labels)
    for place, label in enumerate(part.labels):
        inside = f"{at}/labels/{place}"
        if not label.title.en.strip() and not label.title.zh.strip():
            yield told(f"{inside}/title/en", "missing_field", NO_LABEL_TITLE, WRITE_ONE, part=n, label=place + 1)
        yield from key_problems(label.key, f"{inside}/key", n, label.title, seen)


def key_problems(key: str, pointer: str, n: int, title: Title, seen: Seen) -> Iterator[Problem]:
    if not key:
        return
    if not re.fullmatch("[a-z0-9]", key):
        yield told(pointer, "wrong_value", KEY_FORM, OTHER_KEY, part=n, key=key[:20])
    elif key in OF_THE_PAGE:
        yield told(pointer, "duplicate_key", KEY_OF_PAGE, OTHER_KEY, part=n, key=key)
    elif key in seen.keys:
        yield told(pointer, "duplicate_key", KEY_TAKEN, OTHER_KEY, part=n, key=key, owner=seen.keys[key])
    else:
        seen.keys[key] = f"“{title.en or title.zh}”"


KEY_OF_PAGE = gettext_noop("Part %(part)s: the key “%(key)s” is taken by the page.")


def told(pointer: str, code: str, expected: str, remedy: str, /, **params: object) -> Problem:
    names = [name for name in pointer.split("/") if name and not name.isdecimal()]
    field = names[-2] if names[-1] in ("en", "zh") else names[-1]
    return Problem(code=code, field=field, pointer=pointer, expected=expected, remedy=remedy, params=params)


def wrong_type(pointer: str, expected: str) -> Problem:
    words, remedy = gettext_noop("Expected here: %(expected)s."), gettext_noop("Write it in that form.")
    return told(pointer or "/label_schema", "wrong_type", words, remedy, expected=expected)


def wrong_value(pointer: str, allowed: str) -> Problem:
    words = gettext_noop("One of: %(allowed)s.")
    return told(pointer, "wrong_value", words, gettext_noop("Choose one of these; case counts."), allowed=allowed)
