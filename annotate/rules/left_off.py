"""Which items are shown without what rules suggest, so that a report can say how far suggestions move labels."""

import hashlib


def is_left_off(percent: int, *, seed: int, format: str, source_id: str) -> bool:
    """Drawn for each trace by itself, from the project's seed: the same whatever came in before it, and nothing that
    its content could tell. Of many traces about `percent` in a hundred."""
    if percent <= 0:
        return False
    digest = hashlib.sha256(f"{seed}/suggestions/{format}/{source_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < percent * 2**64 // 100
