"""What the labels of a project may say, and by which words the rules suggest steps. Leads may change the words and
switch the rules off; types and certainties are those of the method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotate.kinds.base import LabelError, Schema
from annotate.traces.base import Problem, first_problems, gettext_noop
from annotate.traces.strict_json import pointer_part

TYPES = ABNORMAL, DUPLICATED, INCORRECT, EXPLORATORY = ("ABN", "DUP", "INC", "EXP")
"""In the order in which they are checked: the first that fits is the type."""
TYPE_TITLES = {
    ABNORMAL: gettext_noop("abnormal step"),
    DUPLICATED: gettext_noop("duplicated step"),
    INCORRECT: gettext_noop("incorrect step"),
    EXPLORATORY: gettext_noop("exploratory step"),
}
CERTAINTIES = ("low", "medium", "high")

TRANSPORT = (
    *("timeout", "timed out", "unavailable", "connection", "refused", "rate limit", "too many requests"),
    *("internal server error", "bad gateway", "5xx", "超时", "不可用"),
)
"""Failures from outside, so that a valid call gave nothing."""
WRONG_CALL = (
    *("error", "failed", "failure", "exception", "traceback", "not found", "does not exist", "invalid"),
    *("missing required", "unknown tool", "unauthorized", "forbidden", "denied"),
    *("错误", "失败", "异常", "未找到", "不存在", "无效", "拒绝"),
)

SCHEMA: Schema = {
    "types": list(TYPES),
    "certainties": list(CERTAINTIES),
    "suggest": True,
    "keywords": {ABNORMAL: list(TRANSPORT), INCORRECT: list(WRONG_CALL)},
}
FIXED = ("types", "certainties")
MOST_KEYWORDS = 200
LONGEST_KEYWORD = 60
MAX_NAME = 80


def check_schema(given: Mapping[str, Any], newest: Schema | None = None) -> Schema:
    """The schema in its stored form; LabelError names what is wrong with what somebody wrote."""
    problems = first_problems(schema_problems(given))
    if problems:
        raise LabelError(*problems)
    keywords = {type: list(dict.fromkeys(map(str.strip, words))) for type, words in given["keywords"].items()}
    return {**SCHEMA, "suggest": given["suggest"], "keywords": {type: keywords[type] for type in SCHEMA["keywords"]}}


def schema_problems(given: Mapping[str, Any]) -> Iterator[Problem]:
    for name in sorted(set(given) - set(SCHEMA)):
        expected = gettext_noop("One of: %(allowed)s.")
        yield wrong(name[:MAX_NAME], pointer_part(name), expected, allowed=", ".join(SCHEMA))
    for name in FIXED:
        if name in given and given[name] != SCHEMA[name]:
            yield wrong(name, f"/{name}", gettext_noop("Exactly: %(allowed)s."), allowed=", ".join(SCHEMA[name]))
    if not isinstance(given.get("suggest"), bool):
        yield wrong("suggest", "/suggest", gettext_noop("true or false."))
    keywords = given.get("keywords")
    if not isinstance(keywords, Mapping) or set(keywords) != set(SCHEMA["keywords"]):
        expected = gettext_noop("An object with a list of words for each of %(allowed)s.")
        yield wrong("keywords", "/keywords", expected, allowed=", ".join(SCHEMA["keywords"]))
        return
    for type, words in keywords.items():
        yield from keyword_problems(words, f"/keywords/{type}")


def keyword_problems(words: Any, pointer: str) -> Iterator[Problem]:
    if not isinstance(words, list):
        yield wrong("keywords", pointer, gettext_noop("A list of words."))
        return
    if len(words) > MOST_KEYWORDS:
        yield wrong("keywords", pointer, gettext_noop("At most %(limit)s words."), limit=MOST_KEYWORDS)
        return
    for place, word in enumerate(words):
        if not isinstance(word, str) or not 0 < len(word.strip()) <= LONGEST_KEYWORD:
            expected = gettext_noop("A word or a few, of 1 to %(limit)s characters.")
            yield wrong("keywords", f"{pointer}/{place}", expected, limit=LONGEST_KEYWORD)


def wrong(field: str, pointer: str, expected: str, **params: object) -> Problem:
    return Problem(
        code="wrong_value",
        field=field,
        pointer=pointer,
        expected=expected,
        remedy=gettext_noop("Correct it, or leave the schema out to take the kind's own."),
        params=params,
    )
