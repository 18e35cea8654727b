"""Which language a text is in, by its scripts (docs/methods.md, Language of a reply)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from annotate.rules.identifiers import MARK, blank, is_identifier, is_plain, token_places, without_addresses
from annotate.rules.light_text import FENCE

FEWEST = 5
"""Fewer characters or words than this tell nothing."""

HAN = re.compile("[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
LATIN_LETTER = "[A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff]"
LATIN = re.compile(rf"{LATIN_LETTER}++(?:['’]{LATIN_LETTER}++)*+")
OTHERS = {
    "kana": re.compile("[\u3041-\u3096\u30a1-\u30fa\uff66-\uff9d]"),
    "hangul": re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]"),
    "cyrillic": re.compile("[\u0400-\u052f]{2,}+"),
    "greek": re.compile("[\u0370-\u03ff\u1f00-\u1fff]{2,}+"),
    "arabic": re.compile("[\u0620-\u064a\u066e-\u06d3\u0750-\u077f]{2,}+"),
}
"""Further scripts, each counted for itself: by characters where a word is a few of them, else by words of at least two
letters, since a single one is a symbol."""


@dataclass(frozen=True, slots=True)
class Scripts:
    """How much of each script the prose of a text has."""

    han: int
    """Characters."""
    latin: int
    """Words."""
    others: Mapping[str, int]

    @property
    def language(self) -> str:
        """`zh`, `en`, the name of a further script, or empty where there is too little to tell."""
        other = max(self.others, key=lambda name: self.others[name])
        if self.others[other] >= FEWEST and self.others[other] > max(self.han, self.latin):
            return other
        if self.han >= self.latin:
            return "zh" if self.han >= FEWEST else ""
        return "en" if self.latin >= FEWEST else ""


def scripts_of(text: str) -> Scripts:
    """Han characters are set against Latin words, not letters, so that Chinese full of Latin terms stays Chinese."""
    said = prose(text)
    others = {name: len(pattern.findall(said)) for name, pattern in OTHERS.items()}
    return Scripts(len(HAN.findall(said)), len(LATIN.findall(said)), others)


def language_of(text: str) -> str:
    return scripts_of(text).language


def prose(text: str) -> str:
    """A canonical text with blanks in place of what is in no language: code, addresses, file names and identifiers."""
    plain = without_addresses(MARK.sub(blank_code, without_code_blocks(text)))
    parts, end = [], 0
    for start, stop in token_places(plain):
        token = plain[start:stop]
        if is_identifier(token) or is_plain(token):
            parts += [plain[end:start], " "]
            end = stop
    return "".join([*parts, plain[end:]])


def blank_code(mark: re.Match[str]) -> str:
    return blank(mark) if mark["code"] else mark[0]


def without_code_blocks(text: str) -> str:
    """Lines outside of fences; one that nobody closes reaches to the end."""
    lines, is_inside = [], False
    for line in text.split("\n"):
        if FENCE.match(line):
            is_inside = not is_inside
        elif not is_inside:
            lines.append(line)
    return "\n".join(lines)


def wanted_language(request: str, collaboration: str) -> str:
    """The requester's language: that of the message that is answered, or where this says too little that of the
    collaboration. Empty where neither is known."""
    return language_of(request) or collaboration
