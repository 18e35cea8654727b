"""The fields a page posts, as the JSON form of a label."""

from collections.abc import Mapping
from typing import Any

from annotate.kinds.base import Schema


def read_form(post: Mapping[str, str], schema: Schema) -> dict[str, Any]:
    return {"category": post.get("category", ""), "comment": post.get("comment", "").replace("\r\n", "\n")}
