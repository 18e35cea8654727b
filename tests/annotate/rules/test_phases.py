"""Which phases may be begun."""

import pytest

from annotate.rules.phases import reason_to_wait


@pytest.mark.parametrize(
    ("phase", "open_phase", "practice_is_ready", "reason"),
    [
        ("practice", "practice", True, ""),
        ("practice", "practice", False, "practice_not_ready"),
        ("practice", "main", False, "practice_not_ready"),
        ("pilot", "practice", True, "phase_not_open"),
        ("pilot", "pilot", False, ""),
        ("main", "pilot", True, "phase_not_open"),
        ("main", "main", False, ""),
    ],
)
def test_an_item_waits_for_its_phase_and_practice_for_its_answers(phase, open_phase, practice_is_ready, reason):
    assert reason_to_wait(phase, open_phase=open_phase, practice_is_ready=practice_is_ready) == reason
