"""How texts are put into a prompt beside each other, so that none of them can pass for two."""

from __future__ import annotations

import re
from collections.abc import Sequence

from annotate.rules.language import language_of

NOTHING = {"en": "(none)", "zh": "（无）"}
RULE = re.compile("=+")


def parts(texts: Sequence[tuple[str, str]], language: str) -> str:
    """Texts under headings. The rule before a heading is longer than any in the texts."""
    if not texts:
        return NOTHING[language]
    longest = max((len(found) for _, text in texts for found in RULE.findall(text)), default=0)
    rule = "=" * max(3, longest + 1)
    return "\n".join(f"{rule} {one_line(heading)}\n{text}" for heading, text in texts)


def one_line(text: str) -> str:
    return " ".join(text.split())


def prompt_language(collaboration: str, request: str) -> str:
    """The language of the collaboration, or where nobody said, of the message that is answered."""
    known = [one for one in (collaboration, language_of(request)) if one in NOTHING]
    return known[0] if known else "en"
