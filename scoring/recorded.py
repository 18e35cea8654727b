"""Answers that were recorded: a file of lines in the folder `recorded` of the data folder, by request and attempt.

Each line is an object: `request` (the hash of `llm.hash_of`), `attempt`, `text`, and as far as there is anything to
say `cut`, `refused`, `tokens_in`, `tokens_out`, `latency_ms`.
"""

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")


def recorded_answer(name: str, request_hash: str, attempt: int) -> dict[str, Any] | None:
    """None where the recording, or all of it, is not there."""
    path = path_of(name)
    if path is None or not path.is_file():
        return None
    return answers_in(path, path.stat().st_mtime_ns).get((request_hash, attempt))


def path_of(name: str) -> Path | None:
    """The file of a recording; None for a name that could lead elsewhere."""
    return Path(settings.RECORDED_FOLDER) / f"{name}.jsonl" if NAME.fullmatch(name) else None


@lru_cache(maxsize=4)
def answers_in(path: Path, changed: int) -> dict[tuple[str, int], dict[str, Any]]:
    """Read once for each state of the file; of equal ones the last counts."""
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    return {(row["request"], row["attempt"]): row for row in rows}
