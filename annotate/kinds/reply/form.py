"""The fields a page posts, as the JSON form of a label."""

import json
from collections.abc import Mapping
from typing import Any

from annotate.kinds.base import LabelError, Schema
from annotate.kinds.reply.label import wrong_type


def read_form(post: Mapping[str, str], schema: Schema) -> dict[str, Any]:
    """`spans` is a JSON list in one field; a tick box is there or not."""
    try:
        spans = json.loads(post.get("spans") or "[]")
    except (ValueError, RecursionError):
        raise LabelError(wrong_type("spans", "JSON")) from None
    return {
        "label": post.get("label", ""),
        "states_no_result": post.get("states_no_result") == "on",
        "spans": spans,
        "comment": post.get("comment", "").replace("\r\n", "\n"),
    }
