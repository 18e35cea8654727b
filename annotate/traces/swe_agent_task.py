"""Where in the first message of a coding agent the requester's own words stand.

SWE-agent and mini-swe-agent put the issue into a template and send both as one user message. What the template adds is
said by nobody; the message is cut there, so that its parts, one after the other, are the message again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

PLACES = re.compile(r"\{\{\s*(?:problem_statement|task)\s*\}\}|\{(?:problem_statement|issue|task)\}")
"""Where a template takes the issue: with two braces from Jinja, with one from Python."""
TEMPLATE_SIGNS = re.compile(r"\{[{%#].*?[}%#]\}|\{\w+\}", re.DOTALL)
TEMPLATES = (
    "ISSUE:\n{issue}\n\nINSTRUCTIONS:\nNow, you're going to solve this ",
    "{issue}\n\nINSTRUCTIONS:\nNow, you're going to solve this challenge ",
    "<pr_description>\nConsider the following PR description:\n{{task}}\n</pr_description>",
    "<pr_description>\n{{problem_statement}}\n</pr_description>",
    "Please solve this issue: {{task}}\n\nYou can execute bash commands",
    "Your task: {{task}}. Please reply with a single shell command in triple backticks.",
)
"""What these programs come with; files of older versions do not hold their templates."""


def task_parts(text: str, statements: Iterable[str] = (), templates: Iterable[str] = ()) -> tuple[str, str, str]:
    """What stands before the requester's words, these, and what stands after. `statements` are the words as the file
    has them by themselves, `templates` those it was made with. Where nothing tells them apart, all of it is theirs."""
    for statement in statements:
        if statement.strip() and statement in text:
            before, _, after = text.partition(statement)
            return before, statement, after
    for template in (*templates, *TEMPLATES):
        for head, tail in sides(template):
            start = text.find(head)
            end = text.find(tail, start + len(head)) if tail else len(text)
            if start >= 0 and end > start + len(head) and text[start + len(head) : end].strip():
                start += len(head)
                return text[:start], text[start:end], text[end:]
    return "", text, ""


def sides(template: str) -> Iterator[tuple[str, str]]:
    """The fixed text right before and right after the place for the issue."""
    for place in PLACES.finditer(template):
        head = last_of(TEMPLATE_SIGNS.split(template[: place.start()]))
        tail = TEMPLATE_SIGNS.split(template[place.end() :])[0]
        if head.strip() or tail.strip():
            yield head, tail


def last_of(pieces: Sequence[str]) -> str:
    return pieces[-1]
