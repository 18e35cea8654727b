"""Texts as cells of a CSV that a spreadsheet opens: nothing in them runs as a formula, and nothing of them is lost.

A cell that begins with a sign by which some spreadsheet begins a formula, or with the apostrophe itself, gets an
apostrophe in front; so one apostrophe at the beginning, where there is one, is never part of the text.
"""

from __future__ import annotations

import json

MARK = "'"
BEGINNINGS = (MARK, "=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""The wide ones count in spreadsheets set to Chinese or Japanese."""


def escape(text: str) -> str:
    return MARK + text if text.startswith(BEGINNINGS) else text


def unescape(cell: str) -> str:
    return cell.removeprefix(MARK)


def cell(value: object) -> str:
    """A value of a row: texts guarded, the rest as JSON writes it, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, str):
        return escape(value)
    return escape(json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False))
