"""The app of automated runs and of the numbers."""

from django.apps import AppConfig


class ScoringConfig(AppConfig):
    name = "scoring"
