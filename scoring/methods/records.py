"""Records made elsewhere, one JSON object a line: what a method takes is declared as data, and what is wrong with a
file is said by line and field, all of it at once.

Every record names its type in `record`. A field that may be absent may be null, which means the same. A field nobody
declared is refused, as a name with a slip in it would else be read as absent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as field_
from typing import Any, Literal

from annotate.traces.base import Place, Problem, gettext_noop
from annotate.traces.documents import Document, Documents

Kind = Literal["text", "whole", "number", "truth", "texts", "wholes", "objects"]
KIND_WORDS: dict[Kind, str] = {
    "text": gettext_noop("A text."),
    "whole": gettext_noop("A whole number."),
    "number": gettext_noop("A number."),
    "truth": gettext_noop("true or false."),
    "texts": gettext_noop("A list of texts."),
    "wholes": gettext_noop("A list of whole numbers."),
    "objects": gettext_noop("A list of objects."),
}
LARGEST = 10**15
"""Sums of numbers up to here stay finite and exact."""
AS_SCHEMA = gettext_noop("Correct it as docs/records.md says, then run the report again.")


@dataclass(frozen=True)
class Field:
    """One field of a record. `about` says what it holds, in a few words; `unit` what a number counts. `refers` names
    the record type whose `id` this is, or several with `|` between them. `inside` are the fields of each object of a
    list of objects."""

    name: str
    kind: Kind
    about: str = ""
    required: bool = True
    allowed: tuple[Any, ...] = ()
    unit: str = ""
    least: float | None = None
    most: float | None = None
    refers: str = ""
    inside: tuple[Field, ...] = ()


@dataclass(frozen=True)
class Wrong:
    """What a check of a whole record finds; `expected` and `remedy` are message ids."""

    field: str
    expected: str
    remedy: str = AS_SCHEMA
    params: Mapping[str, Any] = field_(default_factory=dict)


Check = Callable[[Mapping[str, Any]], Iterable[Wrong]]


@dataclass(frozen=True)
class RecordType:
    """`key` are the fields that no two records of the type may share; `checks` see a record whose fields are right."""

    name: str
    about: str
    fields: tuple[Field, ...]
    key: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()


ABOUT = RecordType(
    "about",
    "Where the records come from; shown above the report.",
    (
        Field("text", "text", "a sentence for readers of the report"),
        Field("synthetic", "truth", "the records were made up, so the report says so", required=False),
    ),
)


@dataclass(frozen=True)
class Schema:
    """The record types of a method; `about` records belong to every method. `checks` see all records once each of them
    is right by itself."""

    types: tuple[RecordType, ...]
    checks: tuple[Callable[[Records], Iterable[Problem]], ...] = ()

    def all_types(self) -> tuple[RecordType, ...]:
        return (ABOUT, *self.types)


@dataclass(frozen=True)
class Record:
    """A record that is as its type says: every declared field is there, None where it was absent or null."""

    type: str
    values: Mapping[str, Any]
    place: Place = field_(default=Place(), compare=False)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


@dataclass(frozen=True)
class Records:
    """The records of a file by type, in the order of the file."""

    by_type: Mapping[str, Sequence[Record]]

    def __getitem__(self, name: str) -> Sequence[Record]:
        return self.by_type.get(name, ())


class RecordsRefused(ValueError):
    """Everything that is wrong with the records."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems[0].sentence())
        self.problems = list(problems)


def read_records(documents: Documents | Iterable[Document | Problem], schema: Schema) -> Records:
    """The records of a file; RecordsRefused with every problem of it where there is one."""
    types = {one.name: one for one in schema.all_types()}
    found: dict[str, list[Record]] = defaultdict(list)
    problems: list[Problem] = []
    for one in documents:
        if isinstance(one, Problem):
            problems.append(one)
            continue
        read = read_record(one.value, one.place, types)
        if isinstance(read, Record):
            found[read.type].append(read)
        else:
            problems += read
    problems += [one for type_ in types.values() for one in _twice(type_, found[type_.name])]
    if not problems:  # what a record of a bad file refers to may be the very one that was not read
        problems += [one for type_ in types.values() for one in _unknown(type_, found)]
    records = Records(dict(found))
    if not problems:
        problems += [problem for check in schema.checks for problem in check(records)]
    if problems:
        raise RecordsRefused(problems)
    return records


def records_of(values: Iterable[Mapping[str, Any]], schema: Schema) -> Records:
    """The records of a program that holds them already, under the same rules."""
    return read_records(
        (Document(value, Place("records", line=number)) for number, value in enumerate(values, start=1)), schema
    )


def read_record(value: Any, place: Place, types: Mapping[str, RecordType]) -> Record | list[Problem]:
    if not isinstance(value, Mapping):
        return [
            place.problem(
                "wrong_type", expected=gettext_noop("One JSON object for each record."), remedy=AS_SCHEMA
            )
        ]
    name = value.get("record")
    type_ = types.get(name) if isinstance(name, str) else None
    if type_ is None:
        return [
            place.problem(
                "unknown_record" if "record" in value else "missing_field",
                "/record",
                expected=gettext_noop("The type of the record, one of: %(allowed)s."),
                remedy=AS_SCHEMA,
                allowed=", ".join(types),
            )
        ]
    own = {key: one for key, one in value.items() if key != "record"}
    values, problems = _values(own, type_.fields, place, "")
    if not problems:
        problems = [
            place.problem(
                "bad_record", f"/{wrong.field}", expected=wrong.expected, remedy=wrong.remedy, **wrong.params
            )
            for check in type_.checks
            for wrong in check(values)
        ]
    return problems or Record(type_.name, values, place)


