"""Two coarse rules that point to steps before anybody reads them (docs/redundant-steps.md, Suggestions). They suggest,
people decide.

`identical`: the same tool with the same arguments gave the same result before; evidence is the earliest such step.
`error_keyword`: the result holds a word that tells of an error; no other step is evidence.
A step that both find is suggested once, with the type that is checked first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from annotate.kinds.base import Schema, Suggestion
from annotate.kinds.redundancy.label import NONE_SERVES
from annotate.kinds.redundancy.schema import DUPLICATED, TYPES
from annotate.kinds.redundancy.steps import Pair, Step, entries_of, steps_of
from annotate.traces.base import Trace

IDENTICAL, ERROR_KEYWORD = "identical", "error_keyword"
SERVER_CODE = r"(?:http|status|code|error)\W{0,4}(?:code\W{0,4}+)?5\d\d(?!\w)|\A\W{0,4}5\d\d\s+[^\W\d_]"
"""`5xx` as a keyword: where a text calls a number a code, or begins with it and a word. Prices are no codes."""
HAN = re.compile("[\u3400-\u9fff]")


def suggest(trace: Trace, schema: Schema) -> list[Suggestion]:
    """One for each step that a rule finds, in the order of the steps; none where the schema switches the rules off."""
    if not schema.get("suggest", True):
        return []
    steps = [step for step in steps_of(entries_of(trace.messages)) if step.side == "agent"]
    earliest = repeated(steps)
    keywords = Keywords.of(schema["keywords"])
    found = (suggestion(step, earliest.get(step.pair), keywords.first_in(step.text)) for step in steps)
    return [one for one in found if one is not None]


def suggestion(step: Step, earliest: Pair | None, word: tuple[str, str] | None) -> Suggestion | None:
    hits = [] if earliest is None else [(DUPLICATED, IDENTICAL)]
    hits += [] if word is None else [(word[0], ERROR_KEYWORD)]
    if not hits:
        return None
    type = min((type for type, _ in hits), key=TYPES.index)
    return {
        "step": list(step.pair),
        "type": type,
        "evidence": list(earliest) if earliest is not None and type == DUPLICATED else [NONE_SERVES],
        "rules": [rule for _, rule in hits],
        "keyword": word[1] if word else "",
    }


def repeated(steps: Iterable[Step]) -> dict[Pair, Pair]:
    """Steps that did what an earlier one did, each with the earliest of them."""
    first: dict[tuple[str, str, str], Pair] = {}
    found = {}
    for step in steps:
        same = (step.tool.strip(), canonical_json(step.arguments), canonical_json(step.text))
        if same in first:
            found[step.pair] = first[same]
        else:
            first[same] = step.pair
    return found


def canonical_json(text: str) -> str:
    """The same text for the same values: keys sorted, numbers by their value, texts trimmed. What is no JSON is its own
    trimmed text, and never the same as a JSON text that reads alike."""
    try:
        value = json.loads(text, parse_int=number, parse_float=number, parse_constant=number)
        return "json " + json.dumps(plain(value), sort_keys=True, ensure_ascii=False)
    except (ValueError, RecursionError):
        return "text " + text.strip()


def plain(value: Any) -> Any:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return [plain(one) for one in value]
    return {key: plain(one) for key, one in value.items()} if isinstance(value, dict) else value


def number(text: str) -> dict[str, str]:
    """1, 1.0 and 1e0 are one number, and no number is a text or an object of a file."""
    try:
        sign, digits, exponent = Decimal(text).as_tuple()
    except InvalidOperation:
        return {"\0number": text}
    if not isinstance(exponent, int):
        return {"\0number": text}
    figures = "".join(map(str, digits))
    short = figures.rstrip("0")
    if not short.lstrip("0"):
        return {"\0number": "0"}
    return {"\0number": f"{'-' * sign}{short.lstrip('0')}e{exponent + len(figures) - len(short)}"}


class Keywords:
    """The words of a schema, ready to be looked for: whole ones, whatever their case."""

    def __init__(self, patterns: Sequence[tuple[str, re.Pattern[str]]]) -> None:
        self.patterns = patterns

    @staticmethod
    def of(keywords: Mapping[str, Iterable[str]]) -> Keywords:
        return compiled(tuple((type, tuple(words)) for type, words in keywords.items()))

    def first_in(self, text: str) -> tuple[str, str] | None:
        """The type that is checked first of those with a word in the text, and the word as it stands there."""
        found = [(type, match[0]) for type, pattern in self.patterns if (match := pattern.search(text))]
        return min(found, key=lambda hit: TYPES.index(hit[0]), default=None)


@lru_cache(maxsize=32)
def compiled(keywords: tuple[tuple[str, tuple[str, ...]], ...]) -> Keywords:
    patterns = [(type, "|".join(map(pattern_of, words))) for type, words in keywords if words]
    return Keywords([(type, re.compile(pattern, re.IGNORECASE)) for type, pattern in patterns])


def pattern_of(word: str) -> str:
    if word.lower() == "5xx":
        return SERVER_CODE
    spaced = r"\s+".join(map(re.escape, word.split()))
    before = "" if HAN.match(word[0]) else r"(?<!\w)"
    after = "" if HAN.match(word[-1]) else r"(?!\w)"
    return f"{before}{spaced}{after}"
