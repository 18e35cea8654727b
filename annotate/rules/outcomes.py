"""Whether a recorded run reached its goal, as its file says it."""

from typing import Any

WORDS = {
    **dict.fromkeys(("success", "succeeded", "passed", "pass", "resolved", "correct", "true", "yes", "c"), True),
    **dict.fromkeys(("failure", "failed", "fail", "error", "unresolved", "incorrect", "false", "no", "i"), False),
}


def succeeded(said: Any) -> bool | None:
    """Of a truth value, a reward (all of it, 1, is success) or a word; None where the file says nothing of the kind."""
    if isinstance(said, bool):
        return said
    if isinstance(said, int | float):
        return said >= 1
    return WORDS.get(said.strip().lower()) if isinstance(said, str) else None
