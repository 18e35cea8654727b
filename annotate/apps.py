"""The app that brings items in, has them labelled blind and reviewed."""

from django.apps import AppConfig


class AnnotateConfig(AppConfig):
    name = "annotate"
