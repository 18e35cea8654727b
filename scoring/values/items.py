"""Questions about what a simulator prints: their import, their verification by running, and which are left out and why.

A numeric question is kept where the printed value of what is asked equals exactly one option at that option's
precision, this option is the key, and both stay so under tighter settings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotate.traces.base import Problem, gettext_noop
from scoring.values.numbers import NUMBER, OTHER_NOTATIONS, Number, matching, number, occurrences, other_notation
from scoring.values.simulator import Ran, Simulator

Run = Callable[[str, str], Ran]
"""A run of the simulator: an input and a database."""
BASE = "base"
KINDS = ("numeric", "other")
AS_DOCS = gettext_noop("Correct it as docs/value-stages.md says, then import the file again.")
EXCLUSIONS = {
    "several_options_match": gettext_noop("the printed value matches several options"),
    "other_option_matches": gettext_noop("the printed value matches another option than the key"),
    "no_option_matches": gettext_noop("the printed value matches no option"),
    "unstable": gettext_noop("tighter settings print another option's value"),
    "not_printed": gettext_noop("the report does not print the value where the question says"),
    "run_failed": gettext_noop("the input of the setup does not run"),
    "prints_as_zero": gettext_noop("the value prints as zero, which stands everywhere"),
}
"""Why a question is left out, by code."""


@dataclass(frozen=True, slots=True)
class Option:
    label: str
    text: str
    value: Number | None = None


@dataclass(frozen=True, slots=True)
class Locator:
    """Where a report prints the value: patterns to find one after another, then a row whose first group it is."""

    after: tuple[str, ...]
    row: str


@dataclass(frozen=True, slots=True)
class Setup:
    key: str
    input_text: str
    database: str
    simulator: str = ""
    under_specified: bool = False


@dataclass(frozen=True, slots=True)
class ValueItem:
    id: str
    setup: str
    kind: str
    questions: Mapping[str, str]
    options: tuple[Option, ...]
    key: str
    locator: Locator | None = None

    @property
    def key_value(self) -> Number | None:
        """The value asked for; None where the answer is no number."""
        return next((one.value for one in self.options if one.label == self.key), None)

    @property
    def is_numeric(self) -> bool:
        return self.kind == "numeric"


@dataclass(frozen=True, slots=True)
class Verification:
    """What the runs printed, by variant, and what follows. `is_unique_match` and `is_stable` are None where the answer
    is no number, so that running says nothing about it."""

    item: str
    printed: Mapping[str, str | None] = field(default_factory=dict)
    is_unique_match: bool | None = None
    is_stable: bool | None = None
    exclusion: str = ""
    report_chars: int | None = None
    key_occurrences: int | None = None

    @property
    def is_verified(self) -> bool:
        return not self.exclusion


@dataclass(frozen=True)
class ReadItems:
    """All questions of a file, or none where one of them is wrong; warnings refuse nothing."""

    items: tuple[ValueItem, ...]
    problems: tuple[Problem, ...]


# Import

_ANOTHER = re.compile(r"(?<![\w/^])[-+.]?[0-9]")
"""A number that is no part of a unit such as g/cm3."""


def read_setups(text: str, inputs: Mapping[str, str], file: str = "") -> tuple[dict[str, Setup], tuple[Problem, ...]]:
    """The setups of a file, one JSON object a line. `inputs` are the reference inputs by the name a setup gives."""
    found: dict[str, Setup] = {}
    problems = []
    for line, said, problem in _lines(text, file):
        wrong = [problem] if problem else [*_setup_problems(said, found, inputs, file, line)]
        problems += wrong
        if not wrong:
            found[said["key"]] = Setup(
                said["key"],
                inputs[said["reference_input"]],
                said["database_name"],
                str(said.get("simulator") or ""),
                said.get("under_specified") is True,
            )
    return ({} if problems else found), tuple(problems)


def _setup_problems(
    said: Mapping[str, Any], found: Mapping[str, Setup], inputs: Mapping[str, str], file: str, line: int
) -> Iterator[Problem]:
    for name in ("key", "reference_input", "database_name"):
        if not _is_text(said.get(name)):
            yield _wrong("missing", file, line, name, gettext_noop("A text."))
    if said.get("key") in found:
        yield _wrong("duplicate", file, line, "key", gettext_noop("A name that no other line has."))
    if _is_text(said.get("reference_input")) and said["reference_input"] not in inputs:
        yield _wrong("missing_file", file, line, "reference_input", gettext_noop("The name of an input that is there."))


def read_items(text: str, setups: Mapping[str, Setup], file: str = "") -> ReadItems:
    """The questions of a file, one JSON object a line, all of them or none."""
    items: dict[str, ValueItem] = {}
    problems: list[Problem] = []
    for line, said, problem in _lines(text, file):
        wrong = [problem] if problem else [*_item_problems(said, items, setups, file, line)]
        problems += wrong
        if not any(not one.warning for one in wrong):
            items[said["id"]] = _item(said)
    is_refused = any(not one.warning for one in problems)
    return ReadItems(() if is_refused else tuple(items.values()), tuple(problems))


def _item(said: Mapping[str, Any]) -> ValueItem:
    is_numeric = said["kind"] == "numeric"
    place = said.get("locator") if is_numeric else None
    return ValueItem(
        id=said["id"],
        setup=said["setup"],
        kind=said["kind"],
        questions={name[9:]: said[name] for name in ("question_en", "question_zh") if _is_text(said.get(name))},
        options=tuple(
            Option(one["label"], one["text"], number(_value_text(one)) if is_numeric else None)
            for one in said["options"]
        ),
        key=said["key"],
        locator=Locator(tuple(place["after"]), place["row"]) if place else None,
    )


def _value_text(option: Mapping[str, Any]) -> str:
    """The value of an option: said apart, else the text as far as it is one number with a unit."""
    said = option.get("value")
    if said is not None:
        return str(said).strip()
    text = str(option["text"]).strip()
    first = NUMBER.match(text)
    unit = text[first.end() :] if first else text
    return first.group() if first and re.match(r"\s|$", unit) and not _ANOTHER.search(unit) else text


def _item_problems(
    said: Mapping[str, Any], found: Mapping[str, ValueItem], setups: Mapping[str, Setup], file: str, line: int
) -> Iterator[Problem]:
    if not _is_text(said.get("id")):
        yield _wrong("missing", file, line, "id", gettext_noop("A text."))
    elif said["id"] in found:
        yield _wrong("duplicate", file, line, "id", gettext_noop("A name that no other line has."))
    if said.get("setup") not in setups:
        yield _wrong("unknown_setup", file, line, "setup", gettext_noop("The name of a setup that is there."))
    if said.get("kind") not in KINDS:
        yield _wrong("kind", file, line, "kind", gettext_noop("numeric, or other where the answer is no number."))
    if not any(_is_text(said.get(name)) for name in ("question_en", "question_zh")):
        yield _wrong("missing", file, line, "question_en", gettext_noop("A question in English or Chinese."))
    options = said.get("options")
    if not isinstance(options, list) or len(options) < 2 or not all(_is_option(one) for one in options):
        yield _wrong("options", file, line, "options", gettext_noop("Two options or more, each with label and text."))
        return
    labels = [one["label"] for one in options]
    if len(set(labels)) < len(labels):
        yield _wrong("duplicate", file, line, "options", gettext_noop("Options with labels of their own."))
    if said.get("key") not in labels:
        yield _wrong("key", file, line, "key", gettext_noop("The label of an option."))
    elif said.get("kind") == "numeric":
        yield from _value_problems(said, options, file, line)


def _value_problems(
    said: Mapping[str, Any], options: Sequence[Mapping[str, Any]], file: str, line: int
) -> Iterator[Problem]:
    values: dict[str, Number] = {}
    for place, one in enumerate(options):
        text = _value_text(one)
        value = number(text)
        if value is None:
            yield _wrong(
                "notation",
                file,
                line,
                f"options/{place}/value",
                OTHER_NOTATIONS[other_notation(text) or "no_number"],
                text=text[:40],
            )
        else:
            values[one["label"]] = value
    key, stated = values.get(said["key"]), said.get("keyed_value")
    if key and stated is not None and stated != key.text:
        yield _wrong("keyed_value", file, line, "keyed_value", gettext_noop("The value of the option that is the key."))
    locator = said.get("locator")
    if not isinstance(locator, Mapping) or not _compiles(locator):
        yield _wrong(
            "locator", file, line, "locator", gettext_noop("Patterns in after, and a row with one group for the value.")
        )
    if len({one.exponent for one in values.values()}) > 1:
        yield _wrong(
            "mixed_precision",
            file,
            line,
            "options",
            gettext_noop("Options with the same last digit; these are compared each at its own."),
            warning=True,
        )


def _compiles(place: Mapping[str, Any]) -> bool:
    after, row = place.get("after"), place.get("row")
    if not isinstance(after, list) or not all(_is_text(one) for one in after) or not isinstance(row, str) or not row:
        return False
    try:
        return re.compile(row).groups == 1 and all(re.compile(one) for one in after)
    except (re.error, RecursionError, OverflowError):
        return False


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_option(value: Any) -> bool:
    return isinstance(value, Mapping) and _is_text(value.get("label")) and _is_text(value.get("text"))


def _lines(text: str, file: str) -> Iterator[tuple[int, Mapping[str, Any], Problem | None]]:
    for line, one in enumerate(text.split("\n"), 1):
        if not one.strip():
            continue
        try:
            said = json.loads(one)
        except (ValueError, RecursionError):
            said = None
        if isinstance(said, dict):
            yield line, said, None
        else:
            yield line, {}, _wrong("json", file, line, "", gettext_noop("One JSON object a line."))


def _wrong(
    code: str, file: str, line: int, name: str, expected: str, *, warning: bool = False, **params: str
) -> Problem:
    return Problem(code, expected, AS_DOCS, file=file, line=line, field=name, params=params, warning=warning)


# Verification


def printed_value(report: str, locator: Locator) -> str | None:
    """What a report prints where the locator leads, as it stands there."""
    place = 0
    for pattern in locator.after:
        found = re.compile(pattern, re.MULTILINE).search(report, place)
        if not found:
            return None
        place = found.end()
    row = re.compile(locator.row, re.MULTILINE).search(report, place)
    return row[1] if row else None


def verify(item: ValueItem, setup: Setup, simulator: Simulator, run: Run) -> Verification:
    """Run the reference input and its tighter variants, and decide by what they print."""
    base = run(setup.input_text, setup.database)
    if not base.ok:
        return Verification(item.id, exclusion="run_failed")
    if item.locator is None or item.key_value is None:
        return Verification(item.id, report_chars=len(base.report))
    printed = {BASE: printed_value(base.report, item.locator)}
    for variant, input_text in simulator.tightened(setup.input_text).items():
        ran = run(input_text, setup.database)
        printed[variant] = printed_value(ran.report, item.locator) if ran.ok else None
    return verified(item, printed, base.report)


def verified(item: ValueItem, printed: Mapping[str, str | None], report: str | None = None) -> Verification:
    """The decision by what was printed, by variant; the report of the base where it is there."""
    key = item.key_value
    if key is None:
        return Verification(item.id, printed, report_chars=None if report is None else len(report))
    matched = {variant: options_matched(item, text) for variant, text in printed.items()}
    is_unique = matched.get(BASE) == [item.key]
    is_stable = all(found == matched.get(BASE) for found in matched.values())
    return Verification(
        item.id,
        printed,
        is_unique,
        is_stable,
        _exclusion(item, printed, matched.get(BASE), is_stable),
        None if report is None else len(report),
        None if report is None else sum(1 for _ in occurrences(key, report)),
    )


def options_matched(item: ValueItem, text: str | None) -> list[str] | None:
    """The options that a printed value equals, each at its own precision; None where no number was printed."""
    printed = number(text) if text else None
    if printed is None:
        return None
    return [one.label for one in item.options if one.value and matching(one.value, printed)]


def _exclusion(
    item: ValueItem, printed: Mapping[str, str | None], matched: Sequence[str] | None, is_stable: bool
) -> str:
    if matched is None:
        return "not_printed"
    if item.key_value and item.key_value.value.is_zero():
        return "prints_as_zero"
    if not matched:
        return "no_option_matches"
    if len(matched) > 1:
        return "several_options_match"
    if matched != [item.key]:
        return "other_option_matches"
    return "" if is_stable else "unstable"


def strict(items: Iterable[ValueItem], setups: Mapping[str, Setup]) -> list[ValueItem]:
    """The questions whose setup leaves nothing open."""
    return [one for one in items if not setups[one.setup].under_specified]


def item_record(item: ValueItem, found: Verification, under_specified: bool) -> dict[str, Any]:
    """A question as a record of the method's figures."""
    said = {
        "record": "item",
        "id": item.id,
        "kind": item.kind,
        "setup": item.setup,
        "excluded": found.exclusion or None,
        "under_specified": under_specified,
        "report_chars": found.report_chars,
        "key": item.key,
        "key_occurrences": found.key_occurrences,
    }
    return {name: value for name, value in said.items() if value is not None}
