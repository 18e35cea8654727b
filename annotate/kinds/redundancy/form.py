"""The fields a page posts, as the JSON form of a label; and a schema from the fields of the page that makes one."""

import json
from collections.abc import Mapping
from typing import Any

from annotate.kinds.base import LabelError, Schema
from annotate.kinds.redundancy.label import CANNOT, NONE, STEPS, wrong_type
from annotate.traces.base import gettext_noop


def read_form(post: Mapping[str, str], schema: Schema) -> dict[str, Any]:
    """`steps` and `decisions` are a JSON list each, `outcome` a radio button for “none” and “cannot annotate”. Steps
    that are marked say by themselves that there are some."""
    steps, decisions = json_list(post, "steps"), json_list(post, "decisions")
    outcome = post.get("outcome", "")
    if steps and outcome not in (NONE, CANNOT):
        outcome = STEPS
    return {
        "outcome": outcome,
        "steps": steps,
        "decisions": decisions,
        "note": post.get("note", "").replace("\r\n", "\n"),
    }


def json_list(post: Mapping[str, str], name: str) -> Any:
    try:
        return json.loads(post.get(name) or "[]")
    except (ValueError, RecursionError):
        raise LabelError(wrong_type(name, gettext_noop("JSON."), f"/{name}")) from None
