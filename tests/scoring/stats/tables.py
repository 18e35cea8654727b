"""Small tables and readers that the tests of the statistics share."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Sequence
from pathlib import Path

import numpy as np
import pytest

from scoring.stats.ratings import MISSING, Codes

ROOT = Path(__file__).parents[3]
CASES = ROOT / "fixtures" / "reference" / "agreement-cases.json"


def reference_cases() -> list[dict]:
    return json.loads(CASES.read_text(encoding="utf-8"))


def shared(*parts: str) -> Path:
    """A file of the shared data; the test is left out where that is absent."""
    path = Path(os.environ.get("SIGHTLINE_SHARED", ROOT.parent / "shared")).joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is absent")
    return path


def from_confusion(confusion: Sequence[Sequence[int]]) -> Codes:
    """(n_items, 2) codes that count up to this table; rows are the first rater."""
    rows = [(a, b) for a, row in enumerate(confusion) for b, n in enumerate(row) for _ in range(n)]
    return np.array(rows, dtype=np.int64)


def from_counts(counts: Sequence[Sequence[int]]) -> Codes:
    """Codes whose items have these numbers of ratings in each category."""
    said = [[category for category, n in enumerate(row) for _ in range(n)] for row in counts]
    width = max(len(row) for row in said)
    return np.array([row + [MISSING] * (width - len(row)) for row in said], dtype=np.int64)


def from_raters(*columns: Sequence[Hashable | None], categories: Sequence[Hashable]) -> Codes:
    """Codes of raters' labels, one sequence a rater, None for no rating."""
    places = {category: place for place, category in enumerate(categories)}
    return np.array(
        [[MISSING if label is None else places[label] for label in row] for row in zip(*columns, strict=True)]
    )


_ = None
FOUR_CODERS = from_raters(  # Krippendorff 2011, example C; Gwet's four raters
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
    categories=[1, 2, 3, 4, 5],
)
