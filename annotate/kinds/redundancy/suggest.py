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
from dataclasses import dataclass
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
SAYS_CODE = ("http", "status", "code", "error")
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

    def __init__(self, words: Mapping[str, Sequence[Word]]) -> None:
        self.words = words

    @staticmethod
    def of(keywords: Mapping[str, Iterable[str]]) -> Keywords:
        return compiled(tuple((type, tuple(words)) for type, words in keywords.items()))

    def first_in(self, text: str) -> tuple[str, str] | None:
        """The type that is checked first of those with a word in the text, and the word as it stands there."""
        lower = lowered(text)
        for type in sorted(self.words, key=TYPES.index):
            found = [match for word in self.words[type] if (match := word.first_in(text, lower))]
            if found:
                return type, min(found, key=lambda match: match.start())[0]
        return None


@dataclass(frozen=True, slots=True)
class Word:
    """A keyword and what each place at which it can stand begins with. A result may be of megabytes, and looking for a
    fixed text in it is many times as fast as trying a pattern at every character."""

    pattern: re.Pattern[str]
    begins: tuple[str, ...]
    may_begin_text: bool = False

    def first_in(self, text: str, lower: str) -> re.Match[str] | None:
        if not self.begins:
            return self.pattern.search(text)
        found = [self.pattern.match(text)] if self.may_begin_text else []
        found += [self.first_at(begin, text, lower) for begin in self.begins]
        return min((match for match in found if match), key=lambda match: match.start(), default=None)

    def first_at(self, begin: str, text: str, lower: str) -> re.Match[str] | None:
        place = lower.find(begin)
        while place >= 0:
            if match := self.pattern.match(text, place):
                return match
            place = lower.find(begin, place + 1)
        return None


def lowered(text: str) -> str:
    """In lower case, each character at its place; with the letters that a pattern takes for others, whatever case."""
    for other, plain_one in (("\u0130", "i"), ("\u0131", "i"), ("\u017f", "s")):
        text = text.replace(other, plain_one)
    return text.lower()


@lru_cache(maxsize=32)
def compiled(keywords: tuple[tuple[str, tuple[str, ...]], ...]) -> Keywords:
    return Keywords({type: tuple(map(word_of, words)) for type, words in keywords if words})


def word_of(word: str) -> Word:
    pattern = re.compile(pattern_of(word), re.IGNORECASE)
    if word.lower() == "5xx":
        return Word(pattern, SAYS_CODE, may_begin_text=True)
    begin = word.split()[0]
    is_plain = begin.isascii() or all(map(HAN.match, begin))
    return Word(pattern, (begin.lower(),) if is_plain else ())


def pattern_of(word: str) -> str:
    if word.lower() == "5xx":
        return SERVER_CODE
    spaced = r"\s+".join(map(re.escape, word.split()))
    before = "" if HAN.match(word[0]) else r"(?<!\w)"
    after = "" if HAN.match(word[-1]) else r"(?!\w)"
    return f"{before}{spaced}{after}"