def _values(
    value: Mapping[str, Any], fields: Sequence[Field], place: Place, before: str
) -> tuple[dict[str, Any], list[Problem]]:
    names = {one.name for one in fields}
    problems = [
        place.problem(
            "unknown_field",
            f"{before}/{key}",
            expected=gettext_noop("Only the fields %(allowed)s."),
            remedy=gettext_noop("Remove it, or correct its name."),
            allowed=", ".join(one.name for one in fields),
        )
        for key in value
        if key not in names
    ]
    values: dict[str, Any] = {}
    for one in fields:
        given = value.get(one.name)
        pointer = f"{before}/{one.name}"
        values[one.name] = given
        if given is None:
            if one.required:
                problems.append(
                    place.problem(
                        "missing_field", pointer, expected=KIND_WORDS[one.kind], remedy=AS_SCHEMA
                    )
                )
            continue
        if one.kind == "objects" and isinstance(given, list):
            values[one.name] = []
            for number, inner in enumerate(given):
                if not isinstance(inner, Mapping):
                    problems.append(_wrong_type(one, place, f"{pointer}/{number}"))
                    continue
                read, wrong = _values(inner, one.inside, place, f"{pointer}/{number}")
                values[one.name].append(read)
                problems += wrong
            continue
        problems += _wrong_value(one, given, place, pointer)
    return values, problems


def _wrong_value(one: Field, given: Any, place: Place, pointer: str) -> Iterator[Problem]:
    if not _is_kind(given, one.kind):
        yield _wrong_type(one, place, pointer)
        return
    for number, single in enumerate(given) if isinstance(given, list) else [(None, given)]:
        at = pointer if number is None else f"{pointer}/{number}"
        if one.allowed and not any(single == known and type(single) is type(known) for known in one.allowed):
            yield place.problem(
                "not_allowed",
                at,
                expected=gettext_noop("One of: %(allowed)s."),
                remedy=AS_SCHEMA,
                allowed=", ".join(map(str, one.allowed)),
            )
        elif one.kind == "text" and not one.allowed and (one.refers or one.required) and not single.strip():
            yield place.problem(
                "empty_text", at, expected=gettext_noop("A text that is not empty."), remedy=AS_SCHEMA
            )
        elif one.kind in ("whole", "wholes", "number"):
            least, most = (-LARGEST if one.least is None else one.least), (LARGEST if one.most is None else one.most)
            if not least <= single <= most:
                yield place.problem(
                    "out_of_range",
                    at,
                    expected=gettext_noop("A number from %(least)s to %(most)s."),
                    remedy=AS_SCHEMA,
                    least=least,
                    most=most,
                )


def _wrong_type(one: Field, place: Place, pointer: str) -> Problem:
    return place.problem("wrong_type", pointer, expected=KIND_WORDS[one.kind], remedy=AS_SCHEMA)


def _is_kind(given: Any, kind: Kind) -> bool:
    if kind in ("texts", "wholes"):
        return isinstance(given, list) and all(_is_kind(one, "text" if kind == "texts" else "whole") for one in given)
    if kind == "truth":
        return isinstance(given, bool)
    if kind == "whole":
        return isinstance(given, int) and not isinstance(given, bool)
    if kind == "number":
        return isinstance(given, int | float) and not isinstance(given, bool)
    return isinstance(given, str) if kind == "text" else False


def _twice(type_: RecordType, records: Sequence[Record]) -> Iterator[Problem]:
    """Records of one type that are about the same."""
    if not type_.key:
        return
    first: dict[Hashable, Record] = {}
    for one in records:
        key = tuple(one[name] for name in type_.key)
        known = first.setdefault(key, one)
        if known is not one:
            yield one.place.problem(
                "duplicate_record",
                f"/{type_.key[-1]}",
                expected=gettext_noop("Every %(key)s once among the records of this type; %(value)s is on %(first)s."),
                remedy=gettext_noop("Remove one of the two, or correct its key."),
                key=" + ".join(type_.key),
                value=" + ".join(str(part) for part in key if part is not None),
                first=str(known.place),
            )


def _unknown(type_: RecordType, found: Mapping[str, Sequence[Record]]) -> Iterator[Problem]:
    """References to records that are not there."""
    for one in type_.fields:
        if not one.refers:
            continue
        ids = {record["id"] for name in one.refers.split("|") for record in found.get(name, ())}
        for record in found.get(type_.name, ()):
            if record[one.name] is not None and record[one.name] not in ids:
                yield record.place.problem(
                    "unknown_reference",
                    f"/{one.name}",
                    expected=gettext_noop("The id of a %(type)s record of this file; there is none with %(value)s."),
                    remedy=gettext_noop("Add that record, or correct the id."),
                    type=one.refers.replace("|", " / "),
                    value=record[one.name],
                )
