"""The page on which a lead says by which words the rules suggest steps, or switches them off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from annotate.kinds.base import LabelError, Schema
from annotate.kinds.redundancy.schema import SCHEMA, check_schema

KEYWORDS = tuple(SCHEMA["keywords"])


@dataclass(frozen=True, slots=True)
class Editor:
    """What stands in the form; `words` by type, one on each line."""

    suggest: bool
    words: tuple[tuple[str, str], ...]


def edit_schema(post: Mapping[str, str] | None, schema: Schema) -> Editor:
    given = schema if post is None else given_in(post)
    return Editor(given["suggest"], tuple((type, "\n".join(given["keywords"][type])) for type in KEYWORDS))


def read_schema(post: Mapping[str, str], newest: Schema | None) -> Schema:
    """LabelError points to the list of a type, however many of its words are wrong."""
    try:
        return check_schema(given_in(post), newest)
    except LabelError as error:
        lists = {one.pointer: one for one in (replace(one, pointer=list_of(one.pointer)) for one in error.problems)}
        raise LabelError(*lists.values()) from None


def draft_schema(post: Mapping[str, str]) -> Schema:
    return {**SCHEMA, **given_in(post)}


def given_in(post: Mapping[str, str]) -> dict[str, Any]:
    words = {type: post.get(f"keywords-{type}", "").splitlines() for type in KEYWORDS}
    kept = {type: [word.strip() for word in lines if word.strip()] for type, lines in words.items()}
    return {"suggest": "suggest" in post, "keywords": kept}


def list_of(pointer: str) -> str:
    return "/".join(pointer.split("/")[:3])
