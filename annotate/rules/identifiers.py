"""What looks like an identifier in a text: a code, a key, a run name (docs/methods.md, Identifiers).

Only the form of a token counts here. Whether somebody knows what it stands for is asked of the texts they have seen
(`names_in`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from annotate.rules.whole_tokens import WholeTokens

LONGEST_CODE_SPAN = 60
ALLOWED = frozenset(
    {
        *("2D", "3D", "4G", "5G", "A/B", "B2B", "B2C", "CO2", "COVID-19", "F1", "GPT-4", "GitHub", "H2O"),
        *("IPv4", "IPv6", "JavaScript", "LaTeX", "MP3", "MP4", "PhD", "R2", "SHA-256"),
        *("UTF-16", "UTF-8", "WiFi", "kWh", "mAh", "pH", "p50", "p90", "p95", "p99"),
    }
)
"""Usual technical words that look like identifiers. Projects add theirs."""

EXTENSIONS = (
    *("md", "txt", "csv", "tsv", "json", "jsonl", "yaml", "yml", "toml", "py", "ipynb", "r", "sh", "log", "out", "pdf"),
    *("docx", "xlsx", "png", "jpg", "svg", "html", "tex", "bib", "parquet", "db", "sql"),
)
DOMAINS = ("com", "org", "net", "edu", "gov", "int", "io", "dev", "cn", "uk", "de", "eu")
MONTH = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    "|Nov(?:ember)?|Dec(?:ember)?)"
)

# Every pattern begins where a run of its characters begins and never gives back what it took (`++`), so that no text
# makes it look at a character more than a few times.

MARK = re.compile(
    r"(?P<code>(?<!`)(?P<tick>`++)(?P<inside>[^`\n]++)(?P=tick)(?!`))"
    r"|(?P<ticks>`++)|(?P<emphasis>\*++|_++)|(?P<line>\n)"
)
URL_REST = r"[^\s<>\"'|`(){}\0\x80-\U0010ffff]*+"
IN_PATH = r"[A-Za-z0-9_.~-]++"
ADDRESS = re.compile(
    rf"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*+://{URL_REST}|(?<![A-Za-z0-9_.-])www\.{URL_REST}"
    r"|(?<![A-Za-z0-9_.%+-])[A-Za-z0-9_.%+-]++@[A-Za-z0-9.-]++"
    rf"|(?<![A-Za-z0-9_.~/\\-])(?:[A-Za-z]:(?=[/\\]))?+[/\\]*+{IN_PATH}(?:[/\\]++{IN_PATH})++[/\\]*+"
)
"""URLs, e-mail addresses and paths."""
MOMENT = re.compile(
    r"(?<![A-Za-z0-9_])(?:\d{4}-\d\d-\d\dT\d\d(?::?\d\d){0,2}+(?:\.\d++)?+(?:Z|[+-]\d\d(?::?\d\d)?+)?+"
    r"|\d{1,2}(?::\d\d){1,2}+(?:\.\d++)?+ ?(?:[ap]m|[AP]M|Z|h)?+)(?![A-Za-z0-9_])"
)
FILE = re.compile(rf"[^\s/\\]*\.(?:{'|'.join(EXTENSIONS)})", re.IGNORECASE)
DOMAIN = re.compile(rf"(?:[a-z0-9-]++\.)++(?:{'|'.join(DOMAINS)})")

TOKEN = re.compile(r"[A-Za-z0-9_.\-\u00c0-\u024f]++")
PART = re.compile(r"[^.-]++")
EDGE = ".-"
"""Characters of a token that are punctuation at its ends."""
PAIR = re.compile(r"\0*+:\0*+ ?\0*+")
"""What stands between a key and its value."""

NUMBER = (
    r"\d++(?:\.\d++)*+(?:[eE][+-]?\d++)?+"
    r"(?:ms|min|mb|MB|gb|GB|kb|kB|KB|k|K|px|pp|pm|am|AM|PM|st|nd|rd|th|s|h|d|x)?"
)
NO_IDENTIFIER = re.compile(
    r"[vV]?\d++(?:\.\d++)++"  # version
    rf"|(?:(?:pre|post|mid|early|late|non)-)?{NUMBER}(?:-(?:{NUMBER}|[a-z][a-z]++))*+"  # 10ms, 20th-century, mid-2024
    rf"|(?:\d{{1,2}}(?:st|nd|rd|th)?-?)?{MONTH}-?\d{{1,4}}(?:-\d{{2,4}})?|\d{{1,2}}(?:st|nd|rd|th)?-?{MONTH}"
    r"|\d{4}-?(?:Q[1-4]|W\d\d)|\d{1,2}h\d\d"  # 2024-Q1, 17h30
)
FEATURE = re.compile(r"_|[A-Za-z]-?\d|\d-?[A-Za-z]|[a-z][A-Z]|(?<![A-Za-z0-9_-])[A-Za-z_][\w-]++\.[A-Za-z_][\w-]")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]++")
LETTER = re.compile(r"[^\W\d_]")
ESCAPE = re.compile(r"\\(?:[nrt]|u[0-9a-fA-F]{4})")


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that looks like an identifier, where it first stands: `[start, end)` in the text as it is. `name` is
    without markup. A key with its value, and a part of a longer token, are known to whoever knows the key or the whole
    (`known_by`)."""

    name: str
    start: int
    end: int
    known_by: str = ""


