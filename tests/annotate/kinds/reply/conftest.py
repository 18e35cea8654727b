"""The demo's collaborations as their files have them."""

import json
from pathlib import Path

import pytest

DEMO = Path(__file__).resolve().parents[4] / "fixtures" / "demo"


@pytest.fixture
def demo_records():
    names = ("practice", "pilot", "main")
    return [json.loads(line) for name in names for line in (DEMO / f"{name}.jsonl").read_text("utf-8").splitlines()]
