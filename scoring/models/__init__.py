"""Automated raters and what they said, and the reports that join people and verdicts. One file a subject."""

from scoring.models.judging import Judge, Run, Verdict
from scoring.models.report import Report

__all__ = ["Judge", "Report", "Run", "Verdict"]