def candidates(text: str, allowed: Collection[str] = ALLOWED) -> list[Candidate]:
    """What looks like an identifier in a canonical text, each name once, in the order of their places."""
    found: dict[str, Candidate] = {}
    usual = frozenset(allowed)
    for candidate in sorted((*code_spans(text), *tokens(text)), key=lambda one: (one.start, -one.end)):
        if candidate.name not in usual and candidate.known_by not in usual:
            found.setdefault(candidate.name, candidate)
    return list(found.values())


def names_in(names: Iterable[str], texts: Iterable[str]) -> set[str]:
    """Those of the names that stand in any of the texts as whole tokens, case and all: in the text as it is, or as it
    reads without markup and JSON escapes. Names come from `candidates`, so they hold no line end."""
    return WholeTokens(names).found_in(reading for text in texts for reading in readings(text))


def readings(text: str) -> Iterator[str]:
    yield text
    unescaped = ESCAPE.sub(" ", text) if "\\" in text else text
    as_read = without_markup(unescaped).replace("\0", "")
    if as_read != text:
        yield as_read


def without_markup(text: str) -> str:
    """The text with U+0000 for every backtick and every asterisk or underscore that emphasises, so that all the rest
    stays in its place."""
    parts, end = [], 0
    for start, stop in sorted(markup(text)):
        parts += [text[end:start], "\0" * (stop - start)]
        end = stop
    return "".join([*parts, text[end:]])


def markup(text: str) -> Iterator[tuple[int, int]]:
    """Backticks, and runs of asterisks or underscores that open in front of a word and close, in the same line, behind
    one. Inside a code span all but the backticks is meant as it is."""
    opened: dict[str, tuple[int, int]] = {}
    for mark in MARK.finditer(text):
        if mark["code"]:
            yield mark.start(), mark.start("inside")
            yield mark.end("inside"), mark.end()
        elif mark["ticks"]:
            yield mark.span()
        elif mark["line"]:
            opened.clear()
        elif may_close(text, mark.start(), mark.end()) and mark[0] in opened:
            yield opened.pop(mark[0])
            yield mark.span()
        elif may_open(text, mark.start(), mark.end()):
            opened[mark[0]] = mark.span()


def may_open(text: str, start: int, end: int) -> bool:
    return not is_word(text[start - 1 : start]) and not text[end : end + 1].isspace()


def may_close(text: str, start: int, end: int) -> bool:
    return not text[start - 1 : start].isspace() and not is_word(text[end : end + 1])


def is_word(letter: str) -> bool:
    return letter.isascii() and letter.isalnum()


def code_spans(text: str) -> Iterator[Candidate]:
    """What stands between backticks, unless it is too long or of a form that names nothing."""
    for mark in MARK.finditer(text):
        name = (mark["inside"] or "").strip()
        if 0 < len(name) <= LONGEST_CODE_SPAN and LETTER.search(name) and not is_plain(name):
            start = text.index(name, mark.start("inside"))
            yield Candidate(name, start, start + len(name))


def is_plain(name: str) -> bool:
    """Numbers, dates, measures, versions, addresses, paths and files: they say what they are."""
    return any(pattern.fullmatch(name) for pattern in (NO_IDENTIFIER, FILE, DOMAIN, ADDRESS, MOMENT))


def tokens(text: str) -> Iterator[Candidate]:
    """Tokens that look like identifiers with their parts, and keys with their values."""
    bare = without_addresses(without_markup(text))
    before = None
    for start, end in token_places(bare):
        if before is not None and (pair := pair_of(bare, before, (start, end))):
            yield pair
        if is_identifier(bare[start:end]):
            yield Candidate(bare[start:end], start, end)
            yield from parts(bare[start:end], start)
        before = (start, end)


def token_places(text: str) -> Iterator[tuple[int, int]]:
    """Where tokens of ASCII stand, without punctuation at their ends."""
    for found in TOKEN.finditer(text):
        token = found[0].strip(EDGE)
        if token and token.isascii():
            start = found.start() + len(found[0]) - len(found[0].lstrip(EDGE))
            yield start, start + len(token)


def pair_of(text: str, key: tuple[int, int], value: tuple[int, int]) -> Candidate | None:
    """`reader_size: 70B`, or two names that a colon joins."""
    between = text[key[1] : value[0]]
    if not PAIR.fullmatch(between):
        return None
    first, second = text[slice(*key)], text[slice(*value)]
    is_name = between.strip("\0") == ":" and may_be_joined(first) and may_be_joined(second)
    if not is_identifier(first) and not is_name:
        return None
    return Candidate(text[key[0] : value[1]].replace("\0", ""), key[0], value[1], known_by=first)


def may_be_joined(token: str) -> bool:
    """A name of at least two characters that is no file: what a colon without a blank makes an identifier of."""
    return bool(NAME.fullmatch(token)) and not is_plain(token)


def parts(token: str, start: int) -> Iterator[Candidate]:
    """What looks like an identifier between the hyphens and dots of a longer one: `R03-R06`, `set_B2x-based`."""
    for found in PART.finditer(token):
        if len(found[0]) < len(token) and is_identifier(found[0]):
            yield Candidate(found[0], start + found.start(), start + found.end(), known_by=token)


def is_identifier(token: str) -> bool:
    """Whether a token has the form of one: a letter, and an underscore, a digit beside a letter or joined to one by a
    hyphen, a capital inside, or a dot between names."""
    return bool(FEATURE.search(token)) and bool(LETTER.search(token)) and not is_plain(token)


def without_addresses(text: str) -> str:
    """The text with blanks for every URL, e-mail address, path and moment of time."""
    return MOMENT.sub(blank, ADDRESS.sub(blank, text))


def blank(found: re.Match[str]) -> str:
    return " " * len(found[0])
