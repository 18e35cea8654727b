"""Automated raters and what they said, and the reports that join people and verdicts. One file a subject."""

from scoring.models.asking import Call, Prompt
from scoring.models.endpoint import Endpoint
from scoring.models.flag import Flag
from scoring.models.judging import Judge, Run, Verdict
from scoring.models.outcome import Outcome, OutcomeBatch
from scoring.models.points import Points
from scoring.models.report import Report
from scoring.models.trial import Trial

__all__ = [
    "Call",
    "Endpoint",
    "Flag",
    "Judge",
    "Outcome",
    "OutcomeBatch",
    "Points",
    "Prompt",
    "Report",
    "Run",
    "Trial",
    "Verdict",
]
