"""Which phases annotators may begin."""

from __future__ import annotations

from annotate.rules.plans import PHASES


def reason_to_wait(phase: str, *, open_phase: str, practice_is_ready: bool) -> str:
    """Why an item of this phase cannot be begun yet, "" where it can. `open_phase` is the furthest one that the lead
    has opened; practice begins when each of its items has a known answer, which is shown after each submit."""
    if PHASES.index(phase) > PHASES.index(open_phase):
        return "phase_not_open"
    return "practice_not_ready" if phase == "practice" and not practice_is_ready else ""
