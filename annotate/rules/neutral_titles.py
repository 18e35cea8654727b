"""What annotators are told a project is called. Where two versions are compared blind, its name would say so; what they
do there is reading replies."""

from __future__ import annotations

import re

PAIRS = "pairs"
READING = ("Reply reading", "回复阅读")
TELLING = re.compile(r"(?:default|rewrit|rewrote|version|condition|blind|compar|pair).*|arms?|ab")


def titles_for_annotators(assigning: str, titles: tuple[str, str]) -> tuple[str, str]:
    """In English and Chinese, from the lead's own."""
    return READING if assigning == PAIRS else titles


def tells_the_study(slug: str) -> str:
    """What of a project's name, which stands in addresses, gives away that versions are compared; "" where nothing."""
    return next((word for word in re.split("[-_]", slug.lower()) if TELLING.fullmatch(word)), "")
