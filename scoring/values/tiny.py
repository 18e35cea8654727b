"""A tiny deterministic simulator of our own, for the demo and for tests: a vessel that cools in a room."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from scoring.values.sections import heading_rule
from scoring.values.simulator import Simulator

_PARTS = re.compile(r"^\s*PARTS\s+(\d+)\s*$", re.MULTILINE)
_END = re.compile(r"^\s*END\s*$", re.MULTILINE)


def tightened(input_text: str) -> Mapping[str, str]:
    """Every step worked out in ten times as many parts."""
    if _PARTS.search(input_text):
        return {"small_step": _PARTS.sub(lambda one: f"PARTS {10 * int(one[1])}", input_text)}
    return {"small_step": _END.sub("PARTS 200\nEND", input_text)}


TINY = Simulator(
    key="tiny",
    name="Cooling vessel",
    program=Path(__file__).with_name("tiny_worker.py"),
    databases=("still.air", "moving.air"),
    headings=heading_rule(r"Step[ \t]+\d+"),
    is_echo=lambda title: title.startswith("Reading input data for simulation ") or title == "TITLE",
    is_installed=lambda: True,
    tightened=tightened,
    cleaned=lambda report: report,
)
